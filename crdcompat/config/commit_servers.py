"""What the files of a commit tell about its servers: whether it is of OpenShift, and which Kubernetes its code uses.

The lists of feature gates are no witness: on the main branch of openshift/api their ``version`` is empty.
``go.mod`` names the libraries of an operator, not the servers of its users; in OpenShift it comes close to the
server, but on the main branch it is raised weeks after the release before has left.
"""

from __future__ import annotations

import re

from crdcompat.prefilter.candidates import EXCLUDED_FOLDERS
from crdcompat.sources.git import file_at, has_word
from crdcompat.sources.repository import Repository

#: The part that the annotations of feature sets, gates and cluster profiles have in common.
_ANNOTATION = "release.openshift.io/"
_LIBRARY = re.compile(rb"^\s*(?:require\s+)?k8s\.io/(?:api|apimachinery|apiserver|client-go) v0\.(\d+)\.", re.MULTILINE)


def is_of_openshift(repo: Repository, commit: str) -> bool:
    """Whether a manifest of a commit has an annotation of OpenShift's releases. Raises SourceError."""
    return has_word(repo, commit, _ANNOTATION, excluded_folders=EXCLUDED_FOLDERS)


def library_minor(repo: Repository, commit: str) -> int | None:
    """The Kubernetes minor (31 for ``v0.31.1``) of the libraries in a commit's ``go.mod``; None without one.

    Raises SourceError.
    """
    return max(map(int, _LIBRARY.findall(file_at(repo, commit, "go.mod"))), default=None)

"""OLM bundles as trees: the manifests of one version of an operator, in a folder, an archive or an image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.sources.memory import MemoryTree, held_files, only_folder
from crdcompat.sources.naming import is_manifest_name

if TYPE_CHECKING:
    from crdcompat.sources.tree import Tree

ANNOTATIONS = "metadata/annotations.yaml"
_EXPECTED = f"the folder of an OLM bundle is expected, with manifests/ and {ANNOTATIONS}"
_KEY = rb"^[ \t]*[\"']?operators\.operatorframework\.io\.bundle\.%s\.v1[\"']?:[ \t]*[\"']?([^\s\"'#]+)"
_PACKAGE = re.compile(_KEY % b"package", re.MULTILINE)
_MANIFESTS = re.compile(_KEY % b"manifests", re.MULTILINE)


def bundle_tree(name: str, tree: Tree) -> MemoryTree:
    """The manifests of the bundle in ``tree``. Raises SourceError if the tree contains no bundle, or several."""
    files = held_files(tree, is_manifest_name)
    tops = [path.removesuffix(ANNOTATIONS) for path in files if f"/{path}".endswith(f"/{ANNOTATIONS}")]
    top = only_folder(name, tree, tops, "OLM bundle", _EXPECTED)
    annotations = files[f"{top}{ANNOTATIONS}"]
    named = _MANIFESTS.search(annotations)
    below = named[1].decode("utf-8", "replace").strip("/") if named else "manifests"
    folder = f"{top}{below}/"
    manifests = {path.removeprefix(top): data for path, data in files.items() if path.startswith(folder)}
    if not manifests:
        raise SourceError(f"{name}: the folder {below}/ of the bundle has no manifests: {_EXPECTED}")
    package = _PACKAGE.search(annotations)
    note = f"{name}: OLM bundle of {package[1].decode('utf-8', 'replace') if package else 'a package without a name'}"
    return MemoryTree(name, manifests, tree.problems, tree.skipped, (*tree.notes, note))


def is_bundle_mark(annotations: bytes) -> bool:
    """Whether ``metadata/annotations.yaml`` has the annotations of a bundle."""
    return b"operators.operatorframework.io.bundle." in annotations

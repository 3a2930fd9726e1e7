"""Folders and files whose CRDs no cluster gets, or which another copy replaces, as their names say.

A name is a weak reason. It decides only between copies of a CRD, and, for folders of designs, tests and examples, about
a CRD that is nowhere else in a tree whose other CRDs have a place that ships.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

#: Nobody installs from these folders.
_NEVER = frozenset(("design", "designs", "proposal", "proposals", "enhancements", "fixtures"))
#: Nor from folders with one of these words in their names.
_TESTS = frozenset(("test", "tests", "e2e", "testing"))
#: Scripts start clusters of developers and of CI there, with whatever these need of others.
_OWN_CLUSTERS = frozenset(("cluster-up", "cluster-sync"))
#: Some projects install from these folders, if they have no other one: documentation, scripts of developers and of CI.
_SELDOM = frozenset(
    (
        *("doc", "docs", "documentation", "demo", "demos", "example", "examples", "sample", "samples"),
        *("hack", "prow", "scripts", "third_party", "third-party"),
    )
)
#: The flavour that a cluster gets on request, beside the usual one.
_ON_REQUEST = "experimental"
#: The manifest of one release, kept beside those of others, and a folder of one.
_RELEASE_FILE = re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+(?=[^\d]|$)|-v?\d+\.\d+\.\d+(?=[^\d]|$)")
_RELEASE_FOLDER = re.compile(r"v?\d+\.\d+(?:\.\d+)?")


class Place(IntEnum):
    """How likely clusters get the CRDs of a file, by its path alone."""

    ORDINARY, SPARE, SELDOM, NEVER, OF_OTHERS = range(5)


@lru_cache(1 << 16)  # all sides of a comparison ask for mostly the same paths
def place_of(path: str) -> Place:
    """What the names of a file and its folders say; packed charts have the version of their release in their name."""
    *folders, name = path.split("/")
    if not _OWN_CLUSTERS.isdisjoint(folders):
        return Place.OF_OTHERS
    words = (word for folder in folders for word in folder.replace("_", "-").split("-"))
    if not (_NEVER.isdisjoint(folders) and _TESTS.isdisjoint(words)):
        return Place.NEVER
    if not _SELDOM.isdisjoint(folders):
        return Place.SELDOM
    is_old = any(map(_RELEASE_FOLDER.fullmatch, folders)) or (not name.endswith("gz") and _RELEASE_FILE.search(name))
    return Place.SPARE if is_old or _ON_REQUEST in folders else Place.ORDINARY

"""Candidates: the files that may contain a CRD, by name, folder and words in them; nothing is parsed.

Most files of a release contain no CRD, and most changes touch no candidate.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from crdcompat.sources.encoding import legible
from crdcompat.sources.naming import is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crdcompat.sources.tree import Entry, Tree

#: Folders whose CRDs no cluster gets, and the reason.
_EXCLUDED = {
    "vendor": "vendored",
    "testdata": "test data",
    "tests": "test suite",
    "zz_generated.featuregated-crd-manifests": "fragment of a feature gate",
    "manual-override-crd-manifests": "fragment: manual override",
}
EXCLUDED_FOLDERS = tuple(_EXCLUDED)
_GATE_LISTS = "payload-manifests/featuregates/"
#: Paths to remember: all sides of a comparison look up mostly the same paths.
_MAX_PATHS = 1 << 16
_MARKS = (b"CustomResourceDefinition", b"openAPIV3Schema", b"apiextensions.k8s.io")
#: The hexadecimal digits of an ASCII letter, behind ``\\x``, ``\\u00`` or ``\\U000000``.
LETTER_ESCAPE = r"\\(?:x|u00|U000000)(?:4[1-9a-fA-F]|5[0-9aA]|6[1-9a-fA-F]|7[0-9aA])"
_ESCAPED_LETTER = re.compile(LETTER_ESCAPE.encode())
#: Spellings by which a word of a YAML or JSON string is not found: escapes of ASCII letters, broken lines, base64.
_HIDING = re.compile(LETTER_ESCAPE.encode() + rb"|\\\r?\n|!!binary|:binary>")
#: Between the key and its value YAML allows line breaks, tags, anchors, block marks and comments.
_CRD_KIND = re.compile(
    rb"""(?:^|[\s{,"'])kind["']?\s*:\s*(?:[!&]\S*\s+|[>|][-+\d]*\s+|#[^\n]*\n\s*)*["']?CustomResourceDefinition(?:List)?\b"""
)
_BROKEN_STRING = re.compile(rb"\\\r?\n[ \t]*")
#: A pointer begins with the name of its format; Git LFS still reads two older names.
_LFS_POINTER = re.compile(rb"\s*version (?:https://(?:git-lfs|hawser)\.github\.com/spec/|http://git-media\.io/v/2\s)")


def is_candidate(path: str, data: bytes | None = None) -> bool:
    """Whether a file of a tree may contain a CRD, by its path and, if given, by its bytes."""
    return is_manifest_name(path) and not excluded(path) and (data is None or is_marked(data))


def is_gate_list(path: str) -> bool:
    """Whether a file says which feature gates of OpenShift are on: these decide which manifests clusters get."""
    return path.startswith(_GATE_LISTS) and is_manifest_name(path)


def is_marked(data: bytes) -> bool:
    """Whether the bytes contain one of the words that every CRD contains, or may hide them.

    An escaped letter, a broken string or base64 can hide a word; a Git LFS pointer can hide a whole file.
    """
    text = legible(data)
    return any(mark in text for mark in _MARKS) or may_hide_words(data)


def may_hide_words(data: bytes) -> bool:
    """Whether words of the file may not be found in its bytes."""
    return _HIDING.search(legible(data)) is not None or is_lfs_pointer(data)


def is_lfs_pointer(data: bytes) -> bool:
    """Whether the file is a pointer of Git LFS, which has the content elsewhere."""
    return _LFS_POINTER.match(data) is not None


def has_crd_line(data: bytes) -> bool:
    """Whether text that need not be YAML says ``kind: CustomResourceDefinition``, in any spelling but base64."""
    plain = _ESCAPED_LETTER.sub(lambda escape: bytes.fromhex(escape[0][-2:].decode()), legible(data))
    return _CRD_KIND.search(_BROKEN_STRING.sub(b"", plain)) is not None


@lru_cache(_MAX_PATHS)
def excluded(path: str) -> str:
    """The reason why no cluster gets a CRD from this file's folder; "" if one may."""
    folders = path.split("/")[:-1]
    if _EXCLUDED.keys().isdisjoint(folders):
        return ""
    return next(_EXCLUDED[folder] for folder in folders if folder in _EXCLUDED)


def unchanged(trees: Sequence[Tree]) -> dict[str, Entry]:
    """The files that have the same blob id at the same path in all ``trees``, by path."""
    same = {entry.path: entry for entry in trees[0].entries() if entry.oid is not None}
    for tree in trees[1:]:
        theirs = {entry.path: entry.oid for entry in tree.entries()}
        same = {path: entry for path, entry in same.items() if theirs.get(path) == entry.oid}
    return same


def touches_candidates(before: Tree, after: Tree, wants: Callable[[str], bool]) -> bool:
    """Whether any file that differs is a candidate that ``wants`` includes.

    A moved file differs at both paths: folders decide what ships, and which copies are compared. A file that cannot be
    read counts as a candidate. Raises SourceError.
    """
    same = unchanged((before, after))
    for tree in (before, after):
        paths = (entry for entry in tree.entries() if entry.path not in same)
        differing = [entry for entry in paths if is_candidate(entry.path) and wants(entry.path)]
        if any(is_gate_list(e.path) or is_candidate(e.path, data) for e, data in tree.read(differing)) or tree.problems:
            return True
    return False

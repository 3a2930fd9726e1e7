"""Candidates: the files that may contain a CRD, by name, folder and words in them; nothing is parsed.

Most files of a release contain no CRD, and most changes touch no candidate.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from crdcompat.prefilter.encoded import contents, is_text
from crdcompat.prefilter.spelling import deciphered
from crdcompat.sources.naming import KUSTOMIZATIONS, is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
#: What no manifest is: programs, prose, pictures, descriptions of packages. Other texts can hold a CRD, too.
_OTHERS = frozenset(
    f".{suffix}"
    for line in (
        "go mod sum py pyi sh bash js mjs ts tsx jsx vue css scss less html htm svg png jpg jpeg gif ico webp pdf md",
        "mdx rst adoc puml dot rs c h cc cpp hpp java kt rb pl lua cs swift scala php proto toml ini cfg conf",
        "properties lock sql xml csv tsv tf hcl mk cue rego star bzl bazel nix ipynb s patch diff log pem crt key pub",
        "golden snap map woff woff2 ttf eot zip gz tgz tar bz2 xz zst jar exe so bin pb drawio dockerfile",
        "containerfile gitignore gitattributes editorconfig",
    )
    for suffix in line.split()
)
_OF_CHART = ("Chart.yaml", ".helmignore", "requirements.yaml")
_GATE_LISTS = "payload-manifests/featuregates/"
#: Paths to remember: all sides of a comparison look up mostly the same paths.
_MAX_PATHS = 1 << 16
_MARKS = (b"CustomResourceDefinition", b"openAPIV3Schema", b"apiextensions.k8s.io")
#: Objects that hold manifests as base64: bundles of OLM, ConfigMaps, and Secrets that Cluster API applies.
HOLDERS = ("olm.bundle.object", "binaryData", "addons.cluster.x-k8s.io/resource-set")
_HOLDERS = tuple(map(str.encode, HOLDERS))
#: A patch names its targets by patterns, or not at all.
_PATCHES = (b"patches", b"target")
#: What a template engine replaces: without it, the parts of a word are side by side.
_ACTION = re.compile(rb"\{\{[^{}]*+\}\}")
#: The API group without a version: rules of RBAC name it so, and no CRD does.
_GROUP_ALONE = re.compile(rb"\bapiextensions\.k8s\.io(?![/{\w.-])")
#: Paths of Go files that may make CRDs, in trees with CRDs as manifests.
_OF_CRDS = re.compile(r"crd|custom_?resource|apiextension|(?:yaml|manifest)[^/]*$", re.IGNORECASE)
#: Between the key and its value YAML allows line breaks, tags, anchors, block marks and comments.
_CRD_KIND = re.compile(
    rb"""(?:^|[\s{,"'])kind["']?\s*:\s*(?:[!&]\S*\s+|[>|][-+\d]*\s+|#[^\n]*\n\s*)*["']?CustomResourceDefinition(?:List)?\b"""
)
#: The kind can be an alias of its anchor, and so can its key.
_ANCHORED = re.compile(rb"""&\S+\s+(?:!\S*\s+)*["']?(?:kind|CustomResourceDefinition)\b""")
#: A pointer begins with the name of its format; Git LFS still reads two older names.
_LFS_POINTER = re.compile(rb"\s*version (?:https://(?:git-lfs|hawser)\.github\.com/spec/|http://git-media\.io/v/2\s)")


def is_candidate(path: str, data: bytes | None = None) -> bool:
    """Whether a file of a tree may contain a CRD, by its path and, if given, by its bytes."""
    return is_manifest_name(path) and not excluded(path) and (data is None or is_marked(data))


def is_packed_chart(path: str) -> bool:
    """Whether a file is a Helm chart inside another one."""
    folder, _, name = path.rpartition("/")
    return name.endswith((".tgz", ".tar.gz")) and folder.rpartition("/")[2] == "charts" and not excluded(path)


def is_other_text(path: str) -> bool:
    """Whether a file without the name of a manifest may be a text that holds one: a template, or a copy of one."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    if dot < 0:  # Makefile, README and LICENSE are no manifests
        return not name[:1].isupper()
    return name[dot:].lower() not in _OTHERS and not is_manifest_name(path)


def is_description(path: str) -> bool:
    """Whether a file says what kustomize or helm makes of others, by its name."""
    name = path[path.rfind("/") + 1 :]
    return name in (*KUSTOMIZATIONS, *_OF_CHART) or name.startswith("values") or "/templates/" in f"/{path}"


def is_go_of_crds(path: str) -> bool:
    """Whether a Go file may make CRDs, by its path: not all of them are read."""
    return is_go(path) and _OF_CRDS.search(path) is not None


def is_go(path: str) -> bool:
    """Whether a file is Go source for clusters: neither a test nor vendored."""
    return path.endswith(".go") and not path.endswith("_test.go") and not excluded(path)


def may_matter(path: str) -> bool:
    """Whether a changed file may hold a CRD, or decide which CRDs a cluster gets, by its name."""
    return (
        is_manifest_name(path)
        or is_packed_chart(path)
        or is_other_text(path)
        or is_description(path)
        or is_go_of_crds(path)
    )


def is_gate_list(path: str) -> bool:
    """Whether a file says which feature gates of OpenShift are on: these decide which manifests clusters get."""
    return path.startswith(_GATE_LISTS) and is_manifest_name(path)


def is_marked(data: bytes) -> bool:
    """Whether the file may contain a CRD: one of the words that every CRD contains, or an object that can hide them.

    Where this is false, that is a proof: Kubernetes reads no CRD in the file, whatever its spelling.
    """
    if _has_word(data, _MARKS):
        return True
    text = deciphered(data)
    return (
        text is None
        or _has_word(text, _HOLDERS)
        or all(word in text for word in _PATCHES)
        or _names_crds(text)
        or is_lfs_pointer(data)
    )


def names_crds(data: bytes) -> bool:
    """Whether text that need not be YAML has one of the words that every CRD contains, or may have it in base64."""
    text = deciphered(data)
    return text is None or _names_crds(text)


def template_names_crds(data: bytes) -> bool:
    """``names_crds`` of a template that is not YAML: rules of RBAC in it, for objects of a CRD's group, name no CRD."""
    return names_crds(_GROUP_ALONE.sub(b"", data))


def _names_crds(text: bytes) -> bool:
    return (
        _has_word(text, _MARKS) or (b"{{" in text and _has_word(_ACTION.sub(b"", text), _MARKS)) or encodes_crds(text)
    )


def encodes_crds(text: bytes) -> bool:
    """Whether base64 in a text has one of the words that every CRD contains, or may have it."""
    return any(map(may_name_crds, contents(text)))


def may_name_crds(content: bytes | None) -> bool:
    """Whether bytes that base64 hid, text or not, may name CRDs; None is what was not looked into."""
    if content is None or _has_word(content, _MARKS):
        return True
    return is_text(content) and is_marked(content)


def may_have(data: bytes, words: Iterable[bytes]) -> bool:
    """Whether the file may have one of these words, in any spelling, or holds manifests that may have it."""
    wanted = (*words, *_HOLDERS)
    if _has_word(data, wanted):
        return True
    text = deciphered(data)
    return text is None or _has_word(text, wanted) or is_lfs_pointer(data)


def _has_word(text: bytes, words: Iterable[bytes]) -> bool:
    return any(word in text for word in words)


def is_lfs_pointer(data: bytes) -> bool:
    """Whether the file is a pointer of Git LFS, which has the content elsewhere."""
    return _LFS_POINTER.match(data) is not None


def has_crd_line(data: bytes) -> bool:
    """Whether text that need not be YAML says ``kind: CustomResourceDefinition``, or may say it in base64."""
    text = deciphered(data)
    if text is None or _CRD_KIND.search(text) is not None or encodes_crds(text):
        return True
    return _has_word(text, _MARKS) and _ANCHORED.search(text) is not None


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

"""Which files are looked at for CRDs: by name, by folder, by what stands in them. Nothing is parsed for it."""

from __future__ import annotations

from functools import lru_cache

from crdcompat.sources.encoding import legible

_EXTENSIONS = frozenset({".yaml", ".yml", ".json"})
#: Folders that hold no CRD a cluster would get.
_ELSEWHERE = {
    "vendor": "vendored",
    "testdata": "test data",
    "tests": "test suite",
    "zz_generated.featuregated-crd-manifests": "fragment of a feature gate",
    "manual-override-crd-manifests": "fragment: manual override",
}
FOLDERS_ELSEWHERE = tuple(_ELSEWHERE)
#: The paths of a tree are asked about once for each side, and again for what is alike on both.
_MOST_PATHS = 1 << 16
_MARKS = (b"CustomResourceDefinition", b"openAPIV3Schema", b"apiextensions.k8s.io")


def may_hold_crds(path: str, data: bytes | None = None) -> bool:
    """Whether a file of a tree is looked at for CRDs, by its path and, if given, by its bytes."""
    return has_extension(path) and not elsewhere(path) and (data is None or is_marked(data))


@lru_cache(_MOST_PATHS)
def has_extension(path: str) -> bool:
    """Whether its name is that of a YAML or JSON file."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    return dot > 0 and name[dot:].lower() in _EXTENSIONS


def is_marked(data: bytes) -> bool:
    """Whether a word stands in it without which it is no CRD."""
    text = legible(data)
    return any(mark in text for mark in _MARKS)


@lru_cache(_MOST_PATHS)
def elsewhere(path: str) -> str:
    """Why a file's folder holds no CRD that a cluster would get; "" if it may."""
    folders = path.split("/")[:-1]
    if _ELSEWHERE.keys().isdisjoint(folders):
        return ""
    return next(_ELSEWHERE[folder] for folder in folders if folder in _ELSEWHERE)

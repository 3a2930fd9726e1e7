"""Names of files, and which are manifests; names of commits; text for paths and system errors in messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from crdcompat.errors import CrdcompatError

#: The names that a kustomization may have.
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SUFFIX = re.compile(r"[~^@:].*", re.DOTALL)
_EXTENSIONS = frozenset({".yaml", ".yml", ".json"})
#: The ends of the names of files from which a build (``.j2``: with Jinja) makes the one without.
_SOURCES = (".in", ".j2")
#: The names of manifests as patterns for git.
MANIFESTS = tuple(f"*{each}{end}" for end in ("", *_SOURCES) for each in sorted(_EXTENSIONS))


@lru_cache(1 << 16)  # all sides of a comparison ask for mostly the same paths
def is_manifest_name(path: str) -> bool:
    """Whether a file is YAML or JSON by its name, or what a build makes one of (``crds.yaml.in``)."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    if name[dot:] in _SOURCES:
        name = name[:dot]
        dot = name.rfind(".")
    return dot >= 0 and name[dot:].lower() in _EXTENSIONS  # kubectl reads a file called .yaml, too


def is_template_name(path: str) -> bool:
    """Whether a build makes a manifest of a file, by its name."""
    return path.endswith(_SOURCES) and is_manifest_name(path)


def is_commit_id(text: str) -> bool:
    """Whether a text has the form of a full commit id (SHA-1 or SHA-256)."""
    return _COMMIT.fullmatch(text) is not None


def without_suffix(ref: str) -> str:
    """A ref without what selects another commit (``~1``, ``^2``) or a file."""
    return _SUFFIX.sub("", ref)


def display_path(path: str | bytes) -> str:
    """A path as text; bytes that are not UTF-8 become escapes, so that every report format can contain it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reason_of(error: OSError | ValueError) -> str:
    """The reason of a system error in lower case, for the middle of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error)


@contextmanager
def failing_as(kind: type[CrdcompatError], where: str) -> Iterator[None]:
    """A block in which an error of the system becomes an error of this ``kind``: ``where``, then the reason."""
    try:
        yield
    except OSError as error:
        raise kind(f"{where}: {reason_of(error)}") from None

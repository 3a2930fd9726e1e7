"""What a configuration may not name, since it comes with the tree that it judges.

It names no file to write, no server to ask, nothing outside of the repository, and no state that the change itself
decides (HEAD, the working tree, another commit of its branch): only branches and tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from crdcompat.program import typed
from crdcompat.sources.urls import public_name

#: The path of a value in the configuration.
Pointer = tuple[str | int, ...]

_FULL = ("refs/heads/", "refs/remotes/", "refs/tags/")
#: What git's names of branches and tags cannot hold (git check-ref-format), and with it every way to select a commit.
_NO_NAME = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|^[-./]|[./]$|\.lock(?:/|$)")
_OF_GIT = re.compile(r"(?:[A-Z]+_)?HEAD|@|stash")
_PREFIX = re.compile(r"[a-z]+:")
_WAIVERS = (".yaml", ".yml", ".json")


def refusals(values: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """What the values of a configuration may not name: the place of each, and ``key: value: why, what to do``."""
    for pointer, name, why in (*_refs(values), *_files(values)):
        if why:
            yield pointer, f"{pointer[0]}: {public_name(name)}: {why}"


def _refs(values: Mapping[str, Any]) -> Iterator[tuple[Pointer, str, str]]:
    base = values.get("base")
    if base is not None:
        yield ("base",), base, _wrong_ref(base)
    targets = values.get("rollback_targets", ())
    for key, names in targets.items() if isinstance(targets, Mapping) else ((None, targets),):
        for index, name in enumerate(names):
            at = ("rollback_targets", index) if key is None else ("rollback_targets", key, index)
            yield at, name, _wrong_ref(name)


def _wrong_ref(name: str) -> str:
    """Why a name of a configuration is no branch and no tag; "" for one that may be."""
    name = name.removeprefix("git:")
    if "://" in name:
        return "a URL is read only if the command line names it"
    if _OF_GIT.fullmatch(name) or (name.startswith("refs/") and not name.startswith(_FULL)):
        return "what it is changes with the checkout: name a branch or a tag"
    if _NO_NAME.search(name):
        return (
            "a configuration names branches and tags alone; other sources are for the command line (--base, --target)"
        )
    return ""


def _files(values: Mapping[str, Any]) -> Iterator[tuple[Pointer, str, str]]:
    for index, text in enumerate(values.get("formats", ())):
        how = f"a configuration names no file to write: --format {text} on the command line does"
        yield ("formats", index), text, how if "=" in text else ""
    for index, name in enumerate(values.get("objects", ())):
        yield ("objects", index), name, _wrong_recording(name)
    if "waivers" in values:
        yield ("waivers",), values["waivers"], _wrong_waivers(values["waivers"])


def _wrong_recording(name: str) -> str:
    if "://" in name:
        return "a URL is read only if the command line names it"
    if name == "-" or _PREFIX.match(name):
        return "a configuration names files and folders of the repository; other recordings are for --objects"
    return _outside(name)


def _wrong_waivers(name: str) -> str:
    if PurePosixPath(name).suffix not in _WAIVERS:
        return f"the waiver file has a name that ends in {', '.join(_WAIVERS)}: {typed()} waive writes it"
    return _outside(name)


def _outside(name: str) -> str:
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".git" in map(str.lower, parts) or "\0" in name:
        return "a configuration names files of the repository: write a path relative to the configuration"
    return ""

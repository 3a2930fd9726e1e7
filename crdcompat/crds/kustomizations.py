"""What the kustomizations of a tree say about CRDs: which files they list, and what only kustomize can tell.

They are read as files of the tree, so that nothing on disk or elsewhere is followed.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.prefilter.candidates import excluded, names_crds
from crdcompat.sources.descriptions import YAML_ERRORS, list_of, load_yaml, object_of
from crdcompat.sources.kustomize import LISTS, ONLY_KUSTOMIZE, PATCHES, is_elsewhere
from crdcompat.sources.naming import KUSTOMIZATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.sources.tree import Entry, Tree

_BUILD = "only kustomize build tells what it makes of CRDs"
_DELISTED = "no kustomization lists it any more: only kustomize build tells whether a cluster gets it"


class Kustomized(Struct, frozen=True):
    """The files that the kustomizations of a tree list, and the parts that only a build can tell.

    ``parts`` are texts that are equal as long as the part is, with the kustomization and what to say of it. ``missing``
    are paths that they list and the tree does not have: a submodule has them, or nothing does.
    """

    listed: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[str, str]] = {}
    missing: frozenset[str] = frozenset()


def is_kustomization_name(path: str) -> bool:
    """Whether a file is a kustomization by its name."""
    return path[path.rfind("/") + 1 :] in KUSTOMIZATIONS


def read_kustomizations(tree: Tree, entries: Iterable[Entry]) -> Kustomized:
    """Read the kustomizations of a tree: all but those in folders that are passed over, and these if one lists them.

    Raises SourceError.
    """
    files = {entry.path: entry for entry in entries}
    found = [entry for path, entry in files.items() if is_kustomization_name(path)]
    if not found:
        return Kustomized()
    data = {entry.path: content for entry, content in tree.read(found)}
    listed, missing = set[str](), set[str]()
    parts: dict[str, tuple[str, str]] = {}
    pending, seen = [path for path in data if not excluded(path)], set[str]()
    patches: list[tuple[str, str, Any]] = []
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        content = _content(data[path])
        for named in (each for key in LISTS for each in list_of(content.get(key)) if isinstance(each, str)):
            at = _at(path, named)
            if is_elsewhere(named):
                parts[f"resource {named}"] = path, f"{named} is elsewhere: {_BUILD}"
            elif at in files:
                listed.add(at)
            elif below := [f"{at}/{name}".removeprefix("./") for name in KUSTOMIZATIONS if f"{at}/{name}" in data]:
                pending += below
            else:
                missing.add(at)
        for key in ONLY_KUSTOMIZE:
            patches += ((path, key, each) for each in list_of(content.get(key)))
    wanted = {at for path, _, patch in patches if (at := _file_of(path, patch)) in files}
    texts = {entry.path: text for entry, text in tree.read([files[path] for path in sorted(wanted)])}
    for path, key, patch in patches:
        text = texts.get(_file_of(path, patch))
        if _may_change_crds(key, patch, text):
            parts[f"{key} {patch!r} {text!r}"] = path, f"{key}: {_BUILD}"
    return Kustomized(frozenset(listed), parts, frozenset(missing))


def unbuilt(before: Kustomized, after: Kustomized, held: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The files of what differs and only a build can tell, with the reasons. ``held``: files of ``after`` with CRDs."""
    differing = before.parts.keys() ^ after.parts.keys()
    said = {after.parts[part] if part in after.parts else before.parts[part] for part in differing}
    yield from sorted(said)
    gone = before.listed - after.listed
    yield from ((path, _DELISTED) for path in sorted(gone.intersection(held)))


def _content(data: bytes) -> Mapping[str, Any]:
    try:
        return object_of(load_yaml(data))
    except YAML_ERRORS:
        return {}


def _at(kustomization: str, named: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(kustomization), named))


def _file_of(kustomization: str, patch: Any) -> str:
    """The path of the file of a patch or plugin, "" for one that stands in the kustomization."""
    named = patch.get("path") if isinstance(patch, dict) else patch
    return _at(kustomization, named) if isinstance(named, str) and "\n" not in named else ""


def _may_change_crds(key: str, patch: Any, text: bytes | None) -> bool:
    """Whether a patch, a chart or a plugin may make or change CRDs: by its target, else by its own text."""
    target = patch.get("target") if isinstance(patch, dict) else None
    if isinstance(target, dict) and isinstance(target.get("kind"), str):
        return bool(target["kind"] == "CustomResourceDefinition")
    shown = repr(patch).encode() + (text or b"")
    if key in PATCHES:
        return b"kind" not in shown or names_crds(shown)
    return b"crd" in shown.lower() or names_crds(shown)

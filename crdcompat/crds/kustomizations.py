"""What the kustomizations of a tree say about CRDs: which files they list, and what only kustomize can tell.

They are read as files of the tree, so that nothing on disk or elsewhere is followed.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.patches import changes_versions, converted_crd, gives_conversion, may_change_crds
from crdcompat.prefilter.candidates import excluded
from crdcompat.sources.descriptions import YAML_ERRORS, list_of, load_yaml, object_of, objects_of
from crdcompat.sources.kustomize import LISTS, ONLY_KUSTOMIZE
from crdcompat.sources.naming import KUSTOMIZATIONS, is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from crdcompat.sources.tree import Entry, Tree

_BUILD = "only kustomize build tells what it makes of CRDs"
DELISTED = "a kustomization does not list it any more: only kustomize build tells whether a cluster gets it"
#: The keys of a patch, a plugin or a chart that name its files.
_PLACES = ("path", "valuesFile", "additionalValuesFiles")
#: Names of folders of objects that show how to use the kinds of a project: they define no kind.
_SAMPLES = frozenset({"sample", "samples"})
GENERATORS = ("configMapGenerator", "secretGenerator")


class Kustomized(Struct, frozen=True):
    """The files that the kustomizations of a tree list, and the parts that only a build can tell.

    ``parts`` are texts that are equal as long as the part is, with the kustomization and what to say of it. ``reached``
    are the files and parts of each kustomization, those of the kustomizations that it lists included. ``named`` are all
    paths that they list, also of what the tree does not have. ``reshaping`` are the parts that change the versions of
    CRDs, ``converting`` those that name their conversion, each with the CRD if it changes nothing else (else ""),
    ``changing`` the kustomizations that may change CRDs themselves, ``patching`` the files of all patches.
    """

    listed: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[str, str]] = {}
    reached: Mapping[str, frozenset[str]] = {}
    named: frozenset[str] = frozenset()
    reshaping: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    converting: Mapping[str, str] = {}
    patching: frozenset[str] = frozenset()

    def may_apply(self, patch: str) -> bool:
        """Whether a cluster may get what a file makes of CRDs: not where the kustomization at hand does not list it.

        kubebuilder writes patches for each CRD, and lists them as comments.
        """
        folder = posixpath.dirname(patch)
        at_hand = {posixpath.join(at, name) for at in (folder, posixpath.dirname(folder)) for name in KUSTOMIZATIONS}
        return patch in self.patching or at_hand.isdisjoint(self.reached)


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
    contents, own, named, parts = _followed(data, files)
    reshaping, changing, converting = set[str](), set[str](), dict[str, str]()
    patches = [
        (path, key, each)
        for path, content in contents.items()
        for key in ONLY_KUSTOMIZE
        for each in list_of(content.get(key))
    ]
    wanted = {at for path, _, patch in patches for at in _files_of(path, patch) if at in files}
    texts = {entry.path: text for entry, text in tree.read([files[path] for path in sorted(wanted)])}
    for path, key, patch in patches:
        text = b"\n".join(texts[at] for at in _files_of(path, patch) if at in texts)
        if may_change_crds(key, patch, text):
            sources = [(at, files[at].oid) for at in sorted(own[path]) if at in files] if key == "replacements" else ()
            made = [contents[path].get(each) for each in GENERATORS] if key == "replacements" else ()
            part = f"{key} {_unplaced(path, patch, files)!r} {text!r} {sources} {made}"
            part += " again" * sum(each.startswith(part) for each in own[path])
            own[path].add(part)
            changing.add(path)
            parts[part] = path, f"{key}: {_BUILD}"
            if changes_versions(patch, text):
                reshaping.add(part)
            if gives_conversion(patch, text):
                converting[part] = converted_crd(patch, text)
    return Kustomized(
        listed=frozenset(named & files.keys()),
        parts=parts,
        reached={path: _reached(path, own) for path in own},
        named=frozenset(named),
        reshaping=frozenset(reshaping),
        changing=frozenset(changing),
        converting=converting,
        patching=frozenset(wanted),
    )


def _followed(
    data: Mapping[str, bytes], files: Collection[str]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, set[str]], set[str], dict[str, tuple[str, str]]]:
    """The contents of the kustomizations ``data`` that count, and what they list.

    That is the files and parts of each one, all paths, and the parts that are elsewhere.
    """
    contents: dict[str, Mapping[str, Any]] = {}
    own: dict[str, set[str]] = {}
    named, parts = set[str](), dict[str, tuple[str, str]]()
    pending = [path for path in data if not excluded(path)]
    while pending:
        path = pending.pop()
        if path in own:
            continue
        own[path] = set()
        contents[path] = _content(data[path])
        for each in _named(contents[path]):
            at = _at(path, each)
            inner = [there for name in KUSTOMIZATIONS if (there := f"{at}/{name}".removeprefix("./")) in data]
            named.add(at)
            own[path].update([at] if at in files else inner or [f"resource {each}"])
            pending += inner
            if at not in files and not inner and not _is_missing_sample(path, each):
                parts[f"resource {each}"] = path, f"{each} is elsewhere: {_BUILD}"
    return contents, own, named, parts


def _is_missing_sample(kustomization: str, named: str) -> bool:
    """Whether samples list a manifest that is not in the tree, as kubebuilder does for each kind, whatever its name."""
    return not _SAMPLES.isdisjoint(kustomization.split("/")) and "://" not in named and is_manifest_name(named)


def _reached(path: str, own: Mapping[str, set[str]]) -> frozenset[str]:
    seen, pending = set[str](), [path]
    while pending:
        fresh = own.get(pending.pop(), set()) - seen
        seen |= fresh
        pending += fresh
    return frozenset(seen)


def unbuilt(before: Kustomized, after: Kustomized, unconverted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """The kustomizations with what differs and only a build can tell, with the reasons.

    What only those in folders of tests reach, no cluster gets. ``unconverted``: whether a CRD has objects that no
    server converts, so that its conversion does not matter.
    """
    differing = {*(before.parts.keys() ^ after.parts.keys())}
    for path in before.reached.keys() & after.reached.keys():
        differing |= (before.reached[path] ^ after.reached[path]) & (before.parts.keys() | after.parts.keys())
    converting = {**before.converting, **after.converting}
    reached = (*before.reached.items(), *after.reached.items())
    used = {part for path, parts in reached if place_of(path) < Place.NEVER for part in parts}
    counting = {part for part in differing & used if not (converting.get(part) and unconverted(converting[part]))}
    yield from sorted({after.parts[part] if part in after.parts else before.parts[part] for part in counting})


def delisted(before: Kustomized, after: Kustomized) -> frozenset[str]:
    """The files that no kustomization lists any more, or that one does not reach any more."""
    both = before.reached.keys() & after.reached.keys()
    gone = {file for path in both for file in before.reached[path] - after.reached[path]}
    return frozenset({*(before.listed - after.listed), *(gone & before.listed)})


def _content(data: bytes) -> Mapping[str, Any]:
    try:
        return object_of(load_yaml(data))
    except YAML_ERRORS:
        return {}


def _at(kustomization: str, named: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(kustomization), named))


def _named(content: Mapping[str, Any]) -> Iterator[str]:
    """What a kustomization lists: resources, and the files of which it makes ConfigMaps and Secrets."""
    yield from (each for key in LISTS for each in list_of(content.get(key)) if isinstance(each, str))
    made = (each for key in GENERATORS for each in objects_of(content.get(key)))
    for each in (text for generator in made for text in list_of(generator.get("files"))):
        if isinstance(each, str):
            yield each.partition("=")[2] or each


def _unplaced(kustomization: str, patch: Any, files: Collection[str]) -> Any:
    """A patch without the paths of its files: a file that only moves changes no patch."""
    if isinstance(patch, list):
        return [_unplaced(kustomization, each, files) for each in patch]
    if isinstance(patch, dict):
        return {key: _unplaced(kustomization, each, files) if key in _PLACES else each for key, each in patch.items()}
    is_place = isinstance(patch, str) and "\n" not in patch and _at(kustomization, patch) in files
    return None if is_place else patch


def _files_of(kustomization: str, patch: Any) -> list[str]:
    """The paths of the files of a patch, a plugin or a chart; none for one that stands in the kustomization."""
    found = [patch.get(key) for key in _PLACES] if isinstance(patch, dict) else [patch]
    named = (each for value in found for each in (value if isinstance(value, list) else [value]))
    return [_at(kustomization, each) for each in named if isinstance(each, str) and "\n" not in each]

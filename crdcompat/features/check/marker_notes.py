"""Notes of a check on waivers in the Go source: those that a change adds, and those that accept nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.golang.packages import is_go_types

if TYPE_CHECKING:  # the quick answer parses no Go
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crdcompat.config.applied import ActiveWaivers
    from crdcompat.crds.reader import CrdSet
    from crdcompat.findings.source_waivers import Ignore
    from crdcompat.sources.tree import Tree

#: A package of Go types and a kind in it: API group, version, kind.
_Kind = tuple[str, str, str]


def added_markers(trees: tuple[Tree, Tree]) -> list[Ignore]:
    """The markers that the head has and the base has not, at the same type or field, in the same folder.

    ``trees`` are base and head. Raises SourceError.
    """
    before, after = ({each.path: each for each in tree.entries() if is_go_types(each.path)} for tree in trees)
    differing = [each for path, each in after.items() if each.oid is None or before.get(path) != each]
    texts = [(entry.path, data) for entry, data in trees[1].read(differing)]
    found = {where: each for path, data in texts for where, each in _in_file(path, data)}
    if not found:
        return []
    replaced = [each for path, each in before.items() if after.get(path) != each]
    known = {where for entry, data in trees[0].read(replaced) for where, _ in _in_file(entry.path, data)}
    return [each for where, each in found.items() if where not in known]


def _in_file(path: str, data: bytes) -> Iterator[tuple[tuple[object, ...], Ignore]]:
    """The markers of a file, each with its folder, what it stands above, and what it accepts."""
    from crdcompat.golang.notes import has_notes, notes_in

    if not has_notes(data):
        return
    from crdcompat.findings.source_waivers import ignore

    for note in notes_in(path, data):
        each = ignore(note)
        yield (path.rpartition("/")[0], note.above, each.content), each


def marker_notes(
    waivers: ActiveWaivers,
    head: CrdSet,
    compared: Collection[str] | None,
    used: Collection[str] | None,
    told: Collection[str],
) -> Iterator[str]:
    """Notes on the markers of compared CRDs (None: all) that accept nothing.

    ``used`` are the places of those that concern findings; None if not all findings are known. ``told`` are those of
    expired ones that the report names first. Raises SourceError.
    """
    kinds = {name: _kinds(head, name) for name in head.named()}
    mine = _of_kinds(head, [each for name, found in kinds.items() if _is_in(name, compared) for each in found])
    for each in mine:
        if each.fault:
            yield f"broken: {each.place}: {each.fault}; it accepts nothing"
        elif each.ended(waivers.today, waivers.release):
            if each.place not in told:
                yield f"expired: {each.place}: {each.label}: until {each.until}, no longer counts"
        elif each.is_unending(waivers.release):
            until = f"until {each.until}, and the name {waivers.release} contains no release: it still counts"
            yield f"unending: {each.place}: {each.label}: {until}"
    left = {each.place: each for each in mine if used is not None and each.place not in used and not each.fault}
    left = {place: each for place, each in left.items() if not each.ended(waivers.today, waivers.release)}
    if not left:
        return
    others = [each for name, found in kinds.items() if not _is_in(name, compared) for each in found]
    elsewhere = {each.place for each in _of_kinds(head, others)}
    for place, each in left.items():
        if place not in elsewhere:
            yield f"stale: {place}: {each.label}: nothing matches it, take it out"


def _is_in(name: str, compared: Collection[str] | None) -> bool:
    return compared is None or name in compared


def _kinds(crds: CrdSet, name: str) -> list[_Kind]:
    found = {
        (document.crd.group, version.name, document.crd.kind): None
        for document in crds.named()[name]
        for version in document.crd.versions
    }
    return list(found)


def _of_kinds(crds: CrdSet, kinds: Iterable[_Kind]) -> Sequence[Ignore]:
    """The markers that belong to these kinds, and those that stand above no field or type; each once, by place."""
    from crdcompat.findings.source_waivers import ignores_of

    found = {each.place: each for kind in kinds for each in ignores_of(crds.go, *kind)}
    return sorted(found.values(), key=lambda each: (each.file, each.line))

"""Which copies of a CRD decide, where copies in two trees differ: those that ship, as the trees themselves say.

For each CRD, the first kind of evidence that both sides have for it decides (``evidence``); without any, the folder
with the most CRDs at the paths of both sides; else the names of folders (``aside``). Copies elsewhere that agree stay,
with their lines; those that differ are set aside, and named. Where nothing says which copy ships, all of them stay:
``pairing`` matches them by their paths.

A change cannot choose its judge: what its base says of NEW's files counts beside what NEW says. A file that NEW lists
in place of one that is still there is compared as well as that one.

Trees with a payload or variants have their own rules (`shipped`, `variants`). Of these trees, only copies in folders of
tests, examples and the like give way to others; a CRD that is nowhere else has annotations of OpenShift if it ships.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec.structs import replace

from crdcompat.crds.agreeing import agreeing, agrees, hold_copies, neighbours, of_newer_api
from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.below import is_below
from crdcompat.crds.chosen import Chosen, names_in, notes_of
from crdcompat.crds.converted import differ_in_conversion, without_bases
from crdcompat.crds.evidence import Evidence, Kind
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.shipping_side import ShippingSide, folder_of
from crdcompat.crds.variants import OPENSHIFT, PLAIN, preset_of
from crdcompat.errors import Skipped, skipped_order
from crdcompat.vocabulary import Side

_Documents = Sequence[CrdDocument]
#: A folder with fewer CRDs is not the place where a project keeps them.
_FEW = 2
NOWHERE = "not shipped: in a folder of tests, designs, examples or scripts alone"
#: What says that a folder ships, where no file does.
_MOST, BY_NAMES = "the folder with the most CRDs", "by the names of the other folders"


def shipping(
    old: CrdSet, new: CrdSet, paths: Sequence[str] = (), of_base: Callable[[], Sequence[Evidence]] = tuple
) -> tuple[CrdSet, CrdSet]:
    """Both sets with the documents that decide, and on NEW a note that says by what, if anything was set aside.

    ``paths`` are those that the user asks for: of a CRD with copies below them, only these count. ``of_base`` reads the
    evidence of the base, if NEW is the head of a change. Raises SourceError.
    """
    sides = [old, new]
    if any(crds.shipped is not None for crds in sides):
        return old, new
    if paths:
        sides = [_below(crds, paths) for crds in sides]
    if not any(map(_is_open, sides)):
        return sides[0], sides[1]
    both, chosen = decided(sides, of_base())
    before, after = (_with(side, of_side) for side, of_side in zip(both, chosen, strict=True))
    return before, replace(after, notes=(*after.notes, *notes_of(chosen[1:] if old is new else chosen)))


def without_tests(old: CrdSet, new: CrdSet) -> tuple[CrdSet, CrdSet]:
    """Both sets, without CRDs for tests and designs alone of which the payload of the other one has one that ships."""
    return _without_tests(old, new, Side.OLD), _without_tests(new, old, Side.NEW)


def _without_tests(crds: CrdSet, other: CrdSet, side: Side) -> CrdSet:
    entered = (other.shipped or frozenset()) - (crds.shipped or frozenset())
    left = [each for each in crds.documents if each.crd.name in entered and place_of(each.file) >= Place.NEVER]
    if not left:
        return crds
    skipped = {*crds.skipped, *(Skipped(each.file, NOWHERE, side) for each in left)}
    kept = tuple(each for each in crds.documents if not any(each is one for one in left))
    return replace(crds, documents=kept, skipped=tuple(sorted(skipped, key=skipped_order)))


def decided(sides: Sequence[CrdSet], of_base: Sequence[Evidence] = ()) -> tuple[list[ShippingSide], list[Chosen]]:
    """Both sides with their evidence, and what counts of them."""
    old, new = sides
    most = _most_crds(*sides)
    both = [
        ShippingSide(
            side, crds, crds.evidence(), most, all(place_of(file) >= Place.NEVER for file, _ in _plurals(crds)), said
        )
        for side, crds, said in ((Side.OLD, old, ()), (Side.NEW, new, of_base))
    ]
    chosen = [Chosen(set(), [], Counter()) for _ in both]
    named = [crds.named() for crds in sides]
    variants = {_variants(crds) for crds in sides} - {PLAIN}
    for name in {**named[0], **named[1]}:
        documents = [of_side.get(name, []) for of_side in named]
        newer = of_newer_api(documents)
        found, by = _found(both, newer, variants)
        for each in zip(both, documents, found, agreeing(newer, found), chosen, strict=True):
            _keep(*each, by)
    for of_side, mine, theirs in zip(chosen, named, reversed(named), strict=True):
        near = set(map(id, neighbours(mine, theirs, of_side.kept)))
        of_side.kept |= near
        of_side.aside = [pair for pair in of_side.aside if id(pair[0]) not in near]
    return both, chosen


def _below(crds: CrdSet, paths: Sequence[str]) -> CrdSet:
    """The set without the copies elsewhere of each CRD that has one below ``paths``."""
    inside = {document.crd.name for document in crds.documents if is_below(document.file, paths)}
    kept = (each for each in crds.documents if each.crd.name not in inside or is_below(each.file, paths))
    return replace(crds, documents=tuple(kept))


def has_variants(crds: CrdSet) -> bool:
    """Whether a tree has variants of CRDs."""
    return _variants(crds) != PLAIN


def _variants(crds: CrdSet) -> str:
    """By what the variants of a tree differ: those in folders of tests, examples and others count for nothing."""
    return preset_of(each for each in crds.documents if place_of(each.file) < Place.SELDOM)


def _is_open(crds: CrdSet) -> bool:
    """Whether anything is to decide: copies that differ, or a file that may not ship, or is no CRD."""
    if crds.problems or any(place_of(each.file) != Place.ORDINARY for each in crds.documents):
        return True
    copies = crds.named().values()
    return any(differ_in_conversion(each) or not all(agrees(one, each[:1]) for one in each) for each in copies)


def _most_crds(old: CrdSet, new: CrdSet) -> str | None:
    """The folder with the most CRDs, each once, at the paths of both sides; None if others have as many, and differ."""
    sides = [dict(_plurals(crds)) for crds in (old, new)]
    held: dict[str, list[str]] = {}
    for file, plurals in sides[1].items():
        if file in sides[0] and place_of(file) == Place.ORDINARY:
            held.setdefault(folder_of(file), []).extend(plurals)
    counts = Counter({folder: len(names) for folder, names in held.items() if len(set(names)) == len(names)})
    most = max(counts.values(), default=0)
    first, *others = [folder for folder, count in counts.items() if count == most] or [""]
    alike = all(set(held[each]) == set(held[first]) and hold_copies(first, each, (old, new)) for each in others)
    return first if most >= _FEW and alike else None


def _plurals(crds: CrdSet) -> Iterator[tuple[str, Sequence[str]]]:
    """The files with CRDs, also those that no comparison needs, each with the plurals."""
    yield from crds.unread.items()
    by_file: dict[str, list[str]] = {}
    for document in crds.documents:
        by_file.setdefault(document.file, []).append(document.crd.name.partition(".")[0])
    yield from by_file.items()


def _found(
    both: Sequence[ShippingSide], documents: Sequence[_Documents], variants: Collection[str]
) -> tuple[list[_Documents], Kind | str]:
    """The documents of one CRD that count on both sides, and what says so: a kind of evidence, or a reason."""

    def where(counts: Callable[[ShippingSide, str], bool]) -> list[_Documents]:
        pairs = zip(both, documents, strict=True)
        return [[each for each in of_side if counts(side, each.file)] for side, of_side in pairs]

    likely = where(lambda side, file: side.place(file) < Place.SELDOM)
    if OPENSHIFT in variants:  # a moved manifest has annotations, a sample of a removed one has none
        marked = [[each for each in of_side if preset_of((each,)) == OPENSHIFT] for of_side in documents]
        rest = marked if any(likely) else documents
        return [found or some for found, some in zip(likely, rest, strict=True)], BY_NAMES
    if variants and any(likely):
        return likely, BY_NAMES
    kinds = [
        {kind for each in of_side for kind in side.kinds(each.file)}
        for side, of_side in zip(both, documents, strict=True)
    ]
    if (first := _first(kinds[0] & kinds[1])) is not None:
        return where(lambda side, file: first in side.kinds(file)), first
    if all(found := where(lambda side, file: folder_of(file) == side.most and not side.omits(file))):
        return found, _MOST
    if all(found := where(lambda side, file: side.place(file) == Place.ORDINARY)):
        return found, BY_NAMES
    if not variants and not any(side.says for side in both):
        limit = Place.OF_OTHERS if all(side.is_of_tests for side in both) else Place.NEVER
        return where(lambda side, file: side.place(file) < limit), BY_NAMES
    return where(lambda side, file: side.place(file) < (Place.NEVER if any(likely) else Place.SELDOM)), BY_NAMES


def _first(kinds: Collection[Kind]) -> Kind | None:
    """The kind that decides; where clusters get another copy adapted, a list of CRDs alone is that of a flavour."""
    says_less = {Kind.LISTED, Kind.PATCHED, Kind.ADAPTED} if Kind.ADAPTED in kinds else ()
    return min((kind for kind in kinds if kind not in says_less), default=None) or min(kinds, default=None)


def _keep(
    side: ShippingSide, documents: _Documents, found: _Documents, same: _Documents, chosen: Chosen, by: Kind | str
) -> None:
    """Set aside the documents of one CRD on one side that are not ``found``, nor the ``same`` as one that is."""
    kept = without_bases(found, same, side.evidence)
    aside = [each for each in documents if not any(each is one for one in kept)]
    chosen.kept.update(map(id, kept))
    if isinstance(by, Kind):
        chosen.relisted |= side.relists(found, by)
        chosen.decided[documents[0].crd.name] = by
    chosen.aside += ((each, kept[0] if kept else None) for each in aside)
    if aside:
        chosen.agree += len(same)
        ordinary = [each for each in kept if side.place(each.file) == Place.ORDINARY]
        shown = [each for each in kept if any(each is one for one in found)] or ordinary or kept
        said = side.source if isinstance(by, Kind) else lambda _: by
        chosen.sources.update(sorted({(folder_of(each.file), said(each.file)) for each in shown}))


def _with(side: ShippingSide, chosen: Chosen) -> CrdSet:
    """The set with the documents that count; a file without any is listed with the reason.

    Where a tree says what ships, problems of files that do not are remarks: they would be set aside, whatever they say.
    """
    crds = side.crds
    files = {each.file for each in crds.problems} if side.says else set()
    left = {file for file in files if side.place(file) != Place.ORDINARY or side.omits(file)}
    left |= {file for file, data in crds.read(files - left) if _is_copy(names_in(file, data), side.kinds(file), chosen)}
    far = [each for each in crds.problems if each.file in left]
    nowhere = {Skipped(each.file, NOWHERE, side.side) for each, other in chosen.aside if other is None}
    return replace(
        crds,
        documents=tuple(each for each in crds.documents if id(each) in chosen.kept),
        problems=tuple(each for each in crds.problems if each not in far),
        remarks=(*crds.remarks, *far),
        skipped=tuple(sorted((*crds.skipped, *nowhere), key=skipped_order)),
        set_aside=tuple((each.crd.name, each.file, by.file) for each, by in chosen.aside if by is not None),
        relisted=chosen.relisted,
    )


def _is_copy(names: Collection[str], kinds: Collection[Kind], chosen: Chosen) -> bool:
    """Whether evidence of other kinds than a file's decides on all CRDs in it."""
    return bool(names) and all(name in chosen.decided and chosen.decided[name] not in kinds for name in names)

"""The patch of ``--suggest-patch``: it widens OLD by what NEW needs, and is compared with both before it is shown.

A keyword, a junctor and a rule cannot always be joined into one that accepts what either accepts. A widening after
which OLD accepts more than NEW, or less than before, or which OLD's server refuses, is left out and named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence

from msgspec.structs import replace

from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.result import Judged
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.features.diff.comparison import Compared
from crdcompat.features.diff.options import DiffOptions
from crdcompat.findings.patch import Patched, Planned, is_of_schema, patched, planned
from crdcompat.schema.structural import RULES
from crdcompat.sources.memory import MemoryTree
from crdcompat.vocabulary import Direction, Effect, Side
from crdcompat.vocabulary.filters import Filters

#: Times that a patch is compared; each time something is left out.
_MAX_ROUNDS = 5

#: Compares two sets of CRDs.
Compare = Callable[[CrdSet, CrdSet, DiffOptions], Compared]


def tolerant_patch(old: CrdSet, new: CrdSet, judged: Iterable[Judged], compare: Compare) -> str:
    """A unified diff of OLD's files for the rollback results ``judged``; "" if nothing can be widened."""
    needed = [item for item in judged if is_of_schema(item)]
    plans = planned(needed)
    crds = {plan.judged.crd for plan in plans}
    known: Counter[tuple[str, ...]] | None = None
    for _ in range(_MAX_ROUNDS):
        if not plans:
            break
        made = patched(plans, old)
        after = _with_files(old, made)
        filters = Filters(crds=tuple(sorted(crds)))
        if known is None:
            known = Counter(map(_key, _found(old, new, filters, compare)))
        there = _found(after, new, filters, compare)
        still = Counter(map(_key, there))
        fresh = [item for item in there if still[_key(item)] > known[_key(item)]]
        up = replace(filters, directions=(Direction.UPGRADE,))
        narrowed = [item for item in _found(old, after, up, compare) if item.effect in _REFUSING]
        wrong = [plan for plan in plans if any(_concerns(item, plan) for item in (*fresh, *narrowed))]
        if not wrong:
            # What has no widening of its own may be gone with that of another change.
            by_hand = {plan.file for plan in plans} - made.files.keys()  # the patch has a line on each of them
            left = (item for item in needed if item.crd not in crds or _key(item) in still)
            return _named(left, by_hand) + made.text
        plans = [plan for plan in plans if plan not in wrong]
    return _named(needed)


#: Effects that say that OLD, once patched, takes less than before, or that its server refuses it.
_REFUSING = (Effect.WRITE_REJECTED, Effect.CRD_REJECTED)


def _found(old: CrdSet, new: CrdSet, filters: Filters, compare: Compare) -> Sequence[Judged]:
    options = DiffOptions(filters, advise=False, across_servers=False, locate=False, cache=ComparisonCache())
    return [item for item in compare(old, new, options).judged if item.effect is not Effect.NONE]


def _key(item: Judged) -> tuple[str, ...]:
    """The effect at a place, by whichever kind of change: a pattern that changed is one that narrowed, once joined."""
    return (item.direction, item.effect, item.crd, item.version, item.change.place)


def _concerns(item: Judged, plan: Planned) -> bool:
    """Whether a new result may come from a widening: at its place, above or below it; of a whole CRD from any rule."""
    if item.crd != plan.judged.crd:
        return False
    if item.change.of_crd or not item.change.path:
        return plan.widening.keyword == RULES or not item.change.of_crd
    here, there = item.change.path, plan.judged.change.path
    return item.version == plan.judged.version and here[: len(there)] == there[: len(here)]


def _with_files(old: CrdSet, made: Patched) -> CrdSet:
    """OLD with the contents of a patch."""
    tree = MemoryTree(old.name, made.files)
    read = {(each.file, each.index, each.pointer): each.crd for each in CrdReader().documents(tree, tree.entries())}

    def with_content(document: CrdDocument) -> CrdDocument:
        crd = read.get((document.file, document.index, document.pointer))
        return document if crd is None else replace(document, crd=replace(crd, annotations=document.crd.annotations))

    return replace(old, documents=tuple(map(with_content, old.documents)))


def _named(left_out: Iterable[Judged], known: Container[str] = ()) -> str:
    """A line for each place that is not widened, but for ``known`` files; git takes it for text before a patch."""
    lines = dict.fromkeys(
        f"# {chosen.document.file}: {f'{item.kind} ({item.version}) {item.change.place}'.rstrip()} has no widening "
        "that accepts only what OLD or NEW accepts: widen it by hand\n"
        for item in left_out
        for chosen in item.occurrences[0].at(Side.OLD)[:1]
        if chosen.document.file not in known
    )
    return "".join(lines)

"""The patch of ``--suggest-patch``: it widens OLD by what NEW needs, and is compared with both before it is shown.

A keyword, a junctor and a rule cannot always be joined into one that accepts what either accepts. A widening after
which OLD accepts more than NEW, or less than before, or which OLD's server refuses, is left out and named.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.facet import Widening
from crdcompat.compare.registry import facet_of
from crdcompat.compare.result import Judged
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.features.diff.compared import Compared
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.schema.structural import ABSENT, RULES
from crdcompat.sources.encoding import is_wide, legible
from crdcompat.sources.memory import MemoryTree
from crdcompat.vocabulary import Direction, Effect, Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.edit import Setting, apply_settings

if TYPE_CHECKING:
    from crdcompat.crds.resolving import Chosen
    from crdcompat.schema.paths import Pointer

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
            # A change without a widening of its own may be gone with the widening of another change.
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


# The patch that makes OLD tolerant: it widens the schema by exactly what the rollback findings need.
#
# crdcompat shows the patch and never applies it. Controllers of OLD write the same values as before; the widened
# schema only accepts what NEW has stored (docs/first-check.md#fix-it-on-a-stuck-cluster; the API conventions call it
# "accept in N, write in N+1"). The facet of a change defines what to widen.


class Planned(Struct, frozen=True, eq=False):
    """One setting for a file of OLD: the document, the widening, and the change that needs it."""

    file: str
    index: int
    widening: Widening
    judged: Judged


class Patched(Struct, frozen=True):
    """A unified diff of OLD's files, and their contents after it."""

    text: str
    files: dict[str, bytes]


def is_of_schema(item: Judged) -> bool:
    """Whether a schema of OLD can make up for a result: a write that it refuses after a rollback."""
    return not item.change.of_crd and item.direction == Direction.ROLLBACK and item.effect == Effect.WRITE_REJECTED


def planned(judged: Iterable[Judged]) -> list[Planned]:
    """What the results of a rollback need: a setting for each of them in each copy of a CRD."""
    found = []
    for item in judged:
        sides = ((each.at(Side.OLD), each.at(Side.NEW)[0]) for each in item.occurrences)
        for chosen, newer in ((chosen, newer) for olds, newer in sides for chosen in olds):
            document = chosen.document
            found += [Planned(document.file, document.index, each, item) for each in _widenings(item, chosen, newer)]
    return found


def patched(plans: Iterable[Planned], old: CrdSet) -> Patched:
    """The patch for OLD; files that cannot be edited have a line that says so."""
    wanted: dict[str, dict[tuple[int, Pointer, str], Widening]] = {}
    for plan in plans:
        key = (plan.index, plan.widening.pointer, plan.widening.keyword)
        widenings = wanted.setdefault(plan.file, {})
        widenings[key] = _joined(widenings[key], plan.widening) if key in widenings else plan.widening
    texts, files = [], {}
    for file, data in old.read(sorted(wanted)):
        text = legible(data)
        if not any(isinstance(item, Document) for item in read_documents(text, file)):
            texts.append(f"# {file} is a template: widen it by hand\n")
            continue
        settings = [
            Setting(index, pointer, keyword, widening.value)
            for (index, pointer, keyword), widening in wanted[file].items()
        ]
        try:
            after = apply_settings(text, settings)
        except LookupError:  # a pointer leads into a text, or a List is written in an odd way
            texts.append(f"# {file} holds the CRD in a text or a List: widen it by hand\n")
            continue
        files[file] = after
        before, now = (side.decode("utf-8").splitlines(keepends=True) for side in (text, after))
        texts += [f"# {file} is not in UTF-8: this is for its text, git apply does not take it\n"] * is_wide(data)
        made = difflib.unified_diff(before, now, fromfile=f"a/{file}", tofile=f"b/{file}")
        texts += (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in made)
    return Patched("".join(texts), files)


def _widenings(item: Judged, chosen: Chosen, newer: Chosen) -> Iterator[Widening]:
    """The settings for the document of ``chosen``."""
    change, root = item.change, (*chosen.document.pointer, *chosen.version.schema_pointer)
    values = item.labels or change.added
    for widening in facet_of(change.kind).widen(change, values, chosen.version.node, newer.version.node):
        yield replace(widening, pointer=(*root, *widening.pointer))


def _joined(first: Widening, second: Widening) -> Widening:
    """The combination of two findings that widen the same keyword."""
    if ABSENT in (first.value, second.value):
        return replace(first, value=ABSENT)
    return replace(first, value=first.join(first.value, second.value))

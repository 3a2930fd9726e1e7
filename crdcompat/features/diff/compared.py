"""Compares two CRD sets: the step of ``diff`` that ``matrix`` repeats for many pairs.

A comparison includes CRDs that the API server refuses (``simulate`` and ``judge`` do not), because the findings on the
rest of the schema are valid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from crdcompat.apiserver.server_versions import Servers
from crdcompat.compare.budget import budget_of, cut_short
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.result import Comparison, Judged, Open
from crdcompat.compare.unpaired import judge_unpaired
from crdcompat.crds.below import is_below
from crdcompat.crds.context import no_context
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.pairing import CrdPair, Pairing, pair
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.unpaired import Unpaired
from crdcompat.crds.variants import contexts_of
from crdcompat.errors import Problem, did_you_mean
from crdcompat.features.diff.on_servers import judged_on_servers
from crdcompat.features.diff.too_large import without_too_large
from crdcompat.schema.paths import owner
from crdcompat.vocabulary.filters import Filters


class Compared(Struct, frozen=True, eq=False):
    """The comparison of two sets: the servers that run beside them, their pairing, and the filtered results.

    ``pairs`` are the pairs that the filters left to compare. ``missing`` describes a filter name that
    matches nothing, so that nothing was compared; it is "" if all names match. ``unknown``: the named contexts that
    neither side has, each with a message. ``unpaired`` counts the CRDs that only one side ships, ``entering`` are those
    that NEW alone has. ``remarks`` are on CRDs that a server refuses.
    """

    old: CrdSet
    new: CrdSet
    servers: Servers
    pairing: Pairing
    pairs: tuple[CrdPair, ...]
    found: Comparison
    judged: tuple[Judged, ...]
    open: tuple[Open, ...]
    missing: str = ""
    unknown: Mapping[str, str] = field(default_factory=dict)
    unpaired: int = 0
    entering: tuple[Unpaired, ...] = ()
    remarks: tuple[Problem, ...] = ()


def compare(old: CrdSet, new: CrdSet, wanted: Filters, shared: ComparisonCache) -> Compared:
    """Pair two sets, apply the filters, and compare. Raises UsageError for an unknown Kubernetes version."""
    contexts, crds = wanted.contexts, wanted.crds
    old, new = without_too_large(old, new, wanted, shared)
    forced = [(a, b) for a, _, b in (name.partition("=") for name in contexts if "=" in name)]
    pairing = pair(old, new, forced, [name for name in contexts if "=" not in name])
    pairs = tuple(crd_pair for crd_pair in pairing.pairs if _is_wanted(crd_pair, wanted))
    missing = ""
    unknown: dict[str, str] = {}
    if contexts and old.documents and new.documents:
        apart, unknown = _unknown_contexts(contexts, old, new)
        if not pairing.pairs:
            missing = ". ".join(apart) or f"no CRD of both sides is in the context {', '.join(contexts)}"
    if not missing and crds and not any(name in crds for name in _known(pairing)):
        hint = did_you_mean(crds[0], sorted(set(_known(pairing)))) if len(crds) == 1 else ""
        missing = f"no CRD of both sides is named {', '.join(crds)}{hint}"
    shared.budget = budget_of(pairs)
    servers, found = judged_on_servers((old, new), pairs, wanted.directions, shared)
    found.open += cut_short(found.judged, shared.budget)
    unpaired = [item for item in pairing.unpaired if wants(wanted, item.names, (item.documents, item.renamed))]
    found.judged += judge_unpaired(unpaired, wanted.directions)
    return Compared(
        old,
        new,
        servers,
        pairing,
        pairs,
        found,
        judged=tuple(item for item in found.judged if wanted.want_owner(item.change.owner)),
        open=tuple(item for item in found.open if wanted.want_owner(owner(item.undecided.path))),
        missing=missing,
        unknown=unknown,
        unpaired=len({item.names for item in unpaired}),
        entering=tuple(item for item in pairing.entering if wants(wanted, item.names, (item.documents,))),
    )


def _unknown_contexts(contexts: Sequence[str], old: CrdSet, new: CrdSet) -> tuple[list[str], dict[str, str]]:
    """Messages on the contexts that a side does not have, and by name those that neither has.

    Releases differ in their contexts: one that a single side has is no error beside others. A pair ``OLD=NEW`` needs
    both.
    """
    olds = [*map(str, contexts_of(old.documents, new.documents))]
    news = [*map(str, contexts_of(new.documents, old.documents))]
    common = [name for name in olds if name in news]
    apart, unknown = [], {}
    for name in contexts:
        of_old, equals, of_new = name.partition("=")
        places = [(of_old, f"in {old.name}", olds), (of_new, f"in {new.name}", news)]
        found = [no_context(*place) for place in places if place[0] not in place[2]] if equals else []
        if not equals and name not in common:
            found = [no_context(name, "on both sides", common)]
        apart += found
        if found and (equals or name not in (*olds, *news)):
            unknown[name] = ". ".join(found)
    return apart, unknown


def _known(pairing: Pairing) -> Iterator[str]:
    """The names of the CRDs that are compared, and of those that only one side ships."""
    yield from (crd_pair.old.name for crd_pair in pairing.pairs)
    yield from (name for item in pairing.unpaired for name in item.names)


def _is_wanted(crd_pair: CrdPair, wanted: Filters) -> bool:
    return wants(wanted, (crd_pair.old.name,), (crd_pair.old.documents, crd_pair.new.documents))


def wants(wanted: Filters, names: Collection[str], sides: Iterable[Iterable[CrdDocument]]) -> bool:
    """Whether the filters leave a CRD with these names, and documents on either side."""
    if not wanted.want_name(names):
        return False
    files = (document.file for side in sides for document in side)
    return not wanted.paths or any(is_below(file, wanted.paths) for file in files)

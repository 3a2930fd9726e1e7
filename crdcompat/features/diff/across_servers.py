"""Writes that one supported server accepts and another refuses, each shown by an object.

Servers differ in the values that they accept (``stricter.py``). They also differ in ratcheting: which updates they
refuse for a stored object that already breaks the schema. For ratcheting, this module replays the witnesses of other
findings on all servers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.ranges import listed, server_name, spans_of
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.refused_by import taking
from crdcompat.compare.result import Judged, Occurrence
from crdcompat.crds.resolving import Chosen
from crdcompat.features.diff.compared import Compared
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.refused_crds import placed_in_new
from crdcompat.features.diff.stricter import judge_stricter
from crdcompat.render.wording.findings import plural
from crdcompat.replay.replayed_writes import writes_of
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.writes import ORDINARY, WriteKind

LOOSER = "server.looser-on"
#: The behaviours of servers that decide on updates of objects that already break the schema.
_UPDATES = ("status_scope", "ratchet_main", "ratchet_status")


def with_differences(compared: Compared, options: DiffOptions) -> Compared:
    """The comparison with the differences between the supported servers among its results."""
    found = [*judge_updates(compared.judged, compared, options.cache)]
    if options.judge_new:
        found += judge_stricter(compared, placed_in_new(compared))
    kept = (each for each in found if options.filters.want_owner(each.change.owner))
    return replace(compared, judged=(*compared.judged, *kept))


def judge_updates(judged: Iterable[Judged], compared: Compared, shared: ComparisonCache) -> Iterator[Judged]:
    """The rejections that some supported servers ratchet in ordinary updates and others do not.

    Fields of a CRD at which the same servers refuse the same kinds of update share one result, at the first field.
    """
    alike: dict[tuple[object, ...], list[Judged]] = {}
    for item in judged:
        occurrence = item.occurrences[0]
        rejected = item.effect == Effect.WRITE_REJECTED and item.witness.object is not None and not item.doubtful
        if not rejected or item.witness.stored is not None or not isinstance(occurrence, Occurrence):
            continue
        if (found := _updates(item, occurrence, compared, shared)) is not None:
            key = (item.crd, item.version, item.direction, found.change.added, found.reason)
            alike.setdefault(key, []).append(found)
    for first, *others in alike.values():
        paths = dict.fromkeys(each.change.place for each in others if each.change.path != first.change.path)
        more = f" (alike at {plural(len(paths), 'more field')})" if paths else ""
        yield replace(first, reason=first.reason + more)


def _updates(item: Judged, occurrence: Occurrence, compared: Compared, shared: ComparisonCache) -> Judged | None:
    """A finding if the servers of the reading release refuse different updates of the item's witness, else None.

    Servers with the same behaviours in updates answer alike, so one of each era is asked.
    """
    is_rollback = item.direction == Direction.ROLLBACK
    side, release = (occurrence.old, compared.old) if is_rollback else (occurrence.new, compared.new)
    refused: dict[frozenset[WriteKind], list[Server]] = {}
    eras: dict[tuple[bool, ...], frozenset[WriteKind]] = {}
    meeting = item.servers or listed(release.supported)
    for server in taking(side.document.crd, meeting, shared):
        era = tuple(map(server.does, _UPDATES))
        if era not in eras:
            eras[era] = _refused(item, side, server, shared)
        refused.setdefault(eras[era], []).append(server)
    if not refused:
        return None
    strict, loose = max(refused, key=len), min(refused, key=len)
    kinds = [kind.value for kind in WriteKind if kind in strict - loose]
    if not strict - loose - {WriteKind.APPLY}:
        return None
    tolerant = [server for found, each in refused.items() if found != strict for server in each]
    reason = f"{spans_of(tolerant)} accepts what {spans_of(refused[strict])} refuses: {', '.join(kinds)}"
    ids = [server_name(server).id for server in refused[strict]]
    change = replace(item.change, kind=LOOSER, old=None, new=ids, added=tuple(kinds), removed=())
    return replace(
        item, change=change, labels=(), spared=None, spared_since=0, unlikely=False, writer_default=False, reason=reason
    )


def _refused(item: Judged, side: Chosen, server: Server, shared: ComparisonCache) -> frozenset[WriteKind]:
    """The ordinary updates of the witness, once stored, that a server refuses."""
    reader = shared.resource(side, server)
    stored = {**(item.witness.object or {}), "apiVersion": reader.api_version}
    return writes_of(reader, stored, had_status=reader.version.has_status).rejected & ORDINARY

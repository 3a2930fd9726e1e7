"""A replay by kind of object: accepted and rejected objects, the reasons for gaps, and the verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.contrast import listed
from crdcompat.models.fleet import REACHABLE
from crdcompat.render.pages.page import Answer, Blocked
from crdcompat.render.wording.findings import first_and_count, plural
from crdcompat.render.wording.joined_entries import fold, siblings
from crdcompat.render.wording.simulation import judging, lacking, too_early, unrecorded_line
from crdcompat.render.wording.verdict import answer_on
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import COUNTED_WRITES, NOT_FOUND, ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport
    from crdcompat.vocabulary.writes import WriteKind


class KindReplay(Struct, frozen=True, eq=False):
    """The recorded objects of one CRD, and the causes for which the judging release rejects them."""

    crd: str
    kind: str
    objects: tuple[SimulatedObject, ...]
    causes: tuple[RejectedCause, ...]

    @property
    def worst(self) -> WriteResult:
        """The worst verdict on any of the objects."""
        return min((item.worst for item in self.objects), key=lambda verdict: verdict.rank)

    def having(self, verdict: WriteResult) -> list[SimulatedObject]:
        """The objects with this verdict."""
        return [item for item in self.objects if item.worst == verdict]


def replayed_kinds(report: SimulationReport) -> list[KindReplay]:
    """The kinds of the report, the worst verdict first."""
    objects: dict[str, list[SimulatedObject]] = {}
    for item in report.objects:
        objects.setdefault(item.crd, []).append(item)
    causes: dict[str, list[RejectedCause]] = {}
    for cause in report.causes:
        if cause.growth is None:
            causes.setdefault(cause.crd, []).append(cause)
    made = [KindReplay(crd, found[0].kind, tuple(found), tuple(causes.get(crd, ()))) for crd, found in objects.items()]
    return sorted(made, key=lambda kind: (kind.worst.rank, -len(kind.objects), kind.crd))


def folded_causes(causes: Iterable[RejectedCause]) -> list[tuple[str, RejectedCause, list[RejectedCause]]]:
    """Groups of causes that differ in one step of their paths: the folded path, the first cause, and all causes."""

    def facts(cause: RejectedCause) -> Hashable:
        return (
            cause.crd,
            cause.type,
            cause.objects,
            cause.endpoint,
            cause.writes,
            listed(cause.values, len(cause.values)),
        )

    groups = siblings(causes, lambda cause: cause.path, facts)
    return [(fold([cause.path for cause in group]), group[0], group) for group in groups]


def failing_writes(objects: Iterable[SimulatedObject]) -> str:
    """The kinds of write that are rejected for any of the objects: ``every write``, or their names."""
    found = [
        kind
        for kind in COUNTED_WRITES
        if any((write := item.writes.get(kind)) and write.verdict == WriteResult.REJECTED for item in objects)
    ]
    return _named(found)


def _named(kinds: Sequence[WriteKind]) -> str:
    return "every write" if len(kinds) == len(COUNTED_WRITES) else ", ".join(kinds)


def unjudged_replay(report: SimulationReport) -> tuple[str, ...]:
    """The reasons why objects or kinds were not judged, with examples.

    Objects of kinds that neither release defines, or that both judge alike, do not count. The report lists them.
    """
    missed = [(item.reason, item.object or item.source) for item in report.missed]
    missed += [(why_unknown(item), item.label) for item in report.objects if item.worst == WriteResult.UNKNOWN]
    reasons = [f"{reason} ({some(who)})" for reason, who in _by_reason(missed).items()]
    reasons += [f"{item.file}: {item.message}" for item in report.problems]
    reasons += [unrecorded_line(report.unrecorded)] if report.unrecorded else []
    if not report.objects:
        reasons.append("no object of a kind that it defines was recorded")
    return tuple(reasons)


def why_unknown(item: SimulatedObject) -> str:
    """The reason why a write of the object was not judged; "" if all were."""
    return next((write.note for write in item.writes.values() if write.verdict == WriteResult.UNKNOWN), "")


def replay_verdict(report: SimulationReport) -> Answer:
    """The verdict on the move, with its reason and the fields that block."""
    old, new = report.old.title, report.new.title
    way = f"{new} -> {old}" if report.direction == Direction.ROLLBACK else f"{old} -> {new}"
    return answer_on(way, report.verdict, _reason(report), _blocked(report))


def rests_on(report: SimulationReport) -> str:
    """The number of replayed objects, then of those that were not recorded or not judged."""
    kinds = len({item.crd for item in report.objects})
    parts = [f"Replayed {plural(len(report.objects), 'object')} of {plural(kinds, 'kind')}: {tally(report)}."]
    if only := [item.label for item in report.objects if item.only_create_is_rejected]:
        works = report.direction == Direction.ROLLBACK and report.verdict in REACHABLE
        begin = "Rollback works; restoring" if works else "Restoring"
        parts.append(f"{begin} from a backup fails for {plural(len(only), 'object')} ({some(only)}).")
    missed = [item for item in report.not_simulated if not (item.outside or item.lost)]
    if missed:
        parts.append(f"Not judged: {plural(len(missed), 'object')}.")
    if report.unrecorded:
        parts.append(f"Not recorded: {plural(len(report.unrecorded), 'kind')} with findings.")
    return " ".join(parts)


def tally(report: SimulationReport) -> str:
    """The objects by verdict: ``1 rejected, 2 lose data, 330 accepted``."""
    counted = [
        _losing(count) if verdict == WriteResult.LOSES_DATA else f"{count} {verdict}"
        for verdict, count in report.by_verdict().items()
        if count
    ]
    return ", ".join(counted) or "none"


def _losing(count: int, of: str = "") -> str:
    return f"{count}{of} {'loses' if count == 1 else 'lose'} data"


def _reason(report: SimulationReport) -> str:
    whole, counted = plural(len(report.objects), "recorded object"), report.by_verdict()
    match report.verdict:
        case ReleaseVerdict.BLOCKED:
            if report.lost and not counted[WriteResult.REJECTED]:
                return f" ({plural(len(report.lost), 'recorded object')} deleted)"
            if not counted[WriteResult.REJECTED]:
                return f" (a value is held too early: {max(cause.objects for cause in report.early)} of {whole})"
            return f" ({counted[WriteResult.REJECTED]} of {whole})"
        case ReleaseVerdict.UNKNOWN:
            return f" (not judged: {first_and_count(unjudged_replay(report) or ('no object was recorded',))})"
        case ReleaseVerdict.AT_RISK:
            return f" ({_losing(counted[WriteResult.LOSES_DATA], f' of {whole}')})"
        case ReleaseVerdict.CLEAN:
            return f" ({whole} accepted)"


def _blocked(report: SimulationReport) -> Iterable[Blocked]:
    reader = judging(report).title
    found = [(kind, *each) for kind in replayed_kinds(report) for each in folded_causes(kind.causes)]
    for kind, path, cause, _ in sorted(found, key=lambda each: each[2].type != NOT_FOUND):  # 404 first: all requests
        writes = _named(cause.writes) if cause.writes else failing_writes(kind.having(WriteResult.REJECTED))
        fails = f"{writes} {'fail' if ',' in writes else 'fails'}"
        yield Blocked(kind.kind, path or "the object", f"{reader} {_reaction(cause)}: {fails}")
    for cause in report.early:
        if cause.growth is not None:
            yield Blocked(cause.kind, cause.path, f"holds {listed(cause.values)} {too_early(cause.growth)}")
    for (crd, reason), count in Counter((item.crd, item.reason) for item in report.lost).items():
        yield Blocked(crd, plural(count, "object"), reason)


def _reaction(cause: RejectedCause) -> str:
    if cause.type == NOT_FOUND:
        return f"answers 404, because {lacking(cause.path, cause.values)}"
    if cause.type == "FieldValueRequired":
        return "requires the field"
    return f"rejects {listed(cause.values)}" if cause.values else f"rejects the value ({cause.type})"


def _by_reason(missed: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reason, who in missed:
        found.setdefault(reason, []).append(who)
    return found

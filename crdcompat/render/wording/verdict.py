"""The verdict on a comparison: may the cluster move, what blocks it, and what the verdict rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.findings.contrast import brief
from crdcompat.findings.contrast import listed as listed_values
from crdcompat.findings.rejected_writes import with_article, writes_of
from crdcompat.findings.rules import rule
from crdcompat.models.check import CheckReport, Section
from crdcompat.models.diff import DiffReport, outcome, severities
from crdcompat.render.pages.page import Answer, Blocked
from crdcompat.render.wording.entry_sentences import waived
from crdcompat.render.wording.findings import contexts, first_and_count, plural, tally
from crdcompat.render.wording.joined_entries import Block, blocks
from crdcompat.vocabulary import Against, Direction, Effect, Owner, Severity
from crdcompat.vocabulary.installers import MISSING_CRDS
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import ReleaseVerdict, Spared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.finding import Finding
    from crdcompat.render.escape import Style


def verdicts(report: DiffReport | CheckReport, listed: Sequence[Entry]) -> tuple[Answer, ...]:
    """The verdicts of a report: of each direction that matters, or of the change that is checked."""
    if isinstance(report, CheckReport):
        result, reason = _on_change(report)
        return (answer_on("This change", result, reason, _blocked(listed, Direction)),)
    return tuple(
        answer_on(_way(report, each), outcome(report, each), _reason(report, each), _blocked(listed, (each,)))
        for each in shown_directions(report)
    )


def answer_on(way: str, result: ReleaseVerdict, reason: str, blocked: Iterable[Blocked] = ()) -> Answer:
    """The verdict on a move: ``release-4.16 -> release-4.15: BLOCKED``, and what it rests on."""
    return Answer(way, result, result.upper(), reason, blocked=tuple(blocked))


def with_allowed(answer: Answer, style: Style) -> Answer:
    """The answer with the option that allows an unknown verdict."""
    return replace(answer, reason=f"{answer.reason}{allowed_by(ReleaseVerdict(answer.tone), style)}")


def allowed_by(result: ReleaseVerdict, style: Style) -> str:
    """``, allowed by --allow-unknown`` after an unknown verdict that does not fail."""
    return f", allowed by {style.allowed}" if style.allowed and result is ReleaseVerdict.UNKNOWN else ""


def allowed_line(style: Style) -> Iterator[str]:
    """The same in a line of its own, for reports with a verdict for each of their parts."""
    if style.allowed:
        yield f"UNKNOWN is allowed by {style.allowed}."


def _on_change(report: CheckReport) -> tuple[ReleaseVerdict, str]:
    """The verdict on a change, and what it rests on: `` (rollback to main, release-4.15)``."""
    result = report.verdict
    if result is ReleaseVerdict.UNKNOWN:
        return result, f" (not judged: {first_and_count(report.unjudged)})"
    if result is not ReleaseVerdict.BLOCKED:
        compared = " and ".join(dict.fromkeys(section.report.old.title for section in report.sections))
        return result, f" (compared with {compared})"
    ways = [
        f"{direction} {'to' if direction == Direction.ROLLBACK else 'from'} {', '.join(names)}"
        for direction in Direction
        if (names := [each.report.old.title for each in report.sections if _blocks(each, direction)])
    ]
    return result, f" ({'; '.join(ways)}){_undone(report)}"


def _blocks(section: Section, direction: Direction) -> bool:
    return bool(severities(section.report, direction)[Severity.ERROR])


def _blocked(listed: Sequence[Entry], directions: Iterable[Direction]) -> tuple[Blocked, ...]:
    """The errors of these directions. Siblings that changed alike are one, as are kinds that fail in the same words."""
    errors = [each for each in listed if each.finding.counts and each.finding.severity == Severity.ERROR]
    found: dict[tuple[str, str], dict[str, None]] = {}
    for direction in directions:
        for block in blocks(entry for entry in errors if entry.finding.direction == direction):
            words = block.path or "the CRD", reaction(block)
            found.setdefault(words, {}).update(dict.fromkeys(_kinds(block)))
    return tuple(Blocked(some([*kinds]), place, what) for (place, what), kinds in found.items())


def _kinds(block: Block) -> Iterator[str]:
    """The kinds that have an error with the block; the kind of the example comes first."""
    places = (each for each in (block.finding, *block.mirrors) if each.severity == Severity.ERROR)
    return (place.kind for place in places)


def reaction(block: Block) -> str:
    """Who fails, doing what: ``release-4.13 rejects "A", "B": the controller cannot write status``.

    On a change itself the sentence begins with the change: ``this change adds "A"; main rejects it``.
    """
    finding, report = block.finding, block.entries[0].home.report
    reader, writer = report.old.title, report.new.title
    way = finding.judged_as
    if way == Direction.UPGRADE:
        reader, writer = writer, reader
    values = finding.added if way == Direction.ROLLBACK else finding.removed
    if finding.change.startswith("cel."):
        values = ()  # they are the rules
    if finding.effect == Effect.WRITE_REJECTED and values:
        is_change = report.command == "check" and block.entries[0].home.against == Against.BASE
        if is_change and way == Direction.ROLLBACK:
            verb = "adds" if finding.change == "enum.value-added" else "allows"
            them = "it" if len(values) == 1 else "them"
            what = f"this change {verb} {listed_values(values)}; {reader} rejects {them}"
        else:
            what = f"{reader} rejects {listed_values(values)}"
        return f"{what}{_stuck(finding)}{_stays(finding)}"
    judging = rule(finding.rule)
    sentence = judging.staying.get("short") if finding.window else None
    sentence = sentence or judging.short.get(way)
    if sentence is None:
        return f"{_SILENT.get(finding.effect, judging.title).format(reader=reader)}{_stays(finding)}"
    made = sentence.format(
        reader=reader,
        writer=writer,
        kind=finding.kind,
        a_kind=with_article(finding.kind),
        writes=writes_of(finding.kind, finding.writes, is_every=finding.spared is None),
        before=brief(finding.old),
        after=brief(finding.new),
        where=_where(finding, report),
    )
    what = f" ({listed_values(finding.added)})" if finding.change == "crd.refused-on-way" and finding.added else ""
    return f"{made}{what}{_stuck(finding)}{_stays(finding)}"


#: What the reader does where no write and no request fails.
_SILENT = {Effect.VALUE_PRUNED: "{reader} erases the value", Effect.VALUE_DEFAULTED: "{reader} writes its default"}


def _stays(finding: Finding) -> str:
    """Why the CRD of the other release is still there."""
    stays = finding.window is not None and finding.change not in MISSING_CRDS
    return "; helm does not replace crds/" if stays else ""


def _stuck(finding: Finding) -> str:
    """What a controller cannot do any more because its status is rejected."""
    if finding.owner != Owner.STATUS or finding.effect != Effect.WRITE_REJECTED:
        return ""
    return f": the controller cannot {_CANNOT[finding.spared]}"


_CANNOT = {None: "write status", Spared.VALUE: "set the value", Spared.LIST: "change the list"}


def _where(finding: Finding, report: DiffReport) -> str:
    """`` in Default``: the feature sets of a change of the CRD itself; nothing for all of them, or without any."""
    known = report.counts.contexts
    has_sets = any("/" in context for context in finding.contexts)
    return f" in {contexts(finding.contexts, known)}" if has_sets and set(finding.contexts) != set(known) else ""


def shown_directions(report: DiffReport) -> tuple[Direction, ...]:
    """The first direction that was judged, and each other one that has an error."""
    first, *others = report.directions
    return (first, *(each for each in others if severities(report, each)[Severity.ERROR]))


def counts_line(report: DiffReport) -> str:
    """The counts by direction, then what was not judged, and what is waived if there is any."""
    parts = []
    for direction in report.directions:
        is_cut = direction != report.directions[0] and _any(report, direction)
        hint = f" (--direction {direction})" if is_cut else ""
        parts.append(f"{direction}: {tally(severities(report, direction))}{hint}")
    problems = f", {plural(len(report.problems), 'problem')}" if report.problems else ""
    return f"{'; '.join(parts)}; {len(report.undecided)} undecided{waived(report)}{problems}."


def _any(report: DiffReport, direction: Direction) -> bool:
    return any(severities(report, direction).values())


def _way(report: DiffReport, direction: Direction) -> str:
    old, new = report.old.title, report.new.title
    return f"{new} -> {old}" if direction == Direction.ROLLBACK else f"{old} -> {new}"


def _reason(report: DiffReport, direction: Direction) -> str:
    """What a verdict other than blocked rests on."""
    scope = ", as far as the filters go" if report.is_filtered else ""
    match outcome(report, direction):
        case ReleaseVerdict.BLOCKED:
            return _undone(report)
        case ReleaseVerdict.UNKNOWN:
            return f" (not judged: {_unjudged(report)}){scope}"
        case ReleaseVerdict.AT_RISK:
            return f" (no error, {plural(severities(report, direction)[Severity.WARNING], 'warning')}{scope})"
        case ReleaseVerdict.CLEAN:
            return f" (no error and no warning in {plural(report.counts.compared, 'CRD')}{scope})"


def _undone(report: DiffReport | CheckReport) -> str:
    """What was not done beside an error: the exit code is 2, not 1."""
    missing = [
        plural(len(found), what)
        for found, what in ((report.problems, "problem"), (report.not_compared, "CRD"))
        if found
    ]
    return f", and not judged: {', '.join(missing)}" if missing else ""


def _unjudged(report: DiffReport) -> str:
    parts = [
        plural(len(found), what)
        for found, what in (
            (report.problems, "problem"),
            (report.undecided, "undecided difference"),
            (report.not_compared, "CRD"),
        )
        if found
    ]
    return ", ".join(parts) or report.why_nothing

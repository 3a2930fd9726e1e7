"""A simulation as text: what works and what does not by kind of object, the repair as a command, and the verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.models.losses import losses
from crdcompat.render.wording.findings import place, plural, problem_line, some
from crdcompat.render.wording.replay import (
    failing_writes,
    folded_causes,
    replay_verdict,
    replayed_kinds,
    rests_on,
    why_unknown,
)
from crdcompat.render.wording.simulation import (
    VERDICT_COLOURS,
    cause_fix,
    cause_line,
    cause_sentence,
    judging,
    object_lines,
    repair_lines,
    replay_title,
)
from crdcompat.render.wording.verdict import lines_of, with_verdict
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.simulation import NotSimulated, SimulatedObject, SimulationReport
    from crdcompat.render.escape import Style
    from crdcompat.render.wording.replay import KindReplay

_MAX_KINDS, _MAX_REASONS = 20, 8
#: Characters of an answer of the API server.
_MAX_ANSWER = 200
_WORDS = {WriteResult.LOSES_DATA: "loses data"}


def simulation_text(report: SimulationReport, style: Style) -> Iterator[str]:
    """All lines of the report: the kinds of objects, then the verdict; a long report begins with it, too.

    A quiet one has only what is rejected or could not be read.
    """
    verdict = [*lines_of(replay_verdict(report), style), style.fill(rests_on(report), indent="  ", first="")]
    yield from with_verdict([*_body(report, style)], verdict, style)


def _body(report: SimulationReport, style: Style) -> Iterator[str]:
    reader = judging(report)
    server = f"Kubernetes {reader.kubernetes}" if reader.kubernetes else "Kubernetes version unknown"
    yield style.title(f"{replay_title(report)} ({server})")
    for release in (report.old, report.new):
        if release.full != release.title:
            yield f"  {release.title}: {release.full}"
    for note in (*report.old.notes, *report.new.notes, *report.notes) if style.verbosity >= 0 else ():
        is_warning = note.startswith("warning: ")
        line = style.wrap(note if is_warning else f"note: {note}", indent="    ", first="  ")
        yield style.paint(line, "warning") if is_warning else line
    for problem in report.problems:
        yield problem_line(problem, style)
    if style.verbosity > 0:
        yield from _objects(report, style)
    else:
        yield from _kinds(report, style)
    for cause in report.early:
        yield ""
        yield f"{style.paint('too early', 'error')} {style.paint(cause.crd, 'path')}: {cause.example}"
        yield style.fill(f"{cause_line(cause)}.")
        yield style.fill(f"way out: {cause_fix(cause, reader)}")
    if style.verbosity >= 0:
        yield from _not_judged(report, style)


def _kinds(report: SimulationReport, style: Style) -> Iterator[str]:
    """A block for each kind that is not accepted; accepted objects are counted."""
    kinds = replayed_kinds(report)
    for verdict in WriteResult if style.verbosity >= 0 else (WriteResult.REJECTED,):
        found = [kind for kind in kinds if kind.having(verdict)]
        if not found:
            continue
        yield ""
        if verdict == WriteResult.ACCEPTED:
            count = sum(len(kind.having(verdict)) for kind in found)
            what = f"{plural(count, 'object')} of {plural(len(found), 'kind')}"
            yield f"{style.paint(verdict, VERDICT_COLOURS[verdict])} {what}"
        for kind in found[:_MAX_KINDS] if verdict != WriteResult.ACCEPTED else ():
            yield from _kind(kind, verdict, report, style)
        if verdict != WriteResult.ACCEPTED and len(found) > _MAX_KINDS:
            yield f"and {len(found) - _MAX_KINDS} more kinds (-v shows all)"


def _kind(kind: KindReplay, verdict: WriteResult, report: SimulationReport, style: Style) -> Iterator[str]:
    found = kind.having(verdict)
    word = style.paint(_WORDS.get(verdict, verdict), VERDICT_COLOURS[verdict])
    named = some(["/".join(filter(None, (item.namespace, item.name))) for item in found])
    share = f"{len(found)} of {plural(len(kind.objects), 'object')}"
    yield f"{word} {style.paint(kind.crd, 'path')}: {share} ({named})"
    match verdict:
        case WriteResult.REJECTED:
            yield from _rejected(kind, found, report, style)
        case WriteResult.UNKNOWN:
            for reason, count in Counter(map(why_unknown, found)).most_common():
                yield style.fill(f"{plural(count, 'object')}: {reason}")
        case WriteResult.LOSES_DATA:
            paths = [loss.path for loss in losses(report) if loss.crd == kind.crd]
            yield style.clip(f"the next accepted write erases {', '.join(paths)}")


def _rejected(
    kind: KindReplay, found: Sequence[SimulatedObject], report: SimulationReport, style: Style
) -> Iterator[str]:
    """What is rejected and where, which writes fail, and one command for each kind of repair."""
    for path, cause, causes in folded_causes(kind.causes):
        yield style.clip(f"{cause_sentence(cause, path)}.")
        for each in causes:
            if each.location is not None:
                yield f"  --> {judging(report).title}: {place(each.location)}"
    yield f"  fails: {failing_writes(found)}"
    if answer := _answer(found):
        yield style.clip(answer, indent="    ", first="  API server: ")
    repairs: dict[str, list[SimulatedObject]] = {}
    for item in found:
        repairs.setdefault(item.repair.verdict, []).append(item)
    for alike in repairs.values():
        yield from repair_lines(alike[0], style)
        if len(alike) > 1:
            yield f"    and {plural(len(alike) - 1, 'more object')} likewise (-v shows each command)"


def _answer(found: Sequence[SimulatedObject]) -> str:
    """The first answer of the server; of a long one its first error."""
    write = next((write for item in found for write in item.writes.values() if write.message), None)
    if write is None or len(write.message) <= _MAX_ANSWER or not write.errors:
        return write.message if write is not None else ""
    return str(write.errors[0]["text"])


def _objects(report: SimulationReport, style: Style) -> Iterator[str]:
    """Every object that is not accepted with all writes and answers, then the causes by field."""
    for verdict in WriteResult:
        for item in report.objects:
            if item.worst == verdict and verdict != WriteResult.ACCEPTED:
                yield ""
                yield from object_lines(item, style)
    accepted = Counter(item.crd for item in report.objects if item.worst == WriteResult.ACCEPTED)
    if accepted:
        yield ""
        yield style.paint("Accepted, by kind", "bold")
        yield from (f"  {count:>6} {crd}" for crd, count in accepted.most_common())
    reader = judging(report)
    rejected = [cause for cause in report.causes if cause.growth is None]
    if rejected:
        yield ""
        yield style.title(f"What {reader.title} rejects, by field")
    for cause in rejected:
        yield style.wrap(cause_line(cause), indent="    ", first="  ")
        yield style.wrap(cause_fix(cause, reader), indent="      ", first="    ")


def _not_judged(report: SimulationReport, style: Style) -> Iterator[str]:
    """What was not judged, by reason; objects of kinds that neither release defines are counted alone."""
    missed = [item for item in report.not_simulated if not (item.outside or item.lost)]
    outside = [item for item in report.not_simulated if item.outside]
    if missed or report.unrecorded:
        yield ""
        yield style.paint("Not judged", "bold")
    yield from _reasons(missed, style)
    if report.unrecorded:
        shown = report.unrecorded if style.verbosity > 0 else report.unrecorded[:_MAX_REASONS]
        rest = len(report.unrecorded) - len(shown)
        names = [f"{item.kind} ({plural(item.findings, 'finding')})" for item in shown]
        more = f" and {rest} more" if rest > 0 else ""
        yield style.fill(f"not recorded: {', '.join(names)}{more}", indent="    ", first="  ")
    if outside or report.skipped:
        yield ""
        kinds = [f"{plural(len(outside), 'object')} of kinds that neither release defines"] if outside else []
        files = [plural(len(report.skipped), "file")] if report.skipped else []
        yield f"Left out: {', '.join([*kinds, *files])}."
        if style.verbosity > 0:
            yield from _reasons(outside, style)


def _reasons(missed: Sequence[NotSimulated], style: Style) -> Iterator[str]:
    """Each reason with the number of its objects and an example, the most frequent first."""
    first = {item.reason: item for item in reversed(missed)}
    counted = Counter(item.reason for item in missed).most_common()
    shown = counted if style.verbosity > 0 else counted[:_MAX_REASONS]
    for reason, count in shown:
        example = first[reason].object or first[reason].source
        yield style.wrap(f"{plural(count, 'object')}: {reason}, e.g. {example}", indent="    ", first="  ")
    if len(shown) < len(counted):
        yield f"  and {plural(len(counted) - len(shown), 'more reason')} (-v shows all)"

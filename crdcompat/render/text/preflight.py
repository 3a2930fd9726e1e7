"""The report of preflight as lines of text: the answer, the reasons, and the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.wording.findings import more_lines, plural, some
from crdcompat.render.wording.installers import answer_lines
from crdcompat.render.wording.preflight import (
    COLOURS,
    answer,
    deleted_text,
    loss_text,
    missing_rules,
    missing_texts,
    question,
    reason,
    rejected_texts,
    rule_lines,
    servers_line,
    unlisted_text,
    window_lines,
)
from crdcompat.render.wording.preflight_steps import shown_steps
from crdcompat.render.wording.simulation import cause_line
from crdcompat.render.wording.verdict import verdict_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.preflight import PreflightReport
    from crdcompat.render.escape import Style

_MAX_CAUSES = 4
_MAX_COMMANDS = 3
_ALL = 1_000_000


def preflight_text(report: PreflightReport, style: Style) -> Iterator[str]:
    """The answer, then the details; a long report repeats the answer at its end. A quiet one has no details."""
    word = answer(report)
    head = style.wrap(f"{question(report)}  {word}", first="").removesuffix(word)
    verdict = [
        f"{style.paint(head, 'bold')}{style.paint(word, COLOURS[report.answer])}",
        style.fill(reason(report)),
    ]
    yield from verdict_first(verdict, [*_body(report, style)] if style.verbosity >= 0 else [], style)


def _body(report: PreflightReport, style: Style) -> Iterator[str]:
    most = _ALL if style.verbosity > 0 else _MAX_CAUSES
    if servers := servers_line(report):
        yield style.fill(servers)
    yield from (style.fill(line) for line in answer_lines(report))
    for note in (*report.old.notes, *report.new.notes, *report.notes):
        yield style.fill(f"note: {note}", indent="    ", first="  ")
    yield from _missing(report, style, most)
    yield from _section(f"What {report.old.title} rejects", rejected_texts(report), style, most)
    tolerated = f"What {report.old.title} tolerates as long as nobody changes it (it cannot be created anew)"
    yield from _section(tolerated, [*map(cause_line, report.tolerated)], style, most)
    yield from _section("What helm deletes", [*map(deleted_text, report.deleted)], style, most)
    yield from _section("What is lost", [*map(loss_text, report.losses)], style, most)
    yield from _steps(report, style)
    if report.windows:
        yield ""
        yield style.title("While CRDs and operator differ, this can fail (whatever is stored now)")
        yield from (style.fill(line, indent="      ", first="  ") for line in window_lines(report, most))
    if report.kinds:
        yield ""
        judged = some([f"{kind.objects} {kind.kind}" for kind in report.kinds], most)
        yield style.fill(f"Judged: {judged}.", indent="  ", first="")


def _section(title: str, lines: Sequence[str], style: Style, most: int) -> Iterator[str]:
    if not lines:
        return
    yield ""
    yield style.title(title)
    for line in lines[:most]:
        yield style.fill(line, indent="    ", first="  ")
    yield from more_lines(len(lines) - most)


def _missing(report: PreflightReport, style: Style, most: int) -> Iterator[str]:
    """The gaps, then the rules of a ClusterRole that allow to read the missing kinds."""
    yield from _section("What is missing", missing_texts(report, most), style, most)
    if rules := missing_rules(report):
        yield style.fill("These rules of a ClusterRole allow it (--print-rbac prints all that are needed):")
        yield from (f"    {line}" for line in rule_lines(rules))


def _steps(report: PreflightReport, style: Style) -> Iterator[str]:
    """The steps with their commands. A command stays on one line, because users copy it."""
    if not report.steps:
        return
    yield ""
    yield style.title("What to do, in this order (--dry-run=server tries a kubectl command)")
    most = _ALL if style.verbosity > 0 else _MAX_COMMANDS
    for number, step in enumerate(shown_steps(report), 1):
        yield style.fill(step.sentence, indent="     ", first=f"  {number}. ")
        for command in step.commands[:most]:
            yield f"     {style.paint(command, 'path')}"
        if len(step.commands) > most:
            yield f"     and {plural(len(step.commands) - most, 'more command')} (-v or --format json)"
    if unlisted := unlisted_text(report):
        yield style.fill(unlisted)

"""Workflow commands of GitHub Actions: findings become annotations of a pull request.

GitHub shows ten errors, ten warnings and ten notices of a step, so the most severe come first, and several infos share
one notice. Escaping as in
actions/toolkit, packages/core/src/command.ts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.check import CheckReport
from crdcompat.models.finding import Location
from crdcompat.models.report import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.render.escape import Style, escape_text
from crdcompat.render.formats import COMPARISONS
from crdcompat.render.wording.check import trust_lines
from crdcompat.render.wording.entry_sentences import and_in_more
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.summaries import (
    cause_sentences,
    counting,
    headline,
    primary,
    promotions,
    sentences,
    subject,
    title,
)
from crdcompat.vocabulary import Direction, Severity, Side
from crdcompat.vocabulary.texts import first_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.errors import Problem
    from crdcompat.models.matrix import MatrixReport

NAME, KINDS = "github", (*COMPARISONS, "matrix")

#: Lines in the one notice for all infos.
_MAX_INFOS = 100
_COMMANDS = {"error": "error", "warning": "warning"}


def render(report: Report | MatrixReport, style: Style) -> str:
    """One command per line, then a line with counts; ignores ``style``."""
    if report.KIND == "matrix":
        return _matrix(report)
    lines = [
        *_trust(report),
        *_problems(report.problems),
        *_found(report),
        *_waivers(report),
        f"crdcompat: {headline(report)}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _matrix(report: MatrixReport) -> str:
    """One command for each obstacle, because pairs of releases repeat obstacles."""
    from crdcompat.models.matrix import obstacles
    from crdcompat.render.wording.matrix import part_line, verdicts

    lines = list(_problems(report.problems))
    for item in (*obstacles(report, Direction.ROLLBACK), *obstacles(report, Direction.UPGRADE)):
        parts = [f"{subject(item.finding)}: {item.finding.effect}", *map(part_line, item.parts)]
        heading = f"{title(item.finding)} blocks {plural(item.ways, 'way')}"
        lines.append(_command("error", heading, list(map(escape_text, parts)), primary(item.finding.locations)))
    return "".join(f"{line}\n" for line in (*lines, f"crdcompat: {verdicts(report)}"))


def _found(report: Report) -> Iterator[str]:
    if isinstance(report, SimulationReport):
        for cause in report.causes:
            yield _command("error", "rejected", cause_sentences(report, cause), _of_head(cause.location))
        return
    found = counting(report)
    for entry in found:
        finding = entry.finding
        if finding.severity != Severity.INFO:
            yield _command(_COMMANDS[finding.severity], title(finding), sentences(entry), primary(finding.locations))
    infos = [entry for entry in found if entry.finding.severity == Severity.INFO]
    if len(infos) == 1:
        finding = infos[0].finding
        yield _command("notice", title(finding), sentences(infos[0]), primary(finding.locations))
    elif infos:
        lines = [f"{subject(each.finding)} [{title(each.finding)}]{and_in_more(each)}" for each in infos]
        shown = first_lines(lines, _MAX_INFOS, "and {} more: the summary of the step has them")
        yield _command("notice", f"{len(infos)} infos", list(map(escape_text, shown)), None)
    for line, gate in promotions(report).items():
        yield _command("notice", "feature gate", [escape_text(line)], gate.location)


def _trust(report: Report) -> Iterator[str]:
    """One warning on what the change edits in its own rules, and accepts."""
    if lines := trust_lines(report):
        yield _command("warning", "rules and waivers of this change", list(map(escape_text, lines)), None)


def _waivers(report: Report) -> Iterator[str]:
    """Warnings about expired waivers."""
    for waiver in report.waivers if isinstance(report, CheckReport) else ():
        yield _command("warning", "waiver", [escape_text(waiver)], None)


def _of_head(location: Location | None) -> Location | None:
    return primary((location,)) if location is not None else None


def _problems(problems: Iterable[Problem]) -> Iterator[str]:
    """Input that could not be read; GitHub shows the newer tree, so only its files get a location."""
    for problem in problems:
        location = Location(Side.NEW, problem.file, problem.line) if problem.side in (Side.NEW, Side.ANY) else None
        side = f" ({problem.side})" if problem.side else ""
        yield _command("error", problem.lead, [escape_text(f"{problem.file}{side}: {problem.message}")], location)


def _command(name: str, heading: str, lines: list[str], location: Location | None) -> str:
    """``::error file=F,line=1,col=2,title=T::message``."""
    properties: dict[str, object] = {}
    if location is not None:
        file = "\n".join(map(escape_text, location.file.split("\n")))  # a line break has an escape of its own
        properties = {"file": file, "line": location.line, "col": location.column}
    properties["title"] = heading
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    message = _data("\n".join(lines))
    return f"::{name} {shown}::{message}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

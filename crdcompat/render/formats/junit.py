"""JUnit XML: a suite per section, a case per CRD and version that was compared, passing ones too.

Prow's Spyglass shows the text of a failure, not its ``message``; so the text contains everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from msgspec import Struct

from crdcompat.findings.entries import Entry, entries
from crdcompat.models.check import CheckReport, Section, sections
from crdcompat.models.diff import DiffReport
from crdcompat.models.report import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.render.escape import Style, escape_text
from crdcompat.render.pages.simulation import object_section
from crdcompat.render.text.text_page import plain_text
from crdcompat.render.wording.check import trust_lines, unreleased_reason
from crdcompat.render.wording.entry_sentences import entry_lines, section_key, waived
from crdcompat.render.wording.findings import compared_line, crd_name, direction_title, plural, undecided_line
from crdcompat.render.wording.growth import why_accepted
from crdcompat.render.wording.summaries import NOTHING, cause_sentences, headline, notes, subject
from crdcompat.vocabulary import FindingStatus, Severity
from crdcompat.vocabulary.texts import first_lines
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.errors import Problem
    from crdcompat.models.finding import Finding

NAME = "junit"

#: This format has a case for each CRD that passes, so all CRDs are read.
PASSING = True

FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"
_MAX_OBJECTS, _OTHERS = 20, "and {} more objects"


class _Case(Struct, frozen=True):
    """One test case; without an outcome it passes."""

    name: str
    outcome: str = ""
    message: str = ""
    text: str = ""
    out: str = ""


class _Suite(Struct, frozen=True):
    name: str
    cases: Sequence[_Case]
    out: str = ""


def render(report: Report, style: Style) -> str:
    """The report as an XML document; ignores ``style``."""
    suites = list(_suites(report))
    cases = [case for suite in suites for case in suite.cases]
    root = ET.Element("testsuites", {"name": "crdcompat", **_counted(cases)})
    root.extend(_suite_element(suite) for suite in suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suites(report: Report) -> Iterator[_Suite]:
    if first := trust_lines(report):
        yield _Suite("rules and waivers of this change", [_Case("shown to the reviewer", out=_lines(first))])
    if isinstance(report, SimulationReport):
        yield _simulation(report)
    elif isinstance(report, CheckReport) and not report.sections:
        yield _Suite("crdcompat", [_Case(NOTHING, out=_lines(notes(report)))])
    else:
        found = entries(report)
        for section in sections(report):
            name = section_key(section) if isinstance(report, CheckReport) else "diff"
            yield _section(name, section, found)
    if report.problems:
        yield _Suite("input", [_problem(problem) for problem in report.problems])


def _problem(problem: Problem) -> _Case:
    where = f"{problem.file}:{problem.line}" if problem.line else problem.file
    side = f" ({problem.side})" if problem.side else ""
    done = "compared" if problem.task == "compare" else "read"
    return _Case(
        f"{where}{side} can be {done}",
        ERROR,
        problem.message,
        escape_text(f"{where}: {problem.message}"),
    )


# -- comparisons ---------------------------------------------


def _section(name: str, section: Section, found: Sequence[Entry]) -> _Suite:
    report = section.report
    own = [entry for entry in found if entry.finding.counts and entry.is_met_in(section)]
    cases = [_case(f"{name}: {crd_name(crd, version)}", section, own, crd, version) for crd, version in _names(report)]
    accepted = [f"{count}."] if (count := waived(report).removeprefix(", ")) else []
    out = [compared_line(report), *accepted, *report.old.notes, *report.new.notes]
    out += [f"no finding explains: {item.object} in {item.source}: {item.error}" for item in report.unexplained]
    return _Suite(name, cases or [_Case(f"{name}: no CRD to compare", out=_lines(out))], _lines(out))


def _names(report: DiffReport) -> list[tuple[str, str]]:
    """The compared CRD versions, and the versions of findings: one of these may be on one side only."""
    found = {(finding.crd, finding.version) for finding in report.findings}
    opened = {(entry.crd, entry.version) for entry in report.undecided}
    return sorted({*report.counts.versions, *found, *opened})


def _case(name: str, section: Section, found: Sequence[Entry], crd: str, version: str) -> _Case:
    """A case: an entry is in the case of its finding, and the cases of its other places refer to it.

    A case whose only errors are in other cases is skipped: it has not passed, and one cause is one failure.
    """
    report = section.report
    findings = [finding for finding in report.findings if (finding.crd, finding.version) == (crd, version)]
    listed = [
        entry
        for entry in found
        if entry.stands_in(section) and (entry.finding.crd, entry.finding.version) == (crd, version)
    ]
    failing = [entry for entry in listed if entry.finding.severity == Severity.ERROR]
    others = [entry for entry in listed if entry.finding.severity != Severity.ERROR]
    shown = {entry.finding.id for entry in listed}
    entry_of = {name: entry for entry in found for name in entry.ids}
    elsewhere = [finding for finding in findings if finding.counts and finding.id not in shown]
    references = _lines(_reference(finding, entry_of[finding.id]) for finding in elsewhere)
    undecided = [e for e in report.undecided if (e.crd, e.version) == (crd, version)]
    out = [
        _blocks(report, others),
        _lines(_uncounted(finding) for finding in findings if not finding.counts),
        _lines(f"undecided: {undecided_line(entry)}" for entry in undecided),
    ]
    more = "\n\n".join(part for part in (references, *out) if part)
    if failing:
        message = f"{plural(len(failing), 'error')}: {failing[0].finding.message}"
        return _Case(name, FAILURE, message, _blocks(report, failing), more)
    errors = sum(finding.severity == Severity.ERROR for finding in elsewhere)
    if errors:
        message = f"{plural(errors, 'error')} with a cause that fails in another case"
        return _Case(name, SKIPPED, message, references, "\n\n".join(part for part in out if part))
    return _Case(name, out=more)


def _blocks(report: DiffReport, found: Sequence[Entry]) -> str:
    """Entries as in the text report, under the title of their direction."""
    parts = []
    for direction in dict.fromkeys(entry.finding.direction for entry in found):
        parts.append(escape_text(direction_title(report, direction)))
        parts += [
            plain_text(entry_lines(each, report.counts.contexts))
            for each in found
            if each.finding.direction == direction
        ]
    return "\n\n".join(parts)


def _reference(finding: Finding, entry: Entry) -> str:
    """One line for a finding that is in the case of another."""
    where = f"{section_key(entry.home)}: {subject(entry.finding)}"
    return f"same cause as {where}: {finding.severity}[{finding.rule}] {subject(finding)} {finding.id}"


def _uncounted(finding: Finding) -> str:
    """One line for a finding that does not count: the reason, and the finding."""
    if finding.waiver is not None:
        why = f"waived ({why_accepted(finding)})"
    elif finding.status == FindingStatus.UNRELEASED:
        why = unreleased_reason()
    else:
        why = "existed before this change"
    return f"{why}: {finding.severity}[{finding.rule}] {subject(finding)} {finding.id}"


# -- simulations ---------------------------------------------


def _simulation(report: SimulationReport) -> _Suite:
    names = dict.fromkeys((item.crd, item.version) for item in report.objects)
    cases = [_replayed(report, crd, version) for crd, version in names]
    if report.not_simulated:
        unreplayed = [f"{item.object or item.source}: {item.reason}" for item in report.not_simulated]
        text = _lines(first_lines(unreplayed, _MAX_OBJECTS))
        cases.append(_Case("objects that could not be replayed", SKIPPED, f"{len(unreplayed)} not simulated", text))
    name = f"simulate {report.direction}"
    out = _lines([headline(report), *notes(report)])
    return _Suite(name, cases or [_Case(f"{name}: no object to replay")], out)


def _replayed(report: SimulationReport, crd: str, version: str) -> _Case:
    name = f"{report.direction}: {crd_name(crd, version)}"
    items = [item for item in report.objects if (item.crd, item.version) == (crd, version)]
    bad = [plain_text((object_section(item),)) for item in items if item.worst == WriteResult.REJECTED]
    other = [plain_text((object_section(item),)) for item in items if item.worst not in ("rejected", "accepted")]
    out = "\n\n".join(first_lines(other, _MAX_OBJECTS, _OTHERS))
    found = [cause for cause in report.causes if cause.crd == crd]
    early = [cause for cause in found if cause.growth is not None]
    if not bad and not early:
        return _Case(name, out=out)
    causes = [_lines(cause_sentences(report, cause)) for cause in found]
    held = "" if not early else f", {max(cause.objects for cause in early)} with a value that is written too early"
    message = f"{len(bad)} of {plural(len(items), 'object')} rejected{held}"
    return _Case(name, FAILURE, message, "\n\n".join([message, *causes, *first_lines(bad, _MAX_OBJECTS, _OTHERS)]), out)


# -- XML ---------------------------------------------


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(map(escape_text, lines))


def _suite_element(suite: _Suite) -> ET.Element:
    element = ET.Element("testsuite", {"name": escape_text(suite.name), **_counted(suite.cases)})
    element.extend(_case_element(case) for case in suite.cases)
    if suite.out:
        ET.SubElement(element, "system-out").text = suite.out
    return element


def _case_element(case: _Case) -> ET.Element:
    element = ET.Element("testcase", {"name": escape_text(case.name), "classname": "crdcompat", "time": "0"})
    if case.outcome:
        outcome = ET.SubElement(element, case.outcome, {"message": escape_text(case.message)})
        outcome.text = case.text
    if case.out:
        ET.SubElement(element, "system-out").text = case.out
    return element


def _counted(cases: Sequence[_Case]) -> dict[str, str]:
    names = {"failures": FAILURE, "errors": ERROR, "skipped": SKIPPED}
    counts = {key: str(sum(case.outcome == outcome for case in cases)) for key, outcome in names.items()}
    return {"tests": str(len(cases)), **counts, "time": "0"}

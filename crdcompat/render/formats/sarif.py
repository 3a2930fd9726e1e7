"""SARIF 2.1.0 for code scanning: one run, the rules that occur, a result per finding of each section.

The rules come from the catalogue; three more are for entries that are no findings. Specification:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/. The tests validate reports with the schema named in ``$schema``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from crdcompat.findings.entries import Entry, entries
from crdcompat.findings.finding import fingerprint
from crdcompat.findings.rules import rule as rule_of
from crdcompat.models.check import CheckReport, Section, sections
from crdcompat.models.diff import DiffReport, UndecidedEntry
from crdcompat.models.finding import Location
from crdcompat.models.report import Report
from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport
from crdcompat.render.escape import Style, escape_text, json_text
from crdcompat.render.pages.simulation import object_section
from crdcompat.render.text.text_page import plain_text
from crdcompat.render.wording.check import trust_lines
from crdcompat.render.wording.entry_sentences import section_key
from crdcompat.render.wording.findings import shown_places, undecided_line
from crdcompat.render.wording.growth import why_accepted
from crdcompat.render.wording.summaries import (
    cause_id,
    cause_sentences,
    first_place,
    notes,
    primary,
    promotions,
    rejected,
    sentences,
    subject,
)
from crdcompat.version import __version__
from crdcompat.vocabulary import FindingStatus, Side

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.errors import Problem

NAME = "sarif"

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_WORST_FIRST = tuple(_LEVELS.values())
#: With a fingerprint an alert stays the same while lines move; the number is the version of its computation.
_FINGERPRINT = "crdcompatFinding/v1"

_SIDES = {Side.OLD: "the older side", Side.NEW: "the newer side"}

_Json = dict[str, Any]


def render(report: Report, style: Style) -> str:
    """The report as JSON text; uses only ``existing`` of ``style``."""
    if isinstance(report, SimulationReport):
        results = list(_simulated(report))
    else:
        results = list(_compared(report, existing=style.existing))
    rules = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = rules.index(result["ruleId"])
    driver = {"name": "crdcompat", "version": __version__, "rules": [_rule(rule, results) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {"executionSuccessful": not report.problems, "toolExecutionNotifications": list(_notifications(report))}
        ],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    data = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(data, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _rule(rule: str, results: Sequence[_Json]) -> _Json:
    levels = {result["level"] for result in results if result["ruleId"] == rule}
    return descriptor(rule, min(levels, key=_WORST_FIRST.index))


# -- results ---------------------------------------------


def _compared(report: DiffReport | CheckReport, *, existing: bool) -> Iterator[_Json]:
    """All entries; existing ones only with ``existing``, because code scanning raises an alert for each."""
    found = [entry for entry in entries(report) if existing or entry.finding.status == FindingStatus.NEW]
    for section in sections(report):
        for entry in (entry for entry in found if entry.stands_in(section)):
            result = _finding(entry)
            if isinstance(report, CheckReport):
                result["baselineState"] = "unchanged" if entry.finding.status == FindingStatus.EXISTING else "new"
            yield result
        for undecided in section.report.undecided:
            yield _undecided(undecided, section)


def _finding(entry: Entry) -> _Json:
    finding, section = entry.finding, entry.home
    places = shown_places(finding.locations)
    mirrored = [(mirror, place) for mirror in entry.mirrors if (place := primary(mirror.locations)) is not None]
    more = [(place, f"same change: {subject(mirror)}") for mirror, place in mirrored if place.touched]
    result = _result(
        finding.rule, _LEVELS[finding.severity], sentences(entry), places, finding.id, section_key(section), more
    )
    if finding.waiver is not None:
        reason = escape_text(why_accepted(finding))
        result["suppressions"] = [{"kind": "external", "justification": reason}]
    result["properties"] = {
        "findings": entry.ids,
        "direction": finding.direction,
        "effect": finding.effect,
        "crd": finding.crd,
        "version": finding.version,
        "path": finding.path,
        "old": section.report.old.title,
        "new": section.report.new.title,
    }
    return result


def _undecided(entry: UndecidedEntry, section: Section) -> _Json:
    identity = fingerprint(UNDECIDED, entry.keyword, entry.crd, entry.version, entry.path)
    lines = [escape_text(f"Not judged: {undecided_line(entry)}")]
    return _result(UNDECIDED, "note", lines, entry.locations, identity, section_key(section))


def _simulated(report: SimulationReport) -> Iterator[_Json]:
    for cause in report.causes:
        yield _cause(report, cause)
    for item in rejected(report):
        yield _object(report, item)


def _cause(report: SimulationReport, cause: RejectedCause) -> _Json:
    locations = [cause.location] if cause.location is not None else []
    lines, identity = cause_sentences(report, cause), cause_id(report, cause)
    return _result(REJECTED_VALUE, "error", lines, locations, identity, report.direction)


def _object(report: SimulationReport, item: SimulatedObject) -> _Json:
    """A recorded object is in no file of the repository: it has a logical location, its name."""
    identity = fingerprint(REJECTED_OBJECT, report.direction, item.crd, item.version, item.label)
    result = _result(REJECTED_OBJECT, "error", [plain_text((object_section(item),))], (), identity, report.direction)
    result["locations"] = [
        {"logicalLocations": [{"fullyQualifiedName": escape_text(f"{item.crd}/{item.label}"), "kind": "object"}]}
    ]
    return result


def _result(
    rule: str,
    level: str,
    lines: Sequence[str],
    locations: Sequence[Location],
    identity: str,
    where: str,
    more: Sequence[tuple[Location, str]] = (),
) -> _Json:
    """One result; ``more`` are related locations, each with its description."""
    first = first_place(locations)
    related = [(location, _SIDES[location.side]) for location in locations if location != first]
    return {
        "ruleId": rule,
        "level": level,
        "message": _message("\n".join(lines)),
        "locations": [_physical(first)] if first is not None else [],
        **(
            {"relatedLocations": [_related(number, *each) for number, each in enumerate((*related, *more))]}
            if related or more
            else {}
        ),
        "partialFingerprints": {_FINGERPRINT: f"{identity} {escape_text(where)}"},
    }


def _message(text: str) -> _Json:
    """Braces are doubled (3.11.5), and nothing becomes an embedded link (3.11.6)."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _physical(location: Location) -> _Json:
    return {"physicalLocation": _place(location.file, location.line, location.column)}


def _related(number: int, location: Location, what: str) -> _Json:
    return {"id": number, **_physical(location), "message": _message(escape_text(what))}


def _place(file: str, line: int | None, column: int | None) -> _Json:
    region = {"startLine": line, "startColumn": column}
    known = {key: value for key, value in region.items() if value is not None}
    return {"artifactLocation": {"uri": quote(file)}, **({"region": known} if line is not None else {})}


# -- notifications ---------------------------------------------


def _notifications(report: Report) -> Iterator[_Json]:
    """Entries that are no results: input that could not be read, remarks, notes on assumptions."""
    for line in trust_lines(report):
        yield _notification("warning", line)
    for problem in report.problems:
        yield _about(problem, "error", f"{problem.lead}: ")
    if not isinstance(report, SimulationReport):
        for section in sections(report):
            for remark in section.report.remarks:
                yield _about(remark, "note", "")
            for item in section.report.unexplained:
                text = f"no finding explains why {item.object} in {item.source} is rejected: {item.error}"
                yield _notification("warning", text)
    else:
        for unreplayed in report.not_simulated:
            yield _notification("note", f"not simulated: {unreplayed.object or unreplayed.source}: {unreplayed.reason}")
    for note in (*promotions(report), *notes(report)):
        yield _notification("note", note)


def _about(problem: Problem, level: str, before: str) -> _Json:
    side = f" ({problem.side})" if problem.side else ""
    notification = _notification(level, f"{before}{problem.file}{side}: {problem.message}")
    return {**notification, "locations": [{"physicalLocation": _place(problem.file, problem.line, None)}]}


def _notification(level: str, text: str) -> _Json:
    return {"level": level, "message": _message(escape_text(text))}


UNDECIDED, REJECTED_VALUE, REJECTED_OBJECT = "undecided", "rejected-value", "rejected-object"

#: Title, summary, why, fix.
_OWN = {
    UNDECIDED: (
        "Difference that is not judged",
        "OLD and NEW differ in a keyword that this version does not judge.",
        "It may break a rollback or an upgrade, or nothing at all.",
        "Compare the two sides by hand.",
    ),
    REJECTED_VALUE: (
        "Recorded objects hold what is rejected",
        "Recorded objects hold, in one field, what the API server of the judging release rejects.",
        "Writes of these objects fail after the move: controllers stop, and users cannot edit them.",
        "Take the value out of the objects before the move, or widen the schema that rejects it.",
    ),
    REJECTED_OBJECT: (
        "Recorded object whose writes are rejected",
        "A recorded object was replayed, and the API server of the judging release rejects a write of it.",
        "Whoever writes this object next gets this error.",
        "Apply the repair that the report names before the move, or widen the schema that rejects it.",
    ),
}


def descriptor(rule: str, level: str) -> dict[str, Any]:
    """A rule as a SARIF reportingDescriptor; ``level`` is its worst level in this run."""
    if rule in _OWN:
        heading, summary, why, fix = _OWN[rule]
        references: Sequence[str] = ()
    else:
        known = rule_of(rule)
        heading, summary, why, fix, references = known.title, known.summary, known.why, known.fix, known.references
    return {
        "id": rule,
        "name": "".join(part.capitalize() for part in rule.split("-")),
        "shortDescription": {"text": f"{heading}."},
        "fullDescription": {"text": summary},
        "help": {
            "text": _help(why, fix, references, "{}\n\n{}"),
            "markdown": _help(why, fix, references, "**{}**\n\n{}"),
        },
        "defaultConfiguration": {"level": level},
    }


def _help(why: str, fix: str, references: Sequence[str], form: str) -> str:
    parts = [("Why it matters", why.strip()), ("What to do", fix.strip())]
    if references:
        parts.append(("See also", "\n".join(f"- {reference}" for reference in references)))
    return "\n\n".join(form.format(heading, body) for heading, body in parts)

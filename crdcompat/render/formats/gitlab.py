"""A Code Quality report of GitLab: one array of issues that a merge request shows beside its lines.

An issue about several findings lists all their ids in ``findings``, a member that GitLab ignores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.findings.finding import fingerprint
from crdcompat.models.finding import Location
from crdcompat.models.report import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.render.escape import Style, escape_text, json_text
from crdcompat.render.wording.check import trust_lines
from crdcompat.render.wording.entry_sentences import waived
from crdcompat.render.wording.summaries import cause_id, cause_sentences, counting, primary, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.errors import Problem

NAME = "gitlab"

_SEPARATOR = " — "
_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def render(report: Report, style: Style) -> str:
    """The issues as JSON text, ``[]`` without findings; ignores ``style``."""
    issues = [*_trust(report), *map(_problem, report.problems), *_found(report), *_waived(report)]
    return json_text(issues, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _found(report: Report) -> Iterator[dict[str, Any]]:
    if isinstance(report, SimulationReport):
        for cause in report.causes:
            text = _SEPARATOR.join(cause_sentences(report, cause))
            places = [cause.location] if cause.location is not None else []
            yield _issue(text, "rejected", cause_id(report, cause), "critical", _place(places, cause.crd))
        return
    for entry in counting(report):
        finding = entry.finding
        text, severity = _SEPARATOR.join(sentences(entry)), _SEVERITIES[finding.severity]
        issue = _issue(text, finding.rule, finding.id, severity, _place(finding.locations, finding.crd))
        yield {**issue, "findings": entry.ids}


def _waived(report: Report) -> Iterator[dict[str, Any]]:
    """An issue that counts the waived findings, if there are any."""
    count = "" if isinstance(report, SimulationReport) else waived(report).removeprefix(", ")
    if count:
        identity = fingerprint("waived", "", "", "", count)
        yield _issue(f"crdcompat: {count}", "waived", identity, "info", (".crdcompat-waivers.yaml", 1))


def _trust(report: Report) -> Iterator[dict[str, Any]]:
    """An issue for each line on what the change edits in its own rules, and accepts; GitLab requires a path."""
    for line in trust_lines(report):
        identity = fingerprint("rules-of-the-check", "", "", "", line)
        yield _issue(escape_text(line), "rules-of-the-check", identity, "info", (".crdcompat.yaml", 1))


def _problem(problem: Problem) -> dict[str, Any]:
    text = escape_text(f"{problem.lead} {problem.file}: {problem.message}")
    identity = fingerprint("could-not-read", problem.side, problem.file, "", problem.message)
    return _issue(text, "could-not-read", identity, "blocker", (problem.file, problem.line or 1))


def _place(locations: Sequence[Location], crd: str) -> tuple[str, int]:
    """GitLab requires a path: the newer side's file, else the older side's, else the CRD's name."""
    newer = primary(locations)
    if newer is not None:
        return newer.file, newer.line or 1
    return (locations[0].file if locations else crd), 1


def _issue(description: str, check: str, identity: str, severity: str, place: tuple[str, int]) -> dict[str, Any]:
    path, line = place
    return {
        "description": description,
        "check_name": check,
        "fingerprint": identity,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }

"""One line for each change, ``file:line:column: severity[rule] path: sentence``, sorted, for grep and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.check import sections
from crdcompat.models.report import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.render.escape import Style, escape_text
from crdcompat.render.wording.check import trust_lines
from crdcompat.render.wording.entry_sentences import waived
from crdcompat.render.wording.findings import crd_name, in_contexts, place, undecided_line
from crdcompat.render.wording.joined_entries import predicate
from crdcompat.render.wording.summaries import cause_id, cause_sentences, counting, first_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.finding import Location

NAME = "concise"


def render(report: Report, style: Style) -> str:
    """The lines in the order of files and lines; nothing without findings. A quiet one has errors and problems only."""
    found = [*_problems(report), *_found(report, style)]
    first = [escape_text(f"note: {line}") for line in trust_lines(report)]
    if not isinstance(report, SimulationReport) and style.verbosity >= 0 and (count := waived(report)):
        first.append(f"note: {count.removeprefix(', ')}")
    return "".join(f"{line}\n" for line in (*first, *(line for _, line in sorted(found))))


_Sorted = tuple[tuple[str, int, str], str]


def _problems(report: Report) -> Iterator[_Sorted]:
    for problem in report.problems:
        where = f"{problem.file}:{problem.line}" if problem.line else problem.file
        yield _line((problem.file, problem.line or 0), where, f"error[could-not-read] {problem.message}")


def _found(report: Report, style: Style) -> Iterator[_Sorted]:
    if isinstance(report, SimulationReport):
        for cause in report.causes:
            text = f"error[rejected] {cause.path}: {cause_sentences(report, cause)[0]}  {cause_id(report, cause)}"
            yield _placed((cause.location,) if cause.location is not None else (), cause.crd, text)
        return
    for entry in counting(report):
        finding = entry.finding
        if style.verbosity < 0 and finding.severity != "error":
            continue
        sets = in_contexts(finding, entry.home.report.counts.contexts)
        path = f"{crd_name(finding.crd, finding.version)}{sets} {finding.path}".rstrip()
        more = f" (same change in {len(entry.mirrors)} more)" if entry.mirrors else ""
        text = f"{finding.severity}[{finding.rule}] {path}: {predicate(finding)}{more}  {finding.id}"
        yield _placed(finding.locations, finding.crd, text)
    if style.verbosity >= 0:
        # The entries of several sections can be the same; their values are any JSON, so they cannot be hashed.
        open_ = (each for section in sections(report) for each in section.report.undecided)
        yield from dict.fromkeys(
            _placed(each.locations, each.crd, f"undecided {undecided_line(each)}") for each in open_
        )


def _placed(locations: Sequence[Location], crd: str, text: str) -> _Sorted:
    """The line of the newer side, else of the older one; without either the name of the CRD."""
    location = first_place(locations)
    if location is None:
        return _line((crd, 0), crd, text)
    return _line((location.file, location.line or 0), place(location), text)


def _line(order: tuple[str, int], where: str, text: str) -> _Sorted:
    return (*order, text), escape_text(f"{where}: {text}")

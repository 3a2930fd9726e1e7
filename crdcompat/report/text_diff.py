"""A diff report as lines of text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.policy.rules import rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdcompat.policy.findings import Finding, Location
    from crdcompat.problems import Problem
    from crdcompat.report.diff_model import DiffReport, UndecidedEntry
    from crdcompat.report.model import Release
    from crdcompat.report.style import Style

_MOST_UNDECIDED = 12
_MOST_CONTEXTS = 3
_MOST_NAMES = 6
_TITLES = {"rollback": "Rolling back {new} -> {old}", "upgrade": "Upgrading {old} -> {new}"}


def diff_text(report: DiffReport, style: Style) -> Iterator[str]:
    """All lines of the report; if it is to be quiet, what could not be read and the errors only."""
    quiet = style.verbosity < 0
    if quiet and not says_something(report):
        return
    if not quiet:
        yield style.paint(f"{_side(report.old)} -> {_side(report.new)}", "bold")
        for note in (*report.old.notes, *report.new.notes):
            yield f"  note: {note}"
    for problem in report.problems:
        yield problem_line(problem, style)
    for remark in () if quiet else report.remarks:
        yield f"  {remark.file}:{remark.line}: {remark.message}"
    for direction in _TITLES:
        findings = [finding for finding in report.findings if finding.direction == direction]
        yield from _direction(findings, direction_title(report, direction), style)
    yield from _undecided(report, style)
    yield from _unexplained(report, style)
    yield ""
    yield from (_found(report, style),) if quiet else _footer(report, style)


def says_something(report: DiffReport) -> bool:
    """Whether even a quiet report has to speak."""
    return bool(report.by_severity()["error"] or report.problems or report.unexplained)


def direction_title(report: DiffReport, direction: str) -> str:
    """``Rolling back NEW -> OLD``."""
    return _TITLES[direction].format(old=report.old.name, new=report.new.name)


def problem_line(problem: Problem, style: Style) -> str:
    """``error: file:line: what``."""
    where = problem.file + (f":{problem.line}" if problem.line else "")
    side = f" ({problem.side})" if problem.side else ""
    return f"{style.paint('could not read', 'error')} {where}{side}: {problem.message}"


def _side(release: Release) -> str:
    commit = f" ({release.commit[:12]})" if release.commit else ""
    kubernetes = f", Kubernetes {release.kubernetes}" if release.kubernetes else ""
    return f"{release.name}{commit}{kubernetes}"


def _direction(findings: Sequence[Finding], title: str, style: Style) -> Iterator[str]:
    counted = [finding for finding in findings if finding.counts or (finding.waiver is None and style.existing)]
    blocks = [finding for finding in counted if finding.severity != "info" or style.verbosity > 0]
    lines = [finding for finding in counted if finding.severity == "info" and style.verbosity == 0]
    if style.verbosity < 0:
        blocks, lines = [finding for finding in blocks if finding.severity == "error"], []
    if not blocks and not lines:
        return
    yield ""
    yield style.paint(title, "bold")
    for finding in blocks:
        yield ""
        yield from finding_lines(finding, style)
    if lines:
        yield ""
        yield from _short_list(lines, style)


def finding_lines(finding: Finding, style: Style) -> Iterator[str]:
    """One finding: what, where, what the API server says, a witness, the way out."""
    head = style.paint(f"{finding.severity}[{finding.rule}]", finding.severity)
    yield f"{head} {finding.crd}/{finding.version} {style.paint(finding.path, 'path')}  {finding.id}"
    for location in _first_of_each_side(finding.locations):
        yield f"  --> {location.side}: {place(location)}"
    yield style.wrap(finding.message + ".")
    if style.verbosity < 0:
        return
    witness = finding.witness
    for error in witness.errors[:2]:
        yield style.wrap(error, indent="      ", first="  API server: ")
    if witness.pruned and finding.effect == "value-pruned":
        yield f"  lost: {', '.join(witness.pruned)}"
    if witness.object is not None:
        yield f"  witness: {orjson.dumps(witness.object).decode()}"
    else:
        yield style.wrap(f"no witness: {witness.reason}")
    if finding.evidence["recorded_objects"]:
        examples = ", ".join(finding.evidence["examples"])
        met = f"met by {many(finding.evidence['recorded_objects'], 'recorded object')}: {examples}"
        yield style.wrap(met, indent="    ", first="  ")
    if finding.introduced_by is not None:
        yield style.wrap(came_with(finding.introduced_by), indent="    ", first="  introduced by: ")
    if finding.ended:
        yield style.wrap(had_waiver(finding), indent="    ", first="  ")
    yield style.wrap(way_out(finding), indent="    ", first="  way out: ")
    yield f"  contexts: {contexts(finding.contexts)}"


def came_with(told: Mapping[str, Any]) -> str:
    """The commit that brought a line: short id, day, subject, and since which release it is there."""
    if not told["commit"]:
        return str(told["subject"])
    since = f" (since {told['since']})" if told["since"] else ""
    return f"{told['commit'][:12]} {str(told['date'])[:10]} {told['subject']}{since}"


def had_waiver(finding: Finding) -> str:
    """Why a finding counts that was accepted once."""
    return f"It was accepted once, and its waiver has expired: {finding.ended}"


def way_out(finding: Finding) -> str:
    """The first advice of its rule, and the command that tells all of it."""
    fix = rule(finding.rule).fix
    first = fix.lstrip("- ").split("\n- ")[0]
    return f"{' '.join(first.split())} (crdcompat explain {finding.rule})"


def _first_of_each_side(locations: Sequence[Location]) -> list[Location]:
    """One line a side; people change Go types before what is generated from them, so their place is a line more."""
    found = {(location.side, location.kind): location for location in reversed(locations)}
    return list(found.values())[::-1]


def place(location: Location) -> str:
    """``file:line:column``, as far as known."""
    parts = [location.file, location.line, location.column]
    return ":".join(str(part) for part in parts if part is not None)


def contexts(names: Sequence[str]) -> str:
    """The contexts, cut short where there are many."""
    rest = len(names) - _MOST_CONTEXTS
    return ", ".join(names[:_MOST_CONTEXTS]) + (f" and {rest} more" if rest > 0 else "")


def _short_list(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """What only loses or gains a value, one line each, under its CRD."""
    crd = ""
    for finding in sorted(findings, key=lambda item: (item.crd, item.version, item.path)):
        name = f"{finding.crd}/{finding.version}".rstrip("/")
        if name != crd:
            crd = name
            yield f"{style.paint('info', 'info')} {name}"
        what = {"value-pruned": "lost", "value-defaulted": "set to its default"}.get(finding.effect, finding.effect)
        yield f"  {finding.path or 'the CRD'}: {what} [{finding.rule}]"


def _undecided(report: DiffReport, style: Style) -> Iterator[str]:
    entries = report.undecided
    if not entries or style.verbosity < 0:
        return
    yield ""
    yield style.paint("Undecided: differences that this version does not judge", "bold")
    if len(entries) > _MOST_UNDECIDED and style.verbosity <= 0:
        counted = Counter((entry.crd, entry.keyword) for entry in entries)
        by_crd: dict[str, list[str]] = {}
        for (crd, keyword), count in sorted(counted.items()):
            by_crd.setdefault(crd, []).append(f"{keyword} ({count})" if count > 1 else keyword)
        for crd, keywords in by_crd.items():
            yield style.wrap(f"{crd}: {', '.join(keywords)}", indent="    ", first="  ")
        yield "  (-v or --format json lists each with its path)"
        return
    for entry in entries:
        yield f"  {undecided_line(entry)}"


def undecided_line(entry: UndecidedEntry) -> str:
    """``CRD/version path: keyword: why``."""
    return f"{crd_name(entry.crd, entry.version)} {entry.path or 'the CRD'}: {entry.keyword}: {entry.reason}"


def crd_name(crd: str, version: str) -> str:
    """``CRD/version``; a change of the whole CRD may be of no version."""
    return f"{crd}/{version}" if version else crd


def _unexplained(report: DiffReport, style: Style) -> Iterator[str]:
    """Rejections of recorded objects that no finding explains: there should be none."""
    if not report.unexplained:
        return
    yield ""
    yield style.paint("Recorded objects are rejected in ways that no finding explains", "error")
    shown = report.unexplained if style.verbosity > 0 else report.unexplained[:_MOST_UNDECIDED]
    for item in shown:
        yield style.wrap(f"{item['object']} in {item['source']}: {item['error']}", indent="    ", first="  ")
    if len(shown) < len(report.unexplained):
        yield f"  and {len(report.unexplained) - len(shown)} more (-v shows all)"


def _footer(report: DiffReport, style: Style) -> Iterator[str]:
    counts = report.counts
    yield style.wrap(compared_line(report), indent="")
    for names, side in _only(report):
        if names:
            rest = len(names) - _MOST_NAMES
            more = f" and {rest} more" if rest > 0 and style.verbosity <= 0 else ""
            shown = names if style.verbosity > 0 else names[:_MOST_NAMES]
            yield style.wrap(f"only in {side.name}: {', '.join(shown)}{more}", indent="    ", first="  ")
    for text in dict.fromkeys(counts.text_changes) if style.verbosity > 0 else ():
        yield style.wrap(f"text only: {text}", indent="    ", first="  ")
    for crd, file, by in counts.superseded if style.verbosity > 0 else ():
        yield style.wrap(f"{crd}: {file} gives way to {by}", indent="    ", first="  ")
    if counts.apart:
        yield style.wrap(
            f"not compared, for no context has it on both sides: {', '.join(counts.apart)}", indent="    ", first="  "
        )
    if counts.superseded and style.verbosity == 0:
        yield f"  {many(len(counts.superseded), 'document')} gave way to another of the same CRD (-v names them)"
    yield _found(report, style)
    one_sided = counts.only_old or counts.only_new or counts.apart
    if counts.compared and not counts.changed and not one_sided and not report.problems:
        yield "The schemas are the same."


def _found(report: DiffReport, style: Style) -> str:
    found = report.by_severity()
    waived = sum(finding.waiver is not None for finding in report.findings)
    colour = "error" if found["error"] else "warning" if found["warning"] else "good"
    return f"{style.paint(f'Found {tally(found)}', colour)}; {len(report.undecided)} undecided, {waived} waived."


def compared_line(report: DiffReport) -> str:
    """How much was looked at, in one sentence."""
    counts = report.counts
    only = [f"{len(names)} only in {side.name}" for names, side in _only(report)]
    unread = f" {many(counts.unread, 'file')} alike on all sides: not read." if counts.unread else ""
    return (
        f"Compared {many(counts.compared, 'CRD')} in {many(len(counts.contexts), 'context')}: "
        f"{counts.changed} changed, {', '.join(only)}; {many(len(counts.text_changes), 'text-only change')}, "
        f"{many(len(report.skipped), 'file')} skipped, {many(len(report.problems), 'problem')}.{unread}"
    )


def _only(report: DiffReport) -> tuple[tuple[tuple[str, ...], Release], ...]:
    return (report.counts.only_old, report.old), (report.counts.only_new, report.new)


def tally(found: Mapping[str, int]) -> str:
    """``2 errors, 1 warning, 0 info``."""
    return f"{many(found['error'], 'error')}, {many(found['warning'], 'warning')}, {found['info']} info"


def many(count: int, what: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {what}{'' if count == 1 else 's'}"

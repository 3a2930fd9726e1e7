"""Sentences on findings and diffs that text, Markdown, HTML and JUnit share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.findings.locations import most_clusters_first
from crdcompat.findings.rules import rule
from crdcompat.program import typed
from crdcompat.render.pages.blocks import Fold, Head, Line
from crdcompat.vocabulary import Direction, Effect, Severity
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import Operation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.diff import DiffReport, PromotedGate, UndecidedEntry
    from crdcompat.models.finding import Evidence, Finding, IntroducedBy, Location
    from crdcompat.models.release import Release

DIRECTION_TITLES = {Direction.ROLLBACK: "Rolling back {new} -> {old}", Direction.UPGRADE: "Upgrading {old} -> {new}"}


def direction_title(report: DiffReport, direction: Direction) -> str:
    """``Rolling back NEW -> OLD``."""
    return DIRECTION_TITLES[direction].format(old=report.old.title, new=report.new.title)


def commit_line(commit: IntroducedBy) -> str:
    """The commit that introduced a line: short id, day, subject, first release with it."""
    if not commit.commit:
        return commit.subject
    since = f" (since {commit.since})" if commit.since else ""
    return f"{commit.commit[:12]} {str(commit.date)[:10]} {commit.subject}{since}"


def expired_waiver_sentence(finding: Finding) -> str:
    """Why a finding with a waiver counts: the waiver has expired."""
    return f"It was accepted once, and its waiver has expired: {finding.ended}"


def fix_line(finding: Finding) -> str:
    """The first fix that the rule names, and the command that shows all."""
    fix = rule(finding.rule).fix
    first = fix.lstrip("- ").split("\n- ")[0]
    return f"{' '.join(first.split())} ({typed()} explain {finding.rule})"


def place(location: Location) -> str:
    """``file:line:column``, as far as known."""
    parts = [location.file, location.line, location.column]
    return ":".join(str(part) for part in parts if part is not None)


def undecided_line(entry: UndecidedEntry) -> str:
    """``CRD/version path: keyword: why``."""
    return f"{crd_name(entry.crd, entry.version)} {entry.path or 'the CRD'}: {entry.keyword}: {entry.reason}"


def crd_name(crd: str, version: str) -> str:
    """``CRD/version``; a change of the whole CRD may have no version."""
    return f"{crd}/{version}" if version else crd


def compared_line(report: DiffReport) -> str:
    """What was compared, in one sentence of counts."""
    counts = report.counts
    only = [f"{len(names)} only in {side.title}" for names, side in only_on_one_side(report)]
    unread = f" {plural(counts.unread, 'file')} not read: no result depends on them." if counts.unread else ""
    return (
        f"Compared {plural(counts.compared, 'CRD')} in {plural(len(counts.contexts), 'context')}: "
        f"{counts.changed} changed, {', '.join(only)}; {plural(len(counts.text_changes), 'text-only change')}, "
        f"{plural(len(report.skipped), 'file')} skipped, {plural(len(report.problems), 'problem')}.{unread}"
    )


def promoted_lines(report: DiffReport) -> tuple[str, ...]:
    """A line for each feature gate that NEW turns on in Default: what it exposes, and where it is declared."""
    return tuple(_promoted_line(item, report.new) for item in report.promoted)


def _promoted_line(item: PromotedGate, new: Release) -> str:
    declared = f" ({place(item.location)})" if item.location is not None else ""
    exposed = [f"{crd_name(crd, version)} {path}".strip() for crd, version, path in item.exposes]
    return (
        f"feature gate {item.gate} is on in Default from {new.title} on{declared}: it exposes "
        f"{some(exposed, _MAX_EXPOSED)}"
    )


def only_on_one_side(report: DiffReport) -> tuple[tuple[tuple[str, ...], Release], ...]:
    return (report.counts.only_old, report.old), (report.counts.only_new, report.new)


def tally(found: Mapping[Severity, int]) -> str:
    """``2 errors, 1 warning, 0 info``."""
    errors, warnings, others = (found[severity] for severity in Severity)
    return f"{plural(errors, 'error')}, {plural(warnings, 'warning')}, {others} info"


def plural(count: int, what: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def more_lines(count: int) -> tuple[str, ...]:
    """The line that ends a shortened list, ``and 3 more (-v shows all)``; no line if ``count`` is not positive."""
    return (f"  and {count} more (-v shows all)",) if count > 0 else ()


def first_and_count(reasons: Sequence[str]) -> str:
    """The first reason, and how many others there are: ``no object was recorded, and 2 more``."""
    first, *others = reasons
    return first + (f", and {len(others)} more" if others else "")


_MAX_CONTEXTS, _MAX_EXPOSED = 3, 3


#: Bytes of an example object in JSON that fit on a screen.
_MAX_EXAMPLE = 4_000
#: Characters of a text in an example object, and of the start that is shown of a longer one.
_MAX_TEXT, _MAX_TEXT_START = 200, 40


def finding_lines(finding: Finding, known_contexts: Sequence[str] = ()) -> Iterator[Head | Line]:
    """One finding: message, places, the error of the API server that the finding claims, witness, fix.

    ``known_contexts`` are all compared ones.
    """
    crd, kind = crd_name(finding.crd, finding.version), f"{finding.severity}[{finding.rule}]"
    yield Head(kind, finding.severity, crd, finding.path, in_contexts(finding, known_contexts), finding.id)
    for location in first_of_each_side(finding.locations):
        yield _short(f"--> {location.side}: {place(location)}")
    yield Line(f"{finding.message}.", hang=0)
    witness = finding.witness
    for error in witness.errors[:1]:
        yield Line(error, lead="API server: ", hang=2)
    if witness.pruned and finding.effect == Effect.VALUE_PRUNED:
        yield _short(f"lost: {', '.join(witness.pruned)}")
    if witness.stored is not None:
        yield _short(f"stored: {_example(witness.stored)}")
    if witness.object is not None:
        yield _short(f"{witness_title(finding)}: {_example(witness.object)}")
    else:
        yield Line(f"no witness: {witness.reason}", hang=0)
    if finding.evidence.recorded_objects:
        yield Line(f"met by {recorded(finding.evidence)}")
    if finding.introduced_by is not None:
        yield Line(commit_line(finding.introduced_by), lead="introduced by: ")
    if finding.ended:
        yield Line(expired_waiver_sentence(finding))
    yield Line(fix_line(finding), lead="way out: ")
    yield _short(f"contexts: {contexts(finding.contexts, known_contexts)}")
    if finding.because:
        yield _short(f"{finding.severity}, because: {', '.join(finding.because)}")


def _short(text: str) -> Line:
    return Line(text, fold=Fold.NEVER)


def _example(obj: Any) -> str:
    """An example object as JSON, long texts in it cut; only its size if it is large even so."""
    text = orjson.dumps(obj)
    short = orjson.dumps(_with_short_texts(obj))
    if len(short) > _MAX_EXAMPLE:
        return f"an object of {len(text):,} bytes: --format json shows it"
    return short.decode() if short == text else f"{short.decode()} (long texts are cut: --format json has them whole)"


def _with_short_texts(value: Any) -> Any:
    match value:
        case str() if len(value) > _MAX_TEXT:
            return f"{value[:_MAX_TEXT_START]}… ({len(value):,} characters)"
        case dict():
            return {key: _with_short_texts(child) for key, child in value.items()}
        case list():
            return [_with_short_texts(child) for child in value]
    return value


def witness_title(finding: Finding) -> str:
    """What the witness is: an object, or the update of one that is stored."""
    match finding.witness.operation:
        case None:
            return "witness"
        case Operation.STATUS:
            return "witness, which replaces its status"
        case Operation.MAIN:
            return "witness, which replaces it"


def first_of_each_side(locations: Sequence[Location]) -> list[Location]:
    """One place per side and kind: a place in Go source is shown besides the YAML that is generated from it."""
    found = {(location.side, location.kind): location for location in reversed(shown_places(locations))}
    return list(found.values())[::-1]


def shown_places(locations: Sequence[Location]) -> list[Location]:
    """The places; where the change has touched a file of a side, only those in files that it has touched."""
    sides = {place.side for place in locations if place.touched}
    return [place for place in locations if place.touched or place.side not in sides]


def recorded(evidence: Evidence) -> str:
    """The recorded objects with an effect: ``2 recorded objects: Widget/a in x, Widget/b in x``."""
    objects = plural(evidence.recorded_objects, "recorded object")
    condition = f" (if the cluster has context {' or '.join(evidence.contexts)})" if evidence.assumed else ""
    return f"{objects}{condition}: {', '.join(evidence.examples)}"


def contexts(names: Sequence[str], known: Sequence[str]) -> str:
    """The contexts; contexts of most clusters come first. ``known`` are all compared ones.

    A feature set in all its cluster profiles is named without them.
    """
    if len(known) > 1 and set(names) == set(known):
        return "all feature sets" if "/" in known[0] else "all"
    short = dict.fromkeys(_without_profile(name, names, known) for name in names)
    return some(most_clusters_first(short), _MAX_CONTEXTS)


def in_contexts(finding: Finding, known: Sequence[str]) -> str:
    """`` (in Default)`` behind the name of a CRD; nothing if all compared contexts have the finding."""
    where = only_in(finding.contexts, known)
    return f" ({where})" if where else ""


def only_in(names: Sequence[str], known: Sequence[str]) -> str:
    """``in Default``; "" for all ``known`` contexts. Of all feature sets, the cluster profiles left out are named."""
    if set(names) >= set(known):
        return ""
    of_set, of_profile = _parts(names)
    all_sets, all_profiles = _parts(known)
    if set(of_set) != set(all_sets):
        return f"in {some(most_clusters_first(of_set))}"
    without = [name for name in all_profiles if name not in of_profile]
    return f"not in {some(without)}" if without else "in some contexts"


def _parts(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The feature sets or channels of contexts, and their cluster profiles, each once."""
    pairs = [name.partition("/") for name in names]
    return [*dict.fromkeys(pair[0] for pair in pairs)], [*dict.fromkeys(pair[2] for pair in pairs)]


def _without_profile(name: str, names: Sequence[str], known: Sequence[str]) -> str:
    feature_set, slash, _ = name.partition("/")
    siblings = {other for other in known if other.partition("/")[0] == feature_set}
    return feature_set if slash and siblings and siblings <= set(names) else name


def problem_line(problem: Problem) -> Line:
    """``could not read file:line (old): what``; ``could not compare`` where the file was read."""
    where = problem.file + (f":{problem.line}" if problem.line else "")
    side = f" ({problem.side})" if problem.side else ""
    text = f"{problem.lead} {where}{side}: {problem.message}"
    return Line(text, part=problem.lead, tone="error", depth=0, fold=Fold.NEVER)


def skipped_lines(skipped: Iterable[Skipped]) -> Iterator[str]:
    """Skipped files, grouped by their reason; the most frequent reason comes first."""
    by_reason: dict[str, list[str]] = {}
    for item in skipped:
        by_reason.setdefault(item.reason, []).append(f"{item.file}{f' ({item.side})' if item.side else ''}")
    for reason, files in sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0])):
        yield f"{reason}: {len(files)}"
        yield from (f"  {file}" for file in files)

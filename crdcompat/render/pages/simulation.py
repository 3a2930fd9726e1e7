"""A simulation as a page: the verdict, what works and what does not by kind of object, the repair as a command."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.models.simulation import losses
from crdcompat.render.escape import Style, json_text
from crdcompat.render.pages.blocks import Block, Entries, Fold, Folded, Line, Listing, Notes, Section, listing
from crdcompat.render.pages.page import Page
from crdcompat.render.pages.replayed_objects import FACETS, entries, marked_rows, numbers, title_of
from crdcompat.render.wording.findings import place, plural, skipped_lines
from crdcompat.render.wording.replay import (
    KindReplay,
    failing_writes,
    folded_causes,
    replay_verdict,
    replayed_kinds,
    rests_on,
    why_unknown,
)
from crdcompat.render.wording.simulation import (
    cause_fix,
    cause_line,
    cause_sentence,
    is_write,
    judging,
    judging_server,
    kind_names,
    repair_command,
    repair_sentence,
    replay_title,
)
from crdcompat.render.wording.verdict import with_allowed
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import RepairVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.simulation import NotSimulated, SimulatedObject, SimulationReport

_MAX_KINDS, _MAX_REASONS = 20, 8
#: Characters of an answer of the API server.
_MAX_ANSWER = 200
_WORDS = {WriteResult.LOSES_DATA: "loses data"}
_WARNING = "warning: "


def page(report: SimulationReport, style: Style) -> Page:
    """The page; with ``-v`` it has every object, a quiet one only what is rejected or could not be read."""
    answer = with_allowed(replay_verdict(report), style)
    return Page(
        command="simulate",
        title=f"{replay_title(report)} ({judging_server(report)})",
        answers=(replace(answer, numbers=numbers(report), rows=marked_rows(report)),),
        head=(Line(rests_on(report), depth=0, fold=Fold.ALWAYS),),
        problems=report.problems,
        body=tuple(_body(report, style)),
        is_last=True,
        sides=(("OLD", report.old), ("NEW", report.new)),
        facets=FACETS,
        what="objects",
    )


def _body(report: SimulationReport, style: Style) -> Iterator[Block]:
    for release in (report.old, report.new):
        if release.full != release.title:
            yield Line(f"{release.title}: {release.full}", fold=Fold.NEVER)
    notes = dict.fromkeys((*report.old.notes, *report.new.notes, *report.notes)) if style.verbosity >= 0 else ()
    yield from (Line(note, tone="warning") for note in notes if note.startswith(_WARNING))
    yield Notes(tuple(note for note in notes if not note.startswith(_WARNING)), depth=1, hang=1)
    yield from _rejected_values(report) if style.verbosity > 0 else ()
    for verdict in WriteResult if style.verbosity >= 0 else (WriteResult.REJECTED,):
        found = [item for item in report.objects if item.worst == verdict]
        brief = _objects(found, verdict) if style.verbosity > 0 else _kinds(report, verdict)
        if found:
            make = partial(entries, report, verdict)
            yield Entries(title_of(verdict, len(found)), len(found), make, tuple(brief), anchor=verdict)
    for cause in report.early:
        said = f"{cause_line(cause)}.", f"way out: {cause_fix(cause, judging(report))}"
        lines = tuple(Line(each, hang=0, fold=Fold.ALWAYS) for each in said)
        yield Section(f"{cause.crd}: {cause.example}", lines, mark="too early", tone="error")
    if style.verbosity >= 0:
        yield from _not_judged(report, style)


def _kinds(report: SimulationReport, verdict: WriteResult) -> Iterator[Block]:
    """A section for each kind with objects of this verdict; accepted objects are counted."""
    found = [(kind, having) for kind in replayed_kinds(report) if (having := kind.having(verdict))]
    if verdict == WriteResult.ACCEPTED:
        count = plural(sum(len(having) for _, having in found), "object")
        yield Section(f"{count} of {plural(len(found), 'kind')}", (), mark=verdict, tone=verdict)
        return
    yield from (_kind(kind, having, verdict, report) for kind, having in found[:_MAX_KINDS])
    if len(found) > _MAX_KINDS:
        yield Line(f"and {len(found) - _MAX_KINDS} more kinds (-v shows all)", depth=0)


def _kind(
    kind: KindReplay, found: Sequence[SimulatedObject], verdict: WriteResult, report: SimulationReport
) -> Section:
    named = some(["/".join(filter(None, (item.namespace, item.name))) for item in found])
    share = f"{len(found)} of {plural(len(kind.objects), 'object')}"
    blocks: Iterable[Block] = ()
    match verdict:
        case WriteResult.REJECTED:
            blocks = _rejected(kind, found, report)
        case WriteResult.UNKNOWN:
            reasons = Counter(map(why_unknown, found)).most_common()
            blocks = (_said(f"{plural(count, 'object')}: {reason}") for reason, count in reasons)
        case WriteResult.LOSES_DATA:
            paths = [loss.path for loss in losses(report) if loss.crd == kind.crd]
            blocks = (Line(f"the next accepted write erases {', '.join(paths)}", hang=0, most=2),)
    return Section(f"{kind.crd}: {share} ({named})", tuple(blocks), mark=_WORDS.get(verdict, verdict), tone=verdict)


def _said(text: str) -> Line:
    return Line(text, hang=0, fold=Fold.ALWAYS)


def _rejected(kind: KindReplay, found: Sequence[SimulatedObject], report: SimulationReport) -> Iterator[Line]:
    """What is rejected and where, which writes fail, and one command for each kind of repair."""
    for path, cause, causes in folded_causes(kind.causes):
        yield Line(f"{cause_sentence(cause, path)}.", hang=0, most=2)
        places = (each.location for each in causes if each.location is not None)
        yield from (Line(f"--> {judging(report).title}: {place(each)}", fold=Fold.NEVER) for each in places)
    yield Line(f"fails: {failing_writes(found)}", fold=Fold.NEVER)
    if answer := _answer(found):
        yield Line(f"API server: {answer}", most=2)
    repairs: dict[str, list[SimulatedObject]] = {}
    for item in found:
        repairs.setdefault(item.repair.verdict, []).append(item)
    for alike in repairs.values():
        yield from _repair(alike[0])
        if len(alike) > 1:
            more = f"and {plural(len(alike) - 1, 'more object')} likewise (-v shows each command)"
            yield Line(more, depth=2, fold=Fold.NEVER)


def _repair(item: SimulatedObject) -> Iterator[Line]:
    """What repairs an object: the sentence, with the warning beside it, then the command to paste."""
    repair = item.repair
    if repair.verdict == RepairVerdict.NOT_NEEDED:
        return
    patch = json_text(repair.patch) if repair.patch else ""
    command = repair_command(item) if is_write(item) else patch
    yield Line(f"repair: {repair_sentence(item)}", fold=Fold.ALWAYS, commands=(command,) if command else ())
    if repair.note:
        yield Line(repair.note, depth=2, hang=0, fold=Fold.ALWAYS)


def _answer(found: Sequence[SimulatedObject]) -> str:
    """The first answer of the server; of a long one its first error."""
    write = next((write for item in found for write in item.writes.values() if write.message), None)
    if write is None or len(write.message) <= _MAX_ANSWER or not write.errors:
        return write.message if write is not None else ""
    return str(write.errors[0]["text"])


def _objects(found: Sequence[SimulatedObject], verdict: WriteResult) -> Iterator[Block]:
    """Every object with all writes and answers; accepted ones are counted by kind."""
    if verdict != WriteResult.ACCEPTED:
        yield from map(object_section, found)
        return
    counted = Counter(item.crd for item in found).most_common()
    counts = (Line(f"{count:>6} {crd}", fold=Fold.NEVER) for crd, count in counted)
    yield from listing("Accepted, by kind", tuple(counts))


def _rejected_values(report: SimulationReport) -> tuple[Block, ...]:
    reader = judging(report)
    rejected = (
        Line(cause_line(cause), below=(Line(cause_fix(cause, reader), depth=2),))
        for cause in report.causes
        if cause.growth is None
    )
    return listing(f"What {reader.title} rejects, by field", tuple(rejected), anchor="causes")


def object_section(item: SimulatedObject) -> Section:
    """An object: every kind of write with its verdict, the answers of the server, and what would repair it."""
    writes = (
        Line(
            f"{name:<23} {write.verdict}{f'  {write.note}' if write.note else ''}",
            part=write.verdict,
            tone=write.verdict,
            fold=Fold.NEVER,
        )
        for name, write in item.writes.items()
    )
    messages = dict.fromkeys(write.message for write in item.writes.values() if write.message)
    said = [Line(f"API server: {message}", hang=2) for message in messages]
    said += [Line(f"lost with the next accepted write: {', '.join(item.pruned)}")] if item.pruned else []
    title = f"({item.crd}/{item.version}, {item.source})"
    return Section(title, tuple(chain(writes, said, _repair(item))), mark=item.label)


def _not_judged(report: SimulationReport, style: Style) -> Iterator[Block]:
    """What was not judged, by reason; objects of kinds that neither release defines are counted alone."""
    missed = [item for item in report.not_simulated if not (item.outside or item.lost)]
    outside = [item for item in report.not_simulated if item.outside]
    if missed or report.unrecorded:
        unseen = zip(kind_names(report.unrecorded), report.unrecorded, strict=True)
        names = [f"{name} ({plural(item.findings, 'finding')})" for name, item in unseen]
        unrecorded = f"not recorded: {some(names, len(names) if style.verbosity > 0 else _MAX_REASONS)}"
        more = (Line(unrecorded, fold=Fold.ALWAYS),) if report.unrecorded else ()
        yield Section("Not judged", (_reasons(missed), *more, *_folded(missed)), anchor="missed")
    if outside or report.skipped:
        kinds = [f"{plural(len(outside), 'object')} of kinds that neither release defines"] if outside else []
        files = [plural(len(report.skipped), "file")] if report.skipped else []
        reasons = (_reasons(outside),) if style.verbosity > 0 else ()
        skipped = Folded("Files skipped", tuple(skipped_lines(report.skipped)))
        yield Section(
            f"Left out: {', '.join([*kinds, *files])}.", (*reasons, *_folded(outside), skipped), anchor="left"
        )


def _reasons(missed: Sequence[NotSimulated]) -> Listing:
    """Each reason with the number of its objects and an example, the most frequent first."""
    first = {item.reason: item for item in reversed(missed)}
    counted = Counter(item.reason for item in missed).most_common()
    lines = (
        Line(f"{plural(count, 'object')}: {reason}, e.g. {first[reason].object or first[reason].source}")
        for reason, count in counted
    )
    return Listing(tuple(lines), _MAX_REASONS)


def _folded(missed: Sequence[NotSimulated]) -> Iterator[Folded]:
    """Every object that was not judged, by reason."""
    for reason, count in Counter(item.reason for item in missed).most_common():
        named = (item for item in missed if item.reason == reason)
        lines = tuple(" in ".join(filter(None, (item.object, item.source))) for item in named)
        yield Folded(f"{reason}: {count}", lines)

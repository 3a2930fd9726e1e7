"""Findings as short blocks: one for siblings that changed alike, with the changed lines of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.program import typed
from crdcompat.render.escape import height, shortened
from crdcompat.render.wording.blocks import Block, predicate
from crdcompat.render.wording.causes import Cause, causes
from crdcompat.render.wording.entries import findings_of, section_key
from crdcompat.render.wording.findings import (
    commit_line,
    crd_name,
    expired_waiver_sentence,
    first_of_each_side,
    fix_line,
    in_contexts,
    place,
    plural,
    recorded,
    some,
)
from crdcompat.vocabulary import Effect, Owner, Severity, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.finding import Excerpt, Finding
    from crdcompat.render.escape import Style

#: Marked lines of a code frame.
_MAX_MARKED = 6
#: Lines of a sentence with long patterns and rules, and more lines for one with other long parts.
_MAX_SENTENCE, _MORE_LINES = 3, 2
#: Lines after which a warning is brief, and brief warnings; if there are more, those of one rule are shortened.
_MAX_LINES, _MAX_BRIEF = 50, 12
#: Further changes of one cause or one rule that have a line each.
_MAX_OTHERS = 3
#: Columns of the path of a brief warning. A narrower terminal wraps it.
_MAX_PATH = 118


def block_lines(listed: Sequence[Entry], style: Style, *, short: bool = False) -> Iterator[str]:
    """Entries as blocks, errors first, then by CRD, the one with the worst first; an empty line before each block.

    Blocks of one cause stand together under a heading. Errors are whole. Warnings are, too, until there are many lines,
    or, if ``short``, where there is an error.
    """
    made = causes(listed)
    worst: dict[str, int] = {}
    for number, cause in enumerate(made):
        worst.setdefault(cause.finding.crd, number)
    has_error = any(cause.finding.severity == Severity.ERROR for cause in made)
    most = 0 if short and has_error else _MAX_LINES
    used, brief = 0, []
    for cause in sorted(made, key=lambda each: (each.finding.severity.rank, worst[each.finding.crd])):
        lines = [*_cause_lines(cause, style)]
        used += sum(map(height, lines))
        if used > most and cause.finding.severity != Severity.ERROR:
            brief.append(cause)
        else:
            yield from lines
    yield from _brief_lines(brief, style)


def _cause_lines(cause: Cause, style: Style) -> Iterator[str]:
    """The blocks of a cause; of several under one heading the errors and the first others, at least the worst."""
    if not cause.is_shared:
        yield from ("", *_lines(cause.blocks[0], style))
        return
    severity = cause.finding.severity
    yield ""
    yield style.paint(style.fill(f"{severity}: {cause.heading}", indent="  ", first=""), severity)
    errors = [block for block in cause.blocks if block.finding.severity == Severity.ERROR]
    for block in errors or cause.blocks[:1]:
        yield from ("", *_lines(block, style, shared=True))
    others = cause.blocks[len(errors) or 1 :]
    yield from [""] * bool(others)
    for block in others[:_MAX_OTHERS]:
        yield from _head(block, shortened(block.path, _MAX_PATH), style)
    rest = [entry.finding for block in others[_MAX_OTHERS:] for entry in block.entries]
    if others:
        more = f"{plural(len(rest), 'more change')}: {count_by_rule(rest)}; " if rest else ""
        yield style.fill(f"{more}-v shows all in full", indent="  ", first="  ")


def _brief_lines(found: Sequence[Cause], style: Style) -> Iterator[str]:
    """The head of each block; of many blocks of one rule the first ones, and the number of the others."""
    if not found:
        return
    yield ""
    by_rule: dict[str, list[Block]] = {}
    for cause in found:
        if cause.is_shared:
            yield style.paint(
                style.fill(f"{cause.finding.severity}: {cause.heading}", indent="  ", first=""), cause.finding.severity
            )
        else:
            by_rule.setdefault(cause.finding.rule, []).append(cause.blocks[0])
    is_many = sum(map(len, by_rule.values())) > _MAX_BRIEF
    for name, alike in by_rule.items():
        shown = alike if len(alike) <= _MAX_OTHERS or not is_many else alike[:_MAX_OTHERS]
        for block in shown:
            yield from _head(block, shortened(block.path, _MAX_PATH), style)
        if rest := [entry for block in alike[len(shown) :] for entry in block.entries]:
            findings = findings_of(rest, Severity.WARNING)
            kinds = dict.fromkeys(finding.kind for finding in findings)
            yield style.fill(f"and {len(findings)} more of {name}, in {some([*kinds])}", indent="    ", first="  ")
    yield "  -v shows all in full"


def fix_lines(listed: Sequence[Entry], style: Style) -> Iterator[str]:
    """The first fix of each rule with an error; the rules of warnings are named."""
    severe = dict.fromkeys(each.finding.rule for each in listed if each.finding.severity == Severity.ERROR)
    first = {each.finding.rule: each.finding for each in reversed(listed)}
    others = [name for name in dict.fromkeys(each.finding.rule for each in listed) if name not in severe]
    if severe or others:
        yield ""
    for name in severe:
        yield style.fill(f"fix[{name}]: {fix_line(first[name])}", indent="  ", first="")
    if others:
        yield style.clip(f"Fixes of the warnings: {typed()} explain {' '.join(others)}", indent="  ", first="")


def _head(block: Block, path: str, style: Style) -> Iterator[str]:
    finding = block.finding
    kind, crd = f"{finding.severity}[{finding.rule}]", crd_name(finding.crd, finding.version)
    where = in_contexts(finding, block.entries[0].home.report.counts.contexts)
    head, length = f"{style.paint(kind, finding.severity)} {crd}", len(kind) + 1 + len(crd) + len(where)
    if length + 1 + len(path) <= style.page:
        yield f"{head}{where} {style.paint(path, 'path')}".rstrip()
    elif length <= style.page:
        yield f"{head}{where}"
        yield f"  {style.paint(path, 'path')}"
    else:
        yield head
        yield f" {where}"
        yield f"  {style.paint(path, 'path')}"


def _lines(block: Block, style: Style, *, shared: bool = False) -> Iterator[str]:
    """A block; ``shared``: under a heading that names the other places."""
    finding = block.finding
    yield from _head(block, block.path, style)
    is_error = finding.severity == Severity.ERROR
    places = sorted(first_of_each_side(finding.locations), key=lambda location: location.side == Side.OLD)
    for location in places if is_error else places[:1]:
        yield f"  {'old:' if location.side == Side.OLD else '-->'} {place(location)}"
    if is_error:
        yield from frame_lines(finding, style)
    yield style.clip(f"{predicate(finding)}.", lines=_MAX_SENTENCE, spare=_MORE_LINES)
    for answer in finding.witness.errors[:1]:
        # A refusal of a CRD says all of it, unless it repeats a rule: then the sentence above has its words.
        spare = _MORE_LINES if finding.effect == Effect.CRD_REJECTED and not finding.added else 0
        yield style.clip(answer, indent="      ", first="  API server: ", spare=spare)
    if finding.evidence.recorded_objects:
        yield style.clip(f"met by {recorded(finding.evidence)}", indent="    ", lines=1, first="  ")
    if finding.ended:
        yield style.fill(expired_waiver_sentence(finding), indent="    ", first="  ")
    if finding.introduced_by is not None:
        yield style.clip(commit_line(finding.introduced_by), indent="    ", lines=1, first="  introduced by: ")
    if block.mirrors and not shared:
        others = dict.fromkeys(_place_beside(finding, mirror) for mirror in block.mirrors)
        where = f"same change in {plural(len(block.mirrors), 'more place')}: {some([*others])}"
        yield style.clip(where, indent="    ", first="  ")
    if len(block.entries[0].met) > 1:
        yield style.clip(f"against: {', '.join(map(section_key, block.entries[0].met))}", lines=1)


def _place_beside(finding: Finding, mirror: Finding) -> str:
    """What tells the place of a mirror from that of the finding: the CRD and the version, or else the path."""
    here, there = (crd_name(each.crd, each.version) for each in (finding, mirror))
    return there if there != here else str(mirror.path)


def frame_lines(finding: Finding, style: Style) -> Iterator[str]:
    """The changed lines of the newer side, else of the older one, with their numbers; of an enum its values alone.

    What NEW lacks is shown as OLD has it: of a version, the line with its name.
    """
    values = {str(value) for value in (*finding.added, *finding.removed)}
    later = Side.NEW if finding.new is None else Side.OLD
    marked = sorted((each for each in finding.excerpts if each.changed), key=lambda each: each.side == later)
    for excerpt in marked[:1]:
        changed = sorted(excerpt.changed, key=lambda number: (abs(number - excerpt.line), number))
        if finding.owner == Owner.CRD:
            changed = [number for number in changed if number == excerpt.line] or changed
        items = [number for number in changed if _item(excerpt.lines[number - excerpt.first]) in values]
        numbers = (items or changed)[:_MAX_MARKED]
        sign, colour = ("-", "error") if excerpt.side == Side.OLD else ("+", "good")
        indent = min((_indent(excerpt, number) for number in numbers), default=0)
        for number in sorted(numbers):
            text = excerpt.lines[number - excerpt.first][indent:]
            yield f"  {number:>6} {style.paint(f'{sign} {text}', colour)}"


def _item(line: str) -> str:
    return line.strip().removeprefix("- ").strip("\"' ")


def _indent(excerpt: Excerpt, number: int) -> int:
    line = excerpt.lines[number - excerpt.first]
    return len(line) - len(line.lstrip())


def count_by_rule(found: Iterable[Finding]) -> str:
    """``20 property-added, 8 default-added``: the most frequent first."""
    counted: dict[str, int] = {}
    for finding in found:
        counted[finding.rule] = counted.get(finding.rule, 0) + 1
    ranked = sorted(counted.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {name}" for name, count in ranked)

"""Findings as short blocks: one for siblings that changed alike, with the changed lines of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import height, shortened
from crdcompat.render.wording.blocks import Block, blocks, predicate
from crdcompat.render.wording.entries import findings_of, section_key
from crdcompat.render.wording.findings import (
    commit_line,
    crd_name,
    expired_waiver_sentence,
    first_of_each_side,
    fix_line,
    place,
    plural,
    recorded,
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
#: Characters of an answer of the API server.
_MAX_ANSWER = 200
#: Lines after which a warning is brief, and brief warnings; the others are counted.
_MAX_LINES, _MAX_BRIEF = 50, 12
#: Columns of the path of a brief warning. A narrower terminal wraps it.
_MAX_PATH = 118


def block_lines(listed: Sequence[Entry], style: Style, *, short: bool = False) -> Iterator[str]:
    """Entries as blocks by CRD, the CRD with the worst finding first; an empty line before each block.

    Errors are whole. Warnings are, too, until there are many lines, or, if ``short``, where there is an error.
    """
    made = blocks(listed)
    worst: dict[str, int] = {}
    for number, block in enumerate(made):
        worst.setdefault(block.finding.crd, number)
    has_error = any(block.finding.severity == Severity.ERROR for block in made)
    most = 0 if short and has_error else _MAX_LINES
    used, brief = 0, []
    for block in sorted(made, key=lambda block: worst[block.finding.crd]):
        lines = ["", *_lines(block, style)]
        used += sum(map(height, lines))
        if used > most and block.finding.severity != Severity.ERROR:
            brief.append(block)
        else:
            yield from lines
    yield from _brief_lines(brief, style)


def _brief_lines(found: Sequence[Block], style: Style) -> Iterator[str]:
    """The head of each block, and the number of the others."""
    if not found:
        return
    yield ""
    for block in found[:_MAX_BRIEF]:
        yield from _head(block, shortened(block.path, _MAX_PATH), style)
    rest = findings_of([entry for block in found[_MAX_BRIEF:] for entry in block.entries], Severity.WARNING)
    more = f"{plural(len(rest), 'more warning')}: {count_by_rule(rest)}; " if rest else ""
    yield style.fill(f"{more}-v shows all in full", indent="  ", first="  ")


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
        yield style.clip(f"Fixes of the warnings: crdcompat explain {' '.join(others)}", indent="  ", first="")


def _head(block: Block, path: str, style: Style) -> Iterator[str]:
    finding = block.finding
    kind, crd = f"{finding.severity}[{finding.rule}]", crd_name(finding.crd, finding.version)
    head = f"{style.paint(kind, finding.severity)} {crd}"
    if len(kind) + len(crd) + len(path) + 2 <= style.page:
        yield f"{head} {style.paint(path, 'path')}".rstrip()
    else:
        yield head
        yield f"  {style.paint(path, 'path')}"


def _lines(block: Block, style: Style) -> Iterator[str]:
    finding = block.finding
    yield from _head(block, block.path, style)
    is_error = finding.severity == Severity.ERROR
    places = sorted(first_of_each_side(finding.locations), key=lambda location: location.side == Side.OLD)
    for location in places if is_error else places[:1]:
        yield f"  {'old:' if location.side == Side.OLD else '-->'} {place(location)}"
    if is_error:
        yield from _frame(finding, style)
    yield style.clip(f"{predicate(finding)}.", lines=_MAX_SENTENCE, spare=_MORE_LINES)
    if is_error and finding.witness.errors:
        first = finding.witness.errors[0]
        # A refusal of a CRD says all of it, unless it repeats a rule: then the sentence above has its words.
        if len(first) <= _MAX_ANSWER or (finding.effect == Effect.CRD_REJECTED and not finding.added):
            yield style.clip(first, indent="      ", first="  API server: ", spare=_MORE_LINES)
    if finding.evidence.recorded_objects:
        yield style.clip(f"met by {recorded(finding.evidence)}", indent="    ", lines=1, first="  ")
    if finding.ended:
        yield style.fill(expired_waiver_sentence(finding), indent="    ", first="  ")
    if finding.introduced_by is not None:
        yield style.clip(commit_line(finding.introduced_by), indent="    ", lines=1, first="  introduced by: ")
    if block.mirrors:
        others = dict.fromkeys(_place_beside(finding, mirror) for mirror in block.mirrors)
        where = f"same change in {plural(len(block.mirrors), 'more place')}: {', '.join(others)}"
        yield style.clip(where, indent="    ", first="  ")
    if len(block.entries[0].met) > 1:
        yield style.clip(f"against: {', '.join(map(section_key, block.entries[0].met))}", lines=1)


def _place_beside(finding: Finding, mirror: Finding) -> str:
    """What tells the place of a mirror from that of the finding: the CRD and the version, or else the path."""
    here, there = (crd_name(each.crd, each.version) for each in (finding, mirror))
    return there if there != here else str(mirror.path)


def _frame(finding: Finding, style: Style) -> Iterator[str]:
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

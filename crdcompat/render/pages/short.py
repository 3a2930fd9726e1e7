"""Findings as short lines: one block for siblings that changed alike, with the changed lines of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.findings.rules import rule
from crdcompat.program import typed
from crdcompat.render.escape import Style, height, shortened
from crdcompat.render.pages.blocks import Block as PageBlock
from crdcompat.render.pages.blocks import Brief, Fold, Frame, Head, Line, Section
from crdcompat.render.text.text_page import blocks_text
from crdcompat.render.wording.entry_sentences import and_in_more, findings_of, met_line, more_places
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
)
from crdcompat.render.wording.joined_entries import Block, Cause, causes, predicate
from crdcompat.vocabulary import Effect, Owner, Severity, Side
from crdcompat.vocabulary.texts import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.finding import Finding

#: Changes of a CRD as a whole.
WHOLE_CRD = ("crd.added", "crd.deleted", "crd.removed", "crd.renamed")
#: Effects in one line; advice on what has no effect yet is named by its rule.
_WHAT = {Effect.VALUE_PRUNED: "lost", Effect.VALUE_DEFAULTED: "set to its default", Effect.NONE: ""}
#: Marked lines of a code frame.
_MAX_MARKED = 6
#: Lines of a sentence with long patterns and rules, and more lines for one with other long parts.
_MAX_SENTENCE, _MORE_LINES = 3, 2
#: Lines after which a warning is brief. With more brief warnings than this, warnings of one rule are shortened.
_MAX_LINES, _MAX_BRIEF = 50, 12
#: Further changes of one cause or one rule that have a line each.
_MAX_OTHERS = 3
#: Columns of the path of a brief warning. A narrower terminal wraps it.
_MAX_PATH = 118
_MAX_NAMES, _MAX_INFOS = 6, 12


def short_findings(listed: Sequence[Entry], style: Style, *, short: bool = False) -> Iterator[PageBlock]:
    """Errors and warnings as blocks: errors first, then CRD by CRD, the CRD with the worst finding first; then infos.

    Blocks of one cause stand together under a heading. Errors are shown whole. Warnings are shown whole until there are
    many lines, or, if ``short``, until there is an error. A quiet text has errors only.
    """
    made = causes(each for each in listed if each.finding.severity != Severity.INFO)
    worst: dict[str, int] = {}
    for number, cause in enumerate(made):
        worst.setdefault(cause.finding.crd, number)
    has_error = any(cause.finding.severity == Severity.ERROR for cause in made)
    room = 0 if short and has_error else _MAX_LINES
    brief = []
    for cause in sorted(made, key=lambda each: (each.finding.severity.rank, worst[each.finding.crd])):
        blocks = (*_cause(cause),) if room > 0 or cause.finding.severity == Severity.ERROR else ()
        room -= sum(map(height, blocks_text(blocks, style)))
        if (room >= 0 and blocks) or cause.finding.severity == Severity.ERROR:
            yield from blocks
        else:
            brief.append(cause)
    yield from _brief(brief)
    if style.verbosity >= 0 and (infos := [each for each in listed if each.finding.severity == Severity.INFO]):
        yield Section("", tuple(info_lines(infos, findings_of(listed, Severity.INFO))))


def _cause(cause: Cause) -> Iterator[PageBlock]:
    """The blocks of a cause; of several under one heading the errors and the first others, at least the worst."""
    if not cause.is_shared:
        yield _block(cause.blocks[0])
        return
    yield Section("", (_heading(cause),))
    errors = [block for block in cause.blocks if block.finding.severity == Severity.ERROR]
    for block in errors or cause.blocks[:1]:
        yield _block(block, shared=True)
    if others := cause.blocks[len(errors) or 1 :]:
        rest = [entry.finding for block in others[_MAX_OTHERS:] for entry in block.entries]
        more = f"{plural(len(rest), 'more change')}: {count_by_rule(rest)}; " if rest else ""
        line = Line(f"{more}-v shows all in full", hang=0, fold=Fold.ALWAYS)
        yield Section("", (*(_head(block, shortened(block.path, _MAX_PATH)) for block in others[:_MAX_OTHERS]), line))


def _heading(cause: Cause) -> Line:
    severity = cause.finding.severity
    return Line(f"{severity}: {cause.heading}", tone=severity, depth=0, fold=Fold.ALWAYS)


def _brief(found: Sequence[Cause]) -> Iterator[Section]:
    """The head of each block; of many blocks of one rule the first ones, and the number of the others."""
    lines: list[PageBlock] = [_heading(cause) for cause in found if cause.is_shared]
    by_rule: dict[str, list[Block]] = {}
    for cause in found:
        if not cause.is_shared:
            by_rule.setdefault(cause.finding.rule, []).append(cause.blocks[0])
    is_many = sum(map(len, by_rule.values())) > _MAX_BRIEF
    for name, alike in by_rule.items():
        shown = alike if len(alike) <= _MAX_OTHERS or not is_many else alike[:_MAX_OTHERS]
        lines += [_head(block, shortened(block.path, _MAX_PATH)) for block in shown]
        if rest := [entry for block in alike[len(shown) :] for entry in block.entries]:
            findings = findings_of(rest, Severity.WARNING)
            kinds = dict.fromkeys(finding.kind for finding in findings)
            lines.append(Line(f"and {len(findings)} more of {name}, in {some([*kinds])}", fold=Fold.ALWAYS))
    if found:
        yield Section("", (*lines, Line("-v shows all in full", fold=Fold.NEVER)))


def _head(block: Block, path: str) -> Head:
    finding = block.finding
    where = in_contexts(finding, block.entries[0].home.report.counts.contexts)
    kind, name = f"{finding.severity}[{finding.rule}]", crd_name(finding.crd, finding.version)
    return Head(kind, finding.severity, name, path, where)


def _block(block: Block, *, shared: bool = False) -> Section:
    """A block of findings; ``shared``: it is under a heading that names the other places."""
    return Section("", (_head(block, block.path), *_details(block, shared=shared)))


def _details(block: Block, *, shared: bool) -> Iterator[Line | Frame]:
    finding = block.finding
    is_error = finding.severity == Severity.ERROR
    places = sorted(first_of_each_side(finding.locations), key=lambda location: location.side == Side.OLD)
    for location in places if is_error else places[:1]:
        yield Line(f"{'old:' if location.side == Side.OLD else '-->'} {place(location)}", fold=Fold.NEVER)
    if is_error:
        yield frame(finding)
    yield Line(f"{predicate(finding)}.", hang=0, most=_MAX_SENTENCE, spare=_MORE_LINES)
    for answer in finding.witness.errors[:1]:
        # A refusal of a CRD says all of it, unless it repeats a rule: then the sentence above has its words.
        spare = _MORE_LINES if finding.effect == Effect.CRD_REJECTED and not finding.added else 0
        yield Line(answer, lead="API server: ", hang=2, most=2, spare=spare)
    if finding.evidence.recorded_objects:
        yield Line(f"met by {recorded(finding.evidence)}", most=1)
    if finding.ended:
        yield Line(expired_waiver_sentence(finding), fold=Fold.ALWAYS)
    if finding.introduced_by is not None:
        yield Line(commit_line(finding.introduced_by), lead="introduced by: ", most=1)
    if block.mirrors and not shared:
        others = dict.fromkeys(_place_beside(finding, mirror) for mirror in block.mirrors)
        yield Line(f"same change in {more_places(block.entries)}: {some([*others])}", most=2)
    yield from (Line(line, hang=0, most=1) for line in met_line(block.entries[0]))


def _place_beside(finding: Finding, mirror: Finding) -> str:
    """What tells the place of a mirror from the place of the finding: the CRD and the version, or else the path."""
    here, there = (crd_name(each.crd, each.version) for each in (finding, mirror))
    return there if there != here else str(mirror.path)


def frame(finding: Finding) -> Frame:
    """The lines of the files; text shows the changed ones of the newer side, else of the older, of an enum its values.

    What NEW lacks is shown as OLD has it: of a version, the line with its name.
    """
    values = {str(value) for value in (*finding.added, *finding.removed)}
    later = Side.NEW if finding.new is None else Side.OLD
    marked = sorted((each for each in finding.excerpts if each.changed), key=lambda each: each.side == later)
    if not marked:
        return Frame(finding.excerpts)
    excerpt = marked[0]
    changed = sorted(excerpt.changed, key=lambda number: (abs(number - excerpt.line), number))
    if finding.owner == Owner.CRD:
        changed = [number for number in changed if number == excerpt.line] or changed
    items = [number for number in changed if _item(excerpt.lines[number - excerpt.first]) in values]
    return Frame(finding.excerpts, excerpt, tuple((items or changed)[:_MAX_MARKED]))


def _item(line: str) -> str:
    return line.strip().removeprefix("- ").strip("\"' ")


def fix_lines(listed: Iterable[Entry]) -> Iterator[Brief]:
    """The first fix of each rule with an error; the rules of warnings are named."""
    severe: dict[str, Finding] = {}
    others: dict[str, None] = {}
    for each in listed:
        if each.finding.severity == Severity.ERROR:
            severe.setdefault(each.finding.rule, each.finding)
        else:
            others[each.finding.rule] = None
    lines = [Line(f"fix[{name}]: {fix_line(finding)}", depth=0, fold=Fold.ALWAYS) for name, finding in severe.items()]
    if rest := [name for name in others if name not in severe]:
        lines.append(Line(f"Fixes of the warnings: {typed()} explain {' '.join(rest)}", depth=0, most=2))
    if lines:
        yield Brief((Section("", tuple(lines)),))


def info_lines(listed: Sequence[Entry], found: Sequence[Finding] = (), most: int = _MAX_INFOS) -> Iterator[Line]:
    """A line for each info; if there are more than ``most``, one line that counts the findings.

    ``found`` are the findings to count, if more severe entries hold some of the findings.
    """
    lines = [*_infos(listed)]
    if len(lines) <= most:
        yield from lines
    else:
        found = found or findings_of(listed, Severity.INFO)
        counted = f"{len(found)} info: {count_by_rule(found)} (-v lists them)"
        yield Line(counted, depth=0, fold=Fold.ALWAYS)


def _infos(found: Sequence[Entry]) -> Iterator[Line]:
    """Findings of severity info, one line each, under their CRD; those on whole CRDs share a line for each rule."""
    whole: dict[str, list[str]] = {}
    for entry in found:
        if entry.finding.change in WHOLE_CRD:
            whole.setdefault(entry.finding.rule, []).append(entry.finding.crd)
    for name, crds in whole.items():
        yield _info(f"info {rule(name).title}: {some(crds, _MAX_NAMES)} [{name}]", Fold.TERMINAL)
    crd = ""
    listed = (entry for entry in found if entry.finding.change not in WHOLE_CRD)
    for entry in sorted(listed, key=lambda item: (item.finding.crd, item.finding.version, item.finding.path)):
        finding = entry.finding
        name = f"{finding.crd}/{finding.version}".rstrip("/")
        if name != crd:
            crd = name
            yield _info(f"info {name}", Fold.NEVER)
        # Of a change of the CRD, "lost" would say that the CRD is.
        effect = _WHAT.get(finding.effect, finding.effect) if finding.path else ""
        what = effect or _lowered(rule(finding.rule).title)
        yield Line(f"{finding.path or 'the CRD'}: {what} [{finding.rule}]{and_in_more(entry)}", fold=Fold.NEVER)


def _info(text: str, fold: Fold) -> Line:
    return Line(text, part="info", tone="info", depth=0, hang=2, fold=fold)


def _lowered(title: str) -> str:
    """A title inside a sentence; a word of capitals, such as CEL, keeps them."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def count_by_rule(found: Iterable[Finding]) -> str:
    """``20 property-added, 8 default-added``: the most frequent first."""
    counted: dict[str, int] = {}
    for finding in found:
        counted[finding.rule] = counted.get(finding.rule, 0) + 1
    ranked = sorted(counted.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {name}" for name, count in ranked)

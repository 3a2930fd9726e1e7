"""All changes of a release for its notes, as Markdown: harmless ones too, each once, with what going back does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.findings.contrast import brief, contrasted, listed
from crdcompat.findings.entries import entries
from crdcompat.findings.rules import rule_for, rule_names
from crdcompat.render.escape import Style, escape_text
from crdcompat.render.markdown.markup import block, bullets, span, unread
from crdcompat.render.pages.diff import verdict
from crdcompat.render.text.text_page import answers_text
from crdcompat.render.wording.findings import crd_name, only_in, plural, undecided_line
from crdcompat.render.wording.summaries import plain
from crdcompat.vocabulary import Direction, Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crdcompat.models.diff import DiffReport, HarmlessChange
    from crdcompat.models.finding import Finding

NAME, KINDS = "changelog", ("diff",)

#: Kinds of change of a CRD as a whole, with their headings.
_WHOLE = {"crd.added": "New kinds", "crd.removed": "Removed kinds", "crd.deleted": "Removed kinds"}
_MAX_VALUES = 10_000
_WAYS = {Direction.ROLLBACK: "going back", Direction.UPGRADE: "upgrading"}


class _Change(Struct):
    """One change: what differs, and by direction what its findings say."""

    crd: str
    version: str
    path: str
    kind: str
    old: Any
    new: Any
    added: Sequence[Any] = ()
    removed: Sequence[Any] = ()
    places: Sequence[str] = ()
    contexts: dict[str, None] = {}
    effects: dict[Direction, dict[str, list[str]]] = {}  # what its findings say, and their contexts


def render(report: DiffReport, style: Style) -> str:
    """The page as Markdown; it uses only ``allowed`` of ``style``."""
    changes, known = [*_changes(report)], report.counts.contexts
    kinds = {finding.crd: finding.kind for finding in report.findings if finding.kind}
    parts = [
        f"# Changes of the API from {span(report.old.title)} to {span(report.new.title)}",
        block(plain(answers_text(verdict(report, entries(report), Style(allowed=style.allowed)), Style()))),
        *unread(report.problems),
    ]
    for heading in dict.fromkeys(_WHOLE.values()):
        named = [each for each in changes if _WHOLE.get(each.kind) == heading]
        if named:
            lines = (f"- {_name(each, kinds, known)}{_effect(each)}" for each in named)
            parts.append(f"## {heading}\n\n" + "\n".join(dict.fromkeys(lines)))
    by_crd: dict[tuple[str, str], list[_Change]] = {}
    for each in changes:
        if each.kind not in _WHOLE:
            by_crd.setdefault((each.crd, each.version), []).append(each)
    for (crd, version), found in sorted(by_crd.items()):
        name = f"{span(kinds[crd])}, {span(crd_name(crd, version))}" if crd in kinds else span(crd_name(crd, version))
        lines = (_line(each, known) for each in sorted(found, key=lambda each: (each.path, each.kind)))
        parts.append(f"## {name}\n\n" + "\n".join(lines))
    if report.undecided:
        parts.append(f"## Not judged\n\n{bullets([*map(undecided_line, report.undecided)], _MAX_VALUES)}")
    if texts := [*dict.fromkeys(report.counts.text_changes)]:
        parts.append(f"## {plural(len(texts), 'change')} of text only\n\n{bullets(texts, _MAX_VALUES)}")
    if not (changes or report.undecided or report.counts.text_changes):
        parts.append("Nothing changed.")
    return "\n\n".join(parts) + "\n"


def _name(change: _Change, kinds: Mapping[str, str], known: Sequence[str]) -> str:
    """A kind, its CRD, and the contexts that have the change, unless all have it."""
    where = only_in([*change.contexts], known)
    return f"{span(kinds.get(change.crd, change.crd))} ({', '.join(filter(None, (span(change.crd), where)))})"


def _changes(report: DiffReport) -> Iterable[_Change]:
    """Each change once: findings of both directions, and what has no effect."""
    made: dict[tuple[str, ...], _Change] = {}
    counted: tuple[Finding | HarmlessChange, ...] = (*report.findings, *report.harmless)
    for item in counted:
        if item.change.startswith(("status.", "server.")) or item.change == "cel-cost.near-budget":
            continue  # advice, and differences of servers, are no changes of the release
        key = (
            item.crd,
            item.version,
            item.path,
            item.change,
            escape_text(brief(item.old)),
            escape_text(brief(item.new)),
        )
        change = made.setdefault(
            key, _Change(item.crd, item.version, item.path, item.change, item.old, item.new, contexts={}, effects={})
        )
        change.contexts.update(dict.fromkeys(item.contexts))
        if not hasattr(item, "reason"):
            change.added = change.added or item.added
            change.removed = change.removed or item.removed
            change.places = change.places or item.places
            if item.effect is not Effect.NONE:
                said = f"{item.effect.replace('-', ' ')} ({item.severity})"
                change.effects.setdefault(item.direction, {}).setdefault(said, []).extend(item.contexts)
    named = {(each.crd, each.version, place, each.kind) for each in made.values() for place in each.places}
    return [
        each for each in made.values() if each.effects or (each.crd, each.version, each.path, each.kind) not in named
    ]


def _line(change: _Change, known: Sequence[str]) -> str:
    """`` `spec.a` (in Default): Field added``; a change without a path has its contexts at the end."""
    named = only_in([*change.contexts], known)
    where = f" ({named})" if named else ""
    more = f", also at {', '.join(map(span, change.places))}" if change.places else ""
    text = f"{escape_text(_title(change.kind))}{_values(change)}{more}"
    said = f"{span(change.path)}{where}: {text}" if change.path else f"{text}{where}"
    return f"- {said}{_effect(change)}"


def _title(kind: str) -> str:
    """The title of the rule of a kind of change; the words of the kind, where no rule judges it."""
    words = kind.replace(".", "-")
    return rule_for(kind).title if words in rule_names() else words.replace("-", " ").capitalize()


def _values(change: _Change) -> str:
    """What was gained and lost, or the values of both sides."""
    if change.kind.startswith(("property.", "required.")) or change.old is None is change.new:
        return ""
    if change.added and change.removed:
        before, after = contrasted(change.removed, change.added)
        return f": {span(before)} → {span(after)}"
    if change.added or change.removed:
        return f": {span(listed(change.added or change.removed, _MAX_VALUES))}"
    if change.old is None:
        return f": {span(brief(change.new))}"
    return f": {span(brief(change.old))} → {span(brief(change.new))}"


def _effect(change: _Change) -> str:
    """`` — going back: write rejected (error)``; of several effects each with its contexts."""
    said = []
    for way, effects in sorted(change.effects.items()):
        texts = (f"{text} {only_in(sets, [*change.contexts])}".rstrip() for text, sets in effects.items())
        said.append(f"{_WAYS[way]}: {', '.join(texts)}")
    return f" — {'; '.join(said)}" if said else ""

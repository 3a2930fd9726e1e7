"""The message of a finding: the sentence of its rule, and what is added where more than the rule says is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Lone
from crdcompat.findings.contrast import brief, contrast, contrasted, cut_middle, listed
from crdcompat.findings.rejected_writes import spared_later, spared_now, with_article, writes_of
from crdcompat.findings.rules import Rule
from crdcompat.findings.severity import is_lowered
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.installers import MISSING_CRDS, Window
from crdcompat.vocabulary.judging import Named
from crdcompat.vocabulary.texts import some

#: The verbs of messages, and their form where nothing proves the effect. A later verb of a list needs no second "may".
VERBS = {
    "rejects": "may reject",
    "prunes": "may prune",
    "drops": "may drop",
    "sets": "may set",
    "appears": "may appear",
    "comes": "may come",
    "is": "may be",
    "erases": "erase",
    "stays": "stay",
}
_THEN = {Direction.ROLLBACK: "after a rollback", Direction.UPGRADE: "after the upgrade"}
_STAYS = {
    Window.OLD_CRD_NEW_WRITER: "; helm does not replace crds/: controllers of {writer} work under the CRD of {reader}",
    Window.NEW_CRD_OLD_WRITER: (
        "; helm does not replace crds/: if somebody applied the CRD of {reader}, controllers of {writer} work under it"
    ),
}
_UNNAMED = "; only the search found this value: no enum, default, Go constant, test or sample names one"
_UNNAMED_LACK = "; nothing in the sources shows that a controller leaves the field out"
_UNLIKELY = {
    "free-field.declared": "of another type than the declared one",
    "shared-constraint.broken": "in which nothing else is set that {reader} knows",
}


class _Names(Struct, frozen=True):
    """The names of both releases, by age and by what they do."""

    old: str
    new: str
    direction: Direction

    @property
    def reader(self) -> str:
        return self.old if self.direction == Direction.ROLLBACK else self.new

    @property
    def writer(self) -> str:
        return self.new if self.direction == Direction.ROLLBACK else self.old


def message(rule: Rule, item: Judged, added: Sequence[Any], removed: Sequence[Any], old: str, new: str) -> str:
    """The sentence on a judged change, without a full stop.

    ``added`` and ``removed`` are the values that it names, ``old`` and ``new`` the names of the releases.
    """
    names = _Names(old, new, item.direction)
    unproven = rule.unproven.get(item.direction) if item.doubtful else None
    told = (rule.staying.get("message") if item.stays else None) or unproven or rule.message[item.direction]
    is_all = "{writes}" in told
    parts = (
        _losing(item, names),
        told.format(**_fields(item, told, added, removed, names)),
        spared_now(item, is_all=is_all),
        "; no example object was found" if item.doubtful and unproven is None else "",
        *_of_writer(item, told, names.writer, names.reader),
        *_of_places(item, names),
        spared_later(item, is_all=is_all),
        *_of_standing(item, names),
    )
    return "".join(parts)


def _fields(item: Judged, told: str, added: Sequence[Any], removed: Sequence[Any], names: _Names) -> dict[str, str]:
    """What the sentence of a rule may use (CONTRIBUTING.md lists it)."""
    pair = "{removed} -> {added}" in told
    told_removed, told_added = contrasted(removed, added) if pair else (listed(removed), listed(added))
    before, after = _before_and_after(item.change)
    then, reader, number = _THEN[item.move], names.reader, len(added or removed)
    return {
        "path": item.change.place or "the object",
        "added": told_added,
        "removed": told_removed,
        "before": before,
        "after": after,
        "others": _others(item.change.new) if "{others}" in told else "",
        "default": _default(item),
        "old": names.old,
        "new": names.new,
        "reader": reader,
        "writer": names.writer,
        "kind": item.kind,
        "a_kind": with_article(item.kind),
        "then": f"once its CRD is applied on {names.writer}'s API server" if _is_early(item) else then,
        "then_at_reader": then + (f" to {reader}" if item.window is None else f", which leaves the CRD of {reader}"),
        "writes": writes_of(item.kind, item.writes, is_every=item.spared is None and not item.spared_since),
        "one": "it" if number == 1 else "one of them",
        "rules": "a rule" if number == 1 else f"{number} rules",
        **{verb: doubted if item.doubtful else verb for verb, doubted in VERBS.items()},
    }


def _is_early(item: Judged) -> bool:
    """Whether the writer's server, which still serves, rejects every write."""
    return item.early and item.spared is None


def _of_writer(item: Judged, told: str, writer: str, reader: str) -> Iterator[str]:
    """What is known of the one who writes the value, and of the server that it meets."""
    if written_as := item.occurrences[0].written_as:
        yield f" (written as {written_as}, which only {writer} has, and read as {item.version})"
    if item.writer_default:
        yield f" (it is {writer}'s default: the server sets it where the field is left out)"
    if _is_early(item) and "{then}" not in told:
        yield f" ({writer}'s API server still serves when this CRD is applied)"
    if item.unlikely:
        yield f" (only a status {_UNLIKELY[item.change.kind].format(reader=reader)}: no controller writes that)"


def _losing(item: Judged, names: _Names) -> str:
    """The beginning, ``Default loses Widget (others keep it): ``: the reader lacks a CRD in some contexts only."""
    lone = _lone(item)
    if not any(each.elsewhere for each in lone) or _lacking(item, names) != names.reader:
        return ""
    sets = [*dict.fromkeys(each.context.partition("/")[0] for each in lone)]
    return f"{', '.join(sets)} {'loses' if len(sets) == 1 else 'lose'} {item.kind} (others keep it): "


def _of_places(item: Judged, names: _Names) -> Iterator[str]:
    """What the release that lacks a CRD has of it elsewhere."""
    lone, lacking = _lone(item), _lacking(item, names)
    if lone and all(each.has_sources for each in lone):
        yield f" (unless another component ships it: {lacking} has its sources, outside of the payload)"
    if any(each.elsewhere for each in lone) and lacking != names.reader:
        yield f" (only in the contexts named here: {lacking} has it in others)"


def _lone(item: Judged) -> list[Lone]:
    return [each for each in item.occurrences if isinstance(each, Lone)]


def _lacking(item: Judged, names: _Names) -> str:
    """The release without the CRD, of a change that is about one side."""
    return names.new if item.change.new is None else names.old


def _of_standing(item: Judged, names: _Names) -> Iterator[str]:
    """How far the finding counts."""
    if item.turned_on_by:
        yield f" (only where {item.turned_on_by} turns its chart on)"
    if item.reason:
        yield f": {item.reason}"
    if item.named is Named.NOBODY and not item.unlikely:
        yield _UNNAMED_LACK if item.change.kind.startswith("required.") else _UNNAMED
    if item.window is not None and item.change.kind not in MISSING_CRDS:
        yield _STAYS[item.window].format(reader=names.reader, writer=names.writer)
    if is_lowered(item):
        yield " (severity lowered: only in feature sets that can be neither upgraded nor rolled back)"


def _before_and_after(change: Change) -> tuple[str, str]:
    """The values of both sides: those of an enum by name, defaults as JSON, long texts by what tells them apart."""
    sides = change.old, change.new
    if change.kind.startswith("enum."):
        return tuple(listed(side) if isinstance(side, list | tuple) else brief(side) for side in sides)  # type: ignore[return-value]
    if change.kind.startswith("default."):
        return tuple(cut_middle(orjson.dumps(side).decode()) for side in sides)  # type: ignore[return-value]
    if isinstance(change.old, str) and isinstance(change.new, str):
        return contrast(change.old, change.new)
    return brief(change.old), brief(change.new)


def _others(paths: Any) -> str:
    """`` (with status.a and status.b)``: further fields of one advice; nothing if there is none."""
    if not isinstance(paths, list) or len(paths) < 2:
        return ""
    return f" (with {some(paths[1:])})"


def _default(item: Judged) -> str:
    shown = item.change.new if isinstance(item.change.new, dict) else item.change.old
    return orjson.dumps(shown.get("default")).decode() if isinstance(shown, dict) else ""

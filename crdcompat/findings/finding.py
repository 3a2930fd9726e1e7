"""Makes findings from judged changes: severity, message, id and locations; groups copies of one change.

A Go type such as a pod template or metav1.Condition occurs many times in a CRD. A change of the type changes every
copy, and is one finding with all its places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import orjson
from msgspec.structs import replace

from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Lone
from crdcompat.findings.contrast import MOST, brief, contrast, contrasted, cut_middle
from crdcompat.findings.rejected_writes import spared_later, spared_now, with_article, writes_of
from crdcompat.findings.rules import Rule, rule_for
from crdcompat.findings.severity import decide, is_lowered
from crdcompat.models.finding import Finding, Location, Windows
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

Locate = Callable[[Judged], tuple[Location, ...]]


def make_findings(judged: Iterable[Judged], old: str, new: str, locate: Locate) -> list[Finding]:
    """Turn judged changes into findings, most severe first; ``old`` and ``new`` are the releases' names."""
    found = [_finding(item, old, new, locate) for item in judged]
    return sorted(found, key=order)


def order(finding: Finding) -> tuple[Any, ...]:
    """The sort key: rollback before upgrade, errors first, status first, then by place."""
    return (
        finding.direction != Direction.ROLLBACK,
        finding.severity.rank,
        finding.owner.rank,
        finding.crd,
        finding.version,
        finding.path,
        finding.rule,
        finding.contexts,
        finding.id,
    )


def _finding(item: Judged, old: str, new: str, locate: Locate) -> Finding:
    change = item.change
    rule = rule_for(change.kind)
    decided = decide(item, rule.judge(item.direction, item.effect, change.owner))
    added = item.labels if change.added and item.labels else change.added
    removed = item.labels if change.removed and item.labels else change.removed
    return Finding(
        id=fingerprint(rule.id, item.move, item.crd, _versions(item), change.place, added, removed),
        rule=rule.id,
        change=change.kind,
        direction=item.move,
        effect=item.effect,
        severity=decided.severity,
        crd=item.crd,
        kind=item.kind,
        version=item.version,
        contexts=tuple(dict.fromkeys(occurrence.context for occurrence in item.occurrences)),
        path=change.place,
        owner=change.owner,
        old=change.old,
        new=change.new,
        added=added,
        removed=removed,
        message=_message(rule, item, added, removed, old, new),
        witness=item.witness,
        windows=Windows(*item.windows),
        locations=locate(item),
        writes=item.writes,
        spared=item.spared,
        versions=_versions(item),
        because=decided.because,
        window=item.window,
    )


def _versions(item: Judged) -> str:
    """The version in a finding's id; both versions if objects are written as another version than they are read as."""
    return f"{item.occurrences[0].written_as} {item.version}".strip()


def fingerprint(
    rule: str, direction: str, crd: str, version: str, path: str, added: Sequence[Any] = (), removed: Sequence[Any] = ()
) -> str:
    """Twelve hex digits that are stable over commits; they do not depend on lines, files or contexts."""
    values = [sorted(orjson.dumps(value).decode() for value in side) for side in (added, removed)]
    text = orjson.dumps([rule, direction, crd, version, path, *values])
    return blake2b(text, digest_size=6).hexdigest()


def _message(rule: Rule, item: Judged, added: Sequence[Any], removed: Sequence[Any], old: str, new: str) -> str:
    reader, writer = (old, new) if item.direction == Direction.ROLLBACK else (new, old)
    unproven = rule.unproven.get(item.direction) if item.doubtful else None
    told = (rule.staying.get("message") if item.stays else None) or unproven or rule.message[item.direction]
    is_early = item.early and item.spared is None
    told_added, told_removed = listed(added), listed(removed)
    if "{removed} -> {added}" in told:
        told_removed, told_added = contrasted(removed, added)
    before, after = _before_and_after(item.change)
    sentence = told.format(
        path=item.change.place or "the object",
        added=told_added,
        removed=told_removed,
        reader=reader,
        writer=writer,
        old=old,
        new=new,
        kind=item.kind,
        a_kind=with_article(item.kind),
        then=_THEN[item.move] if not is_early else f"once its CRD is applied on {writer}'s API server",
        then_at_reader=_THEN[item.move]
        + (f" to {reader}" if item.window is None else f", which leaves the CRD of {reader}"),
        writes=writes_of(item.kind, item.writes, is_every=item.spared is None and not item.spared_since),
        one="it" if len(added or removed) == 1 else "one of them",
        rules="a rule" if len(added or removed) == 1 else f"{len(added or removed)} rules",
        default=_default(item),
        before=before,
        after=after,
        others=_others(item.change.new) if "{others}" in told else "",
        **{verb: doubted if item.doubtful else verb for verb, doubted in VERBS.items()},
    )
    sentence += spared_now(item, is_all="{writes}" in told)
    if item.doubtful and unproven is None:
        sentence += "; no example object was found"
    if written_as := item.occurrences[0].written_as:
        sentence += f" (written as {written_as}, which only {writer} has, and read as {item.version})"
    if item.writer_default:
        sentence += f" (it is {writer}'s default: the server sets it where the field is left out)"
    if is_early and "{then}" not in told:
        sentence += f" ({writer}'s API server still serves when this CRD is applied)"
    if item.unlikely:
        sentence += f" (only a status {_UNLIKELY[item.change.kind].format(reader=reader)}: no controller writes that)"
    lone = [each for each in item.occurrences if isinstance(each, Lone)]
    other = new if item.change.new is None else old
    is_partial = any(each.elsewhere for each in lone)
    if is_partial and other == reader:
        sentence = f"{_losing(lone)} {item.kind} (others keep it): {sentence}"
    if lone and all(each.has_sources for each in lone):
        sentence += f" (unless another component ships it: {other} has its sources, outside of the payload)"
    if is_partial and other != reader:
        sentence += f" (only in the contexts named here: {other} has it in others)"
    sentence += spared_later(item, is_all="{writes}" in told)
    if item.turned_on_by:
        sentence += f" (only where {item.turned_on_by} turns its chart on)"
    if item.reason:
        sentence += f": {item.reason}"
    if item.named is Named.NOBODY and not item.unlikely:
        sentence += _UNNAMED_LACK if item.change.kind.startswith("required.") else _UNNAMED
    if item.window is not None and item.change.kind not in MISSING_CRDS:
        sentence += _STAYS[item.window].format(reader=reader, writer=writer)
    if is_lowered(item):
        sentence += " (severity lowered: only in feature sets that can be neither upgraded nor rolled back)"
    return sentence


_THEN = {Direction.ROLLBACK: "after a rollback", Direction.UPGRADE: "after the upgrade"}
_STAYS = {
    Window.OLD_CRD_NEW_WRITER: "; helm does not replace crds/: controllers of {writer} work under the CRD of {reader}",
    Window.NEW_CRD_OLD_WRITER: (
        "; helm does not replace crds/: if somebody applied the CRD of {reader}, controllers of {writer} work under it"
    ),
}


def _losing(lone: Sequence[Lone]) -> str:
    """``Default loses``: the feature sets or channels without the CRD."""
    sets = [*dict.fromkeys(each.context.partition("/")[0] for each in lone)]
    return f"{', '.join(sets)} {'loses' if len(sets) == 1 else 'lose'}"


_UNNAMED = "; only the search found this value: no enum, default, Go constant, test or sample names one"
_UNNAMED_LACK = "; nothing in the sources shows that a controller leaves the field out"
_UNLIKELY = {
    "free-field.declared": "of another type than the declared one",
    "shared-constraint.broken": "in which nothing else is set that {reader} knows",
}


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


def listed(values: Sequence[Any], limit: int = 8) -> str:
    """``"A", "B" and 3 more``: whole values, of long ones fewer than ``limit``."""
    texts = [orjson.dumps(value).decode() for value in values[:limit]]
    room = sum(end <= MOST for end in accumulate(len(text) + 2 for text in texts))
    shown = texts[: max(room, 2)]
    rest = len(values) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _default(item: Judged) -> str:
    shown = item.change.new if isinstance(item.change.new, dict) else item.change.old
    return orjson.dumps(shown.get("default")).decode() if isinstance(shown, dict) else ""


def group_copies(findings: Iterable[Finding]) -> list[Finding]:
    """Merge equal findings on copies of a field at several paths into one; ``places`` are the other paths.

    The first in order represents all. Its id follows from its own path, so that other copies do not change the id.
    """
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_equivalence_key(finding), []).append(finding)
    return [_merged(members) for members in groups.values()]


def _equivalence_key(finding: Finding) -> tuple[Any, ...]:
    facts = orjson.dumps([finding.old, finding.new, finding.added, finding.removed], option=orjson.OPT_SORT_KEYS)
    judgement = (finding.direction, finding.rule, finding.effect, finding.severity, finding.owner, finding.spared)
    # A change of the root or outside the schema has no copies.
    return (*judgement, finding.crd, finding.version, finding.contexts, facts, field_of(finding.path) or finding.id)


def field_of(path: str) -> str:
    """The last field of a path, with its parent if that is a list item: ``conditions[*].type``."""
    *parents, last = path.split(".")
    holder = parents[-1] if parents else ""
    return f"{holder}.{last}" if holder.endswith("[*]") else last


def _merged(members: list[Finding]) -> Finding:
    first, *others = members
    if not others:
        return first
    places = tuple(finding.path for finding in others)
    more = f" (and at {len(places)} more {'place' if len(places) == 1 else 'places'} like it)"
    return replace(first, places=places, message=first.message + more)

"""The patch that would make OLD tolerant: its schema widened by exactly what the rollback findings need.

Never applied, only shown. Controllers of OLD go on writing what they know; the widened schema merely accepts what
NEW has stored (design, section 6; the API conventions call it "accept in N, write in N+1").
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from crdcompat.compare.facets import facet_of_change
from crdcompat.manifests.edit import Setting, apply_settings
from crdcompat.schema.enums import member_key
from crdcompat.schema.listed import with_values
from crdcompat.schema.paths import node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.sources.encoding import is_wide, legible
from crdcompat.vocabulary import Direction, Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.compare.result import Judged
    from crdcompat.manifests.crdset import CrdSet
    from crdcompat.manifests.pairing import Chosen


def suggest_patch(judged: Iterable[Judged], old: CrdSet) -> str:
    """A unified diff over OLD's files; "" where nothing can be widened. Copies of a CRD are patched alike."""
    wanted: dict[str, dict[tuple[int, tuple[str | int, ...], str], Setting]] = {}
    for item in judged:
        if item.direction != Direction.ROLLBACK or item.effect != Effect.WRITE_REJECTED:
            continue
        places = [(chosen, standing) for standing in item.standings for chosen in standing.old.everywhere()]
        for chosen, standing in places:
            for setting in _settings(item, chosen, standing.new):
                key = (setting.index, setting.pointer, setting.keyword)
                settings = wanted.setdefault(chosen.document.file, {})
                settings[key] = _joined(settings[key], setting) if key in settings else setting
    texts = []
    for file, data in old.read(sorted(wanted)):
        text = legible(data)
        after = apply_settings(text, list(wanted[file].values()))
        before, now = (side.decode("utf-8").splitlines(keepends=True) for side in (text, after))
        texts += [f"# {file} is not in UTF-8: this is for its text, git apply does not take it\n"] * is_wide(data)
        texts += difflib.unified_diff(before, now, fromfile=f"a/{file}", tofile=f"b/{file}")
    return "".join(texts)


def _settings(item: Judged, chosen: Chosen, newer: Chosen) -> Iterator[Setting]:
    """What to set where: for an enum the missing values, for other keywords what NEW says."""
    change = item.change
    path = change.path[:-1] if change.kind.startswith("required.") else change.path
    old, new = (node_at(side.version.node, path) for side in (chosen, newer))
    if old is None or new is None or change.kind.startswith("type."):
        return
    inside = (*chosen.version.schema_pointer, *schema_pointer(path))
    document = chosen.document
    if change.kind == "enum.value-added":
        wanted = item.labels or change.added
        for pointer, members in _enums(old, inside):
            missing = _missing(wanted, members)
            if missing:
                yield Setting(document.index, (*document.pointer, *pointer), "enum", [*members, *missing])
        for index, members in old.listed:
            missing = _missing(wanted, members)
            if missing:
                at = (*document.pointer, *inside, "x-kubernetes-validations", index)
                yield Setting(document.index, at, "rule", with_values(old.rules[index]["rule"], missing))
        return
    if change.kind == "enum.dropped" and old.listed:
        lists = {index for index, _ in old.listed}
        rest = [rule for index, rule in enumerate(old.rules) if index not in lists]
        yield Setting(document.index, (*document.pointer, *inside), "x-kubernetes-validations", rest or ABSENT)
    if change.kind.startswith("required."):
        kept = [name for name in old.required if name != change.path[-1]]
        yield Setting(document.index, (*document.pointer, *inside), "required", kept or ABSENT)
        return
    for keyword in sorted(facet_of_change(change.kind).KEYWORDS):
        before, after = old.raw.get(keyword, ABSENT), new.raw.get(keyword, ABSENT)
        if before == after:
            continue
        both_ways = change.kind in ("pattern.changed", "multiple-of.changed", "junctor.changed")
        yield Setting(document.index, (*document.pointer, *inside), keyword, ABSENT if both_ways else after)


def _missing(wanted: tuple[object, ...], members: tuple[object, ...]) -> tuple[object, ...]:
    known = {member_key(member) for member in members}
    return tuple(value for value in wanted if member_key(value) not in known)


def _enums(node: Node, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], tuple[object, ...]]]:
    if node.enum:
        yield at, node.enum
    for index, branch in enumerate(node.all_of):
        yield from _enums(branch, (*at, "allOf", index))


def _joined(first: Setting, second: Setting) -> Setting:
    """Two findings that widen the same keyword: an enum takes the values of both, a required list loses both names."""
    if not isinstance(first.value, list) or not isinstance(second.value, list):
        return first if first.value is ABSENT else second
    if first.keyword == "required":
        kept = [name for name in first.value if name in second.value]
        return Setting(first.index, first.pointer, "required", kept or ABSENT)
    known = {member_key(member) for member in first.value}
    more = [member for member in second.value if member_key(member) not in known]
    return Setting(first.index, first.pointer, first.keyword, [*first.value, *more])

"""Who writes the value of a witness: an error needs a value that somebody writes.

A search finds some value for nearly each change. Controllers write what their code names: a member of an enum, a
default, a constant of the Go type, the zero value of a field without omitempty, a value in a test or sample. Only
rejections of status that could be errors are asked about: the severity of others does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from msgspec.structs import replace

from crdcompat.candidates.languages import finite_members
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import concrete
from crdcompat.cel.rule import ITEM as RULE_ITEM
from crdcompat.cel.rule import VALUE
from crdcompat.cel.uses import rule_of
from crdcompat.compare.budget import within
from crdcompat.compare.engine import Comparer
from crdcompat.compare.harm import freezes, shares_no_value
from crdcompat.compare.result import Judged, Occurrence
from crdcompat.compare.site import WriterReader
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.sample_objects import Seeds
from crdcompat.findings.rules import rule_for
from crdcompat.golang.go_fields import GoMember
from crdcompat.schema.answers import ANSWERS
from crdcompat.schema.listed_values import enum_members, member_key
from crdcompat.schema.paths import ITEM, SchemaPath, node_at, value_or_absent, with_value
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect, Owner, Severity
from crdcompat.vocabulary.judging import Harm, Named
from crdcompat.vocabulary.writes import Spared

#: Constants and seeds that are tried for one change.
_MAX_TRIED = 12
#: Kinds of change whose rejected value the schema of the writer names by itself.
_BY_KIND = {
    "enum.value-added": Named.ENUM,
    "enum.value-removed": Named.ENUM,
    "nullable.added": Named.NULL,
    "nullable.removed": Named.NULL,
    "type.changed": Named.TYPE,
    "shared-constraint.broken": Named.TYPE,
}
_REQUIRED = ("required.added", "required.removed")


def with_names(
    judged: Iterable[Judged], comparer: Comparer, old: CrdSet, new: CrdSet, seeds: Seeds
) -> Iterator[Judged]:
    """The judged changes of schemas, with what they take from every user, and who writes the rejected value."""
    for item in judged:
        if item.effect != Effect.WRITE_REJECTED or not isinstance(item.occurrences[0], Occurrence):
            yield item
            continue
        writer = new if item.direction == Direction.ROLLBACK else old
        yield within(comparer.budget, item, partial(_with_name, comparer=comparer, writer=writer, seeds=seeds))


def _with_name(item: Judged, comparer: Comparer, writer: CrdSet, seeds: Seeds) -> Judged:
    pair = comparer.pairs(item)[0]
    asked = partial(pair.question, item.change, item.direction)
    harms = ANSWERS.of("harms", asked, tuple[Harm, ...], lambda: tuple(_harms(item, pair)))
    harmed = replace(item, harms=harms)
    return _named(harmed, pair, comparer, writer, seeds) if _may_be_error(item) else harmed


def _may_be_error(item: Judged) -> bool:
    """Whether the severity of a change depends on who writes the value."""
    if item.change.owner != Owner.STATUS or item.doubtful or item.spared is Spared.VALUE:
        return False
    start = rule_for(item.change.kind).judge(item.direction, item.effect, item.change.owner)
    return start == Severity.ERROR and not all(each.terminal for each in item.occurrences)


def _harms(item: Judged, pair: WriterReader) -> Iterator[Harm]:
    if shares_no_value(item.change, pair):
        yield Harm.NO_COMMON_VALUE
    if freezes(item.change, item.direction, pair):
        yield Harm.FROZEN


def _named(item: Judged, pair: WriterReader, comparer: Comparer, writer: CrdSet, seeds: Seeds) -> Judged:
    if item.writer_default:
        return replace(item, named=Named.DEFAULT)
    path = _place(item)
    node = node_at(pair.writer.node, path)
    by_kind = _BY_KIND.get(item.change.kind)
    # A schema that takes values of every type names none of them.
    if by_kind is not None and not (item.change.kind == "type.changed" and _takes_any(node)):
        return replace(item, named=by_kind)
    if item.change.kind in _REQUIRED:
        return replace(item, named=_of_lack(item, pair, writer))
    value = value_or_absent(item.witness.object, concrete(path))
    if node is not None and value is not ABSENT and (by_schema := _by_schema(value, node)) is not None:
        return replace(item, named=by_schema)
    is_text = isinstance(value, str) and item.witness.object is not None
    member = _go_member(item, writer, path) if is_text else None
    reads = node_at(pair.reader.node, path) if path == item.change.path else None
    judge = NodeJudge(reads, pair.reader.server) if reads is not None else None
    for text, by_go in _texts(member):
        if judge is not None and judge.accepts(text):
            continue  # the whole object need not be tried
        found = comparer.shown_by(item, with_value(item.witness.object, concrete(path), text))
        if found is not None:
            return replace(found, named=by_go)
    written = (seed for seed in seeds.of(item) if not seed.is_refused)
    for seed in islice(written, _MAX_TRIED):
        found = comparer.shown_by(item, seed.object)
        if found is not None:
            return replace(found, named=Named.SAMPLE)
    return replace(item, named=Named.NOBODY)


def _place(item: Judged) -> SchemaPath:
    """Where the rejected value is: for rules on an object that read one of its members alone, this member."""
    if item.witness.at is not None or not item.change.kind.startswith("cel.rule-"):
        return item.witness.at or item.change.path
    rules = [rule_of(text) for text in (*item.change.added, *item.change.removed)]
    uses = {use for rule in rules if rule is not None for use in rule.uses}
    read = {use.place for use in uses if use.how == VALUE}
    place = next(iter(read)) if len(read) == 1 and None not in rules else ()
    is_alone = RULE_ITEM not in place and all(use.place == place[: len(use.place)] for use in uses)
    return (*item.change.path, *place) if is_alone else item.change.path


def _takes_any(node: Node | None) -> bool:
    return node is not None and not node.types


def _of_lack(item: Judged, pair: WriterReader, writer: CrdSet) -> Named:
    """Whether somebody leaves a field out that the reader requires."""
    *above, name = item.change.path
    holder = node_at(pair.reader.node, tuple(above[:-1])) if above and above[-1] is ITEM else None
    if holder is not None and name in holder.list_keys:
        return Named.KEY
    member = _go_member(item, writer, item.change.path)
    if member is None:
        return Named.OPTIONAL if item.direction == Direction.ROLLBACK else Named.NOBODY
    return Named.LEFT_OUT if member.may_be_left_out else Named.WRITTEN


def _go_member(item: Judged, writer: CrdSet, path: SchemaPath) -> GoMember | None:
    """What the writer's Go type says about the field at a path; None without Go sources."""
    types = writer.go.types
    occurrence = item.occurrences[0]
    if types is None or not isinstance(occurrence, Occurrence):
        return None
    chosen = occurrence.new if item.direction == Direction.ROLLBACK else occurrence.old
    crd = chosen.document.crd
    return types.member(crd.group, chosen.version.name, crd.kind, path)


def _texts(member: GoMember | None) -> Iterator[tuple[str, Named]]:
    """The texts that a controller with this Go type writes."""
    if member is None:
        return
    yield from ((text, Named.CONSTANT) for text in member.constants[:_MAX_TRIED])
    if member.is_text and not member.may_be_left_out:
        yield "", Named.ZERO


def _by_schema(value: Any, node: Node) -> Named | None:
    """Whether the schema itself names a value: in an enum or a pattern of few strings, as a default or boolean."""
    members = enum_members(node)
    if members is not None and member_key(value) in map(member_key, members):
        return Named.ENUM
    if node.default is not ABSENT and not isinstance(value, (dict, list)) and node.default == value:
        return Named.DEFAULT
    if isinstance(value, str) and value in (finite_members(node) or ()):
        return Named.PATTERN
    return Named.TYPE if isinstance(value, bool) else None

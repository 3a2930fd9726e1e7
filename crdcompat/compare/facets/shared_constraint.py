"""Constraints that both sides share, on members that they read differently.

Source: docs/semantics.md#enums-limits-and-formats.

A server validates the object after pruning, dropping nulls and defaulting, and CEL sees only members with a type. So an
unchanged rule, union or limit on the number of members may reject an object that the other release accepted, because
this server removed a member or added another by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.local import NodeJudge, as_read, defaulted, shape
from crdcompat.candidates.mentions import mentions
from crdcompat.candidates.sample import around, is_of_type, object_of_size, sample
from crdcompat.candidates.small_values import variants
from crdcompat.cel.rule import Place
from crdcompat.cel.uses import rule_of, uses_old
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, explains_below
from crdcompat.compare.reading import COUNTS, as_kept, reads_alike
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.equality import identical
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath
from crdcompat.schema.structural import ABSENT, PRESERVE, RULES, Node
from crdcompat.vocabulary import Direction, Effect

#: Other facets have the keywords used here and compare them where the two sides differ.
KEYWORDS: frozenset[str] = frozenset()
EFFECTS = {"shared-constraint.broken": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.WRITE_REJECTED,))}

_MEMBER_CONSTRAINTS = ("allOf", "anyOf", "oneOf", "not", "required")
_MAX_TRIALS, _MAX_MEMBERS = 2, 8
#: Lists, maps and objects inside of each other.
_MAX_DEPTH = 4


def changes(site: Site) -> Iterator[Change]:
    if site.reshaped:
        return
    shared = _shared(site.old, site.new)
    ways = (site.old, site.new), (site.new, site.old)
    affected = {key: value for key, value in shared.items() if not all(reads_alike(key, value, *way) for way in ways)}
    if affected:
        yield site.change("shared-constraint.broken", affected, affected, *affected)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values that the writer accepts and that, as the reader reads them, violate a shared constraint.

    There are none if the reader reads the members as the writer does, or if the rules hold for whatever the writer
    accepts: rules of a release may be about members that only the next one declares.
    """
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None or not isinstance(change.old, dict):
        return Trials((), complete=True)
    if not pair.reader.crd.prunes:
        reader = as_kept(writer, reader)
    elif not pair.writer.crd.prunes:
        writer = Node({**writer.raw, PRESERVE: True})
    shows_bare = all(side.server.does("cel_bare_objects") for side in (pair.writer, pair.reader))
    affected = {
        key: value
        for key, value in change.old.items()
        if not reads_alike(key, value, writer, reader, shows_bare=shows_bare)
    }
    sides = (writer, pair.writer.server), (reader, pair.reader.server)
    root = not change.path
    rules = [rule for rule in affected.pop(RULES, ()) if _may_break(str(rule.get("rule")), *sides, root=root)]
    if not affected and not rules:
        return Trials((), complete=True)
    bare, constraint = shape(reader.raw), Node(change.old)
    made = ValidValues(pair.writer.server)
    modelled = _modelled(Node({**affected, RULES: rules}), writer, (reader, pair.reader.server), made)
    mine = NodeJudge(writer, pair.writer.server)
    shape_judge, constraint_judge = (
        NodeJudge(Node(bare), pair.reader.server),
        NodeJudge(Node({**bare, **change.old}), pair.reader.server),
    )
    read_values = (
        (value, as_read(defaulted(value, writer), reader))
        for value in chain(modelled, _candidates(writer, reader, constraint, made))
    )
    broken = (
        value
        for value, read in read_values
        if not constraint_judge.accepts(read) and shape_judge.accepts(read) and mine.accepts(value)
    )
    return Trials(tuple(Trial(value, change.path) for value in islice(broken, _MAX_TRIALS)))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    """Whether the node's own rules, unions, or limits on its members reject the value."""
    shared = observed.change.old
    texts = {str(rule.get("rule")).strip() for rule in shared.get(RULES, ())}
    own = (Keyword(keyword) for keyword in shared if keyword not in (RULES, "required"))
    return (
        observed.breaks(*own)
        or observed.breaks_a_rule(texts)
        or any(
            error.keyword is Keyword.REQUIRED and error.pointer[:-1] == observed.pointer
            for error in observed.verdict.errors
            if "required" in shared
        )
    )


def _may_break(rule: str, writer: tuple[Node, Server], reader: tuple[Node, Server], *, root: bool) -> bool:
    """Whether a rule of both sides may reject an object of the writer.

    No cluster has a CRD with a rule about an undeclared member: servers refuse it, also as an update of another one.
    """
    from crdcompat.compare.equivalence.effective import always_holds  # it loads the CEL library

    return not _names_undeclared(rule, reader[0], root=root) and not always_holds(rule, writer, reader, root=root)


def _names_undeclared(rule: str, node: Node, *, root: bool) -> bool:
    read = rule_of(rule)
    return read is not None and any(_is_undeclared(place, View(node, resource=root)) for place in read.places)


def _is_undeclared(place: Place, view: View) -> bool:
    for name in place:
        if view.kind != "object":
            return False
        member = next((each for each in view.members().values() if each.original == name), None)
        if member is None:
            return True
        view = member.view
    return False


def _shared(old: Node, new: Node) -> dict[str, Any]:
    """The constraints that both sides have, with the rules that both have."""
    shared = {
        keyword: old.raw[keyword]
        for keyword in (*COUNTS, *_MEMBER_CONSTRAINTS)
        if keyword in old.raw and identical(old.raw[keyword], new.raw.get(keyword))
    }
    theirs = {str(rule.get("rule")) for rule in new.rules}
    rules = [rule for rule in old.rules if str(rule.get("rule")) in theirs and not uses_old(rule.get("rule"))]
    return {**shared, **({RULES: rules} if rules else {})}


def _modelled(constraint: Node, writer: Node, reader: tuple[Node, Server], made: ValidValues) -> Iterator[Any]:
    """Values that counter-models make."""
    from crdcompat.compare.equivalence.effective import breaking  # it loads the CEL library

    yield from (found["self"] for found in breaking(constraint, writer, reader, made))


def _candidates(writer: Node, reader: Node, constraint: Node, made: ValidValues) -> Iterator[Any]:
    if writer.type == "object":
        yield from _objects(writer, reader, constraint, made)
    yield from (value for value in _with_added_defaults(writer, reader) if value is not ABSENT)
    yield from variants(writer, constraint)


def _objects(writer: Node, reader: Node, constraint: Node, made: ValidValues) -> Iterator[dict[str, Any]]:
    """Objects of the members that the reader reads differently."""
    base = sample(writer)
    base = base if isinstance(base, dict) else {}
    members: dict[str, Any] = {}
    for name, mine in writer.properties.items():
        theirs = reader.properties.get(name)
        if theirs is None or not identical(mine.raw, theirs.raw):
            members[name] = None if mine.nullable else made(mine) if mine.rules else sample(mine)
    if writer.preserve and not reader.preserve:
        named = (mention.member[0] for mention in mentions(constraint) if mention.member)
        undeclared = (*constraint.required, *named, "crdcompatUnknown", "crdcompatOther")
        members |= {name: "a" for name in undeclared if name not in members and name not in writer.properties}
    there = {name: value for name, value in islice(members.items(), _MAX_MEMBERS) if value is not ABSENT}
    if isinstance(writer.additional, Node):
        held = None if writer.additional.nullable else sample(writer.additional)
        yield from ({f"key{at}": held for at in range(size)} for size in (1, 2, 3) if held is not ABSENT)
    sizes = (constraint.count(keyword) for keyword in COUNTS)
    sized = [object_of_size(writer, size) for size in sizes if size is not None]
    yield from (value for value in sized if isinstance(value, dict))
    yield from ({**around, name: value} for name, value in there.items() for around in ({}, base))


def _with_added_defaults(writer: Node, reader: Node) -> Iterator[Any]:
    """Values of ``writer`` to which ``reader`` adds a default at any depth.

    A rule may ask for another member beside it, or compare the two: so the other member has the value of the default,
    too. Formulas (`equivalence/of_writer`) cover such defaults but in values of maps (``self.m[key]``), in two items
    that a rule compares, and in items of which a junctor states something.
    """
    for path, holder, name, default in _defaulting(writer, reader, ()):
        plain = sample(holder)
        if not isinstance(plain, dict) or name in plain:
            continue
        yield around(writer, path, plain)
        if path[-1:] == (ITEM,):  # two items that the default makes equal
            yield around(writer, path[:-1], [plain, {**plain, name: default}])
        for other, member in holder.properties.items():
            if other != name and is_of_type(default, member):
                yield around(writer, path, {**plain, other: default})


def _defaulting(writer: Node, reader: Node, path: SchemaPath) -> Iterator[tuple[SchemaPath, Node, str, Any]]:
    """The places of objects that only the reader adds a default to: path, the writer's node, member, default."""
    for name, theirs in reader.properties.items():
        mine = writer.properties.get(name)
        if theirs.default is not ABSENT and (mine is None or mine.default is ABSENT):
            yield path, writer, name, theirs.default
        if mine is not None and len(path) < _MAX_DEPTH:
            yield from _defaulting(mine, theirs, (*path, name))
    elements = (ITEM, writer.items, reader.items), (VALUE, writer.additional, reader.additional)
    for step, held, read in elements:
        if isinstance(held, Node) and isinstance(read, Node) and len(path) < _MAX_DEPTH:
            yield from _defaulting(held, read, (*path, step))


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, looks_below=True, explains=explains_below)

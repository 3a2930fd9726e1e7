"""The effective constraints of two schemas: whether a constraint of one follows from constraints of the other.

A constraint may move between a keyword, a rule at the same node, and a rule or junctor of a node above. So the reader's
constraint is compared with all that the writer states about the same values. Both are formulas about the object, or
about the value of a map below which the change is; what is stated of the items of a list becomes "each".

A proof needs that both sides read the same: each value that takes part has the same type, default and so on, on both
sides, and is not nullable: servers apply neither keywords nor rules to null. So below a nullable value the formulas are
about that value alone, where it is not null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.cel.environment import lacks
from crdcompat.apiserver.cel.rules import program
from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.versions import Server
from crdcompat.cel.parse import RefusedError
from crdcompat.cel.rule import uses_old
from crdcompat.compare.changes import Change
from crdcompat.compare.equivalence.alike import declared, prunes, reads_alike
from crdcompat.compare.equivalence.connectives import each, every, fact, has, opposite, some
from crdcompat.compare.equivalence.entailment import entails
from crdcompat.compare.equivalence.formula import (
    TRUE,
    Formula,
    Kind,
    Path,
    Quantified,
    TooComplexError,
    atoms_in,
    conjuncts,
)
from crdcompat.compare.equivalence.keywords import distinct_items, keywords_of, member_path
from crdcompat.compare.equivalence.rules import OLD, truth_of_rule
from crdcompat.compare.registry import facet_of
from crdcompat.compare.site import WriterReader
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath, node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, RULES, Node, Schema
from crdcompat.vocabulary import Direction

_JUNCTORS = frozenset({"allOf", "anyOf", "oneOf", "not"})
#: Keywords whose constraint junctors may state, too.
_SHARED = frozenset({"enum", "pattern", "minLength", "maxLength"})
#: Statements of the writer that one proof uses.
_MAX_PREMISES = 80


def follows(change: Change, direction: Direction, pair: WriterReader) -> bool:
    """Whether the writer's constraints provably entail the reader's, of those that ``change`` is about."""
    try:
        return _follows(change, direction, pair, facet_of(change.kind).keywords)
    except (TooComplexError, RecursionError, RefusedError):
        return False


def always_holds(rule: str, writer: tuple[Node, Server], reader: tuple[Node, Server], *, root: bool) -> bool:
    """Whether a rule of the reader's node is provably true for every value of the writer's, and every update of one.

    A release that adds a member often adds rules about it: objects of the other release lack the member. ``root``: the
    nodes are the roots of their schemas.
    """
    mine, theirs = (
        _Scope(not_null, View(not_null, resource=root), server, 0 if root else 1)
        for node, server in (writer, reader)
        if (not_null := _not_null(node)) is not None
    )
    if any(not side.server.does("cel_bare_objects") and side.node.anywhere(_is_bare) for side in (mine, theirs)):
        return False  # such a server may refuse to evaluate rules
    try:
        wanted = _rule({"rule": rule}, ("self",), theirs.view, theirs.server, of_updates=True)
        return wanted is not None and _entailed(wanted, mine, theirs)
    except (TooComplexError, RecursionError, RefusedError):
        return False


def _is_bare(schema: Schema) -> bool:
    """Whether a schema is of objects of which nothing is described."""
    return schema.get("type") == "object" and not View(Node(schema)).described


def _follows(change: Change, direction: Direction, pair: WriterReader, keywords: frozenset[str]) -> bool:
    path = change.path[:-1] if keywords == {"required"} else change.path
    at = change.old_at if direction == Direction.ROLLBACK else change.new_at
    if not keywords or at[: len(schema_pointer(path))] != schema_pointer(path):
        return False  # in a branch of a junctor above
    scopes = _scopes(path, pair)
    if scopes is None:
        return False
    reader, writer = scopes
    wanted = _wanted(change, direction, reader, path[reader.depth :], keywords)
    return wanted is not None and wanted != TRUE and _entailed(wanted, writer, reader)


class _Scope(Struct, frozen=True):
    """What formulas are about: the object, a value of a map, or a nullable value that is not null.

    ``depth``: the steps from the root of the schema.
    """

    node: Node
    view: View
    server: Server
    depth: int


class _Place(Struct, frozen=True):
    """A value in a scope, and the lists around it, each with the variable of its items."""

    path: Path
    lists: tuple[tuple[Path, str], ...]

    def lifted(self, formula: Formula) -> Formula:
        """The formula about the value as one about the scope: if there is a value, it is true for each item."""
        found = some(opposite(has(self.path)), formula)
        for holder, variable in reversed(self.lists):
            found = some(opposite(has(holder)), each(holder, variable, found))
        return found


def _scopes(path: SchemaPath, pair: WriterReader) -> tuple[_Scope, _Scope] | None:
    """The scopes of the reader and the writer for a path; None if it is not in both schemas, or nullable in one."""
    sides = pair.reader, pair.writer
    nodes = [[node_at(side.node, path[:depth]) for side in sides] for depth in range(len(path) + 1)]
    nullable = [[node is not None and node.nullable for node in both] for both in nodes]
    if any(one != other for one, other in nullable):
        return None
    depth = max(index for index in range(len(nodes)) if not index or path[index - 1] is VALUE or nullable[index][0])
    found = [
        _Scope(node, View(node, resource=depth == 0), side.server, depth)
        for node, side in zip(map(_not_null, nodes[depth]), sides, strict=True)
        if node is not None
    ]
    return (found[0], found[1]) if len(found) == len(sides) else None


def _not_null(node: Node | None) -> Node | None:
    """A node without null among its values."""
    if node is None or not node.nullable:
        return node
    return Node({keyword: value for keyword, value in node.raw.items() if keyword != "nullable"})


def _place(path: SchemaPath, variable: str = "self") -> _Place:
    here: Path = (variable,)
    lists: list[tuple[Path, str]] = []
    for step in path:
        if step is ITEM:
            variable = f"#{len(lists)}"
            lists.append((here, variable))
            here = (variable,)
        else:
            here = member_path(here, str(step))
    return _Place(here, tuple(lists))


def _wanted(
    change: Change, direction: Direction, reader: _Scope, path: SchemaPath, keywords: frozenset[str]
) -> Formula | None:
    """What the reader states by the keywords that the change is about; None if it cannot be read."""
    node = node_at(reader.node, path)
    if node is None:
        return None
    place, view = _place(path), View(node, resource=reader.view.resource and not path)
    if keywords == {"required"}:
        return place.lifted(has(member_path(place.path, str(change.path[-1]))))
    if keywords == {RULES}:
        rules = change.old if direction == Direction.ROLLBACK else change.new
        found = [_rule(rule, place.path, view, reader.server, of_updates=not place.lists) for rule in rules or ()]
        stated = [formula for formula in found if formula is not None]
        return every(*map(place.lifted, stated)) if len(stated) == len(found) else None
    keywords |= _JUNCTORS if keywords & _SHARED else frozenset()
    junctors = Node({keyword: node.raw[keyword] for keyword in _JUNCTORS & keywords if keyword in node.raw})
    if junctors.anywhere(lambda schema: RULES in schema):
        return None  # a server evaluates rules in allOf, or not, by its version
    parts = [keywords_of(node, place.path, node, view, reader.server, keywords)]
    if "enum" in keywords:
        listing = [_rule(node.rules[index], place.path, view, reader.server) for index, _ in node.listed]
        parts += [formula for formula in listing if formula is not None]
    return every(*(place.lifted(part) for formula in parts for part in conjuncts(formula)))


def _entailed(wanted: Formula, writer: _Scope, reader: _Scope) -> bool:
    """Whether what the writer states entails what the reader wants of the value as it reads it."""
    return entails(_premises(wanted, writer, reader), wanted, {"self": reader.view, OLD: reader.view})


def _premises(wanted: Formula, writer: _Scope, reader: _Scope) -> list[Formula]:
    """What the writer states about the values that ``wanted`` reads, as far as both sides read them alike.

    Of the stored object of an update it is only assumed that the writer has pruned it.
    """
    about = {path[:length] for path in wanted.paths() for length in range(1, len(path) + 1)}
    found: dict[Formula, None] = {}
    for variable in ("self", OLD):
        read = set(_schema_paths(wanted, {variable: ()}, reader.node))
        for path in sorted({full[:length] for full in read for length in range(len(full) + 1)}, key=repr):
            node = node_at(writer.node, path)
            if node is None:
                continue
            place, view = _place(path, variable), View(node, resource=writer.view.resource and not path)
            stated = [*_of_others(node, node_at(reader.node, path), place, resource=view.resource)]
            if variable == "self":
                stated = [*_stated(node, place, view, writer.server), *stated]
            parts = (part for formula in stated for part in conjuncts(formula) if not about.isdisjoint(part.paths()))
            found.update((place.lifted(part), None) for part in parts)
    roots = dict.fromkeys(("self", OLD), (writer.node, reader.node))
    alike = [formula for formula in found if formula != TRUE and reads_alike(formula, roots)]
    return alike[:_MAX_PREMISES]


def _stated(node: Node, place: _Place, view: View, server: Server) -> Iterator[Formula]:
    """The formulas of the writer's node: of keywords, rules, distinct items, and members that a default adds."""
    yield keywords_of(node, place.path, node, view, server)
    yield distinct_items(place.path, node)
    if view.resource:
        needed = ("apiVersion",), ("kind",), *([("metadata", "name")] if place.path == ("self",) else [])
        yield every(*(has((*place.path, *names)) for names in needed))
    for name, member in node.properties.items():
        if member.default is not ABSENT:
            yield has(member_path(place.path, name))
    for rule in node.rules:
        formula = _rule(rule, place.path, view, server)
        if formula is not None:
            yield formula


def _of_others(writer: Node, reader: Node | None, place: _Place, *, resource: bool) -> Iterator[Formula]:
    """Members that only the reader declares: they are absent, or have the reader's default."""
    for name, member in reader.properties.items() if reader is not None else ():
        if name not in writer.properties and prunes(writer, name, resource=resource):
            path, default = member_path(place.path, name), member.default
            yield has(path) if default is not ABSENT else opposite(has(path))
            if View(member).kind in ("string", "boolean", "integer") and isinstance(default, str | int):
                yield fact(Kind.EQUAL, path, default)


def _rule(rule: dict[str, Any], path: Path, view: View, server: Server, *, of_updates: bool = False) -> Formula | None:
    """When a rule accepts a value; None if the server cannot evaluate it.

    A rule that judges updates is read only with ``of_updates``, and not if it judges new values, too.
    """
    text = str(rule.get("rule", ""))
    if uses_old(text) and (not of_updates or rule.get("optionalOldSelf") is True):
        return None
    if not server.does("cel") or lacks(server, program(text).functions):
        return None
    found = truth_of_rule(text, path, view.node, resource=view.resource)
    return None if found is None else found.true


def _schema_paths(formula: Formula, roots: Mapping[str, SchemaPath], scope: Node) -> Iterator[SchemaPath]:
    """The paths of the schema that a formula reads, inside of atoms, too."""
    for atom in atoms_in(formula):
        for path in atom.paths():
            if path[0] in roots:
                yield (*roots[path[0]], *_names(path, node_at(scope, roots[path[0]])))
        if isinstance(atom.value, Quantified) and atom.path[0] in roots:
            start = roots[atom.path[0]]
            holder = (*start, *_names(atom.path, node_at(scope, start)), ITEM)
            yield from _schema_paths(atom.value.formula, {**roots, atom.value.variable: holder}, scope)


def _names(path: Path, node: Node | None) -> tuple[str, ...]:
    """The names of the members on a path, as the schema writes them, as far as it declares them."""
    names: list[str] = []
    for step in path[1:]:
        name = declared(node, step)
        if node is None or name is None:
            break
        names.append(name)
        node = node.properties[name]
    return tuple(names)

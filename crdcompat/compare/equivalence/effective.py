"""The effective constraints of two schemas: whether a constraint of one follows from constraints of the other.

A constraint may move between a keyword, a rule at the same node, and a rule or junctor of a node above. So the reader's
constraint is compared with all that the writer states about the same values. Both are formulas about the object, or
about the value of a map below which the change is; what is stated of the items of a list becomes "each".

A proof needs that both sides read the same: each value that takes part has the same type, default and so on, on both
sides, and is not nullable: servers apply neither keywords nor rules to null. So below a nullable value the formulas are
about that value alone, where it is not null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.valid_lists import Maker
from crdcompat.cel.parse import RefusedError
from crdcompat.cel.uses import uses_old
from crdcompat.compare.changes import Change
from crdcompat.compare.equivalence.connectives import every, has, opposite, some
from crdcompat.compare.equivalence.counterexamples import counterexamples, is_understood
from crdcompat.compare.equivalence.entailment import FEW, MANY, entails
from crdcompat.compare.equivalence.formula import TRUE, Formula, TooComplexError, conjuncts
from crdcompat.compare.equivalence.keyword_formulas import keywords_of, member_path
from crdcompat.compare.equivalence.of_writer import as_stored
from crdcompat.compare.equivalence.premises import Place, Scope, formula_of_rule, not_null, place_of, premises, stated
from crdcompat.compare.equivalence.rule_formulas import OLD
from crdcompat.compare.registry import facet_of
from crdcompat.compare.site import WriterReader
from crdcompat.schema.paths import VALUE, SchemaPath, node_at, schema_pointer, with_value
from crdcompat.schema.structural import RULES, Node, Schema
from crdcompat.vocabulary import Direction

_JUNCTORS = frozenset({"allOf", "anyOf", "oneOf", "not"})
#: What makes an int-or-string; controller-gen writes both.
_INT_OR_STRING = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
#: Keywords whose constraint junctors may state, too.
_SHARED = frozenset({"enum", "pattern", "minLength", "maxLength"})


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
        Scope(held, View(held, resource=root), server, 0 if root else 1)
        for node, server in (writer, (as_stored(reader[0], writer[0]), reader[1]))
        if (held := not_null(node)) is not None
    )
    if any(not side.server.does("cel_bare_objects") and side.node.anywhere(_is_bare) for side in (mine, theirs)):
        return False  # such a server may refuse to evaluate rules
    try:
        wanted = formula_of_rule({"rule": rule}, Place(("self",), ()), theirs.view, theirs.server, of_updates=True)
        return wanted is not None and _entailed(wanted, mine, theirs, FEW)
    except (TooComplexError, RecursionError, RefusedError):
        return False


def excludes(holder: Node, member: str, value: Any, server: Server) -> bool:
    """Whether no object of a node provably has this value, which is not null, as its member."""
    below, path = holder.child(member), member_path(("self",), member)
    if below is None or value is None:
        return False
    scope = Scope(holder, View(holder), server, 0)
    try:
        equal = keywords_of(Node({"enum": [value]}), path, below, View(below), server)
        return _entailed(some(opposite(has(path)), opposite(equal)), scope, scope, FEW)
    except (TooComplexError, RecursionError, RefusedError):
        return False


def breaking(restricting: Node, writer: Node, reader: tuple[Node, Server], made: Maker) -> Iterator[dict[str, Any]]:
    """Values of ``writer`` that may break one of the rules and junctors of ``restricting``, as the reader reads them.

    Those of updates have a stored value, too.
    """
    server = reader[1]
    mine, theirs = (Scope(node, View(node), server, 1) for node in (writer, as_stored(reader[0], writer)))

    def of_item(node: Node, variable: str) -> Iterator[Formula]:
        return stated(node, Place((variable,), ()), View(node), server)

    def against(wanted: Formula | None, nodes: dict[str, Node]) -> Iterator[dict[str, Any]]:
        if wanted is not None and is_understood(wanted):
            yield from counterexamples((*premises(wanted, mine, theirs), opposite(wanted)), nodes, made, of_item)

    try:
        read = keywords_of(restricting, ("self",), theirs.node, theirs.view, server, _JUNCTORS)
        for part in conjuncts(read):
            yield from against(part, {"self": writer})
        for rule in restricting.rules:
            nodes = {"self": writer, **({OLD: writer} if uses_old(rule.get("rule")) else {})}
            yield from against(formula_of_rule(rule, Place(("self",), ()), theirs.view, server, of_updates=True), nodes)
    except (TooComplexError, RecursionError, RefusedError):
        return


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
    wanted = _wanted(change, direction, reader, writer, path[reader.depth :], keywords)
    if wanted is None or wanted == TRUE:
        # Nothing breaks such rules and junctors; other keywords may say more than is read of them.
        return wanted is not None and keywords <= {RULES, *_JUNCTORS}
    return _entailed(wanted, writer, reader)


def _scopes(path: SchemaPath, pair: WriterReader) -> tuple[Scope, Scope] | None:
    """The scopes of the reader and the writer for a path; None if it is not in both schemas, or nullable in one."""
    sides = pair.reader, pair.writer
    nodes = [[node_at(side.node, path[:depth]) for side in sides] for depth in range(len(path) + 1)]
    nullable = [[node is not None and node.nullable for node in both] for both in nodes]
    if any(one != other for one, other in nullable):
        return None
    depth = max(index for index in range(len(nodes)) if not index or path[index - 1] is VALUE or nullable[index][0])
    found = [
        Scope(node, View(node, resource=depth == 0), side.server, depth)
        for node, side in zip(map(not_null, nodes[depth]), sides, strict=True)
        if node is not None
    ]
    return _of_one_type(found[0], found[1], path[depth:]) if len(found) == len(sides) else None


def _of_one_type(reader: Scope, writer: Scope, path: SchemaPath) -> tuple[Scope, Scope]:
    """The scopes, with an int-or-string at ``path`` read as the other side's type: it takes no other values."""
    nodes = [node_at(reader.node, path), node_at(writer.node, path)]
    if all(node is None or not node.int_or_string for node in nodes):
        return reader, writer
    other = next((node.type for node in nodes if node is not None and not node.int_or_string), "")
    if other not in ("integer", "string"):
        return reader, writer
    narrowed = [
        _narrowed(side, node, path, other) if node is not None and node.int_or_string else side
        for side, node in zip((reader, writer), nodes, strict=True)
    ]
    return narrowed[0], narrowed[1]


def _narrowed(scope: Scope, node: Node, path: SchemaPath, of_type: str) -> Scope:
    kept = {key: value for key, value in node.raw.items() if _INT_OR_STRING.get(key) != value}
    made = Node(with_value(scope.node.raw, schema_pointer(path), {**kept, "type": of_type}))
    return Scope(made, View(made, resource=scope.view.resource), scope.server, scope.depth)


def _wanted(
    change: Change, direction: Direction, reader: Scope, writer: Scope, path: SchemaPath, keywords: frozenset[str]
) -> Formula | None:
    """What the reader states by the keywords that the change is about; None if it cannot be read."""
    node = node_at(reader.node, path)
    if node is None:
        return None
    place, view = place_of(path), View(node, resource=reader.view.resource and not path)
    if keywords == {"required"}:
        return place.lifted(has(member_path(place.path, str(change.path[-1]))))
    if keywords == {RULES}:
        rules = change.old if direction == Direction.ROLLBACK else change.new
        view = View(as_stored(node, node_at(writer.node, path)), resource=view.resource)
        found = [formula_of_rule(rule, place, view, reader.server, of_updates=True) for rule in rules or ()]
        stated = [formula for formula in found if formula is not None]
        return every(*map(place.lifted, stated)) if len(stated) == len(found) else None
    keywords |= _JUNCTORS if keywords & _SHARED else frozenset()
    junctors = Node({keyword: node.raw[keyword] for keyword in _JUNCTORS & keywords if keyword in node.raw})
    if junctors.anywhere(lambda schema: RULES in schema):
        return None  # a server evaluates rules in allOf, or not, by its version
    parts = [keywords_of(node, place.path, node, view, reader.server, keywords)]
    if "enum" in keywords:
        listing = [formula_of_rule(node.rules[index], place, view, reader.server) for index, _ in node.listed]
        parts += [formula for formula in listing if formula is not None]
    return every(*(place.lifted(part) for formula in parts for part in conjuncts(formula)))


def _entailed(wanted: Formula, writer: Scope, reader: Scope, most: int = MANY) -> bool:
    """Whether what the writer states entails what the reader wants of the value as it reads it."""
    views = {"self": reader.view, OLD: reader.view}
    near = premises(wanted, writer, reader)
    if entails(near, wanted, views, most=most):
        return True
    more = premises(wanted, writer, reader, wide=True)  # a search among many can give up where few are enough
    return len(more) > len(near) and entails(more, wanted, views, most=most)

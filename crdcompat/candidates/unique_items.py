"""Items of a list that are distinct, as list types and rules state it.

A release may replace a list type by a rule, or a rule by a list type: ``self.all(x, self.exists_one(y, x == y))`` is
what ``x-kubernetes-list-type: set`` says.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.cel.views import View
from crdcompat.candidates.local import shape
from crdcompat.cel.syntax import Expr, macro
from crdcompat.cel.uses import rule_of
from crdcompat.schema.structural import ABSENT, Node

#: The members that no two items share all of; WHOLE: no two items are equal.
Keys = frozenset[str]
WHOLE: Keys = frozenset()

_TYPE = "x-kubernetes-list-type"
#: Values of these CEL types are equal in rules only if they are the same JSON value.
_PLAIN = frozenset({"string", "integer", "boolean"})
#: The name of an item as a whole, among those of its members.
_WHOLE_ITEM = ""
#: Comparisons with the number of equal items, which counts the item itself: no other item, and another one.
_ONLY_ITSELF = frozenset({("_==_", 1), ("_<=_", 1), ("_<_", 2)})
_ANOTHER = frozenset({("_!=_", 1), ("_>_", 1), ("_>=_", 2)})


def never_repeats(writer: Node, reader: Node) -> bool:
    """Whether no list of the writer has items that the list type of the reader calls duplicates."""
    wanted = frozenset(reader.list_keys) if reader.list_type == "map" else WHOLE
    return _is_short(writer) or any(
        _implies(keys, wanted) and _keeps(keys, writer, reader) for keys in (*_of_type(writer), *_of_rules(writer))
    )


def keeps_rule(rule: str, writer: Node, reader: Node) -> bool:
    """Whether a rule of the reader only asks for distinct items, as every list of the writer has; False if not known.

    A rule compares what CEL makes of values: two durations of different texts may be equal. It is an error where an
    item lacks a member that the rule compares.
    """
    wanted = _keys_of(rule, reader)
    if wanted is None or writer.items is None or not all(_is_there(writer.items, key) for key in wanted):
        return False
    return any(
        _implies(keys, wanted) and _compares_as_json(keys, reader) and _keeps(keys, writer, reader)
        for keys in (*_of_type(writer), *_of_rules(writer))
    )


def with_stated_type(node: Node) -> Node:
    """A list without a type, with the type that its rules state: made items have to be distinct."""
    keys = next(_of_rules(node), None) if node.list_type == "atomic" else None
    if keys is None:
        return node
    stated = {_TYPE: "set"} if keys == WHOLE else {_TYPE: "map", "x-kubernetes-list-map-keys": sorted(keys)}
    return Node({**node.raw, **stated})


def _is_short(node: Node) -> bool:
    most = node.count("maxItems")
    return most is not None and most < 2


def _implies(keys: Keys, wanted: Keys) -> bool:
    """Items that differ in some of ``keys`` differ as a whole, and in any larger set of members."""
    return wanted == WHOLE or (keys != WHOLE and keys <= wanted)


def _of_type(node: Node) -> Iterator[Keys]:
    if node.list_type in ("set", "map"):
        yield frozenset(node.list_keys) if node.list_type == "map" else WHOLE


def _of_rules(node: Node) -> Iterator[Keys]:
    for rule in node.rules:
        if (keys := _keys_of(str(rule.get("rule", "")), node)) is not None:
            yield keys


def _is_there(items: Node, key: str) -> bool:
    """Whether each item has a member."""
    return key in items.properties and (key in items.required or items.properties[key].default is not ABSENT)


def _keeps(keys: Keys, writer: Node, reader: Node) -> bool:
    """Whether the reader neither prunes nor defaults what the writer's items differ in."""
    if writer.items is None or reader.items is None:
        return False
    if keys == WHOLE:
        return bool(shape(writer.items.raw) == shape(reader.items.raw))
    mine, theirs = writer.items.properties, reader.items.properties
    return all(key in mine and key in theirs and shape(mine[key].raw) == shape(theirs[key].raw) for key in keys)


def _compares_as_json(keys: Keys, node: Node) -> bool:
    """Whether rules call items different if they differ in ``keys`` as JSON."""
    if node.items is None:
        return False
    compared = [node.items] if keys == WHOLE else [node.items.properties.get(key) for key in keys]
    return all(each is not None and View(each).kind in _PLAIN for each in compared)


def _keys_of(rule: str, node: Node) -> Keys | None:
    """The members that a rule compares, if it says no more than that no two items share all of them; else None."""
    read = rule_of(rule) if node.items is not None else None
    if read is None or node.items is None:
        return None
    found = _compared(read.tree)
    if found is None or (_WHOLE_ITEM in found and len(found) > 1):
        return None
    if _WHOLE_ITEM in found:
        return WHOLE
    members = View(node.items).members() if View(node.items).kind == "object" else {}
    return frozenset(members[name].original for name in found) if found <= members.keys() else None


def _compared(tree: Expr) -> set[str] | None:
    """What a rule compares of the items, if it says no more than that no two of them are equal in it; else None."""
    repeated = _emptied(tree)
    if repeated is None and tree.kind == "call" and tree.name == "_==_":
        return _distinct(*tree.args) or _distinct(*reversed(tree.args))
    negated = repeated is not None or (tree.kind == "call" and tree.name == "!_")
    over = repeated or (tree.args[0] if negated else tree)
    outer = macro(over)
    wanted = "filter" if repeated else "exists" if negated else "all"
    if outer is None or outer[0] != wanted or not _is_self(over.over):
        return None
    counted = _counted(outer[1], _ANOTHER if negated else _ONLY_ITSELF, negated=negated)
    inner = macro(counted[1]) if counted is not None else None
    if counted is None or inner is None or inner[0] != counted[0] or not _is_self(counted[1].over):
        return None
    paths = [_member(each, {over.variables[0], counted[1].variables[0]}) for each in _conjuncts(inner[1])]
    found = {path for path in paths if path is not None}
    return found if len(found) == len(paths) else None


def _emptied(tree: Expr) -> Expr | None:
    """The list that has no item, by ``size(…) == 0``; None for other rules."""
    if tree.kind != "call" or tree.name != "_==_" or tree.args[1].value != 0:
        return None
    made = _sized(tree.args[0])
    return made if made is not None and made.kind == "fold" else None


def _distinct(left: Expr, right: Expr) -> set[str] | None:
    """What is compared by ``self.map(x, x.name).distinct().size() == self.size()``, or without ``map``; else None."""
    unlike, all_items = _sized(left), _sized(right)
    if unlike is None or not _is_self(all_items) or (unlike.kind, unlike.name) != ("call", "distinct"):
        return None
    items = unlike.target
    if _is_self(items):
        return {_WHOLE_ITEM}
    made = items.step.args[1:] if items is not None and items.step is not None and _is_self(items.over) else []
    if items is None or len(made) != 1 or made[0].kind != "list" or len(made[0].args) != 1:
        return None
    member = made[0].args[0]
    is_item = (member.kind, member.name) == ("ident", items.variables[0])
    return {_WHOLE_ITEM} if is_item else {member.name} if _is_member(member, items.variables[0]) else None


def _is_member(expr: Expr, variable: str) -> bool:
    of = expr.target
    return expr.kind == "select" and not expr.test_only and of is not None and (of.kind, of.name) == ("ident", variable)


def _sized(expr: Expr) -> Expr | None:
    """What ``size`` counts; None for other expressions."""
    if expr.kind != "call" or expr.name != "size":
        return None
    return expr.target if expr.target is not None else expr.args[0]


def _counted(body: Expr, counts: frozenset[tuple[str, int]], *, negated: bool) -> tuple[str, Expr] | None:
    """The macro that selects the equal items, and its name: the body itself, or what one of the ``counts`` counts."""
    if negated and body.kind == "call" and body.name == "!_":
        return ("exists_one", body.args[0])
    if not negated and body.kind == "fold":
        return ("exists_one", body)
    if body.kind != "call" or len(body.args) != 2 or (body.name, body.args[1].value) not in counts:
        return None
    counted = _sized(body.args[0])
    return ("filter", counted) if counted is not None and counted.kind == "fold" else None


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if expr.kind == "call" and expr.name == "_&&_":
        for each in expr.args:
            yield from _conjuncts(each)
    else:
        yield expr


def _member(expr: Expr, variables: set[str]) -> str | None:
    """The member that an equation compares of both variables, "" for the items as a whole; None for others."""
    if expr.kind != "call" or expr.name != "_==_" or len(variables) != 2:
        return None
    sides = [(each.name, each.target) if each.kind == "select" else ("", each) for each in expr.args]
    (name, first), (other, second) = sides
    named = [each.name for each in (first, second) if each is not None and each.kind == "ident"]
    plain = name == other and not any(each.test_only for each in expr.args)
    return name if plain and set(named) == variables else None


def _is_self(expr: Expr | None) -> bool:
    return expr is not None and (expr.kind, expr.name) == ("ident", "self")

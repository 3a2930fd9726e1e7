"""The intersection of two schemas: a node that describes values which both of them accept.

Example objects are built from it, so that they differ from what the reader accepts only at the change. It is a hint:
two keywords that cannot be merged keep the writer's value, and both servers judge every object.
"""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.local import NodeJudge
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.structural import PRESERVE, RULES, Node, Schema, mapping_of
from crdcompat.schema.work import WORK

_LOWER = ("minimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "maxLength", "maxItems", "maxProperties")
#: Keywords of which a schema has one, while allOf can hold more.
_SINGLE = ("pattern", "anyOf", "oneOf", "not", "multipleOf")
#: Keywords that the intersection has if either side has them; the writer's value counts.
_EITHER = ("format", "exclusiveMinimum", "exclusiveMaximum")
#: A node takes as much time as so many steps of other work.
_STEPS_OF_A_NODE = 5
_LIST, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def intersection(writer: Node, reader: Node, server: Server) -> Node:
    """The values of ``writer`` that ``reader`` accepts too, over the writer's members: the reader prunes the others.

    The members of a writer's object that preserves unknown fields are also those that the reader alone declares.

    A default of the writer that the intersection rejects is left out, and its member becomes required: an object has to
    set it. ``server`` judges the defaults.
    """
    return Node(_merged(writer.raw, reader.raw, server), writer.name)


def _merged(a: Schema, b: Schema, server: Server) -> Schema:
    if a == b or _kind(a) != _kind(b):
        return a
    WORK.spend(_STEPS_OF_A_NODE)
    made = dict(a)
    for keyword in (*_LOWER, *_UPPER):
        limits = [side[keyword] for side in (a, b) if isinstance(side.get(keyword), (int, float))]
        if limits:
            made[keyword] = max(limits) if keyword in _LOWER else min(limits)
    for keyword in _EITHER:
        if keyword in b:
            made.setdefault(keyword, b[keyword])
    all_of = [*_list(a, "allOf"), *(branch for branch in _list(b, "allOf") if branch not in _list(a, "allOf"))]
    for keyword in _SINGLE:
        if keyword in b and made.setdefault(keyword, b[keyword]) != b[keyword]:
            all_of.append({keyword: b[keyword]})
    rules = [*_list(a, RULES), *(rule for rule in _list(b, RULES) if rule not in _list(a, RULES))]
    made |= {keyword: value for keyword, value in (("allOf", all_of), (RULES, rules)) if value}
    if _list(b, "enum"):
        allowed = {member_key(member) for member in b["enum"]}
        made["enum"] = [member for member in _list(a, "enum") or b["enum"] if member_key(member) in allowed]
    if a.get("nullable") is True and b.get("nullable") is not True:
        del made["nullable"]
    if a.get(_LIST) in (None, "atomic"):
        made |= {keyword: b[keyword] for keyword in (_LIST, _KEYS) if keyword in b}
    _merge_below(made, a, b, server)
    return made


def _merge_below(made: Schema, a: Schema, b: Schema, server: Server) -> None:
    for keyword in ("items", "additionalProperties"):
        if isinstance(a.get(keyword), dict) and isinstance(b.get(keyword), dict):
            made[keyword] = _merged(a[keyword], b[keyword], server)
    mine, theirs = mapping_of(a.get("properties")), mapping_of(b.get("properties"))
    if a.get(PRESERVE) is True:
        mine = {**theirs, **mine}
    required = [name for name in _list(a, "required") if isinstance(name, str)]
    if mine:
        made["properties"] = members = dict(mine)
        for name in filter(theirs.__contains__, mine):
            if mine[name] != theirs[name]:
                members[name] = _without_wrong_default(mapping_of(mine[name]), mapping_of(theirs[name]), server)
                lost = "default" in mapping_of(mine[name]) and "default" not in members[name]
                required += [name] if lost else []
    theirs_required = [name for name in _list(b, "required") if isinstance(name, str)]
    wanted = (name for name in theirs_required if name in mine and "default" not in mapping_of(theirs.get(name)))
    required += wanted
    if required:
        made["required"] = list(dict.fromkeys(required))


def _without_wrong_default(a: Schema, b: Schema, server: Server) -> Schema:
    made = _merged(a, b, server)
    if "default" in made and not NodeJudge(Node(made), server).accepts(made["default"]):
        made = {keyword: value for keyword, value in made.items() if keyword != "default"}
    return made


def _kind(schema: Schema) -> tuple[Any, Any]:
    return schema.get("type"), schema.get("x-kubernetes-int-or-string")


def _list(schema: Schema, keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []

"""Decide by exhaustion whether a field can have a value, given its own keywords and its parent's junctors.

Junctors restrict a few sibling fields, mostly by enums and lengths. Where every such field has a small complete set of
cases, trying all combinations decides the question. Otherwise the answer is "not decided".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from crdcompat.apiserver.errors import FieldError, Unknown
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.apiserver.versions import Server
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import sample
from crdcompat.compare.scalars import scalar_cases
from crdcompat.schema.enums import enum_members
from crdcompat.schema.paths import ITEM, SchemaPath, node_at
from crdcompat.schema.structural import ABSENT, Node

_MAX_COMBINATIONS = 4096
_LENGTHS = frozenset({"minLength", "maxLength"})
#: Keywords of a member itself that may reject the string that represents others.
_NARROWING = frozenset({*_LENGTHS, "pattern", "format", "x-kubernetes-validations", "anyOf", "oneOf", "not", "allOf"})
#: Represents all strings that no branch names.
_OTHER_STRING = "zz-other"


def out_of_reach(root: Node, path: SchemaPath) -> bool:
    """Whether no object has a value at ``path``, because a list above it has ``maxItems: 0``."""
    lists = (node_at(root, path[:length]) for length, step in enumerate(path) if step is ITEM)
    return any(node is not None and node.count("maxItems") == 0 for node in lists)


def forbids(node: Node, value: Any, server: Server) -> bool:
    """Whether the field's own keywords and rules reject a value, in whatever object."""
    return not NodeJudge(node, server).accepts(value)


def cannot_hold(parent: Node, member: str, value: Any, server: Server) -> bool:
    """True if the junctors of ``parent`` reject every object with ``value`` at ``member``; False if not decided."""
    relevant = Node(_relevant(parent.raw, member))
    named: dict[str, list[Node]] = {}
    if not _collect(relevant, named) or member not in named:
        return False
    others = [name for name in named if name != member]
    domains = [_domain_of(parent, name, named[name]) for name in others]
    if any(domain is None for domain in domains) or prod(len(domain or ()) for domain in domains) > _MAX_COMBINATIONS:
        return False
    validator = SchemaValidator(relevant, server)
    for combination in product(*(domain or () for domain in domains)):
        candidate = {member: value}
        candidate.update((name, case) for name, case in zip(others, combination, strict=True) if case is not ABSENT)
        errors: list[FieldError] = []
        unknown: list[Unknown] = []
        validator.validate(candidate, None, None, errors, unknown)
        if not errors:
            return False
    return True


def holds_only(parent: Node, member: str, values: Sequence[Any], server: Server) -> bool:
    """True if the junctors of ``parent`` reject each object with another string at ``member``; False if not decided."""
    declared, named = parent.properties.get(member), dict[str, list[Node]]()
    if declared is None or declared.raw.keys() - {"type", "description", "default"}:
        return False
    if not _collect(Node(_relevant(parent.raw, member)), named) or member not in named:
        return False
    cases = _domain(declared, named[member])
    others = [case for case in cases or () if case is not ABSENT and case not in values]
    return bool(others) and all(cannot_hold(parent, member, case, server) for case in others)


def all_cases(writer: Node, reader: Node) -> list[Any] | None:
    """One value per case that the junctors of two nodes distinguish; None if not known.

    Objects are distinguished by the members that the junctors name.
    """
    if writer.type in ("string", "integer", "number"):
        return scalar_cases(writer, reader)
    named: dict[str, list[Node]] = {}
    if not (_collect(writer, named) and _collect(reader, named)):
        return None
    if not named:
        return None
    domains: dict[str, list[Any]] = {}
    for name, constraints in named.items():
        domain = _domain_of(writer, name, constraints)
        if domain is None:
            return None
        domains[name] = domain
    if prod(map(len, domains.values())) > _MAX_COMBINATIONS:
        return None
    base = sample(writer)
    if not isinstance(base, dict):
        return None
    plain = {name: value for name, value in base.items() if name not in domains}
    return [
        plain | {name: case for name, case in zip(domains, combination, strict=True) if case is not ABSENT}
        for combination in product(*domains.values())
    ]


def _relevant(raw: dict[str, Any], member: str) -> dict[str, Any]:
    """The junctors of a schema that mention ``member``. Values that they reject stay rejected with the others."""
    kept: dict[str, Any] = {}
    for keyword in ("anyOf", "oneOf", "not"):
        if keyword in raw and _mentions(raw[keyword], member):
            kept[keyword] = raw[keyword]
    if isinstance(raw.get("allOf"), list):
        kept["allOf"] = [branch for branch in raw["allOf"] if _mentions(branch, member)]
    return kept


def _mentions(value: Any, member: str) -> bool:
    if isinstance(value, list):
        return any(item == member if isinstance(item, str) else _mentions(item, member) for item in value)
    return isinstance(value, dict) and any(key == member or _mentions(item, member) for key, item in value.items())


def _collect(node: Node, named: dict[str, list[Node]]) -> bool:
    """Collect the branch schemas per member; False where a branch has keywords that this reasoning does not cover."""
    for branch in node.junctor_branches():
        if branch.raw.keys() - {"properties", "required", "allOf", "anyOf", "oneOf", "not", "description"}:
            return False
        for name in branch.required:
            named.setdefault(name, [])
        for name, sub in branch.properties.items():
            named.setdefault(name, []).append(sub)
        if not _collect(branch, named):
            return False
    return True


def _domain_of(parent: Node, name: str, constraints: list[Node]) -> list[Any] | None:
    """One value per case of a member that the constraints distinguish, ABSENT included; None if not known."""
    declared = parent.properties.get(name)
    if declared is not None:
        return _domain(declared, constraints)
    # Undeclared members are pruned, unless the parent preserves unknown fields.
    return None if parent.preserve or parent.additional is not None else [ABSENT]


def _domain(declared: Node, constraints: list[Node]) -> list[Any] | None:
    if not constraints:  # only whether the member is there counts
        made = sample(declared)
        return None if made is ABSENT else [ABSENT, made]
    if declared.type != "string" or declared.nullable or declared.raw.keys() & _NARROWING:
        return None
    cases: list[Any] = [ABSENT]
    for constraint in constraints:
        if constraint.raw.keys() - _LENGTHS - {"enum", "type", "description"}:
            return None
        cases += [member for member in constraint.enum if isinstance(member, str)]
        for keyword in _LENGTHS & constraint.raw.keys():
            length = constraint.raw[keyword]
            if not isinstance(length, int) or length > 1000:
                return None
            cases += ["z" * length, "z" * (length + 1), "z" * max(length - 1, 0)]
    own = enum_members(declared)
    if own is not None:
        cases += own
    else:
        # With a length limit, the strings around the limit already represent all others.
        bounded = any(_LENGTHS & constraint.raw.keys() for constraint in constraints)
        cases += [""] if bounded else [_OTHER_STRING, ""]
    if own is not None:
        cases = [case for case in cases if case is ABSENT or case in own]
    return list({repr(case): case for case in cases}.values())

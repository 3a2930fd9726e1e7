"""Whether a field can hold a value at all: on its own, and beside what its parent's junctors mention.

A node's junctors look at a few sibling fields, mostly enums and lengths. Where every such field has a small
complete set of cases, trying all combinations decides the question; else nothing is said.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from crdcompat.apiserver.errors import FieldError, Unknown
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.apiserver.versions import Server
from crdcompat.compare.local import NodeJudge
from crdcompat.schema.enums import enum_members
from crdcompat.schema.sample import sample
from crdcompat.schema.structural import ABSENT, Node

_MOST = 4096
_LENGTHS = frozenset({"minLength", "maxLength"})
#: Stands for all strings that no branch names.
FRESH = "zz-other"


def forbids(node: Node, value: Any, server: Server) -> bool:
    """Whether the field's own keywords and rules forbid a value, whatever object stands around it."""
    return not NodeJudge(node, server).accepts(value)


def cannot_hold(parent: Node, member: str, value: Any, server: Server) -> bool:
    """True if no object of ``parent`` can hold ``value`` at ``member`` because of its junctors; False: not decided."""
    relevant = Node(_relevant(parent.raw, member))
    named: dict[str, list[Node]] = {}
    if not _collect(relevant, named) or member not in named:
        return False
    others = [name for name in named if name != member]
    domains = [_domain_of(parent, name, named[name]) for name in others]
    if any(domain is None for domain in domains) or prod(len(domain or ()) for domain in domains) > _MOST:
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


def all_cases(writer: Node, reader: Node) -> list[dict[str, Any]] | None:
    """Every object that the junctors of two nodes can tell apart, over the members they mention; None if not known."""
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
    if prod(map(len, domains.values())) > _MOST:
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
    """The junctors that speak about ``member``: what they forbid together is forbidden, whatever the others say."""
    kept: dict[str, Any] = {}
    for keyword in ("anyOf", "oneOf", "not"):
        if keyword in raw and _speaks_of(raw[keyword], member):
            kept[keyword] = raw[keyword]
    if isinstance(raw.get("allOf"), list):
        kept["allOf"] = [branch for branch in raw["allOf"] if _speaks_of(branch, member)]
    return kept


def _speaks_of(value: Any, member: str) -> bool:
    if isinstance(value, list):
        return any(item == member if isinstance(item, str) else _speaks_of(item, member) for item in value)
    return isinstance(value, dict) and any(key == member or _speaks_of(item, member) for key, item in value.items())


def _collect(node: Node, named: dict[str, list[Node]]) -> bool:
    """Gather the branch schemas per member; False where a branch says more than this reasoning understands."""
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
    """Every case of one member that the constraints can tell apart, absent included; None if not known."""
    declared = parent.properties.get(name)
    if declared is not None:
        return _domain(declared, constraints)
    # What the parent does not declare is pruned, unless it keeps what it does not know.
    return None if parent.preserve or parent.additional is not None else [ABSENT]


def _domain(declared: Node, constraints: list[Node]) -> list[Any] | None:
    if declared.type not in ("string", "boolean", "object"):
        return None
    if declared.type != "string":
        free: list[Any] = [ABSENT, {}] if declared.type == "object" else [ABSENT, True, False]
        return None if constraints else free
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
        # Beside a bound, a text of each length that it can tell apart stands for all others already.
        bounded = any(_LENGTHS & constraint.raw.keys() for constraint in constraints)
        cases += [""] if bounded else [FRESH, ""]
    if own is not None:
        cases = [case for case in cases if case is ABSENT or case in own]
    return list({repr(case): case for case in cases}.values())

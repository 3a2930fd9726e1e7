"""anyOf, oneOf, allOf and not, and whose errors are shown when none holds (reference section 3.5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from crdcompat.apiserver.errors import FieldError, Unknown, pathless
from crdcompat.apiserver.gotext import quote
from crdcompat.schema.structural import Node

_KEYWORDS = frozenset({"anyOf", "oneOf", "allOf", "not"})


class Validator(Protocol):
    """What checks a value against one branch."""

    def validate(self, value: Any, path: str, pair: None, out: list[FieldError], unknown: list[Unknown]) -> int:
        """Append the errors of ``value`` to ``out``; return the count of successful checks."""
        ...


class Junctors:
    """The branches of one node, compiled when first met."""

    def __init__(self, node: Node, compiled: Callable[[Node], Validator]) -> None:
        self._node = node
        self._compiled = compiled

    @classmethod
    def read(cls, node: Node, compiled: Callable[[Node], Validator]) -> Junctors | None:
        """The junctors of a node, None where it has none."""
        return None if _KEYWORDS.isdisjoint(node.raw) else cls(node, compiled)

    @cached_property
    def _any_of(self) -> tuple[Validator, ...]:
        return tuple(map(self._compiled, self._node.any_of))

    @cached_property
    def _one_of(self) -> tuple[Validator, ...]:
        return tuple(map(self._compiled, self._node.one_of))

    @cached_property
    def _all_of(self) -> tuple[Validator, ...]:
        return tuple(map(self._compiled, self._node.all_of))

    @cached_property
    def _not(self) -> Validator | None:
        return self._compiled(self._node.not_) if self._node.not_ is not None else None

    def check(self, value: Any, path: str, out: list[FieldError], unknown: list[Unknown]) -> int:
        """Append the errors of ``value`` to ``out``; return the count of successful checks."""
        count = 0
        place = quote(path)
        if self._any_of:
            valid, best = _best_branch(self._any_of, value, path, unknown, first_only=True)
            if not valid:
                out.append(pathless(f"{place} must validate at least one schema (anyOf)"))
                out.extend(best)
        if self._one_of:
            valid, best = _best_branch(self._one_of, value, path, unknown, first_only=False)
            if valid != 1:
                found = "Found none valid" if not valid else f"Found {valid} valid alternatives"
                out.append(pathless(f"{place} must validate one and only one schema (oneOf). {found}"))
                out.extend(best)
        if self._all_of:
            passed = 0
            for branch in self._all_of:
                before = len(out)
                count += branch.validate(value, path, None, out, unknown)
                passed += len(out) == before
            if passed != len(self._all_of):
                suffix = "" if passed else ". None validated"
                out.append(pathless(f"{place} must validate all the schemas (allOf){suffix}"))
        if self._not is not None:
            errors: list[FieldError] = []
            self._not.validate(value, path, None, errors, unknown)
            if not errors:
                out.append(pathless(f"{place} must not validate the schema (not)"))
        return count


def _best_branch(
    branches: tuple[Validator, ...], value: Any, path: str, unknown: list[Unknown], *, first_only: bool
) -> tuple[int, list[FieldError]]:
    """How many branches hold, and the errors of the failing one with most successful checks."""
    best: list[FieldError] = []
    valid, best_count = 0, -1
    for branch in branches:
        errors: list[FieldError] = []
        count = branch.validate(value, path, None, errors, unknown)
        if not errors:
            valid += 1
            best = []
            if first_only:
                break
        elif not valid and count > best_count:
            best, best_count = errors, count
    return valid, best

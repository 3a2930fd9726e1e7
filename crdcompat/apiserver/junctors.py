"""The junctors anyOf, oneOf, allOf and not, and the choice of the branch errors shown (docs/semantics.md#junctors)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from crdcompat.apiserver.field_errors import INVALID, FieldError, Unknown
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Trail, pointer_at
from crdcompat.schema.structural import Node

_KEYWORDS = frozenset({"anyOf", "oneOf", "allOf", "not"})


class Validator(Protocol):
    """The compiled form of one branch."""

    def validate(self, value: Any, path: Trail, pair: None, out: list[FieldError], unknown: list[Unknown]) -> int:
        """Append the errors of ``value`` to ``out``; return the count of successful checks."""
        ...


class Junctors:
    """The branches of one node, compiled on first use."""

    def __init__(self, node: Node, server: Server, compiled: Callable[[Node], Validator]) -> None:
        self._node = node
        self._server = server
        self._compiled = compiled

    @classmethod
    def read(cls, node: Node, server: Server, compiled: Callable[[Node], Validator]) -> Junctors | None:
        """The junctors of a node; None if it has none."""
        return None if _KEYWORDS.isdisjoint(node.raw) else cls(node, server, compiled)

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

    def check(self, value: Any, path: Trail, out: list[FieldError], unknown: list[Unknown]) -> int:
        """Append the errors of ``value`` to ``out``; return the count of successful checks."""
        count = 0
        if self._any_of:
            valid, best = _best_branch(self._any_of, value, path, unknown, first_only=True)
            if not valid:
                out.append(self._error(Keyword.ANY_OF, path))
                out.extend(best)
        if self._one_of:
            valid, best = _best_branch(self._one_of, value, path, unknown, first_only=False)
            if valid != 1:
                out.append(self._error(Keyword.ONE_OF, path, valid))
                out.extend(best)
        if self._all_of:
            passed = 0
            for branch in self._all_of:
                before = len(out)
                count += branch.validate(value, path, None, out, unknown)
                passed += len(out) == before
            if passed != len(self._all_of):
                out.append(self._error(Keyword.ALL_OF, path, passed))
        if self._not is not None:
            errors: list[FieldError] = []
            self._not.validate(value, path, None, errors, unknown)
            if not errors:
                out.append(self._error(Keyword.NOT, path))
        return count

    def _error(self, keyword: Keyword, path: Trail, valid: int = 0) -> FieldError:
        """The error of a junctor. ``valid`` is the number of valid branches, which oneOf and allOf show."""
        return FieldError(INVALID, pointer_at(path), keyword, "", self._server, valid)


def _best_branch(
    branches: tuple[Validator, ...], value: Any, path: Trail, unknown: list[Unknown], *, first_only: bool
) -> tuple[int, list[FieldError]]:
    """The number of valid branches, and the errors of the failing branch with the most successful checks."""
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

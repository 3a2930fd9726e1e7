"""The estimated costs of the set and list libraries.

Each estimator gives the cost and the size of the result, or None for a call that it does not know. Source:
github.com/google/cel-go, ext/sets.go and ext/lists.go. cel-go estimates the size of ``distinct`` and ``sort`` as the
square of the size of the list; so does this module.
"""

from __future__ import annotations

from crdcompat.apiserver.cel.static.operands import CallEstimator, Estimate, Operand
from crdcompat.apiserver.cel.static.sizes import MAX, STRING_FACTOR, Size, fixed, plus, scaled

_CALL, _NEW_LIST = 1, 10


def sets(factor: float) -> CallEstimator:
    """The estimator of a function of two sets: ``factor`` for each pair of their elements."""

    def estimate(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
        if len(args) != 2:
            return None
        both = args[0].size_or_unknown.times(args[1].size_or_unknown)
        return plus(scaled(both.most, factor), _CALL), None

    return estimate


def slice_of_list(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or len(args) != 2:
        return None
    start, end = _literal(args[0], 0), _literal(args[1], target.size_or_unknown.most)
    return _new_list(fixed((end - start) & MAX))


def numbers_to(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return _new_list(fixed(_literal(args[0], MAX))) if target is None and len(args) == 1 else None


def reverse(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return _new_list(target.size_or_unknown) if target is not None and not args else None


def flatten(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or len(args) > 1:
        return None
    return _new_list(target.size_or_unknown, _literal(args[0], MAX) if args else 1)


def distinct(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return _compared(target, 2) if target is not None and not args else None


def sort(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    """``sort()``, and the expansion of the macro ``sortBy``, which passes the keys as its argument."""
    keys = args[0] if args else target
    if target is None or keys is None or len(args) > 1:
        return None
    is_text = bool(keys.type.parameters) and keys.type.parameters[0].kind in ("string", "bytes")
    return _compared(keys, 2 + STRING_FACTOR if is_text else 2)


def _compared(each: Operand, factor: float) -> Estimate:
    """The estimate of a function that compares each element with each other one."""
    return _new_list(each.size_or_unknown.times(each.size_or_unknown), factor)


def _new_list(size: Size, factor: float = 1) -> Estimate:
    return plus(scaled(size.most, factor), _CALL, _NEW_LIST), size


def _literal(operand: Operand, default: int) -> int:
    """The value of an integer literal, at least 0; ``default`` for other expressions."""
    expr = operand.expr
    return max(expr.value, 0) if expr.kind == "const" and type(expr.value) is int else default

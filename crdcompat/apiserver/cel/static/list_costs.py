"""The estimated costs of the set and list libraries.

Source: github.com/google/cel-go, ext/sets.go and ext/lists.go. There, the result of ``distinct`` and ``sort`` has the
square of the size of the list, too.
"""

from __future__ import annotations

from crdcompat.apiserver.cel.static.operands import CallEstimator, Estimate, Operand
from crdcompat.apiserver.cel.static.sizes import MAX, STRING_FACTOR, Size, fixed, plus, scaled

_CALL, _NEW_LIST = 1, 10


def sets(factor: float) -> CallEstimator:
    """A function of two sets."""

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
    """``sort()``, and the call into which the macro ``sortBy`` expands: its argument are the keys."""
    keys = args[0] if args else target
    if target is None or keys is None or len(args) > 1:
        return None
    is_text = bool(keys.type.parameters) and keys.type.parameters[0].kind in ("string", "bytes")
    return _compared(keys, 2 + STRING_FACTOR if is_text else 2)


def _compared(each: Operand, factor: float) -> Estimate:
    """The estimate where all elements are compared with all."""
    return _new_list(each.size_or_unknown.times(each.size_or_unknown), factor)


def _new_list(size: Size, factor: float = 1) -> Estimate:
    return plus(scaled(size.most, factor), _CALL, _NEW_LIST), size


def _literal(operand: Operand, default: int) -> int:
    """The value of an integer literal, at least 0; ``default`` for other expressions."""
    expr = operand.expr
    return max(expr.value, 0) if expr.kind == "const" and type(expr.value) is int else default

"""The estimated costs of calls, by Kubernetes minor.

Source: k8s.io/apiserver, pkg/cel/library/cost.go (EstimateCallCost); cel-go, checker/cost.go (functionCost), ext.
"""

from __future__ import annotations

from crdcompat.apiserver.cel.static import list_costs
from crdcompat.apiserver.cel.static.declarations import CIDR, FORMAT, IP, QUANTITY, SEMVER, URL
from crdcompat.apiserver.cel.static.operands import CallEstimator, Estimate, Operand
from crdcompat.apiserver.cel.static.sizes import (
    MAX,
    NOTHING,
    REGEX_FACTOR,
    STRING_FACTOR,
    Size,
    fixed,
    plus,
    scaled,
    times,
)

_NET_SIZE = fixed(16)
_MAX_FORMAT_REGEX = 128
_MAX_FORMAT = 64


def _traversal(factor: float = STRING_FACTOR, *, of_result: bool = False) -> CallEstimator:
    def estimate(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
        if not args:
            return None
        size = args[0].size_or_unknown
        return scaled(size.most, factor), size if of_result else None

    return estimate


def _of_target(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size = target.size_or_unknown
    return scaled(size.most, STRING_FACTOR), size


def _constant(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return 1, None


def _of_list(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size, element = target.size_or_unknown, target.element()
    if element is None:
        return scaled(size.most, STRING_FACTOR), None
    each = 1
    if element.type.kind in ("string", "bytes"):
        each = plus(1, scaled(element.estimated.most, STRING_FACTOR))
    return times(size.most, each), None


def _replace(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.size_or_unknown, args[0].size_or_unknown, args[1].size_or_unknown
    most, kept_most = _replaced(size.most, old.least, is_replaced=new.most > old.least)
    least, kept_least = _replaced(size.least, old.most, is_replaced=old.most > new.least)
    result = Size(least, most).times(new).add(Size(kept_least, kept_most))
    return scaled(size.most, 2 * STRING_FACTOR), result


def _replaced(size: int, old: int, *, is_replaced: bool) -> tuple[int, int]:
    """How many texts of length ``old`` are replaced in a text of length ``size``, and how much of it is kept."""
    if old == 0:
        return plus(size, 1), size
    return (scaled(size, 1 / old), 0) if is_replaced else (0, size)


def _split(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size = target.size_or_unknown
    most = size.most
    if len(args) > 1 and type(args[1].expr.value) is int and args[1].expr.kind == "const":
        most = args[1].expr.value % 2**64
    return scaled(size.most, 2 * STRING_FACTOR), Size(0, most)


def _join(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    length, element = target.size_or_unknown, target.element()
    size = length.times(element.estimated) if element is not None else NOTHING
    if args:
        separators = Size(max(length.least - 1, 0), max(length.most - 1, 0))
        size = size.add(args[0].size_or_unknown.times(separators))
    return scaled(size.most, STRING_FACTOR), size


def _find(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or not args:
        return None
    size = target.size_or_unknown
    return _regex(size, args[0].size_or_unknown), Size(0, size.most)


def _regex(text: Size, pattern: Size) -> int:
    return times(scaled(plus(text.most, 1), STRING_FACTOR), scaled(pattern.most, REGEX_FACTOR))


def _ip(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if identity == "cidr_ip" or not args:
        return 1, None
    return scaled(args[0].size_or_unknown.most, STRING_FACTOR), None


def _contains(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if not args:
        return None
    cost = scaled(2 * _NET_SIZE.most, STRING_FACTOR)
    if identity.startswith(("cidr_contains_cidr", "containsCIDR")):
        cost += scaled(_NET_SIZE.most, STRING_FACTOR) + 1
    if identity.endswith("_string"):
        cost = plus(cost, scaled(args[0].size_or_unknown.most, STRING_FACTOR))
    return cost, None


def _validate(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if not args:
        return None
    cost = scaled(args[0].size_or_unknown.most, STRING_FACTOR)
    return scaled(cost, _MAX_FORMAT_REGEX * REGEX_FACTOR), None


def _equals(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    kind = args[0].type
    if kind != args[1].type:
        return None
    if kind in (IP, CIDR, QUANTITY, SEMVER):
        return 1, None
    if kind == FORMAT:
        return scaled(_MAX_FORMAT, STRING_FACTOR), None
    if kind == URL:
        size = args[1].size
        return scaled(size.most if size is not None else 1, STRING_FACTOR), None
    return None


def _table(*rows: tuple[int, str, CallEstimator]) -> dict[str, tuple[int, CallEstimator]]:
    return {name: (since, estimator) for since, names, estimator in rows for name in names.split()}


#: Function -> the minor that introduced its cost, and the estimator. IP and CIDR came with their library.
_LIBRARIES = _table(
    (0, "isSorted sum max min indexOf lastIndexOf", _of_list),
    (0, "lowerAscii upperAscii substring trim", _of_target),
    (0, "url", _traversal()),
    (0, "replace", _replace),
    (0, "split", _split),
    (0, "join", _join),
    (0, "find findAll", _find),
    (30, "cidr isIP isCIDR", _traversal()),
    (30, "ip", _ip),
    (30, "ip.isCanonical", _traversal(2 * STRING_FACTOR)),
    (30, "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast", _constant),
    (30, "containsIP containsCIDR", _contains),
    (30, "quantity isQuantity", _traversal()),
    (30, "sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub", _constant),
    (31, "isGlobalUnicast format.named getScheme getHostname getHost getPort getEscapedPath getQuery", _constant),
    (30, "validate", _validate),
    (32, "semver isSemver", _traversal()),
    (32, "major minor patch", _constant),
    (32, "_==_", _equals),
    (29, "sets.contains sets.intersects", list_costs.sets(1)),
    (29, "sets.equivalent", list_costs.sets(2)),
    (34, "slice", list_costs.slice_of_list),
    (34, "lists.range", list_costs.numbers_to),
    (34, "reverse", list_costs.reverse),
    (34, "flatten", list_costs.flatten),
    (34, "distinct", list_costs.distinct),
    (34, "sort @sortByAssociatedKeys", list_costs.sort),
)
_URL_RESULT_SINCE, _NET_SINCE = 32, 30
_NET_NAMES = frozenset({"cidr", "isIP", "isCIDR", "ip", "ip.isCanonical", "masked", "prefixLength", "family"})
_NET_NAMES |= {"containsIP", "containsCIDR"}


def call_cost(
    name: str, identity: str, target: Operand | None, args: list[Operand], minor: int, *, net: bool
) -> Estimate | None:
    """The estimate of the functions of libraries; None for others."""
    since, estimator = _LIBRARIES.get(name, (0, None))
    if estimator is None or (minor < since and not (net and name in _NET_NAMES)):
        return None
    if name == "url" and minor >= _URL_RESULT_SINCE:
        return _traversal(of_result=True)(identity, target, args)
    return estimator(identity, target, args)


def standard_cost(identity: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    """The estimate of cel-go's functions whose cost grows with their operands; None for others."""
    if identity == "string_format" and target is not None:
        return scaled(target.size_or_unknown.most, STRING_FACTOR), None
    if identity in ("string_to_bytes", "bytes_to_string", "strings_quote"):
        size = args[0].size_or_unknown
        least, most = {
            "string_to_bytes": (size.least, size.most * 4),
            "bytes_to_string": (size.least // 4, size.most),
            "strings_quote": (size.least + 2, size.most * 2 + 2),
        }[identity]
        return scaled(size.most, STRING_FACTOR), Size(least, most & MAX)
    if identity in ("starts_with_string", "ends_with_string"):
        return scaled(args[0].size_or_unknown.most, STRING_FACTOR), None
    if identity == "in_list":
        return args[1].size_or_unknown.most, None
    if identity == "matches_string" and target is not None:
        return _regex(target.size_or_unknown, args[0].size_or_unknown), None
    if identity == "contains_string" and target is not None:
        text, part = target.size_or_unknown.most, args[0].size_or_unknown.most
        return times(scaled(text, STRING_FACTOR), scaled(part, STRING_FACTOR)), None
    if identity in ("add_string", "add_bytes", "add_list"):
        size = args[0].size_or_unknown.add(args[1].size_or_unknown)
        return 1 if identity == "add_list" else scaled(size.most, STRING_FACTOR), size
    if identity in _COMPARISONS:
        return scaled(min(args[0].size_or_unknown.most, args[1].size_or_unknown.most), STRING_FACTOR), None
    return None


_COMPARISONS = frozenset(
    {
        *("equals", "not_equals"),
        *(
            f"{text}_{kind}"
            for text in ("less", "less_equals", "greater", "greater_equals")
            for kind in ("string", "bytes")
        ),
    }
)

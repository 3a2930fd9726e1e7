"""The libraries quantity and semver, which share the names of their comparisons.

Source: k8s.io/apiserver/pkg/cel/library quantity.go and semverlib.go; apimachinery resource.Quantity;
blang/semver.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.apiserver.ascii_sets import DIGITS
from crdcompat.apiserver.cel.library import EvaluationError, Function, content, opaque
from crdcompat.apiserver.gotext import quote

if TYPE_CHECKING:
    from collections.abc import Callable

_QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+", re.ASCII)
_SUFFIX = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {name: 1024**power for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_BITS = {name: 10 * power for power, name in enumerate(_BINARY, 1)}
_NANO = 10**9
_INT64_DIGITS = 18  # Go holds a quantity of more digits as a decimal
_MAX_INT64 = 2**63 - 1
_MAX_DIGITS = 400  # longer quantities are refused, to bound the work

_IDENTIFIER = re.compile("[0-9A-Za-z-]+")
_FORM = "\x01form"  # the private key of whether Go holds a quantity as an int64
_BAD_SUFFIX = "unable to parse quantity's suffix"
_REFUSED = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class Quantity(Struct, frozen=True):
    """A quantity. ``is_int64`` is whether Go holds it as an int64 without a fraction, which the spelling decides."""

    value: Fraction
    is_int64: bool


def parse_quantity(text: str) -> Quantity:
    """``resource.ParseQuantity``, which reads no digits at all as 0."""
    found = _QUANTITY.fullmatch(text)
    if not text or not found or len(text) > _MAX_DIGITS:
        raise EvaluationError(_REFUSED)
    sign, whole, fraction, suffix = found.groups(default="")
    whole = whole.lstrip("0") or "0"
    value = Fraction(f"{whole}.{fraction or 0}")
    if suffix in _BINARY:
        value *= _BINARY[suffix]
        digits = 14 - len(whole) - int(_BITS[suffix] * 0.3)
        is_int64 = digits >= 0 and not fraction
    elif suffix in _SUFFIX or _EXPONENT.fullmatch(suffix):
        power = _SUFFIX[suffix] if suffix in _SUFFIX else _exponent(suffix[1:])
        value *= Fraction(10) ** power
        is_int64 = power >= len(fraction) and len(whole) + len(fraction) <= _INT64_DIGITS
    else:
        raise EvaluationError(_BAD_SUFFIX)
    # resource.Quantity rounds up to nano, and caps at int64.
    value = min(Fraction(math.ceil(value * _NANO), _NANO), Fraction(_MAX_INT64))
    return Quantity(-value if sign == "-" else value, is_int64 and value < _MAX_INT64)


def _exponent(digits: str) -> int:
    """The exponent as Go's int32, which overflows silently; cut to where only the limits of quantities remain."""
    exponent = int(digits)
    if not -(2**63) <= exponent < 2**63:
        raise EvaluationError(_BAD_SUFFIX)
    wrapped = (exponent + 2**31) % 2**32 - 2**31
    return max(-2 * _MAX_DIGITS, min(wrapped, 2 * _MAX_DIGITS))


def _quantity(value: Any) -> Fraction:
    return Fraction(content(value, "quantity"))


def _wrap(value: Fraction, *, is_int64: bool) -> dict[str, Any]:
    # CEL holds 0 and 0.0 for equal, so equal quantities stay equal however they are spelled.
    return {**opaque("quantity", str(value)), _FORM: 0 if is_int64 else 0.0}


def _to_quantity(text: str) -> dict[str, Any]:
    found = parse_quantity(text)
    return _wrap(found.value, is_int64=found.is_int64)


def _has_int64(value: Any) -> bool:
    return isinstance(value, int) or isinstance(value[_FORM], int)


def is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except EvaluationError:
        return False
    return True


def _is_integer(value: Any) -> bool:
    return _quantity(value).denominator == 1 and _has_int64(value)


def _as_integer(value: Any) -> int:
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return int(_quantity(value))


def _added(sign: int) -> Callable[[Any, Any], dict[str, Any]]:
    def body(a: Any, b: Any) -> dict[str, Any]:
        return _wrap(_quantity(a) + sign * _operand(b), is_int64=_has_int64(a) and _has_int64(b))

    return body


def _sign(value: Any) -> int:
    quantity = _quantity(value)
    return (quantity > 0) - (quantity < 0)


def _operand(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, int) else _quantity(value)


def parse_semver(text: str, normalize: bool = False) -> str:
    if normalize:
        text = _normalized(text)
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    patch, plus, build = parts[2].partition("+")
    patch, dash, pre = patch.partition("-")
    for name, number in (("Major", parts[0]), ("Minor", parts[1]), ("Patch", patch)):
        _check_number(name, number)
    for identifier in pre.split(".") if dash else ():
        _check_prerelease(identifier)
    for identifier in build.split(".") if plus else ():
        if not identifier:
            raise EvaluationError("Build meta data is empty")
        if not _IDENTIFIER.fullmatch(identifier):
            raise EvaluationError(f"Invalid character(s) found in build meta data {quote(identifier)}")
    return text


def _check_number(name: str, number: str) -> None:
    if not DIGITS.issuperset(number):
        raise EvaluationError(f"Invalid character(s) found in {name.lower()} number {quote(number)}")
    if len(number) > 1 and number[0] == "0":
        raise EvaluationError(f"{name} number must not contain leading zeroes {quote(number)}")
    if not number or len(number) > 20 or int(number) >= 2**64:
        raise EvaluationError(
            f"strconv.ParseUint: parsing {quote(number)}: {'value out of range' if number else 'invalid syntax'}"
        )


def _check_prerelease(identifier: str) -> None:
    if not identifier:
        raise EvaluationError("Prerelease is empty")
    if DIGITS.issuperset(identifier) and len(identifier) > 1 and identifier[0] == "0":
        raise EvaluationError(f"Numeric PreRelease version must not contain leading zeroes {quote(identifier)}")
    if not _IDENTIFIER.fullmatch(identifier):
        raise EvaluationError(f"Invalid character(s) found in prerelease {quote(identifier)}")


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for at, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[at] = stripped if stripped and stripped[0] in "0123456789" else "0" + stripped
    if len(parts) < 3 and set(parts[-1]) & set("+-"):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        parse_semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _to_semver(text: str, normalize: bool = False) -> dict[str, str]:
    # The canonical text omits build metadata, because comparisons ignore it.
    return opaque("semver", parse_semver(text, normalize).partition("+")[0])


def _version(value: Any) -> tuple[Any, ...]:
    numbers, _, pre = content(value, "semver").partition("-")
    order = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")) if pre else ()
    return (*map(int, numbers.split(".")), not pre, order)


def _compare(a: Any, b: Any) -> int:
    read: Callable[[Any], Any] = _version if "\x01semver" in a else _quantity
    x, y = read(a), read(b)
    return bool(x > y) - bool(x < y)


def _component(at: int) -> Callable[[Any], Any]:
    return lambda value: _version(value)[at]


_Q, _S = 28, 33
FUNCTIONS = (
    Function("quantity", ("string",), "map", _to_quantity, member=False, since=_Q),
    Function("isQuantity", ("string",), "bool", is_quantity, member=False, since=_Q),
    Function("sign", ("map",), "int", _sign, member=False, since=_Q),
    Function("sign", ("map",), "int", _sign, since=_Q),
    Function("isInteger", ("map",), "bool", _is_integer, since=_Q),
    Function("asInteger", ("map",), "int", _as_integer, since=_Q),
    Function("asApproximateFloat", ("map",), "double", lambda value: float(_quantity(value)), since=_Q),
    Function("add", ("map", "map"), "map", _added(1), since=_Q),
    Function("add", ("map", "int"), "map", _added(1), since=_Q),
    Function("sub", ("map", "map"), "map", _added(-1), since=_Q),
    Function("sub", ("map", "int"), "map", _added(-1), since=_Q),
    Function("isGreaterThan", ("map", "map"), "bool", lambda a, b: _compare(a, b) > 0, since=_Q),
    Function("isLessThan", ("map", "map"), "bool", lambda a, b: _compare(a, b) < 0, since=_Q),
    Function("compareTo", ("map", "map"), "int", _compare, since=_Q),
    Function("semver", ("string",), "map", _to_semver, member=False, since=_S),
    Function("semver", ("string", "bool"), "map", _to_semver, member=False, since=_S),
    Function("isSemver", ("string",), "bool", _is_semver, member=False, since=_S),
    Function("isSemver", ("string", "bool"), "bool", _is_semver, member=False, since=_S),
    Function("major", ("map",), "int", _component(0), since=_S),
    Function("minor", ("map",), "int", _component(1), since=_S),
    Function("patch", ("map",), "int", _component(2), since=_S),
)

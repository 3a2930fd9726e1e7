"""The conversions int(), double() and timestamp(), which read strings as Go does.

Source: cel-go ``common/types`` (string.go, int.go, double.go, timestamp.go), Go's strconv and time.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel.library import EvaluationError, Function
from crdcompat.apiserver.cel.strfmt import datetime_nanos
from crdcompat.apiserver.gotime import parse_error

if TYPE_CHECKING:
    from collections.abc import Callable

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_DECIMAL = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?", re.ASCII)
_HEX_DIGITS = "_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
_HEX = re.compile(rf"[+-]?0[xX](?:{_HEX_DIGITS}(?:\.(?:{_HEX_DIGITS})?)?|\.{_HEX_DIGITS})[pP][+-]?{_DIGITS}", re.ASCII)
_SPECIAL = re.compile(r"[+-]?(?:inf|infinity)|nan", re.ASCII | re.IGNORECASE)
_SECONDS = range(-62135596800, 253402300800)  # the years 1 to 9999
_MAX_LENGTH = 4096  # longer numbers are refused, to bound the work


def _misfit(text: str, wanted: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to '{wanted}'")


def to_int(text: str) -> int:
    """``strconv.ParseInt(text, 10, 64)``."""
    if len(text) > _MAX_LENGTH or not _INTEGER.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise _misfit(text, "int")
    return int(text)


def to_double(text: str) -> float:
    """``strconv.ParseFloat(text, 64)``, which has no infinity for large numbers."""
    if len(text) > _MAX_LENGTH:
        raise _misfit(text, "double")
    if _SPECIAL.fullmatch(text):
        return float(text)
    try:
        if _DECIMAL.fullmatch(text):
            found = float(text)
        elif _HEX.fullmatch(text):
            found = float.fromhex(text.replace("_", ""))
        else:
            raise _misfit(text, "double")
    except (OverflowError, ValueError):
        raise _misfit(text, "double") from None
    if math.isinf(found):
        raise _misfit(text, "double")
    return found


def _truncated(value: float) -> int:
    if not -(2**63) < value < 2**63:
        raise EvaluationError("integer overflow")
    return math.trunc(value)


def _as_int(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise EvaluationError("integer overflow")
    return value


def _epoch(moment: datetime.datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return math.floor(moment.timestamp())


def to_timestamp(text: str) -> Any:
    """``time.Parse(time.RFC3339, text)`` within the years 1 to 9999."""
    nanos = datetime_nanos(text) if not parse_error(text) else None
    if nanos is None:
        raise _misfit(text, "google.protobuf.Timestamp")
    if nanos // 10**9 not in _SECONDS:
        raise EvaluationError("timestamp overflow")
    return _timestamp(*divmod(nanos, 10**9))


def _of_seconds(seconds: int) -> Any:
    if seconds not in _SECONDS:
        raise EvaluationError("timestamp overflow")
    return _timestamp(seconds, 0)


def _timestamp(seconds: int, nanos: int) -> Any:
    from google.protobuf.timestamp_pb2 import Timestamp

    return Timestamp(seconds=seconds, nanos=nanos)


def _moment(moment: datetime.datetime) -> Any:
    from google.protobuf.timestamp_pb2 import Timestamp

    found = Timestamp()
    found.FromDatetime(moment)
    return found


def _overloads(name: str, returns: str, bodies: dict[str, Callable[[Any], Any]]) -> tuple[Function, ...]:
    return tuple(Function(name, (kind,), returns, body, member=False) for kind, body in bodies.items())


def _ordered(text: str) -> float:
    """A number that is compared by `<` or `>`, where NaN is an error to cel-go; the CEL library answers false."""
    if math.isnan(found := to_double(text)):
        raise EvaluationError("NaN values cannot be ordered")
    return found


_NUMBERS: dict[str, Callable[[Any], Any]] = {"int": float, "uint": float, "double": float}
#: Function of CEL -> its name here; ``ORDERED``: in rules with `<` or `>`.
RENAMED = {"int": "k8sInt", "double": "k8sDouble", "timestamp": "k8sTimestamp"}
ORDERED = {**RENAMED, "double": "k8sOrdered"}

FUNCTIONS = (
    *_overloads(
        "k8sInt",
        "int",
        {"string": to_int, "int": int, "uint": _as_int, "double": _truncated, "timestamp": _epoch},
    ),
    *_overloads("k8sDouble", "double", {"string": to_double, **_NUMBERS}),
    *_overloads("k8sOrdered", "double", {"string": _ordered, **_NUMBERS}),
    *_overloads("k8sTimestamp", "timestamp", {"string": to_timestamp, "int": _of_seconds, "timestamp": _moment}),
)

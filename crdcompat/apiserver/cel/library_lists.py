"""The libraries regex (find, findAll) and lists (isSorted, sum, min, max), and indexOf of lists and strings.

Source: k8s.io/apiserver/pkg/cel/library regex.go, lists.go; cel-go ext/strings.go.
"""

from __future__ import annotations

import datetime
import itertools
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel.library import EvaluationError, Function

if TYPE_CHECKING:
    from collections.abc import Callable

#: Since these minors, a search in an empty text finds nothing (google/cel-go#1052 and #1173); before, it failed.
_INDEX_OF_EMPTY, _LAST_INDEX_OF_EMPTY = 33, 34
_SCALARS = ("int", "double", "string", "bool", "bytes", "timestamp", "duration", "null", "map", "list")


@lru_cache(maxsize=512)
def _pattern(text: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise EvaluationError(f"Illegal regex: error parsing regexp: {error}") from None


def find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match.group() if match else ""


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    last_end = -1
    for match in _pattern(pattern).finditer(text):
        if 0 <= limit <= len(found):
            break
        # Go omits an empty match right after another match.
        if match.end() == match.start() == last_end:
            continue
        last_end = match.end()
        found.append(match.group())
    return found


def is_sorted(items: list[Any]) -> bool:
    return all(not _less(after, before) for before, after in itertools.pairwise(items))


def total(items: list[Any]) -> Any:
    if not items:
        return 0
    if not all(isinstance(item, (int, float, datetime.timedelta)) and not isinstance(item, bool) for item in items):
        raise EvaluationError("no such overload")
    result = items[0]
    for item in items[1:]:
        result = result + item
    if isinstance(result, datetime.timedelta):
        return _message(result)
    if isinstance(result, int) and not -(2**63) <= result < 2**63:
        raise EvaluationError("integer overflow")
    return result


def extreme(name: str) -> Callable[[list[Any]], Any]:
    def pick(items: list[Any]) -> Any:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        result = items[0]
        for item in items[1:]:
            if _less(item, result) if name == "min" else _less(result, item):
                result = item
        return _message(result)

    return pick


def _message(value: Any) -> Any:
    """A result for the CEL library. It passes times as Python's to functions, but expects protobuf messages back."""
    if isinstance(value, datetime.timedelta):
        from google.protobuf.duration_pb2 import Duration

        duration = Duration()
        duration.FromTimedelta(value)
        return duration
    if isinstance(value, datetime.datetime):
        from google.protobuf.timestamp_pb2 import Timestamp

        moment = Timestamp()
        moment.FromDatetime(value)
        return moment
    return value


def _less(a: Any, b: Any) -> bool:
    try:
        return bool(a.encode() < b.encode()) if isinstance(a, str) and isinstance(b, str) else bool(a < b)
    except TypeError:
        raise EvaluationError("no such overload") from None


def _equal(a: Any, b: Any) -> bool:
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def list_index(items: list[Any], wanted: Any) -> int:
    return next((at for at, item in enumerate(items) if _equal(item, wanted)), -1)


def list_last_index(items: list[Any], wanted: Any) -> int:
    return next((at for at in range(len(items) - 1, -1, -1) if _equal(items[at], wanted)), -1)


def text_index(text: str, wanted: str, offset: int = 0, *, least: int = 1) -> int:
    """The first place; ``least`` is the length as which a shorter text counts for the range of ``offset``."""
    if not wanted:
        return offset
    if not 0 <= offset < max(len(text), least):
        raise EvaluationError(f"index out of range: {offset}")
    return text.find(wanted, offset)


def text_last_index(text: str, wanted: str, offset: int | None = None, *, of_empty: bool = True) -> int:
    """The last place; ``of_empty``: an empty text has a place to begin at."""
    if not wanted:
        return len(text) if offset is None else offset
    if offset is None:
        if not text and not of_empty:
            raise EvaluationError("index out of range: -1")
        return text.rfind(wanted)
    if not 0 <= offset < len(text):
        raise EvaluationError(f"index out of range: {offset}")
    return text.rfind(wanted, 0, offset + len(wanted))


def substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for at in (start, stop):
        if not 0 <= at <= len(text):
            raise EvaluationError(f"index out of range: {at}")
    return text[start:stop]


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


FUNCTIONS = (
    Function("k8sCharAt", ("string", "int"), "string", char_at),
    Function("k8sSubstring", ("string", "int"), "string", substring),
    Function("k8sSubstring", ("string", "int", "int"), "string", substring),
    Function("find", ("string", "string"), "string", find),
    Function("findAll", ("string", "string"), "list", find_all),
    Function("findAll", ("string", "string", "int"), "list", find_all),
    Function("isSorted", ("list",), "bool", is_sorted),
    Function("sum", ("list",), "dyn", total),
    Function("min", ("list",), "dyn", extreme("min")),
    Function("max", ("list",), "dyn", extreme("max")),
    *(
        Function("k8sIndexOf", texts, "int", text_index, changed=_INDEX_OF_EMPTY, older=partial(text_index, least=0))
        for texts in (("string", "string"), ("string", "string", "int"))
    ),
    Function(
        *("k8sLastIndexOf", ("string", "string"), "int", text_last_index),
        changed=_LAST_INDEX_OF_EMPTY,
        older=partial(text_last_index, of_empty=False),
    ),
    Function("k8sLastIndexOf", ("string", "string", "int"), "int", text_last_index),
    *(Function("k8sIndexOf", ("list", kind), "int", list_index) for kind in _SCALARS),
    *(Function("k8sLastIndexOf", ("list", kind), "int", list_last_index) for kind in _SCALARS),
)

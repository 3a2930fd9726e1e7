"""Conversion of a node's value to CEL by the schema, restricted to the parts that the node's rules read.

Source: k8s.io/apiserver/pkg/cel/common/values.go; docs/semantics.md#types-in-rules. Members have their escaped names;
those of reserved words have these, too.
The server reports data that does not fit its schema only when a rule reads it. Such a member is therefore omitted, and
the text of its error is under "\\x01name".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from crdcompat.apiserver.cel import strfmt
from crdcompat.apiserver.cel.tokens import NUL
from crdcompat.apiserver.cel.views import Reads, View
from crdcompat.apiserver.correlation import list_map_key
from crdcompat.cel.identifiers import canonical, is_reserved
from crdcompat.cel.rule import ITEM

#: The key of an object's members without a CEL type, as JSON text, because they count in equality.
UNSEEN = "\x01"


class MisfitError(Exception):
    """Data does not fit its schema: an evaluation error for rules that read it."""


class Conversion:
    """The options of one conversion, and its misfits: by name of member, and the last one of an item.

    ``nul`` is whether any text has a NUL.

    ``ordered`` is False to sort lists of type set and map, so that == ignores their order. ``unseen`` adds the members
    without a CEL type. ``bare`` is whether the server reads objects whose schema declares no members.
    """

    __slots__ = ("bare", "item_misfit", "misfits", "nul", "ordered", "unseen")

    def __init__(self, *, ordered: bool, unseen: bool, bare: bool) -> None:
        self.ordered = ordered
        self.unseen = unseen
        self.bare = bare
        self.misfits: dict[str, str] = {}
        self.item_misfit: str | None = None
        self.nul = False

    def text(self, value: str) -> str:
        """A text for the CEL library."""
        if "\0" not in value:
            return value
        self.nul = True
        return value.replace("\0", NUL)


Plan = Callable[[Any, Conversion], Any]


def plan(view: View, reads: Reads) -> Plan:
    """The conversion of a node's value, restricted to ``reads``."""
    if view.kind == "object":
        return _object(view, reads)
    if view.kind == "map":
        return _map(view, reads)
    if view.kind == "list":
        return _list(view, reads)
    return _nullable(view, _SCALARS[view.kind])


def go_type(value: Any) -> str:
    """Go's %T of decoded JSON."""
    if value is None:
        return "<nil>"
    names = {bool: "bool", str: "string", int: "int64", float: "float64", list: "[]interface {}"}
    return names.get(type(value), "map[string]interface {}")


def _nullable(view: View, inner: Plan) -> Plan:
    nullable = view.nullable

    def run(value: Any, found: Conversion) -> Any:
        if value is None:
            if nullable:
                return None
            raise MisfitError("invalid data, got null for schema with nullable=false")
        return inner(value, found)

    return run


def _object(view: View, reads: Reads) -> Plan:
    members = view.members()
    read = members if reads.whole else reads.children
    wanted = {name: members[canonical(name)] for name in read if canonical(name) in members}
    words = [(member.original, name) for name, member in members.items() if is_reserved(member.original)]
    nothing = Reads()
    steps = [
        (
            member.original,
            name,
            plan(member.view, reads.everything if reads.whole else reads.children.get(name, nothing)),
        )
        for name, member in wanted.items()
        if member.view.kind != "unseen"
    ]
    by_original = {original: (name, step) for original, name, step in steps}
    whole, described = reads.whole, view.described

    def run(value: Any, found: Conversion) -> Any:
        if type(value) is not dict:
            raise MisfitError("invalid data, expected a map for the provided schema with type=object")
        if not described and not found.bare:
            raise MisfitError(
                "invalid object type, expected either Properties or AdditionalProperties "
                "with Allows=true and non-empty Schema"
            )
        seen: dict[str, Any] = {}
        if not whole:
            for original, name, step in steps:
                if value.get(original) is not None:  # a null member counts as absent
                    _put(seen, name, step, value[original], found)
            return seen
        for key, item in value.items():
            entry = by_original.get(key)
            if entry is not None and item is not None:
                _put(seen, entry[0], entry[1], item, found)
        if found.unseen and len(seen) < len(value):
            rest = {key: item for key, item in value.items() if key not in by_original}
            if rest:
                seen[UNSEEN] = json.dumps(rest, sort_keys=True)
        seen.update({word: seen[name] for word, name in words if name in seen})
        return seen

    return _nullable(view, run)


def _put(seen: dict[str, Any], name: str, step: Plan, item: Any, found: Conversion) -> None:
    try:
        seen[name] = step(item, found)
    except MisfitError as error:
        seen[f"\x01{name}"] = found.misfits[name] = str(error)


def _map(view: View, reads: Reads) -> Plan:
    assert view.element is not None
    # A rule may read any key by name, so each value needs the union of the reads of all keys.
    step = plan(view.element, reads.everything if reads.whole else reads.any_child())

    def run(value: Any, found: Conversion) -> Any:
        if type(value) is not dict:
            raise MisfitError("invalid data, expected a map for the provided schema with type=object")
        return {found.text(key): _item(step, item, found) for key, item in value.items()}

    return _nullable(view, run)


def _list(view: View, reads: Reads) -> Plan:
    assert view.element is not None
    step = plan(view.element, reads.everything if reads.whole else reads.children.get(ITEM, Reads()))
    list_type, keys = view.node.list_type, view.node.list_keys

    def run(value: Any, found: Conversion) -> Any:
        if type(value) is not list:
            raise MisfitError("invalid data, expected an array for the provided schema with type=array")
        if not found.ordered and list_type in ("set", "map"):
            value = sorted(value, key=lambda item: _sort_key(item, keys if list_type == "map" else None))
        return [_item(step, item, found) for item in value]

    return _nullable(view, run)


def _item(step: Plan, item: Any, found: Conversion) -> Any:
    try:
        return step(item, found)
    except MisfitError as error:
        found.item_misfit = str(error)
        return None


def _sort_key(item: Any, keys: tuple[str, ...] | None) -> str:
    return repr(list_map_key(item, keys)) if keys is not None else json.dumps(item, sort_keys=True)


def _string(value: Any, found: Conversion) -> Any:
    if type(value) is str:
        return found.text(value)
    raise MisfitError(f"invalid data, expected string, got {go_type(value)}")


def _bytes(value: Any, found: Conversion) -> Any:
    decoded = strfmt.decode_base64(_string(value, found))
    if decoded is None:
        raise MisfitError(f"Invalid byte formatted string {value}: illegal base64 data")
    return decoded


def _date(value: Any, found: Conversion) -> Any:
    seconds = strfmt.date_seconds(_string(value, found))
    if seconds is None:
        raise MisfitError(f"Invalid date formatted string {value}: cannot parse")
    return _timestamp(seconds * 10**9)


def _datetime(value: Any, found: Conversion) -> Any:
    nanos = strfmt.datetime_nanos(_string(value, found))
    if nanos is None:
        raise MisfitError(f"Invalid date-time formatted string {value}: cannot parse")
    return _timestamp(nanos)


def _timestamp(nanos: int) -> Any:
    from google.protobuf.timestamp_pb2 import Timestamp

    return Timestamp(seconds=nanos // 10**9, nanos=nanos % 10**9)


def _duration(value: Any, found: Conversion) -> Any:
    from google.protobuf.duration_pb2 import Duration

    nanos = strfmt.duration_nanos(_string(value, found))
    if nanos is None or abs(nanos) >= 2**63:
        raise MisfitError(f"Invalid duration {value}: unable to parse")
    sign = -1 if nanos < 0 else 1
    return Duration(seconds=sign * (abs(nanos) // 10**9), nanos=sign * (abs(nanos) % 10**9))


def _integer(value: Any, _found: Conversion) -> Any:
    if type(value) is int:
        return value
    raise MisfitError(f"invalid data, expected int, got {go_type(value)}")


def _number(value: Any, _found: Conversion) -> Any:
    if type(value) is float or type(value) is int:
        return float(value) if abs(value) < 2**1023 else math.inf if value > 0 else -math.inf
    raise MisfitError(f"invalid data, expected float, got {go_type(value)}")


def _boolean(value: Any, _found: Conversion) -> Any:
    if type(value) is bool:
        return value
    raise MisfitError(f"invalid data, expected bool, got {go_type(value)}")


def _int_or_string(value: Any, found: Conversion) -> Any:
    if type(value) is int:
        return value
    if type(value) is str:
        return found.text(value)
    raise MisfitError("invalid data, expected XIntOrString value to be either a string or integer")


_SCALARS: dict[str, Plan] = {
    "string": _string,
    "bytes": _bytes,
    "date": _date,
    "datetime": _datetime,
    "duration": _duration,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "int_or_string": _int_or_string,
}

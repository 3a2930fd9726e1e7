"""The OpenAPI check of one value against one schema, as the API server makes it (reference section 3).

A validator is compiled once per schema and server. It reports errors relative to its own root: the whole
object for main writes, ``.status`` for status writes from 1.28 on; ``strategy`` puts the prefix on.

The return value of ``validate`` is the number of successful checks. The API server counts them to choose
which anyOf/oneOf branch's errors to show when all fail (section 3.5).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from crdcompat.apiserver import formats, numbers
from crdcompat.apiserver.correlation import Pair, same
from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import (
    INVALID,
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
    Unknown,
)
from crdcompat.apiserver.gotext import compact_json, quote
from crdcompat.schema.re2 import PatternError, compile_pattern
from crdcompat.schema.structural import Node

if TYPE_CHECKING:
    from collections.abc import Container

#: A path as a chain of segments from the root; "" is the root. Built only as text: most paths are short.
Path = str

_TYPE_META = frozenset({"apiVersion", "kind"})
_JUNCTORS = frozenset({"anyOf", "oneOf", "allOf", "not"})
_NATIVE: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
_JSON_TYPE: Final = {
    type(None): "null",
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}
#: What Go calls the format of a decoded number; every other value has none.
_GO_FORMAT: Final = {int: "int64", float: "float64"}

#: By the schema's type: the Python type of its values, and the checks that one passes besides those of every node.
_SCALARS: Final[dict[str, tuple[type, int]]] = {"string": (str, 1), "boolean": (bool, 0), "integer": (int, 2)}


#: So many texts a node remembers that have passed: reasons and the like recur, and each node has its own.
_MOST_REMEMBERED = 256


class SchemaValidator:
    """One schema node, compiled for one server."""

    def __init__(self, node: Node, server: Server) -> None:
        raw = node.raw
        self.node = node
        self.server = server
        self.types = node.types
        self.native = frozenset(kind for name in self.types for kind in _NATIVE.get(name, ()))
        self.nullable = node.nullable
        self.format = node.format if formats.supported(node.format, node.type, server) else ""
        # One check each for the type (if any is named), the junctors and the enum; the kind adds its own.
        self.type_checks = 2 if self.types or self.format else 0
        self.own_checks = 4 + self.type_checks
        self.enum = node.enum
        self.enum_strings = frozenset(member for member in node.enum if isinstance(member, str))
        self.enum_detail = enum_detail(node.enum) if node.enum else ""
        self.members: dict[str, SchemaValidator] = {}
        self.required = node.required
        self.forbids_unknown = node.additional is False
        self.junctors = not _JUNCTORS.isdisjoint(raw)
        self.min_length, self.max_length = node.count("minLength"), node.count("maxLength")
        self.min_items, self.max_items = node.count("minItems"), node.count("maxItems")
        self.min_properties, self.max_properties = node.count("minProperties"), node.count("maxProperties")
        self.bounds = numbers.Bounds.read(node, self.format, server)
        self.unknown = ""
        self.pattern = None
        if isinstance(raw.get("pattern"), str) and raw["pattern"]:
            compiled = compile_pattern(raw["pattern"])
            if isinstance(compiled, PatternError):
                self.unknown = f"pattern {raw['pattern']}: {compiled}"
            else:
                self.pattern = compiled
        self.string_checks = any(
            (self.min_length is not None, self.max_length is not None, self.pattern is not None, self.unknown)
        )
        self.passed: set[str] = set()
        self.plain, self.plain_checks, self.passing = self._plain()

    def _plain(self) -> tuple[type | None, int, Container[str] | None]:
        """The type of scalars that pass here, how many checks one passes, and which texts do (None: all)."""
        kind, more = _SCALARS.get(self.node.type, (None, 0))
        asked = [bool(self.enum), bool(self.format), self.string_checks]
        if kind is None or self.junctors or self.bounds or self.unknown or sum(asked) > (kind is str):
            return None, 0, None
        texts = {0: self.enum_strings, 1: formats.passing(self.format), 2: self.passed}
        demand = asked.index(True) if any(asked) else -1
        return kind, self.own_checks + more + (demand == 1), texts.get(demand)

    @cached_property
    def items(self) -> SchemaValidator | None:
        return SchemaValidator(self.node.items, self.server) if self.node.items is not None else None

    @cached_property
    def any_of(self) -> tuple[SchemaValidator, ...]:
        return tuple(SchemaValidator(branch, self.server) for branch in self.node.any_of)

    @cached_property
    def one_of(self) -> tuple[SchemaValidator, ...]:
        return tuple(SchemaValidator(branch, self.server) for branch in self.node.one_of)

    @cached_property
    def all_of(self) -> tuple[SchemaValidator, ...]:
        return tuple(SchemaValidator(branch, self.server) for branch in self.node.all_of)

    @cached_property
    def not_(self) -> SchemaValidator | None:
        return SchemaValidator(self.node.not_, self.server) if self.node.not_ is not None else None

    def member(self, name: str) -> SchemaValidator | None:
        """The validator of an object's member that is met for the first time, None where nothing describes it."""
        sub = self.node.properties.get(name)
        if sub is None:
            return self.map_value  # the keys of a map are unbounded: not remembered one by one
        self.members[name] = SchemaValidator(sub, self.server)
        return self.members[name]

    @cached_property
    def map_value(self) -> SchemaValidator | None:
        sub = self.node.additional
        return SchemaValidator(sub, self.server) if isinstance(sub, Node) else None

    def validate(self, value: Any, path: Path, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]) -> int:
        """Append the errors of ``value`` to ``out``; return the count of successful checks.

        ``pair`` is the correlated old value where ratcheting is on: errors of a node that did not change
        are dropped, its own and its descendants' (KEP-4008).
        """
        if pair is None:
            return self._checks(value, path, None, out, unknown)
        before = len(out)
        count = self._checks(value, path, pair, out, unknown)
        if len(out) > before and pair.equal():
            del out[before:]
        return count

    def validate_root(self, value: Any, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]) -> None:
        """Validate a whole object. The root itself never ratchets: its metadata always differs."""
        self._checks(value, "", pair, out, unknown)

    def _checks(self, value: Any, path: Path, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]) -> int:
        kind = type(value)
        if value is None:
            if self.types and not self.nullable:
                out.append(self._type_error(path, ",".join(self.types), "null", "null"))
            if self.enum:
                out.append(FieldError(NOT_SUPPORTED, path or "<nil>", None, self.enum_detail))
            return 0
        count = self.own_checks
        if self.types and kind not in self.native:
            count += self._type(value, kind, path, out)
        if self.junctors:
            count += self._junctors(value, path, out, unknown)
        if kind is str:
            count += 1
            if self.string_checks:
                self._string(value, path, out, unknown)
            if self.format:
                count += 1
                if not formats.matches(self.format, value):
                    out.append(self._type_error(path, self.format, value, quote(value)))
        elif kind is dict:
            if self.enum:
                self._enum(value, path, out)
            return count + 1 + self._object(value, path, pair, out, unknown)
        elif kind is list:
            count += 2 + self._array(value, path, pair, out, unknown)
        elif kind is not bool:
            count += 2
            if self.bounds is not None:
                self.bounds.check(value, path, out)
        if self.enum:
            self._enum(value, path, out)
        return count

    # -- type ---------------------------------------------------------------------------------------

    def _type(self, value: Any, kind: type, path: Path, out: list[FieldError]) -> int:
        """The type check of a value whose JSON type is not named outright."""
        named = _JSON_TYPE[kind]
        near_integer = kind is float and "integer" in self.types and numbers.is_integer_like(value)
        if self.format and kind not in (str, list) and not near_integer:
            detected = _GO_FORMAT.get(kind, "")
            if detected != self.format:
                out.append(self._type_error(path, self.format, detected, quote(detected) if detected else '""'))
                return -1
        numeric = "integer" in self.types or "number" in self.types
        if self.format and not numeric and kind in (str, list):
            return 0  # a list passes `type: string` with a format: the server leaves it to the format check
        if not near_integer:
            out.append(self._type_error(path, ",".join(self.types), named, quote(named)))
            return -1
        return 0

    def _type_error(self, path: Path, wanted: str, value: Any, shown: str) -> FieldError:
        detail = f"{path} in body must be of type {wanted}: {quote(shown) if shown == 'null' else shown}"
        return FieldError(self._type_invalid(), path or "<nil>", value, detail)

    def _type_invalid(self) -> str:
        return TYPE_INVALID if self.server.does("typed_errors") else INVALID

    # -- junctors -----------------------------------------------------------------------------------

    def _junctors(self, value: Any, path: Path, out: list[FieldError], unknown: list[Unknown]) -> int:
        count = 0
        place = quote(path)
        if self.any_of:
            valid, best = self._best_branch(self.any_of, value, path, unknown, first_only=True)
            if not valid:
                out.append(_pathless(f"{place} must validate at least one schema (anyOf)"))
                out.extend(best)
        if self.one_of:
            valid, best = self._best_branch(self.one_of, value, path, unknown, first_only=False)
            if valid != 1:
                found = "Found none valid" if not valid else f"Found {valid} valid alternatives"
                out.append(_pathless(f"{place} must validate one and only one schema (oneOf). {found}"))
                out.extend(best)
        if self.all_of:
            passed = 0
            for branch in self.all_of:
                before = len(out)
                count += branch.validate(value, path, None, out, unknown)
                passed += len(out) == before
            if passed != len(self.all_of):
                suffix = "" if passed else ". None validated"
                out.append(_pathless(f"{place} must validate all the schemas (allOf){suffix}"))
        if self.not_ is not None:
            errors: list[FieldError] = []
            doubts: list[Unknown] = []
            self.not_.validate(value, path, None, errors, doubts)
            unknown.extend(doubts)
            if not errors:
                out.append(_pathless(f"{place} must not validate the schema (not)"))
        return count

    @staticmethod
    def _best_branch(
        branches: tuple[SchemaValidator, ...],
        value: Any,
        path: Path,
        unknown: list[Unknown],
        *,
        first_only: bool,
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

    # -- by kind of value ---------------------------------------------------------------------------

    def _string(self, value: str, path: Path, out: list[FieldError], unknown: list[Unknown]) -> None:
        """Only the first failing of maxLength, minLength and pattern is reported. Lengths count code points."""
        length = len(value)
        where = path or "<nil>"
        if self.max_length is not None and length > self.max_length:
            if not self.server.does("typed_errors"):
                detail = f"{path} in body should be at most {self.max_length} chars long"
                out.append(FieldError(INVALID, where, value, detail))
            elif self.server.does("bytes_text"):
                unit = "byte" if self.max_length == 1 and self.server.does("json_values") else "bytes"
                out.append(FieldError(TOO_LONG, where, value, f"may not be more than {self.max_length} {unit}"))
            else:
                out.append(FieldError(TOO_LONG, where, value, f"may not be longer than {self.max_length}"))
        elif self.min_length is not None and length < self.min_length:
            out.append(
                FieldError(INVALID, where, value, f"{path} in body should be at least {self.min_length} chars long")
            )
        elif self.pattern is not None and not self.pattern.search(value):
            detail = f"{path} in body should match '{self.pattern.source}'"
            out.append(FieldError(INVALID, where, value, detail))
        elif self.unknown:
            unknown.append(Unknown(where, "pattern", self.unknown))
        elif length <= formats.LONGEST_REMEMBERED and len(self.passed) < _MOST_REMEMBERED:
            self.passed.add(value)

    def _array(
        self, value: list[Any], path: Path, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]
    ) -> int:
        count = 0
        items = self.items
        if items is not None:
            indexed = self.server.does("list_index_in_paths")
            for index, item in enumerate(value):
                if type(item) is items.plain and (items.passing is None or item in items.passing):
                    count += items.plain_checks
                    continue
                old = pair.item(index) if pair is not None else None
                count += items.validate(item, f"{path}[{index}]" if indexed else path, old, out, unknown)
        size = len(value)
        if self.min_items is not None and size < self.min_items:
            detail = f"{path} in body should have at least {self.min_items} items"
            out.append(FieldError(INVALID, path or "<nil>", size, detail))
        if self.max_items is not None and size > self.max_items:
            out.append(self._too_many(path, size, self.max_items, "items"))
        return count

    def _too_many(self, path: Path, size: int, most: int, what: str) -> FieldError:
        if not self.server.does("typed_errors"):
            shown = size if what == "items" or self.server.does("count_as_bad_value") else most
            return FieldError(INVALID, path or "<nil>", shown, f"{path} in body should have at most {most} {what}")
        word = "item" if most == 1 and self.server.does("json_values") else "items"
        return FieldError(TOO_MANY, path or "<nil>", size, f"must have at most {most} {word}")

    def _enum(self, value: Any, path: Path, out: list[FieldError]) -> None:
        # A text equals texts only; what is no text may equal one (section 3.4).
        if type(value) is str:
            found = value in self.enum_strings
        else:
            found = any(is_member(value, member) for member in self.enum)
        if not found:
            out.append(FieldError(NOT_SUPPORTED, path or "<nil>", value, self.enum_detail))

    def _object(
        self,
        value: dict[str, Any],
        path: Path,
        pair: Pair | None,
        out: list[FieldError],
        unknown: list[Unknown],
    ) -> int:
        size = len(value)
        counts_wrong = False
        if self.min_properties is not None and size < self.min_properties:
            shown = size if self.server.does("count_as_bad_value") else self.min_properties
            detail = f"{path} in body should have at least {self.min_properties} properties"
            out.append(FieldError(INVALID, path or "<nil>", shown, detail))
            counts_wrong = True
        if self.max_properties is not None and size > self.max_properties:
            out.append(self._too_many(path, size, self.max_properties, "properties"))
            counts_wrong = True
        if counts_wrong and not self.server.does("property_counts_go_on"):
            return 0
        count = 0
        prefix = f"{path}." if path else ""
        if self.forbids_unknown:
            for name in sorted(value):
                detail = f"{prefix}{name} in body is a forbidden property"
                out.append(FieldError(INVALID, path or "<nil>", name, detail))
        # The server goes through map values and declared members at random; we in one order.
        members = self.members
        for name in sorted(value):
            member = members.get(name) or self.member(name)
            if member is not None:
                item = value[name]
                if type(item) is member.plain and (member.passing is None or item in member.passing):
                    count += member.plain_checks
                    continue
                # Type metadata of the (validator's) root is never ratcheted.
                correlates = pair is not None and (path or name not in _TYPE_META)
                old = pair.key(name) if pair is not None and correlates else None
                count += member.validate(item, prefix + name, old, out, unknown)
        for name in self.required:
            if name not in value:
                out.append(FieldError(REQUIRED, prefix + name, "", ""))
        return count


def _pathless(sentence: str) -> FieldError:
    """Junctor and number-range errors carry no path of their own; they quote it in the sentence."""
    return FieldError(INVALID, "<nil>", "", sentence)


def is_member(value: Any, member: Any) -> bool:
    """Go's conversion-then-DeepEqual (section 3.4): numbers convert into each other, integers into text."""
    if member is None or isinstance(value, bool) != isinstance(member, bool):
        return False
    if isinstance(value, (int, float)) and isinstance(member, (int, float)) and not isinstance(value, bool):
        try:
            if isinstance(member, int) and isinstance(value, float):
                return int(value) == member
            return float(value) == float(member) if isinstance(member, float) else value == member
        except OverflowError:  # beyond float64: equal to nothing that is within
            return False
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(member, str):
        return member == (chr(value) if 0 <= value <= 0x10FFFF else "\ufffd")
    return same(value, member)


def enum_detail(members: tuple[Any, ...]) -> str:
    """``supported values: "a", "b"``: schema order, never cut, non-strings as JSON and then quoted."""
    shown = (quote(member if isinstance(member, str) else compact_json(member)) for member in members)
    return "supported values: " + ", ".join(shown)

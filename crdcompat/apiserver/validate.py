"""OpenAPI validation of a value by a schema (docs/semantics.md#values).

A validator is compiled once per schema and server. Its errors are relative to its own root: the whole object
for main writes, ``.status`` for status writes since 1.28. ``admission`` adds the prefix.

``validate`` returns the number of successful checks: if all branches of an anyOf or oneOf fail, the API server shows
the errors of the branch with the most successful checks (docs/semantics.md#junctors).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from crdcompat.apiserver import formats, limits
from crdcompat.apiserver.correlation import Pair
from crdcompat.apiserver.enums import Enum
from crdcompat.apiserver.field_errors import INVALID, REQUIRED, TOO_MANY, TYPE_INVALID, FieldError, Unknown
from crdcompat.apiserver.junctors import Junctors
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.limits import StringLimits
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Trail, pointer_at
from crdcompat.schema.structural import Node
from crdcompat.schema.work import WORK

if TYPE_CHECKING:
    from collections.abc import Container

_TYPE_META = frozenset({"apiVersion", "kind"})
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
#: Go's format of a decoded number. Other values have none.
_GO_FORMAT: Final = {int: "int64", float: "float64"}

#: Schema type -> Python type of its values, and their number of checks besides the checks of every node.
_SCALARS: Final[dict[str, tuple[type, int]]] = {"string": (str, 1), "boolean": (bool, 0), "integer": (int, 2)}


class _RefusedError(Exception):
    """The value has an error."""


class _Refusing(list[FieldError]):
    """Errors of which the first ends the validation: only whether there is one is asked."""

    def append(self, error: FieldError) -> None:
        raise _RefusedError


class SchemaValidator:
    """One schema node, compiled for one server."""

    #: Servers strip formats that they do not support from the schemas of objects, not from those of defaults.
    strips_formats = True

    def __init__(self, node: Node, server: Server) -> None:
        self.node = node
        self.server = server
        self.types = node.types
        self.native = frozenset(kind for name in self.types for kind in _NATIVE.get(name, ()))
        self.nullable = node.nullable
        supported = node.format if formats.supported(node.format, node.type, server) else ""
        self.format = supported if self.strips_formats else node.format
        # The server counts checks: one each for the type, the junctors and the enum, and more by kind of value.
        self.type_checks = 2 if self.types or self.format else 0
        self.own_checks = 4 + self.type_checks
        self.enum = Enum.read(node, server)
        self.members: dict[str, SchemaValidator] = {}
        #: False for many branches of junctors, which have only ``required``.
        self.describes_members = bool(node.properties) or isinstance(node.additional, Node)
        self.required = node.required
        self.forbids_unknown = node.additional is False
        self.junctors = Junctors.read(node, server, self._compiled)
        self.min_items, self.max_items = node.count("minItems"), node.count("maxItems")
        self.min_properties, self.max_properties = node.count("minProperties"), node.count("maxProperties")
        self.bounds = limits.Bounds.read(node, supported, server)
        self.string_limits = StringLimits.read(node, server)
        self.fast_type, self.fast_checks, self.fast_strings = self._fast_path()

    def _fast_path(self) -> tuple[type | None, int, Container[str] | None]:
        """The type of scalars that are valid without further checks, their number of successful checks, and the
        known valid strings (None if all are valid). The type is None if there is no fast path.
        """
        kind, more = _SCALARS.get(self.node.type, (None, 0))
        constraints = [each for each in (self.enum, self.format, self.string_limits) if each]
        if kind is None or self.junctors or self.bounds or len(constraints) > (kind is str):
            return None, 0, None
        checks = self.own_checks + more + bool(self.format)
        if self.enum is not None:
            return kind, checks, self.enum.strings
        if self.format:
            return kind, checks, formats.known_matches(self.format, self.server)
        return kind, checks, self.string_limits.passed if self.string_limits is not None else None

    def _compiled(self, node: Node) -> SchemaValidator:
        return type(self)(node, self.server)

    @cached_property
    def items(self) -> SchemaValidator | None:
        return self._compiled(self.node.items) if self.node.items is not None else None

    def member(self, name: str) -> SchemaValidator | None:
        """The validator of an object's member, added to ``members``; None if no schema describes it."""
        sub = self.node.properties.get(name)
        if sub is None:
            return self.map_value  # not cached by name: a map may have any number of keys
        self.members[name] = self._compiled(sub)
        return self.members[name]

    @cached_property
    def map_value(self) -> SchemaValidator | None:
        sub = self.node.additional
        return self._compiled(sub) if isinstance(sub, Node) else None

    def validate(
        self, value: Any, path: Trail, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]
    ) -> int:
        """Append the errors of ``value`` to ``out``; return the count of successful checks.

        ``pair`` is the pair with the correlated old value if ratcheting is on. The server then drops the errors of an
        unchanged node and of its descendants (KEP-4008).
        """
        if pair is None:
            return self._checks(value, path, None, out, unknown)
        before = len(out)
        count = self._checks(value, path, pair, out, unknown)
        if len(out) > before and pair.equal():
            del out[before:]
        return count

    def accepts(self, value: Any) -> bool:
        """Whether ``value`` has no error: ``validate`` up to the first one. What cannot be judged has none."""
        try:
            self._checks(value, None, None, _Refusing(), [])
        except _RefusedError:
            return False
        return True

    def validate_root(self, value: Any, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]) -> None:
        """Validate a whole object. The root never ratchets, because its metadata always differs."""
        self._checks(value, None, pair, out, unknown)

    def _checks(self, value: Any, path: Trail, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]) -> int:
        WORK.done += 1
        kind = type(value)
        if value is None:
            if self.types and not self.nullable:
                out.append(self._type_error(path, Keyword.TYPE, self.types, "null"))
            if self.enum is not None:
                self.enum.check(None, path, out)
            return 0
        count = self.own_checks
        if self.types and kind not in self.native:
            count += self._type(value, kind, path, out)
        if self.junctors is not None:
            count += self.junctors.check(value, path, out, unknown)
        if kind is str:
            count += 1
            if self.string_limits is not None:
                self.string_limits.check(value, path, out, unknown)
            if self.format:
                count += 1
                if not formats.matches(self.format, value, self.server):
                    out.append(self._type_error(path, Keyword.FORMAT, (self.format,), value))
        elif kind is dict:
            if self.enum is not None:
                self.enum.check(value, path, out)
            return count + 1 + self._object(value, path, pair, out, unknown)
        elif kind is list:
            count += 2 + self._array(value, path, pair, out, unknown)
        elif kind is not bool:
            count += 2
            if self.bounds is not None:
                self.bounds.check(value, path, out)
        if self.enum is not None:
            self.enum.check(value, path, out)
        return count

    # -- type ---------------------------------------------------------------------------------------

    def _type(self, value: Any, kind: type, path: Trail, out: list[FieldError]) -> int:
        """The type check of a value whose JSON type is not among ``types``; returns the change of the check count."""
        named = _JSON_TYPE[kind]
        near_integer = kind is float and "integer" in self.types and limits.is_integer_like(value, self.server)
        if self.format and kind not in (str, list) and not near_integer:
            detected = _GO_FORMAT.get(kind, "")
            if detected != self.format:
                out.append(self._type_error(path, Keyword.TYPE, (self.format,), detected))
                return -1
        numeric = "integer" in self.types or "number" in self.types
        if self.format and not numeric and kind in (str, list):
            return 0  # a list passes `type: string` with a format, because the server relies on the format check
        if not near_integer:
            out.append(self._type_error(path, Keyword.TYPE, self.types, named))
            return -1
        return 0

    def _type_error(self, path: Trail, keyword: Keyword, wanted: tuple[str, ...], value: str) -> FieldError:
        kind = TYPE_INVALID if self.server.does("typed_errors") else INVALID
        return FieldError(kind, pointer_at(path), keyword, value, self.server, wanted)

    # -- by kind of value ---------------------------------------------------------------------------

    def _array(
        self, value: list[Any], path: Trail, pair: Pair | None, out: list[FieldError], unknown: list[Unknown]
    ) -> int:
        count = 0
        items = self.items
        if items is not None:
            for index, item in enumerate(value):
                if type(item) is items.fast_type and (items.fast_strings is None or item in items.fast_strings):
                    count += items.fast_checks
                    continue
                old = pair.item(index) if pair is not None else None
                count += items.validate(item, (path, index), old, out, unknown)
        size = len(value)
        if self.min_items is not None and size < self.min_items:
            out.append(FieldError(INVALID, pointer_at(path), Keyword.MIN_ITEMS, size, self.server, self.min_items))
        if self.max_items is not None and size > self.max_items:
            out.append(self._too_many(path, size, self.max_items, Keyword.MAX_ITEMS))
        return count

    def _too_many(self, path: Trail, size: int, limit: int, keyword: Keyword) -> FieldError:
        typed = self.server.does("typed_errors")
        counts = typed or keyword is Keyword.MAX_ITEMS or self.server.does("count_as_bad_value")
        kind, shown = TOO_MANY if typed else INVALID, size if counts else limit
        return FieldError(kind, pointer_at(path), keyword, shown, self.server, limit)

    def _object(
        self,
        value: dict[str, Any],
        path: Trail,
        pair: Pair | None,
        out: list[FieldError],
        unknown: list[Unknown],
    ) -> int:
        size = len(value)
        counts_wrong = False
        if self.min_properties is not None and size < self.min_properties:
            shown = size if self.server.does("count_as_bad_value") else self.min_properties
            error = FieldError(
                INVALID, pointer_at(path), Keyword.MIN_PROPERTIES, shown, self.server, self.min_properties
            )
            out.append(error)
            counts_wrong = True
        if self.max_properties is not None and size > self.max_properties:
            out.append(self._too_many(path, size, self.max_properties, Keyword.MAX_PROPERTIES))
            counts_wrong = True
        if counts_wrong and not self.server.does("property_counts_go_on"):
            return 0
        count = 0
        if self.forbids_unknown:
            for name in sorted(value):
                out.append(FieldError(INVALID, pointer_at(path), Keyword.ADDITIONAL_PROPERTIES, name, self.server))
        # The server visits members in random order. Sorting makes the order of errors stable.
        members = self.members
        for name in sorted(value) if self.describes_members else ():
            member = members.get(name) or self.member(name)
            if member is not None:
                item = value[name]
                if type(item) is member.fast_type and (member.fast_strings is None or item in member.fast_strings):
                    count += member.fast_checks
                    continue
                # The server never ratchets apiVersion and kind of the validator's root.
                correlates = pair is not None and (path is not None or name not in _TYPE_META)
                old = pair.key(name) if pair is not None and correlates else None
                count += member.validate(item, (path, name), old, out, unknown)
        for name in self.required:
            if name not in value:
                out.append(FieldError(REQUIRED, pointer_at((path, name)), Keyword.REQUIRED, "", self.server))
        return count

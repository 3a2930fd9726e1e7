"""The API server's sentences, verbatim (docs/semantics.md#error-texts). No code parses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from crdcompat.apiserver import gotext
from crdcompat.apiserver.field_paths import NOWHERE, joined, rule_place, schema_place
from crdcompat.apiserver.keywords import JUNCTORS, Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.equality import ById
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import ABSENT

#: Error type -> start of its sentences; and the types whose sentences do not show the value.
_HEADS: Final = {
    "FieldValueInvalid": "Invalid value",
    "FieldValueTypeInvalid": "Invalid value",
    "FieldValueRequired": "Required value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
}
_WITHOUT_VALUE = frozenset({"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"})

#: Details of schema errors. ``place`` is the path, ``quoted`` the path in quotes, ``demand`` the keyword's value.
_DETAILS: Final[dict[Keyword, str]] = {
    Keyword.TYPE: "{place} in body must be of type {demand}: {value}",
    Keyword.FORMAT: "{place} in body must be of type {demand}: {value}",
    Keyword.ENUM: "supported values: {demand}",
    Keyword.PATTERN: "{place} in body should match '{demand}'",
    Keyword.MIN_LENGTH: "{place} in body should be at least {demand} chars long",
    Keyword.MAX_LENGTH: "{place} in body should be at most {demand} chars long",
    Keyword.MINIMUM: "{place} in body should be greater than or equal to {demand}",
    Keyword.MAXIMUM: "{place} in body should be less than or equal to {demand}",
    Keyword.EXCLUSIVE_MINIMUM: "{place} in body should be greater than {demand}",
    Keyword.EXCLUSIVE_MAXIMUM: "{place} in body should be less than {demand}",
    Keyword.MULTIPLE_OF: "{place} in body should be a multiple of {demand}",
    Keyword.RANGE: "{demand} in {place}",
    Keyword.MIN_ITEMS: "{place} in body should have at least {demand} items",
    Keyword.MAX_ITEMS: "{place} in body should have at most {demand} items",
    Keyword.MIN_PROPERTIES: "{place} in body should have at least {demand} properties",
    Keyword.MAX_PROPERTIES: "{place} in body should have at most {demand} properties",
    Keyword.ADDITIONAL_PROPERTIES: "{value} in body is a forbidden property",
    Keyword.REQUIRED: "",
    Keyword.ANY_OF: "{quoted} must validate at least one schema (anyOf)",
    Keyword.ONE_OF: "{quoted} must validate one and only one schema (oneOf). {demand}",
    Keyword.ALL_OF: "{quoted} must validate all the schemas (allOf){demand}",
    Keyword.NOT: "{quoted} must not validate the schema (not)",
}
#: Details without a path, for errors of the types Too long and Too many.
_TOO_LONG, _TOO_LONG_IN_BYTES = "may not be longer than {demand}", "may not be more than {demand} {unit}"
_TOO_MANY = "must have at most {demand} {unit}"
_ONE_VALID, _NONE_VALID = "Found {count} valid alternatives", "Found none valid"
_NO_BRANCH = ". None validated"
_FACTOR = "factor MultipleOf declared for {place} must be positive: {demand}"
_OUT_OF_RANGE = "{what} must be of type {type} {format}"
_RANGES: Final[dict[Keyword | None, str]] = {
    None: "Checked value",
    Keyword.MULTIPLE_OF: "MultipleOf value",
    Keyword.MAXIMUM: "Maximum boundary value",
    Keyword.MINIMUM: "Minimum boundary value",
}
_FAILED_RULE = "failed rule: {demand}"
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)

#: Keywords whose details contain the path; the error's field is then only the prefix of length ``base``.
_PLACE_IN_SENTENCE = JUNCTORS | {Keyword.RANGE}


class ErrorParts(NamedTuple):
    """What a sentence is made of: the values of a `FieldError`, which describes them."""

    type: str
    pointer: Pointer
    keyword: Keyword
    value: Any
    server: Server
    demand: Any = None
    fixed_detail: str | None = None
    rule: int | None = None
    base: int = 0
    keys: tuple[int, ...] = ()


def text(error: ErrorParts) -> str:
    """The sentence as in ``Status.message``."""
    return f"{field(error)}: {body(error)}"


def body(error: ErrorParts) -> str:
    """The sentence without its path."""
    parts = [_HEADS[error.type]]
    if error.type not in _WITHOUT_VALUE and error.value is not ABSENT:
        parts.append(_bad_value(error))
    if explanation := detail(error):
        parts.append(explanation)
    return ": ".join(parts)


def aggregate(kind: str, group: str, name: str, errors: Sequence[ErrorParts]) -> str:
    """The message of a 422: a single sentence, or distinct sentences in brackets; "" without errors."""
    sentences = list(dict.fromkeys(map(text, errors)))
    if not sentences:
        return ""
    shown = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    return f"{f'{kind}.{group}' if group else kind} {gotext.quote(name)} is invalid: {shown}"


def field(error: ErrorParts) -> str:
    """The path in the server's notation; "<nil>" for the root."""
    return _field(error) or NOWHERE


def detail(error: ErrorParts) -> str:
    """The part of the sentence after the bad value; "" if there is none."""
    if error.fixed_detail is not None:
        return error.fixed_detail
    special = _SPECIAL.get(error.keyword)
    return special(error) if special is not None else _filled(error, error.demand)


def supported_values(values: Sequence[str]) -> str:
    """The detail of a value that is none of ``values``."""
    return _DETAILS[Keyword.ENUM].format(demand=_listed(tuple(values)))


def _field(error: ErrorParts) -> str:
    keyword, pointer, base = error.keyword, error.pointer, error.base
    if keyword is Keyword.SCALE:
        return str(error.demand)  # the JSONPath of the CRD
    if keyword is Keyword.DEFAULT and error.demand is not None:
        return joined(rule_place(pointer[:base], error.keys), _field(error.demand))
    if keyword not in _DETAILS:
        return joined(rule_place(pointer[:base], error.keys), rule_place(pointer, error.keys, base))
    inside = "" if keyword in _PLACE_IN_SENTENCE else schema_place(pointer[base:], error.server)
    if not base or not error.server.does("status_prefix"):
        return inside
    return joined(schema_place(pointer[:base], error.server), inside)


def _place(error: ErrorParts) -> str:
    """The path as the sentence shows it, which begins with a dot where the validated value itself is a map."""
    place = schema_place(error.pointer[error.base :], error.server)
    return f".{place}" if place and error.base and error.base in error.keys else place


def _filled(error: ErrorParts, demand: Any, template: str = "", **more: str) -> str:
    """The template of the error's keyword, or ``template``, with its placeholders filled."""
    place = _place(error)
    return (template or _DETAILS[error.keyword]).format(
        place=place, quoted=gotext.quote(place), demand=demand, value=error.value, **more
    )


def _type(error: ErrorParts) -> str:
    return _DETAILS[error.keyword].format(
        place=_place(error), demand=",".join(error.demand), value=gotext.quote(error.value)
    )


def _enum(error: ErrorParts) -> str:
    return _DETAILS[Keyword.ENUM].format(demand=_members(ById(error.demand)))


def _listed(members: tuple[Any, ...]) -> str:
    """``"a", "b"``: all members in schema order; those that are no strings as quoted JSON."""
    return ", ".join(gotext.quote(each if isinstance(each, str) else gotext.compact_json(each)) for each in members)


@lru_cache(maxsize=256)
def _members(members: ById[tuple[Any, ...]]) -> str:
    """``_listed``, cached, because all errors of one enum show the same list."""
    return _listed(members.value)


def _number(error: ErrorParts) -> str:
    return _filled(error, _shown(error.demand))


def _multiple(error: ErrorParts) -> str:
    return _filled(error, _shown(error.demand), "" if error.demand > 0 else _FACTOR)


def _range(error: ErrorParts) -> str:
    what, kind, form = error.demand
    format_shown = f"with format {form}" if form else "(default format)"
    return _filled(error, _OUT_OF_RANGE.format(what=_RANGES[what], type=kind, format=format_shown))


def _max_length(error: ErrorParts) -> str:
    server, limit = error.server, error.demand
    if not server.does("typed_errors"):
        return _filled(error, limit)
    if not server.does("bytes_text"):
        return _TOO_LONG.format(demand=limit)
    unit = "byte" if limit == 1 and server.does("json_values") else "bytes"
    return _TOO_LONG_IN_BYTES.format(demand=limit, unit=unit)


def _too_many(error: ErrorParts) -> str:
    server, limit = error.server, error.demand
    if not server.does("typed_errors"):
        return _filled(error, limit)
    unit = "item" if limit == 1 and server.does("json_values") else "items"
    return _TOO_MANY.format(demand=limit, unit=unit)


def _additional(error: ErrorParts) -> str:
    place = schema_place((*error.pointer[error.base :], error.value), error.server)
    return _DETAILS[error.keyword].format(value=place)


def _one_of(error: ErrorParts) -> str:
    return _filled(error, _ONE_VALID.format(count=error.demand) if error.demand else _NONE_VALID)


def _all_of(error: ErrorParts) -> str:
    return _filled(error, "" if error.demand else _NO_BRANCH)


def _rule(error: ErrorParts) -> str:
    return _FAILED_RULE.format(demand=error.demand)


def _default(error: ErrorParts) -> str:
    return detail(error.demand)


def _not_checked(error: ErrorParts) -> str:
    return _NOT_CHECKED


_SPECIAL: Final[dict[Keyword, Callable[[ErrorParts], str]]] = {
    Keyword.TYPE: _type,
    Keyword.FORMAT: _type,
    Keyword.ENUM: _enum,
    Keyword.MINIMUM: _number,
    Keyword.MAXIMUM: _number,
    Keyword.EXCLUSIVE_MINIMUM: _number,
    Keyword.EXCLUSIVE_MAXIMUM: _number,
    Keyword.MULTIPLE_OF: _multiple,
    Keyword.RANGE: _range,
    Keyword.MAX_LENGTH: _max_length,
    Keyword.MAX_ITEMS: _too_many,
    Keyword.MAX_PROPERTIES: _too_many,
    Keyword.ADDITIONAL_PROPERTIES: _additional,
    Keyword.ONE_OF: _one_of,
    Keyword.ALL_OF: _all_of,
    Keyword.RULE: _rule,
    Keyword.DEFAULT: _default,
    Keyword.NOT_CHECKED: _not_checked,
}


def _shown(value: int | float) -> str:
    return str(value) if isinstance(value, int) else gotext.number(value)


def _bad_value(error: ErrorParts) -> str:
    if error.keyword is Keyword.METADATA and error.demand is not None:
        return str(error.demand[error.server.does("json_values")])
    return _value(error.value, error.server)


def _value(value: Any, server: Server) -> str:
    """A bad value as this server prints it."""
    if value is None:
        return "null" if server.does("json_values") else '"null"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return gotext.quote(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return gotext.number(value)
    if isinstance(value, gotext.GoValue):
        return value.json if server.does("json_values") else value.go
    return gotext.compact_json(value) if server.does("json_values") else gotext.go_syntax(value)

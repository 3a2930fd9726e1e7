"""The words for what a JSON Schema finds wrong in a file: what is there, and what to write.

An error of the library is a value: the keyword that is broken, what it demands, the instance, the path. The sentences
are made from these; the library's own sentences are never shown.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

#: A ``jsonschema.ValidationError``, whose attributes have a type for "not set" as well.
_Error: TypeAlias = Any

#: Type of JSON Schema -> what a person writes.
_KINDS: Final = {
    "string": "text",
    "array": "a list",
    "object": "a map of keys",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "null",
}
_MAX_SHOWN = 60


def sentence(error: _Error) -> str:
    """What is wrong at the place of an error, and what to write there."""
    worded = _WORDS.get(str(error.validator))
    return worded(error) if worded is not None else f"does not fit what its schema says of {error.validator}"


def place(error: _Error) -> tuple[str | int, ...]:
    """The place of what is wrong: in an alternative of ``oneOf``, that of the alternative's error."""
    inner = _inner(error) if error.validator in ("oneOf", "anyOf") else None
    return place(inner) if inner is not None else tuple(error.absolute_path)


def worded_keywords() -> frozenset[str]:
    """The keywords of JSON Schema that have a sentence."""
    return frozenset(_WORDS)


def _type(error: _Error) -> str:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    held = error.instance
    if "string" in wanted and isinstance(held, (int, float)) and not isinstance(held, bool):
        return f'{held} is a number to YAML: write it in quotes, "{held}"'
    if "string" in wanted and isinstance(held, bool):
        return f"{_shown(held)} is true or false to YAML: write it in quotes"
    return _instead(error, [str(_KINDS.get(kind, kind)) for kind in wanted])


def _instead(error: _Error, kinds: list[str]) -> str:
    return f"{' or '.join(kinds)} is wanted here{_about(error)}, and this is {_kind(error.instance)}"


def _enum(error: _Error) -> str:
    members = [_shown(member) for member in error.validator_value]
    near = get_close_matches(_shown(error.instance), members, n=1)
    hint = f"did you mean {near[0]}?" if near else f"write one of {', '.join(members)}"
    return f"{_shown(error.instance)} is not known here; {hint}"


def _const(error: _Error) -> str:
    return f"{_shown(error.validator_value)} is wanted here, and this is {_shown(error.instance)}"


def _required(error: _Error) -> str:
    return _missing([key for key in error.validator_value if key not in error.instance], error)


def _dependent(error: _Error) -> str:
    having = {key: keys for key, keys in error.validator_value.items() if key in error.instance}
    missing = [key for keys in having.values() for key in keys if key not in error.instance]
    return f"{' and '.join(map(repr, having))} asks for more: {_missing(missing, error)}"


def _missing(keys: list[str], error: _Error) -> str:
    known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    listed = ", ".join(f"{key}: {_wanted(known.get(key, {}))}" for key in keys)
    return f"{'this key is' if len(keys) == 1 else 'these keys are'} missing; write {listed}"


def _wanted(schema: Any) -> str:
    """What to write for a key, in capitals as in help: ``rollback|upgrade``, TEXT."""
    if "enum" in schema:
        return "|".join(map(_shown, schema["enum"]))
    kind = schema.get("type", "")
    kinds = kind if isinstance(kind, list) else [kind]
    return "|".join(_KINDS.get(each, "value").removeprefix("a ").replace(" ", "-").upper() for each in kinds)


def _additional(error: _Error) -> str:
    known = sorted(error.schema.get("properties", {}))
    unknown = next((str(key) for key in error.instance if key not in known), "")
    near = get_close_matches(unknown, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"there is no key {unknown!r}; {hint}"


def _min_length(error: _Error) -> str:
    if error.validator_value == 1:
        return f"this is empty; write it, or leave the key out{_about(error)}"
    return f"{_shown(error.instance)} is too short: write {error.validator_value} characters or more"


def _min_items(error: _Error) -> str:
    return f"the list has {len(error.instance)} items; write {error.validator_value} or more"


def _minimum(error: _Error) -> str:
    return f"{error.instance} is too small; write {error.validator_value} or more"


def _unique(error: _Error) -> str:
    twice = next(item for index, item in enumerate(error.instance) if item in error.instance[:index])
    return f"{_shown(twice)} is listed twice; write it once"


def _pattern(error: _Error) -> str:
    return f"{error.instance!r} is not {error.schema.get('description', 'of the form ' + str(error.validator_value))}"


def _one_of(error: _Error) -> str:
    inner = _inner(error)
    if inner is not None:
        return sentence(inner)
    kinds = [str(each.validator_value) for each in error.context or () if each.validator == "type"]
    return _instead(error, [_KINDS.get(kind, kind) for kind in dict.fromkeys(kinds)] or ["something else"])


def _inner(error: _Error) -> _Error | None:
    """The error of the alternative whose kind fits: the others fail because the value is of another kind."""
    at = len(error.absolute_path)
    other = {each.schema_path[0] for each in error.context or () if _is_of_kind(each, at)}
    fitting = [each for each in error.context or () if each.schema_path[0] not in other]
    return fitting[0] if fitting else None


def _is_of_kind(error: _Error, at: int) -> bool:
    return error.validator in ("type", "const") and len(error.absolute_path) <= at + (error.validator == "const")


def _about(error: _Error) -> str:
    text = str(error.schema.get("description", "")).rstrip(".") if isinstance(error.schema, dict) else ""
    return f" ({text})" if text else ""


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)) or value is None:
        return "empty" if value is None else "a list" if isinstance(value, list) else "a map of keys"
    if isinstance(value, str):
        return f"the text {_shown(value)}"
    return _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


_WORDS: Final[dict[str, Callable[[Any], str]]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "dependentRequired": _dependent,
    "additionalProperties": _additional,
    "minLength": _min_length,
    "minItems": _min_items,
    "minimum": _minimum,
    "uniqueItems": _unique,
    "pattern": _pattern,
    "oneOf": _one_of,
    "anyOf": _one_of,
}

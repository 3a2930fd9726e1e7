"""Files that users write for crdcompat: one YAML mapping, validated with a JSON Schema, errors with their line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_mapping(path: Path, text: bytes) -> dict[str, Any]:
    """The one mapping in a YAML file; ``{}`` for an empty file. Raises ConfigError."""
    from crdcompat.yaml.documents import Document, read_documents

    found = list(read_documents(text, str(path)))
    for item in found:
        if not isinstance(item, Document):
            raise ConfigError(f"{path}:{item.line or 1}: {item.message}")
        for remark in item.remarks:
            raise ConfigError(f"{path}:{remark.line}: {remark.message}")
    if not found:
        return {}
    if len(found) > 1 or not isinstance(found[0].data, dict):  # type: ignore[union-attr]
        raise ConfigError(f"{path}: one mapping is wanted here")
    data: dict[str, Any] = found[0].data  # type: ignore[union-attr]
    return data


def check_schema(path: Path, values: Any, text: bytes | None, schema: Mapping[str, Any]) -> None:
    """Validate a file's values with a JSON Schema. Raises ConfigError with the line of the first error."""
    from jsonschema import Draft202012Validator

    errors = sorted(
        Draft202012Validator(schema).iter_errors(values), key=lambda error: [*map(str, error.absolute_path)]
    )
    for error in errors:
        pointer = tuple(error.absolute_path)
        unknown = _unknown_key(error)
        message = unknown or _plain_message(error)
        at = ".".join(map(str, pointer))
        raise ConfigError(f"{path}{_line(text, pointer)}: {at}{': ' if at else ''}{message}")


def _unknown_key(error: Any) -> str:
    if error.validator != "additionalProperties" or not isinstance(error.instance, dict):
        return ""
    from difflib import get_close_matches

    known = sorted(error.schema.get("properties", {}))
    for key in error.instance:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            return f"there is no key {key!r}; {hint}"
    return ""


def _plain_message(error: Any) -> str:
    if error.validator == "oneOf":
        return "neither a list of branches nor a map of releases to such lists"
    if error.validator == "type" and error.validator_value == "string" and isinstance(error.instance, float):
        return f'{error.instance} is a number to YAML: write it in quotes, "{error.instance}"'
    if error.validator == "pattern":
        return f"{error.instance!r} is not {error.schema.get('description', error.schema['pattern'])}"
    return str(error.message)


def _line(text: bytes | None, pointer: tuple[str | int, ...]) -> str:
    if text is None:
        return ""
    from crdcompat.yaml.locate import locate

    for length in range(len(pointer), -1, -1):
        place = locate(text, [(0, pointer[:length])]).get((0, pointer[:length]))
        if place is not None:
            return f":{place[0]}"
    return ""

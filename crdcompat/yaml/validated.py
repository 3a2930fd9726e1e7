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
        raise ConfigError(f"{path}: expected one mapping")
    data: dict[str, Any] = found[0].data  # type: ignore[union-attr]
    return data


def check_schema(path: Path, values: Any, text: bytes | None, schema: Mapping[str, Any]) -> None:
    """Validate a file's values with a JSON Schema. Raises ConfigError with the line of the first error."""
    wrong = first_error(path, values, text, schema)
    if wrong is not None:
        raise ConfigError(wrong)


def first_error(path: Path | str, values: Any, text: bytes | None, schema: Mapping[str, Any]) -> str | None:
    """``file:line: key: what is wrong, and what to write``; None if the values fit."""
    from jsonschema import Draft202012Validator

    from crdcompat.yaml.schema_errors import place, sentence

    errors = Draft202012Validator(schema).iter_errors(values)
    error = min(errors, key=lambda each: [*map(str, each.absolute_path)], default=None)
    if error is None:
        return None
    pointer = place(error)
    at = ".".join(map(str, pointer))
    return f"{path}{line_suffix(text, pointer)}: {at}{': ' if at else ''}{sentence(error)}"


def line_suffix(text: bytes | None, pointer: tuple[str | int, ...]) -> str:
    """``:12``, the line of the deepest part of ``pointer`` that the file has; "" if no line is known."""
    if text is None:
        return ""
    from crdcompat.yaml.locate import locate

    for length in range(len(pointer), -1, -1):
        place = locate(text, [(0, pointer[:length])]).get((0, pointer[:length]))
        if place is not None:
            return f":{place[0]}"
    return ""

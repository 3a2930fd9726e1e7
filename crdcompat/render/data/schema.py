"""The JSON Schema of JSON reports, from the short notation in ``render/report_schema.yaml``, which explains itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_SOURCE = Path(__file__).parent.parent / "report_schema.yaml"
_TYPES = frozenset({"string", "integer", "boolean", "object", "array", "null"})


def schema_of_reports() -> dict[str, Any]:
    """The schema: each kind of report is a case of ``oneOf``, and ``$defs`` has what several reports share."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    source = yaml.load(_SOURCE.read_bytes(), Loader=loader)
    return {
        **expanded(source["whole"]),
        "oneOf": [_report(command, members) for command, members in source["reports"].items()],
        "$defs": {name: expanded(part) for name, part in source["parts"].items()},
    }


def _report(command: str, members: dict[str, Any]) -> dict[str, Any]:
    found = _members(members)
    return {**found, "properties": {"command": {"const": command}, **found["properties"]}}


def expanded(node: Any) -> Any:
    """The JSON Schema of a node of the notation: text is a type, a list has its items' type, a mapping has members."""
    match node:
        case str():
            written, _, description = node.partition(" -- ")
            return {**({"description": description} if description else {}), **_type(written)}
        case [item]:
            return {"type": "array", "items": expanded(item)}
        case {"(schema)": plain, **others} if not others:
            return plain
    about = {"description": node["(about)"]} if "(about)" in node else {}
    if "(items)" in node:
        least = {"minItems": node["(at least)"]} if "(at least)" in node else {}
        return {**about, "type": "array", **least, "items": expanded(node["(items)"])}
    kind: dict[str, Any] = {"type": ["object", "null"] if "(or null)" in node else "object"}
    if "(adds to)" in node:
        kind = {"allOf": [_type(node["(adds to)"])]}
    return {**about, **kind, **_members(node), **node.get("(schema)", {})}


def _members(node: dict[str, Any]) -> dict[str, Any]:
    """What an object says of its members."""
    members = {name: type_ for name, type_ in node.items() if not name.startswith("(")}
    demanded = [name for name in members if not name.endswith("?")]
    properties = {name.rstrip("?"): expanded(type_) for name, type_ in members.items() if type_ is not None}
    others = node.get("(others)")
    return {
        **({"required": demanded} if demanded else {}),
        **({"properties": properties} if properties else {}),
        **({} if others is None else {"additionalProperties": others != "none" and expanded(others)}),
    }


def _type(written: str) -> dict[str, Any]:
    """The schema of a type without its description."""
    first, _, rest = written.partition(" ")
    match rest.split(" ", 1):
        case ["of", item] if first == "list":
            return {"type": "array", "items": _type(item)}
        case ["of", texts]:
            return {"enum": texts.split(" | ")}
        case ["like", pattern]:
            return {"type": first, "pattern": pattern}
        case ["for", names]:
            each = names.removeprefix("each of ").split(" | ")
            return {"type": "object", "required": each, "additionalProperties": _type(first)}
    types, _, least = written.partition(" from ")
    kinds = types.split(" or ")
    if types == "any":
        return {}
    if not _TYPES.issuperset(kinds):
        reference = {"$ref": f"#/$defs/{kinds[0]}"}
        return {"oneOf": [{"type": "null"}, reference]} if kinds[1:] else reference
    return {"type": kinds if kinds[1:] else kinds[0], **({"minimum": int(least)} if least else {})}

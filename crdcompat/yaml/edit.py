"""Set keywords of a YAML document in its text, so that a patch of a long generated manifest stays small.

In block style, the column of a key determines the lines of its value: only these are edited. A file in another style is
rewritten as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from crdcompat.schema.paths import Pointer, value_at, with_value
from crdcompat.schema.structural import ABSENT
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.locate import locate


class Setting(Struct, frozen=True):
    """Set ``keyword`` of the map at ``pointer`` in document ``index`` to ``value``; ABSENT removes it."""

    index: int
    pointer: Pointer
    keyword: str
    value: Any


def apply_settings(data: bytes, settings: Sequence[Setting]) -> bytes:
    """The bytes of the file with all settings applied. Raises ValueError if a document cannot be read."""
    intended = _intended(data, settings)
    edited = data
    for setting in settings:
        edited = _edit(edited, setting)
    if _values(edited) == intended:
        return edited
    return _rewritten(data, intended)


def _values(data: bytes) -> list[Any]:
    return [item.data for item in read_documents(data, "") if isinstance(item, Document) and not item.pointer]


def _intended(data: bytes, settings: Sequence[Setting]) -> list[Any]:
    documents = [item for item in read_documents(data, "") if isinstance(item, Document) and not item.pointer]
    if not documents:
        raise ValueError("no plain document")
    by_index = {document.index: document.data for document in documents}
    for setting in settings:
        at = (*setting.pointer, setting.keyword)
        by_index[setting.index] = with_value(by_index[setting.index], at, setting.value)
    return list(by_index.values())


def _edit(data: bytes, setting: Setting) -> bytes:
    """The bytes with one setting applied to its lines; unchanged if the text is not in block style."""
    lines = data.decode("utf-8").splitlines(keepends=True)
    at = (*setting.pointer, setting.keyword)
    place = locate(data, [(setting.index, at)]).get((setting.index, at))
    parent = _mapping(data, setting)
    if place is None or parent is None:
        return data
    longer = _longer_list(data, lines, setting, parent.get(setting.keyword))
    if longer is not None:
        return longer
    if setting.keyword in parent:
        first, column = place[0] - 1, place[1] - 1
        last = _end(lines, first, column)
        written = [] if setting.value is ABSENT else _block(setting.keyword, setting.value, column)
        lead = lines[first][:column]
        if lead.strip() and written:
            written[0] = lead + written[0].lstrip(" ")
        elif lead.strip():
            return data  # removing the first key after a dash would change the list
        return "".join([*lines[:first], *written, *lines[last:]]).encode()
    if setting.value is ABSENT or not parent:
        return data
    sibling = next(iter(parent))
    sibling_at = (*setting.pointer, sibling)
    found = locate(data, [(setting.index, sibling_at)]).get((setting.index, sibling_at))
    if found is None or lines[found[0] - 1][: found[1] - 1].strip():
        return data
    written = _block(setting.keyword, setting.value, found[1] - 1)
    return "".join([*lines[: found[0] - 1], *written, *lines[found[0] - 1 :]]).encode()


def _longer_list(data: bytes, lines: list[str], setting: Setting, before: Any) -> bytes | None:
    """Append new items to a list in the style of its last line; None if the change is not an append."""
    after = setting.value
    if not isinstance(before, list) or not isinstance(after, list) or not before or after[: len(before)] != before:
        return None
    last = (*setting.pointer, setting.keyword, len(before) - 1)
    place = locate(data, [(setting.index, last)]).get((setting.index, last))
    if place is None or any(isinstance(item, (dict, list)) for item in (before[-1], *after[len(before) :])):
        return None
    lead = lines[place[0] - 1][: place[1] - 1]
    if lead.strip() != "-":
        return None
    more = [f"{lead}{_scalar(item)}\n" for item in after[len(before) :]]
    return "".join([*lines[: place[0]], *more, *lines[place[0] :]]).encode()


def _scalar(value: Any) -> str:
    import yaml

    text: str = yaml.safe_dump([value], default_flow_style=True, width=10_000, allow_unicode=True)
    return text.strip()[1:-1]


def _mapping(data: bytes, setting: Setting) -> dict[str, Any] | None:
    for item in read_documents(data, ""):
        if isinstance(item, Document) and item.index == setting.index:
            try:
                found = value_at(item.data, setting.pointer)
            except LookupError:
                return None
            return found if isinstance(found, dict) else None
    return None


def _end(lines: list[str], first: int, column: int) -> int:
    """The index of the line after a key's value: it starts at the key's column or left of it, and is no list item."""
    for number in range(first + 1, len(lines)):
        text = lines[number]
        stripped = text.strip()
        if not stripped:
            continue
        indent = len(text) - len(text.lstrip(" "))
        if indent < column or (indent == column and not stripped.startswith("- ")):
            return number
    return len(lines)


def _block(keyword: str, value: Any, column: int) -> list[str]:
    import yaml

    text = yaml.safe_dump({keyword: value}, sort_keys=False, default_flow_style=False, width=10_000, allow_unicode=True)
    return [" " * column + line for line in text.splitlines(keepends=True)]


def _rewritten(data: bytes, documents: Sequence[Any]) -> bytes:
    if data.lstrip()[:1] in (b"{", b"["):
        return (json.dumps(documents[0], indent=2, ensure_ascii=False) + "\n").encode()
    import yaml

    return yaml.safe_dump_all(documents, sort_keys=False, width=10_000, allow_unicode=True).encode()

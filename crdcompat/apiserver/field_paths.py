"""Paths of fields as the API server writes them (docs/semantics.md#paths).

Errors of schemas have one notation, all other errors have another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.schema.paths import Pointer, field_of

if TYPE_CHECKING:
    from crdcompat.apiserver.server_versions import Server

NOWHERE = "<nil>"


def schema_place(pointer: Pointer, server: Server) -> str:
    """A path in the notation of schema errors: ``spec.l[0].m.key``. Servers before 1.24 omit indices."""
    return field_of(pointer, indexed=server.does("list_index_in_paths"))


def schema_field(pointer: Pointer, server: Server) -> str:
    """``schema_place`` as the field of an error: "<nil>" for the root."""
    return schema_place(pointer, server) or NOWHERE


def rule_place(pointer: Pointer, keys: tuple[int, ...], start: int = 0) -> str:
    """A path from step ``start`` in the notation of all other errors: ``spec.l[0].m[key]``.

    ``keys`` are the indices of the steps that are keys of maps."""
    spelled = ""
    for index, step in enumerate(pointer[start:], start):
        if isinstance(step, int) or index in keys:
            spelled += f"[{step}]"
        else:
            spelled += f".{step}" if spelled else step
    return spelled


def rule_field(pointer: Pointer, keys: tuple[int, ...]) -> str:
    """``rule_place`` as the field of an error: "<nil>" for the root."""
    return rule_place(pointer, keys) or NOWHERE


def joined(above: str, below: str) -> str:
    """A path and the path below it; one of them can be empty."""
    return f"{above}.{below}" if above and below else above or below

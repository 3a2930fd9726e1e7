"""Change: a fact about two schemas, without effect or severity (CONTRIBUTING.md#glossary)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from crdcompat.schema.paths import Pointer, SchemaPath, owner, render
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Owner


class Change(Struct, frozen=True):
    """One difference between two schemas at one path of the data.

    ``kind`` is ``facet.what`` (``enum.value-added``). ``old`` and ``new`` are the keyword's values as the
    report shows them, ``added`` and ``removed`` the enum values or property names. ``old_at`` and ``new_at``
    are pointers inside the schema of either side. ``of_crd`` marks changes of the CRD itself, whose pointers
    start at the document.
    """

    kind: str
    path: SchemaPath
    old: Any
    new: Any
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    old_at: Pointer = ()
    new_at: Pointer = ()
    of_crd: bool = False

    @property
    def place(self) -> str:
        """The path in the report's notation."""
        return render(self.path)

    @property
    def owner(self) -> Owner:
        return Owner.CRD if self.of_crd else owner(self.path)


class Undecided(Struct, frozen=True):
    """A difference that no facet can judge. Reports list it, so that no difference is silently skipped."""

    path: SchemaPath
    keyword: str
    old: Any
    new: Any
    reason: str
    old_at: Pointer = ()
    new_at: Pointer = ()


def shown(value: Any) -> Any:
    """A keyword's value for the report: ABSENT becomes null."""
    return None if value is ABSENT else value

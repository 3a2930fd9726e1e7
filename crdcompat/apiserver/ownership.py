"""Server-side apply by a manager that may own fields already: what it no longer sends goes, and others may object.

Source: structured-merge-diff, ``merge/update.go``; apimachinery, ``util/managedfields``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.apply import Type
from crdcompat.apiserver.field_sets import NO_FIELDS, Fields, changed, fields_of, parsed, shown, with_holders, without
from crdcompat.apiserver.gotext import quote
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import ABSENT

#: The manager of what an object has that no entry of its managedFields names.
_BEFORE_APPLY = "before-first-apply"


class Applier(Struct, frozen=True):
    """Who applies: the name of the field manager, and whether it takes fields from other managers by force."""

    name: str
    force: bool = True


class Entry(Struct, frozen=True):
    """An entry of managedFields: who owns which fields, since which kind of write."""

    manager: str
    applies: bool
    version: str
    subresource: str = ""
    fields: Fields = NO_FIELDS

    @property
    def order(self) -> tuple[str, bool, str, str]:
        """The place of the manager among others, as the server sorts them."""
        return self.manager, not self.applies, self.version, self.subresource

    @property
    def shown(self) -> str:
        """The manager as conflicts name it."""
        name = quote(self.manager) + (f" with subresource {quote(self.subresource)}" if self.subresource else "")
        if self.applies:
            return name
        return f"{name} using {self.version}"


def entries_of(live: Object, type_: Type, version: str) -> tuple[Entry, ...]:
    """The entries of an object's managedFields; without any, one entry owns the whole object."""
    meta = live.get("metadata")
    entries = meta.get("managedFields") if isinstance(meta, dict) else None
    found = tuple(
        Entry(
            manager=str(entry.get("manager", "")),
            applies=entry.get("operation") == "Apply",
            version=str(entry.get("apiVersion", "")),
            subresource=str(entry.get("subresource", "")),
            fields=parsed(entry.get("fieldsV1")),
        )
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    )
    return found or (Entry(_BEFORE_APPLY, applies=False, version=version, fields=changed(ABSENT, live, type_)),)


class Applied(Struct, frozen=True):
    """The object after an apply, and the fields that other managers own but the apply would change."""

    object: Any
    conflicts: tuple[tuple[Entry, tuple[str, ...]], ...] = ()

    @property
    def message(self) -> str:
        """The message of the 409; "" without a conflict."""
        places = [(entry, path) for entry, paths in self.conflicts for path in paths]
        if len(places) == 1:
            ((entry, path),) = places
            return f"Apply failed with 1 conflict: conflict with {entry.shown}: {path}"
        by_manager = sorted(self.conflicts, key=lambda each: each[0].order)
        lines = [
            line
            for entry, paths in by_manager
            for line in (f"conflicts with {entry.shown}:", *(f"- {path}" for path in paths))
        ]
        return f"Apply failed with {len(places)} conflicts: " + "\n".join(lines) if lines else ""


class Ownership(Struct, frozen=True):
    """The fields of one live object by manager, as an apply on one endpoint meets them.

    ``ignored`` are the members of the root that the endpoint resets; ``served`` the versions that the server knows.
    """

    type: Type
    entries: tuple[Entry, ...]
    subresource: str
    ignored: frozenset[str]
    served: frozenset[str]

    def applied(self, live: Object, patch: Object, merged: Object, applier: Applier) -> Applied:
        """``merged``, the merge of the patch into the live object, without the fields that the applier gives up."""
        known = [entry for entry in self.entries if entry.version in self.served]
        own = [entry for entry in known if self._is_of(entry, applier)]
        others = [entry for entry in known if not self._is_of(entry, applier)]
        sent = self._counted(fields_of(patch, self.type))
        last: Fields = NO_FIELDS.union(*(entry.fields for entry in own))
        new = self._pruned(merged, last, sent.union(*(entry.fields for entry in others))) if last else merged
        if applier.force:
            return Applied(new)
        touched = self._counted(changed(live, new, self.type))
        found = ((entry, sorted(map(shown, entry.fields & touched))) for entry in others)
        return Applied(new, tuple((entry, tuple(paths)) for entry, paths in found if paths))

    def _is_of(self, entry: Entry, applier: Applier) -> bool:
        return entry.applies and entry.manager == applier.name and entry.subresource == self.subresource

    def _counted(self, fields: Iterable[Any]) -> Fields:
        return frozenset(path for path in fields if not path or path[0] not in self.ignored)

    def _pruned(self, merged: Object, last: Fields, owned: Fields) -> Object:
        """Without what the applier owned ``last``, but what anybody owns now, and items that were not its own."""
        whole, mine = with_holders(fields_of(merged, self.type), self.type), with_holders(last, self.type)
        pruned = without(merged, mine, self.type)
        kept = with_holders(fields_of(pruned, self.type), self.type) | with_holders(owned, self.type)
        pruned = without(merged, whole - kept, self.type)
        gone = whole - with_holders(fields_of(pruned, self.type), self.type)
        found: Object = without(merged, gone & mine, self.type)
        return found

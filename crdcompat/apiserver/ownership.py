"""Server-side apply by a manager that may own fields already: it gives up what it no longer sends, or meets conflicts.

Source: structured-merge-diff, ``merge/update.go``; apimachinery, ``util/managedfields``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.apply import Type
from crdcompat.apiserver.field_sets import (
    NO_FIELDS,
    Fields,
    changed,
    fields_of,
    parsed,
    reconciled,
    shown,
    with_holders,
    without,
)
from crdcompat.apiserver.gotext import quote
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import ABSENT

#: The manager of what an object has that no entry of its managedFields names.
_BEFORE_APPLY = "before-first-apply"
_ADDING = "failed to prune fields: failed add back owned items"


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
    def order(self) -> tuple[str, bool, str, bool, str]:
        """The place of the manager among others: the server sorts them by their JSON, where a comma is before a }."""
        version = "" if self.applies else self.version
        return self.manager, not self.applies, version, not self.subresource, self.subresource

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
    """The object after an apply, and the fields that other managers own but the apply would change.

    ``failure``: why the server cannot tell, because the object does not fit another version that a manager wrote.
    """

    object: Any
    conflicts: tuple[tuple[Entry, tuple[str, ...]], ...] = ()
    failure: str = ""

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


class _MisfitError(Exception):
    """An object does not fit the types of a version; the message is the server's."""


class Ownership(Struct, frozen=True):
    """The fields of one live object by manager, as an apply on one endpoint meets them.

    ``version`` is the version of the endpoint, ``types`` has a type for each version of the CRD, served or not.
    ``ignored`` are the members of the root that the endpoint resets, ``misfit`` is the error of typing an object.
    """

    version: str
    types: Mapping[str, Type]
    entries: tuple[Entry, ...]
    subresource: str
    ignored: frozenset[str]
    misfit: Callable[[Any, Type], str]

    def applied(self, live: Object, patch: Object, merged: Object, applier: Applier) -> Applied:
        """``merged``, the merge of the patch into the live object, without the fields that the applier gives up."""
        try:
            return self._applied(live, patch, merged, applier)
        except _MisfitError as error:
            return Applied(None, failure=str(error))

    def _applied(self, live: Object, patch: Object, merged: Object, applier: Applier) -> Applied:
        known = []
        for entry in self.entries:
            if entry.version not in self.types:
                raise _MisfitError(f"request to convert CR to an invalid group/version: {entry.version}")
            self._convert(live, entry.version, "")
            known.append(replace(entry, fields=reconciled(entry.fields, self.types[entry.version])))
        own = [entry for entry in known if self._is_of(entry, applier)]
        others = [entry for entry in known if not self._is_of(entry, applier)]
        sent = self._counted(fields_of(patch, self.types[self.version]))
        new = merged
        if own and own[0].fields:
            owned = {self.version: sent}
            for entry in others:
                owned[entry.version] = owned.get(entry.version, NO_FIELDS) | entry.fields
            new = self._pruned(merged, own[0], owned)
        touched = {}
        for entry in others:
            if entry.version not in touched:
                self._convert(live, entry.version, "failed to convert old object: ")
                self._convert(new, entry.version, "failed to convert new object: ")
                found = changed(live, new, self.types[entry.version])
                touched[entry.version] = self._counted(found) if entry.version == self.version else found
        if applier.force:
            return Applied(new)
        places = ((entry, sorted(map(shown, entry.fields & touched[entry.version]))) for entry in others)
        return Applied(new, tuple((entry, tuple(paths)) for entry, paths in places if paths))

    def _convert(self, obj: Any, version: str, said: str, before: str = "") -> None:
        """An object that is converted has to fit the types of the other version."""
        if version != (before or self.version) and (error := self.misfit(obj, self.types[version])):
            raise _MisfitError(said + error)

    def _is_of(self, entry: Entry, applier: Applier) -> bool:
        return entry.applies and entry.manager == applier.name and entry.subresource == self.subresource

    def _counted(self, fields: Iterable[Any]) -> Fields:
        return frozenset(path for path in fields if not path or path[0] not in self.ignored)

    def _pruned(self, merged: Object, last: Entry, owned: Mapping[str, Fields]) -> Object:
        """The merged object without the fields that the applier owned last and no longer sends.

        Fields that another manager owns stay, and so do items that the applier did not own. ``owned`` has the fields by
        version. The version of the last apply comes first.
        """
        type_, at = self.types[last.version], last.version
        self._convert(merged, at, "failed to prune fields: failed to convert merged object to last applied version: ")
        mine = with_holders(last.fields, type_)
        pruned = without(merged, mine, type_)
        for version in sorted(owned, key=lambda each: each != last.version):
            for what, obj in (("merged", merged), ("pruned", pruned)):
                said = f"{_ADDING}: failed to convert {what} object at version {version}: "
                self._convert(obj, version, said, at)
            at, kind = version, self.types[version]
            whole, left = (with_holders(fields_of(obj, kind), kind) for obj in (merged, pruned))
            pruned = without(merged, whole - (left | with_holders(owned[version], kind)), kind)
        whole, left = (with_holders(fields_of(obj, type_), type_) for obj in (merged, pruned))
        found: Object = without(merged, (whole - left) & mine, type_)
        self._convert(found, self.version, "failed to prune fields: ", last.version)
        return found

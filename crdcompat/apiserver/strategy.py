"""Kinds of write: how each builds the new object from the request and the stored object, before admission.

Source: docs/semantics.md#order-of-steps.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import Admission, Verdict, metadata_of
from crdcompat.apiserver.apply import UNDECLARED, Type, merged, root_type, typing_errors
from crdcompat.apiserver.correlation import same
from crdcompat.apiserver.decode import RESOURCE_META, Decoded, apply_defaults, copied, decode
from crdcompat.apiserver.gotext import quote
from crdcompat.apiserver.metadata import decode_object_meta
from crdcompat.apiserver.ownership import Applier, Entry, Ownership, entries_of
from crdcompat.apiserver.patch import merge_patch, with_replicas
from crdcompat.cel.uses import rule_of, uses_old
from crdcompat.crds.model import CrdVersion
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import HIDDEN

#: The message for objects from the Python API that exceed Python's recursion limit. Files are limited to 200 levels.
TOO_DEEP = "nested too deeply to be judged"


class Resource(Admission):
    """One version of a CRD as one server serves it, compiled once; its methods are the kinds of write."""

    @cached_property
    def has_transition_rules(self) -> bool:
        """Whether any rule refers to the old object."""
        return self.node.anywhere(lambda schema: any(uses_old(rule.get("rule")) for rule in Node(schema).rules))

    @cached_property
    def has_free_status(self) -> bool:
        """Whether a valid object stays valid without its status: nothing outside the status reads or counts it."""
        root = self.node
        reads = root.junctor_branches() or any(_reads_status(rule.get("rule")) for rule in root.rules)
        return not (reads or "status" in root.required or "minProperties" in root.raw)

    def read(self, stored: Object) -> Decoded:
        """A stored object as this server reads it: pruned, without nulls, defaulted. Reads do not validate."""
        return decode(stored, self.node, pruning=self.crd.prunes)

    def reread(self, stored: Object) -> Decoded:
        """``read``, with all that a write of the object as read takes out of it.

        A write at another version than the stored one is converted by its name (strategy None): what the stored
        version does not declare goes, too.
        """
        read, storage = self.read(stored), self.crd.storage_version
        if storage is None or storage is self.version:
            return read
        gone = decode(read.object, storage.node, pruning=self.crd.prunes, defaulting=False).pruned
        wholes = tuple(f"{path}{step}" for path in gone for step in ".[")
        pruned = tuple(sorted({*gone, *(path for path in read.pruned if not path.startswith(wholes))}))
        return replace(read, pruned=pruned) if gone else read

    def live(self, stored: Object) -> Object:
        """A stored object as a write on this endpoint finds it.

        Of another version of the CRD it is read by that one, converted by its name alone (strategy None), and pruned.
        """
        other = self.stored_version(stored)
        if other is None or other is self.version:
            return self.read(stored).object
        found = decode(stored, other.node, pruning=self.crd.prunes).object
        found = {**found, "apiVersion": self.api_version}
        return decode(found, self.node, pruning=self.crd.prunes, defaulting=False).object

    def stored_version(self, stored: Object) -> CrdVersion | None:
        """The version of the CRD that a stored object names; None if the CRD has no such version."""
        group, _, name = str(stored.get("apiVersion", "")).rpartition("/")
        return self.crd.version(name) if group == self.crd.group else None

    def create(self, raw: Object, *, keep_status: bool = False) -> Verdict:
        """POST of ``raw``. ``keep_status`` keeps the status, to judge a stored object as a whole."""
        return self.create_decoded(self.read(raw), keep_status=keep_status)

    def whole(self, stored: Object, read: Decoded) -> Verdict:
        """The verdict on a whole stored object, ``read`` by this server, as if nothing of it were stored."""
        return self.create_decoded(read, keep_status=True)

    def update(self, raw: Object, stored: Object) -> Verdict:
        """PUT of ``raw`` over ``stored`` on the resource's main endpoint."""
        return self.update_decoded(self.read(raw), self.live(stored))

    def update_status(self, raw: Object, stored: Object) -> Verdict:
        """PUT of ``raw`` over ``stored`` on /status: the server uses only its status."""
        return self.update_status_decoded(self.read(raw), self.live(stored))

    def create_decoded(self, request: Decoded, *, keep_status: bool = False) -> Verdict:
        """``create`` of a decoded object."""
        new = dict(request.object)
        if not keep_status:
            if self.version.has_status:
                new.pop("status", None)
            new["metadata"] = {**metadata_of(new), "generation": 1}
        return self.admit(new, None, request, status_write=False)

    def update_decoded(self, request: Decoded, old: Object) -> Verdict:
        """``update`` with decoded objects."""
        new = dict(request.object)
        if self.version.has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        changed = self._content_changed(new, old)
        new["metadata"] = _updated_metadata(metadata_of(new), metadata_of(old), changed=changed)
        return self.admit(new, old, request, status_write=False)

    def update_status_decoded(self, request: Decoded, old: Object) -> Verdict:
        """``update_status`` with decoded objects."""
        new = dict(old)
        new.pop("status", None)
        if "status" in request.object:
            new["status"] = request.object["status"]
        return self.admit(new, old, request, status_write=True)

    def merge_patch(self, patch: Any, stored: Object, *, status: bool = False) -> Verdict:
        """PATCH with a JSON merge patch, on the main endpoint or on /status."""
        return self.patched(merge_patch(self.live(stored), patch), stored, status=status)

    def apply(self, patch: Object, stored: Object, *, status: bool = False, applier: Applier | None = None) -> Verdict:
        """PATCH by server-side apply. A typing failure is a 500, a conflict with other managers a 409.

        ``applier`` is who applies, by default a manager that owns no other field, by force. Unlike other requests, the
        server does not decode the merged object, so it validates the nulls of the patch.
        """
        if status and not self.version.has_status:
            return self.no_endpoint(stored)
        live = self.live(stored)
        if failed := self.typing_failure(patch, live):
            return failed
        whole = merged(live, patch, self.apply_type, self.server)
        # Who owns nothing takes all by force; only another version in which managers wrote can be in the way.
        if applier is not None or self.has_other_versions(stored):
            owned = self._ownership(self.entries({**live, "metadata": metadata_of(stored)}), status=status)
            applied = owned.applied(live, patch, whole, applier or Applier(""))
            if applied.failure:
                return self._failed(500, applied.failure, HIDDEN)
            if applied.message:
                return self._failed(409, applied.message)
            whole = applied.object
        defaulted: list[str] = []
        whole = {**whole, **{name: copied(whole[name]) for name in whole if name not in RESOURCE_META}}
        apply_defaults(whole, self.node, "", defaulted)
        if "metadata" in whole:
            whole["metadata"] = decode_object_meta(whole["metadata"])[0]
        request = Decoded(whole, (), tuple(sorted(defaulted)))
        verdict = self.update_status_decoded(request, live) if status else self.update_decoded(request, live)
        return verdict if verdict.object is None else replace(verdict, object=self.read(verdict.object).object)

    def entries(self, live: Object) -> tuple[Entry, ...]:
        """Who owns which fields of a live object."""
        return entries_of(live, self.apply_type, self.api_version)

    def _ownership(self, entries: tuple[Entry, ...], *, status: bool) -> Ownership:
        """Who owns which fields, for an apply on the main endpoint or on /status."""
        if status:
            ignored = {"spec", "metadata"} if self.server.does("apply_status_resets_metadata") else {"spec"}
        else:
            ignored = {"status"} if self.version.has_status else set()
        return Ownership(
            version=self.api_version,
            types=self._apply_types,
            entries=entries,
            subresource="status" if status else "",
            ignored=frozenset(ignored),
            misfit=partial(typing_errors, server=self.server, strict=True),
        )

    def has_other_versions(self, stored: Object) -> bool:
        """Whether managers wrote a stored object in other versions than this one."""
        found = metadata_of(stored).get("managedFields")
        entries = [entry for entry in (found if isinstance(found, list) else ()) if isinstance(entry, dict)]
        return any(entry.get("apiVersion") not in (self.api_version, None) for entry in entries)

    @cached_property
    def _apply_types(self) -> dict[str, Type]:
        """The type of each version, served or not."""
        return {f"{self.crd.group}/{each.name}": root_type(each.node) for each in self.crd.versions}

    @cached_property
    def apply_type(self) -> Type:
        return root_type(self.node)

    def typing_failure(self, patch: Object, live: Object) -> Verdict | None:
        """The failure of a server-side apply to type ``patch`` or the decoded object ``live``; None without one."""
        for what, obj in (("patch", patch), ("live", live)):
            wrong = typing_errors(obj, self.apply_type, self.server, strict=what == "patch")
            if wrong:
                said = f"failed to create typed {what} object ({self._describe(live)}): "
                redacted = "" if wrong.endswith(UNDECLARED) else said + HIDDEN
                return self._failed(500, said + wrong, redacted)
        return None

    def scale(self, replicas: Any, stored: Object) -> Verdict:
        """PUT of /scale: the server sets the replicas in the object, then validates it as on the main endpoint."""
        live = self.live(stored)
        path = self.version.scale.get("specReplicasPath") if self.version.scale is not None else None
        if not isinstance(path, str):
            return self.no_endpoint(stored)
        return self.update(with_replicas(live, path, replicas or 0), stored)

    def no_endpoint(self, stored: Object) -> Verdict:
        """The 404 of an endpoint that this CRD does not declare (docs/semantics.md#order-of-steps)."""
        name = metadata_of(stored).get("name", "")
        return self._failed(404, f"{self.crd.plural}.{self.crd.group} {quote(str(name))} not found")

    def not_served(self) -> Verdict:
        """The 404 of every request for a version that the CRD does not serve."""
        return self._failed(404, "the server could not find the requested resource")

    def patched(self, whole: Object, stored: Object, *, status: bool) -> Verdict:
        """The write of the object that a patch makes."""
        if status and not self.version.has_status:
            return self.no_endpoint(stored)
        return self.update_status(whole, stored) if status else self.update(whole, stored)

    def _describe(self, obj: Object) -> str:
        meta = metadata_of(obj)
        name = f"{meta.get('namespace', '')}/{meta.get('name', '')}"
        return f"{name}; {self.api_version}, Kind={self.crd.kind}"

    @staticmethod
    def _failed(code: int, message: str, redacted: str = "") -> Verdict:
        return Verdict(False, (), None, code=code, failure=message, redacted_failure=redacted)

    def _content_changed(self, new: Object, old: Object) -> bool:
        ignored = {"metadata", "status"} if self.version.has_status else {"metadata"}
        return not same(
            {name: value for name, value in new.items() if name not in ignored},
            {name: value for name, value in old.items() if name not in ignored},
        )


def _reads_status(text: Any) -> bool:
    """Whether a rule on the whole object may read its status."""
    rule = rule_of(text)
    return rule is None or "status" in text or () in rule.places


def _updated_metadata(new: Object, old: Object, *, changed: bool) -> Object:
    """Metadata of an update: the server's own members, and the next generation if content changed.

    An update cannot set times that the object has, nor take away what it has of a deletion. Its resourceVersion is that
    of the stored object, else the server answers with a conflict. A stored object as etcd has it is without one: the
    server adds the revision when it reads the object.
    """
    updated = dict(new)
    updated.pop("resourceVersion", None)
    for name in ("uid", "deletionGracePeriodSeconds"):
        if name in old:
            updated.setdefault(name, old[name])
    for name in ("creationTimestamp", "deletionTimestamp", "resourceVersion"):
        if name in old:
            updated[name] = old[name]
    generation = old.get("generation")
    if isinstance(generation, int):
        updated["generation"] = generation + 1 if changed else generation
    return updated

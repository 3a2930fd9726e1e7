"""Sends the writes that follow a rollback to a real API server: those of ``replay/replayed_writes.py``, in its words.

A verdict says which kind of write it is on and which place that write changes (``note``). The request is built from the
object as the server reads it, and what etcd holds is put back after each request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from referee import Answer, Referee, collection

from crdcompat.apiserver.admission import SERVER_SET
from crdcompat.apiserver.ownership import Entry
from crdcompat.apiserver.strategy import Resource
from crdcompat.replay.applies import body_of
from crdcompat.replay.edits import touching, unrelated
from crdcompat.replay.repair import without
from crdcompat.replay.replayed_writes import writes_of
from crdcompat.schema.paths import field_of

Json = dict[str, Any]

_LABEL = {"crdcompat.example.com/probe": "1"}
_FINALIZER = "example.com/wait"
_APPLY = "application/apply-patch+yaml"


class NoSuchWriteError(Exception):
    """The verdict is on a write that the object as the server reads it does not allow."""


class Rollback:
    """One kind on one server after its rollback. ``resource`` is the version of OLD's CRD that serves the objects."""

    def __init__(self, server: Referee, crd: Json, resource: Resource) -> None:
        self._server, self._crd, self._resource = server, crd, resource
        self._at = collection(crd, resource.version.name)

    def held(self, name: str) -> Json:
        """The object as etcd holds it."""
        held = self._server.stored(self._crd, name)
        assert held is not None, name
        return held

    def answer(self, kind: str, name: str, note: str) -> tuple[Answer, Json]:
        """The answer to one write, and the object that etcd holds then; etcd's object is the same as before."""
        held = self.held(name)
        try:
            answer = getattr(self, f"_{kind.replace('-', '_')}")(name, held, note)
            return answer, self._server.stored(self._crd, name) or {}
        finally:
            self._server.store(self._crd, held)

    def _read(self, name: str) -> Json:
        return self._server.read(self._crd, self._resource.version.name, name).body

    def _put(self, name: str, obj: Json, *, status: bool = False) -> Answer:
        revision = self._read(name)["metadata"]["resourceVersion"]
        sent = {**obj, "metadata": {**obj["metadata"], "resourceVersion": revision}}
        return self._server.ask("PUT", f"{self._at}/{name}{'/status' * status}", sent)

    def _metadata_update(self, name: str, held: Json, note: str) -> Answer:
        obj = self._read(name)
        labels = {**(obj["metadata"].get("labels") or {}), **_LABEL}
        return self._put(name, {**obj, "metadata": {**obj["metadata"], "labels": labels}})

    def _finalizer_removal(self, name: str, held: Json, note: str) -> Answer:
        obj = self._read(name)
        self._server.store(self._crd, {**held, "metadata": {**held["metadata"], "finalizers": [_FINALIZER]}})
        return self._put(name, obj)

    def _spec_update(self, name: str, held: Json, note: str) -> Answer:
        return self._put(name, self._edited(name, "spec", note))

    def _status_update(self, name: str, held: Json, note: str) -> Answer:
        has_endpoint = self._resource.version.has_status or note == "this CRD has no /status endpoint"
        return self._put(name, self._edited(name, "status", note), status=has_endpoint)

    def _edited(self, name: str, part: str, note: str) -> Json:
        obj = self._read(name)
        if (wanted := re.match(r"changes ([^;]*)", note)) is None:
            return obj
        for edit in unrelated(obj, self._resource.node, part, self._bad(obj), self._resource.server):
            if edit.what == wanted[1]:
                return edit.object
        raise NoSuchWriteError(note)

    def _status_update_touching(self, name: str, held: Json, note: str) -> Answer:
        obj, status = self._read(name), self._resource.version.has_status
        if (wanted := re.match(r"writes ([^;]*)", note)) is None:
            return self._status_update(name, held, note)
        for place in self._bad(obj):
            made = touching(obj, obj, self._resource.node, [place, *self._bad(obj)])
            if place[0] == "status" and made is not None and made[2] == wanted[1]:
                new, old, _ = made
                self._server.store(self._crd, {**held, "status": old["status"]} if "status" in old else _less(held))
                return self._put(name, new, status=status)
        raise NoSuchWriteError(note)

    def _bad(self, obj: Json) -> list[Any]:
        return writes_of(self._resource, obj, had_status=self._resource.version.has_status).bad

    def _apply(self, name: str, held: Json, note: str) -> Answer:
        obj = self._read(name)
        sent = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": {"name": name, "labels": _LABEL}}
        if (entry := self._applier(held, note)) is None:
            return self._send_apply(name, "crdcompat", sent)
        return self._send_apply(
            name, entry.manager, body_of(self._resource, obj, entry), status=bool(entry.subresource)
        )

    def _apply_without(self, name: str, held: Json, note: str) -> Answer:
        """The apply of the manager that no longer sends the bad values."""
        obj, entry = self._read(name), self._applier(held, note)
        assert entry is not None
        less = without(obj, self._bad(obj), self._resource)
        sent = body_of(self._resource, less, entry)
        return self._send_apply(name, entry.manager, sent, status=bool(entry.subresource), force=False)

    def _applier(self, held: Json, note: str) -> Entry | None:
        named = re.match(r"by (\w+)", note)
        found = self._resource.entries(held)
        return next((each for each in found if named and each.applies and each.manager == named[1]), None)

    def _send_apply(self, name: str, manager: str, sent: Json, *, status: bool = False, force: bool = True) -> Answer:
        path = f"{self._at}/{name}{'/status' * status}?fieldManager={manager}&force={str(force).lower()}"
        return self._server.ask("PATCH", path, sent, _APPLY)

    def _create(self, name: str, held: Json, note: str) -> Answer:
        obj = self._read(name)
        self._server.discard(self._crd, name)
        kept = {key: value for key, value in obj["metadata"].items() if key not in SERVER_SET}
        return self._server.ask("POST", self._at, {**obj, "metadata": kept})


def _less(held: Json) -> Json:
    return {key: value for key, value in held.items() if key != "status"}


def lost(before: Any, after: Any, at: tuple[str | int, ...] = ()) -> Iterator[str]:
    """The fields of an object that another does not have."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key not in after:
                yield field_of((*at, key))
            elif (*at, key) != ("metadata",):
                yield from lost(value, after[key], (*at, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index, (item, other) in enumerate(zip(before, after, strict=False)):
            yield from lost(item, other, (*at, index))

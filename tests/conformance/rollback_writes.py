"""Sends the writes that follow a rollback to a real API server: those of ``crdcompat.replay.writes``, by its own words.

A verdict says which kind of write it is on and which place that write changes (``note``). The request is built from the
object as the server reads it, and what etcd holds is put back after each request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from referee import Answer, Referee, collection

from crdcompat.apiserver.admission import SERVER_SET
from crdcompat.apiserver.strategy import Resource
from crdcompat.replay.edits import touching, unrelated
from crdcompat.replay.writes import writes_of
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
        if (wanted := re.match(r"changes (.*)", note)) is None:
            return obj
        for edit in unrelated(obj, self._resource.node, part, self._bad(obj), self._resource.server):
            if edit.what == wanted[1]:
                return edit.object
        raise NoSuchWriteError(note)

    def _status_update_touching(self, name: str, held: Json, note: str) -> Answer:
        obj, status = self._read(name), self._resource.version.has_status
        if (wanted := re.match(r"writes (.*)", note)) is None:
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
        return self._server.ask("PATCH", f"{self._at}/{name}?fieldManager=crdcompat&force=true", sent, _APPLY)

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

"""Writes at another version than the one that is stored."""

from __future__ import annotations

import pytest
from helpers import Json, crd, obj, root, string, version, widget

from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.features.judge.write_verdict import resource_of
from crdcompat.replay.already import without_already
from crdcompat.replay.replayed_writes import replay
from crdcompat.vocabulary.writes import WriteKind, WriteResult

_MORE, _LESS = (root(spec=obj(**{name: string() for name in names})) for names in ("ab", "a"))


def _crd(stored: str) -> Json:
    """v1 declares more than v1beta1."""
    schemas = {"v1": _MORE, "v1beta1": _LESS}
    return crd({}, versions=[version(schemas[name], name=name, storage=name == stored) for name in schemas])


@pytest.mark.parametrize(("stored", "pruned"), [("v1", ()), ("v1beta1", ("spec.b",))])
def test_a_write_loses_what_the_stored_version_does_not_declare(stored: str, pruned: tuple[str, ...]) -> None:
    """A server converts by the name alone, and prunes by the stored version's schema; it answers 200."""
    resource = resource_of(_crd(stored), "v1", kubernetes_server("1.31"))
    found = replay(resource, widget({"spec": {"a": "1", "b": "2"}}), had_status=False)
    assert found.pruned == pruned
    lossy = WriteResult.LOSES_DATA if pruned else WriteResult.ACCEPTED
    assert {found.writes[kind].verdict for kind in WriteKind} == {lossy}


def test_what_the_writing_release_does_not_store_either_is_no_loss() -> None:
    reader, writer = (resource_of(_crd("v1beta1"), "v1", kubernetes_server("1.31")) for _ in range(2))
    stored = widget({"spec": {"a": "1", "b": "2"}})
    found = without_already(reader, writer, stored, replay(reader, stored, had_status=False))
    assert (found.pruned, found.not_stored) == ((), ("spec.b",))

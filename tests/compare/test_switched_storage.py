"""Two versions that both releases have, of which each stores another one: the next write stores by another schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, simulate, string, version, write

_FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_MAP = {"type": "object", "additionalProperties": string()}
_EMBEDDED = {**obj(size=string()), "x-kubernetes-embedded-resource": True}
_OBJECT = {"apiVersion": "v1", "kind": "Example", "metadata": {"name": "example"}}


def _storing(stored: str, v1: Json, v2: Json, *, strategy: str = "None") -> Json:
    made = crd(
        versions=[version(obj(spec=each), name, storage=name == stored) for name, each in (("v1", v1), ("v2", v2))]
    )
    made["spec"]["conversion"] = {"strategy": strategy}
    if strategy == "Webhook":
        client = {"service": {"namespace": "default", "name": "convert"}}
        made["spec"]["conversion"]["webhook"] = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    return made


@pytest.mark.parametrize(
    ("narrow", "wide", "spec", "lost"),
    [
        (obj(size=string()), obj(size=string(), zone=string()), {"size": "a", "zone": "b"}, ["spec.zone"]),
        (obj(at=array(obj())), obj(at=array(obj(zone=string()))), {"at": [{"zone": "b"}]}, ["spec.at[0].zone"]),
        (obj(at=obj()), obj(at=_FREE), {"at": {"zone": "b"}}, ["spec.at.zone"]),
        (obj(at=obj()), obj(at=_MAP), {"at": {"zone": "b"}}, ["spec.at.zone"]),
        (obj(at=_MAP), obj(at=obj(zone=string())), {"at": {"zone": "b"}}, []),
        (obj(at=_FREE), obj(at=obj(zone=string())), {"at": {"zone": "b"}}, []),
        (obj(at=_EMBEDDED), obj(at={**_EMBEDDED, **obj(metadata=obj(), size=string())}), {"at": _OBJECT}, []),
        (obj(size=string()), obj(size=string()), {"size": "a"}, []),
    ],
    ids=["field", "field of items", "free fields", "map", "into a map", "into free fields", "embedded", "equal"],
)
def test_what_the_other_version_does_not_declare_is_lost(
    tmp_path: Path, narrow: Json, wide: Json, spec: Json, lost: list[str]
) -> None:
    """Each way; ``simulate`` loses the same."""
    before, after = _storing("v1", narrow, wide), _storing("v2", narrow, wide)
    expected = [("info", "version-storage-switched")] if lost else []
    stored = {
        "apiVersion": "example.com/v2",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": spec,
    }
    recording = write(tmp_path / "objects.json", stored)
    for direction, sides in (("rollback", (before, after)), ("upgrade", (after, before))):
        old, new = both(tmp_path, *sides)
        found = [brief(finding)[:3] for finding in diff(old, new)["findings"]]
        assert [each[1:] for each in found if each[0] == direction] == expected
        upgrade = ("--upgrade",) if direction == "upgrade" else ()
        report = simulate(old, new, "--objects", recording, "--kube-version", "1.31", *upgrade)
        assert report["objects"][0]["pruned"] == lost


def test_a_webhook_of_the_reader_converts(tmp_path: Path) -> None:
    schemas = obj(size=string()), obj(size=string(), zone=string())
    old, new = both(tmp_path, *(_storing(stored, *schemas, strategy="Webhook") for stored in ("v1", "v2")))
    assert diff(old, new)["findings"] == []

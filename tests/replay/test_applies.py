"""The apply after a rollback is that of the manager that the recorded object names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, run, simulate, string, widget, write

import crdcompat
from crdcompat.vocabulary.writes import WriteKind

_SET = array(string(), **{"x-kubernetes-list-type": "set"})


def _keyed(*values: str) -> Json:
    items = {**obj(k=string(), v=string(*values)), "required": ["k"]}
    return array(items, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})


def _schema(**spec: Json) -> Json:
    return root(spec=obj(n=string(), **spec), status=obj(n=string(), v=string(*spec["v"]["enum"])))


OLD = _schema(v=string("A"), s=_SET, l=_keyed("A"))
NEW = _schema(v=string("A", "B"), s=array(string()), l=_keyed())


def _entry(manager: str, spec: Json, operation: str = "Apply", **more: Any) -> Json:
    fields = {"f:spec": spec} if "subresource" not in more else {"f:status": spec}
    entry = {"manager": manager, "operation": operation, "apiVersion": "example.com/v1", "fieldsType": "FieldsV1"}
    return {**entry, **more, "fieldsV1": fields}


def _replayed(tmp_path: Path, spec: Json, *entries: Json, kube: str = "1.28", status: Json | None = None) -> Json:
    """The report's object, with the text of the report as ``said``."""
    sides = [write(tmp_path / f"{name}.yaml", crd(schema)) for name, schema in (("old", OLD), ("new", NEW))]
    body = {"spec": {"n": "1", **spec}, **({"status": status} if status else {})}
    recorded = write(tmp_path / "objects.json", widget(body, managedFields=[*entries]))
    options: tuple[str | Path, ...] = (*sides, "--objects", recorded, "--kube-version", kube)
    report = simulate(*options, "--no-redact", cwd=tmp_path)
    (item,) = report["objects"]
    return {**item, "said": run("simulate", *options, "--format", "text", "-v", cwd=tmp_path).out}


@pytest.mark.parametrize(
    ("spec", "owners", "verdict", "manager", "without"),
    [
        # Valid objects: the manager is named, as the one who applied it.
        ({"v": "A"}, [("flux", "Apply", {"f:v": {}})], "accepted", "flux", None),
        ({"v": "A"}, [("edit", "Update", {"f:v": {}})], "accepted", None, None),
        ({"v": "A"}, [], "accepted", None, None),
        # What the manager alone owns goes once it no longer sends it.
        ({"v": "B"}, [("flux", "Apply", {"f:v": {}, "f:n": {}})], "rejected", "flux", ["spec.v"]),
        # What others own as well, or alone, or nobody, stays.
        ({"v": "B"}, [("flux", "Apply", {"f:v": {}}), ("edit", "Update", {"f:v": {}})], "rejected", "flux", None),
        ({"v": "B"}, [("flux", "Apply", {"f:n": {}}), ("edit", "Update", {"f:v": {}})], "rejected", "flux", None),
        ({"v": "B"}, [("flux", "Apply", {"f:n": {}})], "rejected", "flux", None),
        ({"v": "B"}, [("edit", "Update", {"f:v": {}})], "rejected", None, None),
        # An item of a keyed list goes with what the manager owns of it.
        (
            {"l": [{"k": "a", "v": "A"}, {"k": "b", "v": "B"}]},
            [("flux", "Apply", {"f:l": {'k:{"k":"b"}': {".": {}, "f:k": {}, "f:v": {}}}})],
            "rejected",
            "flux",
            ["spec.l[1].v"],
        ),
        # Of several managers the one with the worst answer counts.
        ({"v": "B"}, [("a", "Apply", {"f:n": {}}), ("b", "Apply", {"f:v": {}})], "rejected", "b", ["spec.v"]),
    ],
)
def test_who_applies_and_what_it_can_leave_out(
    tmp_path: Path, spec: Json, owners: list[tuple[str, str, Json]], verdict: str, manager: str | None, without: Any
) -> None:
    item = _replayed(tmp_path, spec, *(_entry(name, fields, operation) for name, operation, fields in owners))
    found = item["writes"]["apply"]
    assert (found["verdict"], found.get("manager"), found.get("accepted_without")) == (verdict, manager, without)
    assert (f"by {manager}" in item["said"]) == (manager is not None and verdict == "rejected")
    assert ("accepted once it no longer sends" in item["said"]) == (without is not None)


def test_the_way_out_is_the_server_s(tmp_path: Path) -> None:
    entry = _entry("flux", {"f:v": {}, "f:n": {}})
    found = _replayed(tmp_path, {"v": "B"}, entry)["writes"]["apply"]
    assert found["note"] == "by flux; accepted once it no longer sends spec.v"
    held, sent = widget({"spec": {"n": "1", "v": "B"}}, managedFields=[entry]), widget({"spec": {"n": "1"}})
    verdict = crdcompat.judge(crd(OLD), "apply", sent, held, kubernetes="1.28", manager="flux", force=False)
    assert verdict.accepted
    assert verdict.object is not None
    assert verdict.object["spec"] == {"n": "1"}


def test_a_manager_who_applies_to_the_status(tmp_path: Path) -> None:
    entry = _entry("operator", {"f:v": {}}, subresource="status")
    status = {"n": "1", "v": "B"}
    found = _replayed(tmp_path, {"v": "A"}, entry, status=status)["writes"]["apply"]
    assert found["verdict"] == "rejected"
    assert found["note"] == "by operator; accepted once it no longer sends status.v"
    # The other half stays bad: on servers up to 1.27 no single write is accepted.
    found = _replayed(tmp_path, {"v": "B"}, entry, status=status, kube="1.27")["writes"]["apply"]
    assert found["note"] == "by operator"
    # A status without members becomes null, which no server accepts.
    found = _replayed(tmp_path, {"v": "A"}, entry, status={"v": "B"})["writes"]["apply"]
    assert found["note"] == "by operator"


def test_duplicates_that_a_stranger_would_leave_alone(tmp_path: Path) -> None:
    # Up to 1.26 the live object fails, later only a manager that sends the duplicates does.
    twice: Json = {"s": ["x", "x"]}
    owned: Json = {"f:s": {".": {}, 'v:"x"': {}}}
    stranger = _replayed(tmp_path, twice, _entry("edit", owned, "Update"), kube="1.31")["writes"]
    manager = _replayed(tmp_path, twice, _entry("flux", owned), kube="1.31")["writes"]
    assert (stranger["apply"]["verdict"], stranger["metadata-update"]["verdict"]) == ("accepted", "accepted")
    assert (manager["apply"]["verdict"], manager["metadata-update"]["verdict"]) == ("rejected", "accepted")
    assert 'duplicate entries for key [="x"]' in manager["apply"]["message"]


def test_a_manager_of_a_version_that_old_lacks_stops_each_apply(tmp_path: Path) -> None:
    entry = {**_entry("flux", {"f:v": {}}), "apiVersion": "example.com/v2"}
    writes = _replayed(tmp_path, {"v": "A"}, entry)["writes"]
    assert {kind for kind in WriteKind if writes[kind]["verdict"] == "rejected"} == {"apply"}
    assert writes["apply"]["message"].endswith("request to convert CR to an invalid group/version: example.com/v2")
    assert "manager" not in writes["apply"]

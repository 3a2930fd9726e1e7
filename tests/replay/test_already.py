"""Rejections and losses that the writing release shows as well do not count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import WRITES, Json, array, crd, obj, root, run, simulate, string, version, widget, write

RULE = "x-kubernetes-validations"


def _schema(spec: Json | None = None, status: Json | None = None) -> Json:
    parts = {"spec": obj(note=string(), **(spec or {})), "status": obj(observedGeneration={"type": "integer"})}
    parts["status"]["properties"].update(status or {})
    return root(**parts)


def _object(spec: Json | None = None, status: Json | None = None) -> Json:
    return widget({"spec": {"note": "n", **(spec or {})}, "status": {"observedGeneration": 1, **(status or {})}})


def _replay(
    tmp_path: Path,
    old: Json,
    new: Json,
    *objects: Json,
    names: tuple[str, str] = ("path:old", "path:new"),
    options: Any = (),
) -> Json:
    """The report; by default on the server 1.26 that validates everything on every write."""
    for name, schema in zip(names, (old, new), strict=True):
        write(tmp_path / name.removeprefix("path:") / "crd.yaml", crd(schema))
    recorded = write(tmp_path / "objects.json", *objects)
    options = options or ("--kube-version", "1.26")
    return simulate(*names, "--objects", recorded, *options, cwd=tmp_path)


def _already(item: Json) -> set[str]:
    """The kinds of write that are rejected, and already so."""
    return {name for name, write in item["writes"].items() if write.get("already")}


def _rejected(item: Json) -> set[str]:
    return {name for name, write in item["writes"].items() if write["verdict"] == "rejected"}


def test_a_value_that_both_reject(tmp_path: Path) -> None:
    old, new = _schema(status={"v": string("A")}), _schema(status={"v": string("A", "B")})
    report = _replay(tmp_path, old, new, _object(status={"v": ""}))
    (item,) = report["objects"]
    assert _rejected(item) == _already(item) == {*WRITES} - {"create"}
    assert item["writes"]["metadata-update"]["note"] == "already so under path:new"
    assert item["writes"]["metadata-update"]["errors"]  # the server's words stay
    assert item["repair"] == {"verdict": "not-needed", "patch": {}}
    assert report["summary"]["verdicts"] == {"rejected": 0, "unknown": 0, "loses-data": 0, "accepted": 1}
    assert report["summary"]["causes"] == []
    ((cause),) = report["summary"]["already"]
    assert (cause["path"], cause["values"], cause["objects"]) == ("status.v", [""], 1)
    note = "already so under path:new, and not counted: rejections of 1 object (Widget status.v)"
    assert note in report["notes"]
    ran = run("simulate", "path:old", "path:new", "--objects", "objects.json", "--kube-version", "1.26", cwd=tmp_path)
    assert ran.code == 0
    assert note in ran.out


def test_a_value_that_both_reject_beside_one_that_only_old_rejects(tmp_path: Path) -> None:
    old = _schema(status={"a": string("A"), "b": string("A")})
    new = _schema(status={"a": string("A"), "b": string("A", "B")})
    body = _object(status={"a": "", "b": "B"})
    report = _replay(tmp_path, old, new, body)
    (item,) = report["objects"]
    assert _already(item) == set()
    assert _rejected(item) == {*WRITES} - {"create"}
    assert [cause["path"] for cause in report["summary"]["causes"]] == ["status.b"]
    assert [cause["path"] for cause in report["summary"]["already"]] == ["status.a"]
    # With ratcheting, it is the touched value that is rejected: the one that only OLD rejects is touched.
    report = _replay(tmp_path, old, new, body, options=("--kube-version", "1.33"))
    (item,) = report["objects"]
    assert _rejected(item) == {"status-update-touching"}
    assert item["writes"]["status-update-touching"]["note"] == "writes status.b written anew"
    assert _already(item) == set()


def test_another_object_still_counts(tmp_path: Path) -> None:
    old, new = _schema({"v": string("A")}), _schema({"v": string("A", "B")})
    second = {**_object({"v": "B"}), "metadata": {"name": "b", "namespace": "default"}}
    report = _replay(tmp_path, old, new, _object({"v": ""}), second)
    assert report["summary"]["verdicts"]["rejected"] == 1
    assert [(cause["values"], cause["objects"], cause["total"]) for cause in report["summary"]["causes"]] == [
        (["B"], 1, 2)
    ]


@pytest.mark.parametrize(
    ("old", "new", "spec"),
    [
        (string("A"), string(maxLength=1), "BB"),
        (string("A"), string("C"), "B"),
        (string(pattern="^A"), string(format="date"), "B"),
        ({"type": "integer", "maximum": 1}, string(), 2),
        (string(**{RULE: [{"rule": "self == 'A'"}]}), string("A"), "B"),
        (
            obj(x=string(), y=string()) | {"required": ["y"]},
            obj(x=string(), y=string(), z=string()) | {"required": ["y"]},
            {"x": ""},
        ),
        (
            obj(x=string()) | {RULE: [{"rule": "has(self.x)"}]},
            obj(x=string(), z=string()) | {RULE: [{"rule": "has(self.x)"}]},
            {},
        ),
    ],
    ids=["length", "other-enum", "format", "type", "rule-and-enum", "required", "same-rule"],
)
def test_what_is_alike(tmp_path: Path, old: Json, new: Json, spec: Any) -> None:
    (item,) = _replay(tmp_path, _schema({"v": old}), _schema({"v": new}), _object({"v": spec}))["objects"]
    assert _rejected(item) == _already(item) != set()


@pytest.mark.parametrize(
    ("old", "new", "spec"),
    [
        (
            obj(x=string()) | {RULE: [{"rule": "!has(self.x)"}]},
            obj(x=string()) | {RULE: [{"rule": "has(self.x) && self.x == 'b'"}]},
            {"x": "a"},
        ),
        (obj(x=string()) | {"maxProperties": 0}, obj(x=string()) | {"minProperties": 2}, {"x": "a"}),
        (array(string(), maxItems=1), array(string("A")), ["a", "b"]),
    ],
    ids=["another-rule", "another-limit", "an-item"],
)
def test_what_is_not_alike(tmp_path: Path, old: Json, new: Json, spec: Any) -> None:
    report = _replay(tmp_path, _schema({"v": old}), _schema({"v": new}), _object({"v": spec}))
    (item,) = report["objects"]
    assert _rejected(item) == {*WRITES} and _already(item) == set()
    assert report["summary"]["verdicts"]["rejected"] == 1
    assert "already" not in report["summary"]


def test_a_failure_of_apply_that_both_have(tmp_path: Path) -> None:
    report = _replay(
        tmp_path,
        _schema({"v": {"type": "integer"}}),
        _schema({"v": {"type": "integer"}, "w": string()}),
        _object({"v": "x"}),
        options=("--kube-version", "1.33"),
    )
    (item,) = report["objects"]
    assert _rejected(item) == _already(item) == {"apply", "create"}


def test_an_endpoint_that_old_lacks_is_not_alike(tmp_path: Path) -> None:
    schema = _schema(status={"v": string("A")})
    without = [{key: value for key, value in version(schema).items() if key != "subresources"}]
    write(tmp_path / "old" / "crd.yaml", crd(versions=without))
    write(tmp_path / "new" / "crd.yaml", crd(schema))
    recorded = write(tmp_path / "objects.json", _object(status={"v": ""}))
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", recorded, "--kube-version", "1.26")
    (item,) = report["objects"]
    assert _rejected(item) - _already(item) == {"status-update", "status-update-touching", "create"}


def test_fields_that_both_prune(tmp_path: Path) -> None:
    old, new = _schema({"v": obj(x=string())}), _schema({"v": obj(x=string(), y=string()), "w": string()})
    body = _object({"v": {"x": "a", "y": "b", "z": "c"}, "gone": {"a": 1}})
    report = _replay(tmp_path, old, new, body)
    (item,) = report["objects"]
    assert item["pruned"] == ["spec.v.y"]
    assert item["not_stored"] == ["spec.gone", "spec.v.z"]
    assert report["summary"]["verdicts"]["loses-data"] == 1
    report = _replay(tmp_path, old, new, _object({"v": {"z": "c"}, "gone": {"a": 1}}))
    (item,) = report["objects"]
    assert (item["pruned"], item["not_stored"]) == ([], ["spec.gone", "spec.v.z"])
    assert {write["verdict"] for write in item["writes"].values()} == {"accepted"}
    assert report["summary"]["verdicts"]["accepted"] == 1
    assert [(field["path"], field["objects"]) for field in report["summary"]["not_stored"]] == [
        ("spec.gone", 1),
        ("spec.v.z", 1),
    ]
    (note,) = report["notes"]
    assert note == (
        "not counted, because path:new prunes them, too, and so does not store them: fields of 1 object "
        "(Widget spec.gone, Widget spec.v.z)"
    )


def test_a_field_below_one_that_the_writer_prunes(tmp_path: Path) -> None:
    """OLD knows the object and lacks its member; NEW lacks the object: nothing of it is stored."""
    old, new = _schema({"v": obj(x=string())}), _schema()
    (item,) = _replay(tmp_path, old, new, _object({"v": {"x": "a", "z": "c"}}))["objects"]
    assert (item["pruned"], item["not_stored"]) == ([], ["spec.v.z"])


def test_differences_between_the_servers_alone_count(tmp_path: Path) -> None:
    """Both schemas reject the value; 4.18 tolerates it in status updates, 4.17 does not."""
    schema = _schema(status={"v": string("A")})
    report = _replay(
        tmp_path, schema, schema, _object(status={"v": ""}), names=("./release-4.17", "./release-4.18"),
        options=("--openshift-version", "4.17"),
    )  # fmt: skip
    (item,) = report["objects"]
    assert _rejected(item) == {"status-update", "status-update-touching"}
    assert _already(item) == {"status-update-touching"}
    assert item["repair"]["verdict"] == "status"
    assert [cause["path"] for cause in report["summary"]["causes"]] == ["status.v"]


def test_the_writer_of_an_upgrade_is_old(tmp_path: Path) -> None:
    old, new = _schema({"v": string("A", "B")}), _schema({"v": string("A")})
    options = ("--upgrade", "--kube-version", "1.26")
    (item,) = _replay(tmp_path, old, new, _object({"v": "B"}), options=options)["objects"]
    assert _already(item) == set() and _rejected(item) == {*WRITES}
    report = _replay(tmp_path, old, new, _object({"v": ""}), options=options)
    (item,) = report["objects"]
    assert _already(item) == _rejected(item) == {*WRITES}
    assert item["writes"]["metadata-update"]["note"] == "already so under path:old"


def test_a_version_that_new_lacks_makes_no_difference(tmp_path: Path) -> None:
    write(tmp_path / "old" / "crd.yaml", crd(_schema({"v": string("A")})))
    write(tmp_path / "new" / "crd.yaml", crd(versions=[version(_schema({"v": string("A")}), "v2")]))
    recorded = write(tmp_path / "objects.json", _object({"v": ""}))
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", recorded, "--kube-version", "1.26")
    assert report["summary"]["verdicts"]["rejected"] == 1


def test_without_a_version_of_the_server(tmp_path: Path) -> None:
    old, new = _schema(status={"v": string("A")}), _schema(status={"v": string("A", "B")})
    write(tmp_path / "old" / "crd.yaml", crd(old))
    write(tmp_path / "new" / "crd.yaml", crd(new))
    recorded = write(tmp_path / "objects.json", _object(status={"v": ""}))
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", recorded)
    assert report["summary"]["verdicts"] == {"rejected": 0, "unknown": 0, "loses-data": 0, "accepted": 1}


def test_a_cluster_that_is_older_than_its_writer(tmp_path: Path) -> None:
    """What came after the recorded release is not in the recording: these findings cannot show."""
    old, new = (
        _schema({"v": string("A")}, {"w": string("A")}),
        _schema({"v": string("A", "B")}, {"w": string("A", "B")}),
    )
    cluster = {
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {}, "status": {"desired": {"version": "4.13.2"}},
    }  # fmt: skip
    names = ("./release-4.13", "./release-4.14")
    report = _replay(tmp_path, old, new, _object(), cluster, names=names, options=("--kube-version", "1.26"))
    hidden = [(each["rule"], each["severity"], each["crd"], each["path"]) for each in report["summary"]["hidden"]]
    assert hidden == [
        ("enum-value-added", "error", "widgets.example.com", "status.w"),
        ("enum-value-added", "warning", "widgets.example.com", "spec.v"),
    ]
    named = "enum-value-added at widgets.example.com status.w, enum-value-added at widgets.example.com spec.v"
    assert report["notes"][-1] == f"2 findings cannot show in objects of 4.13.2: {named}"
    cluster["status"] = {"desired": {"version": "4.14.1"}}
    names = ("./release-4.13", "./release-4.16")
    report = _replay(tmp_path, old, new, _object(), cluster, names=names, options=("--kube-version", "1.26"))
    assert report["notes"][-1] == f"of 2 findings, those younger than 4.14.1 cannot show in its objects: {named}"
    cluster["status"] = {"desired": {"version": "4.16.1"}}
    report = _replay(tmp_path, old, new, _object(), cluster, names=names, options=("--kube-version", "1.26"))
    assert "hidden" not in report["summary"]
    assert report["notes"] == ["the recording is of a cluster of 4.16.1"]

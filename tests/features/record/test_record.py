"""record: the recording gives the answer that the cluster gives, and holds little else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_server import CRDS, VERSIONS, ApiServer
from helpers import Json, Run, array, crd, obj, root, run, string, write
from offline import PROJECT
from widgets import NEW, WIDGETS, widget

pytest.importorskip("kubernetes")

DEMO = PROJECT / "fixtures/demo"
BAD = widget(
    "w",
    "widget-operator",
    spec={"mode": "c", "size": 3},
    status={"phase": "Paused", "seen": ["a secret place"]},
)
FINE = widget("fine", spec={"mode": "a"}, status={"seen": ["a secret place"]})


def record(*more: str) -> Run:
    return run("record", *more, "--cluster", "prod", "-o", "r.json")


def answer(*source: str, old: str = "old") -> Json:
    """What a report rests on, without where it was found."""
    found = run("preflight", old, *source, "--format", "json").report
    return {
        **{key: found[key] for key in ("answer", "refused", "windows", "writers", "unlisted")},
        "kinds": found["summary"]["kinds"],
        **{
            part: [{key: value for key, value in each.items() if key != "example"} for each in found[part]]
            for part in ("causes", "tolerated", "losses")
        },
        "steps": [(each["step"], each["name"], each["patch"]) for each in found["steps"]],
        "judge": found["cluster"]["judge"],
    }


def recorded(kind: str) -> list[Json]:
    return [item for item in json.loads(Path("r.json").read_text())["items"] if item["kind"] == kind]


def test_the_smallest_recording(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [BAD, FINE])
    ran = record("old")
    assert (ran.code, ran.out) == (0, "")
    assert recorded("Widget") == [
        {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {
                "name": "w",
                "namespace": "default",
                "uid": "w",
                "managedFields": [
                    {
                        "manager": "widget-operator",
                        "operation": "Update",
                        "fieldsV1": {"f:spec": {"f:mode": {}}, "f:status": {"f:phase": {}}},
                    }
                ],
            },
            "spec": {"mode": "c", "size": 3},
            "status": {"phase": "Paused"},
        },
        {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "fine", "namespace": "default", "uid": "fine"},
        },
    ]
    assert "secret" not in Path("r.json").read_text()
    assert answer("--objects", "r.json") == answer("--cluster", "prod")
    assert cluster.methods.keys() == {"GET"}


def test_a_cluster_without_objects_of_the_kind(cluster: ApiServer) -> None:
    assert record("old").code == 0
    assert answer("--objects", "r.json") == answer("--cluster", "prod")
    assert answer("--objects", "r.json")["answer"] == "yes"


def test_a_cluster_keeps_its_id_and_its_version(cluster: ApiServer) -> None:
    cluster.install(yaml.safe_load((DEMO / "release-4.14/clusterversion.crd.yaml").read_bytes()))
    found = yaml.safe_load((DEMO / "recorded/version.yaml").read_bytes())
    del found["status"]["capabilities"]
    cluster.put(VERSIONS, [found])
    assert record(str(DEMO / "release-4.13")).code == 0
    (kept,) = recorded("ClusterVersion")
    assert kept["spec"] == {"clusterID": found["spec"]["clusterID"]}
    assert kept["status"]["desired"]["version"] == found["status"]["desired"]["version"]
    assert "history" not in kept["status"]


def test_a_cluster_keeps_its_feature_set(cluster: ApiServer) -> None:
    """A recording without it would be one of the feature set Default."""

    def gates(*modes: str) -> Json:
        spec = obj(featureSet=string(), mode=string(*modes), other=string())
        return crd(root(spec=spec), kind="FeatureGate", group="config.openshift.io", scope="Cluster")

    write(Path("gates/crd.yaml"), gates("a"))
    cluster.install(gates("a", "b"))
    metadata = {"name": "cluster", "uid": "gate"}
    spec = {"featureSet": "TechPreviewNoUpgrade", "mode": "b", "other": "left out"}
    found = {"apiVersion": "config.openshift.io/v1", "kind": "FeatureGate", "metadata": metadata, "spec": spec}
    cluster.put("/apis/config.openshift.io/v1/featuregates", [found])
    assert record("gates").code == 0
    (kept,) = recorded("FeatureGate")
    assert kept["spec"] == {"featureSet": "TechPreviewNoUpgrade", "mode": "b"}


def test_simulate_takes_it(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [BAD, FINE])
    record("old")
    ran = run(
        "simulate", "old", "recording:r.json", "--objects", "r.json", "--kube-version", "1.29", "--format", "json"
    )
    assert ran.code == 1, ran.err
    assert ran.report["summary"]["verdicts"] == {"rejected": 1, "unknown": 0, "loses-data": 0, "accepted": 1}
    assert ran.report["summary"]["problems"] == []


def test_the_manager_who_applies_stays(cluster: ApiServer) -> None:
    """Of an entry of another version, too, which OLD's server cannot convert."""
    fields = {"f:spec": {".": {}, "f:mode": {}, "f:size": {}}, "f:metadata": {"f:labels": {"f:team": {}}}}
    entry = {"manager": "flux", "operation": "Apply", "apiVersion": "example.com/v1", "fieldsV1": fields}
    bad, fine = widget("w", spec={"mode": "c", "size": 3}), widget("fine", spec={"mode": "a"})
    bad["metadata"]["managedFields"] = [entry]
    fine["metadata"]["managedFields"] = [{**entry, "apiVersion": "example.com/v2"}]
    cluster.put(WIDGETS, [bad, fine])
    record("old")
    kept = [item["metadata"]["managedFields"] for item in recorded("Widget")]
    assert kept == [
        [{**entry, "fieldsV1": {"f:spec": {".": {}, "f:mode": {}}}}],
        [{**entry, "apiVersion": "example.com/v2", "fieldsV1": {}}],
    ]
    found = [_applies(source) for source in ("r.json", "cluster:prod")]
    assert found[0] == found[1]
    assert [write["verdict"] for write in found[0]] == ["rejected", "rejected"]
    assert found[0][1]["manager"] == "flux"


def _applies(source: str) -> list[Json]:
    """The applies of the objects of a source, judged on 1.29, by the objects' names."""
    ran = run("simulate", "old", "cluster:prod", "--objects", source, "--kube-version", "1.29", "--format", "json")
    return [item["writes"]["apply"] for item in sorted(ran.report["objects"], key=lambda item: item["object"]["name"])]


def test_it_says_nothing_about_another_release(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [BAD])
    record("old")
    write(Path("other/widgets.json"), crd(obj(spec=obj(mode=string("a", "b", "c")), status=obj(phase=string("Ready")))))
    found = run("preflight", "other", "--objects", "r.json", "--format", "json").report
    assert found["answer"] == "unknown"
    assert {"what": "r.json", "rule": None, "step": "record-anew", "reason": (
        "the recording was made for old alone: record the cluster for other"
    )} in found["missing"]  # fmt: skip
    ran = run("simulate", "other", "recording:r.json", "--objects", "r.json", "--kube-version", "1.29")
    assert ran.code == 2
    assert "was made for old alone" in ran.out


def test_in_a_fleet_only_its_release_is_judged(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [FINE])
    record("old")
    write(Path("other/widgets.json"), crd(NEW))
    found = _fleet("--target", "other")
    assert found == {
        "old": ("clean", []),
        "other": ("unknown", ["the recording was made for old alone: record the cluster for other"]),
    }


def test_in_a_fleet_the_way_back_alone_is_judged(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [FINE])
    record("old")
    assert _fleet("--upgrade") == {
        "recording:r.json": ("unknown", ["the recording was made for a rollback to old alone"])
    }


def _fleet(*more: str) -> dict[str, tuple[str, list[str]]]:
    """The verdict on the one cluster for each target, with the reasons for not judging."""
    ran = run(
        *("simulate", "old", "recording:r.json", "--fleet", "r.json", "--kube-version", "1.29"),
        *("--format", "json", "--jobs", "1", *more),
    )
    (only,) = ran.report["clusters"]
    return {each["target"]: (each["verdict"], each["unjudged"]) for each in only["targets"]}


def test_everything_without_a_release(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [BAD, FINE])
    assert record().code == 0
    assert recorded("Widget") == [BAD, FINE]
    assert answer("--objects", "r.json") == answer("--cluster", "prod")
    write(Path("other/widgets.json"), crd(obj(spec=obj(mode=string("a")))))
    assert answer("--objects", "r.json", old="other") == answer("--cluster", "prod", old="other")


def test_names_can_be_hashed(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("a-known-name", spec={"mode": "c"}), widget("another", spec={"mode": "c"})])
    record("old", "--hash-names")
    text = Path("r.json").read_text()
    assert "a-known-name" not in text and "default" not in text
    assert len({item["metadata"]["name"] for item in recorded("Widget")}) == 2
    assert len({item["metadata"]["namespace"] for item in recorded("Widget")}) == 1
    found = run("preflight", "old", "--objects", "r.json", "--format", "json").report
    assert (found["answer"], found["summary"]["rejected"]) == ("no", 2)
    assert [step["command"] for step in found["steps"] if step["step"] == "patch"] == ["", ""]


def test_values_can_be_hidden(cluster: ApiServer) -> None:
    limited = obj(spec=obj(mode=string("a"), note=string(maxLength=3), day=string(format="date")))
    wide = obj(spec=obj(mode=string("a", "c"), note=string(), day=string()))
    write(Path("old/widgets.json"), crd(limited))
    cluster.install(crd(wide))
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c", "note": "a secret", "day": "2020-02-02"})])
    assert record("old", "--redact").code == 0
    assert recorded("Widget")[0]["spec"] == {"mode": "c", "note": "xxxxxxxx"}
    live = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    found = run("preflight", "old", "--objects", "r.json", "--format", "json").report
    assert [each["path"] for each in found["causes"]] == [each["path"] for each in live["causes"]]


def test_an_object_that_is_nothing_without_its_values(cluster: ApiServer) -> None:
    write(Path("old/widgets.json"), crd(obj(spec=obj(note=string(pattern="^(?:[a-z]*[0-9]|[bx1]+|a+|A+)$")))))
    cluster.install(crd(obj(spec=obj(note=string()))))
    cluster.put(WIDGETS, [widget("w", spec={"note": "key"}), widget("v", spec={"note": "k1"})])
    ran = record("old", "--redact")
    assert ran.code == 2
    assert "missing: widgets.example.com: 1 object cannot be recorded with names or values hidden" in ran.err
    assert run("preflight", "old", "--objects", "r.json").code == 2
    gap = "widgets.example.com: not recorded: 1 object cannot be recorded with names or values hidden"
    assert _fleet() == {"old": ("unknown", [gap])}
    ran = run("simulate", "old", "recording:r.json", "--objects", "r.json", "--kube-version", "1.29")
    assert (ran.code, gap in " ".join(ran.out.split())) == (2, True), ran.out


def test_what_could_not_be_read_is_missing_in_the_recording(cluster: ApiServer) -> None:
    cluster.refuse(WIDGETS, 403)
    ran = record("old")
    assert ran.code == 2
    found = run("preflight", "old", "--objects", "r.json", "--format", "json").report
    assert found["answer"] == "unknown"
    reasons = [each["reason"] for each in found["missing"] if each["what"] == "widgets.example.com"]
    assert [reason for reason in reasons if reason.startswith("not recorded: cannot be listed: 403")]


def test_the_file_is_written_whole_or_not_at_all(cluster: ApiServer) -> None:
    Path("r.json").write_text("before")
    cluster.refuse(CRDS, 503)
    assert record("old").code == 2
    assert Path("r.json").read_text() == "before"
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_a_folder_that_is_not_there(cluster: ApiServer) -> None:
    ran = run("record", "--cluster", "prod", "-o", "nowhere/r.json")
    assert (ran.code, ran.err) == (2, "crdcompat: cannot write nowhere/r.json: No such file or directory\n")


def test_a_recording_that_is_cut_short(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [BAD, FINE])
    record("old")
    text = Path("r.json").read_text()
    for part in (3, 2):
        Path("cut.json").write_text(text[: len(text) * (part - 1) // part])
        assert run("preflight", "old", "--objects", "cut.json").code == 2


@pytest.mark.parametrize("seed", range(12))
def test_the_recording_gives_the_answer_of_the_cluster(cluster: ApiServer, seed: int) -> None:
    """Random releases and objects: required members, rules, lists, maps, limits, fields that OLD lacks."""
    rng = random.Random(seed)
    new = _schema(rng)
    old = _stricter(rng, new)
    write(Path("old/widgets.json"), crd(old))
    cluster.install(crd(new))
    cluster.put(WIDGETS, [widget(f"w{n}", "operator", **_parts(rng)) for n in range(6)])
    assert record("old").code == 0
    live = answer("--cluster", "prod")
    assert answer("--objects", "r.json") == live


def _schema(rng: random.Random) -> Json:
    spec = obj(
        mode=string("a", "b", "c"),
        size={"type": "integer", "maximum": 9},
        name=string(),
        parts=array(obj(key=string(), mode=string("a", "b", "c"), note=string())),
        labels={"type": "object", "additionalProperties": string()},
        box=obj(mode=string("a", "b"), extra=string(), size={"type": "integer"}),
    )
    return obj(spec=spec, status=obj(phase=string("Ready", "Paused"), seen=array(string()), count={"type": "integer"}))


def _stricter(rng: random.Random, schema: Json) -> Json:
    made = json.loads(json.dumps(schema))
    spec, status = (made["properties"][part] for part in ("spec", "status"))
    changes: list[Any] = [
        lambda: spec["properties"]["mode"].update(enum=["a", "b"]),
        lambda: spec["properties"]["size"].update(maximum=5),
        lambda: spec["properties"]["name"].update(maxLength=3),
        lambda: spec.update(required=["mode"]),
        lambda: spec["properties"]["parts"]["items"]["properties"]["mode"].update(enum=["a"]),
        lambda: spec["properties"]["parts"]["items"]["properties"].pop("note"),
        lambda: spec["properties"]["box"]["properties"].pop("extra"),
        lambda: spec["properties"]["labels"]["additionalProperties"].update(maxLength=2),
        lambda: spec.update({"x-kubernetes-validations": [{"rule": "!has(self.size) || self.size < 7"}]}),
        lambda: made.update({"x-kubernetes-validations": [{"rule": "!has(self.status) || !has(self.status.count)"}]}),
        lambda: status["properties"]["phase"].update(enum=["Ready"]),
        lambda: status["properties"]["seen"].update(maxItems=1),
    ]
    for change in rng.sample(changes, 4):
        change()
    result: Json = made
    return result


def _parts(rng: random.Random) -> Json:
    def some(members: Json) -> Json:
        return {key: value for key, value in members.items() if rng.random() < 0.6}

    word = "".join(rng.choice("abc") for _ in range(rng.randint(1, 5)))
    item = some({"key": word, "mode": rng.choice("abc"), "note": "n"})
    spec = some(
        {
            "mode": rng.choice("abc"),
            "size": rng.randint(1, 9),
            "name": word,
            "parts": [item, {"key": "k", "mode": "a"}],
            "labels": {word: word},
            "box": some({"mode": "a", "extra": "x", "size": 1}),
        }
    )
    status = some({"phase": rng.choice(["Ready", "Paused"]), "seen": ["a", "b"][: rng.randint(1, 2)], "count": 1})
    return {"spec": spec, "status": status}

"""A verdict rests on what was recorded: kinds with findings of which nothing was recorded are unknown, and named."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, run, simulate, string, version, widget, write

_GADGET = {"crd": "gadgets.example.com", "kind": "Gadget", "findings": 1}
_SAID = "nothing was recorded of 1 kind with findings: Gadget"


def _schema(*phases: str, **more: Json) -> Json:
    return root(status=obj(phase=string(*phases), **more))


def _sides(tmp_path: Path) -> list[str]:
    """Widget and Gadget gain a value in NEW, Sprocket a field whose loss is an info."""
    for name, phases, more in (("r-1.1", "A", {}), ("r-1.2", "AB", {"text": string()})):
        write(tmp_path / name / "w.yaml", crd(_schema(*phases)))
        write(tmp_path / name / "g.yaml", crd(_schema(*phases), kind="Gadget"))
        write(tmp_path / name / "s.yaml", crd(_schema("A", **more), kind="Sprocket"))
    return ["./r-1.1", "./r-1.2"]


_WIDGET = widget({"status": {"phase": "A"}})
_OTHER = {**_WIDGET, "kind": "Gadget"}
_NONE = {"apiVersion": "example.com/v1", "kind": "GadgetList", "items": []}


def test_simulate_names_kinds_that_were_not_recorded(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    write(tmp_path / "o.yaml", _WIDGET)
    report = simulate(*sides, "--objects", "o.yaml", cwd=tmp_path, code=2)
    assert report["summary"]["unrecorded"] == [_GADGET]
    assert f": UNKNOWN (not judged: {_SAID})\n" in run("simulate", *sides, "--objects", "o.yaml", cwd=tmp_path).out
    missing = "not recorded: Gadget (1 finding)"
    for form, line in {"markdown": missing, "html": missing, "junit": f"unknown: {_SAID}"}.items():
        assert line in run("simulate", *sides, "--objects", "o.yaml", "--format", form, cwd=tmp_path).out
    for threshold, code in (("error", 2), ("warning", 2), ("undecided", 2), ("never", 0)):
        assert run("simulate", *sides, "--objects", "o.yaml", "--fail-on", threshold, cwd=tmp_path).code == code


@pytest.mark.parametrize(
    ("file", "document"),
    [
        ("gadget.yaml", _OTHER),
        ("list.yaml", _NONE),
        ("list.json", {**_NONE, "items": None}),
        ("cluster-scoped-resources/example.com/gadgets.yaml", {"apiVersion": "v1", "kind": "List", "items": []}),
        ("namespaces/a/example.com/gadgets.json", {"apiVersion": "v1", "kind": "List", "items": []}),
    ],
    ids=["an object", "an empty list", "a list of null", "a file of the cluster", "a file of a namespace"],
)
def test_what_shows_that_a_kind_was_recorded(tmp_path: Path, file: str, document: Json) -> None:
    sides = _sides(tmp_path)
    write(tmp_path / "recorded" / "w.yaml", _WIDGET)
    write(tmp_path / "recorded" / file, document)
    report = simulate(*sides, "--objects", "recorded", cwd=tmp_path, code=0)
    assert "unrecorded" not in report["summary"]
    clusters = run("matrix", *sides, "--objects", "recorded", "--format", "json", cwd=tmp_path).report["cluster"]
    assert [target["verdict"] for target in clusters["targets"]] == ["clean"]


def test_an_empty_list_of_anything_shows_nothing(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    write(tmp_path / "o.yaml", _WIDGET, {"apiVersion": "v1", "kind": "List", "items": []})
    assert simulate(*sides, "--objects", "o.yaml", cwd=tmp_path, code=2)["summary"]["unrecorded"] == [_GADGET]


def test_only_kinds_that_were_asked_for(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    write(tmp_path / "o.yaml", _WIDGET)
    args = (*sides, "--objects", "o.yaml", "--crd", "widgets.example.com")
    assert "unrecorded" not in simulate(*args, cwd=tmp_path)["summary"]


def test_only_findings_of_the_cluster_s_context(tmp_path: Path) -> None:
    """A value that only a preview of features adds is in no object of a usual cluster."""
    sides = _sides(tmp_path)
    sets = {"Default": "A", "TechPreviewNoUpgrade": "AB"}
    for name in ("r-1.1", "r-1.2"):
        for feature_set, phases in sets.items():
            notes = {"release.openshift.io/feature-set": feature_set}
            found = "A" if name == "r-1.1" else phases
            write(tmp_path / name / f"g-{feature_set}.yaml", crd(_schema(*found), kind="Gadget", annotations=notes))
        (tmp_path / name / "g.yaml").unlink()
    write(tmp_path / "o.yaml", _WIDGET)
    assert "unrecorded" not in simulate(*sides, "--objects", "o.yaml", cwd=tmp_path)["summary"]
    preview = (*sides, "--objects", "o.yaml", "--context", "TechPreviewNoUpgrade/default")
    assert simulate(*preview, cwd=tmp_path, code=2)["summary"]["unrecorded"] == [_GADGET]


def test_a_matrix_does_not_know_a_cluster_of_some_kinds(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    write(tmp_path / "o.yaml", _WIDGET)
    ran = run("matrix", *sides, "--objects", "o.yaml", "--format", "json", cwd=tmp_path)
    (target,) = ran.report["cluster"]["targets"]
    assert (target["verdict"], target["unjudged"]) == ("unknown", [_SAID])
    for form in ("text", "markdown", "html"):
        assert _SAID in run("matrix", *sides, "--objects", "o.yaml", "--format", form, cwd=tmp_path).out


def test_a_fleet_names_kinds_by_cluster(tmp_path: Path) -> None:
    """Recordings of one cluster count together."""
    sides = _sides(tmp_path)
    for number, (name, *documents) in enumerate(
        [("a", _WIDGET), ("b", _WIDGET, _OTHER), ("c", _WIDGET), ("d", _NONE, _WIDGET)]
    ):
        cluster = f"00000000-0000-0000-0000-00000000000{number if name != 'd' else 2}"
        version = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
                   "spec": {"clusterID": cluster}}  # fmt: skip
        write(tmp_path / "fleet" / f"{name}.json", version, *documents)
    args = ("simulate", *sides, "--fleet", "fleet", "--jobs", "1")
    ran = run(*args, "--format", "json", cwd=tmp_path)
    verdicts = {item["name"]: item["targets"][0]["verdict"] for item in ran.report["clusters"]}
    assert verdicts == {"fleet/a.json": "unknown", "fleet/b.json": "clean", "fleet/c.json": "clean"}
    reasons = [(item["reason"], item["clusters"], item["objects"]) for item in ran.report["unjudged"]]
    assert reasons == [(_SAID, 1, 0)]
    assert f"1 of 3 clusters, to ./r-1.1: {_SAID}" in " ".join(run(*args, cwd=tmp_path).out.split())


def test_objects_that_were_not_judged_count_where_their_kind_differs(tmp_path: Path) -> None:
    """A conversion webhook cannot be asked. If its CRD is the same in both releases, the answer cannot change."""
    sides = _sides(tmp_path)
    served = [version(_schema("A"), name, storage=name == "v1") for name in ("v1", "v2")]
    converting = crd(kind="Gizmo", versions=served)
    client = {"clientConfig": {"url": "https://example.com"}, "conversionReviewVersions": ["v1"]}
    converting["spec"]["conversion"] = {"strategy": "Webhook", "webhook": client}
    write(tmp_path / "recorded" / "objects.yaml", _WIDGET, _OTHER, {**_WIDGET, "kind": "Gizmo"})
    command = (*sides, "--objects", "recorded")
    for name in ("r-1.1", "r-1.2"):
        write(tmp_path / name / "z.yaml", converting)
    ran = run("simulate", *command, cwd=tmp_path)
    assert (ran.code, "Not judged: 1 object." in ran.out) == (0, True)
    assert ": CLEAN (2 recorded objects accepted)\n" in ran.out
    converting["spec"]["versions"][0] = version(_schema("A", "B"), "v1")
    write(tmp_path / "r-1.2" / "z.yaml", converting)
    ran = run("simulate", *command, cwd=tmp_path)
    said = ": UNKNOWN (not judged: gizmos.example.com converts versions by a webhook"
    assert (ran.code, said in ran.out) == (2, True)
    # Of a cluster of another release, the two that are compared tell nothing.
    converting["spec"]["versions"][0] = served[0]
    write(tmp_path / "r-1.2" / "z.yaml", converting)
    status = {"desired": {"version": "1.5.0"}}
    cluster = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"}}
    write(tmp_path / "recorded" / "version.yaml", {**cluster, "status": status})
    assert run("simulate", *command, cwd=tmp_path).code == 2

"""Recordings of clusters in every shape: what is read of them, what it is, and where it came from."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from helpers import Json, both, crd, obj, root, run, string, version, write
from operations import operations
from recorded import left_out, objects, problems

from crdcompat.crds.reader import CrdReader
from crdcompat.crds.resolving import resolve_all
from crdcompat.features.diff import diff_workflow
from crdcompat.recordings.layouts import Hint, hint_of
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.sources import open_objects, open_source
from crdcompat.sources.files import PathTree


def widget(name: str = "x", **more: object) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "uid": f"u-{name}"}, **more}


# -- must-gather ----------------------------------------------------------------------------------------------


def test_two_images_may_have_gathered_the_same_crd(tmp_path: Path) -> None:
    one, other = crd(root(spec=obj(p=string()))), crd(root(spec=obj(p=string("a"))))
    for image, data in (("a", one), ("b", one), ("c", other)):
        write(tmp_path / image / "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions/w.yaml", data)
    files = [document.file for document in diff_workflow.load(f"recording:{tmp_path}").documents]
    folder = "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions"
    assert files == [f"c/{folder}/w.yaml", f"{folder}/w.yaml"]


# -- insights archives ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("config/version.json", Hint("config.openshift.io", "clusterversion")),
        ("insights-2021/config/infrastructure.json.gz", Hint("config.openshift.io", "infrastructure")),
        ("config/schedulers/cluster.json", Hint("config.openshift.io", "schedulers")),
        ("config/clusteroperator/etcd.json", Hint("config.openshift.io", "clusteroperator")),
        ("config/clusteroperator/a.b/config/cluster.json", Hint("a.b", "config")),
        ("config/clusteroperator/a.b/thing/ns/x.json", Hint("a.b", "thing")),
        ("config/machineconfigpools/master.json", Hint("machineconfiguration.openshift.io", "machineconfigpools")),
        ("config/machines/ns/m.json", Hint("machine.openshift.io", "machines")),
        ("machinesets/ns/m.json", Hint("machine.openshift.io", "machinesets")),
        ("config/storage/ns/storageclusters/x.json", Hint("ocs.openshift.io", "storageclusters")),
        ("customresources/a.b/things/ns/x.json", Hint("a.b", "things")),
        ("cluster-scoped-resources/a.b/things/x.json", Hint("a.b", "things")),
        ("namespaces/ns/a.b/things/x.json", Hint("a.b", "things")),
        ("namespaces/ns/core/pods/x.json", Hint("", "pods")),
        ("config/unheard-of/x.json", None),
        ("config/version.yaml", None),
        ("version.json", None),
    ],
)
def test_a_path_gives_a_hint(path: str, expected: Hint | None) -> None:
    assert hint_of(path) == expected


def test_the_version_is_that_of_the_link_or_the_one_stored(tmp_path: Path) -> None:
    schema = root(spec=obj(p=string()))
    versions = [version(schema, "v1", storage=False), version(schema, "v2")]
    sides = both(tmp_path, crd(versions=versions), crd(versions=versions))
    sets = [CrdReader().read(PathTree(str(side), str(side))) for side in sides]
    known = resolve_all(*sets)[1]
    hint = Hint("example.com", "widget")
    plain = Recorded({"metadata": {"name": "x"}}, "x", hint).completed(known)
    assert (plain.data["apiVersion"], plain.data["kind"], plain.hint) == ("example.com/v2", "Widget", None)
    linked = {"metadata": {"name": "x", "selfLink": "/apis/example.com/v1/widgets/x"}}
    assert Recorded(linked, "x", hint).completed(known).data["apiVersion"] == "example.com/v1"
    unknown = Recorded({}, "x", Hint("example.com", "gadget"))
    assert unknown.completed(known) is unknown


# -- gather-extra, streams, files -----------------------------------------------------------------------------


def test_gather_extra(tmp_path: Path) -> None:
    where = tmp_path / "artifacts"
    other = {"apiVersion": "config.openshift.io/v1", "kind": "DNS", "metadata": {"name": "cluster"}}
    mixed = {"kind": "List", "apiVersion": "v1", "items": [widget("a"), other]}
    text = json.dumps(mixed, indent=2)
    write(where / "config-resources.json", text)
    write(where / "nothing.json", {"kind": "WidgetList", "apiVersion": "example.com/v1", "items": None})
    write(where / "empty.json", "")
    write(where / "spaces.json", " \n")
    write(where / "cut.json", text[: len(text) // 2])
    write(where / "cut-after-a-brace.json", text[: text.index("}") + 1])
    write(where / "lines.ndjson", f"{json.dumps(widget('b'))}\n{json.dumps(widget('c'))[:-9]}")
    write(where / "oc_cmds" / "widgets.json", "NAME AGE")
    write(where / "pods" / "a.log", "{")
    whole = gzip.compress(json.dumps({"kind": "List", "apiVersion": "v1", "items": [widget("z")]}).encode())
    (where / "deployments.json.gz").write_bytes(whole)
    (where / "daemonsets.json.gz").write_bytes(whole[: len(whole) // 2])
    (where / "replicasets.json.gz").write_bytes(gzip.compress(b""))
    (where / "inner.tar.gz").write_bytes(whole)
    assert problems(tmp_path) == []
    assert [item.source for item in objects(tmp_path)] == [
        "artifacts/config-resources.json items[0]",
        "artifacts/config-resources.json items[1]",
        "artifacts/deployments.json.gz items[0]",
        "artifacts/lines.ndjson",
    ]
    assert dict(left_out(tmp_path)) == {
        "artifacts/nothing.json": "a list without items",
        "artifacts/empty.json": "not recorded: empty",
        "artifacts/spaces.json": "not recorded: empty",
        "artifacts/replicasets.json.gz": "not recorded: empty",
        "artifacts/cut.json": "not recorded: cut short",
        "artifacts/cut-after-a-brace.json": "not recorded: cut short",
        "artifacts/daemonsets.json.gz": "not recorded: cut short",
        "artifacts/lines.ndjson": "not recorded: cut short",
        "artifacts/inner.tar.gz": "an archive inside the recording: name it itself to have it read",
        "artifacts/oc_cmds/widgets.json": "no objects",
    }


def test_damage_is_no_failed_recording(tmp_path: Path) -> None:
    write(tmp_path / "bad.json", '{"a": 1,, "b": 2}')
    write(tmp_path / "bad.yaml", "a: [1\n")
    (tmp_path / "bad.json.gz").write_bytes(gzip.compress(b"{}" * 99)[:-6] + b"\xff" * 6)
    assert sorted(problem.file for problem in problems(tmp_path)) == ["bad.json", "bad.json.gz", "bad.yaml"]


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(bytes(65 << 20)))
    (problem,) = problems(tmp_path)
    assert (problem.file, problem.message) == ("bomb.json.gz", f"unpacks to more than {64 << 20} bytes: not read")


def test_a_file_that_is_named_itself_is_held_to_be_whole(tmp_path: Path) -> None:
    whole = json.dumps(widget(), indent=1)
    for name, text in (("cut.json", whole[:20]), ("bad.yaml", "a: [1\n")):
        (problem,) = problems(write(tmp_path / name, text))
        assert problem.file == name
    for name in ("widget.json", "widget.txt", "widget"):
        assert [item.source for item in objects(write(tmp_path / name, whole))] == [name]
    assert left_out(write(tmp_path / "empty.yaml", "")) == [("empty.yaml", "not recorded: empty")]


def test_streams_through_the_command_line(tmp_path: Path) -> None:
    sides = both(tmp_path, root(spec=obj(p=string())), root(spec=obj(p=string())))
    lines = "\n".join(json.dumps(widget(name)) for name in "aba").encode()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as made:
        info = tarfile.TarInfo("w.ndjson")
        info.size = len(lines)
        made.addfile(info, io.BytesIO(lines))
    for stdin in (lines, gzip.compress(lines), archive.getvalue()):
        ran = run("simulate", *sides, "--objects", "-", "--kube-version", "1.31", "--format", "json", stdin=stdin)
        assert ran.code == 0, ran.err
        assert [item["object"]["name"] for item in ran.report["objects"]] == ["a", "b"]


def test_the_same_object_without_uid_is_recognised_by_its_content() -> None:
    one = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "n"}, "spec": {"a": 1, "b": 2}}
    reordered = {**one, "spec": {"b": 2, "a": 1}}
    assert Recorded(one, "").identity == Recorded(reordered, "").identity
    assert Recorded(one, "").identity != Recorded({**one, "spec": {}}, "").identity


# -- size -----------------------------------------------------------------------------------------------------


def _version(number: int) -> bytes:
    data = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterOperator",
        "metadata": {"name": f"operator-{number}", "uid": f"uid-{number}", "resourceVersion": str(number)},
        "spec": {},
        "status": {
            "conditions": [
                {"type": kind, "status": "True", "reason": "AsExpected", "message": f"{kind} since {number}"}
                for kind in ("Available", "Progressing", "Degraded", "Upgradeable")
            ]
        },
    }
    return b"---\n" + yaml.dump(data, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)).encode()


def _archive(path: Path, numbers: Iterable[int]) -> Path:
    folder = "must-gather/cluster-scoped-resources/config.openshift.io/clusteroperators"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for number in numbers:
            data = _version(number % 100).replace(b"-%d" % (number % 100), b"-%d" % number)
            info = tarfile.TarInfo(f"{folder}/operator-{number}.yaml")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_memory_is_flat_in_the_number_of_objects(tmp_path: Path) -> None:
    peaks = []
    for count in (300, 3000):
        path = _archive(tmp_path / f"{count}.tar.gz", range(count))
        tracemalloc.start()
        assert sum(1 for _ in read_objects(open_objects(str(path)))) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.2 + 100_000


def test_two_thousand_objects(tmp_path: Path) -> None:
    path = _archive(tmp_path / "must-gather.tar.gz", range(2000))
    with operations() as done:
        found = objects(path)
    assert len({item.identity for item in found}) == 2000
    assert done.calls < 1_000 * 2000


def test_a_missing_recording_is_said(tmp_path: Path) -> None:
    ran = run("simulate", tmp_path, tmp_path, "--objects", tmp_path / "none.tar.gz")
    assert ran.code == 2 and "none.tar.gz: no such file or directory" in ran.err
    assert open_source(str(tmp_path)).is_one_file is False

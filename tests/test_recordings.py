"""Recordings of clusters in every shape: what is read of them, what it is, and where it came from."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import yaml
from helpers import Json, both, crd, obj, root, run, string, unpack, version, write

from crdcompat.cli.progress import Progress
from crdcompat.jobs import api
from crdcompat.manifests.crdset import CrdReader
from crdcompat.manifests.objects import Recorded, read_objects
from crdcompat.manifests.pairing import resolve_all
from crdcompat.manifests.recordings import Hint, hint_of
from crdcompat.problems import Problem, Skipped
from crdcompat.sources import open_objects, open_source
from crdcompat.sources.files import PathTree

MUST_GATHER = "data/recorded/must-gather-4.18.tar.gz"
INSIGHTS = "data/recorded/insights-archive-sample.tar.gz"


def items(path: str | Path) -> list[Recorded | Problem | Skipped]:
    return list(read_objects(open_objects(str(path))))


def objects(path: str | Path) -> list[Recorded]:
    return [item for item in items(path) if isinstance(item, Recorded)]


def left_out(path: str | Path) -> list[tuple[str, str]]:
    return [(item.file, item.reason) for item in items(path) if isinstance(item, Skipped)]


def problems(path: str | Path) -> list[Problem]:
    return [item for item in items(path) if isinstance(item, Problem)]


@pytest.fixture(scope="module")
def must_gather(shared: Path) -> Path:
    if not (shared / MUST_GATHER).is_file():
        pytest.skip("no must-gather")
    return shared / MUST_GATHER


@pytest.fixture(scope="module")
def insights(shared: Path) -> Path:
    if not (shared / INSIGHTS).is_file():
        pytest.skip("no insights archive")
    return shared / INSIGHTS


def widget(name: str = "x", **more: object) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "uid": f"u-{name}"}, **more}


# -- must-gather ----------------------------------------------------------------------------------------------


def test_a_must_gather_as_archive_and_as_directory(must_gather: Path, tmp_path: Path) -> None:
    everything = items(must_gather)
    assert not [item for item in everything if isinstance(item, Problem)]
    found = [item for item in everything if isinstance(item, Recorded)]
    distinct = {item.identity for item in found}
    assert None not in distinct
    assert (len(found), len(distinct)) == (1511, 1320)
    kinds = Counter(identity[1] for identity in distinct if identity)
    assert kinds["ClusterVersion"] == 1 and kinds["ClusterOperator"] == 33
    assert kinds["CustomResourceDefinition"] == 0
    (source,) = (item.source for item in found if "clusterversions/version.yaml" in item.source)
    where = "cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml"
    assert source == f"must-gather-4.18.tar.gz: {where}"
    with tarfile.open(must_gather) as archive:
        unpack(archive, tmp_path)
    in_directory = objects(tmp_path / "must-gather")
    assert {item.identity for item in in_directory} == distinct and len(in_directory) == len(found)


def test_a_must_gather_against_a_plain_reading(must_gather: Path) -> None:
    """tarfile and PyYAML alone find the same objects."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    expected: set[tuple[str, ...]] = set()
    with tarfile.open(must_gather) as archive:
        for member in archive:
            if not member.name.endswith(".yaml") or "aggregated-discovery" in member.name:
                continue
            file = archive.extractfile(member)
            assert file is not None
            data = yaml.load(file.read(), loader)
            listed = data["items"] if data["kind"].endswith("List") else [data]
            for one in listed if isinstance(listed, list) else []:
                meta = one["metadata"]
                expected.add((one["apiVersion"], one["kind"], meta.get("namespace", ""), meta["name"]))
    expected = {identity for identity in expected if identity[1] != "CustomResourceDefinition"}
    assert {item.identity[:4] for item in objects(must_gather) if item.identity} == expected


def test_the_crds_of_a_must_gather(must_gather: Path, tmp_path: Path) -> None:
    found = api.load(f"recording:{must_gather}")
    assert len(found.documents) == 127 and found.problems == ()
    folder = "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions"
    assert {document.file.rpartition("/")[0] for document in found.documents} == {folder}
    wanted = f"{folder}/clusterversions.config.openshift.io.yaml"
    ((path, data),) = found.read([wanted])
    assert path == wanted and b"enabledCapabilities" in data
    assert len(api.load(str(must_gather)).documents) == 127
    with tarfile.open(must_gather) as archive:  # folders above it that mean something in a repository mean nothing
        unpack(archive, tmp_path / "tests" / "vendor")
    assert len(api.load(f"recording:{tmp_path}").documents) == 127


def test_two_images_may_have_gathered_the_same_crd(tmp_path: Path) -> None:
    one, other = crd(root(spec=obj(p=string()))), crd(root(spec=obj(p=string("a"))))
    for image, data in (("a", one), ("b", one), ("c", other)):
        write(tmp_path / image / "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions/w.yaml", data)
    files = [document.file for document in api.load(f"recording:{tmp_path}").documents]
    folder = "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions"
    assert files == [f"c/{folder}/w.yaml", f"{folder}/w.yaml"]


def test_rolling_back_a_recorded_cluster(must_gather: Path, openshift_api: Path) -> None:
    old, recording = "origin/release-4.13", f"recording:{must_gather}"
    args = ("simulate", old, recording, "--objects", must_gather, "--crd", "clusterversions.config.openshift.io")
    ran = run(*args, "--format", "json", cwd=openshift_api)
    assert ran.code == 1
    (item,) = ran.report["objects"]
    assert item["writes"]["status-update"]["verdict"] == "rejected"
    assert "DeploymentConfig" in item["writes"]["status-update"]["message"]
    assert item["source"].startswith("must-gather-4.18.tar.gz: cluster-scoped-resources/config.openshift.io/")


# -- insights archives ----------------------------------------------------------------------------------------


def test_an_insights_archive(insights: Path) -> None:
    found = objects(insights)
    assert problems(insights) == []
    assert len(found) == 169
    told = Counter(item.hint is not None for item in found)
    assert told == {True: 68, False: 101}
    unknown = [item.source.partition(": ")[2] for item in found if item.hint is None and item.identity is None]
    assert unknown == ["namespaces/openshift-nfd/customresources/ip-10-0-58-24.ec2.internal.json"]
    reasons = Counter(reason.partition(",")[0] for _, reason in left_out(insights))
    assert reasons == {"data of the gatherer": 24, "a CRD": 2}


def test_insights_objects_are_completed_from_the_crds(insights: Path, openshift_api: Path) -> None:
    reader = CrdReader()
    old, new = (api.load(f"origin/release-4.{n}", repo=str(openshift_api), reader=reader) for n in (13, 14))
    known = [resolve_all(new, old)[1], resolve_all(old, new)[1]]
    completed = {item.source.partition(": ")[2]: item.completed(*known) for item in objects(insights) if item.hint}
    kinds = {path: (item.data["apiVersion"], item.data["kind"]) for path, item in completed.items() if not item.hint}
    assert kinds["config/version.json"] == ("config.openshift.io/v1", "ClusterVersion")
    assert kinds["config/apiserver.json"] == ("config.openshift.io/v1", "APIServer")
    registry = "config/clusteroperator/imageregistry.operator.openshift.io"
    assert kinds[f"{registry}/config/cluster.json"] == ("imageregistry.operator.openshift.io/v1", "Config")
    assert kinds[f"{registry}/imagepruner/cluster.json"] == ("imageregistry.operator.openshift.io/v1", "ImagePruner")
    assert kinds["config/securitycontextconstraint/anyuid.json"][1] == "SecurityContextConstraints"
    assert len(kinds) == 14
    assert all(completed[path].identity for path in kinds)


def test_an_insights_object_without_metadata_has_its_name_and_namespace(insights: Path) -> None:
    found = {item.source.partition(": ")[2]: item.data for item in objects(insights)}
    folder = "config/clusteroperator/operator.openshift.io"
    console = found[f"{folder}/console/cluster.json"]
    assert console["metadata"] == {"name": "cluster"} and "name" not in console
    router = found[f"{folder}/ingresscontroller/openshift-ingress-operator/default.json"]
    assert router["metadata"] == {"name": "default", "namespace": "openshift-ingress-operator"}


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
def test_what_a_path_tells(path: str, expected: Hint | None) -> None:
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


def test_the_same_object_without_uid_is_told_by_its_content() -> None:
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
    print(f"peaks: {[peak >> 10 for peak in peaks]} KiB")
    assert peaks[1] < peaks[0] * 1.2 + 100_000


def test_two_thousand_objects(tmp_path: Path) -> None:
    path = _archive(tmp_path / "must-gather.tar.gz", range(2000))
    start = time.perf_counter()
    found = objects(path)
    took = time.perf_counter() - start
    print(f"{len(found) / took:.0f} objects per second")
    assert len({item.identity for item in found}) == 2000
    assert took < 3


# -- progress -------------------------------------------------------------------------------------------------


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _slow(count: int) -> Iterator[int]:
    for number in range(count):
        time.sleep(0.01)
        yield number


def test_progress_is_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", _Terminal())
    progress = Progress()
    assert list(progress.each(_slow(60))) == list(range(60))
    shown = progress_text()
    assert shown.count("objects read") in (2, 3)
    assert shown.endswith("\r\x1b[K") and "\n" not in shown


def test_no_progress_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, wanted in ((io.StringIO(), True), (_Terminal(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        list(Progress(wanted=wanted).each(_slow(30)))
        assert stream.getvalue() == ""


def progress_text() -> str:
    import sys

    stream = sys.stderr
    assert isinstance(stream, _Terminal)
    return stream.getvalue()


def test_a_missing_recording_is_said(tmp_path: Path) -> None:
    ran = run("simulate", tmp_path, tmp_path, "--objects", tmp_path / "none.tar.gz")
    assert ran.code == 2 and "none.tar.gz: no such file or directory" in ran.err
    assert open_source(str(tmp_path)).is_one_file is False

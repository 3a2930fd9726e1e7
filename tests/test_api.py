"""The Python interface: small, typed, and the same as the commands."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import both, commit, crd, diff, git, obj, root, run, string, write

import crdcompat
from crdcompat.apiserver.strategy import TOO_DEEP
from crdcompat.crds.model import read_crd
from crdcompat.errors import ConfigError, CrdcompatError, RefNotFoundError, SourceError, UsageError
from crdcompat.recordings.recorded_objects import ObjectItem, Recorded, read_objects
from crdcompat.render.data.diff import diff_data
from crdcompat.render.data.simulation import simulation_data
from crdcompat.sources.files import PathTree

NEW_STATUS = obj(p=string(*"AB"))
OLD, NEW = (root(spec=obj(a=string()), status=obj(p=string(*members))) for members in ("A", "AB"))


FUNCTIONS = [
    *("baseline", "check", "diff", "judge", "judge_crd", "load_crds", "load_objects", "matrix", "simulate"),
    *("suggest_patch", "waive"),
]


def test_public_names() -> None:
    assert dir(crdcompat) == sorted(crdcompat.__all__) == FUNCTIONS
    for name in FUNCTIONS:
        assert getattr(crdcompat, name).__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        crdcompat.nonsense  # noqa: B018


@pytest.mark.parametrize("name", ["load", "CrdSet", "DiffReport", "SimulationReport", "Verdict", "__version__"])
def test_names_that_are_importable_but_not_listed(name: str) -> None:
    assert getattr(crdcompat, name)
    assert name not in dir(crdcompat)


def test_no_module_has_the_name_of_a_function() -> None:
    """Python sets an imported submodule as an attribute of its package: it would replace the function."""
    modules = {module.name for module in pkgutil.iter_modules(crdcompat.__path__)}
    assert "api" in modules
    assert modules.isdisjoint([*FUNCTIONS, "load"])


def test_features_do_not_import_the_interface() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (Path(crdcompat.__path__[0]) / "features").rglob("*.py")]
    assert texts
    assert not any("crdcompat.api " in text or "from crdcompat import" in text for text in texts)


def test_version_is_the_one_of_the_command() -> None:
    ran = run("--version")
    assert (ran.code, ran.out) == (0, f"crdcompat {crdcompat.__version__}\n")


def test_load_and_diff(tmp_path: Path) -> None:
    old, new = (crdcompat.load(str(path)) for path in both(tmp_path, OLD, NEW))
    report = crdcompat.diff(old, new)
    (finding,) = report.findings
    assert (finding.rule, finding.severity, finding.path, finding.added) == (
        "enum-value-added", "error", "status.p", ("B",),
    )  # fmt: skip
    assert report.by_severity() == {"error": 1, "warning": 0, "info": 0}
    assert report.fails("error")
    assert not report.fails("never")


def test_the_command_says_the_same(tmp_path: Path) -> None:
    paths = both(tmp_path, OLD, NEW)
    report = crdcompat.diff(*(crdcompat.load(str(path)) for path in paths))
    assert [f.id for f in report.findings] == [f["id"] for f in diff(*paths)["findings"]]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 1),
        ({"directions": ("upgrade",)}, 0),
        ({"owners": ["spec"]}, 0),
        ({"owners": ["status"]}, 1),
        ({"select": ["enum-dropped"]}, 0),
        ({"ignore": ["enum-value-added"]}, 0),
        ({"crds": ["widgets.example.com"]}, 1),
        ({"paths": ["nowhere"]}, 0),
        ({"contexts": ["default"]}, 1),
        ({"locate": False}, 1),
    ],
)
def test_filters(tmp_path: Path, filters: dict[str, object], count: int) -> None:
    old, new = (crdcompat.load(str(path)) for path in both(tmp_path, OLD, NEW))
    assert len(crdcompat.diff(old, new, **filters).findings) == count  # type: ignore[arg-type]


def test_without_lines_the_findings_are_the_same(tmp_path: Path) -> None:
    """Also those on CRDs that a server refuses: their validation does not depend on lines."""
    refused = crd(root(spec=obj(p=string(pattern="("))))
    old, new = (crdcompat.load(str(path)) for path in both(tmp_path, crd(root(spec=obj(p=string()))), refused))
    found = [
        [(finding.rule, finding.path) for finding in crdcompat.diff(old, new, locate=locate).findings]
        for locate in (True, False)
    ]
    assert found == [[("crd-refused", "spec.p")]] * 2


@pytest.mark.parametrize("filters", [{"crds": ["nothing"]}, {"contexts": ["nothing"]}])
def test_names_that_there_are_not(tmp_path: Path, filters: dict[str, list[str]]) -> None:
    old, new = (crdcompat.load(str(path)) for path in both(tmp_path, OLD, NEW))
    with pytest.raises(UsageError, match="nothing"):
        crdcompat.diff(old, new, **filters)  # type: ignore[arg-type]


def test_errors_are_of_one_family(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    commit(tmp_path / "repo", {"a.yaml": crd(OLD)})
    with pytest.raises(RefNotFoundError) as found:
        crdcompat.load("git:mian", repo=str(tmp_path / "repo"))
    assert (found.value.ref, found.value.near) == ("mian", ("main",))
    with pytest.raises(SourceError):
        crdcompat.load("path:nowhere")
    with pytest.raises(UsageError):
        crdcompat.load("")
    assert issubclass(RefNotFoundError, SourceError)
    assert issubclass(SourceError, CrdcompatError)


def test_judge() -> None:
    new = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    verdict = crdcompat.judge(crd(NEW), "validate", {**new, "status": {"p": "B"}, "zz": 1})
    assert verdict.accepted is True
    assert (verdict.object or {})["status"] == {"p": "B"}
    assert verdict.pruned == ("zz",)
    verdict = crdcompat.judge(crd(OLD), "validate", {**new, "status": {"p": "B"}})
    assert verdict.accepted is False
    assert verdict.object is None
    assert [error.field for error in verdict.errors] == ["status.p"]


def test_judge_crd() -> None:
    good, bad = crd(root(spec=obj(a=string()))), crd(root(spec=obj(a={"type": "array"})))
    assert crdcompat.judge_crd(good).accepted
    assert crdcompat.judge_crd(read_crd(good), good).code == 200
    assert [error.field for error in crdcompat.judge_crd(bad, good, kubernetes="1.36").errors] == [
        "spec.validation.openAPIV3Schema.properties[spec].properties[a].items"
    ]
    with pytest.raises(UsageError, match=r"not one of 1\.17 to"):
        crdcompat.judge_crd(good, kubernetes="1.99")


def test_judge_changes_nothing_that_it_is_given() -> None:
    definition = crd(root(spec=obj(v=string(default="x"))))
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"zz": 1}}
    before = json.dumps([definition, body])
    crdcompat.judge(definition, "create", body)
    crdcompat.judge(definition, "update", body, body)
    assert json.dumps([definition, body]) == before


@pytest.mark.parametrize(
    ("definition", "operation", "more"),
    [
        ({"kind": "ConfigMap"}, "create", {}),
        (crd(OLD), "explode", {}),
        (crd(OLD), "update", {}),
        (crd(OLD), "create", {"version": "v9"}),
        (crd(OLD), "create", {"kubernetes": "nine"}),
    ],
)
def test_judge_refuses(definition: dict[str, object], operation: str, more: dict[str, str]) -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    with pytest.raises(UsageError):
        crdcompat.judge(definition, operation, body, **more)  # type: ignore[arg-type]


def test_simulate(tmp_path: Path) -> None:
    old, new = (crdcompat.load(str(path)) for path in both(tmp_path, OLD, NEW))
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    write(tmp_path / "o.json", {**body, "status": {"p": "B"}})
    objects = read_objects(PathTree("o", str(tmp_path / "o.json")))
    report = crdcompat.simulate(old, new, objects)
    assert report.direction == "rollback"
    assert [(item.name, item.worst) for item in report.objects] == [("a", "rejected")]


def test_objects_that_no_file_could_hold(tmp_path: Path) -> None:
    """Files are refused at 200 levels; the Python interface takes any object there is."""
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    deeper = {**body, "spec": {"x": deep}}
    with pytest.raises(UsageError, match="nested too deeply"):
        crdcompat.judge(crd(root(spec=free)), "create", deeper)
    old, new = (crdcompat.load(str(path)) for path in both(tmp_path, root(spec=free), root(spec=free)))
    report = crdcompat.simulate(old, new, [Recorded(deeper, "deep"), Recorded({**body, "kind": "Widget"}, "plain")])
    assert [(item.object, item.reason) for item in report.not_simulated] == [("Widget/b/a", TOO_DEEP)]


def test_sources_as_texts(tmp_path: Path) -> None:
    paths = [str(path) for path in both(tmp_path, OLD, NEW)]
    old, new = (crdcompat.load_crds(path) for path in paths)
    assert crdcompat.diff(*paths).findings == crdcompat.diff(old, new).findings
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    write(tmp_path / "o.json", {**body, "status": {"p": "B"}})
    report = crdcompat.simulate(*paths, crdcompat.load_objects(str(tmp_path / "o.json")))
    assert [(item.name, item.worst) for item in report.objects] == [("a", "rejected")]


def test_load_objects_opens_all_sources_at_once(tmp_path: Path) -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    files = [str(tmp_path / name) for name in ("1.json", "2.json")]
    for file in files:
        write(Path(file), body)
    assert [item.data for item in crdcompat.load_objects(*files) if isinstance(item, Recorded)] == [body, body]
    with pytest.raises(SourceError):
        crdcompat.load_objects(files[0], str(tmp_path / "nowhere.json"))
    with pytest.raises(UsageError):
        crdcompat.load_objects("")


def test_check_reads_the_configuration(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    commit(repo, {"a.yaml": crd(OLD)})
    commit(repo, {"a.yaml": crd(NEW)})
    words = {"base": "HEAD~1", "head": "HEAD", "repo": str(repo)}
    report = crdcompat.check(**words)
    assert (report.KIND, [section.against for section in report.sections]) == ("check", ["base"])
    assert report.fails("error")
    assert [section.against for section in crdcompat.check(**words, targets=["HEAD~1"]).sections] == ["base", "target"]
    (tmp_path / "c.yaml").write_text("exclude: ['*']\n", encoding="utf-8")
    assert crdcompat.check(**words, config=str(tmp_path / "c.yaml")).sections == ()
    with pytest.raises(ConfigError):
        crdcompat.check(**words, config=str(tmp_path / "none.yaml"))
    with pytest.raises(RefNotFoundError):
        crdcompat.check(**{**words, "base": "nowhere"})


def test_diff_and_simulate_by_a_configuration_give_what_the_commands_give(tmp_path: Path) -> None:
    older, newer = (f"path:{path}" for path in both(tmp_path, OLD, root(spec=obj(a=string("x")), status=NEW_STATUS)))
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    write(tmp_path / "o.json", {**body, "spec": {}, "status": {"p": "B"}})
    config, report = tmp_path / "c.yaml", tmp_path / "r.json"
    config.write_text("profile: strict\n", encoding="utf-8")
    asked: tuple[str | Path, ...] = (
        older, newer, "--config", config, "--objects", tmp_path / "o.json", "--format", "json",
    )  # fmt: skip
    report.write_text(run("diff", *asked).out, encoding="utf-8")
    first = json.loads(report.read_text(encoding="utf-8"))["findings"][0]["id"]
    assert run("waive", first, "--reason", "known", "--report", report, "--config", config).code == 0

    def recorded() -> Iterator[ObjectItem]:
        return crdcompat.load_objects(str(tmp_path / "o.json"))

    made = crdcompat.diff(older, newer, config=str(config), recordings=[recorded()])
    said = run("diff", *asked).report
    assert diff_data(made) == {key: value for key, value in said.items() if key != "verdict"}
    assert [each["waiver"] is not None for each in said["findings"]].count(True) == 1
    assert sum(each["evidence"]["recorded_objects"] for each in said["findings"]) == 1
    assert crdcompat.diff(older, newer).findings != made.findings
    replayed = crdcompat.simulate(older, newer, recorded(), config=str(config))
    assert simulation_data(replayed)["objects"] == run("simulate", *asked).report["objects"]


def test_waivers_baselines_and_patches_are_those_of_the_commands(tmp_path: Path) -> None:
    older, newer = (f"path:{path}" for path in both(tmp_path, OLD, NEW))
    configs = [tmp_path / name / "c.yaml" for name in ("api", "command")]
    for each in configs:
        write(each, {"profile": "strict"})
    named, config = configs[0], configs[1]
    json_report = tmp_path / "r.json"
    run("diff", older, newer, "--config", config, "--format", f"json={json_report}")
    report = crdcompat.diff(older, newer, config=str(named))
    found = [each.id for each in report.findings if each.severity == "error"]
    plain = crdcompat.suggest_patch(older, newer)
    assert plain == run("diff", older, newer, "--suggest-patch", "--config", config).out != ""
    assert crdcompat.waive(found[:1], "known", owner="me", report=report, config=str(named)) == 1
    waive = run("waive", found[0], "--reason", "known", "--owner", "me", "--report", json_report, "--config", config)
    assert waive.code == 0
    assert _waivers(named) == _waivers(config)
    patch = crdcompat.suggest_patch(older, newer, config=str(named))
    assert patch == run("diff", older, newer, "--suggest-patch", "--config", config).out != plain
    crdcompat.baseline(report=str(json_report), config=str(named))
    assert run("baseline", "--report", json_report, "--config", config).code == 0
    assert _waivers(named) == _waivers(config)
    with pytest.raises(UsageError, match="no finding x"):
        crdcompat.waive(["x"], "known", report=report, config=str(named))


def _waivers(config: Path) -> bytes:
    return (config.parent / ".crdcompat-waivers.yaml").read_bytes()


def test_matrix(tmp_path: Path) -> None:
    paths = [str(path) for path in both(tmp_path, OLD, NEW)]
    report = crdcompat.matrix(paths)
    assert {(cell.direction, cell.verdict) for cell in report.cells} == {("rollback", "blocked"), ("upgrade", "clean")}
    with pytest.raises(UsageError, match="two releases"):
        crdcompat.matrix(paths[:1])
    with pytest.raises(ConfigError):
        crdcompat.matrix(paths, config=str(tmp_path / "none.yaml"))

"""The key ``kubernetes``: the CRDs of a change on every supported server, and which servers take part in a rollback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, check, commit, crd, diff, git, obj, only, root, run, select, string, write

RULES = "x-kubernetes-validations"
PLAIN = crd(root(spec=obj(a=string(maxLength=60))))


def _crd(rule: str, **more: Any) -> Json:
    return crd(root(spec=obj(a={**string(maxLength=60), RULES: [{"rule": rule, **more}]})))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {".crdcompat.yaml": {"kubernetes": {"min": "1.29", "max": "1.34"}}, "widget.yaml": PLAIN})
    return tmp_path


def _changed(repo: Path, new: Json) -> Json:
    write(repo / "widget.yaml", new)
    git(repo, "add", "-A")
    ran = run("check", "--format", "json", cwd=repo)
    (section,) = ran.report["sections"]
    return section  # type: ignore[no-any-return]


def test_the_function_the_servers_and_the_line(repo: Path) -> None:
    found = only(_changed(repo, _crd("isCIDR(self)")), rule="crd-refused-by")
    assert (found["severity"], found["effect"], found["path"]) == ("error", "crd-rejected", "spec.a")
    assert (found["added"], found["new"]) == (["isCIDR"], ["1.29", "1.30"])
    assert found["message"] == (
        "a supported server of this change refuses its CRD of Widget: Kubernetes 1.29 to 1.30 refuse it,"
        " because `isCIDR` needs Kubernetes 1.31 or later"
    )
    (place,) = found["locations"]
    assert "isCIDR(self)" in (repo / place["file"]).read_text().splitlines()[place["line"] - 1]


@pytest.mark.parametrize(
    ("definition", "servers"),
    [
        (_crd("isSemver(self)"), ["1.29", "1.30", "1.31", "1.32", "1.33"]),
        (_crd("self.matches('a') && quantity('1').isInteger()"), []),
        (crd(root(spec=obj(a=string(maxLength=61)))), []),
    ],
)
def test_servers_that_refuse(repo: Path, definition: Json, servers: list[str]) -> None:
    found = select(_changed(repo, definition), rule="crd-refused-by")
    assert [each["new"] for each in found] == ([servers] if servers else [])


@pytest.mark.parametrize("targets", [[], ["v1"]])
@pytest.mark.parametrize(
    ("limits", "rule", "value"), [({}, "server-stricter-on", 2**31), ({"maximum": 2**31}, "server-refuses-all", 0)]
)
def test_a_value_that_only_some_servers_accept(
    tmp_path: Path, limits: Json, rule: str, value: int, targets: list[str]
) -> None:
    """It concerns the new CRD alone: rollback targets make no difference."""
    git(tmp_path, "init", "-q", "-b", "main")
    config = {"kubernetes": {"min": "1.34", "max": "1.36"}, "rollback_targets": targets}
    commit(tmp_path, {".crdcompat.yaml": config, "widget.yaml": PLAIN})
    git(tmp_path, "branch", "v1")
    sized = crd(root(spec=obj(a=string(maxLength=60), n={"type": "integer", "format": "int32", **limits})))
    write(tmp_path / "widget.yaml", sized)
    git(tmp_path, "add", "-A")
    section = run("check", "--format", "json", cwd=tmp_path).report["sections"][0]
    found = only(section, rule=rule)
    assert (found["path"], found["status"], found["new"]) == ("spec.n", "new", ["1.36"])
    assert found["witness"]["object"]["spec"] == {"n": value}


def test_what_every_server_refuses_is_found_once(repo: Path) -> None:
    section = _changed(repo, crd(root(spec=obj(l={"type": "array"}))))
    assert [each["rule"] for each in section["findings"] if each["effect"] == "crd-rejected"] == ["crd-refused"]


def test_the_server_of_new_is_one_of_them(repo: Path) -> None:
    """NEW's own server refuses the CRD, too: one finding, with the servers."""
    write(repo / ".crdcompat.yaml", {"kubernetes": ["1.29", "1.30"]})
    section = _changed(repo, _crd("isCIDR(self)"))
    assert [each["rule"] for each in section["findings"] if each["effect"] == "crd-rejected"] == ["crd-refused-by"]


def test_untouched_crds_are_not_asked(repo: Path) -> None:
    commit(repo, {"widget.yaml": _crd("isCIDR(self)")})
    other = crd(root(spec=obj(a=string())), kind="Other")
    write(repo / "other.yaml", other)
    git(repo, "add", "-A")
    report = check(repo, code=0)
    assert select(report["sections"][0], rule="crd-refused-by") == []


def test_without_the_key_nobody_asks(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.yaml", PLAIN), write(tmp_path / "new.yaml", _crd("isCIDR(self)"))
    assert select(diff(old, new), rule="crd-refused-by") == []


def test_both_sides_run_the_oldest_common_server(tmp_path: Path) -> None:
    """Both sides run the oldest common server, or the two that are nearest; ``releases`` overrides all of them."""
    old, new = write(tmp_path / "old.yaml", PLAIN), write(tmp_path / "new.yaml", PLAIN)
    config = tmp_path / "c.yaml"
    for value, more, expected in (
        ({"min": "1.28", "max": "1.33"}, {}, ("1.28", "1.28")),
        (["1.30", "1.27", "1.36"], {}, ("1.27", "1.27")),
        (["1.29", "1.31", "openshift-4.17"], {}, ("1.29", "1.29")),
        ({"min": "1.28", "max": "1.33", "targets": {"path:old.yaml": ["1.26", "1.27"]}}, {}, ("1.27", "1.28")),
        ({"min": "1.28", "max": "1.33", "targets": {"path:old.yaml": ["1.27", "1.30"]}}, {}, ("1.30", "1.30")),
        ({"versions": ["1.31"]}, {"releases": {"path:new.yaml": "1.35"}}, ("1.35", "1.35")),
        (None, {"releases": {"path:old.yaml": "1.31", "path:new.yaml": "1.35"}}, ("1.31", "1.35")),
    ):
        write(config, more if value is None else {"kubernetes": value, **more})
        report = diff(f"path:{old.name}", f"path:{new.name}", "--config", config, cwd=tmp_path)
        assert (report["old"]["kubernetes"], report["new"]["kubernetes"]) == expected


def test_a_matrix_names_the_servers_of_a_release(tmp_path: Path) -> None:
    for name in ("v1", "v2"):
        write(tmp_path / name / "widget.yaml", PLAIN)
    write(tmp_path / ".crdcompat.yaml", {"kubernetes": {"min": "1.28", "max": "1.33"}})
    report = run("matrix", "path:v1", "path:v2", "--format", "json", cwd=tmp_path).report
    same = "the same one"
    assert [each["notes"] for each in report["releases"]] == [
        [f"path:{name} is judged on the servers from Kubernetes 1.28 to Kubernetes 1.33, the other release on {same}"]
        for name in ("v1", "v2")
    ]


def test_servers_asks_the_configured_ones(repo: Path) -> None:
    ran = run("servers", "path:.", "--format", "json", cwd=repo)
    assert ran.report["servers"] == ["1.29", "1.30", "1.31", "1.32", "1.33", "1.34"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kubernetes: {min: "1.34", max: "1.29"}\n', ":1: kubernetes: 1.34 is newer than 1.29"),
        ('kubernetes:\n  min: "1.29"\n  max: 1.34\n', ":3: 1.34 is a number to YAML"),
        ('kubernetes:\n  - "1.29"\n  - "1.2x"\n', ":3: kubernetes.1: "),
        ('kubernetes:\n  - "1.20"\n', ":1: kubernetes: the answers of Kubernetes 1.20 to CRDs are not known"),
        (
            'kubernetes:\n  versions: ["1.29"]\n  targets:\n    v1: ["1.99"]\n',
            ":4: kubernetes.targets.v1: Kubernetes version '1.99' is not one of",
        ),
    ],
)
def test_errors_have_their_line(repo: Path, text: str, message: str) -> None:
    (repo / ".crdcompat.yaml").write_text(text)
    ran = run("check", cwd=repo)
    assert ran.code == 2
    assert f".crdcompat.yaml{message}" in ran.err


def test_the_text_has_the_words_about_a_crd_that_does_not_decode(repo: Path) -> None:
    """They are long, and nothing else on the page says what is wrong."""
    write(repo / "widget.yaml", crd(root(spec=obj(a=string(maxLength=60), n={"type": "integer", "maximum": "ten"}))))
    git(repo, "add", "-A")
    shown = " ".join(run("check", cwd=repo).out.split())
    assert "API server: CustomResourceDefinition in version" in shown
    assert "properties.maximum of type float64" in shown

"""check: the change of a pull request, replayed on real history and on small repositories of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from changes import check, of_sets, repository, widget
from helpers import commit, crd, git, load_yaml, obj, root, run, string

# -- what is no change ------------------------------------------------------------------


def test_a_change_of_no_crd_parses_no_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    commit(repo, {"README": "b", "values.yaml": {"a": 1}})

    def never(*_: object) -> None:
        raise AssertionError("a file was parsed")

    monkeypatch.setattr("crdcompat.crds.file.read_documents", never)
    for head in ("index:", "worktree:", "HEAD"):
        assert check(repo, "--base", "HEAD~1", "--head", head, code=0)["sections"] == []


_ROLE = {
    "kind": "Role",
    "rules": [{"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"]}],
}


@pytest.mark.parametrize("head", ["index:", "worktree:", "HEAD"])
def test_a_file_that_names_crds_and_has_none(tmp_path: Path, head: str) -> None:
    """It has to be read; the answer is that of a change without a candidate."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"role.yaml": _ROLE})
    report = check(repo, "--base", "old", "--head", head, "--target", "old", code=0)
    assert report["sections"] == []
    assert report["notes"][0].endswith(", no CRD changed: nothing to check")


def test_a_gate_that_no_crd_needs(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    gates = "payload-manifests/featuregates/a.yaml"
    commit(repo, {"w.yaml": widget("A"), gates: {"kind": "FeatureGate", "spec": {"featureSet": "Default"}}})
    commit(repo, {gates: {"kind": "FeatureGate", "spec": {"featureSet": "Default"}, "status": {}}})
    assert check(repo, "--base", "HEAD~1", code=0)["sections"] == []


def test_a_source_of_a_crd_that_another_manifest_ships(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"payload-manifests/crds/w.yaml": widget("A"), "src/w.yaml": widget("A")})
    commit(repo, {"src/w.yaml": widget("A", "B")})
    report = check(repo, "--base", "HEAD~1", code=0)
    assert report["sections"] == []
    assert report["notes"][0].endswith(", no CRD that ships changed: nothing to check")


def test_only_the_document_that_differs_is_touched(tmp_path: Path) -> None:
    """Another CRD of the file changed before: it is not compared with the target again."""
    repo = repository(tmp_path)

    def both(gadgets: str, widgets: str) -> dict[str, str]:
        documents = (crd(root(status=obj(p=string(*gadgets))), kind="Gadget"), widget(*widgets))
        return {"all.yaml": "---\n".join(json.dumps(each) + "\n" for each in documents)}

    commit(repo, both("A", "A"))
    git(repo, "branch", "old")
    commit(repo, both("AB", "A"))
    commit(repo, both("AB", "AB"))
    report = check(repo, "--base", "HEAD~1", "--target", "old", code=1)
    assert [each["summary"]["crds"]["compared"] for each in report["sections"]] == [1, 1]


_PATCH = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("patch.yaml", {**_PATCH, "metadata": {"name": "widgets.example.com"}, "spec": {"scope": "Cluster"}}),
        ("templates/w.yaml", f"kind: CustomResourceDefinition\n{{{{ include }}}}\n{json.dumps(_PATCH)}"),
    ],
)
def test_a_change_of_crds_that_is_not_seen_is_not_nothing(tmp_path: Path, name: str, data: object) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    commit(repo, {name: data})
    assert "UNKNOWN (not judged: " in run("check", "--base", "HEAD~1", cwd=repo).out


_IMPORTED = """
import atexit, sys
atexit.register(lambda: print(*(name for name in sys.modules if name.startswith("crdcompat.")), file=sys.stderr))
from crdcompat.__main__ import main
main()
"""


def test_the_quick_answer_imports_neither_the_comparison_nor_the_reader_of_crds(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    found = []
    for name, data in (("README", "b"), ("w.yaml", widget("A", "B"))):
        commit(repo, {name: data})
        command = [sys.executable, "-c", _IMPORTED, "check", "--base", "HEAD~1"]
        ran = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
        found.append({*ran.stderr.splitlines()[-1].split()} & {"crdcompat.features.check.sections", "crdcompat.yaml"})
    assert found == [set(), {"crdcompat.features.check.sections", "crdcompat.yaml"}]


def test_what_is_not_staged_is_said_not_to_be_looked_at(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    (repo / "README").write_text("b")
    assert len(check(repo, code=0)["notes"]) == 1
    (repo / "w.yaml").write_text(json.dumps(widget("A", "B")))
    reported = "changes that are not staged do not count: --head worktree: counts them"
    assert check(repo, code=0)["notes"][1:] == [reported]
    assert reported in run("check", cwd=repo).out
    assert check(repo, "--head", "worktree:", code=1)["summary"]["findings"]["error"] == 1


def test_what_is_staged_counts_even_if_it_is_gone_from_disk(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"README": "a"})
    (repo / "w.yaml").write_text("kind: CustomResourceDefinition\nspec: {a: [\n")
    git(repo, "add", "w.yaml")
    (repo / "w.yaml").unlink()
    report = check(repo, "--base", "HEAD", code=2)
    assert [problem["file"] for problem in report["summary"]["problems"]] == ["w.yaml"]


def test_a_conflict_is_never_a_pass(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    git(repo, "checkout", "-qb", "other")
    commit(repo, {"README": "b"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"README": "c"})
    assert subprocess.run(["git", "-C", str(repo), "merge", "-q", "other"], capture_output=True).returncode == 1
    report = check(repo, "--base", "HEAD", code=2)
    assert [problem["file"] for problem in report["summary"]["problems"]] == ["README"]


def test_a_branch_that_is_deleted_is_reported_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "0" * 40)
    report = check(repo, code=0)
    assert report["notes"] == ["a branch is being deleted: nothing to check"]


def test_a_crd_that_appears_or_goes(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"README": "a"})
    commit(repo, {"w.yaml": widget("A")})
    assert check(repo, "--base", "HEAD~1", code=0)["sections"][0]["summary"]["crds"]["new"] == 1
    commit(repo, {"w.yaml": None})
    (section,) = check(repo, "--base", "HEAD~1", code=1)["sections"]
    assert section["summary"]["crds"]["only_old"] == ["widgets.example.com"]
    assert [(each["rule"], each["direction"]) for each in section["findings"]] == [("crd-removed", "upgrade")]


def test_what_cannot_be_read_is_never_a_pass(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    (repo / "w.yaml").write_text("kind: CustomResourceDefinition\nspec: {a: [\n")
    git(repo, "add", "w.yaml")
    report = check(repo, "--base", "HEAD", code=2)
    assert [problem["file"] for problem in report["summary"]["problems"]] == ["w.yaml"]


# -- where it comes from ---------------------------------------------------------------------


_TYPES = """package v1

// +kubebuilder:validation:Enum=A;B
type Phase string

type WidgetStatus struct {
	// p is the phase.
	P Phase `json:"p,omitempty"`
}

type Widget struct {
	Status WidgetStatus `json:"status,omitempty"`
}
"""
_DOC = "// +groupName=example.com\npackage v1\n"


def test_the_marker_in_the_go_source_and_who_brought_the_line(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "api/v1/doc.go": _DOC, "api/v1/types.go": _TYPES.replace(";B", "")})
    git(repo, "branch", "release-4.13")
    commit(repo, {"w.yaml": widget("A", "B"), "api/v1/types.go": _TYPES}, "A new phase: B")
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "branch", "release-4.14")
    report = check(repo, "--base", "release-4.13", code=1)
    (finding,) = report["sections"][0]["findings"]
    places = {(place["side"], place["kind"]): place for place in finding["locations"]}
    go = places["new", "go"]
    assert (go["file"], go["line"]) == ("api/v1/types.go", 3)
    assert _TYPES.splitlines()[2][go["column"] - 1 :].startswith("B")
    reported = finding["introduced_by"]
    assert (reported["commit"], reported["subject"], reported["since"]) == (head, "A new phase: B", "release-4.14")
    out = run("check", "--base", "release-4.13", cwd=repo).out
    assert f"introduced by: {head[:12]} {reported['date'][:10]} A new phase: B (since release-4.14)" in out
    assert "--> api/v1/types.go:3:" in out
    annotations = run("check", "--base", "release-4.13", "--format", "github", cwd=repo).out
    assert annotations.startswith("::error file=api/v1/types.go,line=3,")


def test_a_line_that_is_only_staged_has_no_commit(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "reset", "--quiet", "--soft", "HEAD~1")
    (finding,) = check(repo, "--base", "HEAD", code=1)["sections"][0]["findings"]
    assert finding["introduced_by"] == {"commit": None, "date": None, "subject": "not committed yet", "since": None}


# -- check, waive and baseline agree --------------------------------------------------------------

WAIVERS = ".crdcompat-waivers.yaml"
COMMANDS = [("check",), ("waive", "abc", "--reason", "x"), ("baseline",)]


def test_a_deleted_branch_has_nothing_to_accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "0" * 40)
    checked, waived, accepted = (run(*command, cwd=repo) for command in COMMANDS)
    assert (checked.code, checked.err) == (0, "")
    assert (waived.code, waived.err.splitlines()[0][:29]) == (2, "crdcompat: no finding abc; th")
    assert (accepted.code, accepted.out) == (0, f"{WAIVERS}: 0 waivers written\n")
    assert not (repo / WAIVERS).exists()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_quick_answer_lists_no_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    commit(repo, {"README": "b"})

    def never(*_: object) -> None:
        raise AssertionError("a tree was opened")

    monkeypatch.setattr("crdcompat.features.check.check_workflow.open_sides", never)
    ran = run(*command, "--base", "HEAD~1", cwd=repo)
    assert ran.code == (2 if command[0] == "waive" else 0), ran.err
    assert "a tree was opened" not in ran.err


def test_the_configured_contexts_count_for_all(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, of_sets("A", "A"))
    commit(repo, of_sets("AB", "AC"))
    (repo / ".crdcompat.yaml").write_text("contexts: [Default/default]\n")
    (finding,) = check(repo, "--base", "HEAD~1", code=1)["sections"][0]["findings"]
    assert finding["added"] == ["B"]
    listed = run("waive", "abc", "--reason", "x", "--base", "HEAD~1", cwd=repo).err
    assert [line.split()[0] for line in listed.splitlines()[1:]] == [finding["id"]]
    assert run("baseline", "--base", "HEAD~1", cwd=repo).code == 0
    assert [entry["values"] for entry in load_yaml((repo / WAIVERS).read_text())["waivers"]] == [["B"]]


def test_a_baseline_is_not_written_from_a_quick_answer(tmp_path: Path) -> None:
    """The change touches no CRD, and what a target meets existed before: check passes, a baseline accepts it."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "target")
    commit(repo, {"w.yaml": widget("A", "B"), "README": "a"})
    commit(repo, {"README": "b"})
    (repo / ".crdcompat.yaml").write_text("rollback_targets: [target]\n")
    assert check(repo, "--base", "HEAD~1", code=0)["sections"] == []
    assert run("baseline", "--base", "HEAD~1", cwd=repo).code == 0
    (entry,) = load_yaml((repo / WAIVERS).read_text())["waivers"]
    assert (entry["path"], entry["values"], entry["baseline"]) == ("status.p", ["B"], True)


def test_a_target_that_does_not_exist_stops_all(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    commit(repo, {"w.yaml": widget("A", "B")})
    (repo / ".crdcompat.yaml").write_text("rollback_targets: [nowhere]\n")
    runs = [run(*command, "--base", "HEAD~1", cwd=repo) for command in COMMANDS]
    assert {(ran.code, ran.err) for ran in runs} == {(2, runs[0].err)}
    assert "nowhere" in runs[0].err
    commit(repo, {"README": "b"})
    assert run("check", "--base", "HEAD~1", cwd=repo).code == 0
    assert run("baseline", "--base", "HEAD~1", cwd=repo).code == 2  # its findings would be incomplete
    assert not (repo / WAIVERS).exists()


def test_nothing_to_compare_with_stops_all(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "--move", "trunk")
    git(tmp_path, "clone", "--quiet", str(repo), "clone")
    git(tmp_path / "clone", "remote", "set-head", "origin", "--delete")
    runs = [run(*command, cwd=tmp_path / "clone") for command in COMMANDS]
    assert {(ran.code, ran.err) for ran in runs} == {(2, runs[0].err)}
    assert "give --base" in runs[0].err

"""Waivers over their life, as check reports them and waive and baseline write them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from changes import check, left, of_sets, repository, widget, write_waivers
from helpers import Json, commit, crd, git, load_yaml, obj, root, run, string


def test_a_waiver_of_a_warning_covers_no_error(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, of_sets("A", "A"))
    git(repo, "branch", "old")
    commit(repo, of_sets("A", "AB"))
    assert left(repo) == {"enum-value-added"}
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    assert left(repo) == set()
    (entry,) = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert entry["severity"] == "warning"
    commit(repo, of_sets("AB", "AB"))
    assert check(repo, "--base", "old", code=1)["summary"]["findings"]["error"] == 1
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    check(repo, "--base", "old", code=0)


def test_a_waiver_file_that_git_does_not_track_is_named(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    said = [note for note in check(repo, "--base", "old", code=1)["notes"] if "waivers" in note]
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    for added in (False, True):
        if added:
            git(repo, "add", ".crdcompat-waivers.yaml")
        said += [note for note in check(repo, "--base", "old", code=0)["notes"] if "waivers" in note]
    file = ".crdcompat-waivers.yaml"
    assert said == [f"git does not track {file}: add it with `git add {file}`, else CI does not see its waivers"]


def test_the_witness_of_the_rest_holds_the_rest(tmp_path: Path) -> None:
    """Another field holds the value that is left: that is no proof."""
    repo = repository(tmp_path)

    def made(*values: str) -> Json:
        spec = {**obj(other=string("C"), x=string(*values)), "required": ["other"]}
        return crd({**root(spec=spec), "required": ["spec"]})

    commit(repo, {"w.yaml": made("A")})
    commit(repo, {"w.yaml": made("A", "B", "C")})
    entry = {
        "crd": "widgets.example.com", "version": "v1", "path": "spec.x", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "reason": "so be it",
    }  # fmt: skip
    write_waivers(repo, entry)
    findings = check(repo, "--base", "HEAD~1", code=0)["sections"][0]["findings"]
    (left,) = (finding for finding in findings if finding["waiver"] is None)
    assert left["added"] == ["C"]
    assert left["witness"]["object"]["spec"] == {"other": "C", "x": "C"}
    assert left["witness"]["errors"][0].startswith('spec.x: Unsupported value: "C"')
    lines = (repo / "w.yaml").read_text().splitlines()
    places = {
        (f["added"][0], lines[at["line"] - 1].strip(), lines[at["line"] - 1][at["column"] - 1 :])
        for f in findings
        for at in f["locations"]
        if f["path"] == "spec.x" and (at["side"], at["kind"]) == ("new", "yaml")
    }
    assert places == {("B", "- B", "B"), ("C", "- C", "C")}


def test_a_waiver_by_release_and_one_that_nothing_matches(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "release-4.13")
    commit(repo, {"w.yaml": widget("A", "B")})
    entry = {
        "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "reason": "so be it",
    }  # fmt: skip
    for until, code, has_expired in (("4.14", 0, False), ("4.13", 1, True), ("release-4.13", 1, True)):
        write_waivers(repo, {**entry, "until": until})
        report = check(repo, "--base", "release-4.13", code=code)
        assert [line.split(":")[0] for line in report["rules"]] == (
            [f"this change adds a waiver that has expired (until {until})"] if has_expired else []
        )
        assert report["waivers"] == []
    write_waivers(repo, entry, {**entry, "path": "status.gone"})
    report = check(repo, "--base", "release-4.13", "--target", "release-4.13", code=0)
    assert [line.split(":")[0] for line in report["waivers"]] == ["stale"]
    assert "status.gone" in report["waivers"][0]


def test_a_waiver_covers_no_later_change_of_a_keyword(tmp_path: Path) -> None:
    """What a bound, a pattern or a rule was and became is accepted; what it becomes next is not."""

    def state(most: int, pattern: str, *rules: str) -> Json:
        made = root(spec=obj(n={"type": "integer", "maximum": most}, p={"type": "string", "pattern": pattern}))
        listed = [{"rule": rule, "message": rule * 2} for rule in rules]
        return crd(made | ({"x-kubernetes-validations": listed} if rules else {}))

    repo, rule = repository(tmp_path), "self.spec.n != 7"
    commit(repo, {"w.yaml": state(1, "^a$", rule)})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": state(3, "^[ab]$")})
    found = [f for f in check(repo, "--base", "old", code=0)["sections"][0]["findings"] if f["severity"] != "info"]
    assert {f["rule"] for f in found} == {"bounds-loosened", "pattern-widened", "cel-rule-removed"}
    ids = [finding["id"][:8] for finding in found]
    assert run("waive", *ids, "--base", "old", "--reason", "known", cwd=repo).code == 0
    entries = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert {(entry["rule"], json.dumps([entry["old"], entry["new"]])) for entry in entries} == {
        ("bounds-loosened", '[{"maximum": 1}, {"maximum": 3}]'),
        ("pattern-widened", '["^a$", "^[ab]$"]'),
        ("cel-rule-removed", json.dumps([[{"rule": rule, "message": rule * 2}], None])),
    }
    git(repo, "add", "-A")
    assert left(repo) == set()
    commit(repo, {"w.yaml": state(4, "^[ab]$")})
    assert left(repo) == {"bounds-loosened"}
    commit(repo, {"w.yaml": state(3, "^[abc]$")})
    assert left(repo) == {"pattern-widened"}


def test_a_long_keyword_is_held_by_a_digest(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string("x" * 300))))})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string())))})
    assert left(repo) == {"enum-dropped"}
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    (entry,) = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert re.fullmatch("digest:[0-9a-f]{24}", entry["old"]) and entry["new"] is None
    assert left(repo) == set()
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string("y" * 300))))})
    git(repo, "branch", "--force", "old")
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string())))})
    assert left(repo) == {"enum-dropped"}


def test_what_counts_again_says_which_waiver_has_ended(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "feature")
    commit(repo, {"w.yaml": widget("A", "B")})
    over = run("baseline", "--base", "feature", "--until", "2020-01-31", cwd=repo)
    assert (over.code, over.err) == (
        2, "crdcompat: --until 2020-01-31 is over, so that the waiver would never count: name a later end\n"
    )  # fmt: skip
    assert run("baseline", "--base", "feature", "--until", "2999-01-31", cwd=repo).code == 0
    written = repo / ".crdcompat-waivers.yaml"
    written.write_text(written.read_text().replace("2999", "2020"))
    report = check(repo, "--base", "feature", code=1)
    (finding,) = report["sections"][0]["findings"]
    assert re.fullmatch(r".*\.crdcompat-waivers\.yaml:\d+: until 2020-01-31", finding["ended_waiver"])
    reported = "It was accepted once, and its waiver has expired: "
    for name in ("text", "junit", "markdown", "github", "gitlab", "sarif"):
        assert reported in run("check", "--base", "feature", "--format", name, cwd=repo).out, name
    assert reported in run("diff", "feature", "main", cwd=repo).out


def test_an_unknown_end_of_a_branch_is_reported(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "feature")
    commit(repo, {"w.yaml": widget("A", "B")})
    assert run("baseline", "--base", "feature", "--until", "4.17", cwd=repo).code == 0
    (said,) = check(repo, "--base", "feature", code=0)["waivers"]
    assert said.startswith("unending: ") and said.endswith("contains no release: it still counts")


def test_waive_names_what_there_is(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    (finding,) = check(repo, "--base", "old", code=1)["sections"][0]["findings"]
    line = f"{finding['id']}  error[enum-value-added] widgets.example.com/v1 status.p (rollback)"
    for wrong, reported in (("zz", "no finding zz; there are"), ("", "no finding ; there are")):
        ran = run("waive", wrong, "--base", "old", "--reason", "x", cwd=repo)
        assert (ran.code, ran.err) == (2, f"crdcompat: {reported}\n  {line}\n")
    ran = run("waive", finding["id"], "--base", "old", cwd=repo)
    assert (ran.code, ran.err) == (2, "crdcompat: --reason: say why it is accepted\n")


def test_the_baseline_accepts_everything_that_stands(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    (entry,) = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert (entry["baseline"], entry["values"]) == (True, ["B"])
    assert check(repo, "--base", "old", code=0)["summary"]["findings"]["error"] == 0
    assert "0 waivers written" in run("baseline", "--base", "old", cwd=repo).out
    commit(repo, {"w.yaml": widget("A", "B", "C")})
    report = check(repo, "--base", "old", code=1)
    assert [f["added"] for f in report["sections"][0]["findings"] if not f["waiver"]] == [["C"]]

"""Two-step growth in check, diff and matrix: accepted at its first step, verified at the second one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from changes import check, declare, growth, of_sets, repository, widget
from helpers import Json, commit, crd, git, obj, root, run, string, write

_PLACE = ".crdcompat-waivers.yaml:2"
_REJECTS = "after a rollback, {} rejects every write of a Widget that holds it"


def _configure(repo: Path, main: str, *targets: str) -> None:
    """Commit a configuration in which the branch main is an OpenShift release ("": unknown)."""
    releases = f"releases: {{main: openshift-{main}}}\n" if main else ""
    text = f"base: main\n{releases}rollback_targets: {{main: [{', '.join(targets)}]}}\n"
    (repo / ".crdcompat.yaml").write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "configuration")


def _on_main(tmp_path: Path, main: str, **releases: Json) -> Path:
    """A repository with a branch for each release (``r4_15``), the last of them being the state of main."""
    repo = repository(tmp_path)
    names = []
    for name, state in releases.items():
        commit(repo, {"w.yaml": state, "notes": name})
        names.append(f"release-{name.removeprefix('r').replace('_', '.')}")
        git(repo, "branch", names[-1])
    _configure(repo, main, *names)
    return repo


def _stage(repo: Path, state: Json) -> None:
    """Stage a change of the CRD."""
    write(repo / "w.yaml", state)
    git(repo, "add", "-A")


def _found(report: Json) -> list[tuple[Any, ...]]:
    """Of each section the name of OLD, and of each finding its values, severity, state of growth, and if it counts."""
    return [
        (
            part["old"]["name"],
            sorted(
                (
                    "".join(each["added"]),
                    each["severity"],
                    each["growth"] and each["growth"]["state"],
                    each["waiver"] is None and each["status"] == "new",
                )
                for each in part["findings"]
            ),
        )
        for part in report["sections"]
    ]


# -- the first step ---------------------------------------------


def test_the_addition_is_no_error_in_the_release_that_accepts(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    check(repo, code=1)
    declare(repo, growth("B", owner="team"))
    git(repo, "add", "-A")
    report = check(repo, code=0)
    assert _found(report) == [
        ("main", [("B", "error", "accepted", False)]),
        ("release-4.15", [("B", "error", "accepted", False)]),
    ]
    (finding,) = report["sections"][1]["findings"]
    assert finding["growth"] == {
        "state": "accepted", "accepted_from": "release-4.16", "written_from": "release-4.17",
        "reason": "nothing writes it in 4.16", "owner": "team", "file": ".crdcompat-waivers.yaml", "line": 2,
    }  # fmt: skip
    assert finding["waiver"]["reason"] == "nothing writes it in 4.16"
    assert report["waivers"] == []


def test_a_report_says_what_was_declared(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B"))
    said = (
        'declared: Widget status.p accepts "B" from release-4.16, and nothing writes it before release-4.17 '
        f"({_PLACE}: nothing writes it in 4.16)"
    )
    for name in ("text", "markdown", "html", "sarif"):
        text = " ".join(run("check", "--format", name, cwd=repo).out.replace("&#34;", '"').replace('\\"', '"').split())
        text = text.replace("&quot;", '"')
        assert text.count(said) == 1, name
    reason = "accepted from release-4.16, written from release-4.17: nothing writes it in 4.16"
    for name in ("sarif", "junit"):
        assert reason in run("check", "--format", name, cwd=repo).out, name


def test_a_value_that_is_not_declared_counts(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B", "C"))
    declare(repo, growth("B"))
    report = check(repo, code=1)
    assert _found(report)[1] == ("release-4.15", [("B", "error", "accepted", False), ("C", "error", None, True)])
    for each in report["sections"][1]["findings"]:
        assert each["witness"]["object"]["status"]["p"] == each["added"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"path": "status.q"},
        {"crd": "gadgets.example.com"},
        {"accepted_from": "release-4.17", "written_from": "release-4.18"},
        {"values": ["C"]},
    ],
)
def test_a_declaration_reaches_no_further_than_it_says(tmp_path: Path, change: Json) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B") | change)
    assert _found(check(repo, code=1))[1] == ("release-4.15", [("B", "error", None, True)])


def test_an_upgrade_is_not_declared(tmp_path: Path) -> None:
    """4.16 loses the value that 4.15 writes."""
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A", "B"))
    _stage(repo, widget("A"))
    declare(repo, growth("B"))
    (finding,) = check(repo, code=1)["sections"][1]["findings"]
    assert (finding["rule"], finding["direction"], finding["growth"]) == ("enum-value-removed", "upgrade", None)


def test_each_place_of_a_finding_has_to_be_declared(tmp_path: Path) -> None:
    states = [crd(root(status=obj(a=obj(p=string(*v)), b=obj(p=string(*v))))) for v in ("A", "AB")]
    repo = _on_main(tmp_path, "4.16", r4_15=states[0])
    _stage(repo, states[1])
    declare(repo, growth("B", path="status.a.p"))
    assert _found(check(repo, code=1))[1][1] == [("B", "error", None, True)]
    declare(repo, growth("B", path="status.a.p"), growth("B", path="status.b.p"))
    assert _found(check(repo, code=0))[1][1] == [("B", "error", "accepted", False)]


def test_a_pattern_that_lists_its_values_grows_like_an_enum(tmp_path: Path) -> None:
    patterns = ("^(A|B)$", "^(A|B|C|D)$", "^[A-Z]$|^[A-Z]{9,}$")
    old, listed, open_ = (crd(root(status=obj(p=string(pattern=each)))) for each in patterns)
    repo = _on_main(tmp_path, "4.16", r4_15=old)
    _stage(repo, listed)
    declare(repo, growth("C"))
    assert _found(check(repo, code=1))[1][1] == [("C", "error", "accepted", False), ("D", "error", None, True)]
    declare(repo, growth("C", "D"))
    assert _found(check(repo, code=0))[1][1] == [("CD", "error", "accepted", False)]
    _stage(repo, open_)
    (example,) = check(repo, code=0)["sections"][1]["findings"][0]["added"]
    declare(repo, growth(example))
    assert _found(check(repo, code=0))[1][1] == [(example, "warning", None, True)]


def test_an_unknown_release_is_said(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B"))
    report = check(repo, code=1)
    assert _found(report)[1] == ("release-4.15", [("B", "error", "unknown", True)])
    assert report["sections"][1]["findings"][0]["message"].endswith(
        f"(declared in {_PLACE}, but which release main is, is not known)"
    )
    (said,) = report["waivers"]
    assert said == (
        f"unplaced: {_PLACE}: growth of widgets.example.com status.p: which release main is, is not known: its values "
        "count (`releases` in the configuration)"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": ["B", "C"]}, 'status.p: the field does not accept "C"'),
        ({"path": "status.q"}, "status.q: the CRD has no such field"),
        ({"accepted_from": "release-4.17", "written_from": "release-4.18", "path": "status.q"}, ""),
        ({"crd": "gadgets.example.com"}, ""),  # only CRDs that the change touches are read
    ],
)
def test_a_declaration_that_names_nothing_is_stale(tmp_path: Path, change: Json, said: str) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B") | change)
    found = run("check", "--format", "json", cwd=repo).report["waivers"]
    assert found == ([f"stale: {_PLACE}: growth of widgets.example.com {said}, take it out"] if said else [])


def test_a_declaration_of_no_crd_is_stale_where_all_are_read(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B"), growth("B", crd="gadgets.example.com"))
    assert check(repo, "--all", code=0)["waivers"] == [
        "stale: .crdcompat-waivers.yaml:3: growth of gadgets.example.com status.p: there is no such CRD, take it out"
    ]


# -- the second step ---------------------------------------------


def test_a_rollback_from_the_release_that_writes_stays_blocked(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.17", r4_15=widget("A"), r4_16=widget("A", "B"), r4_17=widget("A", "B"))
    declare(repo, growth("B"))
    reports = {
        (old, new): run("diff", f"release-4.{old}", f"release-4.{new}", "--format", "json", cwd=repo)
        for old, new in ((15, 16), (16, 17), (15, 17))
    }
    assert {key: ran.code for key, ran in reports.items()} == {(15, 16): 0, (16, 17): 0, (15, 17): 1}
    assert reports[16, 17].report["findings"] == []
    (finding,) = reports[15, 17].report["findings"]
    assert (finding["severity"], finding["waiver"], finding["growth"]["state"]) == ("error", None, "written")
    reader = _REJECTS.format("release-4.15")
    assert finding["message"] == f'status.p gained "B": {reader} (declared to be written from release-4.17: {_PLACE})'
    ran = run("matrix", "release-4.15", "release-4.16", "release-4.17", "--direction", "rollback", cwd=repo)
    assert "release-4.17: back to release-4.16; BLOCKED to release-4.15 by Widget status.p" in ran.out
    assert "release-4.16: back to release-4.15" in ran.out
    assert "1 finding waived, and not counted" in ran.out


def test_values_that_count_either_way_stay_together(tmp_path: Path) -> None:
    """The declaration names one of them; ids and counts are as without it."""
    repo = _on_main(tmp_path, "4.17", r4_15=widget("A"), r4_17=widget("A", "B", "C"))
    plain = run("diff", "release-4.15", "release-4.17", "--format", "json", cwd=repo).report["findings"]
    declare(repo, growth("B"))
    (finding,) = run("diff", "release-4.15", "release-4.17", "--format", "json", cwd=repo).report["findings"]
    said = f' ("B" declared to be written from release-4.17: {_PLACE})'
    assert finding["message"] == plain[0]["message"] + said
    assert [(each["id"], each["added"]) for each in (*plain, finding)] == [(finding["id"], ["B", "C"])] * 2


def test_a_release_that_rejects_what_it_was_declared_to_accept_is_an_error(tmp_path: Path) -> None:
    """The value came too late for 4.16, and only 4.17 has it."""
    repo = _on_main(tmp_path, "4.17", r4_15=widget("A"), r4_16=widget("A"))
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B"))
    report = check(repo, code=1)
    assert _found(report) == [
        ("main", [("B", "error", "broken", True)]),
        ("release-4.15", [("B", "error", "written", True)]),
        ("release-4.16", [("B", "error", "broken", True)]),
    ]
    assert report["summary"]["findings"]["error"] == 1
    said = f'declared to be accepted from release-4.16, but release-4.16 rejects "B": {_PLACE}'
    assert report["sections"][2]["findings"][0]["message"].endswith(f"({said})")
    assert "--growth" not in run("check", cwd=repo).out


def test_a_broken_declaration_is_an_error_whoever_writes_the_value(tmp_path: Path) -> None:
    states = [crd(root(spec=obj(p=string(*v)))) for v in ("A", "AB")]
    repo = _on_main(tmp_path, "4.17", r4_16=states[0], r4_17=states[1])
    for declared, code, severity in (([], 0, "warning"), ([growth("B", path="spec.p")], 1, "error")):
        declare(repo, *declared)
        ran = run("diff", "release-4.16", "release-4.17", "--format", "json", cwd=repo)
        (finding,) = ran.report["findings"]
        assert (ran.code, finding["severity"]) == (code, severity)


def test_feature_sets_without_rollbacks_break_no_declaration(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for release, preview in (("release-4.16", "A"), ("release-4.17", "AB")):
        commit(repo, of_sets("A", preview))
        git(repo, "branch", release)
    declare(repo, growth("B"))
    ran = run("diff", "release-4.16", "release-4.17", "--format", "json", cwd=repo)
    (finding,) = ran.report["findings"]
    assert (ran.code, finding["growth"]["state"]) == (0, "broken") and finding["severity"] != "error"


def test_a_waiver_covers_no_broken_declaration_that_is_worse(tmp_path: Path) -> None:
    states = [crd(root(spec=obj(p=string(*v)))) for v in ("A", "AB")]
    repo = _on_main(tmp_path, "4.17", r4_16=states[0], r4_17=states[1])
    waiver = {
        "crd": "widgets.example.com", "version": "v1", "path": "spec.p", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "severity": "warning", "reason": "known",
    }  # fmt: skip
    for severity, code in (("warning", 1), ("error", 0)):
        declare(repo, growth("B", path="spec.p"), waivers=[waiver | {"severity": severity}])
        assert run("diff", "release-4.16", "release-4.17", cwd=repo).code == code


def test_a_declared_value_needs_no_waiver(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.16", r4_15=widget("A"))
    _stage(repo, widget("A", "B"))
    waiver = {
        "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "reason": "known",
    }  # fmt: skip
    declare(repo, growth("B"), waivers=[waiver])
    report = check(repo, code=0)
    assert report["sections"][1]["findings"][0]["waiver"]["reason"] == "nothing writes it in 4.16"
    assert [line.partition(": ")[0] for line in report["waivers"]] == ["stale"]


def test_the_release_is_that_of_the_branch_of_the_change(tmp_path: Path) -> None:
    """A backport to 4.15 is not the first step of 4.16."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "release-4.14")
    git(repo, "branch", "release-4.15")
    _stage(repo, widget("A", "B"))
    declare(repo, growth("B"))
    report = check(repo, "--base", "release-4.15", "--target", "release-4.14", code=1)
    assert _found(report)[1] == ("release-4.14", [("B", "error", None, True)])


# -- a declaration that the releases refute ---------------------------------------------


def _broken(tmp_path: Path, main: str = "4.17") -> Path:
    """A repository whose 4.16 was declared to accept B, and does not; B was merged before, and another CRD is there."""
    repo = repository(tmp_path)
    gadget = crd(root(status=obj(p=string("A"))), kind="Gadget")
    commit(repo, {"w.yaml": widget("A"), "g.yaml": gadget})
    git(repo, "branch", "release-4.16")
    commit(repo, {"w.yaml": widget("A", "B")})
    _configure(repo, main, "release-4.16")
    declare(repo, growth("B"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a declaration")
    return repo


@pytest.mark.parametrize(
    "change",
    [
        {"w.yaml": crd(root(spec=obj(a=string(), b=string()), status=obj(p=string("A", "B"))))},
        {"g.yaml": crd(root(status=obj(p=string("A"), q=string())), kind="Gadget")},
        {"README.md": "text"},
    ],
    ids=["of the CRD", "of another CRD", "of no CRD"],
)
def test_a_refuted_declaration_fails_every_change_of_the_release_that_writes(tmp_path: Path, change: Json) -> None:
    repo = _broken(tmp_path)
    for name, content in change.items():
        write(repo / name, content)
    git(repo, "add", "-A")
    report = check(repo, code=1)
    of_target = report["sections"][-1]
    assert [
        (each["crd"], each["growth"]["state"], each["severity"], each["status"])
        for each in of_target["findings"]
        if each["growth"]
    ] == [("widgets.example.com", "broken", "error", "new")]
    assert _PLACE in run("check", cwd=repo).out
    declare(repo)  # without the declaration, the value existed before the change
    git(repo, "add", "-A")
    check(repo, code=0)


def test_a_declaration_that_holds_leaves_the_quick_answer(tmp_path: Path) -> None:
    repo = _on_main(tmp_path, "4.17", r4_16=widget("A", "B"))
    declare(repo, growth("B"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a declaration")
    write(repo / "README.md", "text")
    git(repo, "add", "-A")
    report = check(repo, code=0)
    assert report["sections"] == []
    assert report["notes"][-1].endswith("no CRD changed: nothing to check")


def test_before_the_values_are_written_only_changes_of_the_crd_verify_it(tmp_path: Path) -> None:
    repo = _broken(tmp_path, main="4.16")
    write(repo / "README.md", "text")
    git(repo, "add", "-A")
    assert check(repo, code=0)["sections"] == []

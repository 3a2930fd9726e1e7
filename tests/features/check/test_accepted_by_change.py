"""What a change accepts of itself: it counts, is shown first in each format, and covers what it names alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from changes import growth, repository, widget
from helpers import Json, commit, git, run

_FILE, _WAIVERS = ".crdcompat.yaml", ".crdcompat-waivers.yaml"
_WAIVER = {
    "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
    "direction": "rollback", "values": ["B"], "severity": "error", "reason": "nothing writes it", "owner": "team-a",
}  # fmt: skip


def _waivers(*entries: Json) -> str:
    return json.dumps({"waivers": entries})


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A change on the branch ``pr`` beside main."""
    made = repository(tmp_path)
    commit(made, {"w.yaml": widget("A"), "README": "a"})
    git(made, "checkout", "-q", "-b", "pr")
    return made


def _check(repo: Path, code: int, *args: str) -> Json:
    ran = run("check", "--base", "main", *args, "--format", "json", cwd=repo)
    assert ran.code == code, ran.err or ran.out
    return ran.report


def test_a_waiver_of_the_change_counts_and_stands_first(repo: Path) -> None:
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: _waivers(_WAIVER)})
    (accepted,) = _check(repo, 0)["accepted_by_change"]
    named = ("severity", "rule", "crd", "path", "reason", "owner")
    assert [accepted[key] for key in named] == [
        "error", "enum-value-added", "widgets.example.com", "status.p", "nothing writes it", "team-a",
    ]  # fmt: skip
    for name in ("text", "concise", "markdown", "github", "gitlab", "junit", "sarif", "html"):
        out = run("check", "--base", "main", "--format", name, cwd=repo).out
        count, entry = out.lower().find("accepted by this change: 1 error"), out.find("enum-value-added")
        assert count >= 0, name
        assert name == "sarif" or count < entry, name
        assert "nothing writes it (owner: team-a)" in out, name
        assert str(accepted["id"]) in out, name
    assert run("check", "--base", "main", "-q", cwd=repo).out.startswith("accepted by this change: 1 error\n")


def test_a_declaration_of_the_change_stands_first(repo: Path) -> None:
    git(repo, "branch", "-m", "main", "release-4.16")
    declared = json.dumps({"growth": [growth("B", owner="team-a")]})
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: declared})
    ran = run("check", "--base", "release-4.16", cwd=repo)
    assert ran.code == 0, ran.out
    count, line = ran.out.splitlines()[:2]
    assert count == "accepted by this change: 1 error"
    assert line.endswith(
        "accepted from release-4.16, written from release-4.17: nothing writes it in 4.16 (owner: team-a)"
    )


def test_what_was_accepted_before_is_not_of_the_change(repo: Path) -> None:
    git(repo, "checkout", "-q", "main")
    commit(repo, {_WAIVERS: _waivers(_WAIVER)})
    git(repo, "checkout", "-q", "-B", "pr")
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: "# moved\n" + _waivers(_WAIVER)})
    report = _check(repo, 0)
    assert (report["accepted_by_change"], report["rules"]) == ([], [])


_OTHERS: dict[str, Json] = {
    "another value": {"values": ["C"]},
    "a glob as a value": {"values": ["*"]},
    "a lower severity": {"severity": "warning"},
    "another direction": {"direction": "upgrade"},
    "another version": {"version": "v2"},
    "a glob as the path": {"path": "status.*"},
    "a glob as the CRD": {"crd": "*"},
    "an end in the past": {"until": "2020-01-31"},
}


@pytest.mark.parametrize("how", sorted(_OTHERS))
def test_a_waiver_covers_what_it_names_alone(repo: Path, how: str) -> None:
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: _waivers({**_WAIVER, **_OTHERS[how]})})
    report = _check(repo, 1)
    assert (report["accepted_by_change"], report["summary"]["findings"]["error"]) == ([], 1)


@pytest.mark.parametrize("is_old", [True, False], ids=["an old waiver", "a waiver of the change"])
def test_a_value_that_is_not_named_counts(repo: Path, is_old: bool) -> None:
    if is_old:
        git(repo, "checkout", "-q", "main")
        commit(repo, {_WAIVERS: _waivers(_WAIVER)})
        git(repo, "checkout", "-q", "-B", "pr")
    commit(repo, {"w.yaml": widget("A", "B", "C"), _WAIVERS: _waivers(_WAIVER)})
    report = _check(repo, 1)
    assert [each["id"] for each in report["accepted_by_change"]] == (
        [] if is_old else [each["id"] for each in report["sections"][0]["findings"] if each["added"] == ["B"]]
    )
    assert report["summary"]["findings"]["error"] == 1


def test_an_old_waiver_does_not_cover_the_new_part_of_a_change(repo: Path) -> None:
    """One waiver of the base and one of the change cover a finding: it is one that the change accepts."""
    git(repo, "checkout", "-q", "main")
    commit(repo, {_WAIVERS: _waivers({**_WAIVER, "reason": "old"})})
    git(repo, "checkout", "-q", "-B", "pr")
    more = {**_WAIVER, "values": ["C"], "reason": "new", "owner": ""}
    commit(repo, {"w.yaml": widget("A", "B", "C"), _WAIVERS: _waivers({**_WAIVER, "reason": "old"}, more)})
    (accepted,) = _check(repo, 0)["accepted_by_change"]
    assert accepted["reason"] == "new"


def test_a_reworded_waiver_is_one_of_the_change(repo: Path) -> None:
    git(repo, "checkout", "-q", "main")
    commit(repo, {_WAIVERS: _waivers({**_WAIVER, "until": "2020-01-31"})})
    git(repo, "checkout", "-q", "-B", "pr")
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: _waivers({**_WAIVER, "until": "2999-01-31"})})
    assert len(_check(repo, 0)["accepted_by_change"]) == 1


def test_a_waiver_ahead_of_its_change_is_shown(repo: Path) -> None:
    commit(repo, {"README": "b", _WAIVERS: _waivers(_WAIVER)})
    ran = run("check", "--base", "main", cwd=repo)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == (
        "this change adds a waiver that none of its findings needs: line 1: enum-value-added widgets.example.com/v1 "
        "status.p (rollback): nothing writes it (team-a)"
    )


def test_an_expired_waiver_of_the_change_is_said_to_have_expired_first_and_once(repo: Path) -> None:
    ended = {**_WAIVER, "until": "2020-01-31"}
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: _waivers(ended)})
    report = _check(repo, 1)
    line = (
        f"this change adds a waiver that has expired (until 2020-01-31): {_WAIVERS}:1: enum-value-added "
        "widgets.example.com/v1 status.p (rollback): nothing writes it (team-a)"
    )
    assert (report["rules"], report["waivers"]) == ([line], [])
    for name in ("text", "markdown"):
        out = run("check", "--base", "main", "--format", name, cwd=repo).out
        assert "that has expired" in " ".join(out.splitlines()[:3]), name
        assert "expired: " not in out.replace("its waiver has expired: ", ""), name
    filtered = run("check", "--base", "main", "--select", "enum-value-added", "--format", "json", cwd=repo).report
    assert (filtered["rules"], [note.partition(":")[0] for note in filtered["waivers"]]) == ([], ["expired"])


def test_a_base_that_trusts_itself_alone_counts_waivers_once_they_are_merged(repo: Path) -> None:
    git(repo, "checkout", "-q", "main")
    commit(repo, {_FILE: "trust: base\n"})
    git(repo, "checkout", "-q", "-B", "pr")
    commit(repo, {_WAIVERS: _waivers(_WAIVER)})
    commit(repo, {"w.yaml": widget("A", "B")})
    report = _check(repo, 1)
    assert report["accepted_by_change"] == []
    (note,) = (each for each in report["waivers"] if "counts once it is merged" in each)
    assert "enum-value-added widgets.example.com/v1 status.p" in note
    git(repo, "checkout", "-q", "main")
    commit(repo, {_WAIVERS: _waivers(_WAIVER)})
    git(repo, "checkout", "-q", "pr")
    git(repo, "rebase", "-q", "main")
    assert _check(repo, 0)["sections"][0]["findings"][0]["waiver"]["owner"] == "team-a"


def test_a_head_that_is_not_checked_out_has_its_own_waivers(repo: Path) -> None:
    head = commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: _waivers(_WAIVER)})
    git(repo, "checkout", "-q", "main")
    assert len(_check(repo, 0, "--head", head)["accepted_by_change"]) == 1


@pytest.mark.parametrize("reason", ["\u200b", "\u2060", "...", " - "])
def test_a_reason_has_words(repo: Path, reason: str) -> None:
    for entries in (_waivers({**_WAIVER, "reason": reason}), _declared({**growth("B"), "reason": reason})):
        commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: entries})
        ran = run("check", "--base", "main", cwd=repo)
        assert (ran.code, f"{_WAIVERS}:1: reason: " in ran.err) == (2, True)
    commit(repo, {_WAIVERS: _waivers({**_WAIVER, "reason": "何も書かない"})})
    _check(repo, 0)


def test_a_long_reason_hides_nothing(repo: Path) -> None:
    """Annotations and comments of a server are cut at some length."""
    long = {**_WAIVER, "reason": "r" * 100_000, "owner": "o" * 100_000}
    commit(repo, {"w.yaml": widget("A", "B", "C"), _WAIVERS: _waivers(long, {**long, "values": ["D"]})})
    for name in ("text", "github", "concise", "markdown"):
        out = run("check", "--base", "main", "--format", name, cwd=repo).out
        first = out.index("accepted by this change: 1 error")
        assert out.index("C", first) - first < 5_000
        assert "adds a waiver that none of its findings needs" in out[:5_000]


# -- declarations of growth ---------------------------------------------------------------------


def _declared(*entries: Json) -> str:
    return json.dumps({"growth": entries})


def test_a_declaration_ahead_of_its_change_is_shown(repo: Path) -> None:
    """Without it, the change that comes later is an error."""
    declared = _declared(growth("B", owner="team-a"))
    said = (
        "this change adds a declaration of growth that none of its findings needs: line 1: growth of "
        "widgets.example.com status.p: nothing writes it in 4.16 (team-a)"
    )
    commit(repo, {"README": "b", _WAIVERS: declared})
    assert run("check", "--base", "main", cwd=repo).out.splitlines()[0] == said
    commit(repo, {"w.yaml": widget("A", "B"), _WAIVERS: _declared(growth("X", owner="team-a"))})
    assert _check(repo, 1)["rules"] == [said]


@pytest.fixture
def refuted(tmp_path: Path) -> Path:
    """A change of 4.17, which writes a value; 4.16 rejects it, though it was declared to accept it."""
    made = repository(tmp_path)
    commit(made, {"w.yaml": widget("A")})
    git(made, "branch", "release-4.16")
    config = "base: main\nreleases: {main: openshift-4.17}\nrollback_targets: [release-4.16]\n"
    declared = json.dumps({"growth": [growth("B")]}).replace("growth", "gr\\u006fwth", 1)
    commit(made, {"w.yaml": widget("A", "B"), _FILE: config, _WAIVERS: declared})
    git(made, "checkout", "-q", "-b", "pr")
    return made


_POSTPONED = {"written_from": "release-4.18"}
_TAKEN_BACK = {"removed": None, "emptied": "growth: []\n", "postponed": _declared({**growth("B"), **_POSTPONED})}


@pytest.mark.parametrize("how", sorted(_TAKEN_BACK))
@pytest.mark.parametrize("trust", ["change", "base"])
def test_a_declaration_that_a_change_takes_back_is_shown(refuted: Path, how: str, trust: str) -> None:
    git(refuted, "checkout", "-q", "main")
    commit(refuted, {_FILE: (refuted / _FILE).read_text() + f"trust: {trust}\n"})
    git(refuted, "checkout", "-q", "-B", "pr")
    commit(refuted, {"README": "b"})
    _check(refuted, 1)
    commit(refuted, {_WAIVERS: _TAKEN_BACK[how]})
    report = _check(refuted, 0 if trust == "change" else 1)
    said = "this change takes back a declaration of growth: line 1: growth of widgets.example.com status.p: "
    assert [line for line in report["rules"] if "takes back" in line] == [f"{said}nothing writes it in 4.16"]

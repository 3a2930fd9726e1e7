"""Declarations of two-step growth in the waiver file: what they must say, and how waive writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from changes import check, declare, growth, repository, widget
from helpers import Json, commit, crd, git, load_yaml, obj, root, run, string

from crdcompat.errors import ConfigError
from crdcompat.findings.waiver_file import add_growth, add_waivers, entries_for, read_accepted
from crdcompat.models.finding import Acceptance

_FILE = ".crdcompat-waivers.yaml"
_WAIVER = {
    "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
    "direction": "rollback", "values": ["B"], "reason": "known",
}  # fmt: skip


def test_a_declaration_has_its_place_and_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    declare(tmp_path, growth("B", "C", owner="me"), growth("D", path="status.q"), waivers=[_WAIVER])
    found = read_accepted(tmp_path / _FILE)
    assert [(each.path, each.values, each.owner, each.place) for each in found.growth] == [
        ("status.p", ("B", "C"), "me", f"{_FILE}:2"),
        ("status.q", ("D",), "", f"{_FILE}:3"),
    ]
    assert [waiver.line for waiver in found.waivers] == [4]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reason": " "}, ":3: growth.1.reason: ' ' is not a reason in words"),
        ({"reason": None}, ":3: growth.1.reason: text is wanted here"),
        ({"accepted_fron": "4.15"}, ":3: growth.1: there is no key 'accepted_fron'; did you mean 'accepted_from'?"),
        ({"written_from": "release-4.16"}, ":3: written_from: release-4.16 is not after release-4.16"),
        ({"written_from": "4.9"}, ":3: written_from: 4.9 is not after release-4.16"),
        ({"written_from": "soon"}, ":3: growth.1.written_from: 'soon' is not a release (release-4.16)"),
        ({"accepted_from": 4.1}, ':3: growth.1.accepted_from: 4.1 is a number to YAML: write it in quotes, "4.1"'),
        ({"values": []}, ":3: growth.1.values: the list has 0 items; write 1 or more"),
        ({"values": ["B"]}, ":3: values: 'B' is declared at line 2: declare it once"),
    ],
)
def test_what_a_declaration_must_say(tmp_path: Path, change: Json, said: str) -> None:
    declare(tmp_path, growth("B"), growth("C") | change)
    path = tmp_path / _FILE
    with pytest.raises(ConfigError, match=re.escape(f"{path}{said}")):
        read_accepted(path)


def test_a_missing_key_is_named_with_its_line(tmp_path: Path) -> None:
    entry = growth("B")
    del entry["reason"]
    declare(tmp_path, growth("C"), entry)
    ran = run("config", "--repo", tmp_path, cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.endswith(f"{_FILE}:3: growth.1: this key is missing; write reason: TEXT\n")


_ENTRY = growth("B")
_LINES = "crd: x\n  path: z\n  values: [A]\n  accepted_from: '4.10'\n  written_from: '4.11'\n  reason: |\n"
#: The text of a waiver file -> the text before and after the declaration that is added to it.
_TEXTS = {
    "none": ("", ""),
    "waivers alone": (f"# ours\nwaivers:\n  - {json.dumps(_WAIVER)}\n# end\n", ""),
    "growth last": (f"waivers: []\ngrowth:\n- {json.dumps(growth('A'))}\n", ""),
    "growth first": (f"growth:\n- {json.dumps(growth('A'))}\n", f"\n# accepted\nwaivers:\n- {json.dumps(_WAIVER)}\n"),
    "a reason of lines": (f"growth:\n- {_LINES}    a\n\n    # b\n", "waivers: []\n"),
    "JSON": (f'{{"growth": [{json.dumps(growth("A"))}', f'], "waivers": [{json.dumps(_WAIVER)}]}}\n'),
    "brackets": ("growth: [", "]\nwaivers: []\n"),
}


@pytest.mark.parametrize("name", _TEXTS)
def test_every_byte_stays_when_a_declaration_is_added(tmp_path: Path, name: str) -> None:
    before, after = _TEXTS[name]
    path = tmp_path / _FILE
    if name != "none":
        path.write_text(before + after)
    known = read_accepted(path)
    assert add_growth(path, [_ENTRY]) == 1
    text = path.read_text()
    assert text.startswith(before) and text.endswith(after)
    found = read_accepted(path)
    assert [each.values for each in found.growth] == [*(each.values for each in known.growth), ("B",)]
    assert [each.reason for each in found.growth[:-1]] == [each.reason for each in known.growth]
    assert len(found.waivers) == len(known.waivers)
    assert add_growth(path, [_ENTRY]) == 0
    assert add_growth(path, [growth("B", "E")]) == 1
    assert load_yaml(path.read_text())["growth"][-1]["values"] == ["E"]


def test_a_waiver_is_added_before_the_declarations(tmp_path: Path) -> None:
    path = tmp_path / _FILE
    path.write_text(f"waivers:\n- {json.dumps(_WAIVER)}\n# later\ngrowth:\n- {json.dumps(_ENTRY)}\n")
    finding = {**_WAIVER, "places": [], "added": ["C"], "removed": [], "severity": "error"}
    assert add_waivers(path, entries_for(finding, Acceptance("x"))) == 1
    assert path.read_text().endswith(f"reason: x\n# later\ngrowth:\n- {json.dumps(_ENTRY)}\n")
    assert [waiver.values for waiver in read_accepted(path).waivers] == [("B",), ("C",)]


# -- waive --growth ---------------------------------------------


def _changed(tmp_path: Path, release: str = "release-4.16") -> tuple[Path, str]:
    """A repository with a change of the branch of a release, and the id of its finding."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", release)
    commit(repo, {"w.yaml": widget("A", "B", "C")})
    (finding,) = check(repo, "--base", release, code=1)["sections"][0]["findings"]
    return repo, finding["id"]


def test_the_command_of_the_report_declares_the_values(tmp_path: Path) -> None:
    repo, name = _changed(tmp_path)
    text = " ".join(run("check", "--base", "release-4.16", cwd=repo).out.split())
    command = f'crdcompat waive {name} --growth --reason "…"'
    assert f"To fix it: let nothing write them before the next release, and declare that: {command} " in text
    ran = run("waive", name, "--growth", "--reason", "later", "--owner", "me", "--base", "release-4.16", cwd=repo)
    assert ran.out.endswith("1 declaration written: accepted from release-4.16, written from release-4.17\n")
    assert load_yaml((repo / _FILE).read_text()) == {"growth": [growth("B", "C", reason="later", owner="me")]}
    check(repo, "--base", "release-4.16", code=0)


def test_the_releases_can_be_named(tmp_path: Path) -> None:
    """A branch that names no release and no configuration knows is on the main branch."""
    repo, name = _changed(tmp_path, "main-api")
    told = ("--growth", "--reason", "x", "--base", "main-api")
    ran = run("waive", name, *told, cwd=repo)
    told_more = (
        "--accepted-from: name the release that accepts the values first; main has no version, and a declaration"
    )
    assert ran.code == 2 and told_more in " ".join(ran.err.split())
    ran = run("waive", name, *told, "--accepted-from", "4.9", "--written-from", "4.11", cwd=repo)
    assert ran.code == 0
    (entry,) = load_yaml((repo / _FILE).read_text())["growth"]
    assert (entry["accepted_from"], entry["written_from"]) == ("4.9", "4.11")


def test_a_release_of_the_configuration_is_the_default(tmp_path: Path) -> None:
    repo, name = _changed(tmp_path, "main-api")
    (repo / ".crdcompat.yaml").write_text("releases: {main-api: openshift-4.16}\n")
    ran = run("waive", name, "--growth", "--reason", "x", "--base", "main-api", cwd=repo)
    assert ran.out.endswith("accepted from release-4.16, written from release-4.17\n")


def test_a_report_of_diff_names_the_release(tmp_path: Path) -> None:
    repo, _ = _changed(tmp_path)
    git(repo, "branch", "v1.19")
    (tmp_path / "r.json").write_text(
        run("diff", "release-4.16", "v1.19", "--format", "json", "--any-order", cwd=repo).out
    )
    (finding,) = json.loads((tmp_path / "r.json").read_text())["findings"]
    ran = run("waive", finding["id"], "--growth", "--reason", "x", "--report", tmp_path / "r.json", cwd=repo)
    assert ran.out.endswith("accepted from v1.19, written from v1.20\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--written-from", "4.17"], "--accepted-from and --written-from go with --growth"),
        (["--growth", "--until", "4.17"], "--growth takes neither --from-comment nor --until"),
        (["--growth", "--accepted-from", "soon"], "growth.0.accepted_from: 'soon' is not a release (release-4.16)"),
        (["--growth", "--written-from", "4.16"], "written_from: 4.16 is not after release-4.16"),
    ],
)
def test_wrong_options_write_nothing(tmp_path: Path, args: list[str], said: str) -> None:
    repo, name = _changed(tmp_path)
    ran = run("waive", name, "--reason", "x", "--base", "release-4.16", *args, cwd=repo)
    assert ran.code == 2 and said in ran.err
    assert not (repo / _FILE).exists()


def test_a_finding_without_added_values_cannot_grow(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    old, new = (crd(root(status=obj(p=string(*values)))) for values in ("AB", ""))
    commit(repo, {"w.yaml": old})
    git(repo, "branch", "release-4.16")
    commit(repo, {"w.yaml": new})
    report: dict[str, Any] = run("check", "--base", "release-4.16", "--format", "json", cwd=repo).report
    (finding,) = (each for each in report["sections"][0]["findings"] if each["rule"] == "enum-dropped")
    ran = run("waive", finding["id"], "--growth", "--reason", "x", "--base", "release-4.16", cwd=repo)
    assert ran.code == 2 and ran.err.endswith("--growth takes a rollback finding about added values\n")
    assert "--growth" not in run("check", "--base", "release-4.16", cwd=repo).out

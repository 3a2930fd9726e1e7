"""Recorded objects that hold a value before the release that is declared to write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import declare, growth, repository, widget
from helpers import Json, array, commit, crd, git, obj, root, run, string, write

from crdcompat.schema.paths import values_at

_PLACE = ".crdcompat-waivers.yaml:2"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Releases of which 4.16 and 4.17 accept B, with two recorded objects."""
    made = repository(tmp_path)
    for release, values in (("4.15", "A"), ("4.16", "AB"), ("4.17", "AB")):
        commit(made, {"w.yaml": widget(*values), "notes": release})
        git(made, "branch", f"release-{release}")
    (tmp_path / "mg").mkdir()
    for name, value in (("a", "A"), ("b", "B")):
        write(tmp_path / "mg" / f"{name}.json", _object(name, {"p": value}))
    return made


def _object(name: str, status: Json) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "uid": name}, "status": status}


def _causes(repo: Path, old: str, new: str, *args: str) -> tuple[int, list[tuple[str, list[str], int, int]]]:
    ran = run("simulate", f"release-{old}", f"release-{new}", "--objects", "../mg", *args, "--format", "json", cwd=repo)
    causes = ran.report["summary"]["causes"]
    return ran.code, [(each["type"], each["values"], each["objects"], each["total"]) for each in causes]


_EARLY = ("ValueTooEarly", ["B"], 1, 2)
_REJECTED = ("FieldValueNotSupported", ["B"], 1, 2)


def test_a_value_that_is_written_too_early_is_an_error(repo: Path) -> None:
    assert _causes(repo, "4.15", "4.16") == (1, [_REJECTED])
    assert _causes(repo, "4.16", "4.17") == (0, [])
    declare(repo, growth("B"))
    assert _causes(repo, "4.15", "4.16") == (1, [_REJECTED, _EARLY])
    assert _causes(repo, "4.16", "4.17") == (0, [])
    assert _causes(repo, "4.16", "4.16") == (1, [_EARLY])
    declare(repo, growth("B", written_from="release-4.18"))
    assert _causes(repo, "4.16", "4.17") == (1, [_EARLY])
    assert _causes(repo, "4.16", "4.17", "--fail-on", "never") == (0, [_EARLY])


def test_only_declared_values_of_the_writing_release_are_early(repo: Path) -> None:
    for entry in (
        growth("C"),
        growth("B", path="status.q"),
        growth("B", crd="gadgets.example.com"),
        growth("B", accepted_from="release-4.17", written_from="release-4.18"),
    ):
        declare(repo, entry)
        assert _causes(repo, "4.16", "4.16") == (0, []), entry
    declare(repo, growth("B"))
    assert _causes(repo, "4.16", "4.16", "--upgrade") == (0, [])


def test_the_declaration_is_named(repo: Path) -> None:
    declare(repo, growth("B", written_from="release-4.18"))
    move = ("simulate", "release-4.16", "release-4.17", "--objects", "../mg")
    text = " ".join(run(*move, cwd=repo).out.split())
    held = f'holds "B" too early: declared to be written from release-4.18 ({_PLACE})'
    assert "release-4.17 -> release-4.16: BLOCKED (a value is held too early: 1 of 2 recorded objects)" in text
    assert text.count(held) == 2  # beside the objects, and in the verdict
    assert f"way out: let nothing write it before release-4.18, or correct the declaration at {_PLACE}" in text
    for name in ("markdown", "junit", "sarif", "github", "gitlab", "html", "concise"):
        shown = run(*move, "--format", name, cwd=repo).out.replace("&#34;", '"').replace("&quot;", '"')
        assert held in " ".join(shown.replace('\\"', '"').split()), name
    (cause,) = run(*move, "--format", "json", cwd=repo).report["summary"]["causes"]
    assert (cause["growth"]["state"], cause["growth"]["line"], cause["location"]) == ("early", 2, None)


def test_a_rejected_value_is_named_once_as_rejected_and_once_as_early(repo: Path) -> None:
    declare(repo, growth("B"))
    lines = run("simulate", "release-4.15", "release-4.16", "--objects", "../mg", cwd=repo).out.splitlines()
    end = lines[lines.index("release-4.16 -> release-4.15: BLOCKED (1 of 2 recorded objects)") :]
    assert [line.strip() for line in end[1:5]] == [
        "Widget  status.p",
        'release-4.15 rejects "B": every write fails',
        "Widget  status.p",
        f'holds "B" too early: declared to be written from release-4.17 ({_PLACE})',
    ]
    assert lines.count('  status.p holds "B".') == 1


def test_values_of_lists_and_maps_are_found(tmp_path: Path) -> None:
    data = {"status": {"l": [{"p": "A"}, {"p": "B"}, {}], "m": {"x.y": "C", "z": "D"}, "n": [["E"]]}}
    found = {
        path: [*values_at(data, path)]
        for path in (
            "status.l[*].p",
            "status.m.*",
            "status.m.z",
            "status.m.x.y",
            "status.n[*][*]",
            "status.l.p",
            "spec.p",
        )
    }
    assert found == {
        "status.l[*].p": ["A", "B"],
        "status.m.*": ["C", "D"],
        "status.m.z": ["D"],
        "status.m.x.y": ["C"],
        "status.n[*][*]": ["E"],
        "status.l.p": [],
        "spec.p": [],
    }


def test_an_item_of_a_list_is_held_too_early(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": crd(root(status=obj(known=array(string("A", "B")))))})
    git(repo, "branch", "release-4.16")
    (tmp_path / "mg").mkdir()
    write(tmp_path / "mg" / "a.json", _object("a", {"known": ["A", "B", "B"]}))
    declare(repo, growth("B", path="status.known[*]"))
    assert _causes(repo, "4.16", "4.16") == (1, [("ValueTooEarly", ["B"], 1, 1)])


# -- many clusters, and a matrix ---------------------------------------------


def _fleet(repo: Path, *args: str) -> tuple[int, list[tuple[str, list[str], int | None]], list[str]]:
    move = ("simulate", "release-4.16", "release-4.16", "--fleet", "../fleet", "--jobs", "1", "--format", "json")
    ran = run(*move, *args, cwd=repo)
    found = [
        (each["type"], [held["value"] for share in each["targets"] for held in share["values"]], each["growth"]["line"])
        for each in ran.report["findings"]
    ]
    return ran.code, found, [each["verdict"] for cluster in ran.report["clusters"] for each in cluster["targets"]]


def test_a_fleet_finds_values_that_are_written_too_early(repo: Path, tmp_path: Path) -> None:
    for cluster, value in (("one", "A"), ("two", "B")):
        write(tmp_path / "fleet" / cluster / "w.json", _object("a", {"p": value}))
    assert _fleet(repo) == (0, [], ["clean", "clean"])
    declare(repo, growth("B"))
    assert _fleet(repo) == (1, [("ValueTooEarly", ["B"], 2)], ["clean", "blocked"])
    assert _fleet(repo, "--upgrade")[:2] == (0, [])
    out = " ".join(
        run("simulate", "release-4.16", "release-4.16", "--fleet", "../fleet", "--jobs", "1", cwd=repo).out.split()
    )
    assert f'status.p holds "B" too early: declared to be written from release-4.17 ({_PLACE})' in out
    assert f"let nothing write it before release-4.17, or correct the declaration at {_PLACE}" in out
    assert "rejected by" not in out


def test_a_fleet_with_a_journal_reads_again_after_another_declaration(repo: Path, tmp_path: Path) -> None:
    write(tmp_path / "fleet" / "one" / "w.json", _object("a", {"p": "B"}))
    journal = ("--resume", "../journal")
    assert _fleet(repo, *journal)[0] == 0
    (tmp_path / "journal").unlink()
    declare(repo, growth("B"))
    assert _fleet(repo, *journal)[0] == 1
    assert _fleet(repo, *journal)[0] == 1


def test_the_release_that_a_recorded_cluster_runs_decides(repo: Path) -> None:
    """A cluster of 4.16 may not hold what 4.17 writes, although it is asked about 4.17."""
    declare(repo, growth("B"))
    version = {"desired": {"version": "4.16.3"}}
    write(
        repo.parent / "mg" / "version.json",
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": "6a1b0a1e-9d5f-4c3a-8d53-0d6c1c6c2f11"},
            "status": version,
        },
    )
    assert _causes(repo, "4.16", "4.17") == (1, [_EARLY])


def test_a_matrix_with_objects_finds_them(repo: Path) -> None:
    ask = ("matrix", "release-4.15", "release-4.16", "release-4.17", "--objects", "../mg", "--from", "release-4.17")
    declare(repo, growth("B"))
    verdicts = {
        each["to"]: each["verdict"] for each in run(*ask, "--format", "json", cwd=repo).report["cluster"]["targets"]
    }
    assert verdicts == {"release-4.16": "clean", "release-4.15": "blocked"}
    declare(repo, growth("B", written_from="release-4.18"))
    ran = run(*ask, "--format", "json", cwd=repo)
    assert ({each["verdict"] for each in ran.report["cluster"]["targets"]}, ran.code) == ({"blocked"}, 1)
    for form in ("text", "markdown"):
        out = " ".join(run(*ask, "--format", form, cwd=repo).out.split())
        assert f'"B" too early: declared to be written from release-4.18 ({_PLACE})' in out.replace("&quot;", '"'), form


# -- preflight ---------------------------------------------


def _preflight(repo: Path, origin: str, *args: str) -> Json:
    ran = run("preflight", "release-4.16", "--objects", "../mg", "--from", origin, "--format", "json", *args, cwd=repo)
    found: Json = ran.report
    assert ran.code == found["exit_code"]
    return found


def test_a_preflight_finds_values_that_are_written_too_early(repo: Path) -> None:
    """The target accepts the value, so that nothing but the declaration makes the kind matter."""
    assert _preflight(repo, "release-4.17")["answer"] == "yes"
    declare(repo, growth("B"))
    assert _preflight(repo, "release-4.17")["answer"] == "yes"
    declare(repo, growth("B", written_from="release-4.18"))
    found = _preflight(repo, "release-4.17")
    assert (found["answer"], found["exit_code"]) == ("no", 1)
    assert [(each["type"], each["values"], each["growth"]["line"]) for each in found["causes"]] == [
        ("ValueTooEarly", ["B"], 2)
    ]
    assert [(step["step"], step["crd"]) for step in found["steps"]] == [
        ("hold-back", "widgets.example.com"),
        ("check", ""),
    ]
    ask = ("preflight", "release-4.16", "--objects", "../mg", "--from", "release-4.17")
    for form in ("text", "markdown", "html"):
        out = " ".join(run(*ask, "--format", form, cwd=repo).out.replace("&#34;", '"').split())
        assert f'holds "B" too early: declared to be written from release-4.18 ({_PLACE})' in out, form
        assert f"Let nothing write it before release-4.18, or correct the declaration at {_PLACE}" in out, form
        assert "1 of 2 Widgets holds a value too early" in out, form


def test_a_preflight_without_objects_of_a_declared_kind_is_unknown(repo: Path) -> None:
    (repo.parent / "mg" / "a.json").unlink()
    (repo.parent / "mg" / "b.json").unlink()
    write(repo.parent / "mg" / "n.json", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert _preflight(repo, "release-4.17")["answer"] == "yes"
    declare(repo, growth("B", written_from="release-4.18"))
    found = _preflight(repo, "release-4.17")
    assert (found["answer"], [gap["what"] for gap in found["missing"]]) == ("unknown", ["widgets.example.com"])


def test_a_preflight_of_an_unknown_release_names_what_it_cannot_judge(repo: Path) -> None:
    git(repo, "branch", "main-of-today", "release-4.17")
    declare(repo, growth("B", written_from="release-4.18"))
    found = _preflight(repo, "main-of-today", "--all")
    assert (found["answer"], [gap["what"] for gap in found["missing"]]) == ("unknown", ["the release of the cluster"])
    assert _PLACE in found["missing"][0]["reason"]

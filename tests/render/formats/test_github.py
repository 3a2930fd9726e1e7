"""Workflow commands: read back as the runner of GitHub Actions reads them; and what a run under Actions writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers import both, commit, crd, git, obj, root, run, string, write
from msgspec.structs import replace
from report_samples import (
    HOSTILE,
    NEW,
    OLD,
    check,
    compared,
    empty_check,
    hostile_check,
    rendered,
    replayed,
    sample,
    unreadable,
)

from crdcompat.models.finding import Location

_COMMAND = re.compile(r"::(error|warning|notice) ([^\n]*?)::([^\n]*)")


def _read(line: str) -> tuple[str, dict[str, str], str]:
    """(command, properties, message) as ActionCommand.TryParseV2 of actions/runner has them."""
    found = _COMMAND.fullmatch(line)
    assert found, ascii(line)
    pairs = (part.split("=", 1) for part in found[2].split(","))
    return found[1], {key: _unescaped(value, prop=True) for key, value in pairs}, _unescaped(found[3])


def _unescaped(text: str, *, prop: bool = False) -> str:
    for escaped, plain in (("%0D", "\r"), ("%0A", "\n"), *((("%3A", ":"), ("%2C", ",")) if prop else ())):
        text = text.replace(escaped, plain)
    return text.replace("%25", "%")


def test_the_most_severe_first_and_a_line_that_counts(tmp_path: Path) -> None:
    *commands, last = rendered(sample(tmp_path), "github").splitlines()
    read = [_read(line) for line in commands]
    assert [(name, reported["title"]) for name, reported, _ in read] == [
        ("error", "enum-value-added (rollback)"),
        ("warning", "enum-value-added (rollback)"),
        ("notice", "property-added (rollback)"),
    ]
    first, *rest = read[0][2].split("\n")
    assert first == (
        'widgets.example.com/v1: status.p gained "B": '
        "after a rollback, r1 rejects writes of a Widget that holds it; Kubernetes 1.32 and older reject all of them, "
        "later ones those that change the value."
    )
    assert rest[0] == 'API server: status.p: Unsupported value: "B": supported values: "A"'
    assert rest[1].startswith("Way out: ")
    assert last == "crdcompat: 1 error, 1 warning, 1 info"


def test_where_it_points_to(tmp_path: Path) -> None:
    report = sample(tmp_path)
    finding = report.findings[0]

    def shown(*locations: Location) -> dict[str, str]:
        changed = replace(report, findings=(replace(finding, locations=locations),))
        return _read(rendered(changed, "github").splitlines()[0])[1]

    title = {"title": "enum-value-added (rollback)"}
    old, new, go = Location("old", "o", 1, 2), Location("new", "n", 3, 4), Location("new", "t.go", 5, 6, "go")
    assert shown(old, new) == {"file": "n", "line": "3", "col": "4", **title}
    assert shown(old, new, go) == {"file": "t.go", "line": "5", "col": "6", **title}
    assert shown(old, Location("new", "n"), new) == {"file": "n", "line": "3", "col": "4", **title}
    assert shown(Location("new", "n")) == {"file": "n", **title}
    assert shown(old) == title, "lines of the older side are not those of the tree that is shown"
    assert shown() == title


@pytest.mark.parametrize("name", ["a%b.yaml", "a,b=c.yaml", "a:b.yaml", "a\nb.yaml", "a\r%0Ab.yaml", "a::b"])
def test_names_of_files_come_through(tmp_path: Path, name: str) -> None:
    report = sample(tmp_path)
    moved = replace(report, findings=(replace(report.findings[0], locations=(Location("new", name, 1, 1),)),))
    reported = _read(rendered(moved, "github").splitlines()[0])[1]
    assert reported["file"] == name.replace("\r", "\\x0d")
    assert (reported["line"], reported["title"]) == ("1", "enum-value-added (rollback)")


def test_what_does_not_count_is_no_annotation_and_each_finding_is_one(tmp_path: Path) -> None:
    # r0 has it existing and waived, r9 once more; the base alone counts them.
    *commands, waiver, last = rendered(check(tmp_path), "github").splitlines()
    assert [_read(line)[0] for line in commands] == ["error", "warning", "notice"]
    assert _read(waiver) == ("warning", {"title": "waiver"}, "waiver w1 has expired")
    assert last == "crdcompat: 1 error, 1 warning, 1 info"
    only_r0 = replace(check(tmp_path), sections=check(tmp_path).sections[1:2])
    *commands, _, last = rendered(only_r0, "github").splitlines()
    assert [_read(line)[0] for line in commands] == ["notice"]
    assert last == "crdcompat: 0 errors, 0 warnings, 1 info, 1 waived"


def test_problems_are_errors(tmp_path: Path) -> None:
    first = rendered(unreadable(sample(tmp_path)), "github").splitlines()[0]
    assert _read(first) == (
        "error",
        {"file": "bad.yaml", "line": "7", "title": "could not read"},
        "bad.yaml (new): not YAML",
    )


def test_nothing() -> None:
    assert rendered(empty_check(), "github") == "crdcompat: there was nothing to check\n"


def test_a_simulation(tmp_path: Path) -> None:
    first, last = rendered(replayed(tmp_path), "github").splitlines()
    name, reported, message = _read(first)
    assert (name, reported) == ("error", {"title": "rejected"}), "the CRD that judges is OLD's: no line of this tree"
    assert message.startswith('widgets.example.com: 1 of 1 Widget: status.p holds "B", and r1 rejects it (e.g. ')
    assert last == "crdcompat: Rollback r2 -> r1 replayed on 1 recorded object, by their worst write: 1 rejected"


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stays_in_its_command(tmp_path: Path, text: str) -> None:
    report = hostile_check(tmp_path, text)
    out = rendered(report, "github")
    *commands, last = out.split("\n")[:-1]
    findings = {finding.id for finding in report.sections[0].report.findings}
    assert len(commands) == len(report.problems) + len(findings) + len(report.waivers)
    for line in commands:
        _, reported, message = _read(line)
        assert set(reported) <= {"file", "line", "col", "title"}
        assert re.fullmatch(r"could not read|waiver|[a-z-]+ \((rollback|upgrade)\)", reported["title"])
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066]", message)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066]", out)
    assert last.startswith("crdcompat: ")
    assert last.endswith(" info")


# -- a run under GitHub Actions ---------------------------------------------


@pytest.fixture
def actions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def test_annotations_go_with_the_text(actions: Path, tmp_path: Path) -> None:
    sides = both(tmp_path, OLD, NEW)
    actions.write_text("before\n")
    lines = run("diff", *sides).out.splitlines()
    start, stop = lines[0].removeprefix("::stop-commands::"), lines.index(f"::{lines[0].rpartition(':')[2]}::")
    assert re.fullmatch("[0-9a-f]{32}", start)
    assert lines[stop - 1] == (
        "rollback: 1 error, 1 warning, 1 info; upgrade: 0 errors, 0 warnings, 0 info; 0 undecided."
    )
    assert [_read(line)[0] for line in lines[stop + 1 : -1]] == ["error", "warning", "notice"]
    assert actions.read_text() == "before\n" + run("diff", *sides, "--format", "markdown").out
    assert run("diff", *sides).out.splitlines()[0] != lines[0], "nobody can guess the word that ends it"


def test_a_field_called_like_a_command_is_none(actions: Path, tmp_path: Path) -> None:
    definitions = [crd(root(**({"::error file=x::y": string()} if new else {}))) for new in (False, True)]
    lines = run("diff", *both(tmp_path, *definitions)).out.splitlines()
    stop = lines.index(f"::{lines[0].rpartition(':')[2]}::")
    assert any(line.strip().startswith("::error file=x") for line in lines[:stop])
    assert not any(line.strip().startswith("::error file=x") for line in lines[stop:])


_HOSTILE = ("::error file=x::y", "a ##[error]z")


@pytest.mark.parametrize("name", ["concise", "markdown", "json", "gitlab", "sarif", "junit", "html"])
def test_no_format_passes_a_command(actions: Path, tmp_path: Path, name: str) -> None:
    definitions = [crd(root(status=obj(**{each: string(*members) for each in _HOSTILE}))) for members in ("A", "AB")]
    sides = [write(tmp_path / side / "::error::x.yaml", made) for side, made in zip("ab", definitions, strict=True)]
    shown = run("diff", *(side.parent for side in sides), "--format", name)
    assert shown.code == 1
    assert "error file=x" in shown.out
    assert not re.search(r"^\s*::|##\[", shown.out, re.MULTILINE)


def test_no_message_passes_a_command(actions: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "main")
    commit(tmp_path, {"w.yaml": OLD})
    for name in ("\n::error::x", " ##[error]x"):
        ran = run("diff", "HEAD", f"no{name}", "--repo", str(tmp_path))
        assert ran.code == 2
        assert "error" in ran.err
        assert not re.search(r"^\s*::|##\[", ran.err, re.MULTILINE)


def test_a_suggested_patch_passes_no_command(actions: Path, tmp_path: Path) -> None:
    old, new = (crd(root(status=obj(p=string(*members), **{"::error::x": string()}))) for members in ("A", "AB"))
    out = run("diff", *both(tmp_path, old, new), "--suggest-patch").out
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0].startswith("::stop-commands::")
    assert lines[-1] == f"::{lines[0].rpartition(':')[2]}::"
    assert any("::error::x" in line for line in lines)


def test_formats_that_are_named_are_all_there_is(actions: Path, tmp_path: Path) -> None:
    sides = both(tmp_path, OLD, NEW)
    assert run("diff", *sides, "--format", "json").report["findings"]
    assert not actions.exists()
    assert run("diff", *sides, "--format", f"github={tmp_path / 'log'}").out == ""
    assert (tmp_path / "log").read_text().startswith("::error ")
    assert actions.read_text().startswith("## crdcompat: 1 error")


def test_elsewhere_there_are_no_commands(tmp_path: Path) -> None:
    assert "::" not in run("diff", *both(tmp_path, OLD, NEW)).out


def test_a_full_summary_is_left_alone(actions: Path, tmp_path: Path) -> None:
    actions.write_bytes(b"x" * (1 << 20))
    ran = run("diff", *both(tmp_path, OLD, NEW))
    assert (ran.code, ran.err) == (1, "crdcompat: the step's summary has no room for this report\n")
    assert actions.stat().st_size == 1 << 20


def test_a_summary_that_cannot_be_written_is_reported(actions: Path, tmp_path: Path) -> None:
    actions.mkdir()
    ran = run("diff", *both(tmp_path, OLD, NEW))
    assert ran.code == 2
    assert f"cannot write {actions}" in ran.err
    assert "\n::error file=" in ran.out, "the reports are written before"


def test_several_infos_share_one_notice(tmp_path: Path) -> None:
    report = compared(tmp_path, root(spec=obj()), root(spec=obj(**{f"n{number}": string() for number in range(120)})))
    command, last = rendered(report, "github").splitlines()
    name, reported, message = _read(command)
    assert (name, reported) == ("notice", {"title": "120 infos"})
    lines = message.split("\n")
    assert lines[0] == "widgets.example.com/v1 spec.n0 [property-added (rollback)]"
    assert (len(lines), lines[-1]) == (101, "and 20 more: the summary of the step has them")
    assert last == "crdcompat: 0 errors, 0 warnings, 120 info"

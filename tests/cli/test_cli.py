"""Exit codes and bad input: each says what is wrong, where, and what to do; a traceback never comes."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import Json, both, commit, crd, diff, git, obj, only, root, run, spawn, string, version, write

import crdcompat.features.diff.configured
from crdcompat.cli.app import _MODULES
from crdcompat.cli.help import EXAMPLES
from crdcompat.render.formats import format_names, formats_of

OLD, NEW = (root(spec=obj(a=string(*members)), status=obj(p=string(*members))) for members in ("A", "AB"))
FINE = root(spec=obj(a=string("A")))


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return both(tmp_path, OLD, NEW)


# -- exit codes ---------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--fail-on", "error"), 1),
        (("--fail-on", "warning"), 1),
        (("--fail-on", "info"), 1),
        (("--fail-on", "never"), 0),
        (("--owner", "spec"), 0),
        (("--owner", "spec", "--fail-on", "warning"), 1),
        (("--owner", "status", "--direction", "upgrade"), 0),
        (("--ignore", "enum-value-added", "--fail-on", "info"), 0),
        (("--select", "property-added", "--fail-on", "info"), 0),
        (("--direction", "upgrade", "--fail-on", "info"), 0),
        (("-q",), 1),
        (("-v",), 1),
    ],
)
def test_exit_codes_of_diff(sides: tuple[Path, Path], options: tuple[str, ...], code: int) -> None:
    ran = run("diff", *sides, *options)
    assert (ran.code, ran.err) == (code, "")


def test_what_is_undecided_is_unknown(tmp_path: Path) -> None:
    wide = root(spec=obj(a=string(**{"x-kubernetes-new": 1})))
    command = ("diff", *both(tmp_path, root(spec=obj(a=string())), wide))
    levels = ("error", "warning", "info", "undecided", "never")
    assert [run(*command, "--fail-on", level).code for level in levels] == [2, 2, 2, 2, 0]
    allowed = run(*command, "--allow-unknown")
    assert (allowed.code, allowed.err) == (0, "crdcompat: the verdict is UNKNOWN, allowed by --allow-unknown\n")
    assert "UNKNOWN (not judged: 1 undecided difference), allowed by --allow-unknown\n" in allowed.out


def test_no_difference_is_0(tmp_path: Path) -> None:
    ran = run("diff", *both(tmp_path, FINE, FINE), "--fail-on", "undecided")
    assert ran.code == 0
    assert "The schemas are the same." in ran.out


def test_help_is_there_for_all() -> None:
    for command in (
        (),
        ("diff",),
        ("simulate",),
        ("check",),
        ("matrix",),
        ("judge",),
        ("rules",),
        ("explain",),
        ("demo",),
    ):
        ran = run(*command, "--help")
        assert ran.code == 0
        assert "Usage" in ran.out
    assert run("-h").code == 0


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("bogus",), "bogus"),
        (("diff",), "old"),
        (("diff", "a"), "new"),
        (("diff", "a", "b", "--fail-on", "sometimes"), "sometimes"),
        (("diff", "a", "b", "--direction", "sideways"), "sideways"),
        (("diff", "a", "b", "--owner", "nobody"), "nobody"),
        (("diff", "a", "b", "--color", "blue"), "blue"),
        (("diff", "a", "b", "--bogus"), "bogus"),
        (("diff", "a", "b", "--format", "papyrus"), "papyrus"),
        (("diff", "a", "b", "--select", "no-such-rule"), "no-such-rule"),
        (("simulate", "a", "b"), "objects"),
        (("judge", "--op", "wish"), "wish"),
        (("explain",), "rule"),
        (("explain", "nothing"), "nothing"),
        (("rules", "enm"), "there is no family 'enm'; did you mean enum?"),
    ],
)
def test_usage_errors(args: tuple[str, ...], expected: str) -> None:
    ran = run(*args)
    assert (ran.code, ran.out) == (2, "")
    assert expected in ran.err.lower() or expected in ran.err
    assert "Traceback" not in ran.err


def test_an_unknown_format_names_those_there_are(sides: tuple[Path, Path]) -> None:
    ran = run("diff", *sides, "--format", "papyrus")
    assert "json" in ran.err
    assert "text" in ran.err


@pytest.mark.parametrize(
    "source", ["", "git:", "path:", "index:x", "-x", "--", "HEAD..main", "a\nb", "refs/heads/\x00"]
)
def test_odd_sources(sides: tuple[Path, Path], tmp_path: Path, source: str) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    if source == "refs/heads/\x00":
        source = "refs/heads/\x01"
    ran = run("diff", "--", source, sides[1], cwd=tmp_path)
    assert ran.code == 2
    assert ran.err
    assert "Traceback" not in ran.err


# -- refs that are not there ---------------------------------------------


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    commit(origin, {"crds/w.yaml": crd(OLD)})
    for name in ("release-4.13", "release-4.14"):
        git(origin, "branch", name)
    git(tmp_path, "clone", "-q", str(origin), "clone")
    return tmp_path / "clone"


def test_a_missing_ref_names_near_ones_and_the_fetch_line(clone: Path) -> None:
    ran = run("diff", "release-4.15", "main", cwd=clone)
    assert (ran.code, ran.out) == (2, "")
    assert "no branch, tag or commit release-4.15" in ran.err
    assert "origin/release-4.14" in ran.err
    assert "git fetch origin release-4.15:refs/remotes/origin/release-4.15\n" in ran.err


def test_the_fetch_line_works(clone: Path) -> None:
    git(clone.parent / "origin", "branch", "release-4.15")
    ran = run("diff", "release-4.15", "main", cwd=clone)
    line = next(line for line in ran.err.splitlines() if "git fetch" in line)
    git(clone, *line.partition("git ")[2].split())
    assert run("diff", "release-4.15", "main", cwd=clone).code == 0


def test_the_fetch_line_of_another_repository_says_where(clone: Path, tmp_path: Path) -> None:
    ran = run("diff", "release-4.15", "main", "--repo", clone, cwd=tmp_path)
    assert f"git -C {clone} fetch origin release-4.15:refs/remotes/origin/release-4.15" in ran.err


def test_a_missing_commit_is_fetched_by_its_id(clone: Path) -> None:
    missing = "0123456789abcdef0123456789abcdef01234567"
    ran = run("diff", missing, "main", cwd=clone)
    assert ran.code == 2
    assert f"git fetch origin {missing}\n" in ran.err


def test_not_a_repository(tmp_path: Path) -> None:
    for args in (("main", "release-1"), ("git:main", "git:release-1"), ("worktree:", "index:")):
        ran = run("diff", *args, cwd=tmp_path)
        assert ran.code == 2
        assert "not in a git repository" in ran.err
    ran = run("diff", "main", "release-1", "--repo", tmp_path / "none")
    assert ran.code == 2
    assert "none" in ran.err
    ran = run("check", cwd=tmp_path)
    assert ran.code == 2


def test_neither_ref_nor_path(clone: Path) -> None:
    ran = run("diff", "no/such/thing", "main", cwd=clone)
    assert ran.code == 2
    assert "no such path either" in ran.err


# -- input that cannot be read ---------------------------------------------


def problem(tmp_path: Path, name: str, text: str | Json) -> Json:
    """The report of a tree with one bad file beside a good CRD that changed: exit 2, and the rest compared."""
    both(tmp_path, OLD, NEW)
    write(tmp_path / "new" / name, text)
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert ran.code == 2, ran.out[:300]
    assert "Traceback" not in ran.err
    report = ran.report
    assert {f["path"] for f in report["findings"]} == {"status.p", "spec.a"}
    (found,) = report["summary"]["problems"]
    assert (found["file"], found["side"]) == (name, "new")
    text_run = run("diff", tmp_path / "old", tmp_path / "new")
    assert text_run.code == 2
    line = f":{found['line']}" if found["line"] else ""
    assert f"could not read {name}{line} (new): " in text_run.out
    assert ", 1 problem." in " ".join(text_run.out.split())
    result: Json = found
    return result


def test_unreadable_yaml(tmp_path: Path) -> None:
    text = "kind: CustomResourceDefinition\nspec:\n  - a\n  b: [\n"
    assert problem(tmp_path, "bad.yaml", text)["line"] in (3, 4)


def test_unreadable_json(tmp_path: Path) -> None:
    assert problem(tmp_path, "bad.json", '{"kind": "CustomResourceDefinition",\n "spec": [}')["line"] == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"spec": "text"}, "spec: must be an object, is str 'text'"),
        ({"spec": None}, "spec: must be an object, is missing or null"),
        ({"spec": {}}, "spec.names: must be an object, is missing or null"),
        ({"metadata": 3}, "metadata"),
    ],
)
def test_a_crd_that_is_none(tmp_path: Path, change: Json, expected: str) -> None:
    made = {**crd(FINE, kind="Gadget"), **change}
    assert expected in problem(tmp_path, "g.yaml", made)["message"]


def test_a_document_without_spec_is_a_patch(tmp_path: Path) -> None:
    both(tmp_path, OLD, NEW)
    write(tmp_path / "new" / "g.yaml", {key: value for key, value in crd(FINE).items() if key != "spec"})
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [e["reason"] for e in report["summary"]["skipped"]] == ["patch of a CRD's labels and annotations"]


@pytest.mark.parametrize(
    ("where", "value", "expected"),
    [
        (("group",), None, "spec.group"),
        (("names", "kind"), 7, "spec.names.kind"),
        (("versions",), [], "spec.versions"),
        (("versions",), ["v1"], "spec.versions[0]"),
        (("versions",), [{"served": True}], "spec.versions[0].name"),
        (("versions",), [{"name": "v1", "schema": {"openAPIV3Schema": []}}], "openAPIV3Schema"),
    ],
)
def test_a_crd_that_lacks_what_it_needs(tmp_path: Path, where: tuple[str, ...], value: object, expected: str) -> None:
    made = crd(FINE, kind="Gadget")
    holder = made["spec"]
    for step in where[:-1]:
        holder = holder[step]
    holder[where[-1]] = value
    found = problem(tmp_path, "g.yaml", made)
    assert expected in found["message"]
    assert found["line"]


def test_a_crd_without_schema(tmp_path: Path) -> None:
    """Two versions without a schema do not differ; a schema on one side only is undecided."""
    bare = crd(versions=[version(None)])
    report = diff(*both(tmp_path, bare, bare))
    assert (report["undecided"], report["findings"], report["summary"]["crds"]["changed"]) == ([], [], 0)
    report = diff(*both(tmp_path / "2", bare, crd(versions=[version(None, deprecated=True)])))
    assert (report["undecided"], report["findings"]) == ([], [])  # the server refuses both: no effect of the change
    report = run("diff", *both(tmp_path / "3", bare, crd(FINE)), "--format", "json").report
    assert [(entry["keyword"], entry["old"], entry["new"], entry["reason"]) for entry in report["undecided"]] == [
        ("schema", None, "schema", "only one side has a schema")
    ]


@pytest.mark.parametrize(
    "text", ["", "---\n", "# nothing\n", "null\n", "just text\n", "- a\n- b\n", "apiVersion: v1\n"]
)
def test_files_that_hold_no_object(tmp_path: Path, text: str) -> None:
    """Empty files, documents without kind: left out, counted, no problem."""
    both(tmp_path, OLD, NEW)
    write(tmp_path / "new" / "x.yaml", text)
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [entry["file"] for entry in report["summary"]["skipped"]] == ["x.yaml"]
    assert report["summary"]["problems"] == []


@pytest.mark.parametrize("side", ["old", "new", "both"])
def test_a_directory_without_crds(tmp_path: Path, side: str) -> None:
    both(tmp_path, OLD, NEW)
    for name in ("old", "new") if side == "both" else (side,):
        (tmp_path / name / "widget.yaml").write_text("kind: ConfigMap\n")
    ran = run("diff", tmp_path / "old", tmp_path / "new")
    assert ran.code == 2
    assert "nothing to compare: no CRD in" in ran.err
    assert "The schemas are the same" not in ran.out


def test_manifests_that_are_passed_over_are_named_if_there_are_no_others(tmp_path: Path) -> None:
    for side, made in (("old", crd(OLD)), ("new", crd(NEW))):
        write(tmp_path / side / "vendor/api/widget.yaml", made)
        write(tmp_path / side / "vendor/api/README.md", "{{ kind: CustomResourceDefinition")
    sides = tmp_path / "old", tmp_path / "new"
    ran = run("diff", *sides)
    said = "2 manifests are passed over (vendored): --include 'FOLDER/*' reads those of a folder"
    assert (ran.code, said in ran.err) == (2, True)
    found = run("diff", *sides, "--include", "vendor/*", "--format", "json").report
    assert (found["summary"]["crds"]["compared"], found["summary"]["problems"]) == (1, [])


def test_nothing_in_common(tmp_path: Path) -> None:
    ran = run("diff", *both(tmp_path, crd(OLD), crd(NEW, kind="Gadget")))
    assert ran.code == 2
    assert "have no CRD in common" in ran.err
    assert "The schemas are the same" not in ran.out


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", crd(OLD))
    ran = run("diff", tmp_path / "nowhere", tmp_path / "a.yaml")
    assert ran.code == 2
    assert f"{tmp_path}/nowhere" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    write(tmp_path / "new" / "locked.yaml", "").chmod(0)
    assert "permission" in problem(tmp_path, "locked.yaml", "")["message"]


def test_an_alias_bomb_is_a_problem(tmp_path: Path) -> None:
    lines = ["kind: CustomResourceDefinition", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    problem(tmp_path, "bomb.yaml", "\n".join(lines))


def test_deep_nesting_is_a_problem(tmp_path: Path) -> None:
    problem(tmp_path, "deep.yaml", "kind: CustomResourceDefinition\na: " + "[" * 20000)


@pytest.mark.parametrize("depth", [30, 300])
def test_a_deep_schema_is_no_crash(tmp_path: Path, depth: int) -> None:
    def nested(*members: str) -> str:
        inner, head, tail = json.dumps(string(*members)), '{"type": "object", "properties": {"a": ', "}}"
        return json.dumps(crd(root(spec={}))).replace('"spec": {}', f'"spec": {head * depth}{inner}{tail * depth}')

    for side, members in (("old", "A"), ("new", "AB")):
        write(tmp_path / f"{side}.json", nested(*members))
    ran = run("diff", tmp_path / "old.json", tmp_path / "new.json", "--fail-on", "warning", "--format", "json")
    assert ran.code in ((1,) if depth == 30 else (1, 2)), ran.err
    assert ran.report["findings"] or ran.report["summary"]["problems"]


def _mutations(seed: int) -> str:
    """A CRD's JSON with a few of its values swapped for others of any type."""
    rng = random.Random(seed)
    data = json.loads(json.dumps(crd(NEW)))
    odd = [None, 0, -1, True, "", "x", [], {}, [None], {"": None}, 1e308, "\u0000", [[]], {"type": 1}]
    for _ in range(rng.randint(1, 3)):
        here, steps = data, rng.randint(1, 9)
        for _ in range(steps):
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = rng.choice(keys)
            if rng.random() < 0.25 or not isinstance(here[key], dict | list):
                here[key] = rng.choice(odd)
                break
            here = here[key]
    return json.dumps(data)


@pytest.mark.parametrize("seed", range(150))
def test_whatever_a_crd_holds_is_no_crash(tmp_path: Path, seed: int) -> None:
    write(tmp_path / "old.json", crd(OLD))
    write(tmp_path / "new.json", _mutations(seed))
    for pair in (("old.json", "new.json"), ("new.json", "old.json")):
        ran = run("diff", *(f"./{name}" for name in pair), "--format", "json", cwd=tmp_path)
        assert ran.code in (0, 1, 2), (ran.err, (tmp_path / "new.json").read_text())
        if ran.out:
            assert ran.report


# -- a crash is ours, and says so ---------------------------------------------


def test_a_crash_exits_3_with_one_sentence(sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the floor is gone\nand more")

    monkeypatch.setattr(crdcompat.features.diff.configured, "diff", broken)
    ran = run("diff", *sides)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.count("\n") == 1
    assert "RuntimeError: the floor is gone" in ran.err
    assert crdcompat.__version__ in ran.err
    assert "report it" in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setenv("CRDCOMPAT_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        run("diff", *sides)


def test_a_closed_pipe_is_no_crash(sides: tuple[Path, Path]) -> None:
    import subprocess
    import sys

    program = Path(sys.executable).with_name("crdcompat")
    command = f"{program} diff {sides[0]} {sides[1]} -v | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() != "3"


# -- real processes ---------------------------------------------


def test_the_program_as_a_process(sides: tuple[Path, Path]) -> None:
    ran = spawn("diff", *sides)
    assert ran.code == 1
    assert "error[enum-value-added]" in ran.out
    assert ran.err == ""
    assert spawn("diff", sides[0], sides[0]).code == 0
    assert spawn("diff", sides[0], "nowhere").code == 2


def test_standard_input_as_a_source(sides: tuple[Path, Path]) -> None:
    ran = spawn("diff", "-", sides[1], "--format", "json", stdin=(sides[0] / "widget.yaml").read_bytes())
    assert ran.code == 1
    assert {f["path"] for f in ran.report["findings"]} == {"status.p", "spec.a"}


def test_demo() -> None:
    ran = run("demo")
    assert ran.code == 0
    assert "status.capabilities.enabledCapabilities" in ran.out
    assert 'Unsupported value: "Build"' in ran.out
    assert "\x1b" not in ran.out
    assert len(ran.out.splitlines()) < 60


# -- reports to files, filters ---------------------------------------------


def test_several_formats_at_once(sides: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    ran = run("diff", *sides, "--format", "text", "--format", f"json={target}")
    assert ran.code == 1
    assert "error[enum-value-added]" in ran.out
    assert json.loads(target.read_text())["format"] == "1"


def test_a_file_that_cannot_be_written(sides: tuple[Path, Path]) -> None:
    ran = run("diff", *sides, "--format", f"json={sides[0]}")
    assert ran.code == 2
    assert "cannot write" in ran.err


def test_filters_combine(sides: tuple[Path, Path]) -> None:
    assert only(diff(*sides, "--owner", "status"))["path"] == "status.p"
    assert len(diff(*sides, "--owner", "status", "--owner", "spec")["findings"]) == 2
    assert run("diff", *sides, "--crd", "others.example.com").code == 2
    assert len(diff(*sides, "--crd", "widgets.example.com", "--select", "enum-value-added")["findings"]) == 2


def test_quiet_shows_errors_and_nothing_else(tmp_path: Path) -> None:
    old, new = both(
        tmp_path, *(crd(root(spec=obj(a=string(*v)), status=obj(p=string(*v)))) for v in (("A",), ("A", "B")))
    )
    ran = run("diff", old, new, "-q")
    assert ran.code == 1
    first, *_, last = (line for line in ran.out.splitlines() if line)
    assert first == "Rolling back new -> old"
    assert last == "rollback: 1 error, 1 warning, 0 info; upgrade: 0 errors, 0 warnings, 0 info; 0 undecided."
    assert ran.out.count("[enum-value-added]") == 1
    assert [word for word in ("note:", "witness:", "way out:", "contexts:", "Compared") if word in ran.out] == []
    assert run("diff", old, old, "-q").out == ""


@pytest.mark.parametrize(
    "command", ["diff", "check", "simulate", "matrix", "verify", "servers", "preflight", "versions"]
)
def test_help_lists_the_formats_that_can_show_the_report(command: str) -> None:
    helped = " ".join(run(command, "--help").out.split())
    listed = helped.partition("--format FORMAT[=FILE] ")[2]
    listed = re.split(r"[;.]", listed)[0].removeprefix("How to report: ")
    known = formats_of("simulation" if command == "simulate" else command)
    assert sorted({*listed.replace(",", " ").split()} - {"or"}) == known
    for other in {*format_names()}.difference(known if command in _ARGUMENTS else format_names()):
        ran = run(command, *_ARGUMENTS[command], "--format", other)
        assert (ran.code, f"what can: {', '.join(known)}\n" in ran.err) == (2, True), ran.err


#: What a wrong format is refused beside; the other commands look at their sources first.
_ARGUMENTS = {"check": (), "diff": ("a", "b"), "matrix": ("a", "b"), "versions": ("a",), "servers": ("a",)}


@pytest.mark.parametrize("command", sorted(_MODULES))
def test_help_fits_on_a_screen_and_has_an_example(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(command, "--help").out.splitlines()
    assert len(lines) < 55 and max(map(len, lines)) <= 80
    examples = lines[lines.index("Examples:") + 1 :]
    assert examples == [f"  {example}" for example in EXAMPLES[command]]
    for example in examples:
        words = shlex.split(example)
        assert words[0] == "crdcompat" and words[1] in _MODULES
        options = {word for word in words if word.startswith("--")}
        assert not [option for option in options if option not in run(words[1], "--help").out]


def test_help_groups_options() -> None:
    text = run("simulate", "--help").out
    heads = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert heads == ["Arguments:", "Options:", "Many clusters:", "Output:", "Sources:", "Examples:"]
    assert "Many clusters:" not in run("check", "--help").out, "check has a --target of another kind"


def test_help_imports_no_rich() -> None:
    code = "import sys; from crdcompat.__main__ import main\ntry: main()\nfinally: print('rich' in sys.modules)"
    for words in (["--help"], ["diff", "--help"], ["diff", "--bogus"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[-1] == "False", words


@pytest.mark.parametrize(
    ("args", "near"),
    [
        (("--crd", "widget.example.com"), "widgets.example.com"),
        (("--crd", "widget"), "widgets.example.com"),
        (("--select", "enum-valu-added"), "enum-value-added"),
        (("--format", "jsn"), "json"),
    ],
)
def test_a_near_name_is_suggested(tmp_path: Path, args: tuple[str, str], near: str) -> None:
    ran = run("diff", *both(tmp_path, FINE, FINE), *args)
    assert ran.code == 2 and f"; did you mean {near}?" in ran.err
    assert "did you mean" not in run("diff", *both(tmp_path, FINE, FINE), args[0], "zzzzzz").err


def test_a_patch_that_may_lack_a_part_says_so(tmp_path: Path) -> None:
    """A CRD that cannot be read is no empty patch."""
    old, new = both(tmp_path, crd(root(spec=obj(a=string("A")))), {**crd(root()), "spec": 5})
    ran = run("diff", old, new, "--suggest-patch")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "crdcompat: not all was judged, so the patch may lack a part: run the command without --suggest-patch\n"
    )

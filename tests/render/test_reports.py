"""Reports: to the schema, the same over two runs, ids that stay, text for people that no manifest can bend."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helpers import array, both, checked, crd, diff, obj, only, root, run, spawn, string, version, write

from crdcompat.models.release import short_names
from crdcompat.render.data.schema import schema_of_reports

OLD, NEW = (
    root(
        spec=obj(a=string(*members), **({"new": string()} if members == "AB" else {})),
        status=obj(p=string(*members), q=array(string(*members))),
    )
    for members in ("A", "AB")
)
ESCAPE = "\x1b"


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return both(tmp_path, OLD, NEW)


# -- JSON ---------------------------------------------


def test_the_schema_is_one_and_is_printed() -> None:
    ran = run("rules", "--report-schema")
    assert ran.code == 0
    assert json.loads(ran.out) == schema_of_reports()
    jsonschema.Draft202012Validator.check_schema(json.loads(ran.out))


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.pop("format"),
        lambda r: r.update(format="2"),
        lambda r: r["findings"][0].pop("id"),
        lambda r: r["findings"][0].update(id="XYZ"),
        lambda r: r["findings"][0].update(severity="fatal"),
        lambda r: r["findings"][0]["witness"].pop("reason"),
        lambda r: r["findings"][0]["locations"][0].update(side="left"),
        lambda r: r["summary"].pop("problems"),
        lambda r: r.pop("undecided"),
        lambda r: r.update(command="dance"),
    ],
)
def test_the_schema_can_fail(sides: tuple[Path, Path], change: Any) -> None:
    report = diff(*sides)
    change(report)
    with pytest.raises(AssertionError):
        checked(report)


def test_everything_that_the_design_names_is_there(sides: tuple[Path, Path]) -> None:
    report = diff(*sides)
    assert list(report)[:6] == ["format", "tool", "command", "old", "new", "summary"]
    assert report["tool"]["name"] == "crdcompat"
    named = {
        "id", "rule", "change", "direction", "effect", "severity", "crd", "kind", "version", "contexts", "path",
        "owner", "old", "new", "added", "removed", "message", "witness", "windows", "status", "introduced_by", "places",
        "locations", "evidence", "waiver",
    }  # fmt: skip
    for finding in report["findings"]:
        assert named <= finding.keys()
        assert finding["kind"] == "Widget"
        assert finding["status"] == "new"
        assert finding["waiver"] is None
        assert finding["message"]
        assert "\n" not in finding["message"]


def test_byte_identical_over_two_runs(sides: tuple[Path, Path]) -> None:
    command = ("diff", *sides, "--format", "json")
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    first, second = (spawn(*command, env=env).out for env in seeds)
    assert first == second
    assert first == run(*command).out


def test_ids_are_unique_and_stay(sides: tuple[Path, Path], tmp_path: Path) -> None:
    ids = {f["id"]: (f["direction"], f["rule"], f["path"]) for f in diff(*sides)["findings"]}
    assert len(ids) == len(diff(*sides)["findings"])
    # Other files, other lines, other order of the values, other contexts: the same finding.
    notes = {"include.release.openshift.io/ha": "true"}
    moved = tmp_path / "moved"
    for side, schema in (("old", OLD), ("new", json.loads(json.dumps(NEW)))):
        if side == "new":
            schema["properties"]["status"]["properties"]["p"]["enum"].reverse()
        text = "# a comment\n\n" + json.dumps(crd(schema, annotations=notes))
        write(moved / side / "deep" / "er.yaml", text)
    again = {f["id"]: (f["direction"], f["rule"], f["path"]) for f in diff(moved / "old", moved / "new")["findings"]}
    assert again == ids


def test_ids_differ_where_findings_differ(sides: tuple[Path, Path], tmp_path: Path) -> None:
    wider = json.loads(json.dumps(NEW))
    wider["properties"]["status"]["properties"]["p"]["enum"].append("C")
    before = only(diff(*sides), path="status.p")["id"]
    after = only(diff(*both(tmp_path / "2", OLD, wider)), path="status.p")["id"]
    other = only(diff(*both(tmp_path / "3", crd(OLD, kind="Gadget"), crd(NEW, kind="Gadget"))), path="status.p")["id"]
    assert len({before, after, other}) == 3


def test_summary_counts(sides: tuple[Path, Path]) -> None:
    report = diff(*sides)
    counted = {level: sum(f["severity"] == level for f in report["findings"]) for level in ("error", "warning", "info")}
    assert report["summary"]["findings"] == {**counted, "waived": 0, "existing": 0, "unreleased": 0}
    assert counted == {"error": 2, "warning": 1, "info": 1}


def test_locations_name_the_lines(tmp_path: Path) -> None:
    def text(*members: str) -> str:
        values = "".join(f"                - {member}\n" for member in members)
        return f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com}}
spec:
  group: example.com
  names: {{kind: Widget, plural: widgets}}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status:
            type: object
            properties:
              p:
                type: string
                enum:
{values}"""

    old, new = write(tmp_path / "old.yaml", text("A")), write(tmp_path / "new.yaml", text("A", "B"))
    found = only(diff(old, new))["locations"]
    assert [(place["side"], place["file"], place["line"], place["column"]) for place in found] == [
        ("old", "old.yaml", 21, 17),
        ("new", "new.yaml", 23, 19),
    ]


# -- text ---------------------------------------------


def test_text_order_and_footer(sides: tuple[Path, Path]) -> None:
    ran = run("diff", *sides)
    lines = ran.out.splitlines()
    heads = [line for line in lines if re.match(r"^(error|warning|info)\b", line)]
    assert [head.split()[0] for head in heads] == [
        "error[enum-value-added]", "warning[enum-value-added]", "info",
    ]  # fmt: skip
    assert heads[0].endswith(" widgets.example.com/v1 status.{p,q[*]}"), "siblings share a block"
    assert lines.index(next(line for line in lines if line.startswith("Rolling back"))) < lines.index(heads[0])
    assert (
        "Compared 1 CRD in 1 context: 1 changed, 0 only in old, 0 only in new; "
        "0 text-only changes, 0 files skipped, 0 problems."
    ) in " ".join(ran.out.split())
    assert lines[-1] == "rollback: 2 errors, 1 warning, 1 info; upgrade: 0 errors, 0 warnings, 0 info; 0 undecided."
    assert "  spec.new: lost [property-added]" in lines


def test_a_change_of_the_crd_is_not_a_lost_crd(tmp_path: Path) -> None:
    """External Snapshotter 8.4 has a conversion; "the CRD: lost" was said of the one before."""
    webhook = {"clientConfig": {"url": "https://example.com"}, "conversionReviewVersions": ["v1"]}
    versions = [version(root(), "v1"), version(root(), "v2", storage=False)]
    old, new = crd(versions=versions), crd(versions=versions)
    new["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    for name, made in (("old", old), ("new", new)):
        write(tmp_path / name / "w.yaml", made)
    ran = run("diff", tmp_path / "old", tmp_path / "new")
    assert "  the CRD: conversion changed [conversion-changed]" in ran.out.splitlines()


def test_an_update_is_shown_with_what_it_replaces(tmp_path: Path) -> None:
    """A rule about updates: JSON, text, Markdown and HTML show the stored object and the write."""
    fixed = {**string(), "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    replaced = (("it", "the stored one"), ("its status", "the status of the stored one"))
    for (part, operation), (title, of_page) in zip(
        (("spec", "update"), ("status", "updateStatus")), replaced, strict=True
    ):
        pair = both(tmp_path / part, root(**{part: obj(v=string())}), root(**{part: obj(v=fixed)}))
        (finding,) = diff(*pair)["findings"]
        witness = finding["witness"]
        assert witness["operation"] == operation
        stored, written = (json.dumps(witness[key], separators=(",", ":")) for key in ("stored", "object"))
        for name in ("text", "markdown"):
            lines = [line.strip() for line in run("diff", *pair, "-v", "--format", name).out.splitlines()]
            assert f"stored: {stored}" in lines
            assert f"witness, which replaces {title}: {written}" in lines
        page = run("diff", *pair, "--format", "html").out
        assert f"Example object that replaces {of_page}" in page
        assert "Stored object" in page


def test_a_block_says_all(sides: tuple[Path, Path]) -> None:
    report = diff(*sides, "--owner", "status")
    text = run("diff", *sides, "--owner", "status", "-v").out
    for finding in report["findings"]:
        assert finding["id"] in text
        assert finding["message"] in text
        assert finding["witness"]["errors"][0] in text
        assert json.dumps(finding["witness"]["object"], separators=(",", ":")) in text
        for place in finding["locations"]:
            assert f"--> {place['side']}: {place['file']}:{place['line']}:{place['column']}" in text
    assert "crdcompat explain enum-value-added" in text


def test_quiet_and_verbose(sides: tuple[Path, Path]) -> None:
    quiet, usual, verbose = (run("diff", *sides, *options).out for options in (("-q",), (), ("-v",)))
    assert "warning[" not in quiet
    assert "error[" in quiet
    assert "rollback: 2 errors" in quiet
    assert "info[property-added]" not in usual
    assert "info[property-added]" in verbose
    assert len(quiet) < len(usual) < len(verbose)


# -- colour ---------------------------------------------


@pytest.mark.parametrize(
    ("env", "options", "coloured"),
    [
        ({}, (), False),
        ({}, ("--color", "always"), True),
        ({}, ("--color", "never"), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), True),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"FORCE_COLOR": ""}, (), False),
    ],
)
def test_colour_without_a_terminal(
    sides: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    env: dict[str, str],
    options: tuple[str, ...],
    coloured: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert (ESCAPE in run("diff", *sides, *options).out) == coloured


@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)]
)
def test_colour_on_a_terminal(sides: tuple[Path, Path], env: dict[str, str], coloured: bool) -> None:
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    master, slave = pty.openpty()
    command = [str(Path(sys.executable).with_name("crdcompat")), "diff", *map(str, sides)]
    process = subprocess.Popen(
        command,
        stdout=slave,
        stderr=subprocess.DEVNULL,  # on a terminal, a run of more than a second draws a bar there
        stdin=subprocess.DEVNULL,
        env={**plain, "TERM": "xterm", "COLUMNS": "60", **env},
    )
    os.close(slave)
    out = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(master)
    assert process.wait() == 1
    assert (ESCAPE.encode() in out) == coloured
    assert b"rollback: 2 errors" in out


def test_json_is_never_coloured(sides: tuple[Path, Path]) -> None:
    assert ESCAPE not in run("diff", *sides, "--format", "json", "--color", "always").out


def test_a_file_is_never_coloured(sides: tuple[Path, Path], tmp_path: Path) -> None:
    run("diff", *sides, "--format", f"text={tmp_path / 'out.txt'}", "--color", "always")
    assert ESCAPE not in (tmp_path / "out.txt").read_text()


def test_colours_change_nothing_else(sides: tuple[Path, Path]) -> None:
    coloured = run("diff", *sides, "--color", "always").out
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == run("diff", *sides).out


# -- hostile text ---------------------------------------------

HOSTILE = (
    "\x1b[2J\x1b[31mgone",
    "\x1b]0;title\x07",
    "a\u202eb\u2066c",
    "\x9b31m",
    "\u200f\u061c",
    "line\nnew line\r\x08back",
    "tab\there",
    "\x7f",
    "::error file=x::y",
)
_ALLOWED = re.compile(r"^[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]*$")


def _inert(text: str) -> bool:
    return all(_ALLOWED.fullmatch(line) and not line.startswith("new line") for line in text.split("\n"))


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_inert(tmp_path: Path, text: str) -> None:
    old = root(spec=obj(a=string("A")), status=obj(p=string("A"), **{f"z{text}": string("A")}))
    new = root(
        spec=obj(a=string("A", text), **{text: string(description=text)}),
        status=obj(
            p=string("A", text, description=text),
            **{f"z{text}": string("A", "B")},
            **{f"y{text}": string(default=text)},
        ),
    )
    for side, schema in (("old", old), ("new", new)):
        definition = crd(schema, annotations={"include.release.openshift.io/" + text: "true"})
        write(tmp_path / side / f"w{text.replace('/', '')}.json", json.dumps(definition))
    for options in ((), ("-v",), ("-q",)):
        ran = run("diff", tmp_path / "old", tmp_path / "new", *options)
        assert ran.code == 1, ran.err
        assert _inert(ran.out), ascii(ran.out[:2000])
    report = diff(tmp_path / "old", tmp_path / "new")
    # Data stays what it is.
    assert [text] in [finding["added"] for finding in report["findings"]]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_keys_of_undecided_differences_are_inert(tmp_path: Path, text: str) -> None:
    for side, value in (("old", 1), ("new", 2)):
        schema = root(spec=obj(a=string(**{f"x-{text}": value})))
        write(tmp_path / side / "w.json", json.dumps(crd(schema)))
    for options in ((), ("-v",)):
        ran = run("diff", tmp_path / "old", tmp_path / "new", *options)
        assert _inert(ran.out), ascii(ran.out)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_names_of_crds_and_versions_are_inert(tmp_path: Path, text: str) -> None:
    for side, schema in (("old", OLD), ("new", NEW)):
        definition = crd(schema)
        definition["metadata"]["name"] = f"widgets.{text}"
        definition["spec"]["versions"][0]["name"] = f"v1{text}"
        definition["spec"]["names"]["kind"] = f"Widget{text}"
        write(tmp_path / side / "w.json", json.dumps(definition))
        write(
            tmp_path / side / "only.json",
            json.dumps({**crd(schema, group=side), "metadata": {"name": f"{side}{text}"}}),
        )
    for options in ((), ("-v",)):
        ran = run("diff", tmp_path / "old", tmp_path / "new", *options)
        assert ran.code in (1, 2), ran.err
        assert _inert(ran.out + ran.err), ascii(ran.out + ran.err)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_recordings_are_inert(tmp_path: Path, text: str) -> None:
    both(tmp_path, OLD, NEW)
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": text, "namespace": text}}
    items = [
        {**body, "spec": {"a": text, text: 1}, "status": {"p": text}},
        {**body, "kind": text},
        {**body, "apiVersion": f"example.com/{text}"},
    ]
    write(tmp_path / f"o{text.replace('/', '')}.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    for options in ((), ("-v", "--kube-version", "1.26")):
        recording = tmp_path / f"o{text.replace('/', '')}.json"
        ran = run("simulate", tmp_path / "old", tmp_path / "new", "--objects", recording, *options)
        assert ran.code in (1, 2), ran.err
        assert _inert(ran.out + ran.err), ascii(ran.out + ran.err)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_problems_are_inert(tmp_path: Path, text: str) -> None:
    both(tmp_path, OLD, NEW)
    write(tmp_path / "new" / f"x{text.replace('/', '')}.yaml", f"kind: CustomResourceDefinition\n'{text}: [")
    bad = {**crd(OLD, kind="Gadget")}
    bad["spec"]["group"] = [text]
    write(tmp_path / "new" / "y.json", json.dumps(bad))
    ran = run("diff", tmp_path / "old", tmp_path / "new")
    assert ran.code == 2
    assert _inert(ran.out + ran.err), ascii(ran.out + ran.err)


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\n" not in text], ids=ascii)
def test_hostile_command_lines_are_inert(tmp_path: Path, text: str) -> None:
    for args in (("diff", text, text), ("explain", text), ("judge", text, text), ("diff", "a", "b", "--format", text)):
        ran = run(*args, cwd=tmp_path)
        assert ran.code == 2
        assert _inert(ran.out), ascii(ran.out)


def test_a_description_never_reaches_the_terminal(tmp_path: Path) -> None:
    quiet = [root(spec=obj(a=string(*m, description="\x1b[31mqqqq"))) for m in ("A", "AB")]
    out = run("diff", *both(tmp_path, *quiet), "-v").out
    assert "qqqq" not in out


# -- simulate ---------------------------------------------


def test_simulation_reports_are_byte_identical_and_counted(sides: tuple[Path, Path], tmp_path: Path) -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Widget"}
    items = [{**body, "metadata": {"name": f"w{n}", "namespace": "x"}, "status": {"p": "AB"[n % 2]}} for n in range(30)]
    path = write(tmp_path / "o.json", {"kind": "List", "apiVersion": "v1", "items": items})
    command = ("simulate", *sides, "--objects", path, "--kube-version", "1.29", "--format", "json")
    outs = [spawn(*command, env={**os.environ, "PYTHONHASHSEED": seed}).out for seed in ("1", "2")]
    assert outs[0] == outs[1]
    report = run(*command).report
    assert report["summary"]["verdicts"] == {"rejected": 15, "unknown": 0, "loses-data": 0, "accepted": 15}
    assert report["direction"] == "rollback"
    assert report["old"]["kubernetes"] == "1.29"
    text = run(*command[:-2]).out
    assert "15 rejected, 15 accepted" in text
    assert ESCAPE not in text


def test_text_changes_are_counted_and_named_when_asked_for(tmp_path: Path) -> None:
    old, new = (crd(root(spec=obj(a=string(description=text)))) for text in ("one", "two"))
    new["spec"]["names"]["shortNames"] = ["w"]
    sides = both(tmp_path, old, new)
    plain, verbose = run("diff", *sides), run("diff", *sides, "-v")
    assert "2 text-only changes" in plain.out
    assert "text only:" not in plain.out
    reported = [line.strip() for line in verbose.out.splitlines() if "text only:" in line]
    assert reported == [
        "text only: widgets.example.com names: shortNames",
        "text only: widgets.example.com/v1 spec.a: description",
    ]


# -- names of releases -------------------------------------


def test_long_paths_are_cut_to_the_end_that_differs(tmp_path: Path) -> None:
    """The head of a report has the whole names, and so has JSON."""
    paths = []
    for name, schema in (("release-a", OLD), ("release-b", NEW)):
        paths.append(f"{tmp_path}/{'a-long-way-off/' * 4}{name}/crds")
        write(Path(paths[-1]) / "crd.yaml", crd(schema))
    text = run("diff", *paths).out
    assert text.count("a-long-way-off") == 8
    assert f"\n{paths[0]} -> {paths[1]}\n" in f"\n{text}"
    assert "\nrelease-b/crds -> release-a/crds: BLOCKED\n" in text
    assert "after a rollback, release-a/crds rejects writes" in text
    report = diff(*paths)
    assert [report[side]["name"] for side in ("old", "new")] == paths
    page = run("diff", *paths, "--format", "html").out
    assert page.count(f"{paths[0]}</") == 1
    replayed = run("simulate", *paths, "--objects", paths[0]).out
    assert [replayed.count(f": {path}\n") for path in paths] == [1, 1]


def test_paths_that_end_alike_keep_what_differs() -> None:
    far = "/a/long/way/off/and/further"
    assert short_names([f"{far}/1/crds", f"{far}/2/crds/"]) == {f"{far}/1/crds": "1/crds", f"{far}/2/crds/": "2/crds"}
    assert short_names(["release-4.13", f"{far}/1/crds"]) == {"release-4.13": "release-4.13", f"{far}/1/crds": "crds"}

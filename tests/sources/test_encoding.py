"""Manifests in UTF-16 and UTF-32, by their byte order mark: read like any other, never passed over."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import Json, both, brief, commit, crd, diff, git, obj, root, run, string, write

from crdcompat.crds.context import FEATURE_SET

MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-8": codecs.BOM_UTF8,
}
ENCODINGS = pytest.mark.parametrize("encoding", MARKS)
UTF16 = pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])


def recode(encoding: str, *files: Path, end: str = "\n") -> None:
    """Write text files anew, in this encoding, with its mark."""
    for file in files:
        text = file.read_text(encoding="utf-8").replace("\n", end)
        file.write_bytes(MARKS[encoding] + text.encode(encoding))


def widget(*phases: str, **annotations: str) -> Json:
    schema = root(spec=obj(a={**string(), "description": "für alle\u2026"}), status=obj(p=string(*phases)))
    return crd(schema, annotations=annotations)


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "repo"
    made.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(made)], check=True)
    return made


def _places(report: Json) -> list[tuple[tuple[str, ...], list[Json]]]:
    return [(brief(finding), finding["locations"]) for finding in report["findings"]]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lines", "windows"])
@ENCODINGS
def test_a_crd_is_read_and_its_lines_are_right(tmp_path: Path, encoding: str, end: str) -> None:
    sides = both(tmp_path, widget("A"), widget("A", "B"))
    plain = diff(*sides)
    recode(encoding, *(side / "widget.yaml" for side in sides), end=end)
    report = diff(*sides)
    assert _places(report) == _places(plain) != []
    assert report["summary"]["skipped"] == []


@ENCODINGS
def test_what_is_no_crd_is_none(tmp_path: Path, encoding: str) -> None:
    sides = both(tmp_path, widget("A"), widget("A", "B"))
    recode(encoding, write(sides[1] / "other.yaml", "a: ü\n"))
    (skipped,) = diff(*sides)["summary"]["skipped"]
    assert (skipped["file"], skipped["reason"]) == ("other.yaml", "no CRD")


@UTF16
@pytest.mark.parametrize("cut", [b"\x00", b"\x00\xd8\x00\xd8"], ids=["half a character", "half a pair"])
def test_what_cannot_be_decoded_is_a_problem(tmp_path: Path, encoding: str, cut: bytes) -> None:
    sides = both(tmp_path, widget("A"), widget("A", "B"))
    file = sides[1] / "widget.yaml"
    recode(encoding, file)
    file.write_bytes(file.read_bytes() + (cut if encoding == "utf-16-le" else cut[::-1]))
    ran = run("diff", *sides, "--format", "json")
    assert ran.code == 2
    (problem,) = ran.report["summary"]["problems"]
    assert problem["file"] == "widget.yaml"
    assert problem["message"].startswith("not valid text: ")
    assert problem["message"].endswith(": save it as UTF-8")


@UTF16
def test_a_template_is_one_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    sides = both(tmp_path, widget("A"), widget("A", "B"))
    recode(encoding, write(sides[1] / "t.yaml", "# no CustomResourceDefinition\nmetadata: {{ .Values.x }}\n"))
    (skipped,) = diff(*sides)["summary"]["skipped"]
    assert (skipped["file"], skipped["reason"]) == ("t.yaml", "template that is not YAML")


@UTF16
def test_a_check_notices_it(repo: Path, encoding: str) -> None:
    write(repo / "w.yaml", widget("A"))
    recode(encoding, repo / "w.yaml")
    commit(repo, {"other.yaml": "a: 1\n"})
    write(repo / "w.yaml", widget("A", "B"))
    recode(encoding, repo / "w.yaml")
    git(repo, "add", "-A")
    ran = run("check", "--base", "HEAD", "--format", "json", cwd=repo)
    (finding,) = [f for f in ran.report["sections"][0]["findings"] if f["direction"] == "rollback"]
    assert (ran.code, finding["added"]) == (1, ["B"])


@UTF16
def test_a_file_alike_on_all_sides_counts_in_any_encoding(repo: Path, encoding: str) -> None:
    """git finds no word in it: it is read, and the variant in it is met."""
    tech = write(repo / "x/tech.yaml", widget("A", "C", **{FEATURE_SET: "TechPreviewNoUpgrade"}))
    recode(encoding, tech)
    commit(repo, {"w.yaml": widget("A", **{FEATURE_SET: "Default,TechPreviewNoUpgrade"})})
    write(repo / "w.yaml", widget("A", "B", **{FEATURE_SET: "Default"}))
    git(repo, "add", "-A")
    ran = run("check", "--base", "HEAD", "--format", "json", cwd=repo)
    found = {(*f["added"], *f["contexts"]) for f in ran.report["sections"][0]["findings"]}
    assert ("C", "TechPreviewNoUpgrade/default") in found


@UTF16
def test_each_of_several_values_has_its_line(repo: Path, encoding: str) -> None:
    lines = []
    for name in ("utf-8", encoding):
        for at, phases in enumerate(("A", "AB", "ABC")):
            write(repo / "w.yaml", widget(*phases))
            recode(name, repo / "w.yaml")
            git(repo, "add", "-A")
            if at < 2:
                git(repo, "commit", "-qm", "change")
        report = run("check", "--base", "HEAD", "--target", "HEAD~1", "--format", "json", cwd=repo).report
        found = [f for f in report["sections"][1]["findings"] if f["direction"] == "rollback"]
        lines.append([(f["added"], [(each["side"], each["line"]) for each in f["locations"]]) for f in found])
        git(repo, "commit", "-qm", "all")
    assert [added for added, _ in lines[0]] == [["B"], ["C"]]
    assert lines[0] == lines[1]
    assert len({str(places) for _, places in lines[0]}) == 2


@UTF16
def test_a_recording_holds_it(tmp_path: Path, encoding: str) -> None:
    old = write(tmp_path / "old/w.yaml", widget("A"))
    folder = tmp_path / "must-gather/cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions"
    recode(encoding, write(folder / "widgets.example.com.yaml", widget("A", "B")))
    report = diff(old.parent, f"recording:{tmp_path / 'must-gather'}")
    assert [finding["added"] for finding in report["findings"] if finding["direction"] == "rollback"] == [["B"]]


@UTF16
def test_a_patch_for_it_says_that_it_is_for_its_text(tmp_path: Path, encoding: str) -> None:
    sides = both(tmp_path, widget("A"), widget("A", "B"))
    plain = run("diff", *sides, "--suggest-patch").out
    recode(encoding, sides[0] / "widget.yaml")
    reported = "# widget.yaml is not in UTF-8: this is for its text, git apply does not take it\n"
    assert run("diff", *sides, "--suggest-patch").out == reported + plain

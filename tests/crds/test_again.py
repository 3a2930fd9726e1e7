"""A CRD that one file has several times: a cluster ends with one of the documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, run, string, write


def _copy(values: str, **notes: str) -> Json:
    made = crd(root(status=obj(phase=string(*values))))
    made["metadata"]["annotations"] = notes
    return made


def _diff(top: Path, old: tuple[str, ...], new: tuple[str, ...], file: str = "w.yaml", *more: str) -> Json:
    for side, texts in (("old", old), ("new", new)):
        write(top / side / "Chart.yaml", {"name": "op"})
        write(top / side / file, *map(_copy, texts))
    return run("diff", top / "old", top / "new", *more, "--format", "json").report


def _changed(report: Json) -> list[tuple[str, list[str], list[str]]]:
    return [(each["direction"], each["added"], each["removed"]) for each in report["findings"]]


_LOST, _GAINED = [("upgrade", [], ["B"])], [("rollback", ["B"], [])]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param(("A", "AB"), ("AB", "A"), _LOST, id="swapped"),
        pytest.param(("AB", "A"), ("A", "AB"), _GAINED, id="swapped the other way"),
        pytest.param(("A", "AB"), ("AB",), [], id="the first one goes"),
        pytest.param(("AB", "A"), ("AB",), _GAINED, id="the last one goes"),
        pytest.param(("A", "AC"), ("AB", "AC"), [], id="only the first one changes"),
        pytest.param(("A", "A"), ("AB", "AB"), _GAINED, id="they agree"),
    ],
)
def test_the_last_document_of_a_file_is_left(
    tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...], found: list[tuple[str, list[str], list[str]]]
) -> None:
    report = _diff(tmp_path, old, new)
    assert _changed(report) == found
    said = "widgets.example.com is in this file 2 times: the last one replaces the others"
    expected = [(side, said) for side, texts in (("old", old), ("new", new)) if len(set(texts)) > 1]
    assert sorted((each["side"], each["message"]) for each in report["summary"]["remarks"]) == sorted(expected)


def test_helm_creates_the_first_document_of_a_file_in_crds(tmp_path: Path) -> None:
    """It skips the second one: the CRD "is already present"."""
    report = _diff(tmp_path, ("A", "AB"), ("AB", "A"), "crds/w.yaml")
    assert [(each["window"], each["added"]) for each in report["findings"]] == [("old_crd_new_writer", ["B"])]
    said = "widgets.example.com is in this file 2 times: helm creates the first one alone"
    assert {each["message"] for each in report["summary"]["remarks"]} == {said}


def test_variants_in_one_file_do_not_replace_each_other(tmp_path: Path) -> None:
    notes = [{"gateway.networking.k8s.io/channel": channel} for channel in ("experimental", "standard")]
    for side, values in (("old", ("A", "A")), ("new", ("AB", "A"))):
        write(tmp_path / side / "w.yaml", *(_copy(each, **of) for each, of in zip(values, notes, strict=True)))
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    assert [each["contexts"] for each in report["findings"]] == [["experimental"]]
    assert report["summary"]["remarks"] == []


def test_conditions_of_a_template_may_choose_one_of_two_documents(tmp_path: Path) -> None:
    for side, first in (("old", "A"), ("new", "AB")):
        texts = (f"{{{{- if .Values.{each} }}}}\n{json.dumps(_copy(each))}\n{{{{- end }}}}\n" for each in (first, "C"))
        write(tmp_path / side / "w.yaml", "---\n".join(texts))
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    assert _changed(report) == _GAINED

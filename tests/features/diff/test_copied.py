"""A value that enums of spec and status gain in one change: a controller copies it, whatever users do."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import repository
from helpers import Json, array, commit, crd, diff, load_yaml, obj, root, run, string, write

from crdcompat.vocabulary.judging import Named

_OLD, _NEW = ("Build", "Console"), ("Build", "Console", "Insights")
GO = """\
// +groupName=example.com
package v1

type Part string

type Widget struct {
	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Parts []Part `json:"parts,omitempty"`
	Other string `json:"other,omitempty"`
}

type WidgetStatus struct {
	Parts []Part `json:"parts,omitempty"`
}
"""


def _severities(tmp_path: Path, old: Json, new: Json, *, go: str = "") -> dict[str, tuple[str, bool]]:
    """The severity of each added value, and whether the copy decided it."""
    for side, parts in (("old", old), ("new", new)):
        write(tmp_path / side / "widget.yaml", crd(root(**parts)))
        (tmp_path / side / "v1").mkdir()
        (tmp_path / side / "v1/types.go").write_text(go)
    report = diff(tmp_path / "old", tmp_path / "new", "--direction", "rollback", "--select", "enum-value-added")
    return {each["path"]: (each["severity"], Named.COPIED in each["because"]) for each in report["findings"]}


def _parts(spec: tuple[str, ...], status: tuple[str, ...]) -> Json:
    return {"spec": obj(parts=array(string(*spec))), "status": obj(parts=array(string(*status)))}


def test_the_same_values_in_both(tmp_path: Path) -> None:
    assert _severities(tmp_path, _parts(_OLD, _OLD), _parts(_NEW, _NEW)) == {
        "spec.parts[*]": ("error", True),
        "status.parts[*]": ("error", False),
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param((_OLD, _NEW), (_NEW, _NEW), id="status had it before"),
        pytest.param((_OLD, _OLD), ((*_NEW, "Extra"), _NEW), id="spec gains more"),
        pytest.param((("None", *_OLD), _OLD), (("None", *_NEW), _NEW), id="other lists"),
        pytest.param((("Auto",), ("Auto",)), (("Auto", "Manual"), ("Auto", "Manual")), id="two values"),
    ],
)
def test_other_values(tmp_path: Path, old: tuple[tuple[str, ...], ...], new: tuple[tuple[str, ...], ...]) -> None:
    assert _severities(tmp_path, _parts(*old), _parts(*new))["spec.parts[*]"] == ("warning", False)


@pytest.mark.parametrize(("spec", "is_copied"), [("parts", True), ("other", False)])
def test_the_same_go_type(tmp_path: Path, spec: str, is_copied: bool) -> None:
    def side(values: tuple[str, ...]) -> Json:
        wide = string("None", *values)
        return {
            "spec": obj(**{spec: array(wide) if spec == "parts" else wide}),
            "status": _parts(values, values)["status"],
        }

    found = _severities(tmp_path, side(_OLD), side(_NEW), go=GO)
    assert [copied for path, (_, copied) in found.items() if path.startswith("spec")] == [is_copied]


def test_a_declaration_names_both(tmp_path: Path) -> None:
    """Two-step growth: what nothing writes to status, nothing copies."""
    repo = repository(tmp_path)
    for values in (_OLD, _NEW):
        commit(repo, {"w.yaml": crd(root(**_parts(values, values)))})
    asked = ("check", "--base", "HEAD~1")
    (section,) = run(*asked, "--format", "json", cwd=repo).report["sections"]
    ids = [each["id"] for each in section["findings"]]
    steps = run(*asked, cwd=repo).out
    assert len(ids) == 2 and all(name in steps for name in ids)
    releases = ("--accepted-from", "release-1.2", "--written-from", "release-1.3")
    ran = run("waive", *ids, "--growth", *asked[1:], *releases, "--reason", "two steps", cwd=repo)
    assert ran.code == 0, ran.err
    declared = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["growth"]
    assert [each["path"] for each in declared] == ["status.parts[*]", "spec.parts[*]"]

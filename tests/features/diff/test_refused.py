"""A CRD that no server takes: diff and check compare it as far as it goes, and say what the server says, and where."""

from __future__ import annotations

import subprocess
from pathlib import Path

from helpers import Json, both, commit, crd, diff, git, obj, remarks, root, run, string, write

_REFUSES = "the API server refuses this CRD: "
_HANDLED = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
_MISFIT = (
    f"{_REFUSES}{_HANDLED}json: cannot unmarshal string into Go struct field "
    "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.maximum of type float64"
)
_TYPELESS = (
    f"{_REFUSES}spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Required value: "
    "must not be empty for specified object fields"
)


def _number(maximum: object, *phases: str) -> Json:
    return root(spec=obj(a={"type": "integer", "maximum": maximum}), status=obj(p=string(*phases)))


def _line(file: Path, text: str) -> int:
    (found,) = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    return found


def test_diff_says_what_the_server_says_and_goes_on(tmp_path: Path) -> None:
    old, new = both(tmp_path, _number(5, "A"), _number("ten", "A", "B"))
    report = diff(old, new)
    assert remarks(report) == [("widget.yaml", _line(new / "widget.yaml", ": ten"), "new", _MISFIT)]
    assert "enum-value-added" in {finding["rule"] for finding in report["findings"]}
    assert report["summary"]["problems"] == []
    ran = run("diff", old, new)
    assert ran.code == run("diff", *both(tmp_path / "good", _number(5, "A"), _number(6, "A", "B"))).code == 1
    assert f"  widget.yaml:{_line(new / 'widget.yaml', ': ten')}: {_MISFIT}\n" in ran.out


def test_judge_and_simulate_refuse_the_same(tmp_path: Path) -> None:
    file = write(tmp_path / "w.yaml", crd(_number("ten")))
    held = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    ran = run("judge", file, write(tmp_path / "object.yaml", held))
    assert (ran.code, _MISFIT in ran.err) == (2, True)


def test_where_nothing_changed_nothing_is_said(tmp_path: Path) -> None:
    same = root(spec=obj(a={}))
    assert remarks(diff(*both(tmp_path, same, same))) == []
    old, new = both(tmp_path / "changed", same, root(spec=obj(a={}, b=string())))
    # What stands behind a `type` that is missing is the map that lacks it.
    assert remarks(diff(old, new)) == [
        ("widget.yaml", _line(side / "widget.yaml", " a: "), side.name, _TYPELESS) for side in (new, old)
    ]


def test_every_copy_and_item_of_a_list_has_its_line(tmp_path: Path) -> None:
    for name, maximum in (("old", 5), ("new", "ten")):
        bad = crd(_number(maximum), kind="Gadget")
        write(tmp_path / name / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": [crd(_number(1)), bad]})
        write(tmp_path / name / "copy.yaml", bad)
    new = tmp_path / "new"
    assert remarks(diff(tmp_path / "old", new)) == [
        (name, _line(new / name, ": ten"), "new", _MISFIT) for name in ("copy.yaml", "list.yaml")
    ]


def test_only_what_is_compared(tmp_path: Path) -> None:
    for name, maximum in (("old", 5), ("new", "ten")):
        write(tmp_path / name / "w.yaml", crd(_number(maximum)))
        write(tmp_path / name / "g.yaml", crd(_number(maximum), kind="Gadget"))
    report = diff(tmp_path / "old", tmp_path / "new", "--crd", "gadgets.example.com")
    assert [file for file, *_ in remarks(report)] == ["g.yaml"]


def test_check_says_so_too(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    commit(tmp_path, {"w.yaml": crd(_number(5)), "other.yaml": crd(root(spec=obj(a={})), kind="Other")})
    write(tmp_path / "w.yaml", crd(_number("ten")))
    git(tmp_path, "add", "-A")
    ran = run("check", "--base", "HEAD", "--format", "json", cwd=tmp_path)
    assert ran.code == 0
    (section,) = ran.report["sections"]
    assert remarks(section) == [("w.yaml", _line(tmp_path / "w.yaml", ": ten"), "new", _MISFIT)]

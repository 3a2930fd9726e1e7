"""Changes of one type that several CRDs embed are one entry: a heading with count and examples, the rest folded."""

from __future__ import annotations

import re
from pathlib import Path

from helpers import Json, both, crd, obj, root, run, string, write

_KINDS = ("Widget", "Gadget", "Gizmo", "Doodad", "Thing")
_HEADING = re.compile(r"error: one cause, 20 findings: status\.state of 5 CRDs: (\S+), (\S+), (\S+) and 2 more")


def _sides(top: Path) -> tuple[Path, Path]:
    old, new = top / "r1", top / "r2"
    for folder, values, most in ((old, "A", 5), (new, "AB", 9)):
        state = obj(a=string(*values), b=string(*values, "C"), c=string(maxLength=most), d=string(maxLength=most))
        for kind in _KINDS:
            schema = root(status=obj(state=state), spec=obj())
            write(folder / f"{kind}.yaml", crd(schema, kind=kind))
    return old, new


def test_one_heading_for_all(tmp_path: Path) -> None:
    ran = run("diff", *_sides(tmp_path), "--direction", "rollback")
    lines = " ".join(ran.out.split())
    assert len(_HEADING.findall(lines)) == 1
    assert ran.out.count("error[enum-value-added] ") == 1  # siblings that changed alike share a block
    assert "same change in" not in ran.out
    assert "rollback: 10 errors, 10 warnings, 0 info" in ran.out


def test_all_with_v(tmp_path: Path) -> None:
    text = run("diff", *_sides(tmp_path), "--direction", "rollback", "-v").out
    for kind in _KINDS:
        assert f"{kind.lower()}s.example.com/v1 status.state.a" in text


def test_a_comment_folds_the_places(tmp_path: Path) -> None:
    text = run("diff", *_sides(tmp_path), "--direction", "rollback", "--format", "markdown").out
    assert text.count("<summary><code>one cause, 20 findings: status.state of 5 CRDs: ") == 1
    assert "<summary>the other places: 16</summary>" in text
    rows = [line for line in text.splitlines() if line.startswith(("| error | ", "| warning | "))]
    assert len(rows) == 1 and "2 changes, such as " in rows[0]


def test_a_page_has_the_heading_before_its_items(tmp_path: Path) -> None:
    text = run("diff", *_sides(tmp_path), "--direction", "rollback", "--format", "html").out
    assert text.count('<p class="cause">One cause, ') == 2  # errors, and warnings


def test_json_stays_complete_and_has_a_key_for_each_group(tmp_path: Path) -> None:
    found = run("diff", *_sides(tmp_path), "--direction", "rollback", "--format", "json").report["findings"]
    assert len(found) == 20
    assert len({each["group"] for each in found}) == 4
    assert all(any(other["id"] == each["group"] for other in found) for each in found)


def test_few_places_have_no_heading(tmp_path: Path) -> None:
    schemas: list[Json] = [root(status=obj(a=string(*values), b=string(*values, "C"))) for values in ("A", "AB")]
    assert "one cause" not in run("diff", *both(tmp_path, *schemas)).out


def test_errors_come_before_warnings(tmp_path: Path) -> None:
    """Also where the first CRD has both."""
    old, new = tmp_path / "r1", tmp_path / "r2"
    for folder, values in ((old, "A"), (new, "AB")):
        write(folder / "a.yaml", crd(root(spec=obj(m=string(*values)), status=obj(p=string(*values))), kind="Aa"))
        write(folder / "b.yaml", crd(root(status=obj(q=string(*values, "Z"))), kind="Bb"))
    text = run("diff", old, new).out
    heads = re.findall(r"^(error|warning)\[", text, re.MULTILINE)
    assert heads == ["error", "error", "warning"]


def test_the_verdict_names_all_that_blocks(tmp_path: Path) -> None:
    old, new = tmp_path / "r1", tmp_path / "r2"
    for folder, values in ((old, "A"), (new, "AB")):
        for letter in "abcdef":
            write(
                folder / f"{letter}.yaml", crd(root(status=obj(**{letter: string(*values, letter)})), kind=letter * 2)
            )
    text = run("diff", old, new).out
    assert "  and 2 more: ee status.e, ff status.f\n" in text

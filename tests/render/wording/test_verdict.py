"""The verdict: what blocks a move, each cause once."""

from __future__ import annotations

from pathlib import Path

from helpers import crd, obj, root, run, string, write


def test_kinds_that_fail_in_the_same_words_share_a_line(tmp_path: Path) -> None:
    kinds = ("Widget", "Gadget", "Gizmo", "Part")
    for side, left in (("old", kinds), ("new", kinds[:1])):
        for kind in left:
            write(tmp_path / side / f"{kind}.yaml", crd(root(spec=obj(a=string())), kind=kind))
    lines = run("diff", tmp_path / "old", tmp_path / "new").out.splitlines()
    at = lines.index("old -> new: BLOCKED")
    assert lines[at + 1 : at + 3] == [
        "  Gadget, Gizmo, Part  the CRD",
        "    new no longer ships the CRD: upgraded clusters lose the API, or keep it without a controller",
    ]
    assert lines[at + 3].startswith("rollback: ")

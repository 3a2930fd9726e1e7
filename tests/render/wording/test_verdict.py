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


def test_rules_are_no_values(tmp_path: Path) -> None:
    """What a rule refuses is an update that breaks the rule, not the text of the rule."""
    for side, rule in (("old", "self == oldSelf || oldSelf == 'a'"), ("new", "self == oldSelf")):
        mode = {**string(), "x-kubernetes-validations": [{"rule": rule}]}
        write(tmp_path / side / "w.yaml", crd(root(spec=obj(mode=mode))))
    lines = run("diff", tmp_path / "old", tmp_path / "new").out.splitlines()
    at = lines.index("old -> new: BLOCKED")
    assert lines[at + 1 : at + 3] == [
        "  Widget  spec.mode",
        "    new rejects updates of a Widget that break its rules",
    ]

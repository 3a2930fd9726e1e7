"""diff --suggest-patch: what it suggests applies with git, and the findings are gone after it."""

from __future__ import annotations

import copy
import re
from pathlib import Path

from helpers import Json, apply_patch, array, both, crd, diff, obj, root, run, string, write


def _left(old: Path, new: str | Path, **options: Path) -> set[tuple[str, str, str]]:
    report = diff(f"path:{old}", new, "--direction", "rollback", **options)
    return {(f["rule"], f["crd"], f["path"]) for f in report["findings"]}


def test_small_ones(tmp_path: Path) -> None:
    cases: dict[str, tuple[Json, Json]] = {
        "enum": (string("A"), string("A", "B")),
        "quoted": (string("A"), string("A", "yes", "")),
        "length": (string(maxLength=3), string(maxLength=8)),
        "bounds": ({"type": "integer", "maximum": 5}, {"type": "integer", "maximum": 9}),
        "items": (array(string(), maxItems=2), array(string(), maxItems=4)),
        "nullable": (array(string()), array(string(nullable=True))),
        "pattern": (string(pattern="^a+$"), string(pattern="^[ab]+$")),
        "below": (array(string("A")), array(string("A", "B"))),
    }
    for name, (before, after) in cases.items():
        at = tmp_path / name
        sides = both(at, root(spec=obj(v=before)), root(spec=obj(v=after)))
        assert _left(sides[0], f"path:{sides[1]}"), name
        patch = run("diff", "old", "new", "--suggest-patch", cwd=at)
        apply_patch(patch.out, at / "old")
        assert _left(sides[0], f"path:{sides[1]}") == set(), (name, patch.out)


def test_nothing_to_widen(tmp_path: Path) -> None:
    sides = both(tmp_path, root(spec=obj(v=string("A", "B"))), root(spec=obj(v=string("A"))))
    ran = run("diff", *sides, "--suggest-patch")
    assert ran.out == ""


def test_no_schema_makes_up_for_a_change_of_the_crd(tmp_path: Path) -> None:
    """OLD's scale subresource rejects what NEW's objects hold: the patch widens schemas, and there is none to widen."""
    number = {"type": "integer"}
    new = crd(root(spec=obj(replicas=number), status=obj(replicas=number)))
    old = copy.deepcopy(new)
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    old["spec"]["versions"][0]["subresources"] = {"status": {}, "scale": paths}
    new["spec"]["versions"][0]["subresources"] = {"status": {}}
    sides = both(tmp_path, old, new)
    (rejected,) = (f for f in diff(*sides)["findings"] if f["effect"] == "write-rejected")
    assert (rejected["rule"], rejected["direction"]) == ("subresource-scale-removed", "rollback")
    ran = run("diff", *sides, "--suggest-patch")
    assert (ran.out, ran.err) == ("", "")


def test_a_factor_leaves_the_bounds_alone(tmp_path: Path) -> None:
    """Each finding widens its own keyword: a bound that NEW tightened stays as it is in OLD."""
    before, after = ({"type": "integer", "multipleOf": n, "maximum": most} for n, most in ((4, 100), (2, 50)))
    sides = both(tmp_path, root(spec=obj(v=before)), root(spec=obj(v=after)))
    patch = run("diff", *sides, "--suggest-patch").out
    assert [line.strip("- ") for line in patch.splitlines() if re.match(r"-\s", line)] == ["multipleOf: 4"]


def test_the_file_keeps_its_style(tmp_path: Path) -> None:
    """Comments, indentation and the order of lines stay; one line comes."""
    text = """\
        # kept by hand
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: widgets.example.com}
        spec:
            group: example.com
            names: {kind: Widget, plural: widgets}
            scope: Namespaced
            versions:
            -   name: v1
                served: true
                storage: true
                schema:
                    openAPIV3Schema:
                        type: object
                        properties:
                            spec:
                                type: object
                                properties:
                                    mode:
                                        # the modes
                                        enum:
                                        - A   # first
                                        type: string
        """
    lines = [line.removeprefix("        ") for line in text.splitlines()]
    old = write(tmp_path / "old.yaml", "\n".join(lines) + "\n")
    write(tmp_path / "new.yaml", old.read_text(encoding="utf-8").replace("- A   # first", "- A\n" + " " * 32 + "- B"))
    patch = run("diff", "old.yaml", "new.yaml", "--suggest-patch", cwd=tmp_path).out
    changed = [line for line in patch.splitlines() if re.match(r"[+-](?![+-])", line)]
    assert changed == ["+" + " " * 32 + "- B"]
    apply_patch(patch, tmp_path)
    assert "# first" in old.read_text(encoding="utf-8")
    assert _left(old, f"path:{tmp_path / 'new.yaml'}") == set()

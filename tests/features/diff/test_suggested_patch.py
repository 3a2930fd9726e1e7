"""diff --suggest-patch: what it suggests applies with git, and the findings are gone after it."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest
from helpers import Json, apply_patch, array, both, crd, diff, load_yaml, obj, root, run, string, write


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
        "a rule that lists": (
            string() | {"x-kubernetes-validations": [{"rule": "self in ['A']"}]},
            string() | {"x-kubernetes-validations": [{"rule": "self in ['A', 'B']"}]},
        ),
    }
    for name, (before, after) in cases.items():
        at = tmp_path / name
        sides = both(at, root(spec=obj(v=before)), root(spec=obj(v=after)))
        assert _left(sides[0], f"path:{sides[1]}"), name
        patch = run("diff", "old", "new", "--suggest-patch", cwd=at)
        apply_patch(patch.out, at / "old")
        assert _left(sides[0], f"path:{sides[1]}") == set(), (name, patch.out)


@pytest.mark.parametrize("name", ["w.json", "w.yaml"])
def test_a_file_without_a_newline_at_its_end(tmp_path: Path, name: str) -> None:
    for side, values in (("old", "A"), ("new", "AB")):
        file = write(tmp_path / side / name, crd(root(spec=obj(v=string(*values)))))
        file.write_text(file.read_text().rstrip("\n"))
    patch = run("diff", "old", "new", "--suggest-patch", cwd=tmp_path)
    apply_patch(patch.out, tmp_path / "old")
    assert _left(tmp_path / "old", f"path:{tmp_path / 'new'}") == set()


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


def _patched(top: Path, before: Json, after: Json) -> tuple[str, Json, Path, Path]:
    """The patch, the schema of ``spec.v`` in OLD after it, and both sides."""
    sides = both(top, root(spec=obj(v=before)), root(spec=obj(v=after)))
    patch = run("diff", "old", "new", "--suggest-patch", cwd=top).out
    if "--- a/" in patch:
        apply_patch(patch, top / "old")
    (file,) = (path for path in sides[0].rglob("*") if path.is_file())
    schema = load_yaml(file.read_text())["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return patch, schema["properties"]["spec"]["properties"]["v"], *sides


_RULE = "self.startsWith('x-') || self.size() > 3"
_EITHER: dict[str, tuple[Json, Json, Json]] = {
    "patterns of which none holds the other": (
        string(pattern="^a+$"),
        string(pattern="^b+$"),
        string(pattern="(^a+$)|(^b+$)"),
    ),
    "limits, each the looser one": (
        string(minLength=2, maxLength=5),
        string(minLength=3, maxLength=9),
        string(minLength=2, maxLength=9),
    ),
    "a pattern that became a rule": (
        string(pattern="^a+$", maxLength=9),
        string(maxLength=9) | {"x-kubernetes-validations": [{"rule": _RULE}]},
        string(maxLength=9) | {"x-kubernetes-validations": [{"rule": f'self.matches("^a+$") || ({_RULE})'}]},
    ),
    "rules of which none follows from the other": (
        string(maxLength=9) | {"x-kubernetes-validations": [{"rule": "self.size() > 2", "message": "longer"}]},
        string(maxLength=9) | {"x-kubernetes-validations": [{"rule": "self.size() < 4"}]},
        string(maxLength=9)
        | {"x-kubernetes-validations": [{"rule": "(self.size() > 2) || (self.size() < 4)", "message": "longer"}]},
    ),
    "conditions": (
        string() | {"anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
        string() | {"oneOf": [{"pattern": "^c"}, {"pattern": "^d"}]},
        string()
        | {
            "anyOf": [
                {"anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
                {"oneOf": [{"pattern": "^c"}, {"pattern": "^d"}]},
            ]
        },
    ),
    "factors beside a condition": (
        {"type": "integer", "multipleOf": 4, "anyOf": [{"maximum": 100}, {"minimum": 200}]},
        {"type": "integer", "multipleOf": 6, "anyOf": [{"maximum": 100}, {"minimum": 200}]},
        {
            "type": "integer",
            "anyOf": [{"maximum": 100}, {"minimum": 200}],
            "allOf": [{"anyOf": [{"multipleOf": 4}, {"multipleOf": 6}]}],
        },
    ),
}


@pytest.mark.parametrize("name", _EITHER)
def test_what_either_side_accepts_and_nothing_else(tmp_path: Path, name: str) -> None:
    before, after, joined = _EITHER[name]
    patch, schema, *sides = _patched(tmp_path, before, after)
    assert schema == joined, patch
    report = diff(*sides)
    assert {f["direction"] for f in report["findings"]} <= {"upgrade"}


def test_what_no_schema_can_join_is_named(tmp_path: Path) -> None:
    """OLD's condition became a rule: dropping it would let OLD accept what NEW refuses."""
    before = string(maxLength=9) | {"anyOf": [{"pattern": "^a"}, {"pattern": "^bb"}]}
    after = string(maxLength=9) | {"x-kubernetes-validations": [{"rule": "self.startsWith('c')"}]}
    patch, schema, *_ = _patched(tmp_path, before, after)
    (line,) = patch.splitlines()
    assert line == (
        "# widget.yaml: Widget (v1) spec.v has no widening that accepts only what OLD or NEW accepts: widen it by hand"
    )
    assert schema == before


@pytest.mark.parametrize("sizes", [(4, 9), (9, 4)])
def test_no_manifest_of_old_is_widened_for_one_variant_of_new_alone(tmp_path: Path, sizes: tuple[int, int]) -> None:
    """The larger of two limits serves both variants, and one of them refuses it: in whichever order they are found."""
    fixed, sets = {"type": "object", "additionalProperties": string()}, ("Default", "TechPreviewNoUpgrade")
    both_sets = {_SETS: ",".join(sets)}
    write(tmp_path / "old/w.yaml", crd(root(spec=obj(v=fixed | {"maxProperties": 2})), annotations=both_sets))
    for name, most in zip(sets, sizes, strict=True):
        variant = crd(root(spec=obj(v=fixed | {"maxProperties": most})), annotations={_SETS: name})
        write(tmp_path / "new" / f"{name}.yaml", variant)
    patch = run("diff", "old", "new", "--suggest-patch", cwd=tmp_path).out
    assert patch == (
        "# w.yaml: Widget (v1) spec.v has no widening that accepts only what OLD or NEW accepts: widen it by hand\n"
    )


_SETS = "release.openshift.io/feature-set"
_FLOW = """\
# kept
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
        spec: {type: object, properties: {
          a: {type: string, enum: [A, B]},   # first
          b: {type: integer, maximum: 5, exclusiveMaximum: true},
          c: {maxLength: 3, type: string},
          d: {type: array, items: {type: string}},
          e: {type: object, required: [x, z], properties: {x: {type: string}, z: {type: string}}},
          f: {type: string, pattern: "^a+$"}}}}}}}
"""
_FLOW_STEPS = {
    "enum: [A, B]": "enum: [A, B, C D]",
    "maximum: 5": "maximum: 9",
    "{maxLength: 3, type": "{type",
    "items: {type: string": "items: {nullable: true, type: string",
    "[x, z]": "[x]",
    '"^a+$"': '"^[ab]+$"',
}


def test_a_map_in_braces_keeps_its_style(tmp_path: Path) -> None:
    """Only the characters of a value change, in YAML's flow style and in JSON on one line."""
    old, new = write(tmp_path / "old.yaml", _FLOW), _FLOW
    for before, after in _FLOW_STEPS.items():
        new = new.replace(before, after)
    write(tmp_path / "new.yaml", new)
    apply_patch(run("diff", "old.yaml", "new.yaml", "--suggest-patch", cwd=tmp_path).out, tmp_path)
    assert old.read_text(encoding="utf-8") == new
    sides = [json.dumps(load_yaml(each)) for each in (_FLOW, new)]
    for name, text in zip(("o.json", "n.json"), sides, strict=True):
        write(tmp_path / name, text)
    apply_patch(run("diff", "o.json", "n.json", "--suggest-patch", cwd=tmp_path).out, tmp_path)
    assert (tmp_path / "o.json").read_text(encoding="utf-8") == sides[1]


def test_a_crd_in_a_list(tmp_path: Path) -> None:
    for side, most in (("old", 3), ("new", 5)):
        items = [crd(root(spec=obj(v=string(maxLength=most))))]
        write(tmp_path / side / "l.yaml", {"apiVersion": "v1", "kind": "List", "items": items})
    patch = run("diff", "old", "new", "--suggest-patch", cwd=tmp_path).out
    apply_patch(patch, tmp_path / "old")
    assert load_yaml((tmp_path / "old/l.yaml").read_text()) == load_yaml((tmp_path / "new/l.yaml").read_text()), patch


def test_each_bound_is_the_looser_one(tmp_path: Path) -> None:
    before, after, joined = (
        {"type": "integer", "minimum": low, "maximum": high, "exclusiveMaximum": flag}
        for low, high, flag in ((2, 5, True), (3, 9, False), (2, 9, False))
    )
    patch, schema, *_ = _patched(tmp_path, before, after)
    assert schema == joined, patch


def test_a_member_that_old_prunes_breaks_no_upper_limit(tmp_path: Path) -> None:
    """The patch needs nothing by hand: what OLD does not know counts in no object of OLD."""
    members = {"type": "object", "properties": {"a": string(), "b": string()}}
    after = {"type": "object", "maxProperties": 3, "properties": {**members["properties"], "c": string()}}
    patch, schema, *_ = _patched(tmp_path, members | {"maxProperties": 1}, after)
    assert (schema, "#" in patch) == (members | {"maxProperties": 3}, False), patch

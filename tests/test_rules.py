"""The rule catalogue: shape, executable examples, messages, and that every kind of change has its rule."""

from __future__ import annotations

import string as text
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helpers import Json, crd, diff, load_yaml, prove, run, select, write

from crdcompat.compare.facets import all_facets
from crdcompat.data import data_dir
from crdcompat.policy.rules import catalogue, rule_for

RULES = {path.stem: load_yaml(path.read_bytes()) for path in sorted(data_dir("rules").glob("*.yaml"))}
EXAMPLES = [
    pytest.param(name, example, id=f"{name}: {example['title']}")
    for name, rule in RULES.items()
    for example in rule.get("examples", ())
]

_SENTENCE = {"type": "string", "minLength": 10, "pattern": r"^[A-Z{].*[^.\s]$"}
SHAPE: Json = {
    "type": "object",
    "required": ["id", "change", "title", "summary", "message", "why", "fix", "references", "examples"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z]+(-[a-z0-9]+)+$"},
        "change": {"type": "string", "pattern": r"^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$"},
        "title": {"type": "string", "minLength": 5, "maxLength": 60, "pattern": r"^[A-Z].*[^.]$"},
        "summary": {"type": "string", "minLength": 10, "maxLength": 120, "pattern": r"^[A-Z].*\.$"},
        "message": {
            "type": "object",
            "required": ["rollback", "upgrade"],
            "additionalProperties": _SENTENCE,
        },
        "severity": {
            "type": "object",
            "propertyNames": {"enum": ["rollback", "upgrade"]},
            "additionalProperties": {"enum": ["error", "warning", "info"]},
        },
        "why": {"type": "string", "minLength": 100},
        "fix": {"type": "string", "pattern": "^- ", "minLength": 50},
        "references": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 5}},
        "examples": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["title", "direction", "old", "new", "finding"],
                "properties": {
                    "title": {"type": "string", "minLength": 5},
                    "direction": {"enum": ["rollback", "upgrade"]},
                    "old": {"type": "object"},
                    "new": {"type": "object"},
                    "finding": {
                        "type": "object",
                        "required": ["path", "effect", "severity"],
                        "additionalProperties": False,
                        "properties": {
                            "path": {"type": "string"},
                            "effect": {
                                "enum": [
                                    "crd-rejected", "write-rejected", "request-failed",
                                    "value-pruned", "value-defaulted",
                                ]
                            },
                            "severity": {"enum": ["error", "warning", "info"]},
                            "added": {"type": "array"},
                            "removed": {"type": "array"},
                            "errors": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                            "pruned": {"type": "array", "items": {"type": "string"}},
                            "defaulted": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
            },
        },
    },
}  # fmt: skip
_FIELDS = {"path", "added", "removed", "reader", "writer", "old", "new", "kind", "default"}


def test_there_are_rules() -> None:
    assert {"enum-value-added", "enum-value-removed", "enum-introduced", "enum-dropped"} <= RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_shape(name: str) -> None:
    for error in jsonschema.Draft202012Validator(SHAPE).iter_errors(RULES[name]):
        raise AssertionError(f"{name}{error.json_path[1:]}: {error.message}")
    assert RULES[name]["id"] == name, "the file has the rule's name"
    assert RULES[name]["change"].replace(".", "-") == name, "the rule's name says the change"


def test_every_change_of_every_facet_has_its_rule() -> None:
    changes = [rule["change"] for rule in RULES.values()]
    assert len(changes) == len(set(changes))
    kinds = {kind for facet in all_facets() for kind in facet.EFFECTS}
    assert kinds <= set(changes), "a change without a rule"
    for kind in kinds:
        assert rule_for(kind).change == kind
    # CRD-level changes have no facet; what no facet yields must at least not be of a facet's family.
    families = {kind.partition(".")[0] for kind in kinds}
    assert not {change for change in set(changes) - kinds if change.partition(".")[0] in families}, "a rule for nothing"


@pytest.mark.parametrize("name", RULES)
def test_messages_format(name: str) -> None:
    values = {field: f"<{field}>" for field in _FIELDS}
    for direction, template in RULES[name]["message"].items():
        used = {field for _, field, _, _ in text.Formatter().parse(template) if field is not None}
        assert used <= _FIELDS, (direction, used)
        assert "path" in used or "kind" in used
        assert "{" not in template.format(**values)


@pytest.mark.parametrize("name", RULES)
def test_effects_are_told_in_the_messages_of_their_direction(name: str) -> None:
    """Where a direction has an effect that the policy may raise, its sentence says what happens, not just what is."""
    effects = next((f.EFFECTS[RULES[name]["change"]] for f in all_facets() if RULES[name]["change"] in f.EFFECTS), None)
    for direction, template in RULES[name]["message"].items():
        if effects is not None and effects.towards(direction) == "write-rejected":
            assert "reject" in template


def _wrapped(schema: Json) -> Json:
    properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return crd({**schema, "properties": {**properties, **schema.get("properties", {})}})


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples(tmp_path: Path, name: str, example: Json) -> None:
    """The finding comes out exactly, and no other in that direction."""
    old, new = (_wrapped(example[side]) for side in ("old", "new"))
    report = diff(write(tmp_path / "old.yaml", old), write(tmp_path / "new.yaml", new))
    (finding,) = select(report, direction=example["direction"])
    expected: dict[str, Any] = {"added": [], "removed": [], **example["finding"]}
    shown = {**finding, **{key: finding["witness"][key] for key in ("errors", "pruned", "defaulted")}}
    if "errors" not in expected:
        expected["errors"] = []
    assert {key: shown[key] for key in expected} == expected
    assert finding["rule"] == name
    assert finding["change"] == RULES[name]["change"]
    if finding["effect"] in ("write-rejected", "value-pruned", "value-defaulted") and finding["rule"].startswith(
        ("enum-", "property-")
    ):
        prove(finding, old, new)


@pytest.mark.parametrize("name", RULES)
def test_each_direction_with_an_effect_has_an_example(name: str) -> None:
    effects = next((f.EFFECTS[RULES[name]["change"]] for f in all_facets() if RULES[name]["change"] in f.EFFECTS), None)
    if effects is None:
        pytest.skip("a CRD-level change")
    shown = {(example["direction"], example["finding"]["effect"]) for example in RULES[name]["examples"]}
    for direction in ("rollback", "upgrade"):
        if effects.towards(direction) != "none":
            assert (direction, effects.towards(direction)) in shown


def test_the_commands_show_them() -> None:
    listed = run("rules")
    assert listed.code == 0
    for name, rule in RULES.items():
        assert f"{name} " in listed.out
        told = run("explain", name)
        assert told.code == 0
        for part in (rule["title"], "Why it matters", "What to do", "Example: "):
            assert part in told.out
        for line in (*rule["why"].splitlines(), *rule["fix"].splitlines(), *rule["references"]):
            assert line.strip() in told.out
        for example in rule["examples"]:
            for error in example["finding"].get("errors", ()):
                assert error in told.out


def test_rules_as_json() -> None:
    import json

    listed = json.loads(run("rules", "--format", "json").out)
    assert [rule["id"] for rule in listed] == sorted(RULES)
    assert list(catalogue()) == sorted(RULES)


@pytest.mark.parametrize(("asked", "near"), [("enum-value-add", "enum-value-added"), ("enum_dropped", "enum-dropped")])
def test_a_rule_that_there_is_not(asked: str, near: str) -> None:
    for command in (("explain", asked), ("diff", "a", "b", "--select", asked), ("diff", "a", "b", "--ignore", asked)):
        ran = run(*command)
        assert ran.code == 2
        assert f"did you mean {near}?" in ran.err

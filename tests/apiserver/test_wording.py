"""Sentences are made last and never read back: other words change no finding and no verdict."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, diff, obj, root, run, string, write

import crdcompat
from crdcompat.apiserver import wording

_PACKAGE = Path(crdcompat.__file__).parent
_LITERAL = re.compile(r"(\{\w*\})")

#: Each member is another keyword that one side demands and the other does not.
STRICT = obj(
    enum=string("A", "B"),
    pattern=string(pattern="^[a-c]+$"),
    shortest=string(minLength=3),
    longest=string(maxLength=3),
    format=string(format="ipv4"),
    least={"type": "integer", "minimum": 3},
    most={"type": "integer", "maximum": 3},
    above={"type": "integer", "minimum": 3, "exclusiveMinimum": True},
    below={"type": "integer", "maximum": 3, "exclusiveMaximum": True},
    multiple={"type": "integer", "multipleOf": 3},
    bits={"type": "integer", "format": "int32"},
    few=array(string(), maxItems=1),
    many=array(string(), minItems=1),
    fewMembers={"type": "object", "additionalProperties": string(), "maxProperties": 1},
    manyMembers={"type": "object", "additionalProperties": string(), "minProperties": 1},
    distinct=array(string(), **{"x-kubernetes-list-type": "set"}),
    needed={**obj(a=string()), "required": ["a"]},
    type={"type": "integer"},
    anyOf={**obj(a=string(), b=string()), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    oneOf={**obj(a=string(), b=string()), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    allOf={**obj(a=string(), b=string()), "allOf": [{"required": ["a"]}]},
    none={**obj(a=string(), b=string()), "not": {"required": ["a"]}},
    rule={**obj(n={"type": "integer"}), "x-kubernetes-validations": [{"rule": "self.n < 5"}]},
    inMap={
        "type": "object",
        "additionalProperties": {
            **obj(n={"type": "integer"}),
            "x-kubernetes-validations": [{"rule": "self.n < 5", "fieldPath": ".n", "reason": "FieldValueForbidden"}],
        },
    },
)


def _without(schema: Any) -> Any:
    """The same shape with nothing demanded."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: schema[key] for key in ("type", "additionalProperties", "items") if key in schema}
    if "properties" in schema:
        kept["properties"] = {name: _without(member) for name, member in schema["properties"].items()}
    return {key: _without(value) if key != "properties" else value for key, value in kept.items()}


FREE = _without(STRICT)
FREE["properties"]["type"] = string()
OBJECT = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "default", "uid": "u"},
    "spec": {"enum": "C", "few": ["a", "b"], "inMap": {"k": {"n": 9}}},
    "status": {"anyOf": {}, "distinct": ["a", "a"], "format": "x", "rule": {"n": 9}, "needed": {}},
}


def _reworded(text: str) -> str:
    return "Zz " + "".join(part if part.startswith("{") else part.swapcase() for part in _LITERAL.split(text))


def _tables() -> Iterator[tuple[str, Any]]:
    """The module's sentences, by the names that hold them."""
    for name, value in vars(wording).items():
        texts = list(value.values()) if isinstance(value, dict) else [value]
        if name.strip("_").isupper() and texts and all(isinstance(text, str) for text in texts):
            yield name, value


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Every sentence of the server in other words, while the context lasts."""
    with monkeypatch.context() as patch:
        for name, value in _tables():
            if isinstance(value, str):
                patch.setattr(wording, name, _reworded(value))
            else:
                patch.setattr(wording, name, {key: _reworded(text) for key, text in value.items()})
        yield patch


def _diff(tmp_path: Path, *args: str | Path) -> Json:
    return diff(*both(tmp_path, root(spec=STRICT, status=STRICT), root(spec=FREE, status=FREE)), *args)


def _split(report: Json) -> tuple[list[Json], set[str]]:
    """The findings without the server's sentences, and these sentences."""
    texts: set[str] = set()
    for finding in report["findings"]:
        witness = finding["witness"]
        texts.update(witness.pop("errors"), [witness["reason"] or ""])
        witness["reason"] = bool(witness["reason"])
    for met in report.get("unexplained", ()):
        texts.add(met.pop("error"))
    return [*report["findings"], *report.get("unexplained", ())], texts - {""}


def test_findings_do_not_depend_on_words(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    recorded = write(tmp_path / "objects.json", OBJECT)
    args: tuple[str | Path, ...] = ("--objects", recorded, "--no-cache")  # kept answers have the words of their time
    findings, texts = _split(_diff(tmp_path, *args))
    met = {finding["path"] for finding in findings if finding.get("evidence")}
    assert {"spec.enum", "status.anyOf", "status.format", "status.needed.a"} <= met
    assert len(texts) > 40
    request.getfixturevalue("other_words")
    again, reworded = _split(_diff(tmp_path, *args))
    assert again == findings
    assert not texts & reworded


def _verdicts(report: Json) -> tuple[Any, set[str]]:
    texts: set[str] = set()
    for item in report["objects"]:
        for answer in item["writes"].values():
            answer.pop("message")
            for error in answer["errors"]:
                texts.add(error.pop("text"))
                error.pop("detail")
                # At the root the field is a word, too.
                error["field"] = error["field"].startswith("spec") or error["field"].startswith("status")
    return (report["objects"], report["summary"]["causes"]), texts - {""}


@pytest.mark.parametrize("kube", ["1.26", "1.29", "1.33", "1.36"])
def test_verdicts_do_not_depend_on_words(tmp_path: Path, kube: str, request: pytest.FixtureRequest) -> None:
    recorded = write(tmp_path / "objects.json", OBJECT)
    sides = both(tmp_path, root(spec=STRICT, status=STRICT), root(spec=FREE, status=FREE))
    args = ("simulate", *sides, "--objects", recorded, "--kube-version", kube, "--format", "json")
    verdicts, texts = _verdicts(run(*args).report)
    assert len(verdicts[1]) > 3  # from 1.30 on, servers spare unchanged values of spec
    assert len(texts) >= 5
    request.getfixturevalue("other_words")
    again, reworded = _verdicts(run(*args).report)
    assert again == verdicts
    assert not texts & reworded


#: Parts of sentences that stand in no other place than the module that words them.
PHRASES = (
    "Invalid value", "Unsupported value", "Required value", "Duplicate value", "Too long", "Too many",
    "in body", "should match", "should be at", "should have at", "must validate", "must not validate",
    "supported values", "forbidden property", "failed rule", "rules were not checked", "valid alternatives",
)  # fmt: skip


def _constants(file: Path) -> Iterator[str]:
    """The text constants of a module, docstrings apart."""
    tree = ast.parse(file.read_text("utf-8"))
    reported = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in reported:
            yield node.value


def test_one_module_knows_the_phrases() -> None:
    home = Path(wording.__file__)
    assert not [phrase for phrase in PHRASES if not any(phrase in text for text in _constants(home))]
    found = [
        (file.relative_to(_PACKAGE), text)
        for file in sorted(_PACKAGE.rglob("*.py"))
        for text in _constants(file)
        if file != home and any(phrase in text for phrase in PHRASES)
    ]
    assert found == []


def test_nobody_reads_a_sentence() -> None:
    """Details are read by what writes them into JSON or a report, and by what leaves equal errors out."""
    readers = {
        str(file.relative_to(_PACKAGE))
        for file in _PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("detail", "words") and file.parent.name != "apiserver"
    }
    assert readers == {
        "apiserver/crd_validation/answer.py",
        "apiserver/crd_validation/refusal.py",
        "apiserver/supported/causes.py",
        "compare/refused.py",
        "features/simulate/simulate_workflow.py",
    }

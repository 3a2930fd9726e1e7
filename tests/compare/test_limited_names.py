"""Limits on the type and the name of objects, and of embedded ones: servers know these without a declaration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, both, brief, crd, diff, obj, prove, string

_SPEC = obj(mode=string())
UNDECLARED = [obj(spec=_SPEC), obj(spec=_SPEC, metadata={"type": "object"})]


def _limiting(**limit: Any) -> Json:
    return obj(spec=_SPEC, metadata=obj(name={"type": "string", **limit}))


@pytest.mark.parametrize("free", UNDECLARED, ids=["no metadata", "no name"])
@pytest.mark.parametrize(
    ("limit", "loosened", "tightened"),
    [
        ({"maxLength": 10}, "length-loosened", "length-tightened"),
        ({"pattern": "^[a-z]+$"}, "pattern-widened", "pattern-narrowed"),
        ({"enum": ["cluster"]}, "enum-dropped", "enum-introduced"),
        ({"anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]}, "junctor-changed", "junctor-changed"),
    ],
    ids=["length", "pattern", "enum", "junctor"],
)
def test_a_limit_comes_or_goes(tmp_path: Path, free: Json, limit: Json, loosened: str, tightened: str) -> None:
    limited = _limiting(**limit)
    for (old, new), direction, rule in [
        ((limited, free), "rollback", loosened),
        ((free, limited), "upgrade", tightened),
    ]:
        report = diff(*both(tmp_path, old, new))
        assert [(*brief(finding)[:3], finding["path"]) for finding in report["findings"]] == [
            (direction, "warning", rule, "metadata.name")
        ]
        prove(report["findings"][0], crd(old), crd(new))


def test_a_declaration_without_a_limit_changes_nothing(tmp_path: Path) -> None:
    for free in UNDECLARED:
        report = diff(*both(tmp_path, free, _limiting()))
        assert (report["findings"], report["without_effect"], report["undecided"]) == ([], [], [])


@pytest.mark.parametrize("limited", [{"kind": string("Gadget")}, {"apiVersion": {"type": "string", "maxLength": 2}}])
def test_a_limit_that_no_object_meets(tmp_path: Path, limited: Json) -> None:
    old, new = obj(spec=_SPEC), obj(spec=_SPEC, **limited)
    report = diff(*both(tmp_path, old, new))
    (path,) = limited
    assert [(finding["direction"], finding["severity"], finding["path"]) for finding in report["findings"]] == [
        ("upgrade", "warning", path)
    ]
    prove(report["findings"][0], crd(old), crd(new))


def test_a_limit_that_each_object_meets(tmp_path: Path) -> None:
    report = diff(*both(tmp_path, obj(spec=_SPEC), obj(spec=_SPEC, kind=string("Widget"))))
    assert (report["findings"], report["undecided"]) == ([], [])


def _embedding(preserves: bool, **declared: Json) -> Json:
    keeps = {"x-kubernetes-preserve-unknown-fields": True} if preserves else {}
    resource = {**obj(spec=_SPEC, **declared), "x-kubernetes-embedded-resource": True, **keeps}
    return obj(spec=obj(template=resource))


_PREFIX = "spec.template."
_RULE = {"x-kubernetes-validations": [{"rule": "has(self.name)"}]}


@pytest.mark.parametrize("preserves", [False, True], ids=["pruned", "preserved"])
@pytest.mark.parametrize(
    ("limited", "path", "loosened", "tightened"),
    [
        ({"kind": string("Gadget")}, "kind", "enum-dropped", "enum-introduced"),
        ({"apiVersion": {**string(), "maxLength": 2}}, "apiVersion", "length-loosened", "length-tightened"),
        (
            {"metadata": obj(name={**string(), "maxLength": 9})},
            "metadata.name",
            "length-loosened",
            "length-tightened",
        ),
        (
            {"metadata": obj(labels={"type": "object", "additionalProperties": string("a")})},
            "metadata.labels.*",
            "enum-dropped",
            "enum-introduced",
        ),
        ({"metadata": {**obj(name=string()), **_RULE}}, "metadata", "cel-rule-removed", "cel-rule-added"),
    ],
    ids=["kind", "apiVersion", "name", "labels", "rule"],
)
def test_a_limit_on_an_embedded_resource_comes_or_goes(
    tmp_path: Path, preserves: bool, limited: Json, path: str, loosened: str, tightened: str
) -> None:
    free, limiting = _embedding(preserves), _embedding(preserves, **limited)
    for (old, new), direction, rule in [
        ((limiting, free), "rollback", loosened),
        ((free, limiting), "upgrade", tightened),
    ]:
        report = diff(*both(tmp_path, old, new))
        assert [(*brief(finding)[:3], finding["path"]) for finding in report["findings"]] == [
            (direction, "warning", rule, _PREFIX + path)
        ]
        prove(report["findings"][0], crd(old), crd(new))


@pytest.mark.parametrize("preserves", [False, True], ids=["pruned", "preserved"])
def test_a_declaration_in_an_embedded_resource_without_a_limit_changes_nothing(tmp_path: Path, preserves: bool) -> None:
    declaring = _embedding(preserves, kind=string(), apiVersion=string(), metadata=obj(name=string()))
    report = diff(*both(tmp_path, _embedding(preserves), declaring))
    assert (report["findings"], report["without_effect"], report["undecided"]) == ([], [], [])

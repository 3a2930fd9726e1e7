"""Defaults: what the writer stores, and what the reader reads after its own defaulting."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, array, crd, crd_set, obj, root, string

import crdcompat
from crdcompat.models.finding import Finding

_INT = {"type": "integer"}


def _findings(old: Json, new: Json) -> list[Finding]:
    sides = [crd_set(name, crd(root(spec=v))) for name, v in (("old", old), ("new", new))]
    report = crdcompat.diff(sides[0], sides[1], locate=False)
    assert not report.undecided
    return list(report.findings)


def test_a_changed_default() -> None:
    """Objects keep the default of the release that wrote them; only those stored without the field read differently."""
    back, forth = _findings(obj(tier=string(default="basic")), obj(tier=string(default="premium")))
    facts = [(f.direction, f.rule, f.effect, f.severity, f.path, f.old, f.new) for f in (back, forth)]
    assert facts == [
        (way, "default-changed", "value-defaulted", "info", "spec.tier", "basic", "premium")
        for way in ("rollback", "upgrade")
    ]
    assert 'a Widget may read as "basic" again' in back.message
    assert 'a Widget may read as "premium"' in forth.message
    for finding in (back, forth):
        assert finding.witness.object is None
        assert finding.witness.reason == (
            "only an object that was stored before the field had a default shows it: a write stores the default"
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (array(string()), array(string(default="a"))),
        (array(string(default="b")), array(string(default="a"))),
        (array(string(nullable=True)), array(string(nullable=True, default="a"))),
        ({"additionalProperties": string()}, {"additionalProperties": string(default="a")}),
    ],
)
def test_a_default_of_items_replaces_only_nulls(old: Json, new: Json) -> None:
    old, new = ({"type": "object", **side} for side in (old, new)) if "items" not in old else (old, new)
    assert _findings(obj(v=old), obj(v=new)) == []
    assert _findings(obj(v=new), obj(v=old)) == []


_DEFAULTED = {**_INT, "default": 5}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(obj(p=_DEFAULTED), obj(p=_DEFAULTED), set(), id="both sides have the default"),
        pytest.param(obj(p=_INT), obj(p=_DEFAULTED), set(), id="the side that does not require it"),
        pytest.param(obj(p=_DEFAULTED), obj(p=_INT), {("rollback", "default-removed")}, id="the side that requires it"),
        pytest.param(obj(p=_INT), obj(p=_INT), {("rollback", "required-removed")}, id="no side"),
        pytest.param(
            obj(p=_DEFAULTED),
            obj(p={**_INT, "default": 6}),
            {("rollback", "default-changed"), ("upgrade", "default-changed")},
            id="another on each side",
        ),
        pytest.param(
            obj(q=_INT), obj(p=_DEFAULTED, q=_INT), {("rollback", "required-removed")}, id="of a field that OLD drops"
        ),
        pytest.param(
            {**obj(q=_INT), "x-kubernetes-preserve-unknown-fields": True},
            {**obj(p=_DEFAULTED, q=_INT), "x-kubernetes-preserve-unknown-fields": True},
            set(),
            id="of a field that OLD keeps unknown",
        ),
    ],
)
def test_a_required_field_with_a_default(old: Json, new: Json, expected: Any) -> None:
    """OLD requires the field. What NEW stores and OLD reads decides, not the list ``required``."""
    found = [f for f in _findings({**old, "required": ["p"]}, new) if f.rule.split("-")[0] in ("required", "default")]
    assert {(f.direction, f.rule) for f in found} == expected
    for finding in found:
        assert (finding.witness.object is None) == (finding.rule == "default-changed"), finding.witness.reason

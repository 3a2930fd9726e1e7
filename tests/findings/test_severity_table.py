"""Each row of the table of severities in docs/judging.md says what the command line answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, crd, diff, obj, root, string, version, write

from crdcompat.findings.rules import catalogue

_PAGE = Path(__file__).parents[2] / "docs/judging.md"
_KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
_FROZEN = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
_SET, _PREVIEW = "release.openshift.io/feature-set", "TechPreviewNoUpgrade"
_BOTH = f"Default,{_PREVIEW}"
_GO = """\
// +groupName=example.com
package v1

type Widget struct {
	Status WidgetStatus `json:"status,omitempty"`
}

type WidgetStatus struct {
	Items []Item `json:"items,omitempty"`
}

type Item struct {
	Name string `json:"name"`
}
"""


def _items(*required: str, **more: object) -> Json:
    return {"status": obj(items=array({**obj(name=string(), type=string()), "required": [*required]}, **more))}


def _one(**parts: Json) -> list[Json]:
    return [crd(root(**parts))]


def _of(name: str, sets: str) -> Json:
    made = crd(root(), kind=name)
    made["metadata"]["annotations"] = {_SET: sets}
    return made


_A, _AB = string("A"), string("A", "B")
_GADGET = crd(root(), kind="Gadget")
_DEFAULTED = {**string("A", "B"), "default": "B"}
_TWO = [version(root()), version(root(), "v2", storage=False)]
_LEFT = [version(root()), version(root(), "v2", storage=False, served=False)]
_Sides = tuple[list[Json], list[Json]]

#: Row -> OLD and NEW, and what comes out: direction, rule.
ROWS: dict[str, tuple[_Sides, str, tuple[str, ...]]] = {
    "a CRD leaves the feature set Default, or what ships": (
        ([_of("Widget", _BOTH), _of("Gadget", _BOTH)], [_of("Widget", _PREVIEW), _of("Gadget", _BOTH)]),
        "upgrade",
        ("crd-removed",),
    ),
    "a version goes that a release stored, or that is kept neither served nor stored": (
        ([crd(versions=_LEFT)], [crd(versions=[version(root())])]),
        "upgrade",
        ("version-removed",),
    ),
    "a version goes that is older than the stored one (v1alpha1 before v1)": (
        ([crd(versions=[version(root(), "v1alpha1", storage=False), version(root())])], _one()),
        "upgrade",
        ("version-removed",),
    ),
    "the storage version moves to one that OLD lacks": (
        (_one(), [crd(versions=[version(root(), storage=False), version(root(), "v2")])]),
        "rollback",
        ("version-storage-moved",),
    ),
    "status: OLD rejects a value of NEW that somebody writes": (
        (_one(status=obj(p=_A)), _one(status=obj(p=_AB))),
        "rollback",
        ("enum-value-added",),
    ),
    "status: NEW rejects a value of OLD that somebody writes": (
        (_one(status=obj(p=_AB)), _one(status=obj(p=_A))),
        "upgrade",
        ("enum-value-removed",),
    ),
    "neither side accepts a value of the other": (
        (_one(spec=obj(p=string(pattern="^[a-z]+$"))), _one(spec=obj(p=string("CIS", "COS")))),
        "both",
        ("pattern-widened", "enum-introduced"),
    ),
    "a field cannot be changed any more (`self == oldSelf`)": (
        (_one(spec=obj(p=_AB)), _one(spec=obj(p=_AB | _FROZEN))),
        "upgrade",
        ("cel-transition-rule-added",),
    ),
    "NEW's default is rejected by OLD": (
        (_one(spec=obj(p=_A)), _one(spec=obj(p=_DEFAULTED))),
        "rollback",
        ("enum-value-added",),
    ),
    "spec, metadata: a value is rejected": (
        (_one(spec=obj(p=_A)), _one(spec=obj(p=_AB))),
        "rollback",
        ("enum-value-added",),
    ),
    "a request fails: no such version, no scale endpoint": (
        (_one(), [crd(versions=_TWO)]),
        "rollback",
        ("version-added",),
    ),
    "a CRD is renamed, or moves to another group": (
        ([*_one(spec=obj(p=_A)), _GADGET], [crd(root(spec=obj(p=_A)), group="other.com"), _GADGET]),
        "both",
        ("crd-renamed",),
    ),
    "a field goes, and its values with it": (
        (_one(spec=obj(p=_A, q=_AB)), _one(spec=obj(p=_A))),
        "upgrade",
        ("property-removed",),
    ),
    "another value is pruned, or one is set by default": (
        (_one(spec=obj(p=_A)), _one(spec=obj(p=_A, q=_DEFAULTED))),
        "both",
        ("property-added",),
    ),
    "a transition rule comes back with a rollback": (
        (_one(spec=obj(p=_AB | _FROZEN)), _one(spec=obj(p=_AB))),
        "rollback",
        ("cel-transition-rule-removed",),
    ),
    "a list in status becomes a map by keys, a key becomes required": (
        (_one(**_items()), _one(**_items("type", **_KEYED))),
        "upgrade",
        ("list-type-tightened", "required-added"),
    ),
    "status: a required field that the Go type always writes": (
        (_one(**_items()), _one(**_items("name"))),
        "upgrade",
        ("required-added",),
    ),
}
#: Rows that the examples of rules hold.
BY_EXAMPLES = {
    "Helm deletes the CRD: only the release that is left has it in `templates/`, without a policy to keep it": (
        "crd-deleted",
    ),
    "a `/status` endpoint goes": ("subresource-status-added", "subresource-status-removed"),
    "the API server refuses the CRD: NEW's own, or OLD's on the way back": ("crd-refused", "names-kind-changed"),
    "OpenShift: the other release's API server refuses the CRD while it still serves": ("crd-refused-on-way",),
}


def _table() -> dict[str, str]:
    """The rows of the page: what, and its severity."""
    lines = _PAGE.read_text().partition("| what | severity | why |\n")[2].partition("\n\n")[0].splitlines()[1:]
    return {what: severity for what, severity, *_ in ([*map(str.strip, line.split("|")[1:])] for line in lines)}


def test_each_row_is_held() -> None:
    assert {*_table()} == {*ROWS, *BY_EXAMPLES}


@pytest.mark.parametrize("row", ROWS)
def test_a_row(tmp_path: Path, row: str) -> None:
    (old, new), direction, rules = ROWS[row]
    severity, _, only = _table()[row].partition(" on ")
    assert only in ("", direction)
    for side, made in (("old", old), ("new", new)):
        for number, document in enumerate(made):
            write(tmp_path / side / f"{number}.yaml", document)
        (tmp_path / side / "v1").mkdir()
        (tmp_path / side / "v1/types.go").write_text(_GO)
    found = diff(tmp_path / "old", tmp_path / "new", "--direction", direction)["findings"]
    spec = row.startswith("spec")
    severities = {
        (each["rule"], each["severity"])
        for each in found
        if each["rule"] in rules and (not spec or each["owner"] == "spec")
    }
    assert severities == {(name, severity) for name in rules}


@pytest.mark.parametrize("row", BY_EXAMPLES)
def test_a_row_by_examples(row: str) -> None:
    """The tests of rules run the examples."""
    for name in BY_EXAMPLES[row]:
        assert {each.finding["severity"] for each in catalogue()[name].examples} == {_table()[row]}

"""Patterns beside other types, beside lengths and beside formats: only their own share of a difference is theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from helpers import Json, both, crd, diff, obj, prove, root, string

_CODE = {"x-kubernetes-int-or-string": True}
#: Too many states for a search; its members are found by repeating a character.
_LONG = "^crn:v[0-9]+:bluemix:(public|private):(kms|hs-crypto):[a-z-]+:a/[0-9a-f]+:[0-9a-f-]{36}:key:[0-9a-f-]{36}$"
#: Addresses without the form that embeds IPv4 in IPv6.
_NETWORK = r"^([0-9.]+|[0-9a-f]*(:[0-9a-f]*)+)/[0-9]{1,3}$"
_DURATION = "^([0-9]{1,5}(h|m|s|ms)){1,4}$"


def _union(**members: Json) -> Json:
    return {**obj(**members), "oneOf": [{"properties": {name: {}}, "required": [name]} for name in members]}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            {"type": "integer"},
            {**_CODE, "pattern": "^([0-9]+|Echo)$"},
            [("rollback", "type-changed", True)],
            id="the other side takes no string",
        ),
        pytest.param(
            {**_CODE, "pattern": "^[0-9]+$"},
            {**_CODE, "pattern": "^[0-9]+%?$"},
            [("rollback", "pattern-widened", True)],
            id="int-or-string",
        ),
        pytest.param(
            {"x-kubernetes-preserve-unknown-fields": True},
            {"x-kubernetes-preserve-unknown-fields": True, "pattern": "^a"},
            [("upgrade", "pattern-narrowed", True)],
            id="any type",
        ),
        pytest.param(
            string(pattern=_LONG),
            string(maxLength=140),
            [("rollback", "pattern-widened", True), ("upgrade", "length-tightened", True)],
            id="too many states on the other side",
        ),
        pytest.param(
            string(pattern=_NETWORK),
            string(format="cidr"),
            [("rollback", "pattern-widened", True), ("upgrade", "format-changed", True)],
            id="an address with an embedded one",
        ),
        pytest.param(
            string(format="duration"),
            string(pattern=_DURATION),
            [("upgrade", "pattern-narrowed", True)],
            id="all strings have the format",
        ),
        pytest.param(
            string(format="duration"),
            string(pattern="^[0-9]{1,20}h$"),
            [("rollback", "format-changed", True), ("upgrade", "pattern-narrowed", True)],
            id="a string may lack the format",
        ),
        pytest.param(
            string(pattern=r"^[a-z]?10\.0\.0\.0/8$"),
            string(format="cidr"),
            [("rollback", "pattern-widened", True), ("upgrade", "format-changed", True)],
            id="the pattern allows more than the format",
        ),
        pytest.param(
            _union(a=string(pattern=_NETWORK), b=string()),
            _union(a=string(format="cidr"), b=string(), c=string()),
            [
                ("rollback", "junctor-changed", True),
                ("rollback", "pattern-widened", True),
                ("rollback", "property-added", False),
                ("upgrade", "format-changed", True),
            ],
            id="a union with another member, beside it",
        ),
    ],
)
def test_the_share_of_the_pattern(tmp_path: Path, old: Json, new: Json, expected: list[tuple[str, str, bool]]) -> None:
    sides = [root(spec=obj(v=side)) for side in (old, new)]
    report = diff(*both(tmp_path, *sides))
    found = report["findings"]
    for finding in found:
        if finding["witness"]["object"] is not None:
            prove(finding, *map(crd, sides))
    assert sorted((f["direction"], f["rule"], f["witness"]["object"] is not None) for f in found) == expected
    assert report["undecided"] == []


def test_an_undecided_half_leaves_the_other_half(tmp_path: Path) -> None:
    """Whether NEW refuses one of OLD's strings needs too many states; that OLD refuses one of NEW's is seen at once."""
    old, new = string(pattern=_LONG), string(pattern="^[^c]*$|^crn.{100,}$|b{3}")
    report = diff(*both(tmp_path, *(root(spec=obj(v=side)) for side in (old, new))))
    assert [(f["direction"], f["rule"]) for f in report["findings"]] == [("rollback", "pattern-widened")]
    assert [item["keyword"] for item in report["undecided"]] == ["pattern"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("int32", "int64", [("rollback", "format-changed", True)]),
        ("float", "double", [("rollback", "format-changed", True)]),
    ],
)
def test_a_wider_range_of_numbers(tmp_path: Path, old: str, new: str, expected: list[tuple[str, str, bool]]) -> None:
    """metallb 0.16: from Kubernetes 1.36 on, servers check ranges, and the new one has every number of the old one."""
    kind = "integer" if old == "int32" else "number"
    sides = both(tmp_path, *(root(spec=obj(v={"type": kind, "format": each})) for each in (old, new)))
    config = tmp_path / "crdcompat.yaml"
    config.write_text(yaml.safe_dump({"releases": {str(side): "1.36" for side in sides}}))
    found = diff(*sides, "--config", config)["findings"]
    assert [(f["direction"], f["rule"], f["witness"]["object"] is not None) for f in found] == expected


def test_the_example_is_a_string_that_rules_accept(tmp_path: Path) -> None:
    """openshift/api 4.16: a rule replaces a pattern for addresses; it refuses the shortest string, which is none."""
    old, new = string(pattern="^[0-9.]+$"), {**string(), "x-kubernetes-validations": [{"rule": "isIP(self)"}]}
    (finding,) = diff(*both(tmp_path, root(spec=obj(v=old)), root(spec=obj(v=new))), "--direction", "rollback")[
        "findings"
    ]
    assert finding["added"] == [finding["witness"]["object"]["spec"]["v"]]
    assert f'such as "{finding["added"][0]}"' in finding["message"]

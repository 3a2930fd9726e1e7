"""Maps that become objects with declared members, and the other way."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, crd, diff, obj, only, prove, root, string

_MAP = {"type": "object", "additionalProperties": string()}


@pytest.mark.parametrize(
    ("old", "new", "rule", "direction"),
    [
        (_MAP, obj(x=string(maxLength=2)), "map-dropped", "upgrade"),
        (obj(x=string(maxLength=2)), _MAP, "map-introduced", "rollback"),
    ],
)
def test_a_member_has_a_value_that_only_the_map_takes(
    tmp_path: Path, old: Json, new: Json, rule: str, direction: str
) -> None:
    """The other keys are lost; this one makes the server refuse the object."""
    before, after = root(spec=obj(m=old)), root(spec=obj(m=new))
    finding = only(diff(*both(tmp_path, before, after)), rule=rule, direction=direction)
    prove(finding, crd(before), crd(after))
    assert (finding["effect"], finding["severity"]) == ("write-rejected", "warning")


@pytest.mark.parametrize("more", [{}, {"default": {}}, {"nullable": True}], ids=["plain", "default", "nullable"])
def test_an_object_that_loses_all_members_may_be_closed(tmp_path: Path, more: Json) -> None:
    empty = {"type": "object", **more}
    sides = root(spec=obj(m=empty)), root(spec=obj(m={**empty, "additionalProperties": False}))
    for old, new in (sides, sides[::-1]):
        report = diff(*both(tmp_path, old, new))
        assert (report["findings"], report["undecided"]) == ([], [])

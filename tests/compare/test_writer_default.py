"""Rejected values that the writer sets by default: every object that leaves the field out has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, crd, diff, only, root, string
from helpers import obj as schema

from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.changes import Change
from crdcompat.compare.likelihood import is_writer_default
from crdcompat.compare.site import WriterReader
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import read_crd
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath
from crdcompat.vocabulary import Direction, Effect

_OLD, _NEW = string("A"), string("A", "B", default="B")
_HOLDER = {**schema(mode=string("A", "B")), "default": {"mode": "B"}}
#: The field ``v`` of NEW, with the rejected value in it as a default.
_FIELDS = [
    pytest.param(_OLD, _NEW, ("spec", "v"), True, id="a field"),
    pytest.param(schema(mode=_OLD), _HOLDER, ("spec", "v", "mode"), True, id="a member of a field"),
    pytest.param(array(_OLD), array(_NEW), ("spec", "v", ITEM), False, id="an item: no list has to have one"),
    pytest.param(
        array(schema(mode=_OLD)),
        array(_HOLDER),
        ("spec", "v", ITEM, "mode"),
        False,
        id="a member of an item",
    ),
    pytest.param(
        array(schema(mode=_OLD)),
        array(schema(mode=_NEW)),
        ("spec", "v", ITEM, "mode"),
        True,
        id="a field of an item",
    ),
    pytest.param(
        schema(mode=_OLD), schema(mode=_NEW), ("spec", "v", "mode"), False, id="the only member of an optional object"
    ),
    pytest.param(
        schema(mode=_OLD, size=_OLD), schema(mode=_NEW, size=_OLD), ("spec", "v", "mode"), True, id="one of two members"
    ),
    pytest.param(
        {**schema(o=schema(mode=_OLD)), "required": ["o"]},
        {**schema(o=schema(mode=_NEW)), "required": ["o"]},
        ("spec", "v", "o", "mode"),
        True,
        id="the only member of a required object",
    ),
    pytest.param(
        schema(mode=_OLD),
        {**schema(mode=_NEW), "default": {}},
        ("spec", "v", "mode"),
        True,
        id="the only member of an object that is there by default",
    ),
    pytest.param(
        {"type": "object", "additionalProperties": schema(mode=_OLD)},
        {"type": "object", "additionalProperties": schema(mode=_NEW)},
        ("spec", "v", VALUE, "mode"),
        True,
        id="the only member of a map's values",
    ),
]


@pytest.mark.parametrize(("old", "new", "path", "expected"), _FIELDS)
def test_a_default_makes_an_error_of_a_warning(
    tmp_path: Path, old: Json, new: Json, path: SchemaPath, expected: bool
) -> None:
    sides = both(tmp_path, root(spec=schema(v=old)), root(spec=schema(v=new)))
    finding = only(diff(*sides), direction="rollback", rule="enum-value-added")
    assert finding["severity"] == ("error" if expected else "warning")
    assert ("it is new's default" in finding["message"]) is expected


@pytest.mark.parametrize(("old", "new", "path", "expected"), _FIELDS)
def test_a_default_without_an_example_object(old: Json, new: Json, path: SchemaPath, expected: bool) -> None:
    """Of many equal changes in one large object, only the first ones have an example object."""
    made = [read_crd(crd(root(spec=schema(v=side)))) for side in (new, old)]
    writer, reader = (Resource(each, each.versions[0], DEFAULT_SERVER) for each in made)
    change = Change("enum.value-added", path, ["A"], ["A", "B"], ("B",), (), (), ())
    asked = Direction.ROLLBACK, Effect.WRITE_REJECTED
    pair, unproven = WriterReader(writer, reader), Witness(None, reason="not built")
    assert is_writer_default(change, *asked, Witness(None, assumed=True), pair) is expected
    assert not is_writer_default(change, *asked, unproven, pair)
    assert not is_writer_default(change, Direction.UPGRADE, asked[1], Witness(None, assumed=True), pair)

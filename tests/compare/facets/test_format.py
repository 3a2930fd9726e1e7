"""Formats that one side alone has, beside what else restricts the same value."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, brief, crd, diff, obj, root, string


def _integer(**more: object) -> Json:
    return {"type": "integer", **more}


def _found(tmp_path: Path, old: Json, new: Json) -> list[tuple[str, str, bool]]:
    report = diff(*both(tmp_path, root(spec=obj(a=old)), root(spec=obj(a=new))))
    assert not report["undecided"], [brief(each) for each in report["findings"]]
    return sorted((each["direction"], each["rule"], bool(each["witness"]["object"])) for each in report["findings"])


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        (_integer(minimum=10, maximum=17), _integer(minimum=10, maximum=17, format="int32"), False),
        (_integer(minimum=-(2**31), maximum=2**31 - 1), _integer(format="int32"), False),
        (_integer(minimum=-(2**31), maximum=2**31), _integer(format="int32"), True),
        (_integer(minimum=0), _integer(minimum=0, format="int32"), True),
        (_integer(maximum=0), _integer(maximum=0, format="int32"), True),
        (_integer(enum=[1, 2]), _integer(enum=[1, 2], format="int32"), False),
        (_integer(enum=[1, 2**40]), _integer(enum=[1, 2**40], format="int32"), True),
        ({"type": "number", "minimum": 0, "maximum": 1}, {"type": "number", "maximum": 1, "format": "float"}, False),
    ],
)
def test_a_format_of_numbers_rejects_what_the_writer_allows_beyond_it(
    tmp_path: Path, writer: Json, reader: Json, expected: bool
) -> None:
    """Crunchy Data: a version from 10 to 17 became an int32."""
    upgrade = [each for each in _found(tmp_path, writer, reader) if each[0] == "upgrade"]
    assert upgrade == ([("upgrade", "format-changed", True)] if expected else [])


@pytest.mark.parametrize("more", [{"format": "int32"}, {"minimum": 0}, {"maximum": 2**31 - 1}])
def test_replicas_of_the_scale_subresource_have_its_limits_anyway(tmp_path: Path, more: Json) -> None:
    """VictoriaMetrics: ``shardCount`` became an int32, which the server had checked in each write all along."""
    sides = [crd(root(spec=obj(shards=_integer(**keywords), other=_integer()))) for keywords in ({}, more)]
    for path, expected in ((".spec.shards", []), (".spec.other", ["upgrade"])):
        for side in sides:
            scale = {"specReplicasPath": path, "statusReplicasPath": ".status.shards"}
            side["spec"]["versions"][0]["subresources"] = {"status": {}, "scale": scale}
        report = diff(*both(tmp_path, *sides))
        assert ([each["direction"] for each in report["findings"]], report["undecided"]) == (expected, [])


def test_another_type_is_no_change_of_the_format(tmp_path: Path) -> None:
    """Chaos Mesh: bytes became an object. No value of one side has the type of the other."""
    assert _found(tmp_path, string(format="byte"), obj(b=string())) == [
        ("rollback", "type-changed", True),
        ("upgrade", "type-changed", True),
    ]


def test_a_format_counts_where_a_type_is_added(tmp_path: Path) -> None:
    """Strings stay values of both sides."""
    either = {"x-kubernetes-int-or-string": True}
    assert _found(tmp_path, string(format="date-time"), either) == [
        ("rollback", "format-changed", True),
        ("rollback", "type-changed", True),
    ]


_EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
_TYPE, _FORMAT = ("type-changed", True), ("format-changed", True)


@pytest.mark.parametrize(
    ("more", "expected"), [({}, [_TYPE]), ({"pattern": "^[0-9]+%$"}, [_FORMAT, _TYPE])], ids=["any", "with a pattern"]
)
def test_the_size_of_numbers_that_become_an_int_or_string(
    tmp_path: Path, more: Json, expected: list[tuple[str, bool]]
) -> None:
    """Kruise: an int32 became an int-or-string, which is one change."""
    sides = _integer(format="int32"), {**_EITHER, **more}
    for name, side, direction in (("a", sides, "rollback"), ("b", sides[::-1], "upgrade")):
        (tmp_path / name).mkdir()
        found = _found(tmp_path / name, *side)
        assert [each for each in found if each[0] == direction] == [(direction, *each) for each in expected]

"""Limits that the type of a number cannot hold: the errors are those of an API server 1.36; one of 1.28 had none."""

from __future__ import annotations

import pytest
from helpers import Json, crd, obj, root

import crdcompat

_INT32 = {"type": "integer", "format": "int32"}


def _beyond(what: str, kind: str) -> str:
    return f'<nil>: Invalid value: "": {what} value must be of type {kind} in spec.n'


@pytest.mark.parametrize(
    ("field", "value", "errors"),
    [
        ({**_INT32, "maximum": 2**32 - 1}, 5, [_beyond("Maximum boundary", "integer with format int32")]),
        ({"type": "integer", "minimum": 0.5}, 5, [_beyond("Minimum boundary", "integer (default format)")]),
        ({"type": "integer", "multipleOf": 2.5}, 5, [_beyond("MultipleOf", "integer (default format)")]),
        (
            {"type": "integer", "multipleOf": 2.5},
            6,
            [
                _beyond("MultipleOf", "integer (default format)"),
                "spec.n: Invalid value: 6: spec.n in body should be a multiple of 2.5",
            ],
        ),
        (
            {**_INT32, "multipleOf": 2**33},
            5,
            [
                _beyond("MultipleOf", "integer with format int32"),
                "spec.n: Invalid value: 5: spec.n in body should be a multiple of 8.589934592e+09",
            ],
        ),
        (
            {"type": "number", "format": "float", "multipleOf": 1e39},
            0,
            [_beyond("MultipleOf", "number with format float")],
        ),
    ],
)
def test_a_limit_that_the_type_cannot_hold(field: Json, value: int, errors: list[str]) -> None:
    definition = crd(root(spec=obj(n=field)))
    written = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"n": value}}
    verdict = crdcompat.judge(definition, "create", written, kubernetes="1.36")
    assert [error.text() for error in verdict.errors] == errors
    before = crdcompat.judge(definition, "create", written, kubernetes="1.28")
    assert not any(error.text().startswith("<nil>") for error in before.errors)

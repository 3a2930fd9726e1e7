"""Limits that the type of a number cannot hold: the errors are those of an API server 1.36; one of 1.28 had none."""

from __future__ import annotations

import pytest
from helpers import Json, crd, obj, root

import crdcompat

_INT32 = {"type": "integer", "format": "int32"}


def _beyond(what: str, kind: str) -> str:
    return f'<nil>: Invalid value: "": {what} value must be of type {kind} in spec.n'


def _errors(field: Json, value: float, minor: str) -> list[str]:
    definition = crd(root(spec=obj(n=field)))
    written = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"n": value}}
    return [error.text() for error in crdcompat.judge(definition, "create", written, kubernetes=minor).errors]


@pytest.mark.parametrize(
    ("kind", "factor", "value", "said"),
    [
        ("number", 2, 2.0000000001, ""),  # a float is a multiple up to a tolerance
        ("number", 2, 2.001, "Invalid value: 2.001: spec.n in body should be a multiple of 2"),
        ("number", 0.5, 1.5, ""),
        ("number", 1, 3, ""),
        ("integer", 2, 4, ""),
        ("integer", 2, 5, "Invalid value: 5: spec.n in body should be a multiple of 2"),
        ("integer", 0, 3, "Invalid value: 0: factor MultipleOf declared for spec.n must be positive: 0"),
        ("integer", -2, 4, "Invalid value: -2: factor MultipleOf declared for spec.n must be positive: -2"),
    ],
)
def test_multiples(kind: str, factor: float, value: float, said: str) -> None:
    for minor in ("1.28", "1.36"):
        errors = [f"spec.n: {said}"] if said else []
        assert _errors({"type": kind, "multipleOf": factor}, value, minor) == errors


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
    assert _errors(field, value, "1.36") == errors
    assert not any(text.startswith("<nil>") for text in _errors(field, value, "1.28"))

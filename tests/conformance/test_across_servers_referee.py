"""``server-stricter-on`` and ``server-refuses-all`` against real API servers, which judge the example objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from differences import in_group, new_group
from helpers import Json, both, crd, diff, obj, root, string, write
from referees import ASKED, Pool, pool, why_none

pytestmark = pytest.mark.skipif(len(ASKED) < 2, reason=f"it needs two servers: {why_none()}")


@pytest.fixture(scope="module")
def servers() -> Iterator[Pool]:
    with pool() as found:
        yield found


def _ruled(rule: str, **field: Any) -> Json:
    return {"type": "string", "maxLength": 100, **field, "x-kubernetes-validations": [{"rule": rule}]}


@pytest.mark.parametrize(
    "field",
    [
        {"type": "integer", "format": "int32"},
        {"type": "integer", "format": "int64"},
        {"type": "number", "format": "float"},
        {"type": "number", "format": "double"},
        {"type": "integer", "format": "int32", "maximum": 2**32 - 1},
        {"type": "integer", "format": "int32", "minimum": -(2**31) - 1},
        {"type": "integer", "format": "int64", "multipleOf": 2.5},
        string(format="uri"),
        string(format="k8s-short-name"),
        _ruled("isURL(self)"),
        _ruled("!isURL(self)"),
        _ruled("!format.uri().validate(self).hasValue()"),
        _ruled("cidr('10.0.0.0/8').containsCIDR(self)"),
        _ruled("self.indexOf('x') < 0"),
        _ruled("self.lastIndexOf('x') < 0"),
    ],
    ids=lambda field: " ".join(map(str, field.values())),
)
def test_witnesses(servers: Pool, tmp_path: Path, field: Json) -> None:
    group, scope = new_group(), obj(a=string())
    old, new = (in_group(crd(root(spec=each)), group) for each in (scope, obj(a=string(), b=field)))
    config = write(tmp_path / "c.yaml", {"kubernetes": [*ASKED]})
    found = diff(*both(tmp_path, old, new), "--config", config)["findings"]
    taking = [minor for minor in ASKED if servers.server(minor).install(new).accepted]
    for finding in (each for each in found if each["rule"].startswith("server-")):
        witness = finding["witness"]["object"]
        verdicts = {minor: servers.server(minor).write("create", new, witness).accepted for minor in taking}
        assert verdicts == {minor: minor not in finding["new"] for minor in taking}
        assert set(verdicts.values()) == {True, False}

"""The severity of findings that only feature sets without upgrades and rollbacks have."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, root, string, version, write

_KEY = "release.openshift.io/feature-set"


def _in(sets: str, made: Json) -> Json:
    made["metadata"]["annotations"] = {_KEY: sets}
    return made


def _reports(tmp_path: Path, sets: str, old: Json, new: Json) -> Json:
    sides = (write(tmp_path / side / "w.yaml", _in(sets, made)) for side, made in (("old", old), ("new", new)))
    return diff(*sides, "--context", "TechPreviewNoUpgrade/default")


_FIELD = (crd(root(status=obj(a=string("x")))), crd(root(status=obj(a=string("x", "y")))))
_SERVED = tuple(
    crd(versions=[version(root()), version(root(), "v2", storage=False, served=served)]) for served in (True, False)
)
_STORED = (crd(root()), crd(versions=[version(root(), "v2")]))


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (_FIELD, [("rollback", "enum-value-added", "warning")]),
        (_SERVED, [("upgrade", "version-served-changed", "info")]),
        (_STORED, [("rollback", "version-storage-moved", "warning"), ("upgrade", "version-removed", "error")]),
        ((crd(root()), crd(root(spec={}))), [("upgrade", "crd-refused", "error")]),
    ],
)
def test_a_rejected_crd_is_not_softened(
    tmp_path: Path, sides: tuple[Json, Json], expected: list[tuple[str, ...]]
) -> None:
    """Upgrade jobs run with these feature sets, and a rejected CRD breaks them."""
    report = _reports(tmp_path, "TechPreviewNoUpgrade", *sides)
    found = [(each["direction"], each["rule"], each["severity"]) for each in report["findings"]]
    assert [each for each in found if each[1] != "property-added"] == expected
    for each in report["findings"]:
        softened = (each["effect"], each["direction"]) != ("crd-rejected", "upgrade")
        assert ("one level lower" in each["message"]) == softened

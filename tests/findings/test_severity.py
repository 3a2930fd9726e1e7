"""The severity of findings that only feature sets without upgrades and rollbacks have, and in the strict profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, root, run, string, version, write
from msgspec.structs import replace
from report_samples import compared

from crdcompat.compare.witness import Witness
from crdcompat.findings.severity import is_strict_error
from crdcompat.vocabulary import Direction

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
        (_STORED, [("rollback", "version-storage-moved", "warning"), ("upgrade", "version-removed", "warning")]),
        ((crd(root()), crd(root(spec={}))), [("upgrade", "crd-refused", "warning")]),
    ],
)
def test_nothing_of_feature_sets_without_upgrades_is_an_error(
    tmp_path: Path, sides: tuple[Json, Json], expected: list[tuple[str, ...]]
) -> None:
    """Nor is a CRD that the server refuses, in either direction: no cluster of these sets moves."""
    report = _reports(tmp_path, "TechPreviewNoUpgrade", *sides)
    found = [(each["direction"], each["rule"], each["severity"]) for each in report["findings"]]
    assert [each for each in found if each[1] != "property-added"] == expected
    assert all("severity lowered" in each["message"] for each in report["findings"])


# -- the strict profile ---------------------------------------------


_SETS = {"default": "Default", "preview": "TechPreviewNoUpgrade"}


def _strict(tmp_path: Path, *args: str, config: str = "") -> dict[tuple[str, str], str]:
    """(rule, context) -> severity of upgrade findings: an enum narrowed and a field removed, in two feature sets."""
    for side in ("old", "new"):
        wide = side == "old"
        spec = obj(a=string("A", *(["B"] if wide else [])), **({"gone": string()} if wide else {}))
        for name, feature_set in _SETS.items():
            notes = {"release.openshift.io/feature-set": feature_set}
            definition = crd(root(spec=spec), kind=f"{name.title()}Widget", annotations=notes)
            write(tmp_path / side / f"{name}.json", json.dumps(definition))
    write(tmp_path / ".crdcompat.yaml", config)
    sides = (str(tmp_path / "old"), str(tmp_path / "new"))
    options = ("--config", str(tmp_path / ".crdcompat.yaml"), "--format", "json")
    found = run("diff", *sides, "--direction", "upgrade", *options, *args).report["findings"]
    return {(f["rule"], f["contexts"][0].split("/")[0]): f["severity"] for f in found}


def test_the_strict_profile(tmp_path: Path) -> None:
    in_preview = {
        ("enum-value-removed", "TechPreviewNoUpgrade"): "info",
        ("property-removed", "TechPreviewNoUpgrade"): "info",
    }
    removed, narrowed = ("property-removed", "Default"), ("enum-value-removed", "Default")
    assert _strict(tmp_path) == {**in_preview, removed: "warning", narrowed: "warning"}
    strict = {**in_preview, removed: "error", narrowed: "error"}
    assert _strict(tmp_path, "--profile", "strict") == strict
    assert _strict(tmp_path, config="profile: strict\n") == strict
    assert _strict(tmp_path, "--profile", "standard", config="profile: strict\n")[removed] == "warning"
    own = "profile: strict\nseverities: [{rule: property-removed, severity: info}]\n"
    assert _strict(tmp_path, config=own) == {**strict, removed: "info"}


def test_strict_makes_no_error_of_what_only_may_be_rejected(tmp_path: Path) -> None:
    report = compared(tmp_path, root(spec=obj(a=string("A", "B"))), root(spec=obj(a=string("A"))))
    (finding,) = (each for each in report.findings if each.direction == "upgrade")
    assert is_strict_error(finding)
    assert not is_strict_error(replace(finding, witness=Witness(None, reason="none was found")))
    assert not is_strict_error(replace(finding, direction=Direction.ROLLBACK))
    assert not is_strict_error(replace(finding, contexts=("DevPreviewNoUpgrade/x",)))

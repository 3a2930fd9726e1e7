"""CRDs meet the API server of the other release, if their run level is not above that of its operator."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, only, root, run, string, write

from crdcompat.crds.run_level import precedes_api_server, run_level

_RULES = "x-kubernetes-validations"
_PLAIN = string(maxLength=43)
_IP = {**_PLAIN, _RULES: [{"rule": "isIP(self)"}]}
_FORMAT = {**_PLAIN, _RULES: [{"rule": "!format.dns1123Label().validate(self).hasValue()"}]}


def _diff(tmp_path: Path, releases: tuple[str, str], name: str, old: Json, new: Json) -> Json:
    for release, schema in zip(releases, (old, new), strict=True):
        write(tmp_path / release / name, crd(root(spec=obj(a=schema))))
    return diff(*(tmp_path / release for release in releases), "--select", "crd-refused-on-way")


@pytest.mark.parametrize(
    ("file", "level"),
    [
        ("payload-manifests/crds/0000_10_config-operator_01_infrastructures.crd.yaml", 10),
        ("0000_20_kube-apiserver_01_kubeapiservers.crd.yaml", 20),
        ("0000_25_kube-scheduler_01.crd.yaml", 25),
        ("console/v1/90_consoleplugins.crd.yaml", None),
        ("0000_10_folder/widget.yaml", None),
    ],
)
def test_the_run_level(file: str, level: int | None) -> None:
    assert run_level([file]) == level
    assert precedes_api_server(level) == (level in (10, 20))


@pytest.mark.parametrize(
    "name", ["0000_10_config-operator_01_widgets.crd.yaml", "0000_20_kube-apiserver_01_w.crd.yaml"]
)
def test_the_server_that_is_left_refuses_a_new_function(tmp_path: Path, name: str) -> None:
    """4.15 got isIP with a later patch, and an upgrade may begin at the first."""
    found = only(_diff(tmp_path, ("release-4.15", "release-4.16"), name, _PLAIN, _IP))
    assert (found["direction"], found["effect"], found["severity"]) == ("upgrade", "crd-rejected", "error")
    assert (found["path"], found["added"], found["new"]) == ("spec.a", ["isIP"], "openshift-4.15")
    level = name[5:7]
    assert found["message"] == (
        "release-4.15's API server refuses release-4.16's CRD of Widget, and the upgrade stops here: it needs OpenShift"
        " 4.16 or later for isIP; later patches of OpenShift 4.15 take it (OpenShift 4.15 serves until run level 20 is"
        f" complete, and this CRD is of run level {level})"
    )
    assert "undeclared reference to 'isIP'" in found["witness"]["errors"][0]
    (place,) = found["locations"]
    assert place["side"] == "new"


@pytest.mark.parametrize(
    ("releases", "name", "old", "new"),
    [
        pytest.param(("release-4.15", "release-4.16"), "0000_30_machine-api_01_w.crd.yaml", _PLAIN, _IP, id="later"),
        pytest.param(("release-4.15", "release-4.16"), "widgets.crd.yaml", _PLAIN, _IP, id="no run level"),
        pytest.param(("release-4.16", "release-4.17"), "0000_10_config_01_w.crd.yaml", _PLAIN, _IP, id="known by now"),
        pytest.param(("release-4.15", "release-4.16"), "0000_10_config_01_w.crd.yaml", _IP, _IP, id="no change"),
        pytest.param(("v1.15", "v1.16"), "0000_10_config_01_w.crd.yaml", _PLAIN, _IP, id="no OpenShift"),
    ],
)
def test_no_server_on_the_way_refuses(
    tmp_path: Path, releases: tuple[str, str], name: str, old: Json, new: Json
) -> None:
    assert _diff(tmp_path, releases, name, old, new)["findings"] == []


def test_what_is_stored_already_is_taken_again(tmp_path: Path) -> None:
    """The rule is not new: only another field is."""
    (tmp_path / "release-4.16").mkdir()
    for release, more in (("release-4.15", {}), ("release-4.16", {"b": string()})):
        write(tmp_path / release / "0000_10_config_01_w.crd.yaml", crd(root(spec=obj(a=_IP, **more))))
    report = diff(tmp_path / "release-4.15", tmp_path / "release-4.16", "--select", "crd-refused-on-way")
    assert report["findings"] == []


def test_the_rollback_meets_the_newer_server(tmp_path: Path) -> None:
    """Kubernetes 1.30 refuses what 1.29 took: optionalOldSelf in a rule without oldSelf."""
    rule = {**_PLAIN, _RULES: [{"rule": "self != 'B'", "optionalOldSelf": True}]}
    found = only(_diff(tmp_path, ("release-4.16", "release-4.17"), "0000_10_config_01_w.crd.yaml", rule, _PLAIN))
    assert (found["direction"], found["severity"], found["new"]) == ("rollback", "error", "openshift-4.17")
    assert (
        "release-4.17's API server refuses release-4.16's CRD of Widget, and the rollback stops here"
        in found["message"]
    )
    assert {place["side"] for place in found["locations"]} == {"old"}


def test_the_exit_code_and_the_first_line(tmp_path: Path) -> None:
    for release, schema in (("release-4.17", _PLAIN), ("release-4.18", _FORMAT)):
        write(tmp_path / release / "0000_10_config_01_w.crd.yaml", crd(root(spec=obj(a=schema))))
    ran = run("diff", tmp_path / "release-4.17", tmp_path / "release-4.18")
    assert ran.code == 1
    assert "release-4.17 -> release-4.18: BLOCKED" in ran.out


@pytest.mark.parametrize(("level", "writes"), [("10", True), ("50", False)])
def test_writes_meet_the_server_that_is_left(tmp_path: Path, level: str, writes: bool) -> None:
    """OpenShift 4.18 keeps a bad value of status; 4.17, which serves when an early CRD arrives, does not."""
    for release, phases in (("release-4.17", ("A", "B")), ("release-4.18", ("A",))):
        name = f"0000_{level}_config_01_w.crd.yaml"
        write(tmp_path / release / name, crd(root(status=obj(p=string(*phases), q=string()))))
    found = only(diff(tmp_path / "release-4.17", tmp_path / "release-4.18", "--direction", "upgrade"))
    assert (found["severity"], "status-update" in found["writes"]) == (
        ("error", True) if writes else ("warning", False)
    )
    assert ("applied before the API server is updated" in found["because"]) == writes

"""A requirement that is written is valid by the CRD of openshift/api, as our model of its server judges it."""

from __future__ import annotations

import copy

import pytest
import replay
import yaml
from helpers import Json, run
from offline import PROJECT

import crdcompat

_CRDS = "apiextensions/v1alpha1/zz_generated.crd-manifests/"
_SERVER = "openshift-4.21"


@pytest.fixture(scope="module")
def definition(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The CRD of CompatibilityRequirement, at the end of the history."""
    if not replay.HISTORIES["pr-replay"].is_file():
        pytest.skip("no history of 2025 in ../shared/data")
    repo = replay.clone(replay.HISTORIES["pr-replay"], tmp_path_factory.mktemp("history") / "clone")
    (file,) = (repo / _CRDS).glob("*_compatibilityrequirements-TechPreviewNoUpgrade.crd.yaml")
    made: Json = yaml.safe_load(file.read_text(encoding="utf-8"))
    return made


@pytest.mark.parametrize("action", ["Deny", "Warn"])
def test_the_server_takes_it(definition: Json, action: str) -> None:
    old = PROJECT / "fixtures/demo/release-4.13"
    ran = run("requirement", old, "--crd", "clusterversions.config.openshift.io", "--action", action)
    made = yaml.safe_load(ran.out)
    verdict = crdcompat.judge(definition, "create", made, kubernetes=_SERVER, field_validation="Strict")
    assert verdict.accepted and not verdict.warnings, verdict.message
    broken = copy.deepcopy(made)
    broken["spec"]["compatibilitySchema"]["requiredVersions"]["defaultSelection"] = "All"
    assert not crdcompat.judge(definition, "create", broken, kubernetes=_SERVER).accepted

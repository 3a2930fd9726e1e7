"""A fleet report on real recordings."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import RELEASES, run


@pytest.fixture
def real(shared: Path, tmp_path: Path) -> Path:
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    for name in ("must-gather-4.18.tar.gz", "insights-archive-sample.tar.gz"):
        if not (shared / "data/recorded" / name).is_file():
            pytest.skip(f"no {name} in ../shared")
        (fleet / name).symlink_to(shared / "data/recorded" / name)
    return fleet


def test_real_recordings(real: Path, openshift_api: Path) -> None:
    """In one pass over each for four releases, as simulate says of one release and recording at a time."""
    targets = [f"release-{release}" for release in RELEASES[-2::-1]]
    (real / "torn.tar.gz").write_bytes((real / "must-gather-4.18.tar.gz").read_bytes()[:700_000])
    named = [part for target in targets[1:] for part in ("--target", target)]
    command = ("simulate", targets[0], "release-4.16", *named, "--fleet", "fleet", "--repo", openshift_api)
    ran = run(*command, "--format", "json", "--jobs", "1", cwd=real.parent)
    assert ran.code == 2
    report = ran.report
    assert [item["name"] for item in report["targets"]] == targets
    clusters = {Path(item["name"]).name: item for item in report["clusters"]}
    assert set(clusters) == {"must-gather-4.18.tar.gz", "insights-archive-sample.tar.gz", "torn.tar.gz"}
    assert {item["file"] for item in report["summary"]["problems"]} == {"fleet/torn.tar.gz"}
    by_id = {item["id"]: item for item in report["findings"]}
    gathered = clusters["must-gather-4.18.tar.gz"]
    assert gathered["version"].startswith("4.18.0-")
    for standing in gathered["targets"]:
        assert standing["verdict"] == "blocked"
        assert {by_id[id_]["path"] for id_ in standing["findings"]} == {
            "status.capabilities.enabledCapabilities[*]",
            "status.capabilities.knownCapabilities[*]",
        }
    enabled = next(item for item in report["findings"] if item["path"].endswith("enabledCapabilities[*]"))
    held = {share["target"]: {held["value"] for held in share["values"]} for share in enabled["targets"]}
    since_4_14 = {"MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"}
    assert held["release-4.13"] - held["release-4.14"] == since_4_14
    for name in ("must-gather-4.18.tar.gz", "insights-archive-sample.tar.gz"):
        for standing in clusters[name]["targets"][-1:]:
            sides = (standing["target"], "release-4.16", "--repo", openshift_api)
            alone = run("simulate", *sides, "--objects", real / name, "--format", "json").report
            assert alone["summary"]["verdicts"] == standing["objects"]
            causes = {(item["crd"], item["path"], item["type"]) for item in alone["summary"]["causes"]}
            keys = ("crd", "path", "type")
            assert {tuple(by_id[id_][key] for key in keys) for id_ in standing["findings"]} == causes
            missed = [item for item in alone["not_simulated"] if "in neither release" not in item["reason"]]
            assert standing["unjudged_objects"] == len(missed)
    assert {standing["verdict"] for standing in clusters["torn.tar.gz"]["targets"]} == {"unknown"}

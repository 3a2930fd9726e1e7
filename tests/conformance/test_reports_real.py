"""Reports on real releases."""

from __future__ import annotations

import json
import os
from pathlib import Path

from helpers import CONTEXT, diff, only, run, spawn


def test_real_releases_byte_identical(openshift_api: Path) -> None:
    command = ("diff", "release-4.15", "release-4.16", "--format", "json")
    outs = [spawn(*command, cwd=openshift_api, env={**os.environ, "PYTHONHASHSEED": seed}).out for seed in ("1", "2")]
    assert outs[0] == outs[1]
    assert len(outs[0]) > 10_000
    text = ("diff", "release-4.15", "release-4.16", "-v")
    assert len({spawn(*text, cwd=openshift_api, env={**os.environ, "PYTHONHASHSEED": s}).out for s in "12"}) == 1


def test_findings_are_in_the_order_that_people_read(openshift_api: Path) -> None:
    found = diff("release-4.13", "release-4.14", cwd=openshift_api)["findings"]
    levels, owners = ["error", "warning", "info"], ["status", "spec", "metadata", "other", "crd"]
    keys = [
        (
            f["direction"] != "rollback",
            levels.index(f["severity"]),
            owners.index(f["owner"]),
            f["crd"],
            f["version"],
            f["path"],
        )
        for f in found
    ]
    assert keys == sorted(keys)


def test_a_known_id(openshift_api: Path) -> None:
    """Waivers and baselines hold ids: they must never change."""
    finding = only(
        diff("release-4.13", "release-4.14", cwd=openshift_api),
        path="status.capabilities.enabledCapabilities[*]",
    )
    from hashlib import blake2b

    values = sorted(json.dumps(value) for value in finding["added"])
    crd_name = "clusterversions.config.openshift.io"
    told = ["enum-value-added", "rollback", crd_name, "v1", finding["path"], values, []]
    assert finding["id"] == blake2b(json.dumps(told, separators=(",", ":")).encode(), digest_size=6).hexdigest()


def test_real_text(openshift_api: Path) -> None:
    out = run("diff", "release-4.13", "release-4.14", cwd=openshift_api).out
    assert out.startswith("release-4.13 (")
    assert ", Kubernetes 1.26 -> release-4.14 (" in out
    assert "  note: release-4.13 is read as origin/release-4.13" in out
    report = diff("release-4.13", "release-4.14", cwd=openshift_api)
    counts = report["summary"]["findings"]
    assert f"Found {counts['error']} errors, {counts['warning']} warnings, {counts['info']} info; " in out
    assert f"{len(report['undecided'])} undecided" in out
    assert CONTEXT in out
    assert max(len(line) for line in out.splitlines()) > 100, "never wrapped where no terminal is"


def test_every_undecided_is_listed_with_v(openshift_api: Path) -> None:
    out = run("diff", "release-4.13", "release-4.14", "-v", cwd=openshift_api).out
    for entry in diff("release-4.13", "release-4.14", cwd=openshift_api)["undecided"]:
        where = entry["path"] or "the CRD"
        assert f"{entry['crd']}{'/' + entry['version'] if entry['version'] else ''} {where}: {entry['keyword']}:" in out

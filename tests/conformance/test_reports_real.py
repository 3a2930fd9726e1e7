"""Reports on real releases."""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import diff, only, run, spawn


def test_real_releases_byte_identical(openshift_api: Path) -> None:
    command = ("diff", "release-4.15", "release-4.16", "--no-cache", "--format", "json")
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
    reported = ["enum-value-added", "rollback", crd_name, "v1", finding["path"], values, []]
    assert finding["id"] == blake2b(json.dumps(reported, separators=(",", ":")).encode(), digest_size=6).hexdigest()


_MINORS = [f"release-4.{minor}" for minor in range(12, 17)]


@pytest.mark.parametrize(("old", "new"), [*pairwise(_MINORS)])
def test_a_minor_release_fits_on_two_screens(openshift_api: Path, old: str, new: str) -> None:
    """The text begins and ends with the verdict, and no line is wider than 120 columns."""
    out = run("diff", old, new, cwd=openshift_api).out
    lines = out.splitlines()
    assert len(lines) <= 105
    assert max(map(len, lines)) <= 120
    verdict = lines[: lines.index("")]
    assert verdict[0].startswith(f"{new} -> {old}: ")
    assert lines[-len(verdict) :] == verdict
    report = diff(old, new, cwd=openshift_api)
    counts = report["summary"]["findings"]
    assert ("BLOCKED" in verdict[0]) == any(
        (finding["severity"], finding["direction"]) == ("error", "rollback") for finding in report["findings"]
    )
    counted = re.findall(r"(\d+) errors?, (\d+) warnings?, (\d+) info", " ".join(verdict))
    assert [sum(map(int, each)) for each in zip(*counted, strict=True)] == [
        counts["error"], counts["warning"], counts["info"],
    ]  # fmt: skip
    assert f"{len(report['undecided'])} undecided" in " ".join(verdict)


def test_every_undecided_is_listed_with_v(openshift_api: Path) -> None:
    out = run("diff", "release-4.13", "release-4.14", "-v", cwd=openshift_api).out
    for entry in diff("release-4.13", "release-4.14", cwd=openshift_api)["undecided"]:
        where = entry["path"] or "the CRD"
        assert f"{entry['crd']}{'/' + entry['version'] if entry['version'] else ''} {where}: {entry['keyword']}:" in out

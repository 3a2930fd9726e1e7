"""The matrix of openshift/api release-4.12 to 4.16: equal to the pairwise diffs, at the cost of what differs."""

from __future__ import annotations

import os
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, kube, located, manifest, prove, run

import crdcompat
from crdcompat.compare import comparison_cache
from crdcompat.compare.schema_walk import SchemaDiff, diff_schemas
from crdcompat.config.configuration import Config
from crdcompat.config.releases import ReleaseList
from crdcompat.crds import reader
from crdcompat.crds.pairing import pair
from crdcompat.crds.reader import CrdReader
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_workflow import diff
from crdcompat.features.matrix.matrix_workflow import MatrixOptions, matrix
from crdcompat.findings.waiver_file import Accepted
from crdcompat.models.matrix import Cell, MatrixReport
from crdcompat.render.data.diff import diff_data
from crdcompat.schema.equality import identical
from crdcompat.schema.structural import Node
from crdcompat.sources.tree import Entry
from crdcompat.vocabulary.filters import Filters

NAMES = tuple(f"release-4.{minor}" for minor in range(12, 17))
VERSION, INFRASTRUCTURE = "clusterversions.config.openshift.io", "infrastructures.config.openshift.io"
#: Capabilities by the release whose ClusterVersion knows them first.
CAPABILITIES = {
    "release-4.13": ["NodeTuning"],
    "release-4.14": ["MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"],
    "release-4.15": ["OperatorLifecycleManager", "CloudCredential"],
    "release-4.16": ["CloudControllerManager", "Ingress"],
}


class _Work:
    """What a run did: blobs parsed, and schemas walked side by side."""

    def __init__(self) -> None:
        self.parsed: Counter[str | None] = Counter()
        self.walked: list[tuple[Node, Node]] = []


@pytest.fixture(scope="module")
def made(openshift_api: Path) -> tuple[MatrixReport, _Work]:
    """The matrix, and the work that it took."""
    work = _Work()
    parse = reader.read_file

    def counted_parse(data: bytes, entry: Entry) -> Any:
        work.parsed[entry.oid] += 1
        return parse(data, entry)

    def counted_diff(old: Node, new: Node, *others: Any) -> SchemaDiff:
        work.walked.append((old, new))
        return diff_schemas(old, new, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "read_file", counted_parse)
        patch.setattr(comparison_cache, "diff_schemas", counted_diff)
        report = matrix(ReleaseList(NAMES), Config(), Accepted(), MatrixOptions(repo=str(openshift_api)))
    return report, work


@pytest.fixture(scope="module")
def report(made: tuple[MatrixReport, _Work]) -> MatrixReport:
    return made[0]


def _plain(data: Json) -> Json:
    """Without command, examples, and ``because``: a matrix knows more releases that have a field in Default."""
    found = [
        {key: value for key, value in each.items() if key not in ("because", "witness")} for each in data["findings"]
    ]
    return {**{key: value for key, value in data.items() if key != "command"}, "findings": found}


def test_all_ways_are_there(report: MatrixReport) -> None:
    assert [release.name for release in report.releases] == list(NAMES)
    assert [(cell.origin, cell.target) for cell in report.cells] == [(a, b) for a in NAMES for b in NAMES if a != b]


def test_it_equals_the_pairwise_diffs(report: MatrixReport, openshift_api: Path) -> None:
    """Lines and counts included: what is shared between pairs changes nothing. `make fuzz` takes all pairs.

    A matrix has no advice on new fields: it is for the author of a change. An example may be that of an earlier pair:
    it shows the same, and is as small.
    """
    reader = CrdReader()
    others = 0
    for old, new in combinations(NAMES, 2) if "CRDCOMPAT_FUZZ" in os.environ else pairwise(NAMES[::2]):
        sides = [crdcompat.load(name, repo=str(openshift_api), reader=reader, side=side)
                 for name, side in ((old, "old"), (new, "new"))]  # fmt: skip
        for direction, ways in (("rollback", (new, old)), ("upgrade", (old, new))):
            cell = report.cell(*ways)
            assert cell is not None
            assert cell.direction == direction
            alone = diff(*sides, DiffOptions(Filters([direction]), advise=False))
            data, expected = diff_data(cell.report), diff_data(alone)
            assert _plain(data) == _plain(expected)
            for mine, theirs in zip(data["findings"], expected["findings"], strict=True):
                if mine["witness"] != theirs["witness"]:
                    others += 1
                    minors = old.removeprefix("release-"), new.removeprefix("release-")
                    servers = dict(zip(("old_kube", "new_kube"), map(kube, minors), strict=True))
                    prove(mine, *_manifests(mine, openshift_api, *minors), **servers)
            assert cell.verdict == (
                "blocked" if alone.by_severity()["error"] else "at risk" if alone.by_severity()["warning"] else "clean"
            )

    assert 0 < others < 20


def _manifests(finding: Json, openshift_api: Path, *releases: str) -> list[Json]:
    """The first manifest of each side that a finding names."""
    sides = zip(("old", "new"), releases, strict=True)
    return [manifest(openshift_api, release, located(finding, side)) for side, release in sides]


def test_what_blocks_and_since_when(report: MatrixReport) -> None:
    for cell in report.cells:
        older, newer = sorted((NAMES.index(cell.origin), NAMES.index(cell.target)))
        between = NAMES[older + 1 : newer + 1] if cell.direction == "rollback" else ()
        found = {(blocker.finding.crd, blocker.finding.path): blocker for blocker in cell.blockers}
        for path in ("enabledCapabilities", "knownCapabilities"):
            blocker = found.pop((VERSION, f"status.capabilities.{path}[*]"), None)
            since = Counter((each.release, each.value) for each in blocker.values) if blocker else Counter()
            assert since == Counter((name, value) for name in between for value in CAPABILITIES[name])
            assert blocker is None or blocker.since == between[0]
        external = [
            found.pop((INFRASTRUCTURE, path), None) for path in ("status.platform", "status.platformStatus.type")
        ]
        for blocker in external:
            assert (blocker is not None) is ("release-4.13" in between)
            if blocker is not None:
                assert [(each.value, each.release) for each in blocker.values] == [("External", "release-4.13")]
        rest = {(crd, path): blocker.since for (crd, path), blocker in found.items()}
        assert rest == (_refused_on_way(cell) if cell.target == NAMES[-1] else {})


def _refused_on_way(cell: Cell) -> dict[tuple[str, str], str]:
    """Infrastructure is applied before the API server, and uses isIP(), which 4.15 got with a later patch."""
    paths = {blocker.finding.path for blocker in cell.blockers if blocker.finding.rule == "crd-refused-on-way"}
    assert "spec.platformSpec.baremetal.apiServerInternalIPs[*]" in paths
    assert cell.direction == "upgrade"
    return {("infrastructures.config.openshift.io", path): NAMES[-1] for path in paths}


def test_each_blob_is_parsed_once(made: tuple[MatrixReport, _Work]) -> None:
    parsed = made[1].parsed
    assert len(parsed) > 200
    assert set(parsed.values()) == {1}


def test_no_two_equal_schemas_are_walked_twice(made: tuple[MatrixReport, _Work], openshift_api: Path) -> None:
    walked = [(repr(old.raw), repr(new.raw)) for old, new in made[1].walked]
    assert len(set(walked)) == len(walked)
    reader = CrdReader()
    sets = [crdcompat.load(name, repo=str(openshift_api), reader=reader) for name in NAMES]
    differing = {
        (repr(old.version.node.raw), repr(new.version.node.raw))
        for a, b in combinations(sets, 2)
        for crd_pair in pair(a, b).pairs
        for name in crd_pair.old.versions.keys() & crd_pair.new.versions.keys()
        for old, new in [(crd_pair.old.versions[name], crd_pair.new.versions[name])]
        if not identical(old.version.schema, new.version.schema)
    }
    assert set(walked) == differing


TARGETS: dict[str, Any] = {
    "release-4.16": ("unknown", set()),
    "release-4.15": ("blocked", {"release-4.16"}),
    "release-4.14": ("blocked", {"release-4.16", "release-4.15"}),
    "release-4.13": ("blocked", {"release-4.16", "release-4.15", "release-4.14"}),
    "release-4.12": ("blocked", {"release-4.16", "release-4.15", "release-4.14", "release-4.13"}),
}


@pytest.mark.parametrize("newer", [False, True])
def test_a_recorded_cluster(openshift_api: Path, shared: Path, newer: bool) -> None:
    """A 4.18 must-gather names the capabilities that block, per target; its own CRDs may be the newest release.

    Asked about ClusterVersion alone, what of other kinds could not be judged plays no part.
    """
    recording = shared / "data" / "recorded" / "must-gather-4.18.tar.gz"
    refs = [*NAMES, f"recording:{recording}"] if newer else NAMES
    asked = ["--crd", VERSION] if newer else []
    ran = run("matrix", *refs, "--direction", "upgrade", *asked, "--repo", openshift_api,
              "--objects", recording, "--format", "json")  # fmt: skip
    assert ran.code == 1, ran.err
    cluster = ran.report["cluster"]
    assert cluster["version"].startswith("4.18.0-0.ci.")
    assert cluster["from"] == (refs[-1] if newer else None)
    assert [target["to"] for target in cluster["targets"]] == list(reversed(NAMES))
    for target in cluster["targets"]:
        verdict, since = TARGETS[target["to"]]
        assert target["verdict"] == ("clean" if newer and verdict == "unknown" else verdict)
        held = {cause["path"]: set(cause["values"]) for cause in target["summary"]["causes"]}
        blocking = {value for release in since for value in CAPABILITIES[release]}
        paths = [f"status.capabilities.{path}[*]" for path in ("enabledCapabilities", "knownCapabilities")]
        assert held == (dict.fromkeys(paths, blocking) if blocking else {})
        assert any("converts versions by a webhook" in reason for reason in target["unjudged"]) != newer

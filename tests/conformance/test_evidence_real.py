"""Evidence from a real recording."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from helpers import CONTEXT, PAIRS, Json, recorded_count

import crdcompat
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.models.diff import DiffReport
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.sources import open_objects


@pytest.fixture(scope="module")
def lines(shared: Path) -> list[Json]:
    path = shared / "data/conformance/pairs.ndjson.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    with gzip.open(path) as text:
        found = [json.loads(line) for line in text]
    return [line for line in found if not line["id"].endswith("-k131")]


@cache
def _loaded(clone: Path, release: str) -> CrdSet:
    return crdcompat.load(f"origin/release-{release}", repo=str(clone))


@cache
def _report(clone: Path, pair: tuple[str, str]) -> DiffReport:
    return crdcompat.diff(_loaded(clone, pair[0]), _loaded(clone, pair[1]))


def _proved(clone: Path, pair: tuple[str, str], lines: Sequence[Json]) -> DiffReport:
    # The identity of an object is its content here: some lines share a name.
    items = [Recorded(line["object"], line["id"]) for line in lines if line["old_release"] == pair[0]]
    assert items
    return with_evidence(_report(clone, pair), _loaded(clone, pair[0]), _loaded(clone, pair[1]), [items])


def test_every_rejection_of_4_12_to_4_13_is_explained(lines: list[Json], openshift_api: Path) -> None:
    report = _proved(openshift_api, ("4.12", "4.13"), lines)
    assert report.unexplained == ()


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_clean_objects_are_no_evidence_of_rejections(
    lines: list[Json], openshift_api: Path, pair: tuple[str, str]
) -> None:
    clean = [line for line in lines if not line["errors"]]
    report = _proved(openshift_api, pair, clean)
    for finding in report.findings:
        if finding.effect == "write-rejected":
            assert not recorded_count(finding), (finding.direction, finding.crd, finding.path, finding.evidence)
    assert report.unexplained == ()


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_rejected_enum_values_are_counted(
    lines: list[Json], openshift_api: Path, shared: Path, pair: tuple[str, str]
) -> None:
    """As many objects as the recording has for each enum; each such finding is an error then."""
    rows = json.loads((shared / "data/conformance/pairs-expected.json").read_text())
    report = _proved(openshift_api, pair, lines)
    wanted = [row for row in rows if row["type"] == "FieldValueNotSupported" and row["old_release"] == pair[0]]
    assert wanted
    for row in wanted:
        found = [
            item
            for item in report.findings
            if (item.direction, item.crd, item.version) == (row["direction"], row["crd_name"], row["version"])
            and row["path"] in (item.path, *item.places)
            and item.effect == "write-rejected"
        ]
        counts = [recorded_count(item) for item in found]
        # Both directions' lines are asked in both directions: there may be more than the row knows of.
        assert counts and max(counts) >= row["objects"], (row, counts)
        assert all(item.severity == "error" for item in found if recorded_count(item))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_what_is_pruned_is_evidence_of_it(lines: list[Json], openshift_api: Path, pair: tuple[str, str]) -> None:
    """Objects that lose nothing are no evidence that anything is lost, and each line that loses something is some."""
    losing = [line for line in lines if line["pruned_paths"] and line["direction"] == "rollback"]
    keeping = [line for line in lines if not line["pruned_paths"] and line["direction"] == "rollback"]
    pruned = [item for item in _proved(openshift_api, pair, losing).findings if item.effect == "value-pruned"]
    if mine := [line for line in losing if line["old_release"] == pair[0]]:
        assert {item.crd for item in pruned if recorded_count(item)} >= {line["crd_name"] for line in mine}
        assert all(item.severity in ("error", "warning") for item in pruned if recorded_count(item))
    for item in _proved(openshift_api, pair, keeping).findings:
        if item.effect == "value-pruned" and item.direction == "rollback":
            assert not recorded_count(item), (item.crd, item.path, item.evidence)


_RECORDINGS = ("must-gather-4.18.tar.gz", "insights-archive-sample.tar.gz", "oc-adm-upgrade")


@pytest.mark.parametrize("pair", [("4.12", "4.16"), ("4.16", "4.18")], ids="-".join)
def test_findings_explain_every_rejection_of_recorded_objects(
    shared: Path, openshift_api: Path, pair: tuple[str, str]
) -> None:
    """The CRDs of 4.18 are those that its must-gather holds."""
    folder = shared / "data/recorded"
    if not folder.is_dir():
        pytest.skip("no recordings in ../shared")
    recorded = [list(read_objects(open_objects(str(folder / name)))) for name in _RECORDINGS]
    assert sum(isinstance(item, Recorded) for items in recorded for item in items) > 100
    old = _loaded(openshift_api, pair[0])
    new = crdcompat.load(str(folder / _RECORDINGS[0])) if pair[1] == "4.18" else _loaded(openshift_api, pair[1])
    report = with_evidence(crdcompat.diff(old, new), old, new, recorded)
    assert report.counts.compared > 20
    assert report.unexplained == ()
    # The must-gather and the archive show the feature set Default, and the must-gather its profile.
    met = [each for each in report.findings if recorded_count(each)]
    assert met and {each.evidence.contexts for each in met} == {(CONTEXT,)}
    assert all(CONTEXT in each.contexts for each in met)

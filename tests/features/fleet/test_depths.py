"""The entry of a cluster: its verdict for each target, and the reasons why it is not judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleets import MODES, releases

from crdcompat import load
from crdcompat.features.fleet.cluster_counts import ClusterTally, TargetTally
from crdcompat.features.fleet.depths import ClusterLister
from crdcompat.models.fleet import UnjudgedReason
from crdcompat.models.simulation import Unrecorded
from crdcompat.vocabulary import Direction

_WIDGETS = "widgets.example.com"


def _lister(top: Path, *unrecorded: tuple[Unrecorded, ...], direction: Direction = Direction.ROLLBACK) -> ClusterLister:
    """The targets release-4.13, 4.14, …, as many as there are lists of what was not recorded."""
    folders = releases(top)
    readers = [load(f"path:{folders[name]}") for name in list(MODES)[: len(unrecorded)]]
    return ClusterLister(readers, direction, {}, unrecorded)


def _reasons(lister: ClusterLister, *clusters: ClusterTally) -> list[list[tuple[str, ...]]]:
    """The reasons of each cluster for each target."""
    for each in clusters:
        lister.add(each)
    return [[target.unjudged for target in cluster.verdicts] for cluster in lister.clusters]


def _cluster(name: str, *recorded: str, targets: int = 1, version: str | None = None) -> ClusterTally:
    return ClusterTally([name], None, version, None, [TargetTally() for _ in range(targets)], set(recorded))


@pytest.mark.parametrize(
    ("version", "minors"),
    [
        ("4.12.9", [13, 14]),
        ("4.13.9", [13, 14]),
        ("4.14.0", [14]),
        ("4.15.3", []),
        (None, []),
    ],
)
def test_a_target_that_is_not_older_is_no_rollback(tmp_path: Path, version: str | None, minors: list[int]) -> None:
    for direction in Direction:
        lister = _lister(tmp_path, (), (), direction=direction)
        folder = tmp_path / "release-4."
        expected = [
            (f"it runs {version}, and path:{folder}{minor} is not older",)
            if minor in minors and direction == Direction.ROLLBACK
            else ()
            for minor in (13, 14)
        ]
        assert _reasons(lister, _cluster("a", targets=2, version=version)) == [expected]


def test_kinds_that_were_not_recorded(tmp_path: Path) -> None:
    """Each reason stands once, with the first cluster of the first target that lacks the kinds, and no objects."""
    lacks = Unrecorded(_WIDGETS, "Widget", 2)
    lister = _lister(tmp_path, (), (lacks,))
    made = [_cluster("a", _WIDGETS, targets=2), _cluster("b", targets=2), _cluster("c", targets=2)]
    reasons = _reasons(lister, *made)
    (why,) = reasons[1][1]
    assert reasons == [[(), ()], [(), (why,)], [(), (why,)]]
    target = f"path:{tmp_path / 'release-4.14'}"
    assert [*lister.unrecorded()] == [UnjudgedReason(why, (target,), 2, 0, "b")]


def test_the_reasons_of_a_cluster_are_counted(tmp_path: Path) -> None:
    cluster = _cluster("a")
    cluster.targets[0] = TargetTally(reasons={"no CRD": 2, "why": 0}, other_reasons=1, problems=3)
    ((reasons,),) = _reasons(_lister(tmp_path, ()), cluster)
    assert reasons == ("2 objects: no CRD", "why", "1 other reason", "3 problems while it was read")

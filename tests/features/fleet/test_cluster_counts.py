"""The counts of a fleet do not depend on the order in which its clusters come."""

from __future__ import annotations

from itertools import permutations

import pytest

from crdcompat.features.fleet.cluster_counts import FleetTally, TargetTally
from crdcompat.features.fleet.judged import Judged
from crdcompat.features.fleet.recording_outcome import Outcome, RecordingCause, TargetOutcome, UnjudgedObjects
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import Apart, Endpoint, WriteResult

KEY = ("widgets.example.com", "spec.a", "FieldValueNotSupported")


def _judged(place: int, *recorded: str, version: str = "4.16.3") -> Judged:
    """The recording at this place, of a cluster of its own, with one rejected object and one that is not judged."""
    crd, path, type_ = KEY
    cause = RecordingCause(
        crd, "Widget", path, type_, Endpoint.MAIN, (place,), (False,), 1, f"w{place}", f"{place}.yaml", place, ()
    )
    target = TargetOutcome(
        {verdict: int(verdict is WriteResult.REJECTED) for verdict in WriteResult},
        (cause,),
        (UnjudgedObjects("no CRD", 1, f"g{place}"),),
        dict.fromkeys(Apart, 0),
    )
    outcome = Outcome(version=version, objects=1, targets=(target,), recorded=recorded)
    return Judged(place, f"{place}.tar.gz", f"{place}.tar.gz", outcome)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_examples_and_places_are_those_of_the_first_recording(order: tuple[int, ...]) -> None:
    tally = FleetTally(1, Direction.ROLLBACK)
    for place in order:
        tally.add([_judged(place)])
    (finding,), (reason,) = tally.findings.values(), tally.reasons.values()
    (share,) = finding.shares.values()
    assert (finding.place, finding.example, finding.cause.values) == (0, "w0 in 0.tar.gz", (0,))
    assert (share.place, share.spot) == (0, ("0.yaml", 0, ()))
    assert (reason.place, reason.example) == (0, "g0 in 0.tar.gz")
    assert (finding.clusters, finding.objects, share.clusters.count, share.objects) == (3, 3, 3, 3)
    assert (reason.clusters.count, reason.objects) == (3, {0: 3})


@pytest.mark.parametrize("order", list(permutations([("a", "b"), ("b", "c"), ("a", "b", "c")])))
def test_a_crd_is_everywhere_if_each_cluster_has_recorded_it(order: tuple[tuple[str, ...], ...]) -> None:
    tally = FleetTally(1, Direction.ROLLBACK)
    for place, recorded in enumerate(order):
        tally.add([_judged(place, *recorded)])
    assert tally.everywhere == {"b"}


def test_a_cluster_has_recorded_what_any_of_its_recordings_has() -> None:
    tally = FleetTally(1, Direction.ROLLBACK)
    cluster = tally.add([_judged(0, "a"), _judged(1, "b")])
    assert (cluster.recordings, cluster.recorded) == (["0.tar.gz", "1.tar.gz"], {"a", "b"})
    assert tally.everywhere == {"a", "b"}


def test_a_cluster_that_was_upgraded_meanwhile_has_no_version() -> None:
    tally = FleetTally(1, Direction.ROLLBACK)
    clusters = [tally.add([_judged(0), _judged(1, version="4.16.4")]), tally.add([_judged(2), _judged(3)])]
    assert [cluster.version for cluster in clusters] == [None, "4.16.3"]
    assert tally.versions == {"4.16.3": 1}


def test_a_reason_counts_the_objects_of_all_recordings_of_a_cluster() -> None:
    cluster = FleetTally(1, Direction.ROLLBACK).add([_judged(0), _judged(1), _judged(2)])
    (target,) = cluster.targets
    assert (target.reasons, target.unjudged) == ({"no CRD": 3}, 3)


def test_a_cluster_fails_for_early_values_and_deleted_objects() -> None:
    found = [TargetTally(), TargetTally(early=True), TargetTally(deleted=1), TargetTally(unjudged=1, problems=1)]
    assert [each.fails for each in found] == [False, True, True, False]

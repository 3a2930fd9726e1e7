"""What the objects of a recording come to for one target."""

from __future__ import annotations

from typing import cast

from crdcompat.features.fleet.target_results import TargetResults
from crdcompat.features.simulate.early import Growing
from crdcompat.models.simulation import DELETED, NotSimulated
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.replay.judges import Replayer


class _Deletes:
    """A replayer of a release whose installer deletes each object with its CRD."""

    def replay_once(self, item: Recorded, seen: set[tuple[str, ...]]) -> NotSimulated:
        name = item.data["metadata"]["name"]
        return NotSimulated(f"Widget/{name}", item.source, "deleted", crd="widgets.example.com", lost=True)

    def completed(self, item: Recorded) -> Recorded:
        return item


def test_objects_that_are_deleted_with_their_crd_are_one_cause() -> None:
    results = TargetResults(cast(Replayer, _Deletes()), Growing())
    for name in ("a", "b"):
        results.add(Recorded({"kind": "Widget", "metadata": {"name": name}}, "dump.json"))
    (cause,) = results.outcome(()).causes
    assert (cause.crd, cause.kind, cause.type, cause.objects, cause.example) == (
        "widgets.example.com",
        "Widget",
        DELETED,
        2,
        "Widget/a",
    )
    assert results.places(()) == ({cause.key: 0}, {})

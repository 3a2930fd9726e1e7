"""How many processes judge a fleet."""

from __future__ import annotations

from importlib.machinery import ModuleSpec

import pytest

from crdcompat.features.fleet.workers import workers_for


@pytest.mark.parametrize(
    ("recordings", "jobs", "has_dask", "expected"),
    [
        (100, None, True, 6),
        (3, None, True, 3),
        (0, None, True, 1),
        (3, 4, True, 4),
        (100, None, False, 1),
        (100, 4, False, 1),
    ],
)
def test_one_process_for_each_processor_unless_there_are_fewer_recordings_or_no_dask(
    monkeypatch: pytest.MonkeyPatch, recordings: int, jobs: int | None, has_dask: bool, expected: int
) -> None:
    spec = ModuleSpec("distributed", None) if has_dask else None
    monkeypatch.setattr("crdcompat.features.fleet.workers.find_spec", lambda _: spec)
    monkeypatch.setattr("crdcompat.features.fleet.workers._usable_processors", lambda: 6)
    assert workers_for(recordings, jobs, None, None).jobs == expected

"""The rollback depth of one recorded cluster: its objects replayed against several releases in one pass."""

from __future__ import annotations

import os
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from crdcompat.errors import CrdcompatError, Problem, Skipped
from crdcompat.features.fleet.deduplicate import ObjectResult, RecordingObjects
from crdcompat.features.fleet.recording_outcome import Outcome, RejectedObject, encode
from crdcompat.features.fleet.target_results import TargetResults, shortened, shortened_problem
from crdcompat.features.simulate.early import NOTHING_GROWS, Growing
from crdcompat.recordings.capture import CaptureFacts
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import EmptyList, ObjectItem, read_objects
from crdcompat.replay.judges import Replayer
from crdcompat.sources import open_objects
from crdcompat.vocabulary.writes import WriteResult

_MAX_PROBLEMS = 5
_MAX_REJECTED = 1000


def judge_recording(
    path: str,
    replayers: Sequence[Replayer],
    kinds: Collection[tuple[str, str]] | None = None,
    growth: Growing = NOTHING_GROWS,
) -> bytes:
    """The encoded outcome of one recording. Never raises because of its content: a failure is an outcome, too.

    ``kinds``: see `read_objects`.
    """
    try:
        return encode(judge_objects(read_objects(open_objects(f"path:{path}"), kinds=kinds), replayers, growth))
    except CrdcompatError as error:
        return _failed(str(error).removeprefix("path:"))
    except MemoryError:
        return _failed("out of memory")
    except Exception as error:
        if os.environ.get("CRDCOMPAT_TRACEBACK"):
            traceback.print_exc()
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        return _failed(f"crashed ({what}): this is a bug; please report it")


def judge_objects(
    objects: Iterable[ObjectItem],
    replayers: Sequence[Replayer],
    growth: Growing = NOTHING_GROWS,
) -> Outcome:
    """Replay the objects of one cluster against every target.

    Values that are held before the release that writes them, by ``growth``, are causes of the type TOO_EARLY. Objects
    that Helm deletes with their CRD are one cause per CRD, of the type DELETED.
    """
    targets = [TargetResults(replayer, growth) for replayer in replayers]
    facts, listed = ClusterFacts(), RecordingObjects()
    problems: dict[Problem, None] = {}
    skipped: list[Skipped] = []
    empty: set[str] = set()
    rejected: list[tuple[str, tuple[ObjectResult, ...]]] = []
    problem_count = count = 0
    for item in objects:
        if isinstance(item, Problem):
            problem_count += 1
            if len(problems) < _MAX_PROBLEMS:
                problems[shortened_problem(item)] = None
        elif isinstance(item, EmptyList):
            empty.update(replayer.crd_of(item) for replayer in replayers)
        elif isinstance(item, CaptureFacts):
            for target in targets:
                target.doubt(item)
        elif isinstance(item, Skipped):
            skipped = [*skipped[:1], item]
        else:
            count += 1
            facts.add(item)
            results = tuple(result for target in targets if (result := target.add(item)) is not None)
            name = replayers[0].completed(item).name_in_cluster
            if len(results) < len(targets):
                continue
            if name is not None:
                listed.add(name, results)
            if len(rejected) < _MAX_REJECTED and any(result.verdict == WriteResult.REJECTED for result in results):
                rejected.append((shortened(replayers[0].completed(item).label), results))
    if not count:
        return Outcome(failure=shortened(_why_nothing(tuple(problems), skipped)))
    if len(facts.ids) > 1:
        return Outcome(failure=f"holds {len(facts.ids)} clusters ({', '.join(facts.ids[:2])}, …): name each by itself")
    for target in targets:
        problems.update(dict.fromkeys(target.refused))
        problem_count += len(target.refused)
    recorded = empty.union(*(target.recorded for target in targets)) - {""}
    early = growth.early(facts.versions)
    places = [target.places(early) for target in targets]
    return Outcome(
        id=facts.id,
        version=facts.version,
        platform=facts.platform,
        objects=targets[0].objects,
        outside=targets[0].outside,
        targets=tuple(target.outcome(early) for target in targets),
        problems=tuple(problems),
        problem_count=problem_count,
        recorded=tuple(sorted(recorded)),
        fates=listed.groups(places) if facts.id is not None else (),
        rejected=tuple(RejectedObject(name, _places(results, places)) for name, results in rejected),
    )


def _places(
    results: Sequence[ObjectResult], places: Sequence[tuple[Mapping[Any, int], object]]
) -> tuple[tuple[int, ...], ...]:
    """For each target, the places of an object's causes in the list of the outcome."""
    return tuple(
        tuple(sorted(causes[key] for key in result.causes if key in causes))
        for result, (causes, _) in zip(results, places, strict=True)
    )


def _failed(reason: str) -> bytes:
    return encode(Outcome(failure=shortened(reason)))


def _why_nothing(problems: Sequence[Problem], skipped: Sequence[Skipped]) -> str:
    """Why a recording contains no object: its first problem, or why its only file was skipped."""
    if problems:
        return f"no object could be read: {problems[0].file}: {problems[0].message}"
    if len(skipped) == 1:
        return f"holds no objects ({skipped[0].file}: {skipped[0].reason})"
    return "holds no objects"

"""The rollback depth of a recorded cluster: its objects replayed against every older release in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from crdcompat.config.releases import Version, version_of
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.simulate.early import NOTHING_GROWS, Growing, after_move
from crdcompat.features.simulate.simulate_workflow import simulate_each, with_unrecorded
from crdcompat.models.matrix import ClusterTarget, MatrixCluster
from crdcompat.models.simulation import SimulationReport
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import ObjectItem
from crdcompat.render.wording.replay import unjudged_replay


def judge_cluster(
    sets: Sequence[CrdSet],
    writers: Sequence[CrdSet],
    objects: Callable[[], Iterable[ObjectItem]],
    sources: Sequence[str],
    *,
    origin: str | None = None,
    context: str | None = None,
    crds: Sequence[str] = (),
    growth: Callable[[str], Growing] = lambda release: NOTHING_GROWS,
) -> MatrixCluster:
    """Replay the rollback to each release older than the cluster's; ``sets`` are oldest first.

    ``writers`` are the same sets, each on the server on which the cluster runs it. ``growth`` gives the declarations
    for objects that a release has written.

    The cluster's release is ``origin``, else that of its ClusterVersion, else the newest. The ClusterVersion is known
    only after all ``objects`` were read: a first pass assumes the newest release, and a second one follows if that was
    wrong. Raises UsageError if standard input would have to be read twice.
    """
    names = [crds.name for crds in sets]
    newest = len(sets) - 1 if origin is None else names.index(origin)
    facts = ClusterFacts()
    writer = writers[newest]
    targets = [after_move(each, writer) for each in (sets if origin is None else sets[:newest])]
    watched, grows = facts.observe(objects()), growth(writer.name)
    reports = simulate_each(targets, writer, watched, context=context, crds=crds, growth=grows, facts=facts)
    versions = facts.versions
    older: Sequence[str] = names[:newest]
    notes = _several_versions(versions)
    if origin is None:
        origin, older, more = _place(names, versions)
        if origin not in (None, names[newest]) and older:
            if "-" in sources:
                raise UsageError(f"standard input can be read only once: name what the cluster runs, --from {origin}")
            return judge_cluster(
                sets, writers, objects, sources, origin=origin, context=context, crds=crds, growth=growth
            )
        notes += more
    judged = list(zip(targets, reports, strict=True))
    return MatrixCluster(
        sources=tuple(sources),
        version=versions[0] if versions else None,
        origin=origin,
        targets=tuple(
            _target(old.name, with_unrecorded(report, (old, writer), context, crds, is_writer=origin is not None))
            for old, report in reversed(judged)
            if old.name in older
        ),
        notes=notes,
    )


def _several_versions(versions: Sequence[str]) -> tuple[str, ...]:
    if len(versions) < 2:
        return ()
    note = f"the recordings are of clusters that run {', '.join(versions)}: taken as one that runs {versions[0]}"
    return (f"{note} (simulate judges a fleet)",)


def _place(names: Sequence[str], versions: Sequence[str]) -> tuple[str | None, Sequence[str], tuple[str, ...]]:
    """The release that a cluster runs (None: none of them), the older releases, and notes on assumptions."""
    runs = version_of(versions[0]) if versions else None
    listed = [version_of(name) for name in names]
    if runs is None or None in listed:
        why = "no ClusterVersion names its release" if runs is None else "not every release has a version in its name"
        return names[-1], names[:-1], (f"the cluster is taken to run {names[-1]}: {why} (--from names another)",)
    same = [name for name, version in zip(names, listed, strict=True) if version and _is_of(version, runs)]
    if same:
        older = names[: names.index(same[-1])]
        return same[-1], older, () if older else (f"none of the releases is older than {same[-1]}",)
    older = [name for name, version in zip(names, listed, strict=True) if version and version < runs]
    return None, older, () if older else (f"none of the releases is older than {versions[0]}",)


def _is_of(release: Version, runs: Version) -> bool:
    """Whether a cluster of version ``runs`` belongs to a release: its branch, or an earlier one of the same minor."""
    return release[0][:2] == runs[0][:2] and (len(release[0]) <= 2 or release <= runs)


def _target(name: str, report: SimulationReport) -> ClusterTarget:
    """The verdict on one release; ``unknown`` at best if something was not judged."""
    return ClusterTarget(name, report.verdict, report, unjudged_replay(report))

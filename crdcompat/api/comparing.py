"""Read the CRDs of releases, compare them, and accept what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.vocabulary import Direction, Owner, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.config.configuration import Config
    from crdcompat.crds.reader import CrdSet
    from crdcompat.models.check import CheckReport
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.recordings.recorded_objects import ObjectItem


def load_crds(source: str, *, repo: str | None = None) -> CrdSet:
    """Read the CRDs of a source, without a configuration.

    Documents that cannot be read are in ``problems`` of the set; they do not hide the others. Raises SourceError,
    RefNotFoundError, UsageError.

    Example: ``load_crds("git:release-4.13").named()`` is a dict from CRD name to documents.
    """
    from crdcompat.features.diff.diff_workflow import load

    return load(source, repo=repo)


def load_objects(*sources: str, repo: str | None = None) -> Iterator[ObjectItem]:
    """Read the recorded objects of must-gathers, archives, folders or files: what ``simulate`` replays.

    A bare source is a path here. Yields ``Recorded`` (``data``: the object, ``source``: where it is recorded), and for
    what is no object a ``Problem`` (unreadable) or ``Skipped``. One file is in memory at a time; an iterator serves one
    replay. Raises SourceError, RefNotFoundError and UsageError before the first object.

    Example: ``simulate(old, new, load_objects("must-gather.tar.gz"))``.
    """
    from itertools import chain

    from crdcompat.recordings.recorded_objects import read_objects
    from crdcompat.sources import open_objects

    trees = [open_objects(source, repo=repo) for source in sources]
    return chain.from_iterable(map(read_objects, trees))


def diff(
    old: CrdSet | str,
    new: CrdSet | str,
    *,
    repo: str | None = None,
    directions: Sequence[Direction] = tuple(Direction),
    owners: Sequence[Owner] = (),
    crds: Sequence[str] = (),
    paths: Sequence[str] = (),
    contexts: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    locate: bool = True,
    config: str | None = None,
    recordings: Iterable[Iterable[ObjectItem]] = (),
) -> DiffReport:
    """Compare the CRDs of two releases, the older one first; a text is read as a source.

    A filter excludes findings; an empty one excludes none. ``directions``: ``rollback``, ``upgrade``. ``owners``:
    ``spec``, ``status``, … ``crds``: names of CRDs. ``paths``: a CRD counts if a file of either side lies below one.
    ``contexts``: names to keep, or ``OLD=NEW`` to force a pair. ``select`` and ``ignore``: rule ids. ``locate=False``
    saves the look-up of files and lines; there are no ``remarks`` then.

    ``config`` is the path of a configuration file (None: no configuration counts): it says what is read, and its
    severities, waivers and declarations count, as for the command. ``recordings`` are evidence for findings: those of
    ``load_objects``, one for each cluster (none: those that the configuration names).

    Raises UsageError for a CRD or context that neither side has, ConfigError for a wrong configuration, and for texts
    what ``load_crds`` raises.

    Example: ``diff("git:release-4.13", "git:release-4.14").findings``.
    """
    from crdcompat.features.diff.configured import configured_diff, with_evidence
    from crdcompat.features.diff.diff_options import DiffOptions
    from crdcompat.features.diff.diff_workflow import diff as compare
    from crdcompat.vocabulary.filters import Filters

    found = configuration(config, repo) if config is not None else None
    before, after = two_sides(old, new, repo, paths, found)
    if found is None:
        wanted = Filters(directions, owners, crds, paths, contexts, select, ignore)
        report = compare(before, after, DiffOptions(wanted, locate=locate))
        return with_evidence(report, before, after, recordings)
    wanted = Filters(directions, owners, crds, paths, contexts or found.texts("contexts"), select, ignore)
    met = recordings or [load_objects(name, repo=repo) for name in found.recordings]
    return configured_diff(before, after, found, wanted, locate=locate, recordings=met)


def suggest_patch(
    old: CrdSet | str,
    new: CrdSet | str,
    *,
    repo: str | None = None,
    crds: Sequence[str] = (),
    paths: Sequence[str] = (),
    contexts: Sequence[str] = (),
    config: str | None = None,
) -> str:
    """A unified diff of OLD's files with which its schemas accept what NEW stores; "" if nothing can be widened.

    It widens what the rollback findings on these CRDs, paths and contexts need, except for those that the waivers of
    ``config`` accept. crdcompat never applies it. The arguments are those of ``diff``, and it raises as ``diff``.

    Example: ``suggest_patch("git:release-4.13", "git:release-4.14")`` is input for ``git apply``.
    """
    from crdcompat.features.diff.configured import configured_diff, patch_for
    from crdcompat.features.diff.diff_workflow import suggest_patch as suggested
    from crdcompat.vocabulary.filters import Filters

    found = configuration(config, repo) if config is not None else None
    before, after = two_sides(old, new, repo, paths, found)
    named = contexts or (found.texts("contexts") if found is not None else ())
    wanted = Filters(crds=crds, paths=paths, contexts=named)
    if found is None:
        return suggested(before, after, wanted)
    return patch_for(before, after, configured_diff(before, after, found, wanted, locate=False), wanted)


def waive(
    ids: Sequence[str],
    reason: str,
    *,
    owner: str = "",
    until: str = "",
    report: DiffReport | CheckReport | str | None = None,
    base: str | None = None,
    repo: str | None = None,
    config: str | None = None,
) -> int:
    """Accept findings: write them into the waiver file that the configuration names. Returns the number of new waivers.

    ``ids`` are ids of findings, or their beginnings, in ``report``: a report, or the path of one in JSON (None: that of
    ``check`` with this ``base``). ``until`` is the end, a day or a release ("": none). ``config`` is as in ``check``.

    Raises UsageError for an id that no finding has or several have, ConfigError for a wrong configuration or waiver
    file, and what ``check`` raises.

    Example: ``waive([finding.id], "old clusters have no such object", report=report)``.
    """
    from crdcompat.features.waive import waive_workflow

    source = waive_workflow.Source(report=report, base=base, config=config, repo=repo)
    names = [ids] if isinstance(ids, str) else ids
    return waive_workflow.waive(source, dict.fromkeys(names, reason), owner, until).count


def baseline(
    reason: str = "stood at the baseline",
    *,
    owner: str = "",
    until: str = "",
    report: DiffReport | CheckReport | str | None = None,
    base: str | None = None,
    repo: str | None = None,
    config: str | None = None,
) -> int:
    """Accept all errors and warnings of a report, as a baseline. Returns the number of new waivers.

    The arguments are those of ``waive``, and it raises as ``waive``.

    Example: ``baseline(report=diff("git:release-4.13", "git:release-4.14"))``.
    """
    from crdcompat.features.waive import waive_workflow

    source = waive_workflow.Source(report=report, base=base, config=config, repo=repo)
    return waive_workflow.baseline(source, reason, owner, until).count


def check(
    *,
    base: str | None = None,
    head: str | None = None,
    targets: Sequence[str] | None = None,
    repo: str | None = None,
    config: str | None = None,
) -> CheckReport:
    """Compare a change in a git repository with its base, and its head with each rollback target.

    ``base`` is a ref; the change starts at its merge base with ``head`` (None: that of CI or git). ``head`` is a
    commit, ``index:`` or ``worktree:`` (None: the index). ``targets`` are sources (None: those of the configuration).
    ``config`` is the path of a configuration file (None: the nearest one from the repository upwards). A file of the
    repository is read as it is at the merge base; ``rules`` of the report say what the change edits in it.

    ``sections`` of the report has one comparison for the base and one for each target; without sections there was
    nothing to check, and ``notes`` give the reason. Raises ConfigError, UsageError, SourceError, RefNotFoundError.

    Example: ``check(base="main", head="feature").fails("error")``.
    """
    from crdcompat.features.check.check_options import CheckOptions
    from crdcompat.features.check.check_workflow import check_by_rules

    return check_by_rules(config, CheckOptions(base=base, head=head, repo=repo, targets=targets))


def matrix(releases: Sequence[str], *, repo: str | None = None, config: str | None = None) -> MatrixReport:
    """Compare every two of the releases in both directions: which release can go back to which.

    ``releases`` are two sources or more; sorted if all names contain a version, else given oldest first.
    ``config`` is as in ``check``; its waivers count.

    ``cells`` of the report has one ordered pair each: ``origin``, ``target``, ``verdict`` (``clean``, ``at risk``,
    ``blocked``, ``unknown``) and ``blockers``. Raises ConfigError, SourceError, RefNotFoundError, and UsageError for
    fewer than two releases or one that is named twice.

    Example: ``matrix(["git:release-4.12", "git:release-4.13", "git:release-4.14"]).cells``.
    """
    from crdcompat.config.releases import choose
    from crdcompat.features.matrix import matrix_workflow
    from crdcompat.findings.waiver_file import read_accepted

    found = configuration(config, repo)
    accepted = read_accepted(found.waiver_file)
    return matrix_workflow.matrix(choose(releases, (), repo), found, accepted, matrix_workflow.MatrixOptions(repo=repo))


def two_sides(
    old: CrdSet | str, new: CrdSet | str, repo: str | None, paths: Sequence[str] = (), config: Config | None = None
) -> tuple[CrdSet, CrdSet]:
    """Both sides as sets without copies that do not ship; equal blobs of two texts are read once.

    Two texts are read as the ``config`` says, if there is one.
    """
    if config is not None and isinstance(old, str) and isinstance(new, str):
        from crdcompat.config.applied import both_sides

        return both_sides(old, new, config, repo, command="diff", any_order=True, paths=paths)
    from crdcompat.crds.reader import CrdReader
    from crdcompat.crds.shipping import shipping
    from crdcompat.features.diff.diff_workflow import load

    reader = CrdReader()
    before = load(old, repo=repo, reader=reader, side=Side.OLD) if isinstance(old, str) else old
    after = load(new, repo=repo, reader=reader, side=Side.NEW) if isinstance(new, str) else new
    return shipping(before, after, paths)


def configuration(file: str | None, repo: str | None) -> Config:
    """The configuration of a file, None: the nearest one. Raises ConfigError."""
    from pathlib import Path

    from crdcompat.config.configuration_file import find_config

    return find_config(file, Path(repo) if repo else None)

"""The options of a check, and the releases that it compares: the branch of the change, and its rollback targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.errors import UsageError
from crdcompat.sources.naming import is_commit_id
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository
from crdcompat.vocabulary.filters import UNFILTERED, Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.config.configuration import Config
from crdcompat.features.check.base import EMPTY, Change


class CheckOptions(Struct, frozen=True):
    """The options of a check besides the configuration.

    ``base`` and ``head`` are as in ``find_change``; ``targets`` are rollback targets (None: the configuration's).
    ``recordings`` have the objects that are evidence. Where these or the contexts of ``filters`` are empty, the
    configuration's count. ``formats`` will show the report: some need lines of files, some the CRDs that pass.
    ``all_targets``: all CRDs are compared with targets, since findings that existed before count, too; without it
    those that the change touches. ``targets_only``: the report has no section for the base. ``use_cache``: use and
    extend the cached facts about unchanged files. ``change`` is what base and head give, if it is known already.
    ``recorded_at``: the commit whose recordings count; "" for recordings in the working tree.
    """

    base: str | None = None
    head: str | None = None
    repo: str | None = None
    targets: Sequence[str] | None = None
    filters: Filters = UNFILTERED
    recordings: Sequence[str] = ()
    formats: Sequence[str] = ()
    all_targets: bool = False
    targets_only: bool = False
    use_cache: bool = True
    change: Change | None = None
    recorded_at: str = ""


class Targets(Struct, frozen=True):
    """The rollback targets of a change; ``notes`` for the report.

    They are branches and tags; those that a person ``typed`` can be any source.
    """

    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    typed: bool = False


class Releases(Struct, frozen=True):
    """The releases of a check: the change with its branch, its rollback targets, and the completed configuration."""

    change: Change
    config: Config
    targets: Targets


def find_releases(change: Change, config: Config, options: CheckOptions) -> Releases:
    """The branch that a change is made for, its rollback targets, and the servers of all, also by what git tells.

    Raises UsageError for ``targets_only`` without targets.
    """
    notes: tuple[str, ...] = ()
    if change.old != EMPTY:
        from crdcompat.config.found import with_found

        base = change.old.removeprefix("git:")
        commit = base if is_commit_id(base) else resolve(Repository(options.repo), base).commit
        found = with_found(config, options.repo, commit, change.release, options.targets)
        change, config, notes = replace(change, release=found.branch), found.config, found.notes
    targets = find_targets(change, config, options.targets)
    if options.targets_only and not targets.names:
        raise UsageError(
            "--targets-only needs a rollback target: --target REF, or rollback_targets in the configuration"
        )
    return Releases(change, config, replace(targets, notes=(*notes, *targets.notes)))


def find_targets(change: Change, config: Config, named: Sequence[str] | None = None) -> Targets:
    """The rollback targets: those ``named``, else the configuration's for the release of the change."""
    if named is not None:
        return Targets(tuple(named), typed=True)
    names = config.targets(change.release)
    if names is None:
        release = repr(change.release) if change.release else "the branch of this change, which is not known"
        return Targets(notes=(f"rollback_targets does not name {release}: no rollback from it is checked",))
    return Targets(tuple(name for name in names if name != change.release))


def compares_all(options: CheckOptions) -> bool:
    """Whether all CRDs are compared, not only those that the change touches.

    Evidence and some formats are about all CRDs.
    """
    from crdcompat.render.write import wants_passing

    return options.all_targets or bool(options.recordings) or wants_passing(options.formats)

"""Where the rules of a check come from: the configuration of the merge base, not the change's own configuration.

A pull request that could edit the rules of its own check would judge itself. An edit is shown, and holds after the
merge. On one's own machine the configuration of the working tree counts: who stages a change is its author.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.config.configuration import FILES, Config
from crdcompat.config.configuration_file import find_config, parse_config, upwards
from crdcompat.config.differences import edits
from crdcompat.errors import ConfigError, MissingObjectsError, RefNotFoundError, SourceError
from crdcompat.features.check.base import EMPTY, TARGET_BRANCHES, Base, Change, change_since, chosen_base, exists
from crdcompat.features.check.check_options import CheckOptions
from crdcompat.program import runs_in_ci
from crdcompat.sources.commit_files import blobs_at, read_blob
from crdcompat.sources.differing import has_staged
from crdcompat.sources.named_refs import find_ref, typed_commit
from crdcompat.sources.naming import is_commit_id
from crdcompat.sources.plain_file import path_in, top_of
from crdcompat.sources.refs import merge_base, resolve
from crdcompat.sources.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.check import CheckReport

_USUAL = ("refs/heads/main", "refs/heads/master")


class Rules(Struct, frozen=True):
    """The configuration that judges a change, and lines for people on what the change edits in it.

    ``change`` is the change, if it was looked for.
    """

    config: Config
    lines: tuple[str, ...] = ()
    change: Change | None = None

    def shown_in(self, report: CheckReport) -> CheckReport:
        """The report with these lines first."""
        return replace(report, rules=(*self.lines, *report.rules))


class _Place(Struct, frozen=True):
    """Where the configuration is looked for: the top of the repository, and paths below it, the first one counts."""

    repository: Repository
    top: Path
    paths: tuple[str, ...]
    is_named: bool
    known: dict[tuple[str, str], Config | None] = field(default_factory=dict)

    def at(self, commit: str) -> Config | None:
        """The configuration of a commit, None without one. Raises ConfigError, SourceError."""
        found = (self._read(*each) for each in blobs_at(self.repository, commit, self.paths).items())
        return next((config for config in found if config is not None), None)

    def _read(self, path: str, oid: str) -> Config | None:
        if (path, oid) not in self.known:
            text = read_blob(self.repository, oid)
            self.known[path, oid] = parse_config(self.top / path, text, named=self.is_named)
        return self.known[path, oid]


def find_rules(named: str | None, options: CheckOptions, environment: Mapping[str, str] = os.environ) -> Rules:
    """The rules of a check. ``named`` is the file of ``--config``, also ``REF:PATH``.

    A named file outside of the repository, or one that git does not track, counts as it is. Raises ConfigError,
    UsageError, SourceError.
    """
    repository = Repository(options.repo)
    start = Path(options.repo or ".")
    if named is not None and ":" in named and not named.startswith(("/", "./", "../")):
        return Rules(_of_commit(repository, named))
    mine = find_config(named, start)
    place = _place(named, start, repository)
    if place is None or _is_own(repository, options.head, environment):
        return Rules(mine)
    try:
        return _judged(place, mine, options, environment)
    except MissingObjectsError as error:
        from crdcompat.features.check.missing_history import with_one_advice

        raise with_one_advice(error, mine, options, environment) from None


def _of_commit(repository: Repository, named: str) -> Config:
    """The configuration ``REF:PATH``; never a file of this name, which a change can bring."""
    ref, _, path = named.partition(":")
    try:
        found = blobs_at(repository, typed_commit(repository, ref, f"--config {{}}:{path}").commit, [path])
    except RefNotFoundError:
        raise ConfigError(
            f"{named}: there is no such configuration file, and {ref} is no branch, tag or commit"
        ) from None
    if path not in found:
        raise ConfigError(f"{named}: {ref} has no such file")
    top = top_of(Path(repository.path or ".")) or Path()
    config = parse_config(top / path, read_blob(repository, found[path]), named=True)
    assert config is not None, named
    return config


def _place(named: str | None, start: Path, repository: Repository) -> _Place | None:
    """Where to look in commits; None for a named file outside of the repository."""
    folder = start.resolve()
    top = top_of(folder)
    if named is None:
        root = top or folder  # a bare repository: the files are at its top
        folders = [*upwards(folder)] if top is not None else [folder]
        paths = ((each / name).relative_to(root).as_posix() for each in folders for name in FILES)
        return _Place(repository, root, tuple(paths), False)
    path = path_in(Path(named), repository)
    return None if top is None or path is None else _Place(repository, top, (path,), True)


def _is_own(repository: Repository, head: str | None, environment: Mapping[str, str]) -> bool:
    """Whether an author checks their own change: no CI runs, and it is not committed, or a hook asks."""
    if runs_in_ci(environment, "PULL_BASE_SHA", *TARGET_BRANCHES):  # CI alone knows the branch of the merge
        return False
    if "PRE_COMMIT" in environment or head == "worktree:":
        return True
    if head not in (None, "index:") or environment.get("PRE_COMMIT_TO_REF"):
        return False
    return not exists(repository, "HEAD") or has_staged(repository)


def _judged(place: _Place, mine: Config, options: CheckOptions, environment: Mapping[str, str]) -> Rules:
    """The rules of a change: the rules of its merge base, else the rules that the change adds."""
    repository = place.repository

    def change_from(configured: str | None) -> Change | None:
        found = chosen_base(repository, options.base, configured, environment)
        return change_since(found, options.head, repository, environment)

    first = chosen_base(repository, options.base, None, environment)
    is_told = first is not None and first.is_told
    start = first or chosen_base(repository, None, next(_local_main(repository), mine.base), environment)
    change = change_since(start, options.head, repository, environment)
    if change is None or change.old == EMPTY:
        return Rules(mine, (), change)
    before, broken = _of_base(place, change)
    if before is not None and not is_told and (before.base is not None or first is None):
        change = change_from(before.base) or change
        before, broken = _of_base(place, change)
    after, is_tracked = _of_head(place, mine, change, before)
    if before is not None:
        return Rules(before, (*_edited(before, after), *_edited_recordings(before, change, repository)), change)
    missing = f"the configuration of the merge base {f'cannot be used ({broken})' if broken else 'is missing'}"
    merged = _of_tip(place, start, change) if start is not None else None
    if start is not None and merged is not None:
        line = f"{missing}: that of {start.release or start.ref} decides, {_shown(merged, place)}"
        return Rules(merged, (line, *(_edited(merged, after) if after.file is not None else ())), change)
    is_new = after.file is not None and is_tracked
    if is_new:
        _refuse_own_refs(after, change, repository, is_base_known=first is not None)
    if first is None:
        change = change_from(after.base) or change
    return Rules(after, (f"{missing}: that of this change decides, {_shown(after, place)}",) if is_new else (), change)


def _shown(config: Config, place: _Place) -> str:
    assert config.file is not None
    return os.path.relpath(config.file, place.top)


def _of_tip(place: _Place, base: Base, change: Change) -> Config | None:
    """The configuration of the base branch itself: a change can begin at a commit from before it."""
    try:
        commit = resolve(place.repository, base.ref).commit
        return place.at(commit) if change.old != f"git:{commit}" else None
    except ConfigError:
        return None


def _of_base(place: _Place, change: Change) -> tuple[Config | None, str]:
    """The configuration of the merge base, None if it has none or a broken one; and what is wrong with a broken one.

    A change has to be able to mend a configuration that the base has broken.
    """
    try:
        return place.at(change.old.removeprefix("git:")), ""
    except ConfigError as error:
        return None, str(error)


def _of_head(place: _Place, mine: Config, change: Change, before: Config | None) -> tuple[Config, bool]:
    """The configuration of the head, and whether git has it. A commit may have none where the working tree has one."""
    committed = place.at(change.head or resolve(place.repository, "HEAD").commit)
    if change.head and (committed is not None or before is not None):
        return committed or Config(), True
    return mine, committed is not None


def _edited(before: Config, after: Config) -> tuple[str, ...]:
    found = "; ".join(edits(before.values, after.values))
    if not found:
        return ()
    return (f"this change edits the rules of its own check: {found} (judged by the rules before it)",)


def _edited_recordings(config: Config, change: Change, repository: Repository) -> Iterator[str]:
    """A line for each recording of the configuration that a change edits: the recording of the base counts."""
    if not config.texts("objects"):
        return
    from crdcompat.sources.commit_objects import path_differs

    head = change.head or "HEAD"
    for name in config.recordings:
        path = path_in(Path(name), repository)
        if path is not None and path_differs(repository, path, change.old.removeprefix("git:"), head):
            yield f"this change edits the rules of its own check: the recording {path} (judged by the one before it)"


def _refuse_own_refs(config: Config, change: Change, repository: Repository, *, is_base_known: bool) -> None:
    """Refuse a new configuration that names a commit, or a release with commits of the change.

    A comparison with these would find no difference. ``base`` of the configuration counts unless the base is known
    without it. Raises ConfigError, SourceError.
    """
    targets = config.values["rollback_targets"]
    named = targets if isinstance(targets, list) else [name for names in targets.values() for name in names]
    head = change.head or "HEAD"
    base = change.old.removeprefix("git:")
    for name in (*([config.base] if config.base else []), *named):
        if is_commit_id(name.removeprefix("git:")):
            raise ConfigError(f"{config.file}: {name}: a new configuration names branches and tags: this is a commit")
    for name in (*([config.base] if config.base and not is_base_known else []), *named):
        found = find_ref(repository, name.removeprefix("git:"), f"{config.file}: {{}}", typed=False)
        if found is not None and _has_own_commits(repository, found.commit, head, base):
            raise ConfigError(f"{config.file}: {name}: it has commits of the change: name releases")


def _has_own_commits(repository: Repository, ref: str, head: str, base: str) -> bool:
    """Whether the history of ``ref`` has commits that the change from ``base`` to ``head`` adds."""
    try:
        common = merge_base(repository, ref, head)
        return merge_base(repository, common, base) != common
    except SourceError:  # nothing in common, as far as the clone knows
        return False


def _local_main(repository: Repository) -> Iterator[str]:
    """The local main branch, where no remote has one."""
    return (ref for ref in _USUAL if find_ref(repository, ref, "--base {}", typed=False) is not None)

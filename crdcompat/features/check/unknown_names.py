"""Names in the configuration and the waivers of a check that fit nothing: each is reported."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.prefilter.candidates import is_candidate, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdcompat.config.configuration import Config
    from crdcompat.features.check.base import Change
    from crdcompat.findings.waivers import Waiver
    from crdcompat.models.check import CheckReport
    from crdcompat.sources.differing import Difference
    from crdcompat.sources.tree import Tree


def with_submodules(
    report: CheckReport, change: Change, differences: Iterable[Difference], config: Config, repo: str | None
) -> CheckReport:
    """The report, with the submodules among the ``differences`` of a change: their files are not read.

    One that ``include``, ``ships`` or a kustomization names has files that count: the change is not judged. Raises
    SourceError.
    """
    from crdcompat.features.check.base import short

    globs = (*config.texts("include"), *config.ships)
    moved = [(each.path, *each.commits) for each in differences if each.commits is not None]
    named = _kustomized(change, repo) if moved else frozenset[str]()
    notes, unseen = [], []
    for path, old, new in moved:
        line = f"submodule {path} moved from {short(old)} to {short(new)}"
        is_named = any(f"{name}/".startswith(f"{path}/") for name in named)
        if is_named or any(_names_files_of(glob, path) for glob in globs):
            unseen.append(line)
        else:
            notes.append(f"not judged: {line}")
    if not (notes or unseen):
        return report
    return replace(report, notes=(*report.notes, *notes), unseen=(*report.unseen, *unseen))


def _kustomized(change: Change, repo: str | None) -> frozenset[str]:
    """The paths that the kustomizations of a change list. Raises SourceError."""
    from crdcompat.crds.kustomizations import read_kustomizations
    from crdcompat.features.check.opened import open_sides

    trees = open_sides(change, repo)
    return frozenset().union(*(read_kustomizations(tree, tree.entries()).named for tree in trees))


def _names_files_of(glob: str, submodule: str) -> bool:
    """Whether a glob names files of a submodule; one that begins with ``*`` means no folder in particular."""
    folders = accumulate(glob.split("/"), "{}/{}".format)
    return any(fnmatchcase(submodule, folder) for folder in folders if folder.strip("*?/"))


def unknown_branches(change: Change, config: Config, repo: str | None) -> tuple[str, ...]:
    """Notes on the keys of ``rollback_targets`` that are no branch, where no key is the branch of the change.

    Raises SourceError.
    """
    mapped = config.values["rollback_targets"]
    if not isinstance(mapped, dict) or change.release in mapped:
        return ()
    from crdcompat.sources.refs import branches
    from crdcompat.sources.repository import Repository

    known = branches(Repository(repo))
    return tuple(
        f"rollback_targets: {name!r} is no branch of this repository (or it is not fetched)"
        for name in mapped
        if name not in known
    )


def with_left_out(report: CheckReport, trees: tuple[Tree, Tree], config: Config) -> CheckReport:
    """The report on a change without CRDs that count: not judged, if ``include`` and ``exclude`` leave none at all.

    That is so if the change has CRDs, and the head no other ones. Raises SourceError.
    """
    keys = [key for key in ("include", "exclude") if config.values[key]]
    if not keys:
        return report
    from crdcompat.config.applied import reader_for

    reader, same = reader_for(config), unchanged(trees)

    def has_crd(tree: Tree, counts: Callable[[str], bool]) -> bool:
        entries = [entry for entry in tree.entries() if is_candidate(entry.path) and counts(entry.path)]
        return next(reader.documents(tree, entries), None) is not None

    left_out = any(has_crd(tree, lambda path: path not in same and not config.wants(path)) for tree in trees)
    if not left_out or has_crd(trees[1], config.wants):
        return report
    leave = "leaves" if len(keys) == 1 else "leave"
    places = " and ".join(dict.fromkeys(config.origins[key] for key in keys))
    reason = f"{' and '.join(f'`{key}`' for key in keys)} of {places} {leave} none of the CRDs in this change"
    return replace(report, unseen=(reason,))


def nameless(waivers: Iterable[Waiver], file: object, may_hold: Callable[[str], bool]) -> Iterator[str]:
    """Notes on the waivers of ``file`` about CRDs that none of the compared sides has, as ``may_hold`` answers."""
    for waiver in waivers:
        if not may_hold(waiver.crd):
            said = f"no CRD has the name {waiver.crd}: correct it, or take the waiver out"
            yield f"nothing: {file}:{waiver.line}: {waiver.label}: {said}"

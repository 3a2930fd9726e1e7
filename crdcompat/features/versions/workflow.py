"""versions: read each release once, follow each version over all of them, and judge each jump."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from crdcompat.config.applied import read_source, reader_for
from crdcompat.config.configuration import Config
from crdcompat.config.found import with_found
from crdcompat.config.releases import ReleaseList, choose
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.features.diff.report import release
from crdcompat.features.versions.facts import facts_of
from crdcompat.features.versions.inventory import Installed
from crdcompat.features.versions.lives import disputes, jumps, lives
from crdcompat.features.versions.stored_in_cluster import stored_in
from crdcompat.models.versions import VersionsReport
from crdcompat.sources.branches import read_names
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.steps import stepping


class VersionsOptions(Struct, frozen=True):
    """The options besides the releases. ``trees`` are recordings of one cluster, or the live one."""

    crds: Sequence[str] = ()
    context: str | None = None
    repo: str | None = None
    trees: Sequence[Tree] = ()
    on_file: Callable[[], object] = lambda: None


def own_releases(config: Config, repo: str | None) -> ReleaseList:
    """The releases that a rollback from the commit that is checked out may go to, then this commit itself.

    Raises SourceError outside of a repository, UsageError if it has no such release.
    """
    repository = Repository(repo)
    found = with_found(config, repo, resolve(repository, "HEAD").commit, read_names(repository).checked_out)
    targets = found.config.targets(found.branch) or ()
    if not targets:
        raise UsageError("name the releases, oldest first: no release was found before the commit that is checked out")
    listed = choose(targets, (), repo, least=1)
    return ReleaseList((*listed.names, "HEAD"), (*listed.notes, *found.notes))


def versions(releases: ReleaseList, config: Config, options: VersionsOptions) -> VersionsReport:
    """The life of each version over the releases, and the jumps; with a cluster, those from it to each release.

    Raises SourceError, RefNotFoundError, and UsageError for an unknown CRD or context.
    """
    reader, names = reader_for(config), releases.names
    read = stepping(names, "Releases read", len(names))
    sets = [read_source(name, Side.ANY, reader, config, options.repo) for name in read]
    context, facts, notes = facts_of(sets, options.context) if sets else ("", [], [])
    shown = [crds.name for crds in sets]
    installed = Installed(options.trees, reader, options.on_file) if options.trees else None
    known = {crd for each in facts for crd in each} | set(installed.crds if installed is not None else ())
    for crd in options.crds:
        if crd not in known:
            raise UsageError(f"no CRD is named {crd}{did_you_mean(crd, sorted(known))}")
    if installed is None:
        cluster, found = None, list(jumps(shown, facts, options.crds))
        unjudged = disputes(shown, facts, options.crds)
    else:
        cluster, found = stored_in(installed, shown, facts, options.crds)
        unjudged = tuple(dict.fromkeys(reason for jump in found for reason in jump.unjudged))
        if installed.clusters > 1:
            raise UsageError(f"the recordings are of {installed.clusters} clusters: name those of one")
    problems = [*(problem for crds in sets for problem in crds.problems)]
    return VersionsReport(
        releases=tuple(map(release, sets)),
        context=context,
        lives=tuple(lives(shown, facts, options.crds)),
        jumps=tuple(found),
        cluster=cluster,
        unjudged=unjudged,
        problems=(*dict.fromkeys(problems), *(installed.problems if installed is not None else ())),
        notes=(*releases.notes, *dict.fromkeys(note for crds in sets for note in crds.notes), *notes),
    )

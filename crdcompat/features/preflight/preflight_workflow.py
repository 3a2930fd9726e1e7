"""preflight: compares a release with a cluster's CRDs, then replays the rollback on the objects that can matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.server_versions import DEFAULT_SERVER, Server, known_server
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.diff.diff_report import release
from crdcompat.features.fleet.code import code_id
from crdcompat.features.preflight.admitters import note_of
from crdcompat.features.preflight.affected_kinds import Scope, refused_crds, scope_of
from crdcompat.features.preflight.asked_cluster import Cluster, LiveCluster
from crdcompat.features.preflight.crds_on_rollback import after_rollback, installers_of
from crdcompat.features.preflight.early_values import early_in, growing_in, unknown_release
from crdcompat.features.preflight.kept import Kept
from crdcompat.features.preflight.object_counts import MAX_LISTED, Tally
from crdcompat.features.preflight.plan import Rollback, ordered_steps
from crdcompat.features.preflight.running_server import platform, running, server_notes
from crdcompat.features.preflight.standing import standing_of
from crdcompat.findings.growth import Declaration
from crdcompat.models.preflight import Missing, PreflightReport, Step, StepKind
from crdcompat.models.release import Release
from crdcompat.recordings.capture import digest_of
from crdcompat.recordings.recorded_objects import ObjectItem
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary.installers import Installer
from crdcompat.vocabulary.texts import some


class PreflightOptions(Struct, frozen=True):
    """The options of a preflight.

    ``judge`` is the server after the rollback (None: OLD's, else the cluster's). ``context`` selects OLD's variants.
    ``read_all``: judge all kinds, also those without findings. ``operator`` is the running operator as
    NAMESPACE/DEPLOYMENT, "" if not named. ``growth`` are declarations of values that objects may not hold before the
    release that writes them. ``arguments`` are the arguments of the command line, for the commands to copy.
    ``resume`` is the file that keeps the kinds of a live cluster that were read to the end, "" for none.
    """

    judge: Server | None = None
    context: str | None = None
    read_all: bool = False
    operator: str = ""
    arguments: tuple[str, ...] = ()
    growth: tuple[Declaration, ...] = ()
    resume: str = ""


def preflight(
    old: CrdSet,
    cluster: Cluster,
    options: PreflightOptions,
    each: Callable[[Iterable[ObjectItem]], Iterable[ObjectItem]] = iter,
) -> PreflightReport:
    """Judge whether the cluster can go back to OLD. ``each`` passes objects on unchanged, and can count them.

    Raises UsageError for an unknown context of variants, or OLD without CRDs.
    """
    if not old.documents and not old.problems:
        raise UsageError(f"no CRD in {old.name}")
    installers = installers_of(old)
    old = after_rollback(old, cluster.installed, of_release=cluster.of_release)
    standing = standing_of(old, cluster.installed, cluster.facts, options.context, of_release=cluster.of_release)
    runs, unknown = running(cluster)
    growth = growing_in(cluster, runs, options.growth)
    declared = {each.crd for each in early_in(cluster, growth)}
    scope = scope_of(old, cluster.installed, standing, read_all=options.read_all, declared=declared)
    named = options.judge or known_server(old)
    judge = named or runs
    rollback = Rollback(scope, runs, judge)
    tally = Tally(scope, rollback, is_deduplicated=cluster.is_live, growth=options.growth)
    kept = _kept(options, cluster, scope, f"{runs}, {judge}")
    if scope.needed:
        for item in each(cluster.objects(scope.needed)):
            shown = tally.add(item)
            if kept is not None:
                kept.add(item, shown=shown)
    for crd in kept.resumed if kept is not None else ():
        tally.add_plain(crd, kept.plain(crd) if kept is not None else 0)
    missing = [*scope.missing, *(() if named else unknown), *tally.gaps.missing()]
    missing += cluster.missing(scope, tally.recorded)
    missing += unknown_release(cluster, growth, tally.early)
    admission = tuple(cluster.not_judged(scope))
    report = PreflightReport(
        old=release(old),
        new=Release(cluster.installed.name, None, runs.kubernetes if runs else None, cluster.installed.notes),
        source=cluster.source,
        is_live=cluster.is_live,
        platform=platform(cluster),
        judge=str(judge) if judge is not None else "",
        installed=len(scope.both),
        kinds=tally.kinds(),
        refused=tuple(refused_crds(scope, judge or DEFAULT_SERVER)),
        causes=(*tally.causes(), *tally.early.causes(early_in(cluster, growth))),
        tolerated=tally.tolerated(),
        losses=tally.losses(),
        writers=tally.writers(),
        unlisted=tally.unlisted,
        missing=tuple(_each_once(missing)),
        windows=scope.windows,
        notes=(
            *standing.notes,
            *server_notes(cluster, old),
            *_notes(scope, tally, judge, hides=cluster.hides),
            *cluster.notes(),
            *(kept.notes() if kept is not None else ()),
            *map(note_of, admission),
        ),
        admission=admission,
        operator=options.operator,
        arguments=options.arguments or (old.name,),
        deleted=tally.deleted(),
        installers=_installers(scope, installers),
    )
    if kept is not None:
        kept.close(done=not report.missing)
    repairs = map(_unpatched, tally.steps) if cluster.hides else tally.steps
    return replace(report, steps=ordered_steps(report, scope, repairs, tally.stuck))


def _kept(options: PreflightOptions, cluster: Cluster, scope: Scope, servers: str) -> Kept | None:
    """The file of the finished kinds, if one is wanted. Raises UsageError for the file of another run."""
    if not options.resume or not isinstance(cluster, LiveCluster):
        return None
    run = {
        "code": code_id(),
        "release": digest_of(scope.old),
        "cluster": cluster.server,
        "servers": servers,
        "options": _digest((scope.context, scope.needed, sorted(scope.deleted), sorted(map(repr, options.growth)))),
    }
    kept = Kept(options.resume, run, {name: _digest(scope.news[name].crd.raw["metadata"]) for name in scope.needed})
    cluster.keep(kept)
    return kept


def _digest(value: object) -> str:
    return blake2b(repr(value).encode(), digest_size=8).hexdigest()


def _installers(scope: Scope, of_old: Mapping[str, frozenset[Installer]]) -> dict[str, frozenset[Installer]]:
    """The installers of each CRD that the rollback replaces or deletes; Helm manages those that it deletes."""
    found = {name: of_old[name] for name in scope.both}
    return found | {name: found.get(name, frozenset()) | {Installer.HELM_TEMPLATES} for name in scope.deleted}


def unreadable(old: CrdSet, name: str, missing: Missing, arguments: tuple[str, ...]) -> PreflightReport:
    """The report on a cluster that could not be read at all; ``arguments`` as in the options."""
    unknown = Release(name, None, None)
    steps = Step(missing.step, missing.what, api=missing.api), Step(StepKind.CHECK)
    return PreflightReport(
        release(old), unknown, (name,), True, "", "", 0, steps=steps, missing=(missing,), arguments=arguments
    )


def _each_once(missing: Iterable[Missing]) -> Iterator[Missing]:
    """The gaps, each thing that can be recorded once: the first reason counts."""
    seen: set[str] = set()
    for item in dict.fromkeys(missing):
        if item.step is not StepKind.RECORD or item.what not in seen:
            seen.add(item.what)
            yield item


def _unpatched(step: Step) -> Step:
    """The step without its patch: hidden names and values would make the patch wrong."""
    return replace(step, patch=None, redacted=None)


def _notes(scope: Scope, tally: Tally, judge: Server | None, *, hides: bool) -> Iterator[str]:
    if judge is None:
        yield "the server's version is unknown (--kube-version names it): an answer counts if all versions agree"
    if scope.extra:
        yield f"{scope.old.title} lacks {some(scope.extra)}: do not delete these CRDs, that would delete their objects"
    if gone := sorted(scope.deleted - tally.lost.keys()):
        yield f"helm rollback deletes {some(gone)}, of which no object is stored"
    if hides:
        yield "the recording hides names or values: run preflight on the cluster for the commands that repair objects"
    if tally.loses_more:
        yield f"objects lose more than {MAX_LISTED} fields: the first {MAX_LISTED} are listed"
    if tally.already:
        yield f"not counted: rejections that the installed CRDs have, too ({plural(tally.already, 'object')})"

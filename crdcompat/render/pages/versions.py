"""The life of versions as a page: the verdict, what blocks jumps, what a cluster has to migrate, the table."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from crdcompat.models.preflight import Step, StepKind
from crdcompat.render.escape import Style, json_text, shortened
from crdcompat.render.pages.blocks import Block, Cell, Fold, Line, Listing, Notes, Section, Table, listing
from crdcompat.render.pages.page import Answer, Page
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.preflight_steps import ShownStep, kubectl_for, storage_command, storage_sentence
from crdcompat.render.wording.verdict import allowed_by
from crdcompat.vocabulary.texts import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.versions import Jump, Lost, StoredKind, VersionLife, VersionsCluster, VersionsReport

_MAX_LABEL, _MAX_CELL, _MAX_UNJUDGED = 64, 40, 12


def page(report: VersionsReport, style: Style) -> Page:
    """The page; CRDs with nothing but one version that stays as it is are counted, without ``-v``."""
    unjudged = listing("What was not judged", tuple(map(Line, report.unjudged)), most=_MAX_UNJUDGED)
    kinds = [_kind(report.cluster, kind) for kind in report.cluster.due] if report.cluster is not None else []
    return Page(
        command="versions",
        answers=(Answer(f"{verdict_sentence(report)}{allowed_by(report.verdict, style)}", report.verdict),),
        problems=report.problems,
        head=(Listing(tuple(_blocking(report))),),
        body=(*unjudged, *kinds, *_lives(report, style), Notes(report.notes)) if style.verbosity >= 0 else (),
    )


def _kind(cluster: VersionsCluster, kind: StoredKind) -> Section:
    steps = tuple(Line(step.sentence, commands=step.commands) for step in shown_steps(cluster, kind))
    return Section(kind_sentence(kind), (Listing(steps),), mark=kind.crd)


def _lives(report: VersionsReport, style: Style) -> Iterator[Block]:
    if not report.lives:
        return
    hidden = () if style.verbosity > 0 else steady(report)
    lives = [life for life in report.lives if life not in hidden]
    rows = [(f"{life.crd}/{life.version}", *cells(life)) for life in lives]
    if rows:
        yield Table("Versions", ("", *COLUMNS), tuple(tuple(map(Cell, _shortened(*row))) for row in rows))
    if hidden:
        what = "has one version, which is" if len(hidden) == 1 else "have one version each, which is"
        sentence = f"{plural(len(hidden), 'CRD')} {what} served and stored throughout (-v lists them)."
        yield Line(sentence, depth=0)
    yield Line(legend(report), depth=0, hang=0)


def _shortened(label: str, *texts: str) -> Iterator[str]:
    yield shortened(label, _MAX_LABEL)
    yield from (shortened(text, _MAX_CELL) or "-" for text in texts)


COLUMNS = ("served since", "served until", "deprecated since", "stored since", "stored until", "removed in")
#: More releases that follow each other are shown as the first and the last.
_MAX_NAMES = 2


def verdict_sentence(report: VersionsReport) -> str:
    """``3 jumps over 3 releases: BLOCKED (2 blocked, 1 clean)``; of a cluster, its jumps to the releases."""
    counted = ", ".join(f"{count} {verdict}" for verdict, count in report.by_verdict().items() if count)
    why = f" ({counted})" if counted else ""
    if report.cluster is None:
        jumps = f"{plural(len(report.jumps), 'jump')} over {plural(len(report.releases), 'release')}"
        return f"{jumps}: {report.verdict.upper()}{why}"
    due = f"{plural(len(report.cluster.due), 'CRD') if report.cluster.due else 'nothing'} to migrate"
    if not report.jumps:
        return f"{report.cluster.title}: {due}"
    releases = plural(len(report.releases), "release")
    return f"{report.cluster.title} to {releases}: {report.verdict.upper()}{why}, {due}"


def _blocking(report: VersionsReport) -> Iterator[Line]:
    """What blocks jumps, or may block them, with the jumps and the way out; CRDs with equal sentences together."""
    names = [item.name for item in report.releases]
    found: dict[tuple[str, str, bool], list[tuple[Jump, Lost]]] = {}
    for jump in report.jumps:
        for lost in jump.lost:
            found.setdefault((lost.crd, lost.version, lost.is_certain), []).append((jump, lost))
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (crd, version, is_certain), ways in sorted(found.items(), key=lambda item: not item[0][2]):
        lines = (*_jumps(ways, names, "BLOCKED" if is_certain else "AT RISK"), *_way_out(ways, names))
        alike.setdefault((_stored(version, ways, names), lines), []).append(crd)
    for (sentence, lines), crds in alike.items():
        below = tuple(Line(line, depth=2) for line in lines)
        yield Line(sentence, some(crds), fold=Fold.NEVER, below=below)


def _stored(version: str, ways: Iterable[tuple[Jump, Lost]], names: Sequence[str]) -> str:
    stored = {name for _, lost in ways for name in lost.stored}
    if stored:
        return f"{_span(stored, names)} {'stores' if len(stored) == 1 else 'store'} objects as {version}"
    if all(lost.is_certain for _, lost in ways):
        return f"status.storedVersions has {version}"
    return f"none of these releases stores objects as {version}, but an earlier one may have"


def _jumps(ways: Iterable[tuple[Jump, Lost]], names: Sequence[str], verdict: str) -> Iterator[str]:
    """The origins that cannot go to the same targets, a line each."""
    targets: dict[str, list[str]] = {}
    for jump, _ in ways:
        targets.setdefault(jump.origin, []).append(jump.target)
    origins: dict[tuple[str, ...], list[str]] = {}
    for origin, each in targets.items():
        origins.setdefault(tuple(each), []).append(origin)
    for reached, left in origins.items():
        yield f"{verdict}: {_span(left, names)} -> {_span(reached, names)}"


def _way_out(ways: Iterable[tuple[Jump, Lost]], names: Sequence[str]) -> Iterator[str]:
    if names and any(jump.origin not in names for jump, _ in ways):
        return  # a cluster: it has commands instead
    if migrate := {name for _, lost in ways for name in lost.migrate}:
        yield f"Way out: migrate stored objects in {_span(migrate, names, 'or')} (both versions are there)."
    else:
        yield "None of these releases has both this version and the one that follows it: none can migrate objects."


def _span(chosen: Iterable[str], names: Sequence[str], word: str = "and") -> str:
    """Names in the order of the releases; of many that follow each other, the first and the last."""
    wanted = set(chosen)
    found = [name for name in names if name in wanted] or sorted(wanted)
    if len(found) > _MAX_NAMES and len(found) == names.index(found[-1]) - names.index(found[0]) + 1:
        return f"{found[0]} to {found[-1]}"
    *first, last = found
    return f"{', '.join(first)} {word} {last}" if first else last


def steady(report: VersionsReport) -> tuple[VersionLife, ...]:
    """The versions about which there is nothing to say: the only one of its CRD, the same in each release."""
    counted: dict[str, int] = {}
    for life in report.lives:
        counted[life.crd] = counted.get(life.crd, 0) + 1
    return tuple(
        life
        for life in report.lives
        if counted[life.crd] == 1
        and life.present == life.served == life.stored
        and not (life.deprecated or life.removed_in)
    )


def cells(life: VersionLife) -> tuple[str, ...]:
    """The cells of a version, in the order of ``COLUMNS``; "" for never."""
    removed = life.removed_in if life.has_crd or not life.removed_in else f"{life.removed_in} (with the CRD)"
    since = (life.served_since, life.served_until, life.deprecated_since)
    return (*since, life.stored_since, life.stored_until, removed)


def legend(report: VersionsReport) -> str:
    """What the table cannot tell."""
    oldest = report.releases[0].name
    return f"{oldest} is the oldest of these releases: what is listed since {oldest} may be older."


def kind_sentence(kind: StoredKind) -> str:
    """What the cluster has stored of one kind: ``status.storedVersions v1beta1, v1; stores v1 now; 12 objects``."""
    objects = "number of objects unknown" if kind.objects is None else plural(kind.objects, "object")
    return f"status.storedVersions {', '.join(kind.stored)}; stores {kind.storage or 'nothing'} now; {objects}"


def shown_steps(cluster: VersionsCluster, kind: StoredKind) -> tuple[ShownStep, ...]:
    """The steps that leave nothing but the goal in ``status.storedVersions``, with their commands."""
    kubectl = kubectl_for(cluster.source if cluster.is_live else ())
    if not kind.steps:
        return (ShownStep(f"The installed CRD does not serve {kind.goal}: go through a release with both versions."),)
    return tuple(ShownStep(storage_sentence(step), _commands(cluster, kubectl, kind, step)) for step in kind.steps)


def _commands(cluster: VersionsCluster, kubectl: str, kind: StoredKind, step: Step) -> tuple[str, ...]:
    """The commands of a step; where the cluster has a migrator, that rewrites the objects."""
    if step.kind is not StepKind.REWRITE or not cluster.has_migrator:
        return (storage_command(kubectl, step),)
    migration = {
        "apiVersion": "migration.k8s.io/v1alpha1",
        "kind": "StorageVersionMigration",
        "metadata": {"name": kind.crd},
        "spec": {"resource": {"group": kind.group, "version": kind.goal, "resource": kind.plural}},
    }
    wanted = f"storageversionmigrations.migration.k8s.io/{kind.crd}"
    return (
        f"echo {shlex.quote(json_text(migration))} | {kubectl} create -f -",
        f"{kubectl} wait --for=condition=Succeeded --timeout=1h {shlex.quote(wanted)}",
    )

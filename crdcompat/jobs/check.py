"""check: what a change does to rollbacks and upgrades, and what stands between it and each rollback target.

The base shows what the change itself does. Against a target the head may meet much that was there before: what
the base meets there too is told as existing and never fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from itertools import chain
from typing import Any

from crdcompat.compare.result import Judged
from crdcompat.compare.site import DIRECTIONS
from crdcompat.jobs import api
from crdcompat.jobs.bystanders import unread
from crdcompat.jobs.change import Change
from crdcompat.jobs.configured import configured, reader_for
from crdcompat.jobs.narrow import Narrower
from crdcompat.jobs.quick import compared_with, short
from crdcompat.jobs.telltales import Telltales
from crdcompat.manifests.contexts import preset_of
from crdcompat.manifests.crdset import CrdSet
from crdcompat.policy.config import Config
from crdcompat.policy.findings import Finding, Location
from crdcompat.policy.waivers import Waiver, apply_waivers, has_values, with_ended
from crdcompat.records import dataclass
from crdcompat.report.check_model import BASE, TARGET, CheckReport, Section
from crdcompat.report.diff_model import DiffReport
from crdcompat.schema.enums import member_key
from crdcompat.sources import open_objects, open_source
from crdcompat.sources.tree import Tree

MorePlaces = Callable[[Judged], tuple[Location, ...]]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a check was asked for beside the change: targets (None: the configuration's), filters, recordings.

    ``excerpts``: a format shows the lines of both sides.
    """

    targets: Sequence[str] | None = None
    filters: dict[str, Any] = field(default_factory=dict)
    objects: Sequence[str] = ()
    repo: str | None = None
    today: date = field(default_factory=date.today)
    excerpts: bool = False


def check(
    change: Change,
    trees: tuple[Tree, Tree],
    telltales: Telltales,
    config: Config,
    waivers: Sequence[Waiver],
    wishes: Wishes,
) -> CheckReport:
    """Compare a change, whose ``sides`` these are, with its base, then its head with each rollback target.

    Of the files that are the same on both sides and told of by ``telltales`` only those are read that matter.
    Raises SourceError and RefNotFoundError for a target that is not there, SourceError for what cannot be read.
    """
    from crdcompat.jobs.origins import GoMarkers, with_introduced

    before, after = trees
    told = compared_with(before.commit, change)
    names, notes = _targets(change, config, wishes)
    targets = [open_source(name, repo=wishes.repo) for name in names]
    reader = reader_for(config)
    wanted, variants = wishes.filters.get("crds", ()), config.texts("variant_annotations")
    left_out = unread((before, after, *targets), reader, config.wants, telltales, wanted, variants)
    release = change.release or short(before.commit)
    runs = config.runs(release)
    old = replace(reader.read(before, "old", config.wants, left_out), name=release, runs=runs)
    new = replace(reader.read(after, "new", config.wants, left_out), name=f"{release}+change", runs=runs)
    preset = f"variants are told apart as in {config.preset or preset_of((*old.documents, *new.documents))} trees"
    run = _Run(config, waivers, wishes, new, GoMarkers(after, config.wants).places)
    own = run.section(BASE, old)
    told_by, unknown = with_introduced(own.report, (old.commit, new), wishes.repo, of_index=after.name == "index:")
    sections = [Section(BASE, told_by)]
    for name, tree in zip(names, targets, strict=True):
        target = reader.read(tree, "old", config.wants, left_out)
        sections.append(run.section(TARGET, replace(target, runs=config.runs(name)), old))
    head = api.release(new)
    return CheckReport(
        head, tuple(sections), (told, preset, *notes, *unknown), tuple(run.said(has_targets=bool(names)))
    )


def _of_what_differs(report: DiffReport, old: CrdSet, new: CrdSet) -> DiffReport:
    """Without what is undecided of CRDs that are known to be alike on both sides: there only documents disagree."""
    sides = ({(item.crd.name, item.file, item.oid, item.index) for item in crds.documents} for crds in (old, new))
    changed = {name for name, *_ in set.symmetric_difference(*sides)}
    changed |= {item.crd.name for crds in (old, new) for item in crds.documents if item.oid is None}
    return replace(report, undecided=tuple(item for item in report.undecided if item.crd in changed))


class _Run:
    """The comparisons of one check, and which waivers they met."""

    def __init__(
        self, config: Config, waivers: Sequence[Waiver], wishes: Wishes, head: CrdSet, markers: MorePlaces
    ) -> None:
        self._config, self._wishes, self._head, self._markers = config, wishes, head, markers
        self._expired = [waiver for waiver in waivers if waiver.expired(wishes.today, head.name)]
        self._valid = [waiver for waiver in waivers if waiver not in self._expired]
        self._used: set[int] = set()

    def section(self, against: str, old: CrdSet, base: CrdSet | None = None) -> Section:
        """The head against ``old``; with ``base`` what that met there already is existing."""
        report, narrower = self._diff(old, self._head, locate=True), Narrower(old, self._head)
        if base is not None:
            report = _marked(report, self._diff(old, base, locate=False), narrower)
        applied = apply_waivers(report.findings, self._valid, narrower.split)
        self._used |= applied.used
        findings = with_ended(applied.findings, self._expired, str(self._config.waiver_file))
        report = replace(report, findings=tuple(findings))
        if self._wishes.excerpts:
            from crdcompat.jobs.excerpts import with_excerpts

            report = with_excerpts(report, old, self._head)
        return Section(against, report)

    def said(self, *, has_targets: bool) -> Iterator[str]:
        """Waivers whose end has come or cannot be told, and those that nothing matches (which only targets tell)."""
        where = self._config.waiver_file
        for waiver in self._expired:
            yield f"expired: {where}:{waiver.line}: {waiver.label}: until {waiver.until}, no longer counts"
        for waiver in self._valid:
            if waiver.end_is_unknown(self._head.name):
                until = f"until {waiver.until}, and {self._head.name} does not tell its release: it still counts"
                yield f"unending: {where}:{waiver.line}: {waiver.label}: {until}"
        filtered = any(self._wishes.filters.get(name) for name in ("owners", "crds", "contexts", "select", "ignore"))
        whole = has_targets and not filtered and len(self._wishes.filters.get("directions", DIRECTIONS)) > 1
        for waiver in self._valid if whole else ():
            if id(waiver) not in self._used:
                yield f"stale: {where}:{waiver.line}: {waiver.label}: nothing matches it, take it out"

    def _diff(self, old: CrdSet, new: CrdSet, *, locate: bool) -> DiffReport:
        markers = self._markers if locate else None
        report = api.diff(old, new, command="check", locate=locate, more_places=markers, **self._wishes.filters)
        if locate and self._wishes.objects:
            from crdcompat.jobs.evidence import with_evidence
            from crdcompat.manifests.objects import read_objects

            trees = (open_objects(path, repo=self._wishes.repo) for path in self._wishes.objects)
            report = with_evidence(report, old, new, chain.from_iterable(map(read_objects, trees)))
        return configured(_of_what_differs(report, old, new), self._config)


def _marked(report: DiffReport, earlier: DiffReport, narrower: Narrower) -> DiffReport:
    """What the base met as well is existing; a finding of which only some values were there becomes two.

    It was there if it was at each of its places in each of its contexts: what comes from a feature set that nobody can
    roll back into one that everybody has is new.
    """
    known: dict[tuple[str, ...], list[Finding]] = {}
    for finding in earlier.findings:
        for spot in _spots(finding):
            known.setdefault(spot, []).append(finding)
    made: list[Finding] = []
    for finding in report.findings:
        before = [known.get(spot, []) for spot in _spots(finding)]
        if not all(before):
            made.append(finding)
        elif has_values(finding):
            values = [{member_key(v) for each in there for v in (*each.added, *each.removed)} for there in before]
            common = [v for v in (*finding.added, *finding.removed) if all(member_key(v) in each for each in values)]
            old, fresh = narrower.split(finding, common)
            made += [replace(old, status="existing")] if old is not None else []
            made += [fresh] if fresh is not None else []
        else:
            facts = finding.old, finding.new
            same = all(any((each.old, each.new) == facts for each in there) for there in before)
            made.append(replace(finding, status="existing") if same else finding)
    return replace(report, findings=tuple(made))


def _spots(finding: Finding) -> Iterator[tuple[str, ...]]:
    """Where it stands: one spot for each of its places in each of its contexts."""
    about = finding.crd, finding.version, finding.rule, finding.direction
    paths = (finding.path, *finding.places)
    return ((*about, path, context) for path in paths for context in finding.contexts)


def _targets(change: Change, config: Config, wishes: Wishes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rollback targets, and what to say about them."""
    if wishes.targets is not None:
        return tuple(wishes.targets), ()
    found = config.targets(change.release)
    if found is None:
        named = repr(change.release) if change.release else "the branch of this change, which nothing tells"
        return (), (f"rollback_targets does not name {named}: no rollback from it is checked",)
    return tuple(name for name in found if name != change.release), ()

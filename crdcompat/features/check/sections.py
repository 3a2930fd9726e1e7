"""The sections of a check: its head compared with the base, then with each rollback target.

The comparison with the base shows the effect of the change itself. Findings against a target may have existed before
the change: those that the base has, too, are marked as existing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.config.applied import ActiveWaivers, Used, active_waivers, shipped_of, with_severities, with_waivers
from crdcompat.config.configuration import Config
from crdcompat.config.releases import minor_of
from crdcompat.crds.makers import content_of
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.shipped import NOT_SHIPPED
from crdcompat.crds.unseen import UNSEEN
from crdcompat.crds.variants import preset_of
from crdcompat.features.check.accepted import accepted_for
from crdcompat.features.check.base import short
from crdcompat.features.check.changed import Changed
from crdcompat.features.check.check_options import CheckOptions, Releases, compares_all
from crdcompat.features.check.existing import mark_existing
from crdcompat.features.check.kept_growth import only_broken, written_crds
from crdcompat.features.check.marker_notes import added_markers
from crdcompat.features.check.quick import no_crd_changed
from crdcompat.features.check.set_reader import SetReader
from crdcompat.features.check.told_waivers import ToldWaivers
from crdcompat.features.check.unreleased import mark_unreleased
from crdcompat.features.check.waiver_notes import untracked_notes
from crdcompat.features.diff import diff_workflow
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_report import release as describe
from crdcompat.findings.locations import with_touched
from crdcompat.findings.origins import go_places, with_introduced
from crdcompat.findings.source_waivers import SourceWaivers
from crdcompat.findings.split import FindingSplitter
from crdcompat.models.check import CheckReport, Section
from crdcompat.models.diff import DiffReport
from crdcompat.prefilter.candidates import unchanged
from crdcompat.prefilter.collect import PendingFacts
from crdcompat.render.write import wants_excerpts
from crdcompat.sources import open_objects
from crdcompat.sources.commit_objects import objects_at
from crdcompat.sources.plain_file import path_in
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Against, Direction, FindingStatus
from crdcompat.vocabulary.steps import stepping

_ONLY_TOUCHED = "only CRDs that the change touches are compared with targets (--all compares all)"


def compare_change(
    releases: Releases, files: Changed, opened: Sequence[Tree], facts: PendingFacts, options: CheckOptions
) -> CheckReport:
    """Compare a change with its base, then its head with each rollback target.

    ``files`` are those that differ, ``opened`` the targets. Of the files that have ``facts`` only those that
    matter are read. Raises ConfigError for the waiver file, SourceError for what cannot be read.
    """
    change, config, targets = releases.change, releases.config, releases.targets
    base_tree, head_tree = files.trees
    accepted, trusted = accepted_for(change, config, options.repo)
    waivers = active_waivers(accepted, config, date.today(), change.release or short(base_tree.commit))
    written = written_crds(waivers.growth, waivers.minor)
    reader = SetReader(files, opened, waivers.release, facts, config, options, written)
    base, head = reader.sides()
    waivers = replace(waivers, source=SourceWaivers(head.go, base.go, config.trusts_change))
    touched = None if compares_all(options) else _touched(base, head)
    verified = frozenset[str]() if touched is None else (written & head.named().keys()) - touched
    same = unchanged(files.trees).keys() | files.without_effect
    unseen = (*_unseen(base, head, same), *files.unseen())
    without_change = "" if touched is None or touched else _without_change(base, head, same)
    if without_change and not verified:
        idle = no_crd_changed(change, base.commit, head_tree, options.repo, without_change)
        return replace(idle, unseen=unseen, files=files.files(base, head))
    older = reader.targets(targets.names)
    released = sorted(older, key=lambda crds: minor_of(crds.name) or ())
    comparisons = _Comparisons(base, head, config, options, waivers, touched, same, released, verified)
    of_base, used = comparisons.with_base()
    introduced, unknown = with_introduced(
        of_base, (base.commit, head), options.repo, of_index=head_tree.name == "index:"
    )
    of_targets = []
    for target in stepping(older, "Rollback targets compared", len(older)):
        of_target, more = comparisons.with_target(target)
        of_targets.append(of_target)
        used |= more
    if without_change and not any(each.findings for each in of_targets):
        return no_crd_changed(change, base.commit, head_tree, options.repo, without_change)
    is_named = targets.typed or config.says("rollback_targets")
    may_be_empty = not (is_named or config.values["include"] or config.values["exclude"])
    sections = tuple(Section(Against.TARGET, of_target, may_be_empty) for of_target in of_targets)
    if not options.targets_only:
        sections = (Section(Against.BASE, mark_unreleased(introduced, of_targets)), *sections)
    preset = f"variants are distinguished as in {config.preset or preset_of((*base.documents, *head.documents))} trees"
    narrow = (_ONLY_TOUCHED,) if touched is not None and targets.names else ()
    untracked = untracked_notes(waivers.file, options.repo) if used else ()
    has_all = _is_unfiltered(options)
    added, is_whole = added_markers(files.trees), has_all and not options.targets_only
    told = ToldWaivers(waivers, accepted, added, used, config.trusts_change, is_whole)
    names = frozenset(name for crds in (base, head, *older) for name in crds.named())
    compared = names if touched is None else names & touched
    of_waivers = told.notes(
        head,
        compared,
        touched if has_all else frozenset(),
        lambda crd: crd in names or reader.may_hold(crd),
        could_be_stale=bool(targets.names) and has_all,
    )
    return CheckReport(
        describe(head),
        sections,
        (change.compared_with(base.commit), preset, *targets.notes, *narrow, *unknown, *untracked),
        (*of_waivers, *trusted, *told.later()),
        unseen,
        rules=told.needless(),
        files=files.files(*comparisons.with_shipped(base), superseded=of_base.counts.superseded),
    )


class _Comparisons(Struct, frozen=True, eq=False):
    """Compares the head of a change with older releases; each report comes with what it used of the waiver file.

    ``touched`` are the CRDs that the change touches, None for all; ``same_files`` are the same on both of its sides.
    ``verified`` are CRDs that it does not touch: of these only broken declarations of growth are reported. ``released``
    are the targets, oldest first.
    """

    base: CrdSet
    head: CrdSet
    config: Config
    options: CheckOptions
    waivers: ActiveWaivers
    touched: frozenset[str] | None
    same_files: Container[str]
    released: Sequence[CrdSet]
    verified: frozenset[str] = frozenset()
    cache: ComparisonCache = field(default_factory=ComparisonCache)  # base and targets mostly have the same schemas

    def with_base(self) -> tuple[DiffReport, Used]:
        """The report on the change itself."""
        # What the server refuses of the base was never released: the change that mends it is right.
        sides = self.with_shipped(self.base)
        report = self._diff_head(*sides, judge_new=True, judge_old=False, without_gates=(self.base,))
        return self._finished(report, self.base, FindingSplitter(*sides))

    def with_target(self, target: CrdSet) -> tuple[DiffReport, Used]:
        """The report on head and target; findings that the base or a newer release has against it are existing.

        A base that lacks what a release has would else block its repair, for targets from before that release.
        """
        sides = self.with_shipped(target)
        report = self._diff_head(*sides, judge_new=False, without_gates=(target, self.base))
        splitter = FindingSplitter(*sides)
        for other in (self.base, *self._released_after(target)):
            found = frozenset(each.crd for each in report.findings if each.status == FindingStatus.NEW)
            if found:
                report = mark_existing(report, self._diff(target, other, found), splitter)
        return self._finished(report, target, splitter)

    def with_shipped(self, old: CrdSet) -> tuple[CrdSet, CrdSet]:
        """An older release and the head, without copies that do not ship: the change does not decide that alone."""
        return shipped_of(old, self.head, self.config, of_base=self.base)

    def _released_after(self, target: CrdSet) -> Iterator[CrdSet]:
        minor = minor_of(target.name)
        yield from (each for each in self.released if minor and (minor_of(each.name) or ()) > minor)

    def _diff_head(
        self, old: CrdSet, head: CrdSet, *, judge_new: bool, judge_old: bool = True, without_gates: Sequence[CrdSet]
    ) -> DiffReport:
        """The report on ``head``; ``judge_new`` only against the base, which shows what the change touches.

        The change promotes a gate that is off in all sets ``without_gates``.
        """
        options = DiffOptions(
            replace(self.options.filters, touched=None if self.touched is None else self.touched | self.verified),
            command="check",
            judge_new=judge_new,
            judge_old=judge_old,
            advise=self.config.advises,
            more_places=lambda item: go_places(head.go.types, item),
            without_gates=without_gates,
            released=self.released,
            cache=self.cache,
        )
        report = diff_workflow.diff(old, head, options)
        if self.options.recordings:
            from crdcompat.findings.recorded_evidence import with_evidence
            from crdcompat.recordings.recorded_objects import read_objects

            trees = map(self._recording, self.options.recordings)
            report = with_evidence(report, old, head, map(read_objects, trees))
        findings = (with_touched(finding, lambda file: file not in self.same_files) for finding in report.findings)
        report = replace(report, findings=tuple(findings))
        return with_severities(_without_unchanged(report, old, head), self.config)

    def _recording(self, name: str) -> Tree:
        """A recording. One that the configuration names is read from the base, if the base has it."""
        repository = Repository(self.options.repo)
        if self.options.recorded_at and (path := path_in(Path(name), repository)) is not None:
            found = objects_at(repository, self.options.recorded_at, path, name)
            if found is not None:
                return found
        return open_objects(name, repo=self.options.repo)

    def _diff(self, old: CrdSet, new: CrdSet, crds: frozenset[str]) -> DiffReport:
        """The findings on some CRDs alone: neither lines nor evidence."""
        wanted = replace(self.options.filters, touched=crds)
        options = DiffOptions(
            wanted, command="check", judge_new=False, locate=False, without_gates=(), cache=self.cache
        )
        old, new = shipped_of(old, new, self.config)
        report = diff_workflow.diff(old, new, options)
        return with_severities(_without_unchanged(report, old, new), self.config)

    def _finished(self, report: DiffReport, old: CrdSet, splitter: FindingSplitter) -> tuple[DiffReport, Used]:
        report, used = with_waivers(report, self.waivers, splitter)
        report = only_broken(report, self.verified)
        if (least := wants_excerpts(self.options.formats, report)) is not None:
            from crdcompat.findings.excerpts import with_excerpts

            report = with_excerpts(report, old, self.head, least)
        return report, used


def _touched(old: CrdSet, new: CrdSet) -> frozenset[str]:
    """The names of the CRDs whose documents differ; a file of many documents may differ in others alone."""
    files = [{(item.file, item.oid) for item in crds.documents if item.oid is not None} for crds in (old, new)]
    same = files[0] & files[1]
    sides = ({_identity(item, same) for item in crds.documents} for crds in (old, new))
    return frozenset(name for name, *_ in set.symmetric_difference(*sides))


def _without_change(old: CrdSet, new: CrdSet, same: Container[str]) -> str:
    """What did not change, for two sides with the same CRDs; "" if files may change CRDs in a way that is not seen.

    ``same`` are the files that do not differ.
    """
    reasons = {item.reason for crds in (old, new) for item in crds.skipped if item.file not in same}
    if old.problems or new.problems or any(_unseen(old, new, same)):
        return ""
    return "no CRD that ships changed" if NOT_SHIPPED in reasons else "no CRD changed"


def _unseen(old: CrdSet, new: CrdSet, same: Container[str]) -> Iterator[str]:
    """The files that changed and may change CRDs in a way that is not seen, each with the reason.

    What has moved is the same; what lists it is looked at by itself.
    """
    sides = [[each for each in crds.skipped if each.file not in same and each.reason in UNSEEN] for crds in (old, new)]
    contents = [Counter((each.reason, each.content) for each in side) for side in sides]
    differ = {what for what in contents[0] | contents[1] if contents[0][what] != contents[1][what] or not what[1]}
    found = {(each.file, each.reason) for side in sides for each in side if (each.reason, each.content) in differ}
    yield from (f"{file}: {why}" for file, why in sorted(found))


def _identity(document: CrdDocument, same: Container[tuple[str, str | None]]) -> tuple[str, ...]:
    """The CRD, its file and content, and in which feature sets clusters get it; ``same`` files are equal as a whole."""
    content = "" if (document.file, document.oid) in same else content_of(document.crd.raw)
    return (document.crd.name, document.file, content, str(sorted(document.gated.items())))


def _without_unchanged(report: DiffReport, old: CrdSet, new: CrdSet) -> DiffReport:
    """The report without undecided differences of CRDs whose documents are the same on both sides."""
    changed = _touched(old, new)
    return replace(report, undecided=tuple(item for item in report.undecided if item.crd in changed))


def _is_unfiltered(options: CheckOptions) -> bool:
    return not options.filters.leave_out and len(options.filters.directions) == len(Direction)

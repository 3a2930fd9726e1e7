"""Makes the report on a comparison, and describes its releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from crdcompat.apiserver.server_versions import Server, known_server
from crdcompat.apiserver.supported.ranges import ends
from crdcompat.compare.result import Harmless, Judged, Open
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import problem_order
from crdcompat.features.diff.compared import Compared, wants
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.promoted import promoted_gates
from crdcompat.findings.finding import group_copies, make_findings
from crdcompat.findings.locations import Places
from crdcompat.models.diff import Counts, DiffReport, HarmlessChange, UndecidedEntry, UnmatchedCopies
from crdcompat.models.finding import Finding, Location
from crdcompat.models.release import Release, sorted_skips
from crdcompat.prefilter.candidates import excluded
from crdcompat.schema.paths import render
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.installers import Installer

#: The installers that replace the CRDs of a release, on an upgrade as on a rollback, and delete none.
_REPLACING = frozenset({Installer.APPLY, Installer.CVO, Installer.OLM_V1})


def report_on(compared: Compared, options: DiffOptions, places: Places) -> DiffReport:
    """The report on a comparison, in the directions that ``options`` name. Raises UsageError for an unknown server."""
    old, new, pairing, found, wanted = compared.old, compared.new, compared.pairing, compared.found, options.filters
    servers, more_places = compared.servers, options.more_places
    releases = release(old, servers.known_old), release(new, servers.known_new)

    def where(item: Judged) -> tuple[Location, ...]:
        return (*places.of(item), *(more_places(item) if more_places is not None else ()))

    judged = [item for item in compared.judged if item.move in wanted.directions]
    grouped = group_copies(make_findings(judged, releases[0].title, releases[1].title, where))
    findings = tuple(with_passed_over((each for each in grouped if _is_kept(each, wanted)), old, new))
    gateless = (old,) if options.without_gates is None else options.without_gates
    return DiffReport(
        command=options.command,
        old=releases[0],
        new=releases[1],
        counts=Counts(
            old=len(old.named()),
            new=len(new.named()),
            compared=len(found.compared),
            changed=len(found.changed),
            only_old=tuple(name for name in pairing.only_old if _is_touched(name, wanted)),
            only_new=tuple(name for name in pairing.only_new if _is_touched(name, wanted)),
            apart=tuple(name for name in pairing.without_common_context if wanted.want_name([name])),
            contexts=pairing.contexts,
            contexts_only_old=pairing.only_old_contexts,
            contexts_only_new=pairing.only_new_contexts,
            text_changes=tuple(sorted(found.texts)),
            superseded=tuple(sorted({*pairing.ignored_duplicates, *old.set_aside, *new.set_aside})),
            versions=tuple(sorted(found.versions)),
            unread=len(new.unread),
            unpaired=compared.unpaired,
            more=tuple(side for side, crds in ((Side.OLD, old), (Side.NEW, new)) if crds.has_more),
            unmatched=tuple(
                UnmatchedCopies(item.name, _files(item.old), _files(item.new))
                for item in pairing.unmatched
                if wants(wanted, (item.name,), (item.old, item.new))
            ),
        ),
        findings=findings,
        undecided=tuple(sorted((_undecided(item, places) for item in compared.open), key=_undecided_order)),
        skipped=sorted_skips(old.skipped, new.skipped),
        problems=tuple(sorted((*old.problems, *new.problems), key=problem_order)),
        remarks=tuple(sorted({*old.remarks, *new.remarks, *compared.remarks}, key=problem_order)),
        promoted=tuple(promoted_gates(gateless, new, pairing.contexts, judged, findings)),
        directions=tuple(wanted.directions),
        is_filtered=wanted.leave_out,
        is_part=bool(wanted.paths) or wanted.touched is not None,
        installers=_installers(old, new),
        harmless=tuple(
            HarmlessChange(
                each.crd,
                each.version,
                each.contexts,
                each.change.place,
                each.change.kind,
                each.direction,
                each.change.old,
                each.change.new,
                each.reason,
            )
            for each in sorted(found.without_effect, key=_harmless_order)
            if each.direction in wanted.directions
        ),
    )


def _installers(*sides: CrdSet) -> dict[str, Installer]:
    """The installer of each manifest of both sides; none if all of them replace CRDs both ways.

    Copies that were set aside have one, too, if the comparison has manifests of it.
    """
    found = {each.file: crds.installers.of(each.file, each.inside) for crds in sides for each in crds.documents}
    if _REPLACING.issuperset(found.values()):
        return {}
    aside = {file: crds.installers.of(file) for crds in sides for _, file, _ in crds.set_aside}
    compared = frozenset(found.values())
    return {file: installer for file, installer in aside.items() if installer in compared} | found


def release(crds: CrdSet, beside: Server | None = None) -> Release:
    """The description of a side for reports; ``beside`` is the server that runs there in a comparison."""
    server = beside or known_server(crds)
    notes = crds.notes
    if known_server(crds) is None and crds.supported:
        oldest, newest = ends(crds.supported)
        notes += (
            f"{crds.title} is judged on the servers from {oldest} to {newest}, the other release on the same one",
        )
    elif server is None and not crds.may_be_openshift:
        notes += (f"nothing names the server of {crds.title} (configuration: releases, kubernetes)",)
    return Release(crds.name, crds.commit, server.kubernetes if server else None, notes, crds.label)


def _files(documents: Iterable[CrdDocument]) -> tuple[str, ...]:
    return tuple(sorted({document.file for document in documents}))


def _is_touched(name: str, wanted: Filters) -> bool:
    """Whether all files with the CRD were read: of the others each side has those that show its contexts."""
    return wanted.touched is None or name in wanted.touched


def _is_kept(finding: Finding, wanted: Filters) -> bool:
    return (not wanted.select or finding.rule in wanted.select) and finding.rule not in wanted.ignore


def _harmless_order(item: Harmless) -> tuple[str, ...]:
    change = item.change
    return (item.crd, item.version, change.place, change.kind, item.direction, *item.contexts)


def passed_over(report: DiffReport) -> str:
    """``; 12 manifests are passed over (vendored): …``, by the folder that most of them are in; "" for none."""
    reasons = Counter(reason for item in report.skipped if (reason := excluded(item.file)) and reason == item.reason)
    for reason, count in reasons.most_common(1):
        are = "manifest is" if count == 1 else "manifests are"
        return f"; {count} {are} passed over ({reason}): --include 'FOLDER/*' reads those of a folder"
    return ""


def _undecided(item: Open, places: Places) -> UndecidedEntry:
    undecided = item.undecided
    return UndecidedEntry(
        crd=item.crd,
        version=item.version,
        contexts=item.contexts,
        path=render(undecided.path),
        keyword=undecided.keyword,
        old=undecided.old,
        new=undecided.new,
        reason=undecided.reason,
        locations=places.of_open(item),
    )


def _undecided_order(entry: UndecidedEntry) -> tuple[str, ...]:
    return (entry.crd, entry.version, entry.path, entry.keyword, *entry.contexts)


# Where a CRD that is gone may be: in a folder whose files are passed over, such as ``vendor/``.


def with_passed_over(findings: Iterable[Finding], old: CrdSet, new: CrdSet) -> Iterator[Finding]:
    """The findings; the message on a CRD that NEW lacks names files of NEW with its file's name that are passed over.

    Files that OLD passes over as well are not where the CRD went.
    """
    before = {item.file for item in old.skipped}
    after: dict[str, list[tuple[str, str]]] = {}
    for item in new.skipped:
        if item.file not in before and excluded(item.file):
            after.setdefault(_name(item.file), []).append((item.file, item.reason))
    for finding in findings:
        names = {_name(location.file) for location in finding.locations} if finding.change == "crd.removed" else ()
        there = sorted(each for name in names for each in after.get(name, ()))
        if there:
            file, why = there[0]
            said = f"{file} has the name of its file and is passed over: {why}"
            finding = replace(finding, message=f"{finding.message} ({said})")
        yield finding


def _name(file: str) -> str:
    return file.rpartition("/")[2]

"""Apply the configuration to a run: how sources are read, the severities of findings, and waivers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.server_versions import kubernetes_server, server_of_name
from crdcompat.apiserver.supported.ranges import listed, server_name
from crdcompat.config.configuration import Config
from crdcompat.config.found import server_of_tree
from crdcompat.config.releases import openshift_minor, version_of
from crdcompat.crds.below import needed_below
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.crds.shipping import shipping, without_tests
from crdcompat.crds.variants import variant_annotations_only
from crdcompat.errors import SourceError, UsageError
from crdcompat.findings.finding import order
from crdcompat.findings.growth import Declaration, Minor, Releases, apply_growth
from crdcompat.findings.severity import is_strict_error
from crdcompat.findings.source_waivers import SourceWaivers
from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waiver_file import Accepted
from crdcompat.findings.waivers import Waiver, apply_waivers, with_ended
from crdcompat.golang.sources import GoSources
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.models.release import short_names
from crdcompat.prefilter.candidates import is_candidate
from crdcompat.sources import open_source
from crdcompat.sources.source_options import charts_for
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Severity, Side
from crdcompat.vocabulary.growth import GrowthState
from crdcompat.vocabulary.steps import stepping
from crdcompat.vocabulary.texts import some


def reader_for(config: Config, also: Container[str] = ()) -> CrdReader:
    """A reader for the variants, the payload and the folders that the configuration names; it reads ``also``, too."""
    variants = variant_annotations_only(config.preset, config.texts("variant_annotations"))
    return CrdReader(
        variants,
        config.ships,
        may_be_openshift=config.may_be_openshift,
        include=config.texts("include"),
        also=also,
        installer=config.installer,
    )


def read_source(name: str, side: Side, reader: CrdReader, config: Config, repo: str | None) -> CrdSet:
    """The CRDs of a source that the configuration includes, and the server version that it gives the source.

    Raises SourceError, RefNotFoundError, UsageError.
    """
    return _read(reader, _opened(name, name, config, repo), side, config.wants, config)


def _read(reader: CrdReader, tree: Tree, side: Side, wanted: Callable[[str], bool], config: Config) -> CrdSet:
    """The CRDs of an opened source, with the server that the configuration, its name or its repository gives it."""
    runs, note = server_of_tree(tree, config)
    crds = reader.read(tree, side, wanted)
    found = replace(crds, runs=runs, notes=(*crds.notes, *filter(None, [note]))) if runs else crds
    found = replace(found, notes=(*found.notes, *_left_out(found, tree, reader, config)))
    return with_servers(found, config)


def _left_out(crds: CrdSet, tree: Tree, reader: CrdReader, config: Config) -> Iterator[str]:
    """A note on CRDs that only files have which the configuration leaves out: it may be older than the files' paths.

    Files that nobody compares need not be readable.
    """
    keys = [key for key in ("include", "exclude") if config.values[key]]
    if not keys or not crds.is_partial:
        return
    entries = [entry for entry in tree.entries() if is_candidate(entry.path) and not config.wants(entry.path)]
    read = crds.named().keys()
    keys_leave = f"{' and '.join(keys)} {'leaves' if len(keys) == 1 else 'leave'} out"
    try:
        left = sorted({document.crd.name for document in reader.documents(tree, entries)} - read)
    except SourceError as error:
        yield f"{keys_leave} files whose CRDs are not known: {str(error).splitlines()[0]}"
        return
    if left:
        yield f"{keys_leave} {len(left)} of {len(left) + len(read)} CRDs: {some(left)}"


def _opened(name: str, other: str, config: Config, repo: str | None) -> Tree:
    """Open a source; a chart is rendered for the server that the configuration gives both releases."""
    with charts_for(_server_of_charts(name, other, config)):
        return open_source(name, repo=repo)


def _server_of_charts(name: str, other: str, config: Config) -> str:
    """The Kubernetes version for which the charts of a release are rendered; "" where none is known.

    Charts may ask for the version (``.Capabilities``). The server stays in a rollback, so both releases are rendered
    for the same one: the oldest that both support.
    """
    mine, theirs = listed(config.supports(name)), listed(config.supports(other))
    common = [server for server in mine if server in theirs] or [*mine[:1]]
    runs = config.runs(name) or config.runs(other)
    return kubernetes_server(runs).kubernetes if runs else next((server.kubernetes for server in common), "")


def with_servers(crds: CrdSet, config: Config, release: str = "") -> CrdSet:
    """The CRDs of one side with the servers that the configuration gives the release (default: the name of the set).

    Else the name of an OpenShift release gives the server.
    """
    name = release or crds.name
    runs = config.runs(name) or crds.runs or (_by_name(name) if crds.may_be_openshift else "")
    return replace(crds, runs=runs, supported=config.supports(name))


def _by_name(release: str) -> str:
    """The server that the name of an OpenShift release gives; "" for other names."""
    server = server_of_name(release)
    return server_name(server).id if server else ""


def both_sides(
    old: str,
    new: str,
    config: Config,
    repo: str | None,
    *,
    command: str,
    any_order: bool,
    paths: Sequence[str] = (),
) -> tuple[CrdSet, CrdSet]:
    """The CRDs of both sides; equal blobs are read once.

    ``any_order`` allows an OLD whose name is a later release than NEW's; ``command`` is named in that error. Of the
    files outside of ``paths``, only those that name a CRD found below them are read. Raises as ``read_source`` does,
    and UsageError for the wrong order: each finding would have the wrong direction.
    """
    reader = reader_for(config)
    trees = _opened(old, new, config, repo), _opened(new, old, config, repo)
    needed = needed_below(trees, reader, config.wants, paths) if paths else (config.wants, config.wants)
    before, after = (
        _read(reader, tree, side, wanted, config)
        for tree, side, wanted in stepping(zip(trees, (Side.OLD, Side.NEW), needed, strict=True), "Releases read", 2)
    )
    versions = version_of(before.name), version_of(after.name)
    if not any_order and versions[0] and versions[1] and versions[0] > versions[1]:
        right = f"crdcompat {command} {after.name} {before.name}"
        wrong = f"{before.name} is newer than {after.name}"
        raise UsageError(f"{wrong}, and OLD comes first: {right} (--any-order allows this order)")
    before, after = with_labels((before, after))
    return shipped_of(before, after, config, paths)


def shipped_of(
    old: CrdSet, new: CrdSet, config: Config, paths: Sequence[str] = (), of_base: CrdSet | None = None
) -> tuple[CrdSet, CrdSet]:
    """Both sides without copies that do not ship; where the configuration says what does, without CRDs for tests.

    ``of_base`` is the base, if NEW is the head of a change. Raises SourceError.
    """
    if config.values["ships"] is not None:
        return without_tests(old, new)
    return shipping(old, new, paths, of_base.evidence if of_base is not None else tuple)


def shipped_alone(crds: CrdSet, config: Config, side: Side) -> CrdSet:
    """A set that is compared with no other tree, without the copies that do not ship by what its own tree says."""
    before, after = shipped_of(crds, crds, config)
    return after if side is Side.NEW else replace(before, notes=after.notes)


def with_labels(sides: Sequence[CrdSet]) -> list[CrdSet]:
    """The sets, each with a name for people: long paths and commit ids are shortened."""
    names = short_names([crds.name for crds in sides])
    return [replace(crds, label=label) if (label := names[crds.name]) != crds.name else crds for crds in sides]


def with_severities(report: DiffReport, config: Config) -> DiffReport:
    """The report with the severities of the configuration and its profile, sorted again."""
    findings = (_with_severity(finding, config) for finding in report.findings)
    return replace(report, findings=tuple(sorted(findings, key=order)))


def _with_severity(finding: Finding, config: Config) -> Finding:
    configured = config.severity(finding.rule, finding.direction, finding.owner, finding.path)
    if configured is not None:
        return replace(finding, severity=configured)
    if finding.severity == Severity.ERROR or not config.is_strict or not is_strict_error(finding):
        return finding
    return replace(finding, severity=Severity.ERROR, message=f"{finding.message} (an error in the strict profile)")


class ActiveWaivers(Struct, frozen=True, eq=False):
    """The content of the waiver ``file``, for the newer ``release``.

    ``valid`` waivers waive findings, ``expired`` ones explain why a finding counts again; ``growth`` are declarations.
    ``source`` has more waivers, in the Go source; some of them have ended ``today``.
    """

    valid: tuple[Waiver, ...]
    expired: tuple[Waiver, ...]
    growth: tuple[Declaration, ...]
    release: str
    config: Config
    today: date
    source: SourceWaivers = SourceWaivers()

    @property
    def file(self) -> Path:
        """The path of the waiver file."""
        return self.config.waiver_file

    @property
    def minor(self) -> Minor | None:
        """Major and minor of the newer release; None if unknown."""
        return openshift_minor(self.release, self.config)

    def between(self, report: DiffReport) -> Releases:
        """The releases of a comparison with the newer release."""
        old = report.old
        older = openshift_minor(old.name, self.config) or openshift_minor(old.title, self.config)
        return Releases(older, self.minor, old.title, self.release)


class Used(Struct, frozen=True):
    """What concerned findings: waivers of the file by ``id()``, its declarations by ``id()`` with the state.

    ``markers`` are the places of waivers in the Go source.
    """

    waivers: frozenset[int] = frozenset()
    growth: frozenset[tuple[int, GrowthState]] = frozenset()
    markers: frozenset[str] = frozenset()

    def __or__(self, other: Used) -> Used:
        return Used(self.waivers | other.waivers, self.growth | other.growth, self.markers | other.markers)

    def __bool__(self) -> bool:
        return bool(self.waivers or self.growth)


def active_waivers(accepted: Accepted, config: Config, today: date, release: str) -> ActiveWaivers:
    """Sort the waivers of the file into valid and expired ones, by the day and the newer ``release``."""
    expired = tuple(waiver for waiver in accepted.waivers if waiver.expired(today, release))
    valid = tuple(waiver for waiver in accepted.waivers if not waiver.expired(today, release))
    return ActiveWaivers(valid, expired, accepted.growth, release, config, today)


def with_waivers(report: DiffReport, active: ActiveWaivers, splitter: FindingSplitter) -> tuple[DiffReport, Used]:
    """The report with its accepted findings marked, and what was used of the waivers and declarations.

    Declarations come first: a value that is declared and rejected is an error, which its waiver may not cover.
    Raises SourceError.
    """
    grown = apply_growth(report.findings, active.growth, active.between(report), splitter.split)
    markers = [*active.source.waivers(grown.findings)]
    ended = [each for each in markers if each.expired(active.today, active.release)]
    valid = (*active.valid, *(each for each in markers if each not in ended))
    applied = apply_waivers(grown.findings, valid, splitter.split)
    findings = with_ended(applied.findings, (*active.expired, *ended))
    used = Used(
        frozenset(id(each) for each in active.valid if id(each) in applied.used),
        frozenset((id(each), state) for each, state in grown.used),
        frozenset(each.place for each in markers if id(each) in applied.used),
    )
    return replace(report, findings=tuple(findings)), used


def apply_config(
    report: DiffReport, config: Config, accepted: Accepted, splitter: FindingSplitter, go: GoSources
) -> DiffReport:
    """The report with the severities, the waivers (those in the Go source, too) and the declarations."""
    active = active_waivers(accepted, config, date.today(), report.new.name)
    active = replace(active, source=SourceWaivers(go))
    return with_waivers(with_severities(report, config), active, splitter)[0]

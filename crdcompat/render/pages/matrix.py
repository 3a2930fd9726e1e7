"""A matrix of releases as a page: the picture, how far back each can go, what blocks and since when, every way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.findings.contrast import listed
from crdcompat.findings.entries import alone
from crdcompat.models.matrix import Obstacle, obstacles
from crdcompat.render.pages.blocks import (
    Answers,
    Block,
    Brief,
    Cell,
    Entries,
    Facet,
    Fold,
    Line,
    Listing,
    Notes,
    Section,
    Table,
    listing,
)
from crdcompat.render.pages.finding import CONTEXT, CRD, DIRECTION, OWNER, RULE, SEVERITY, STATUS, Setting
from crdcompat.render.pages.findings import Findings, is_large, without_excerpts
from crdcompat.render.pages.page import Answer, Page
from crdcompat.render.wording.findings import crd_name, plural, tally
from crdcompat.render.wording.matrix import (
    BLOCKING,
    cell_text,
    cluster_answer,
    cluster_title,
    coverage,
    labels,
    legend,
    matrix_notes,
    part_line,
    reach_sentence,
    reaches,
    reasons,
    shortest_names,
    target_lines,
    verdicts,
    why,
)
from crdcompat.render.wording.simulation import verdict_tally
from crdcompat.render.wording.verdict import allowed_line
from crdcompat.vocabulary import Direction, Severity
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.matrix import Blocker, MatrixCluster, MatrixReport
    from crdcompat.models.matrix import Cell as Way
    from crdcompat.render.escape import Style

_MAX_LINES = 12


def page(report: MatrixReport, style: Style) -> Page:
    """The page; with ``-v`` it has the findings of each way, a quiet one has the grid and what blocks."""
    counts = (f"{verdicts(report)}.", coverage(report), *allowed_line(style))
    findings = [finding for way in report.cells for finding in way.findings]
    return Page(
        command="matrix",
        heading=verdicts(report),
        answers=tuple(_answers(report)),
        head=tuple(Line(each, depth=0, fold=Fold.ALWAYS) for each in counts),
        body=tuple(_body(report, style)),
        problems=report.problems,
        is_last=True,
        name="Which release can go back to which",
        views=(_view(report),),
        sides=tuple(("", release) for release in report.releases),
        rules=tuple(dict.fromkeys(finding.rule for finding in findings)),
        lacks=without_excerpts(each for each in findings if each.severity != Severity.INFO),
        facets=FACETS,
        what="findings",
    )


def _view(report: MatrixReport) -> Answer:
    """How many rollbacks have the worst verdict on a rollback, and that verdict."""
    counted = report.by_verdict(Direction.ROLLBACK)
    worst = next((verdict for verdict, count in counted.items() if count), ReleaseVerdict.UNKNOWN)
    return Answer(f"{counted[worst]} of {plural(sum(counted.values()), 'rollback')}", worst, worst.upper())


def _answers(report: MatrixReport) -> Iterator[Answer]:
    """The answer on a recorded cluster, then one for each release that was to go back."""
    if report.cluster is not None:
        yield Answer(cluster_answer(report.cluster), "bold")
    for reach in reaches(report):
        yield Answer(reach.origin, reach.best, reason=f": {reach_sentence(reach)}", most=2)


def _body(report: MatrixReport, style: Style) -> Iterator[Block]:
    yield _grid(report)
    yield Answers("How far back each release can go", "reach")
    yield Notes(matrix_notes(report))
    for direction, (title, reading) in BLOCKING.items():
        if found := obstacles(report, direction):
            blocks = (Line(reading, depth=0, hang=0), Listing(tuple(map(_obstacle, found))))
            yield Section(title, blocks, anchor=f"blocking-{direction}")
    if style.verbosity >= 0:
        lines = tuple(Line(f"{reason} ({plural(ways, 'way')})") for reason, ways in reasons(report).items())
        yield from listing("What was not judged", lines, most=_MAX_LINES, anchor="unjudged")
    if report.cluster is not None:
        yield _cluster(report.cluster)
    if style.verbosity > 0:
        yield way_sections(report)


def _grid(report: MatrixReport) -> Table:
    """Rows are origins, columns targets. A narrow terminal gets short names, then letters for verdicts, too."""
    full, short = labels(report), shortest_names(report)
    narrow = _table(report, short, letters=False), _table(report, short, letters=True)
    return replace(_table(report, full, letters=False), narrower=narrow, last=goes_back(report))


def _table(report: MatrixReport, names: Mapping[str, str], *, letters: bool) -> Table:
    cells, pictured = {(cell.origin, cell.target): cell for cell in report.cells}, picture(report)

    def shown(origin: str, target: str) -> Cell:
        cell = cells.get((origin, target))
        if cell is None:
            return Cell("-", why="the same release") if origin == target else Cell("")
        return pictured.cell(cell, cell_text(cell, letters=letters))

    rows = ((Cell(label), *(shown(origin, target) for target in names)) for origin, label in names.items())
    head = ("from \\ to", *names.values())
    title, how = "Which release can go back to which", legend(report, letters=letters)
    return Table(title, head, tuple(rows), legend=how)


def _obstacle(item: Obstacle) -> Line:
    finding = item.finding
    paths = (Line(", ".join(item.paths)),) if any(item.paths) else ()
    since = (Line(part_line(part), depth=2) for part in item.parts)
    what, name = f"{finding.rule}, {finding.effect}", crd_name(finding.crd, finding.versions)
    return Line(what, name, "error", finding.rule, depth=0, fold=Fold.ALWAYS, below=(*paths, *since))


def _cluster(cluster: MatrixCluster) -> Section:
    blocks: list[Block] = [Notes(cluster.notes, depth=1, hang=1)]
    for target in cluster.targets:
        counted = f"to {target.target}: {target.verdict} (objects by their worst write: {verdict_tally(target.report)})"
        below = tuple(Line(line, depth=2) for line in target_lines(target.report))
        blocks.append(Line(counted, tone=target.verdict, part=target.verdict, fold=Fold.NEVER, below=below))
        unjudged = (Line(f"not judged: {line}", depth=2, hang=0) for line in target.unjudged)
        blocks.append(Listing(tuple(unjudged), _MAX_LINES))
    return Section(cluster_title(cluster), tuple(blocks), anchor="cluster")


FACETS = (SEVERITY, DIRECTION, OWNER, STATUS, Facet("from", "From"), Facet("to", "To"), CRD, CONTEXT, RULE)
#: Findings of a page; where a matrix has more of them, each has its details in one cell, and the others refer to it.
_MAX_WHOLE = 2_000
#: Shades of a verdict's colour.
_SHADES = 3
#: Kinds with warnings that a cell names.
_MAX_KINDS = 4


class Picture(Struct, frozen=True):
    """What the cells of a picture share: the place of each way on the page, and the most findings by verdict."""

    anchors: Mapping[tuple[str, str], str]
    most: Mapping[ReleaseVerdict, int]

    def cell(self, way: Way, text: str) -> Cell:
        """A cell with the counts, the reason, and a link to the findings."""
        counted = {name: count for name, count in way.by_severity().items() if count and name != Severity.INFO}
        figures = [plural(count, name) for name, count in counted.items()]
        doubt = way.verdict == ReleaseVerdict.BLOCKED and bool(way.unjudged)
        return Cell(
            text,
            way.verdict,
            links=((self.anchors[way.origin, way.target], f"{way.origin} -> {way.target}"),),
            figures=(*figures, *(("and not all was judged",) if doubt else ())),
            shade=1 + (_SHADES - 1) * _weight(way) // max(self.most[way.verdict], 1),
            why=_reason(way),
        )


def picture(report: MatrixReport) -> Picture:
    """The picture of a matrix."""
    return Picture(
        {(way.origin, way.target): f"way-{number}" for number, way in enumerate(report.cells, 1)},
        {
            verdict: max((_weight(way) for way in report.cells if way.verdict == verdict), default=0)
            for verdict in report.by_verdict()
        },
    )


def goes_back(report: MatrixReport) -> tuple[Cell, ...]:
    """A column with the releases that each release can go back to, under its head."""
    short, found = shortest_names(report), {reach.origin: reach for reach in reaches(report)}
    cells = [Cell("goes back to")]
    for release in report.releases:
        reach = found.get(release.name)
        if reach is None:
            cells.append(Cell("the oldest"))
        else:
            cells.append(Cell(", ".join(short[way.target] for way in reach.works) or "none", reach.best))
    return tuple(cells)


def _weight(way: Way) -> int:
    """The number that the shade shows: errors where they block, else warnings."""
    counted = way.by_severity()
    return counted[Severity.ERROR] if way.verdict == ReleaseVerdict.BLOCKED else counted[Severity.WARNING]


def _reason(way: Way) -> str:
    """Why the cell has its verdict, in a line."""
    if way.verdict in (ReleaseVerdict.BLOCKED, ReleaseVerdict.UNKNOWN):
        return why(way).strip()
    kinds = dict.fromkeys(each.kind for each in way.findings if each.counts and each.severity == Severity.WARNING)
    if not kinds:
        return "no error and no warning"
    return f"no error; {plural(way.by_severity()[Severity.WARNING], 'warning')} for {some([*kinds], _MAX_KINDS)}"


def way_sections(report: MatrixReport) -> Section:
    """Every way with its findings."""
    reports = [way.report for way in report.cells]
    findings = Findings(is_large=is_large(reports))
    homes = _homes(report) if is_large(reports, _MAX_WHOLE) else None
    ways = (_way(way, number, findings, homes) for number, way in enumerate(report.cells, 1))
    name = "The findings from each release to each other"
    return Section("", tuple(ways), anchor="ways", name=name, short="The findings", role="ways")


def _homes(report: MatrixReport) -> dict[str, Way]:
    """The way that shows the details of each finding, by its id: the way with it between the closest releases."""
    at = {release.name: number for number, release in enumerate(report.releases)}
    homes: dict[str, Way] = {}
    for way in sorted(report.cells, key=lambda each: abs(at[each.origin] - at[each.target])):
        for finding in way.findings:
            homes.setdefault(finding.id, way)
    return homes


def _way(way: Way, number: int, findings: Findings, homes: Mapping[str, Way] | None) -> Section:
    elsewhere = frozenset() if homes is None else frozenset(f.id for f in way.findings if homes[f.id] is not way)
    since = {blocker.finding.id: tuple(_since(blocker)) for blocker in way.blockers}
    facets = {"from": way.origin, "to": way.target}
    setting = Setting(way.report, facets, since=since, elsewhere=elsewhere)
    said = (f"Blocked by {', '.join(way.blocking_crds)}.",) if way.blocking_crds else ()
    blocks: list[Block] = [
        Listing(tuple(Line(line) for line in (*said, *(f"not judged: {each}" for each in way.unjudged))))
    ]
    for section in findings.direction(setting, alone(way.report), way.direction):
        blocks += (replace(each, brief=_brief(way, each)) for each in section.blocks if isinstance(each, Entries))
    blocks += findings.undecided(setting, Brief(()))
    name, counts = f"{way.origin} -> {way.target}", tally(way.by_severity())
    title = f"{name}: {way.verdict}, {counts}"
    return Section(title, tuple(blocks), tone=way.verdict, anchor=f"way-{number}", name=name, short=counts, role="way")


def _brief(way: Way, group: Entries) -> tuple[Block, ...]:
    """Errors and warnings of a way, a line each; ``diff`` shows them in full."""
    lines = (
        Line(
            f"{kind} {crd_name(finding.crd, finding.version)} {finding.path}  {finding.id}",
            part=kind,
            tone=finding.severity,
            fold=Fold.NEVER,
        )
        for finding in way.findings
        if finding.counts and finding.severity == group.tone and (kind := f"{finding.severity}[{finding.rule}]")
    )
    return (Brief(tuple(lines) if group.tone != Severity.INFO else ()),)


def _since(blocker: Blocker) -> Iterator[str]:
    """``since release-4.14: "MachineAPI", "Build"``."""
    by_release: dict[str, list[object]] = {}
    for each in blocker.values:
        by_release.setdefault(each.release, []).append(each.value)
    yield from (f"since {release}: {listed(values, 50)}" for release, values in by_release.items())
    if not by_release:
        yield f"since {blocker.since}"

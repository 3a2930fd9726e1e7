"""Which servers accept which CRDs, as a page: the verdict, the reasons of refusals, ignored parts, the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from crdcompat.models.servers import Acceptance, CrdRow, Need, ServersReport
from crdcompat.render.escape import Style, shortened
from crdcompat.render.pages.blocks import Block, Cell, Line, Listing, Notes, Section, Table, listing
from crdcompat.render.pages.page import Answer, Number, Page
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.vocabulary.server_names import ServerName, needed, spans
from crdcompat.vocabulary.writes import ReleaseVerdict

#: The tone of the verdict, by the worst answer.
_TONES = {
    Acceptance.REFUSED: ReleaseVerdict.BLOCKED,
    Acceptance.WARNED: ReleaseVerdict.AT_RISK,
    Acceptance.ACCEPTED: ReleaseVerdict.CLEAN,
}
#: What an answer about a CRD means, beside its count.
_MEANINGS = {
    Acceptance.REFUSED: "by a server or more",
    Acceptance.WARNED: "a part is ignored",
    Acceptance.ACCEPTED: "by all servers",
}
_MAX_PLACES, _MAX_IGNORED, _MAX_LABEL = 3, 12, 64


def page(report: ServersReport, style: Style) -> Page:
    """The page; it has no details without a CRD."""
    counted = report.by_answer().items()
    worst = next((answer for answer, count in counted if count), Acceptance.WARNED)
    numbers = tuple(Number(answer, count, _MEANINGS[answer]) for answer, count in counted)
    return Page(
        command="servers",
        title="Which servers take these CRDs",
        answers=(Answer(verdict(report), _TONES[worst], numbers=numbers),),
        problems=report.problems,
        body=tuple(_body(report, style)) if report.rows and style.verbosity >= 0 else (),
        sides=tuple(("", source) for source in report.sources),
    )


def _body(report: ServersReport, style: Style) -> Iterator[Block]:
    yield Notes(report.notes)
    for number, reason in enumerate(reasons(report), 1):
        yield _refusal(reason, f"refused-{number}")
    lines = dict.fromkeys(f"{crd}: {line}" for crd, lines in ignored(report) for line in lines)
    yield from listing(
        "What servers ignore in CRDs that they accept", tuple(map(Line, lines)), most=_MAX_IGNORED, anchor="ignored"
    )
    yield _table(report, style)
    yield Line(LEGEND, depth=0, hang=0)
    counted = report.by_answer()
    yield Line(f"{plural(sum(counted.values()), 'CRD')}: {tally(counted.items())}.", depth=0)


def _refusal(reason: Reason, anchor: str) -> Section:
    """A reason with all its places, then the message of a server."""
    message = Line(" ".join(message_of(reason.first).split()), most=3)
    return Section(reason.sentence, (Listing(tuple(map(_spot, reason.needs)), _MAX_PLACES), message), anchor=anchor)


def _spot(need: Need) -> Line:
    rule = (Line(" ".join(need.rule.split()), depth=2, most=2),) if need.rule else ()
    return Line(f"{crd_name(need.crd, need.version)} {need.path}".rstrip(), place(need), below=rule)


def _table(report: ServersReport, style: Style) -> Table:
    """A row for each CRD that a server refuses or warns about; the others share one, except with ``-v``."""
    rows = list(table_rows(report))
    plain = [row for row in rows if row.is_accepted]
    more: tuple[str, ...] = ()
    if style.verbosity <= 0 and len(plain) > 1:
        others = "CRDs" if len(plain) == len(rows) else "other CRDs"
        rows = [row for row in rows if row not in plain]
        rows.append(Row(f"{len(plain)} {others}", plain[0].answers))
        more = tuple(row.label for row in plain)
    heads = [name.number if name.product == "Kubernetes" else name.id for name in report.servers]
    cells = (
        (Cell(shortened(row.label, _MAX_LABEL)), *(Cell(WORDS[answer], answer) for answer in row.answers))
        for row in rows
    )
    return Table("Each CRD on each server", ("", *heads), tuple(cells), more)


#: A server's answer in a table.
WORDS = {Acceptance.REFUSED: "refused", Acceptance.WARNED: "warned", Acceptance.ACCEPTED: "ok"}
LEGEND = "ok: accepted; warned: accepted, but a part of the CRD is ignored; refused: the CRD cannot be installed."


class Row(Struct, frozen=True):
    """CRDs with the same answers: their common name, and the answer of each server."""

    label: str
    answers: tuple[Acceptance, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether every server accepts the CRDs without a warning."""
        return set(self.answers) == {Acceptance.ACCEPTED}


class Reason(Struct, frozen=True):
    """A reason why some servers refuse CRDs, at one or more places."""

    sentence: str
    needs: tuple[Need, ...]

    @property
    def first(self) -> Need:
        return self.needs[0]


def verdict(report: ServersReport) -> str:
    """The answer in one sentence, with the place that decides it."""
    if not report.rows:
        return "No CRD was read."
    everything, accepting = _all_crds(report), report.accepting
    if len(accepting) == len(report.servers):
        warned = report.by_answer()[Acceptance.WARNED]
        some = f"; some ignore a part of {plural(warned, 'CRD')}" if warned else ""
        return f"{everything} on {spans(report.servers)}{some}."
    deciding = _deciding(report)
    why = f" because of {_places(deciding)}" if deciding else ""
    is_one = len({row.crd for row in report.rows}) == 1
    yours, needs, installs = ("Your CRD", "needs", "installs") if is_one else ("Your CRDs", "need", "install")
    if not accepting:
        nobody = "None of {} takes" if len(report.servers) > 1 else "{} does not take"
        which = yours.replace("Your", "your")
        return f"{nobody.format(spans(report.servers))} {which}{why}.{_other_servers(deciding)}"
    one_product = len({name.product for name in report.servers}) == 1
    if one_product and accepting == report.servers[-len(accepting) :]:
        return f"{yours} {needs} {accepting[0]} or later{why}."
    if one_product and accepting == report.servers[: len(accepting)]:
        return f"{yours} {needs} {accepting[-1]} or earlier{why}."
    return f"{yours} {installs} only on {spans(accepting)}{why}."


def _all_crds(report: ServersReport) -> str:
    names = len({row.crd for row in report.rows})
    return "The CRD installs" if names == 1 else f"All {names} CRDs install"


def _deciding(report: ServersReport) -> list[Need]:
    """The needs that decide the verdict: the needs of the servers next to the servers that accept every CRD.

    If no server accepts every CRD, they are the needs that most servers refuse.
    """
    accepting = set(report.accepting)
    refused = [need for need in report.needs if not accepting & set(need.refused)]
    if not accepting:
        most = max((len(_refusing(need, report)) for need in refused), default=0)
        return [need for need in refused if len(_refusing(need, report)) == most]
    edge = {
        name
        for pair in zip(report.servers, report.servers[1:], strict=False)
        if len(accepting & set(pair)) == 1
        for name in pair
        if name not in accepting
    }
    return [need for need in refused if edge & set(need.refused)]


def _refusing(need: Need, report: ServersReport) -> set[ServerName]:
    """The asked servers that refuse the CRD for this need."""
    return set(report.servers) & set(need.refused)


def _other_servers(deciding: Sequence[Need]) -> str:
    """A sentence on servers that were not asked and accept the CRDs; "" if there are none."""
    since = {need.since for need in deciding}
    found = next(iter(since), None) if len(since) == 1 else None
    return f" It needs {found} or later." if found is not None else ""


def _places(needs: Sequence[Need]) -> str:
    """`` `isCIDR` at networks.yaml:194 and 3 other places``."""
    rest = len({(need.file, need.line, need.path) for need in needs}) - 1
    more = f" and {plural(rest, 'other place')}" if rest else ""
    return f"{needs[0].title} at {place(needs[0])}{more}"


def place(need: Need) -> str:
    """``networks.yaml:194``."""
    return f"{need.file}:{need.line}" if need.line else need.file


def reasons(report: ServersReport) -> tuple[Reason, ...]:
    """The reasons of refusals, each with all its places; those that decide the verdict come first."""
    deciding = {id(need) for need in _deciding(report)} if report.rows else set()
    found: dict[str, list[Need]] = {}
    for need in sorted(report.needs, key=lambda need: id(need) not in deciding):
        found.setdefault(_sentence(need), []).append(need)
    return tuple(Reason(sentence, tuple(needs)) for sentence, needs in found.items())


def _sentence(need: Need) -> str:
    if not need.accepting:
        return f"{need.title} is refused by every {need.refused[0].product}"
    return f"{need.title} {needed(need.since, need.until, need.refused)}"


def message_of(need: Need) -> str:
    """The message of a server that refuses it, with the server's name."""
    server = need.refused[-1] if need.since is not None else need.refused[0]
    return f"{server} says: {need.message}"


def table_rows(report: ServersReport) -> Iterator[Row]:
    """The rows of the table: variants of a CRD with the same answers are one row."""
    found: dict[tuple[str, tuple[Acceptance, ...]], list[CrdRow]] = {}
    for row in report.rows:
        found.setdefault((row.crd, tuple(each.acceptance for each in row.answers)), []).append(row)
    named = [crd for crd, _ in found]
    for (crd, answers), rows in found.items():
        if named.count(crd) == 1:
            yield Row(crd, answers)
        else:
            more = f" and {plural(len(rows) - 1, 'variant')}" if len(rows) > 1 else ""
            yield Row(f"{crd} ({rows[0].files[0].rpartition('/')[2]}{more})", answers)


def ignored(report: ServersReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each CRD with ignored parts: its name, and a line for each part with the servers that ignore it."""
    for row in report.rows:
        found: dict[str, list[ServerName]] = {}
        for each in row.answers:
            for warning in each.warnings:
                found.setdefault(f"warns: {warning}", []).append(each.server)
            for path in each.dropped:
                found.setdefault(f"drops {path} without a warning", []).append(each.server)
        if found:
            yield row.crd, tuple(f"{spans(names)} {text}" for text, names in found.items())


def tally(counted: Iterable[tuple[Acceptance, int]]) -> str:
    """``3 refused by at least one server, 1 accepted with warnings, 105 accepted by all``."""
    texts = {
        Acceptance.REFUSED: "refused by at least one server",
        Acceptance.WARNED: "accepted with warnings",
        Acceptance.ACCEPTED: "accepted by all",
    }
    return ", ".join(f"{count} {texts[answer]}" for answer, count in counted)

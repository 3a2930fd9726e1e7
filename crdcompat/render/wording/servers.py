"""Sentences on which servers accept which CRDs: the verdict, the reasons of refusals, and ignored parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.models.servers import Acceptance
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary.servers import needed, spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.servers import CrdRow, Need, ServersReport
    from crdcompat.vocabulary.servers import ServerName

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
    """The needs that decide the verdict: those of the servers next to the ones that accept every CRD.

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

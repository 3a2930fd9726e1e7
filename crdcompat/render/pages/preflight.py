"""Whether a cluster may go back, as a page: the answer, gaps, what is rejected or lost, and the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.preflight import GoBack
from crdcompat.render.pages.blocks import (
    Answer,
    Block,
    Cell,
    Code,
    Fold,
    Line,
    Listing,
    Notes,
    Number,
    Page,
    Section,
    Table,
)
from crdcompat.render.wording.findings import some
from crdcompat.render.wording.installers import answer_lines
from crdcompat.render.wording.preflight import (
    answer,
    deleted_text,
    loss_text,
    missing_rules,
    missing_texts,
    question,
    reason,
    rejected_texts,
    rule_lines,
    servers_line,
    unlisted_text,
    windows,
)
from crdcompat.render.wording.preflight_steps import shown_steps
from crdcompat.render.wording.simulation import cause_line
from crdcompat.vocabulary.writes import ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.models.preflight import PreflightReport
    from crdcompat.render.escape import Style

#: The tone of an answer: that of a similar verdict on a release.
_TONES = {
    GoBack.YES: ReleaseVerdict.CLEAN,
    GoBack.NOTHING: ReleaseVerdict.CLEAN,
    GoBack.WITH_LOSSES: ReleaseVerdict.AT_RISK,
    GoBack.NO: ReleaseVerdict.BLOCKED,
    GoBack.UNKNOWN: ReleaseVerdict.UNKNOWN,
}
_MAX_CAUSES, _MAX_COMMANDS = 4, 3


def page(report: PreflightReport, style: Style) -> Page:
    """The page."""
    return Page(
        command="preflight",
        answers=(Answer(question(report), _TONES[report.answer], answer(report), reason(report)),),
        body=tuple(_body(report, style)) if style.verbosity >= 0 else (),
        sides=(("OLD", report.old), ("cluster", report.new)),
        numbers=_numbers(report) if report.kinds else (),
    )


def _numbers(report: PreflightReport) -> tuple[Number, ...]:
    return (
        Number(WriteResult.REJECTED, report.rejected, "cannot be written"),
        Number(WriteResult.LOSES_DATA, report.losing, "with the next write"),
        Number("judged", report.objects, "of kinds that can matter"),
    )


def _body(report: PreflightReport, style: Style) -> Iterator[Block]:
    old, most = report.old.title, len(report.missing) if style.verbosity > 0 else _MAX_CAUSES
    servers = servers_line(report)
    yield from (Line(each, hang=0, fold=Fold.ALWAYS) for each in (servers, *answer_lines(report)) if each)
    yield Notes((*report.old.notes, *report.new.notes, *report.notes), depth=1, hang=1, fold=Fold.ALWAYS)
    yield from _listed("What is missing", missing_texts(report, most), "missing", more=tuple(_role(report)))
    yield from _listed(f"What {old} rejects", rejected_texts(report), "rejected")
    about = "as long as nobody changes it; it cannot be created anew"
    yield from _listed(f"What {old} tolerates", map(cause_line, report.tolerated), "tolerated", about)
    yield from _listed("What helm deletes", map(deleted_text, report.deleted), "deleted")
    yield from _listed("What is lost", map(loss_text, report.losses), "losses")
    if report.steps:
        yield _steps(report)
    if report.windows:
        about, title = "whatever is stored now", "While CRDs and operator differ, this can fail"
        yield Section(title, tuple(_windows(report)), about, anchor="windows")
    if report.kinds:
        yield _kinds(report, len(report.kinds) if style.verbosity > 0 else _MAX_CAUSES)


def _listed(
    title: str, texts: Iterable[str], anchor: str, about: str = "", more: tuple[Block, ...] = ()
) -> Iterator[Block]:
    if lines := tuple(Line(text, fold=Fold.ALWAYS) for text in texts):
        yield Section(title, (Listing(lines, _MAX_CAUSES), *more), about, anchor=anchor)


def _role(report: PreflightReport) -> Iterator[Block]:
    """The rules of a ClusterRole that allow to read the missing kinds."""
    if rules := missing_rules(report):
        text = "These rules of a ClusterRole allow it (--print-rbac prints all that are needed):"
        yield Line(text, hang=0, fold=Fold.ALWAYS)
        yield Code("Rules", tuple(rule_lines(rules)))


def _steps(report: PreflightReport) -> Section:
    """The steps with their commands. A command stays on one line, because users copy it."""
    lines = tuple(Line(each.sentence, fold=Fold.ALWAYS, commands=each.commands) for each in shown_steps(report))
    unlisted = unlisted_text(report)
    return Section(
        "What to do, in this order",
        (
            Listing(lines, ordered=True, most_commands=_MAX_COMMANDS),
            *((Line(unlisted, hang=0, fold=Fold.ALWAYS),) if unlisted else ()),
        ),
        "--dry-run=server tries a kubectl command",
        anchor="steps",
    )


def _windows(report: PreflightReport) -> Iterator[Block]:
    """The failures while only the CRDs, or only the operator, are rolled back."""
    for title, failing, others in windows(report):
        yield Line(title, fold=Fold.ALWAYS)
        yield Listing(tuple(Line(each, depth=2, fold=Fold.ALWAYS) for each in failing), _MAX_CAUSES)
        if others:
            yield Line(others, depth=2, fold=Fold.ALWAYS)


def _kinds(report: PreflightReport, most: int) -> Table:
    rows = tuple(
        tuple(map(Cell, (kind.crd, *map(str, (kind.findings, kind.objects, kind.rejected, kind.losing)))))
        for kind in report.kinds
    )
    judged = some([f"{kind.objects} {kind.kind}" for kind in report.kinds], most)
    head = ("CRD", "findings", "objects", "rejected", "lose data")
    return Table("What was judged", head, rows, said=f"Judged: {judged}.")

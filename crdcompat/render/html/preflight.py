"""The answer of preflight as parts of a page: the verdict, gaps, rejected and lost values, and steps with commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.models.preflight import GoBack
from crdcompat.render.html.facets import Facets
from crdcompat.render.html.marks import Number
from crdcompat.render.wording.installers import answer_lines
from crdcompat.render.wording.preflight import (
    Window,
    answer,
    deleted_text,
    loss_text,
    missing_rules,
    missing_texts,
    question,
    reason,
    rejected_texts,
    rule_lines,
    unlisted_text,
    windows,
)
from crdcompat.render.wording.preflight_steps import shown_steps
from crdcompat.render.wording.simulation import cause_line
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from crdcompat.models.preflight import JudgedKind, PreflightReport
    from crdcompat.render.wording.preflight_steps import ShownStep

#: The CSS class of an answer: that of a similar verdict on a release.
_CLASSES = {GoBack.YES: "clean", GoBack.NOTHING: "clean", GoBack.WITH_LOSSES: "at-risk", GoBack.NO: "blocked"}


class Listing(Struct, frozen=True):
    """A section with one line for each item; ``about`` is a sentence on all of them."""

    anchor: str
    title: str
    lines: tuple[str, ...]
    about: str = ""


class Answer(Struct, frozen=True):
    """The content of the page; ``role`` has the rules of a ClusterRole that allow to read the missing kinds."""

    question: str
    answer: str
    tone: str
    reason: str
    numbers: tuple[Number, ...]
    missing: tuple[str, ...]
    role: tuple[str, ...]
    listings: tuple[Listing, ...]
    steps: tuple[ShownStep, ...]
    unlisted: str
    windows: tuple[Window, ...]
    kinds: tuple[JudgedKind, ...]


def parts(report: PreflightReport) -> tuple[Answer, Facets]:
    """The parts of the page; nothing on it is filtered."""
    shown = Answer(
        question=question(report),
        answer=answer(report),
        tone=_CLASSES.get(report.answer, "unknown"),
        reason=reason(report),
        numbers=_numbers(report),
        missing=tuple(missing_texts(report, len(report.missing))),
        role=tuple(rule_lines(missing_rules(report))),
        listings=tuple(each for each in _listings(report) if each.lines),
        steps=shown_steps(report),
        unlisted=unlisted_text(report),
        windows=tuple(windows(report)) if report.windows else (),
        kinds=report.kinds,
    )
    return shown, Facets(())


def _numbers(report: PreflightReport) -> tuple[Number, ...]:
    return (
        Number(WriteResult.REJECTED, report.rejected, "cannot be written"),
        Number(WriteResult.LOSES_DATA, report.losing, "with the next write"),
        Number("judged", report.objects, "of kinds that can matter"),
    )


def _listings(report: PreflightReport) -> tuple[Listing, ...]:
    old = report.old.title
    return (
        Listing("rejected", f"What {old} rejects", tuple(rejected_texts(report))),
        Listing(
            "tolerated",
            f"What {old} tolerates",
            tuple(map(cause_line, report.tolerated)),
            "As long as nobody changes it. It cannot be created anew.",
        ),
        Listing("deleted", "What helm deletes", tuple(map(deleted_text, report.deleted))),
        Listing("installers", "By installer", tuple(answer_lines(report))),
        Listing("losses", "What is lost", tuple(map(loss_text, report.losses))),
    )

"""crdcompat waive and baseline: add findings with a reason to the waiver file, accepted or as two-step growth."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.cli.settings import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.features.waive.waive_workflow import Written

_REPORT = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="A JSON report that has the findings (default: run check)."),
]
_OWNER = Annotated[str, typer.Option("--owner", help="Who is responsible for it.")]
_UNTIL = Annotated[str, typer.Option("--until", metavar="DAY|RELEASE", help="Its end: 2027-01-31, or 4.17.")]


def waive(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Ids of findings, or their beginnings.")
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why they are accepted (default: ask).")] = None,
    owner: _OWNER = "",
    until: _UNTIL = "",
    from_comment: Annotated[
        bool,
        typer.Option(
            "--from-comment",
            help="Read the lines '/crdcompat waive ID REASON' of a comment from standard input. Needs --owner.",
        ),
    ] = False,
    growth: Annotated[
        bool, typer.Option("--growth", help="Declare the added values: accepted now, written by a later release.")
    ] = False,
    accepted_from: Annotated[
        str,
        typer.Option(metavar="RELEASE", help="With --growth: the first release that accepts them (default: this one)."),
    ] = "",
    written_from: Annotated[
        str,
        typer.Option(metavar="RELEASE", help="With --growth: the first release that writes them (default: the next)."),
    ] = "",
    base: Annotated[str | None, typer.Option(metavar="REF", help="The base, as for check.")] = None,
    report: _REPORT = None,
    *,
    place: Place,
) -> None:
    """Accept findings: write them into the waiver file."""
    from crdcompat.errors import UsageError
    from crdcompat.features.waive import waive_workflow
    from crdcompat.render.escape import say

    if growth and (from_comment or until):
        raise UsageError("--growth takes neither --from-comment nor --until: it ends with the release that writes")
    if not growth and (accepted_from or written_from):
        raise UsageError("--accepted-from and --written-from go with --growth")
    reasons = _commented(ids, reason, owner) if from_comment else _named(ids, reason)
    if not reasons:
        say("no line of the comment begins with /crdcompat waive")
        return
    source = waive_workflow.Source(report=report, base=base, config=place.config, repo=place.repo)
    if growth:
        _say(waive_workflow.declare(source, reasons, owner, accepted_from, written_from))
    else:
        _say(waive_workflow.waive(source, reasons, owner, until))


def _commented(ids: Sequence[str] | None, reason: str | None, owner: str) -> dict[str, str]:
    """The reasons of the lines of a comment, by the beginning of an id."""
    from crdcompat.errors import UsageError
    from crdcompat.findings.waiver_text import requests_in

    if ids or reason is not None:
        raise UsageError("--from-comment takes IDs and reasons from the comment alone")
    if not owner:
        raise UsageError("--from-comment needs --owner: the author of the comment")
    return {request.id: request.reason for request in requests_in(sys.stdin)}


def _named(ids: Sequence[str] | None, reason: str | None) -> dict[str, str]:
    """The reason for each of the ids; a terminal is asked for one that is not given."""
    from crdcompat.errors import UsageError

    if not ids:
        raise UsageError("name a finding by its id, or the beginning of it")
    if reason is None:
        if not sys.stdin.isatty():
            raise UsageError("--reason: say why it is accepted")
        reason = typer.prompt("Reason")
    return dict.fromkeys(ids, reason)


def baseline(
    reason: Annotated[str, typer.Option("--reason", help="Why they are accepted.")] = "stood at the baseline",
    owner: _OWNER = "",
    until: _UNTIL = "",
    base: Annotated[str | None, typer.Option(metavar="REF", help="The base, as for check.")] = None,
    report: _REPORT = None,
    *,
    place: Place,
) -> None:
    """Accept all present findings, as a baseline."""
    from crdcompat.features.waive import waive_workflow

    source = waive_workflow.Source(report=report, base=base, config=place.config, repo=place.repo)
    _say(waive_workflow.baseline(source, reason, owner, until))


def _say(written: Written) -> None:
    from crdcompat.render.escape import say
    from crdcompat.render.wording.findings import plural

    if written.accepted_from:
        said = f"accepted from {written.accepted_from}, written from {written.written_from}"
        say(f"{written.path}: {plural(written.count, 'declaration')} written: {said}")
    else:
        say(f"{written.path}: {plural(written.count, 'waiver')} written")

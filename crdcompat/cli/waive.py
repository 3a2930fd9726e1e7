"""crdcompat waive and baseline: add findings with a reason to the waiver file, accepted or as two-step growth."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crdcompat.cli import options as o

if TYPE_CHECKING:
    from crdcompat.config.configuration import Config
    from crdcompat.models.finding import Acceptance

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
    place: o.Place,
) -> None:
    """Accept findings: write them into the waiver file."""
    from crdcompat.errors import UsageError
    from crdcompat.findings.waive_comment import Request, requests_in
    from crdcompat.models.finding import Acceptance
    from crdcompat.render.escape import say

    if growth and (from_comment or until):
        raise UsageError("--growth takes neither --from-comment nor --until: it ends with the release that writes")
    if not growth and (accepted_from or written_from):
        raise UsageError("--accepted-from and --written-from go with --growth")
    if from_comment:
        if ids or reason is not None:
            raise UsageError("--from-comment takes IDs and reasons from the comment alone")
        if not owner:
            raise UsageError("--from-comment needs --owner: the author of the comment")
        requests = requests_in(sys.stdin)
        if not requests:
            say("no line of the comment begins with /crdcompat waive")
            return
    else:
        if not ids:
            raise UsageError("name a finding by its id, or the beginning of it")
        if reason is None:
            if not sys.stdin.isatty():
                raise UsageError("--reason: say why it is accepted")
            reason = typer.prompt("Reason")
        requests = [Request(name, reason) for name in ids]
    data, rules = _judged(report, base, place)
    _refuse_over(until, data)
    found = _findings(data)
    reasons = {_only(request.id, found): request.reason for request in requests}
    # The same finding may occur against several releases, each with another old value.
    accepted = [
        (finding, Acceptance(reasons[finding["id"]], owner, until)) for finding in found if finding["id"] in reasons
    ]
    if growth:
        _declare(accepted, accepted_from or _release(data, rules), written_from, rules)
    else:
        _write(accepted, rules)


def _only(name: str, found: list[dict[str, Any]]) -> str:
    """The id that begins with ``name``. Raises UsageError for none or several."""
    from crdcompat.errors import UsageError

    known = {finding["id"]: finding for finding in found}
    keys = [str(key) for key in known if name and key.startswith(name)]
    if len(keys) != 1:
        listed = "".join(f"\n  {_line(known[key])}" for key in keys or known)
        listed = listed or " none (an id of diff is in its JSON report: --report FILE)"
        raise UsageError(f"{'several findings begin with' if keys else 'no finding'} {name}; there are{listed}")
    return keys[0]


def baseline(
    reason: Annotated[str, typer.Option("--reason", help="Why they are accepted.")] = "stood at the baseline",
    owner: _OWNER = "",
    until: _UNTIL = "",
    base: Annotated[str | None, typer.Option(metavar="REF", help="The base, as for check.")] = None,
    report: _REPORT = None,
    *,
    place: o.Place,
) -> None:
    """Accept all present findings, as a baseline."""
    from crdcompat.models.finding import Acceptance

    data, rules = _judged(report, base, place)
    _refuse_over(until, data)
    found = _findings(data)
    accepted = Acceptance(reason, owner, until, baseline=True)
    _write([(finding, accepted) for finding in found if finding["severity"] != "info"], rules)


def _refuse_over(until: str, data: dict[str, Any]) -> None:
    """Raises UsageError for an end that has come: the waiver would never count."""
    from datetime import date

    from crdcompat.errors import UsageError
    from crdcompat.findings.waivers import ends_before

    bases = [part["old"]["name"] for part in data.get("sections", ()) if part["against"] == "base"]
    try:
        is_over = ends_before(until, date.today(), bases[0] if bases else data["new"]["name"])
    except ValueError:
        return  # what writes the waiver file says that there is no such day
    if is_over:
        raise UsageError(f"--until {until} is over, so that the waiver would never count: name a later end")


def _line(finding: dict[str, Any]) -> str:
    """``ID  severity[rule] CRD/version path (direction)``."""
    where = f"{finding['crd']}/{finding['version']} {finding['path']}".rstrip()
    return f"{finding['id']}  {finding['severity']}[{finding['rule']}] {where} ({finding['direction']})"


def _findings(data: dict[str, Any]) -> list[dict[str, Any]]:
    """All findings without a waiver, including those that existed before the change."""
    parts = data.get("sections", [data])
    return [finding for part in parts for finding in part["findings"] if finding["waiver"] is None]


def _judged(report: str | None, base: str | None, place: o.Place) -> tuple[dict[str, Any], Config]:
    """The JSON report of a file, else that of a check; and the configuration, which names the waiver file.

    Raises UsageError.
    """
    import orjson
    from msgspec.structs import replace

    from crdcompat.errors import UsageError

    if report is None:
        from crdcompat.features.check.base import CheckOptions
        from crdcompat.features.check.rules import find_rules
        from crdcompat.features.check.workflow import run_check
        from crdcompat.render.data.diff import check_data

        # Findings that existed before the change are accepted as well; the quick answer does not list them.
        options = CheckOptions(base=base, repo=place.repo, all_targets=True)
        rules = find_rules(place.config, options)
        return check_data(run_check(rules.config, replace(options, change=rules.change))), rules.config

    from pathlib import Path

    from crdcompat.features.verify.report_file import check_report

    try:
        text = Path(report).read_bytes()
        data = orjson.loads(text)
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{report}: not a JSON report: {error}") from None
    if not isinstance(data, dict) or not ("sections" in data or "findings" in data):
        raise UsageError(f"{report}: not a report of diff or check")
    check_report(data, report, text)
    return data, place.found()


def _write(findings: list[tuple[dict[str, Any], Acceptance]], config: Config) -> None:
    from crdcompat.findings.waiver_file import add_waivers, entries_for
    from crdcompat.render.escape import say

    path = config.waiver_file
    count = add_waivers(path, [made for finding, accepted in findings for made in entries_for(finding, accepted)])
    say(f"{path}: {count} {'waiver' if count == 1 else 'waivers'} written")


def _declare(findings: list[tuple[dict[str, Any], Acceptance]], first: str, later: str, config: Config) -> None:
    """Write declarations: release ``first`` accepts the added values, ``later`` writes them ("": the next one)."""
    from crdcompat.errors import UsageError
    from crdcompat.findings.growth import can_grow, following
    from crdcompat.findings.waiver_file import add_growth, growth_for
    from crdcompat.render.escape import say
    from crdcompat.render.wording.findings import plural
    from crdcompat.vocabulary.installers import judged_as

    for finding, _ in findings:
        meets = judged_as(finding["direction"], finding.get("window"))
        if not can_grow(finding["rule"], meets, finding["added"], finding["new"]):
            raise UsageError(f"{_line(finding)}: growth is about values that a list gained, in a rollback")
    path = config.waiver_file
    later = later or following(first)
    count = add_growth(path, [made for found, why in findings for made in growth_for(found, first, later, why)])
    say(f"{path}: {plural(count, 'declaration')} written: accepted from {first}, written from {later}")


def _release(data: dict[str, Any], config: Config) -> str:
    """The newer release of a report: of a check, that of the branch of the change. Raises UsageError if unknown."""
    from crdcompat.config.releases import openshift_minor
    from crdcompat.errors import UsageError
    from crdcompat.findings.growth import is_release

    bases = [part["old"]["name"] for part in data.get("sections", ()) if part["against"] == "base"]
    name = bases[0] if bases else data["new"]["name"]
    minor = openshift_minor(name, config)
    if minor is None:
        raise UsageError(f"--accepted-from: name the release that accepts the values first; {name} has no version")
    return name if is_release(name) else f"release-{minor[0]}.{minor[1]}"

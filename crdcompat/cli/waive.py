"""crdcompat waive and baseline: add accepted findings with a reason to the waiver file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crdcompat.cli import options as o

if TYPE_CHECKING:
    from crdcompat.config.configuration import Config

_REPORT = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="A JSON report that has the findings (default: run check)."),
]
_OWNER = Annotated[str, typer.Option("--owner", help="Who answers for it.")]
_UNTIL = Annotated[str, typer.Option("--until", metavar="DAY|RELEASE", help="When it ends: 2027-01-31, or 4.17.")]


def waive(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Findings, by their id or its beginning.")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why it is accepted (asked for if not told).")] = None,
    owner: _OWNER = "",
    until: _UNTIL = "",
    base: Annotated[str | None, typer.Option(metavar="REF", help="As for check.")] = None,
    report: _REPORT = None,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
) -> None:
    """Accept findings: write them into the waiver file."""
    from crdcompat.errors import UsageError
    from crdcompat.models.finding import Acceptance

    if reason is None:
        if not sys.stdin.isatty():
            raise UsageError("--reason: say why it is accepted")
        reason = typer.prompt("Reason")
    found = _findings(report, base, config, repo)
    known = {finding["id"]: finding for finding in found}
    wanted = {name: [key for key in known if name and key.startswith(name)] for name in ids}
    for name, keys in wanted.items():
        if len(keys) != 1:
            listed = "".join(f"\n  {_line(known[key])}" for key in keys or known)
            listed = listed or " none (one of diff stands in its JSON report: --report FILE)"
            raise UsageError(f"{'several findings begin with' if keys else 'no finding'} {name}; there are{listed}")
    chosen = {keys[0] for keys in wanted.values()}
    # The same finding may occur against several releases, each with another old value.
    _write([finding for finding in found if finding["id"] in chosen], Acceptance(reason, owner, until), config, repo)


def baseline(
    reason: Annotated[str, typer.Option("--reason", help="Why all of it is accepted.")] = "stood at the baseline",
    owner: _OWNER = "",
    until: _UNTIL = "",
    base: Annotated[str | None, typer.Option(metavar="REF", help="As for check.")] = None,
    report: _REPORT = None,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
) -> None:
    """Accept every finding there is, at once, marked as the baseline."""
    from crdcompat.models.finding import Acceptance

    found = _findings(report, base, config, repo)
    counted = [finding for finding in found if finding["severity"] != "info"]
    _write(counted, Acceptance(reason, owner, until, baseline=True), config, repo)


def _line(finding: dict[str, Any]) -> str:
    """``ID  severity[rule] CRD/version path (direction)``."""
    where = f"{finding['crd']}/{finding['version']} {finding['path']}".rstrip()
    return f"{finding['id']}  {finding['severity']}[{finding['rule']}] {where} ({finding['direction']})"


def _findings(report: str | None, base: str | None, config: str | None, repo: str | None) -> list[dict[str, Any]]:
    """All findings without a waiver, including those that existed before the change."""
    import orjson

    from crdcompat.errors import UsageError

    if report is None:
        from crdcompat.features.check.base import CheckOptions
        from crdcompat.features.check.workflow import run_check
        from crdcompat.render.data.diff import check_data

        # Findings that existed before the change are accepted as well; the quick answer does not list them.
        options = CheckOptions(base=base, repo=repo, all_targets=True)
        data: Any = check_data(run_check(_config(config, repo), options))
    else:
        from pathlib import Path

        try:
            data = orjson.loads(Path(report).read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise UsageError(f"{report}: not a JSON report: {error}") from None
    if not isinstance(data, dict) or not ("sections" in data or "findings" in data):
        raise UsageError(f"{report}: not a report of diff or check")
    parts = data.get("sections", [data])
    return [finding for part in parts for finding in part["findings"] if finding["waiver"] is None]


def _write(findings: list[dict[str, Any]], accepted: Any, config: str | None, repo: str | None) -> None:
    from crdcompat.findings.waiver_file import add_waivers, entries_for

    path = _config(config, repo).waiver_file
    count = add_waivers(path, [made for finding in findings for made in entries_for(finding, accepted)])
    typer.echo(f"{path}: {count} {'waiver' if count == 1 else 'waivers'} written")


def _config(named: str | None, repo: str | None) -> Config:
    from pathlib import Path

    from crdcompat.config.configuration import find_config

    return find_config(named, Path(repo) if repo else None)

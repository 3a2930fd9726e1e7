"""crdcompat diff OLD NEW: findings between two CRD sets."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def diff(
    old: o.Old,
    new: o.New,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="Only CRDs with a file below one of these.")
    ] = None,
    *,
    only: o.Selection,
    objects: o.Objects = None,
    suggest_patch: Annotated[
        bool, typer.Option("--suggest-patch", help="Print a patch that makes OLD accept what NEW adds.")
    ] = False,
    any_order: o.AnyOrder = False,
    configured: o.Configured,
    no_cache: o.NoCache = False,
    output: o.Output,
    charts: o.Charts,
    requests: o.Requests,
) -> None:
    """Compare two releases: what breaks on rollback, and on upgrade?"""
    from crdcompat.cli.run import compare_and_report

    requests.apply()
    charts.apply()
    settings = configured.settings("diff", output)
    code = compare_and_report(
        old,
        new,
        repo=configured.repo,
        filters=only.filters(settings.config.texts("contexts"), paths),
        objects=objects or settings.config.recordings,
        patch=suggest_patch,
        any_order=any_order,
        settings=settings,
        use_cache=not no_cache,
    )
    raise typer.Exit(code)

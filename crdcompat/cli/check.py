"""crdcompat check: the effect of a change on rollbacks and upgrades, for hooks and pull requests."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.settings import Configured, end


def check(
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REF", autocompletion=o.known_refs, help="Compare with its merge base (default: from CI or git)."
        ),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="REF", help="A commit, index: or worktree: (default: the index).")
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="REF", autocompletion=o.known_refs, help="A release to roll back to; may be repeated."
        ),
    ] = None,
    show_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Compare all CRDs. Show findings from before this change, too; they never fail the check."
        ),
    ] = False,
    targets_only: Annotated[
        bool, typer.Option("--targets-only", help="Compare with the targets only, not with the base.")
    ] = False,
    *,
    only: o.Selection,
    objects: o.Objects = None,
    configured: Configured,
    no_cache: o.NoCache = False,
    output: o.Output,
    requests: o.Requests,
) -> None:
    """Check a change before you commit, push or merge it."""
    from msgspec.structs import replace

    from crdcompat.cli.progress import progress
    from crdcompat.features.check.check_options import CheckOptions
    from crdcompat.features.check.check_workflow import run_check
    from crdcompat.features.check.rules_of_the_base import find_rules

    filters = only.filters()
    requests.apply()
    asked = CheckOptions(base=base, head=head, repo=configured.repo)
    rules = find_rules(configured.config, asked)
    settings = configured.settings("check", output, rules.config)
    options = replace(
        asked,
        change=rules.change,
        targets=target or None,
        filters=filters,
        recordings=objects or (),
        formats=settings.formats,
        all_targets=show_all,
        targets_only=targets_only,
        use_cache=not no_cache,
    )
    # Reports are written in any case: a check that never reports its status blocks every merge.
    with progress(wanted=output.has_bars):
        report = rules.shown_in(run_check(settings.config, options))
    raise typer.Exit(end(report, settings, existing=show_all))

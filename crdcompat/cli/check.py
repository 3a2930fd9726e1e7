"""crdcompat check: what this change does to rollbacks and upgrades, for hooks and pull requests."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def check(
    from_ref: Annotated[
        str | None,
        typer.Option(metavar="REF", envvar="PRE_COMMIT_FROM_REF", help="Compare from this commit (default: HEAD)."),
    ] = None,
    to_ref: Annotated[
        str | None,
        typer.Option(metavar="REF", envvar="PRE_COMMIT_TO_REF", help="Compare to this commit (default: the index)."),
    ] = None,
    direction: o.DirectionOption = o.Direction.both,
    owner: o.Owners = None,
    crd: o.Crds = None,
    context: o.Contexts = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    formats: o.Formats = None,
    fail_on: o.FailOnOption = o.FailOn.error,
    repo: o.Repo = None,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    color: o.ColourOption = o.Colour.auto,
) -> None:
    """Compare what is about to be committed with HEAD, or two commits that a hook names."""
    from crdcompat.cli.run import CLEAN, compare_and_report
    from crdcompat.jobs.change import find_change

    change = find_change(from_ref, to_ref, repo)
    if change is None:
        raise typer.Exit(CLEAN)
    code = compare_and_report(
        change.old,
        change.new,
        repo=repo,
        filters={
            "directions": o.directions(direction),
            "owners": o.names(owner),
            "crds": crd or (),
            "contexts": context or (),
            "select": select or (),
            "ignore": ignore or (),
        },
        formats=formats or (),
        fail_on=fail_on.value,
        colour=color.value,
        verbosity=o.verbosity(verbose, quiet),
        command="check",
        nothing_is_fine=True,
    )
    raise typer.Exit(code)

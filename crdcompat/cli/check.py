"""crdcompat check: what this change does to rollbacks and upgrades, for hooks and pull requests."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def check(
    base: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Compare with where the change left this (default: what CI or git tells)."),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="REF", help="A commit, index: or worktree: (default: the index).")
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="REF", help="A release that a rollback may go to; may be repeated."),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show findings that stood before this change, too; they never fail.")
    ] = False,
    direction: o.DirectionOption = o.Direction.both,
    owner: o.Owners = None,
    crd: o.Crds = None,
    context: o.Contexts = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    objects: o.Objects = None,
    formats: o.Formats = None,
    fail_on: o.FailOnChoice = None,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither take nor keep what is known of unchanged files.")
    ] = False,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    color: o.ColourOption = o.Colour.auto,
) -> None:
    """What the change that is about to be committed, pushed or merged does to rollbacks and upgrades."""
    from crdcompat.cli.settings import check_formats, check_rules, exit_code, settled
    from crdcompat.jobs.change import find_change
    from crdcompat.jobs.quick import glance, nothing, sides, untouched
    from crdcompat.report.write import wants_excerpts, wants_passing, write_reports

    check_rules((*(select or ()), *(ignore or ())))
    settings = settled(config, repo, formats, fail_on)
    check_formats(settings.formats)
    wants = settings.config.wants
    change = find_change(base, head, configured=settings.config.base, repo=repo)
    # Reports are written in any case: a check that never reports its status blocks every merge.
    if change is None:
        report = nothing("a branch is being deleted")
    elif (found := glance(change, wants, repo)) is not None or (
        found := untouched(change, trees := sides(change, repo), wants, repo)
    ) is not None:
        report = found
    else:
        from crdcompat.jobs.telltales import telltales

        recordings = objects or settings.config.recordings
        every = bool(recordings) or wants_passing(settings.formats)  # they are about each CRD, changed or not
        # git searches while the comparison is being loaded.
        variants = settings.config.texts("variant_annotations")
        told = telltales(trees, variants, cached=not no_cache, all_needed=every)

        from crdcompat.jobs.check import Wishes
        from crdcompat.jobs.check import check as run_check
        from crdcompat.policy.waiver_file import read_waivers

        wishes = Wishes(
            targets=target or None,
            filters={
                "directions": o.directions(direction),
                "owners": o.names(owner),
                "crds": crd or (),
                "contexts": context or settings.config.texts("contexts"),
                "select": select or (),
                "ignore": ignore or (),
            },
            objects=recordings,
            repo=repo,
            excerpts=wants_excerpts(settings.formats),
        )
        report = run_check(change, trees, told, settings.config, read_waivers(settings.config.waiver_file), wishes)
    write_reports(report, settings.formats, color.value, o.verbosity(verbose, quiet), existing=show_all)
    raise typer.Exit(exit_code(report, settings.fail_on))

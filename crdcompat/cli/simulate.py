"""crdcompat simulate OLD NEW --objects PATH…: replay the rollback on recorded objects.

simulate --fleet DIR…: the same for many clusters.
"""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.fleet_options import Many
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import Configured, end, open_recordings
from crdcompat.errors import UsageError
from crdcompat.render.escape import warn


def simulate(
    old: o.Old,
    new: o.New,
    objects: Annotated[list[str] | None, o.recordings("Recordings of a cluster; also -, cluster:CONTEXT.")] = None,
    *,
    many: Many,
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Replay the upgrade OLD -> NEW instead.")] = False,
    servers: o.Servers,
    context: o.ClusterContext = None,
    crd: o.Crds = None,
    any_order: o.AnyOrder = False,
    configured: Annotated[
        Configured,
        varied(
            "statistics",
            "profile",
            helps={"formats": "text, concise, json, markdown, sarif, junit, github, gitlab or html."},
        ),
    ],
    no_cache: o.NoCache = False,
    output: o.Output,
    charts: o.Charts,
    requests: o.Requests,
) -> None:
    """Replay the rollback NEW -> OLD on recorded objects."""
    from itertools import chain

    from crdcompat.cli.fleet import NOTHING_JUDGED, run_fleet
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.config.applied import both_sides
    from crdcompat.features.simulate.early import NOTHING_GROWS, growing
    from crdcompat.features.simulate.simulate_workflow import simulate as run
    from crdcompat.findings.waiver_file import read_accepted
    from crdcompat.recordings.recorded_objects import read_objects
    from crdcompat.schema.answers import ANSWERS

    _check(objects, many, upgrade=upgrade)
    requests.apply()
    server = servers.chosen()
    charts.apply(server.kubernetes if server else "")
    settings, repo = configured.settings("fleet" if many.fleet else "simulation", output), configured.repo
    declared = read_accepted(settings.config.waiver_file).growth
    if many.fleet:
        from crdcompat.features.fleet.fleet_judge import Plan

        judged = (server, upgrade, context, tuple(crd or ()), () if upgrade else declared)
        code = run_fleet(
            Plan(old, new, tuple(many.target or ()), settings.config, repo, *judged),
            many.fleet,
            settings,
            many,
        )
        raise typer.Exit(code)
    objects = objects or []
    trees = open_recordings(objects, repo)
    counted = RecordedProgress()
    with progress(wanted=output.has_bars), ANSWERS.kept(wanted=not no_cache):
        before, after = both_sides(old, new, settings.config, repo, command="simulate", any_order=any_order)
        kinds = before.kinds(crd or ()) | after.kinds(crd or ())
        report = run(
            before,
            after,
            counted.each(chain.from_iterable(read_objects(tree, counted.file, kinds=kinds) for tree in trees)),
            server=server,
            upgrade=upgrade,
            context=context,
            crds=crd or (),
            growth=NOTHING_GROWS if upgrade else growing(declared, after.name, settings.config),
        )
    code = end(report, settings)
    if not (report.problems or report.objects or report.lost):
        why = NOTHING_JUDGED if report.not_simulated else "no objects"
        warn(f"{why} in {', '.join(tree.name for tree in trees)}")
    raise typer.Exit(code)


def _check(objects: object, many: Many, *, upgrade: bool) -> None:
    """Raises UsageError for options that exclude each other."""
    if not objects and not many.fleet:
        raise UsageError("name what was recorded: --objects PATH of one cluster, or --fleet DIR of many")
    if objects and many.fleet:
        raise UsageError("--objects has the recordings of one cluster, --fleet those of many: give one of them")
    if not many.fleet and many.is_asked:
        raise UsageError("--target, --jobs, --scheduler, --timeout, --resume, --output and --since go with --fleet")
    if upgrade and many.target:
        raise UsageError("--target is another release to go back to: it does not go with --upgrade")

"""crdcompat diff OLD NEW: findings between two CRD sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import Configured, end, open_recordings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.models.diff import DiffReport


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
    configured: Annotated[
        Configured,
        varied(
            helps={
                "formats": "text, concise, json, markdown, changelog, sarif, junit, github, gitlab, html or "
                "statistics; repeatable."
            }
        ),
    ],
    no_cache: o.NoCache = False,
    output: o.Output,
    charts: o.Charts,
    requests: o.Requests,
) -> None:
    """Compare two releases: what breaks on rollback, and on upgrade?"""
    from functools import partial

    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.config.applied import both_sides
    from crdcompat.features.diff.configured import configured_diff, patch_for
    from crdcompat.recordings.recorded_objects import read_objects
    from crdcompat.render.escape import warn
    from crdcompat.render.write import wants_excerpts
    from crdcompat.schema.answers import ANSWERS
    from crdcompat.vocabulary import ExitCode

    requests.apply()
    charts.apply()
    settings = configured.settings("diff", output)
    config, repo = settings.config, configured.repo
    filters = only.filters(config.texts("contexts"), paths)
    recordings = open_recordings(objects or config.recordings, repo)
    with progress(wanted=output.has_bars), ANSWERS.kept(wanted=not no_cache):
        before, after = both_sides(old, new, config, repo, command="diff", any_order=any_order, paths=filters.paths)
        counted, kinds = RecordedProgress(), before.kinds() | after.kinds()
        report = configured_diff(
            before,
            after,
            config,
            filters,
            recordings=(counted.each(read_objects(tree, kinds=kinds)) for tree in recordings),
            excerpts=partial(wants_excerpts, settings.formats),
        )
    if suggest_patch:
        _print(patch_for(before, after, report, filters))
    code = end(report, settings, shown=bool(settings.formats or not suggest_patch))
    if suggest_patch and not settings.formats and code == ExitCode.NOT_DONE:
        warn("not all was judged, so the patch may lack a part: run the command without --suggest-patch")
    if not report.problems and report.has_nothing_compared:
        warn(f"nothing to compare: {_nothing(report, filters.paths)}")
    raise typer.Exit(code)


def _print(patch: str) -> None:
    """Print a patch: git applies the bytes of the files; a terminal gets none that steer it."""
    import sys

    from crdcompat.render.escape import escape_lines, runs_on_github
    from crdcompat.render.write import between_stops

    printed = escape_lines(patch) if sys.stdout.isatty() else patch
    sys.stdout.write(between_stops(printed) if runs_on_github() else printed)


def _nothing(report: DiffReport, paths: Sequence[str]) -> str:
    from crdcompat.features.diff.diff_report import passed_over

    if paths:
        return f"no CRD of both sides has a file below {', '.join(paths)}"
    return f"{report.why_nothing}{passed_over(report)}"

"""crdcompat matrix REF REF…: which release can be rolled back to which, what blocks it, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import Configured, end, open_recordings
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crdcompat.recordings.recorded_objects import ObjectItem


def matrix(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REF…",
            autocompletion=o.known_refs,
            help="Releases, as for diff; sorted if all names have a version.",
        ),
    ] = None,
    branches: o.Branches = None,
    tags: o.Tags = None,
    *,
    only: o.Selection,
    objects: Annotated[list[str] | None, o.recordings("A recording: how far back can its cluster go?")] = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="REF", help="The release of that cluster (default: from its ClusterVersion)."),
    ] = None,
    configured: Annotated[
        Configured, varied("statistics", helps={"formats": "text, json, markdown, github or html; repeatable."})
    ],
    no_cache: o.NoCache = False,
    output: o.Output,
    charts: o.Charts,
    requests: o.Requests,
) -> None:
    """Show which release can go back to which, and what blocks it."""
    from itertools import chain

    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.config.channels import expanded
    from crdcompat.config.releases import choose
    from crdcompat.features.matrix.matrix_workflow import MatrixOptions
    from crdcompat.features.matrix.matrix_workflow import matrix as run
    from crdcompat.findings.waiver_file import read_accepted
    from crdcompat.recordings.recorded_objects import read_objects
    from crdcompat.render.escape import warn
    from crdcompat.render.write import wants_excerpts
    from crdcompat.schema.answers import ANSWERS

    requests.apply()
    charts.apply()
    settings = configured.settings("matrix", output)
    filters = only.filters(settings.config.texts("contexts"))
    trees = open_recordings(objects or (), configured.repo)
    names, channels = expanded(refs or ())
    chosen = choose(names, branches or (), configured.repo, tags or ())
    counted = RecordedProgress()

    def recorded(kinds: Collection[tuple[str, str]]) -> Iterator[ObjectItem]:
        return counted.each(chain.from_iterable(read_objects(tree, counted.file, kinds=kinds) for tree in trees))

    matrix_options = MatrixOptions(
        filters=filters,
        sources=[tree.name for tree in trees],
        recorded=recorded,
        origin=origin,
        repo=configured.repo,
        channels=channels,
        excerpts=wants_excerpts(settings.formats) is Severity.INFO,  # only a page shows lines
    )
    pairs = len(chosen.names) ** 2
    with progress(wanted=output.has_bars), ANSWERS.kept(wanted=not no_cache, comparisons=pairs):
        report = run(chosen, settings.config, read_accepted(settings.config.waiver_file), matrix_options)
    code = end(report, settings)
    for message in report.idle:
        warn(message)
    raise typer.Exit(code)

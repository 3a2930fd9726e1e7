"""crdcompat versions REF…: the life of each CRD's versions, and which jumps over releases lose stored objects."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import COMPARISON, Configured, end, open_recordings


def versions(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REF…]",
            autocompletion=o.known_refs,
            help="Releases, as for matrix (default: the rollback targets of HEAD, and HEAD).",
        ),
    ] = None,
    branches: o.Branches = None,
    tags: o.Tags = None,
    crd: o.Crds = None,
    context: o.ClusterContext = None,
    objects: Annotated[list[str] | None, o.recordings("A recording with CRDs: what has its cluster stored?")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="CONTEXT", help="The same of a live cluster. Only list requests are sent.")
    ] = None,
    *,
    configured: Annotated[
        Configured,
        varied(
            *COMPARISON,
            helps={"formats": "text, json, markdown or csv; repeatable."},
            usual=("text",),
        ),
    ],
    output: Annotated[o.Output, varied("redact")],
    charts: o.Charts,
    requests: o.Requests,
) -> None:
    """Show the life of each version of each CRD, and which jumps lose stored objects."""
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.config.channels import expanded
    from crdcompat.config.releases import ReleaseList, choose
    from crdcompat.errors import UsageError
    from crdcompat.features.versions.versions_workflow import VersionsOptions, own_releases
    from crdcompat.features.versions.versions_workflow import versions as run
    from crdcompat.render.escape import warn
    from crdcompat.sources import open_cluster

    if cluster is not None and objects:
        raise UsageError("--cluster and --objects exclude each other: name the cluster, or a recording of it")
    if "-" in (objects or ()):
        raise UsageError("--objects -: a recording is read twice, for its CRDs and its objects: name a file")
    requests.apply()
    charts.apply()
    settings, repo = configured.settings("versions", output), configured.repo
    trees = [open_cluster(cluster)] if cluster is not None else open_recordings(objects or (), repo)
    if refs or branches or tags:
        names, _ = expanded(refs or ())
        chosen = choose(names, branches or (), repo, tags or (), least=1)
    else:
        chosen = own_releases(settings.config, repo) if not trees else ReleaseList(())
    counted = RecordedProgress()
    options = VersionsOptions(crds=crd or (), context=context, repo=repo, trees=trees, on_file=counted.file)
    with progress(wanted=output.has_bars):
        report = run(chosen, settings.config, options)
    code = end(report, settings)
    if report.is_empty and not report.problems:
        warn(f"no CRD in {', '.join(item.name for item in report.releases)}")
    raise typer.Exit(code)

"""crdcompat servers CRD…: which Kubernetes minors accept these CRDs."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import Configured, end


def servers(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="CRD…", help="Files, folders or releases with CRDs, as for diff."),
    ],
    kubernetes: Annotated[
        str | None,
        typer.Option(
            metavar="VERSIONS",
            help="The servers to ask: 1.28-1.36, 1.28,1.31 or openshift-4.14-4.18 (default: those of the"
            " configuration, else 1.26 to 1.36).",
        ),
    ] = None,
    crd: o.Crds = None,
    *,
    configured: Annotated[
        Configured,
        varied(
            "statistics",
            "installer",
            "profile",
            "allow_unknown",
            helps={"formats": "How to report: text, json, html; may be repeated."},
            usual=("text",),
        ),
    ],
    no_cache: o.NoCache = False,
    output: Annotated[o.Output, varied("redact", "no_progress")],
) -> None:
    """Show which Kubernetes versions accept these CRDs."""
    from crdcompat.apiserver.supported.ranges import ALL, listed, servers_of
    from crdcompat.features.servers.servers_workflow import servers as run
    from crdcompat.render.escape import warn
    from crdcompat.schema.answers import ANSWERS

    settings = configured.settings("servers", output)
    asked = servers_of(kubernetes) if kubernetes else listed(settings.config.supports()) or ALL
    with ANSWERS.kept(wanted=not no_cache):
        report = run(sources, asked, settings.config, crds=crd or (), repo=configured.repo)
    code = end(report, settings)
    if not report.rows:
        warn(f"no CRD in {', '.join(sources)}")
    raise typer.Exit(code)

"""crdcompat servers CRD…: which Kubernetes minors accept these CRDs."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


class Configured(o.Configured, frozen=True, kw_only=True):
    """What overrides the configuration."""

    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="FORMAT[=FILE]",
            help="How to report: text, json, html; may be repeated.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None
    fail_on: o.FailOnChoice = None
    usual: tuple[str, ...] = ("text",)


class Output(o.Output, frozen=True, kw_only=True):
    """How the report is shown: it has no values of objects, and takes no time."""

    redact: bool | None = None
    no_progress: bool = False


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
    configured: Configured,
    output: Output,
) -> None:
    """Show which Kubernetes versions accept these CRDs."""
    from crdcompat.apiserver.supported.ranges import ALL, listed, servers_of
    from crdcompat.cli.settings import end
    from crdcompat.features.servers.workflow import servers as run
    from crdcompat.render.escape import warn

    settings = configured.settings("servers", output)
    asked = servers_of(kubernetes) if kubernetes else listed(settings.config.supports()) or ALL
    report = run(sources, asked, settings.config, crds=crd or (), repo=configured.repo)
    code = end(report, settings)
    if not report.rows:
        warn(f"no CRD in {', '.join(sources)}")
    raise typer.Exit(code)

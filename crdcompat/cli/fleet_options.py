"""The options of simulate --fleet: the recordings of many clusters, how they are judged, and what is kept of it."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer
from msgspec import Struct

from crdcompat.cli.choices import LogFormat


class Many(Struct, frozen=True, kw_only=True):
    """Many clusters: their recordings, how they are judged, and what is kept of it."""

    HEADING: ClassVar = "Many clusters"

    fleet: Annotated[
        list[str] | None,
        typer.Option("--fleet", metavar="DIR", help="A folder with a recording per cluster; -: a list."),
    ] = None
    target: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Another release to go back to; may be repeated.")
    ] = None
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes (default: one per processor).")
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler: tcp://HOST:PORT, or its file.")
    ] = None
    timeout: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="The longest time for one recording.")
    ] = None
    resume: Annotated[str | None, typer.Option(metavar="FILE", help="A journal: a stopped run goes on from it.")] = None
    output: Annotated[str | None, typer.Option(metavar="DIR", help="A folder for the results, as Parquet files.")] = (
        None
    )
    since: Annotated[str | None, typer.Option(metavar="DIR", help="Compare with the --output of an earlier run.")] = (
        None
    )
    log_format: Annotated[LogFormat, typer.Option(help="json logs each recording.")] = LogFormat.text

    @property
    def is_asked(self) -> bool:
        """Whether an option is given that goes with --fleet alone."""
        values = self.target, self.jobs, self.scheduler, self.timeout, self.resume, self.output, self.since
        return any(values)

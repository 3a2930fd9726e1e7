"""simulate --fleet: the options of a run over many clusters, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins
from msgspec.structs import replace

from crdcompat.cli.choices import LogFormat
from crdcompat.cli.progress import FleetProgress, progress
from crdcompat.cli.settings import Settings, end
from crdcompat.features.fleet.fleet_judge import FleetJudge, Plan
from crdcompat.features.fleet.fleet_workflow import OnEnd, simulate_fleet
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.judged import Done
from crdcompat.features.fleet.recordings import find_fleet
from crdcompat.features.fleet.workers import require, workers_for
from crdcompat.render.escape import json_text, say, warn
from crdcompat.sources.urls import is_remote
from crdcompat.vocabulary import ExitCode

if TYPE_CHECKING:
    from crdcompat.cli.fleet_options import Many
    from crdcompat.features.fleet.earlier_run import Earlier

#: The message for exit code 2 where nothing was judged.
NOTHING_JUDGED = "no object could be judged (the report gives the reasons)"


def run_fleet(plan: Plan, names: Sequence[str], settings: Settings, options: Many) -> int:
    """Judge the recordings of a fleet and write the reports. Returns the exit code (docs/formats.md#exit-codes)."""
    if options.scheduler is not None:
        # A worker on another machine has another working directory.
        names = [name if name == "-" or is_remote(name) else str(Path(name).absolute()) for name in names]
    fleet = find_fleet(names)
    if not fleet.recordings and not fleet.unread:
        warn(f"no recordings in {', '.join(names)}")
        return ExitCode.NOT_DONE
    workers = workers_for(len(fleet.recordings), options.jobs, options.scheduler, options.timeout)
    if (options.jobs or 1) > workers.jobs:
        warn("one process judges: for more, pip install 'crdcompat[fleet]'")
    earlier, on_end = _earlier(options), _table_writer(options, settings)
    is_logged = options.log_format is LogFormat.json
    with progress(wanted=settings.output.has_bars and not is_logged):
        counted, judge = FleetProgress(len(fleet.recordings)), FleetJudge(plan)
        on_done = _log if is_logged else lambda done: counted.done(done.outcome)
        with (
            Journal(options.resume, judge.fingerprint(), len(judge.readers)) if options.resume else nullcontext()
        ) as journal:
            report = simulate_fleet(judge, fleet, workers=workers, journal=journal, on_done=on_done, on_end=on_end)
    if earlier is not None:
        report = replace(report, notes=(*report.notes, *earlier.notes(report)))
    code = end(report, settings)
    if not (report.problems or report.unread or report.totals.judged):
        warn(f"{NOTHING_JUDGED} in {', '.join(names)}")
    return code


def _earlier(options: Many) -> Earlier | None:
    """The earlier run to compare with, read before this run replaces its tables."""
    if options.since is None:
        return None
    require("pyarrow", "--since")
    from crdcompat.features.fleet.earlier_run import Earlier

    return Earlier(options.since)


def _table_writer(options: Many, settings: Settings) -> OnEnd | None:
    """Make the folder of the tables now. Returns the function that writes them at the end of the run."""
    if options.output is None:
        return None
    require("pyarrow", "--output")
    from crdcompat.features.fleet.parquet import make_folder, write_tables

    make_folder(options.output)
    return partial(write_tables, options.output, redact=bool(settings.output.redact))


def _log(done: Done) -> None:
    """Write a finished recording to standard error, as one line of JSON."""
    line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "event": "recording", **to_builtins(done)}
    say(json_text(line), error=True)

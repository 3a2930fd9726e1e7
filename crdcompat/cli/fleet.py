"""simulate --fleet: the options of a run over many clusters, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from msgspec import Struct

from crdcompat.cli.progress import FleetProgress, progress
from crdcompat.cli.settings import Settings
from crdcompat.features.fleet.engine import workers_for
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.judge import FleetJudge, Plan
from crdcompat.features.fleet.recordings import find_fleet
from crdcompat.features.fleet.workflow import simulate_fleet
from crdcompat.render.escape import warn
from crdcompat.render.write import write_reports
from crdcompat.vocabulary import ExitCode

#: Never exit 0 for a rollback of which nothing was judged.
NOTHING_JUDGED = "no object could be judged (the report gives the reasons)"


class FleetOptions(Struct, frozen=True):
    """What the command line asks of a run over many clusters: its workers, and its journal."""

    jobs: int | None = None
    scheduler: str | None = None
    timeout: float | None = None
    resume: str | None = None


def run_fleet(
    plan: Plan,
    names: Sequence[str],
    settings: Settings,
    options: FleetOptions,
    *,
    colour: str,
    verbosity: int,
    shown: bool,
) -> int:
    """Judge the recordings of a fleet and write the reports. Returns the exit code (design, section 8)."""
    if options.scheduler is not None:
        names = [name if name == "-" else str(Path(name).absolute()) for name in names]  # as workers see them
    fleet = find_fleet(names)
    if not fleet.recordings and not fleet.unread:
        warn(f"no recordings in {', '.join(names)}")
        return ExitCode.NOT_DONE
    workers = workers_for(len(fleet.recordings), options.jobs, options.scheduler, options.timeout)
    if (options.jobs or 1) > workers.jobs:
        warn("one process judges: more need pip install 'crdcompat[fleet]'")
    with progress(wanted=shown):
        counted, judge = FleetProgress(len(fleet.recordings)), FleetJudge(plan)
        with (
            Journal(options.resume, judge.fingerprint(), len(judge.readers)) if options.resume else nullcontext()
        ) as journal:
            report = simulate_fleet(judge, fleet, workers=workers, journal=journal, on_done=counted.done)
    write_reports(report, settings.formats, colour, verbosity, redact=settings.redact)
    if report.problems or report.unread:
        return ExitCode.NOT_DONE
    if not any(any(each.objects.values()) for cluster in report.clusters for each in cluster.verdicts):
        warn(f"{NOTHING_JUDGED} in {', '.join(names)}")
        return ExitCode.NOT_DONE
    return ExitCode.FOUND if report.fails(settings.fail_on) else ExitCode.CLEAN

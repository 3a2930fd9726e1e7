"""simulate --fleet DIR…: the same question asked of many clusters."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext

from crdcompat.cli.progress import FleetProgress
from crdcompat.cli.settings import Settings
from crdcompat.jobs.fleet import FleetJudge, Plan, simulate_fleet
from crdcompat.jobs.journal import Journal
from crdcompat.jobs.workers import usual_jobs
from crdcompat.report.write import write_reports
from crdcompat.sources.fleet import find_fleet
from crdcompat.vocabulary import ExitCode


def run_fleet(
    plan: Plan,
    names: Sequence[str],
    settings: Settings,
    *,
    jobs: int | None,
    resume: str | None,
    colour: str,
    verbosity: int,
    progress: bool,
) -> int:
    """From recordings to reports; returns the exit code (design, section 8)."""
    fleet = find_fleet(names)
    if not fleet.recordings and not fleet.unread:
        print(f"crdcompat: no recordings in {', '.join(names)}", file=sys.stderr)
        return ExitCode.NOT_DONE
    judge = FleetJudge(plan)
    shown = FleetProgress(len(fleet.recordings), wanted=progress)
    try:
        with (
            Journal(resume, judge.fingerprint(), len(judge.readers)) if resume is not None else nullcontext() as journal
        ):
            report = simulate_fleet(judge, fleet, jobs=jobs or usual_jobs(), journal=journal, on_done=shown.done)
    finally:
        shown.close()
    write_reports(report, settings.formats, colour, verbosity)
    if report.problems or report.unread:
        return ExitCode.NOT_DONE
    return ExitCode.FOUND if report.fails(settings.fail_on) else ExitCode.CLEAN

"""Runs diff: loads both sides once, compares, reports, and returns the exit code (design, section 8)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from crdcompat.cli.progress import RecordedProgress, progress
from crdcompat.cli.settings import Settings, end, open_recordings
from crdcompat.config.applied import both_sides
from crdcompat.features.diff.configured import configured_diff
from crdcompat.features.diff.workflow import suggest_patch
from crdcompat.models.diff import DiffReport
from crdcompat.recordings.objects import read_objects
from crdcompat.render.escape import escape_lines, runs_on_github, warn
from crdcompat.render.write import between_stops, wants_excerpts
from crdcompat.schema.answers import ANSWERS
from crdcompat.vocabulary import ExitCode
from crdcompat.vocabulary.filters import Filters


def compare_and_report(
    old: str,
    new: str,
    *,
    repo: str | None,
    filters: Filters,
    settings: Settings,
    objects: Sequence[str] = (),
    patch: bool = False,
    any_order: bool = False,
    use_cache: bool = True,
) -> int:
    """Run one comparison from sources to reports. Returns the exit code.

    ``objects`` are recordings whose objects are evidence for findings. ``patch``: print the patch for OLD
    instead of a text report. ``any_order`` is that of ``both_sides``. ``use_cache``: read and keep the answers of
    earlier runs.
    """
    recordings = open_recordings(objects, repo)
    with progress(wanted=settings.output.has_bars), ANSWERS.kept(wanted=use_cache):
        before, after = both_sides(
            old, new, settings.config, repo, command="diff", any_order=any_order, paths=filters.paths
        )
        counted = RecordedProgress()
        report = configured_diff(
            before,
            after,
            settings.config,
            filters,
            recordings=(counted.each(read_objects(tree)) for tree in recordings),
            excerpts=partial(wants_excerpts, settings.formats),
        )
    if patch:
        waived = [finding for finding in report.findings if finding.waiver is not None]
        text = suggest_patch(before, after, filters, waived=waived)
        # git applies the bytes of the files; a terminal gets none that steer it.
        printed = escape_lines(text) if sys.stdout.isatty() else text
        sys.stdout.write(between_stops(printed) if runs_on_github() else printed)
    code = end(report, settings, shown=bool(settings.formats or not patch))
    if patch and not settings.formats and code == ExitCode.NOT_DONE:
        warn("not all was judged, so the patch may lack a part: run the command without --suggest-patch")
    if not report.problems and report.has_nothing_compared:
        warn(f"nothing to compare: {_nothing(report, filters.paths)}")
    return code


def _nothing(report: DiffReport, paths: Sequence[str]) -> str:
    if paths:
        return f"no CRD of both sides has a file below {', '.join(paths)}"
    return report.why_nothing

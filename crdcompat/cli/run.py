"""What diff and check share: load both sides once, compare, report, and the exit code (design, section 8)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from crdcompat.jobs import api
from crdcompat.manifests.crdset import CrdReader, CrdSet
from crdcompat.manifests.objects import read_objects
from crdcompat.policy.rules import find_rule
from crdcompat.report.write import parse_format, write_reports
from crdcompat.sources import open_objects

CLEAN, FOUND, NOT_DONE = 0, 1, 2


def compare_and_report(
    old: str,
    new: str,
    *,
    repo: str | None,
    filters: Mapping[str, Any],
    formats: Sequence[str],
    fail_on: str,
    colour: str,
    verbosity: int,
    objects: Sequence[str] = (),
    patch: bool = False,
    command: str = "diff",
    nothing_is_fine: bool = False,
) -> int:
    """Run one comparison from sources to reports; returns the exit code.

    ``objects`` are recordings whose objects are evidence for findings. ``patch``: print the patch for OLD in
    place of a text report. ``nothing_is_fine``: a side without any CRD is no error (there may be none yet).
    """
    for name in (*filters.get("select", ()), *filters.get("ignore", ())):
        find_rule(name)
    for text in formats:
        parse_format(text)
    reader = CrdReader()
    before = api.load(old, repo=repo, reader=reader, side="old")
    after = api.load(new, repo=repo, reader=reader, side="new")
    gc.freeze()  # what was read stays to the end: the collector need not look at it again
    report = api.diff(before, after, command=command, **filters)
    if objects:
        from crdcompat.jobs.evidence import with_evidence

        recorded = chain.from_iterable(read_objects(open_objects(path, repo=repo)) for path in objects)
        report = with_evidence(report, before, after, recorded)
    if patch:
        named = {key: filters[key] for key in ("crds", "paths", "contexts") if key in filters}
        sys.stdout.write(api.suggest_patch(before, after, **named))
    if formats or not patch:
        write_reports(report, formats, colour, verbosity)
    if report.problems:
        return NOT_DONE
    if not report.counts.compared and not nothing_is_fine:
        print(f"crdcompat: nothing to compare: {_nothing(before, after, filters)}", file=sys.stderr)
        return NOT_DONE
    return FOUND if report.fails(fail_on) else CLEAN


def _nothing(old: CrdSet, new: CrdSet, filters: Mapping[str, Any]) -> str:
    empty = [crds.name for crds in (old, new) if not crds.documents]
    if empty:
        return f"no CRD in {' or '.join(empty)}"
    if filters.get("paths"):
        return f"no CRD of both sides has a file below {', '.join(filters['paths'])}"
    return f"{old.name} and {new.name} have no CRD in common"

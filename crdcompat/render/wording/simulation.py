"""Sentences on a simulation: causes, repairs, and the verdicts on one object."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.findings.contrast import listed
from crdcompat.render.escape import json_text
from crdcompat.render.wording.findings import place, plural
from crdcompat.vocabulary import HIDDEN, Direction
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import NOT_FOUND, Endpoint, RepairVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.models.finding import Growth
    from crdcompat.models.release import Release
    from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport, Unrecorded


#: Verdict on a repair -> sentence.
REPAIRS = {
    RepairVerdict.MAIN: "this write to the object is accepted",
    RepairVerdict.STATUS: "this write to /status is accepted",
    RepairVerdict.DEADLOCK: (
        "no single write is accepted: let the CRD accept these values, or delete and recreate the object"
    ),
    RepairVerdict.UNKNOWN: "the Kubernetes version decides which write repairs it",
}
#: Beside every repair by a write.
WRITTEN_AGAIN = "Scale down the controller first: it would write the values again."
#: Characters of a patch that fit on a screen.
_MAX_PATCH = 4_000


def is_write(item: SimulatedObject) -> bool:
    """Whether a single write repairs an object."""
    return item.repair.verdict in (RepairVerdict.MAIN, RepairVerdict.STATUS)


def repair_sentence(item: SimulatedObject) -> str:
    """What repairs an object, with the warning beside it."""
    return f"{REPAIRS[item.repair.verdict]}{f'. {WRITTEN_AGAIN}' if is_write(item) else ''}"


def repair_command(item: SimulatedObject) -> str:
    """The patch of the repair as a command for a shell; a sentence in its place where none can be pasted."""
    patch = json_text(item.repair.patch)
    if HIDDEN in patch:
        return "(values are hidden: --no-redact shows the command)"
    plural_name, _, group = item.crd.partition(".")
    named = (f"{plural_name}.{item.version}.{group}/{item.name}", item.namespace)
    if len(patch) > _MAX_PATCH or not all(part[:1].isalnum() for part in named if part):
        return "(--format json has the patch)"
    words = ["oc" if group.endswith("openshift.io") else "kubectl", "patch", named[0]]
    words += ["-n", item.namespace] if item.namespace else []
    words += ["--subresource=status"] if item.repair.verdict == RepairVerdict.STATUS else []
    return shlex.join([*words, "--type=merge", "-p", patch])


def cause_fix(cause: RejectedCause, reader: Release) -> str:
    """The fix: a write, or a wider schema in the judging release."""
    if cause.type == NOT_FOUND:
        at = f" at {place(cause.location)}" if cause.location is not None else ""
        return f"{not_found_fix(cause.path)}{at} of {reader.title}"
    if cause.growth is not None:
        return early_fix(cause.growth)
    endpoint = "/status" if cause.endpoint == Endpoint.STATUS else "the object itself"
    where = f", or widen {place(cause.location)} of {reader.title}" if cause.location is not None else ""
    verb = "set it" if cause.type == "FieldValueRequired" else "take it out"
    return f"{verb} by a write to {endpoint}{where}"


def early_fix(growth: Growth) -> str:
    """What to do about a value that is held too early."""
    return f"let nothing write it before {growth.written_from}, or correct the declaration at {growth.place}"


def not_found(path: str, versions: Sequence[object]) -> str:
    """The requests for which the server finds nothing: those to /status, or to versions that the CRD lacks."""
    return f"{lacking(path, versions)}, {'a write to it' if path else 'every request for it'} is answered 404"


def lacking(path: str, versions: Sequence[object]) -> str:
    """The endpoint or the versions that the CRD lacks."""
    return "the CRD has no /status endpoint" if path else f"the CRD lacks version {', '.join(map(str, versions))}"


def not_found_fix(path: str) -> str:
    """The change of the CRD after which the server finds it."""
    return "declare the status subresource" if path else "declare the version"


def cause_line(cause: RejectedCause, path: str | None = None) -> str:
    """Number of objects with the rejected value, its path or the folded ``path`` of several, and the value."""
    return (
        f"{cause.objects} of {cause.total} {cause.kind}: {cause_sentence(cause, cause.path if path is None else path)}"
    )


def cause_sentence(cause: RejectedCause, path: str) -> str:
    """The rejected value at a path, which may name several places."""
    where = path or "the root"
    if cause.type == NOT_FOUND:
        return not_found(path, cause.values)
    if cause.type == "FieldValueRequired":
        return f"{where} is required, and missing"
    if cause.growth is not None:
        return f"{where} holds {listed(cause.values)} {too_early(cause.growth)}"
    return (
        f"{where} holds {listed(cause.values)}" if cause.values else f"the value of {where} is rejected ({cause.type})"
    )


def too_early(growth: Growth) -> str:
    """Why a value is held too early."""
    return f"too early: declared to be written from {growth.written_from} ({growth.place})"


def unrecorded_line(kinds: Sequence[Unrecorded], most: int = 3) -> str:
    """``nothing was recorded of 5 kinds with findings: A, B, C and 2 more``."""
    return f"nothing was recorded of {plural(len(kinds), 'kind')} with findings: {some(kind_names(kinds), most)}"


def kind_names(kinds: Sequence[Unrecorded]) -> list[str]:
    """The names of the kinds; kinds of one name are named by their CRDs."""
    counted = Counter(item.kind for item in kinds)
    return [item.kind if counted[item.kind] == 1 else item.crd for item in kinds]


def replay_title(report: SimulationReport) -> str:
    """Direction, releases, number of objects."""
    old, new = report.old.title, report.new.title
    what = f"Rollback {new} -> {old}" if report.direction == Direction.ROLLBACK else f"Upgrade {old} -> {new}"
    return f"{what} replayed on {plural(len(report.objects), 'recorded object')}"


def judging(report: SimulationReport) -> Release:
    """The release whose server judges."""
    return report.old if report.direction == Direction.ROLLBACK else report.new


def judging_server(report: SimulationReport) -> str:
    """The version of that server."""
    kubernetes = judging(report).kubernetes
    return f"Kubernetes {kubernetes}" if kubernetes else "Kubernetes version unknown"


def verdict_tally(report: SimulationReport) -> str:
    """``2 rejected, 5 accepted``; ``none`` without objects."""
    return ", ".join(f"{count} {verdict}" for verdict, count in report.by_verdict().items() if count) or "none"

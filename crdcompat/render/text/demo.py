"""The demo: one finding, its witness, the simulated rejection, and what to do, on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from crdcompat.program import typed
from crdcompat.render.wording.findings import place
from crdcompat.vocabulary import Severity, Side
from crdcompat.vocabulary.writes import WriteKind, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.simulation import SimulationReport
    from crdcompat.render.escape import Style


def demo_text(report: DiffReport, replay: SimulationReport, style: Style) -> Iterator[str]:
    """All lines of the demo: ``report`` and ``replay`` are computed from the fixtures, nothing is canned."""
    finding = next(f for f in report.findings if f.severity == Severity.ERROR)
    others = [f for f in report.findings if f.severity in ("error", "warning") and f is not finding]
    stuck = replay.objects[0]

    yield style.paint("OpenShift 4.14 gave ClusterVersion four new capabilities. Can 4.14 go back to 4.13?", "bold")
    yield ""
    yield style.paint(f"1. {typed()} diff release-4.13 release-4.14", "bold")
    yield f"{style.paint(f'error[{finding.rule}]', 'error')} {finding.crd} {style.paint(finding.path, 'path')}"
    for location in finding.locations:
        release = report.old if location.side == Side.OLD else report.new
        yield f"  --> {location.side}: {release.name}/{place(location)}"
    yield style.wrap(f"{finding.message}.")
    yield "  The smallest object that 4.14 accepts and 4.13 rejects, checked under both schemas:"
    yield f"    {orjson.dumps(finding.witness.object).decode()}"
    yield f"  and {len(others)} more: {', '.join(f'{f.path} ({f.severity})' for f in others)}"
    yield ""
    yield style.paint(f"2. {typed()} simulate release-4.13 release-4.14 --objects recorded/", "bold")
    yield f"{stuck.label}, recorded on 4.14, meets the CRD of 4.13 on Kubernetes {replay.old.kubernetes}:"
    for name, write in stuck.writes.items():
        count = f"  ({len(write.errors)} errors)" if write.errors else ""
        colour = "error" if write.verdict == WriteResult.REJECTED else "good"
        yield f"  {name:<23} {style.paint(write.verdict, colour)}{count}"
    first = stuck.writes[WriteKind.STATUS_UPDATE]
    yield style.wrap(f"{first.message.partition('[')[0]}[{first.errors[0]['text']}, …]", indent="    ", first="  ")
    yield style.wrap(
        "From now on the cluster-version operator cannot write its status: the rollback is stuck until somebody "
        "takes the values out by hand.",
        indent="  ",
    )
    yield ""
    yield style.paint("3. What to do", "bold")
    yield "  Before merge: let 4.13 accept the values first (widen its enums), or drop the enum from status."
    yield f"  On a stuck cluster: one write to /{stuck.repair.verdict} that takes the values out is accepted;"
    yield f"  {typed()} simulate prints it as a patch. But the operator of 4.14 would write them again: scale it down."
    yield f"  {typed()} explain enum-value-added has the details."

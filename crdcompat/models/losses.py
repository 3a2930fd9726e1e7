"""Which fields recorded objects lose by a write that is accepted, summed up by kind and field."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.records import dataclass
from crdcompat.render.wording.findings import many
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.simulation import SimulatedObject, SimulationReport

_ITEM = re.compile(r"\[\d+\]")
_MOST_PATHS = 20


@dataclass(slots=True)
class Loss:
    """A field that ``objects`` of one kind lose, and one of them; ``[*]`` is any item of a list."""

    crd: str
    kind: str
    path: str
    objects: int
    example: str


def losses(report: SimulationReport) -> list[Loss]:
    """The fields that the next accepted write erases; those that most objects lose first."""
    found: dict[tuple[str, str], Loss] = {}
    for item in filter(_loses, report.objects):
        for path in dict.fromkeys(_ITEM.sub("[*]", path) for path in item.pruned):
            loss = found.setdefault((item.crd, path), Loss(item.crd, item.kind, path, 0, item.label))
            loss.objects += 1
    return sorted(found.values(), key=lambda loss: (-loss.objects, loss.crd, loss.path))


def loss_lines(report: SimulationReport) -> Iterator[str]:
    """``Widget/n/a loses spec.size``, ``3 Widgets lose spec.size, spec.tags[*].key``; kinds of one name tell theirs."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for loss in losses(report):
        who = f"{loss.example} loses" if loss.objects == 1 else f"{many(loss.objects, loss.kind)} lose"
        alike.setdefault((loss.kind, loss.crd, who), []).append(loss.path)
    crds = Counter(kind for kind, _ in {(kind, crd) for kind, crd, _ in alike})
    for (kind, crd, who), paths in alike.items():
        which = f" (of {crd})" if crds[kind] > 1 else ""
        rest = len(paths) - _MOST_PATHS
        yield f"{who} {', '.join(paths[:_MOST_PATHS])}{f' and {rest} more' if rest > 0 else ''}{which}"


def _loses(item: SimulatedObject) -> bool:
    return any(write.verdict == WriteResult.LOSES_DATA for write in item.writes.values())

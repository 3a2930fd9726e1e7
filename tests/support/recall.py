"""What objects meet under the other schema, and whether a finding explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from helpers import Json, general

from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.models.diff import DiffReport
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.schema.paths import pointer_of, render, schema_path_of
from crdcompat.schema.structural import Node


def untold(report: DiffReport, old: CrdSet, new: CrdSet, objects: Sequence[Json], seen: Counter[str]) -> list[Any]:
    """Errors and losses of objects of either side on the other that no finding and no undecided difference explains.

    Both sets have one CRD of one version. ``seen`` counts valid objects, and findings whose effect some of them meet.
    """
    proved = with_evidence(report, old, new, [[Recorded(item, str(index)) for index, item in enumerate(objects)]])
    seen["met"] += sum(finding.evidence.recorded_objects > 0 for finding in proved.findings)
    opened = [entry.path for entry in report.undecided]
    before, after = (_resource(side) for side in (old, new))
    found: list[Any] = []
    for direction, reader, author in (("rollback", before, after), ("upgrade", after, before)):
        rejected: dict[str, list[str]] = {}
        for each in proved.unexplained:
            if each.error.startswith(direction):
                rejected.setdefault(each.source, []).append(each.error)
        mine = [finding for finding in report.findings if finding.direction == direction]
        reported = (*opened, *(path for finding in mine for path in (finding.path, *finding.places)))
        for index, item in enumerate(objects):
            stored = author.create(item, keep_status=True)
            if stored.object is None or stored.pruned:
                continue
            seen["valid"] += 1
            read = reader.read(stored.object)
            roots = author.node, reader.node
            moved = [(field, _general(field, stored.object, roots)) for field in read.pruned]
            moved += [(field, _general(field, read.object, roots)) for field in read.defaulted]
            for field, paths in moved:
                if not any(is_below(path, above) for path in paths for above in reported):
                    found.append((direction, field, item))
            unexplained = rejected.get(str(index), ())
            for error in reader.create(stored.object, keep_status=True).errors if unexplained else ():
                place = render(schema_path_of(reader.node, error.pointer))
                if f"{direction}: {error.text()}" in unexplained and not any(is_below(place, path) for path in opened):
                    found.append((direction, error.text(), item))
    return found


def _resource(side: CrdSet) -> Resource:
    (document,) = side.documents
    return Resource(document.crd, document.crd.versions[0], DEFAULT_SERVER)


def _general(field: str, obj: Json, roots: Iterable[Node]) -> set[str]:
    """The path of a field, as each schema has it: what one declares may be unknown in a free area of the other."""
    pointer = pointer_of(obj, field)
    return {general(field)} if pointer is None else {render(schema_path_of(root, pointer)) for root in roots}


def is_below(path: str, above: str) -> bool:
    """Whether a path is ``above``, or below it."""
    return not above or path == above or path.startswith((f"{above}.", f"{above}["))

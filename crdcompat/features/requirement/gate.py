"""What a CompatibilityRequirement refuses of the differences between its CRD and NEW, and what passes it.

Its operator validates objects in a webhook, by the schema of the required versions and with ratcheting; writes of
/status do not come to it. Source: openshift/cluster-capi-operator, pkg/controllers/crdcompatibility/objectvalidation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.model import Crd
from crdcompat.crds.reader import CrdSet
from crdcompat.features.requirement.workflow import KIND
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.schema.structural import mapping_of
from crdcompat.vocabulary import Direction, Effect, Owner
from crdcompat.yaml.documents import Document, read_documents

#: Where the CRD stands; a number follows, that of the document in the text.
_DATA = ("spec", "compatibilitySchema", "customResourceDefinition", "data")
_MAX_PLACES = 3


class _Gate(Struct, frozen=True):
    """One requirement: its name and file, its ``spec``, and the CRD that it states."""

    name: str
    file: str
    spec: dict[str, Any]
    crd: Crd

    def action(self, validation: str) -> str:
        return str(mapping_of(self.spec.get(validation)).get("action", ""))

    def passes(self, finding: Finding) -> str:
        """Why an object with the value of a finding passes; "" if it is refused."""
        if finding.owner is Owner.CRD:
            return "only an update of the CRD shows it"
        if finding.owner is Owner.STATUS:
            return "writes of /status do not come to the gate"
        if finding.version not in self._required():
            return f"{finding.version} is no required version"
        if any(_covers(each, finding) for each in _list(self._schema().get("excludedFields"))):
            return "the field is excluded"
        return ""

    def _schema(self) -> dict[str, Any]:
        found: dict[str, Any] = self.spec["compatibilitySchema"]
        return found

    def _required(self) -> set[str]:
        wanted = mapping_of(self._schema().get("requiredVersions"))
        is_storage_only = wanted.get("defaultSelection") == "StorageOnly"
        chosen = (each for each in self.crd.versions if (each.storage if is_storage_only else each.served))
        return {*(each.name for each in chosen), *map(str, _list(wanted.get("additionalVersions")))}


def with_gates(report: DiffReport, old: CrdSet) -> DiffReport:
    """The report with notes on OLD, if its CRDs stand in requirements: what each refuses, and what passes it."""
    notes = [note for gate in _gates(old) for note in _notes(gate, report)]
    return replace(report, old=replace(report.old, notes=(*report.old.notes, *notes))) if notes else report


def _gates(crds: CrdSet) -> Iterator[_Gate]:
    stated = {(each.file, each.index): each.crd for each in crds.documents if each.pointer[:-1] == _DATA}
    for file, data in crds.read(sorted({file for file, _ in stated})) if stated else ():
        for item in read_documents(data, file):
            if isinstance(item, Document) and (file, item.index) in stated and item.data.get("kind") == KIND:
                name = str(mapping_of(item.data.get("metadata")).get("name", ""))
                yield _Gate(name, file, item.data["spec"], stated[file, item.index])


def _notes(gate: _Gate, report: DiffReport) -> Iterator[str]:
    head = f"{KIND} {gate.name} ({gate.file})"
    action = gate.action("objectSchemaValidation")
    wanted = (gate.crd.name, Direction.ROLLBACK, Effect.WRITE_REJECTED)
    found = [each for each in report.findings if (each.crd, each.direction, each.effect) == wanted]
    passing: dict[str, list[Finding]] = {}
    for finding in found:
        why = gate.passes(finding) if action else "no objectSchemaValidation: the gate sees no objects"
        passing.setdefault(why, []).append(finding)
    refused = passing.pop("", [])
    if refused:
        verb = "refuses" if action == "Deny" else "only warns of"
        yield f"{head} {verb} objects of {report.new.title} with {_places(refused)}"
    for why, missed in passing.items():
        yield f"{head} misses {_places(missed)}: {why}"
    if late := [each for each in refused if each.spared is None and each.witness.operation is None]:
        yield (
            f"{head} lets updates pass that change nothing at {_places(late)}, because it ratchets; the API server of "
            f"{report.old.title} refuses them"
        )
    if not gate.action("customResourceDefinitionSchemaValidation"):
        yield f"{head} lets each update of the CRD pass: no customResourceDefinitionSchemaValidation"


def _places(findings: Sequence[Finding]) -> str:
    """The first places, and how many more there are."""
    names = list(dict.fromkeys(f"{each.path or 'the CRD'} ({each.version})" for each in findings))
    rest = len(names) - _MAX_PLACES
    return ", ".join(names[:_MAX_PLACES]) + (f" and {rest} more" if rest > 0 else "")


def _list(value: Any) -> list[Any]:
    """A list as it is written; any other value has no items."""
    return value if isinstance(value, list) else []


def _covers(excluded: Any, finding: Finding) -> bool:
    """Whether an excluded field is the field of a finding, or around it; items of a list have no step of their own."""
    field = mapping_of(excluded)
    versions: Iterable[str] = _list(field.get("versions")) or (finding.version,)
    steps, path = str(field.get("path")).split("."), finding.path.replace("[*]", "").split(".")
    return finding.version in versions and path[: len(steps)] == steps

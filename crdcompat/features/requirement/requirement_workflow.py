"""requirement: choose the CRD of a release, and state it as what a cluster must stay compatible with.

Source of the fields: openshift/api, ``apiextensions/v1alpha1/types_compatibilityrequirement.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.config.applied import read_source, reader_for, shipped_alone
from crdcompat.config.configuration import Config
from crdcompat.crds.model import Crd
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import resolve_all
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.schema.structural import mapping_of
from crdcompat.vocabulary import Direction, Effect, Owner, Side
from crdcompat.vocabulary.texts import some
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.dump import to_yaml

API_VERSION, KIND = "apiextensions.openshift.io/v1alpha1", "CompatibilityRequirement"
#: Characters of ``spec.compatibilitySchema.customResourceDefinition.data``.
_MOST = 1_572_864
_KEPT = ("name", "labels", "annotations")


def requirement(source: str, name: str, config: Config, *, context: str | None, action: str, repo: str | None) -> str:
    """The requirement, as YAML: the CRD ``name`` of a source, all its served versions; ``action`` is Deny or Warn.

    ``context`` chooses one of several variants. Raises SourceError, RefNotFoundError, and UsageError for a CRD that the
    source does not have in the context, has in a form of long ago, or that is too long.
    """
    crds = shipped_alone(read_source(source, Side.OLD, reader_for(config), config, repo), config, Side.OLD)
    data = to_yaml(_definition(_chosen(crds, name, context)))
    if len(data) > _MOST:
        raise UsageError(f"{name} has {len(data):,} characters as YAML; a {KIND} takes {_MOST:,}")
    made = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {
            "compatibilitySchema": {
                "customResourceDefinition": {"type": "YAML", "data": data},
                "requiredVersions": {"defaultSelection": "AllServed"},
            },
            "customResourceDefinitionSchemaValidation": {"action": action},
            "objectSchemaValidation": {"action": action},
        },
    }
    return to_yaml(made)


def _chosen(crds: CrdSet, name: str, context: str | None) -> Crd:
    """The CRD as a cluster of the context gets it."""
    chosen, resolved = resolve_all(crds, crds, context)
    by_name = {each.name: each for each in resolved.values()}
    if name not in by_name:
        everywhere = f" in {chosen}" if name in crds.named() else ""
        raise UsageError(f"{crds.name} has no CRD {name}{everywhere}{did_you_mean(name, by_name)}")
    found = by_name[name]
    if len({id(version.document) for version in found.versions.values()}) > 1:
        files = ", ".join(sorted({version.document.file for version in found.versions.values()}))
        raise UsageError(f"{name} has its versions in several files ({files}): name one of them as OLD")
    return found.crd


def _definition(crd: Crd) -> dict[str, Any]:
    """The manifest of a CRD without what a server added to it."""
    if crd.raw["apiVersion"] != "apiextensions.k8s.io/v1":
        raise UsageError(f"{crd.name} is written as {crd.raw['apiVersion']}: a {KIND} takes apiextensions.k8s.io/v1")
    metadata = {key: crd.raw["metadata"][key] for key in _KEPT if key in crd.raw["metadata"]}
    return {
        "apiVersion": crd.raw["apiVersion"],
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": crd.raw["spec"],
    }


# What a CompatibilityRequirement refuses of the differences between its CRD and NEW, and what passes it.
#
# Its operator validates objects in a webhook, by the schema of the required versions and with ratcheting; writes of
# /status do not come to it. Source: openshift/cluster-capi-operator,
# pkg/controllers/crdcompatibility/objectvalidation.


#: Where the CRD stands; the number of the document in the text follows.
_DATA = ("spec", "compatibilitySchema", "customResourceDefinition", "data")


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
    return some(list(dict.fromkeys(f"{each.path or 'the CRD'} ({each.version})" for each in findings)))


def _list(value: Any) -> list[Any]:
    """A list as it is written; any other value has no items."""
    return value if isinstance(value, list) else []


def _covers(excluded: Any, finding: Finding) -> bool:
    """Whether an excluded field is the field of a finding, or around it; items of a list have no step of their own."""
    field = mapping_of(excluded)
    versions: Iterable[str] = _list(field.get("versions")) or (finding.version,)
    steps, path = str(field.get("path")).split("."), finding.path.replace("[*]", "").split(".")
    return finding.version in versions and path[: len(steps)] == steps

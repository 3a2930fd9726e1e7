"""Feature gates that NEW turns on in Default: one entry for each gate, with what it exposes.

openshift/api keeps a fragment of a CRD for each gate: the CRD with the fields of the gate. A gate exposes a change if
its place looks different there than in the fragment without gates and in those of gates that were on before. A CRD
without such fragments is exposed as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any

from crdcompat.compare.result import Judged
from crdcompat.crds.gates import gate_names
from crdcompat.crds.model import Crd, NotACrdError, is_crd, read_crd
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem
from crdcompat.models.diff import PromotedGate
from crdcompat.models.finding import Finding, Location
from crdcompat.schema.paths import Pointer, value_or_absent
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Side
from crdcompat.yaml.documents import read_documents

_DEFAULT = "Default"
#: The folder of fragments, and the name of the fragment without gates, as openshift/api has them.
_FRAGMENTS, _UNGATED = "zz_generated.featuregated-crd-manifests", "AAA_ungated"
#: Keywords with a list: its items have other places in a fragment.
_LISTS = ("enum", "x-kubernetes-validations")
#: CRD, version, path.
_Place = tuple[str, str, str]


def promoted_gates(
    olds: Sequence[CrdSet], new: CrdSet, contexts: Iterable[str], judged: Iterable[Judged], findings: Sequence[Finding]
) -> Iterator[PromotedGate]:
    """The gates that are on in Default of NEW and off in all ``olds``, with the places of ``findings`` they expose."""
    promoted: dict[str, set[str]] = {}
    on_before: dict[str, frozenset[str]] = {}
    for context in contexts:
        feature_set, _, profile = context.partition("/")
        *before, after = (side.gates.enabled.get((feature_set, profile)) for side in (*olds, new))
        known = [gates for gates in before if gates is not None]
        if feature_set == _DEFAULT and after is not None and len(known) == len(olds) > 0:
            common = after.intersection(*known)
            for gate in after.difference(*known):
                promoted.setdefault(gate, set()).add(context)
                on_before[gate] = on_before.get(gate, common) & common
    if not promoted:
        return
    there = set().union(*promoted.values())
    candidates = [item for item in judged if any(each.context in there for each in item.occurrences)]
    stayed = frozenset().union(*on_before.values())
    fragments = _Fragments(new, {item.crd for item in candidates}, promoted.keys(), stayed)
    for gate in sorted(promoted):
        places = {_place(item) for item in candidates if fragments.expose(gate, item, on_before[gate])}
        exposed = [
            (finding.crd, finding.version, finding.path)
            for finding in findings
            if not promoted[gate].isdisjoint(finding.contexts)
            and any((finding.crd, finding.version, path) in places for path in (finding.path, *finding.places))
        ]
        if exposed:
            declared = new.gates.declared.get(gate)
            location = Location(Side.NEW, declared.file, declared.line, kind="go") if declared else None
            yield PromotedGate(gate, tuple(sorted(promoted[gate])), tuple(dict.fromkeys(exposed)), location)


def _place(item: Judged) -> _Place:
    return item.crd, item.version, item.change.place


class _Fragments:
    """The fragments of some CRDs that tell what the ``promoted`` gates expose; they are read when one is needed.

    ``stayed``: the gates that were on before.
    """

    def __init__(self, crds: CrdSet, names: Set[str], promoted: Set[str], stayed: Set[str]) -> None:
        self._crds, self._names, self._promoted = crds, names, promoted
        self._ungated = stayed | {_UNGATED}

    def expose(self, gate: str, item: Judged, others: Set[str]) -> bool:
        """Whether a change is due to a gate that NEW turns on; ``others`` are the gates that stay on."""
        of_new = (chosen for occurrence in item.occurrences for chosen in occurrence.at(Side.NEW))
        if any(gate in gate_names(chosen.document.crd.annotations) for chosen in of_new):
            return True
        known = others | {_UNGATED}
        read = self._read.get(item.crd, [])
        of_gate = [crd for gates, crd in read if gate in gates]
        ungated = [crd for gates, crd in read if gates <= known]
        if item.change.of_crd:
            return bool(of_gate) and not ungated
        place = list(takewhile(lambda step: step not in _LISTS, item.change.new_at))
        at = (*place, *item.change.new_at[len(place) : len(place) + 1])
        without = [_value(crd, item.version, at) for crd in ungated]
        return any((value := _value(crd, item.version, at)) is not ABSENT and value not in without for crd in of_gate)

    @cached_property
    def _read(self) -> dict[str, list[tuple[frozenset[str], Crd]]]:
        """The gates and the content of the fragments of each CRD, by its name."""
        paths: dict[str, tuple[str, frozenset[str]]] = {}
        for item in self._crds.skipped:
            *_, folder, name, file = ("", "", *item.file.split("/"))
            if folder == _FRAGMENTS and name in self._names:
                gates = frozenset(file.rpartition(".")[0].split("+"))
                if gates & self._promoted or gates <= self._ungated:
                    paths[item.file] = name, gates
        found: dict[str, list[tuple[frozenset[str], Crd]]] = {}
        for path, data in self._crds.read(paths):
            name, gates = paths[path]
            found.setdefault(name, []).extend((gates, crd) for crd in _crds_in(path, data))
        return found


@lru_cache(maxsize=128)  # base and targets are compared with the same head
def _crds_in(path: str, data: bytes) -> tuple[Crd, ...]:
    found = []
    for document in read_documents(data, path):
        with suppress(NotACrdError):
            if not isinstance(document, Problem) and is_crd(document.data):
                found.append(read_crd(document.data))
    return tuple(found)


def _value(crd: Crd, version: str, at: Pointer) -> Any:
    """The value at a place in the schema of a version; ABSENT if there is none."""
    found = crd.version(version)
    return value_or_absent(found.schema, at) if found is not None else ABSENT

"""Every witness of real pairs of releases proves the claim of its finding, in each context.

The claim is judged anew, by the sentences of the errors, as a user would read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asking import Answered, Request, asked
from helpers import PAIRS, Json, kube, shows

import crdcompat
from crdcompat.apiserver.server_versions import server_of
from crdcompat.compare.engine import Comparer
from crdcompat.compare.result import Judged
from crdcompat.crds.pairing import pair
from crdcompat.crds.reader import CrdReader, CrdSet

_READER = CrdReader()
_PROJECTS = (
    ("cluster-api/v1.11.0", "cluster-api/v1.12.0"),
    ("cluster-api/v1.12.0", "cluster-api/v1.13.0"),
    ("crossplane/v1.16.0", "crossplane/v1.17.0"),
    ("crossplane/v1.20.0", "crossplane/v2.0.0"),
    ("external-secrets/v0.18.0", "external-secrets/v0.19.0"),
    ("gateway-api/v1.3.0", "gateway-api/v1.4.0"),
    ("http-add-on/v0.7.0", "http-add-on/v0.8.0"),
    ("http-add-on/v0.11.0", "http-add-on/v0.12.0"),
    ("istio/1.22.0", "istio/1.23.0"),
    ("istio/1.24.0", "istio/1.25.0"),
)


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=lambda name: name)
def test_openshift(old: str, new: str, openshift_api: Path) -> None:
    sides = [crdcompat.load(f"release-{name}", repo=str(openshift_api), reader=_READER) for name in (old, new)]
    assert _check(*sides, kube(old), kube(new)) >= 30


@pytest.mark.parametrize(("old", "new"), _PROJECTS, ids=lambda name: name)
def test_projects(old: str, new: str, projects: Path) -> None:
    sides = [crdcompat.load(f"git:{name}", repo=str(projects), reader=_READER) for name in (old, new)]
    assert _check(*sides, "1.31", "1.31") >= 2


def _check(old: CrdSet, new: CrdSet, old_kube: str, new_kube: str) -> int:
    """Judge every witness in every context anew, by the installed command; the number of witnesses."""
    claims: dict[tuple[Any, ...], _Claim] = {}
    for item, writer, reader in _judged(old, new):
        if item.witness.object is not None and not item.change.of_crd:
            names = (new_kube, old_kube) if item.direction == "rollback" else (old_kube, new_kube)
            claims.setdefault((id(item), id(writer), id(reader)), _Claim(item, writer, reader, *names))
    written = asked([each.request(each.writer, each.item.witness.object, each.writer_kube) for each in claims.values()])
    read = asked(
        [
            each.request(each.reader, each.read(answer.object or {}), each.reader_kube)
            for each, answer in zip(claims.values(), written, strict=True)
        ]
    )
    stored = [each for each in claims.values() if each.item.witness.stored is not None]
    for answer in asked(
        [
            Request(each.writer, each.item.version, "validate", each.writer_kube, each.item.witness.stored or {})
            for each in stored
        ]
    ):
        assert answer.accepted is True, answer.message
    for claim, first, second in zip(claims.values(), written, read, strict=True):
        _check_one(claim.item, first._replace(object=claim.read(first.object or {})), second)
    return len(claims)


class _Claim(NamedTuple):
    """A witness, with the CRDs and servers of its writer and its reader."""

    item: Judged
    writer: Json
    reader: Json
    writer_kube: str
    reader_kube: str

    def read(self, answered: Json) -> Json:
        """What the reader gets. For a version that is not stored, the server leaves out what the stored one lacks."""
        of = next(each for each in self.writer["spec"]["versions"] if each["name"] == self.item.version)
        return answered if of.get("storage") else self.item.witness.object or {}

    def request(self, crd: Json, obj: Json | None, kubernetes: str) -> Request:
        witness = self.item.witness
        operation = "validate" if witness.stored is None else str(witness.operation)
        return Request(crd, self.item.version, operation, kubernetes, obj or {}, witness.stored)


def _check_one(item: Judged, written: Answered, answer: Answered) -> None:
    witness = item.witness
    assert written.accepted is True, (item.change, written.message)
    claim = {"rule": item.change.kind.replace(".", "-"), "effect": item.effect, "path": item.change.place}
    assert shows(claim, answer, written.object or {}), (item.change, item.direction, answer.message)
    if item.effect == "write-rejected":
        # What a report shows first is the error of the claim.
        first = tuple(error for error in answer.errors if error.text() == witness.errors[0])
        assert shows(claim, answer._replace(errors=first), written.object or {}), (item.change, witness.errors)
    else:
        assert (answer.accepted, witness.errors) == (True, ()), (item.change, answer.message)


def _judged(old: CrdSet, new: CrdSet) -> Iterator[tuple[Judged, Json, Json]]:
    """Each judged change with the raw CRDs that it stands in first: writer and reader."""
    for item in Comparer(server_of(old), server_of(new)).compare(pair(old, new).pairs).judged:
        for occurrence in item.occurrences:
            if not occurrence.written_as:
                sides = occurrence.old.document.crd.raw, occurrence.new.document.crd.raw
                yield item, *(sides[::-1] if item.direction == "rollback" else sides)

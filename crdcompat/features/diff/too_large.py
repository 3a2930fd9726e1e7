"""CRDs that are too large for a comparison: each is a problem, and is not compared.

An API server checks the schemas and compiles the rules of a CRD once. A comparison does so for two CRDs and for several
servers, so that a change of 3 MB could ask for minutes. The limit grows with the size of the CRDs that differ; real
releases stay below half of the limit.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from functools import partial

import orjson
from msgspec import Struct
from msgspec.structs import astuple, replace

from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem
from crdcompat.schema.equality import ById
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.filters import Filters

#: The load that each comparison may have, and the bytes of differing CRDs that allow one more.
_LOAD, _BYTES_OF_A_LOAD = 20_000, 100
#: The load of a CEL rule, and the bytes of rules that have a load of 1, as has a schema that a server must look at.
_LOAD_OF_A_RULE, _BYTES_OF_RULES = 10, 25
_RULE, _OBJECT = re.compile(rb'"rule":"([^"\\]*(?:\\.[^"\\]*)*)"'), b"{"


class _Size(Struct, frozen=True):
    """What the documents of one CRD that differ contain: rules and their bytes, schemas that are not plain, bytes."""

    rules: int = 0
    bytes_of_rules: int = 0
    schemas: int = 0
    bytes: int = 0

    @property
    def load(self) -> int:
        return self.rules * _LOAD_OF_A_RULE + self.bytes_of_rules // _BYTES_OF_RULES + self.schemas


def without_too_large(old: CrdSet, new: CrdSet, wanted: Filters, shared: ComparisonCache) -> tuple[CrdSet, CrdSet]:
    """Both sets without the CRDs whose load is above the limit; each of them is a problem of a set that has it.

    CRDs count in the order of their names. A CRD above the limit does not count, so that smaller ones after it are
    compared.
    """
    olds, news = old.named(), new.named()
    sizes = {
        name: _size(olds.get(name, []), news.get(name, []), shared)
        for name in sorted({*olds, *news})
        if wanted.want_name((name,))
    }
    limit = left = _LOAD + sum(size.bytes for size in sizes.values()) // _BYTES_OF_A_LOAD
    large: dict[str, str] = {}
    for name, size in sizes.items():
        if size.load > left:
            large[name] = (
                f"the two sides of {name} are too large for one comparison: they count {size.load:,}, and {left:,} of"
                f" {limit:,} are left ({size.rules:,} CEL rules count {_LOAD_OF_A_RULE} each, and 1 for each"
                f" {_BYTES_OF_RULES} of their {size.bytes_of_rules:,} bytes; {size.schemas:,} schemas that are not"
                " plain count 1 each)"
            )
        else:
            left -= size.load
    only_old = {name: why for name, why in large.items() if name not in news}
    return (_without(old, large, only_old, Side.OLD), _without(new, large, large, Side.NEW)) if large else (old, new)


def _size(old: list[CrdDocument], new: list[CrdDocument], shared: ComparisonCache) -> _Size:
    differing = (*_differing(old, new), *_differing(new, old))
    sizes = [shared.once(("size", ById(raw["spec"])), partial(_size_of, raw)) for raw in differing]
    return _Size(*map(sum, zip(*map(astuple, sizes), strict=True))) if sizes else _Size()


def _size_of(raw: Mapping[str, object]) -> _Size:
    text = _text(doubtful(raw)["spec"])
    rules = _RULE.findall(text)
    return _Size(len(rules), sum(map(len, rules)), text.count(_OBJECT), len(_text(raw)))


def _differing(documents: list[CrdDocument], others: list[CrdDocument]) -> Iterator[Mapping[str, object]]:
    """The documents that the other side does not have. Equal specs are one object."""
    known = {id(each.crd.raw["spec"]) for each in others}
    return (each.crd.raw for each in documents if id(each.crd.raw["spec"]) not in known)


def _text(value: object) -> bytes:
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)


def _without(crds: CrdSet, large: Container[str], named: Mapping[str, str], side: Side) -> CrdSet:
    """The set without ``large`` CRDs; each of ``named`` is a problem of its first file."""
    kept = tuple(document for document in crds.documents if document.crd.name not in large)
    files = {document.crd.name: document.file for document in reversed(crds.documents)}
    found = [Problem(files[name], None, why, side, "compare") for name, why in named.items() if name in files]
    return replace(crds, documents=kept, problems=(*crds.problems, *found))

"""Compare two CRDs outside their schemas: every difference is a change, a counted text change, or undecided.

A key belongs to a facet, is text, or is reported as undecided, so that no difference is silently skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.changes import Undecided
from crdcompat.compare.crd_facet import CrdChange, ResolvedPair, VersionPair, pair_crds, spec_of
from crdcompat.compare.registry import all_crd_facets
from crdcompat.crds.resolving import Chosen, Resolved

_TEXT_KEYS = ("additionalPrinterColumns", "deprecationWarning")
#: Compared elsewhere: identities of CRDs and versions, and schemas. v1beta1 has some of them in ``spec``.
_SPEC_ELSEWHERE = frozenset({"group", "versions", "version", "validation", "additionalPrinterColumns"})
_VERSION_ELSEWHERE = frozenset({"name", "schema", *_TEXT_KEYS})
_UNKNOWN = "not a field that this version knows"


class CrdDiff(Struct, frozen=True):
    """Changes, undecided differences with their version name ("" for the CRD itself), and names of text changes."""

    changes: tuple[CrdChange, ...]
    undecided: tuple[tuple[str, Undecided], ...]
    texts: tuple[str, ...]


def diff_crds(old: Resolved, new: Resolved, old_server: Server, new_server: Server) -> CrdDiff:
    """Compare two resolved CRDs outside their schemas."""
    pair = pair_crds(old, new, old_server, new_server)
    (a, b), spec_keys = pair.crds, _owned()[0]
    texts = [name for facet in all_crd_facets() for name, text in facet.texts.items() if text(a) != text(b)]
    undecided = [("", item) for item in (*_disagreements(old, new, "OLD"), *_disagreements(new, old, "NEW"))]
    for keyword in sorted((spec_of(a).keys() | spec_of(b).keys()) - spec_keys):
        before, after = spec_of(a).get(keyword), spec_of(b).get(keyword)
        if before != after:
            undecided.append(("", Undecided((), keyword, before, after, _UNKNOWN, ("spec",), ("spec",))))
    for name in sorted(old.versions.keys() & new.versions.keys()):
        left, right = old.versions[name].version, new.versions[name].version
        texts += [f"{name}: {key}" for key in _TEXT_KEYS if left.raw.get(key) != right.raw.get(key)]
        undecided += [(name, item) for item in _version_rest(old.versions[name], new.versions[name])]
    return CrdDiff(tuple(_changes(pair)), tuple(undecided), tuple(texts))


@cache
def _owned() -> tuple[frozenset[str], frozenset[str]]:
    """The keys of ``spec`` and of a version that are compared, here or elsewhere."""
    facets = all_crd_facets()
    spec_keys = _SPEC_ELSEWHERE.union(*(facet.spec_keys for facet in facets))
    return spec_keys, _VERSION_ELSEWHERE.union(*(facet.version_keys for facet in facets))


def _changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    for facet in all_crd_facets():
        yield from facet.changes(pair)
    for name in sorted(pair.old.versions.keys() & pair.new.versions.keys()):
        versions = VersionPair(name, pair.old.versions[name], pair.new.versions[name], pair)
        for facet in all_crd_facets():
            yield from facet.version_changes(versions)


def _version_rest(left: Chosen, right: Chosen) -> Iterator[Undecided]:
    a, b = left.version, right.version
    if (a.schema is None) != (b.schema is None):  # without a schema, both sides accept every object
        before, after = ("schema" if side.schema is not None else None for side in (a, b))
        yield Undecided((), "schema", before, after, "only one side has a schema", a.pointer, b.pointer)
    for keyword in sorted((a.raw.keys() | b.raw.keys()) - _owned()[1]):
        if a.raw.get(keyword) != b.raw.get(keyword):
            yield Undecided((), keyword, a.raw.get(keyword), b.raw.get(keyword), _UNKNOWN, a.pointer, b.pointer)


def _disagreements(resolved: Resolved, beside: Resolved, side: str) -> Iterator[Undecided]:
    """The facts in which several documents of one CRD differ: a cluster may get any of them.

    Where the same files differ in the same way ``beside``, a cluster gets the same fact from both sides.
    """
    known = set(_facts_that_differ(beside))
    for each in _facts_that_differ(resolved):
        if each not in known:
            keyword, here, there, *files = each
            reason = f"{' and '.join(files)} of {side} disagree on it"
            yield Undecided((), keyword, here, there, reason, ("spec",), ("spec",))


def _facts_that_differ(resolved: Resolved) -> Iterator[tuple[str, Any, Any, str, str]]:
    """The keyword, its value in the first document and in another one, and the files of both."""
    first, *others = resolved.documents
    for other in others:
        for facet in all_crd_facets():
            for keyword, fact in facet.facts.items():
                here, there = fact(first.crd), fact(other.crd)
                if here != there:
                    yield keyword, here, there, first.file, other.file

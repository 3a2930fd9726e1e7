"""Reads seeds: objects of a CRD in a source's own tests, samples and examples.

They are read only for CRDs with a change that has no example; the number of files and of seeds is bounded.
openshift/api keeps suites of writes (``tests/<crd>/*.yaml``, ``*.testsuite.yaml``), other projects ``config/samples``
and ``examples``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

import orjson

from crdcompat.compare.budget import within
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.engine import Comparer
from crdcompat.compare.result import Judged, Occurrence
from crdcompat.compare.seeds import Seed
from crdcompat.crds.model import Crd
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem
from crdcompat.vocabulary import Effect
from crdcompat.yaml.documents import read_documents

#: Folders and files with objects that people wrote.
_SEEDED = re.compile(r"(?:^|/)(?:tests?|samples?|examples?|testdata)/|\.testsuite\.[^/]*$")
#: Files of one CRD on one side, bytes of a file, seeds of one CRD, bytes of a seed.
_MAX_FILES, _MAX_BYTES, _MAX_SEEDS, _MAX_SIZE = 12, 1 << 20, 12, 1 << 14
#: The errors that a case of a suite expects of its last write.
_EXPECTED = ("expectedError", "expectedStatusError")
_EFFECTS = (Effect.WRITE_REJECTED, Effect.VALUE_PRUNED)


class Seeds:
    """The seeds of the CRDs of both sides, NEW's seeds first; the files of a CRD are read once for all comparisons."""

    def __init__(self, old: CrdSet, new: CrdSet, shared: ComparisonCache) -> None:
        self._old, self._new = old, new
        self._shared = shared

    def of(self, item: Judged) -> Sequence[Seed]:
        """The seeds of the CRD of a change."""
        first = item.occurrences[0]
        if not isinstance(first, Occurrence):
            return ()
        sides = ((self._new, first.new), (self._old, first.old))
        found = chain.from_iterable(self._of(crds, chosen.document.crd) for crds, chosen in sides)
        return tuple(islice(found, _MAX_SEEDS))

    def _of(self, crds: CrdSet, crd: Crd) -> tuple[Seed, ...]:
        found = islice(_seeds(crds, crd), _MAX_SEEDS)
        return self._shared.once(("seeds", crds.read, crd.name, crd.kind), partial(tuple, found))


def with_seeds(judged: Iterable[Judged], comparer: Comparer, seeds: Seeds) -> Iterator[Judged]:
    """The judged changes. A change without an example gets one from a seed, if a seed shows its effect."""
    for item in judged:
        is_open = item.doubtful and item.effect in _EFFECTS and not item.change.of_crd
        found = seeds.of(item) if is_open else ()
        yield within(comparer.budget, item, partial(comparer.proved_by, seeds=found)) if found else item


def _seeds(crds: CrdSet, crd: Crd) -> Iterator[Seed]:
    names = [name.lower() for name in (crd.kind, crd.name.partition(".")[0])]
    paths = {item.file for item in crds.skipped if _SEEDED.search(item.file)}
    wanted = sorted(path for path in paths if any(name in path.lower() for name in names))
    for path, data in list(crds.read(wanted[:_MAX_FILES])):  # a caller may stop early; the reader must not
        if len(data) <= _MAX_BYTES:
            yield from (seed for seed in _of_file(data, path) if _is_of(seed, crd))


def _of_file(data: bytes, path: str) -> Iterator[Seed]:
    texts: dict[str, dict[str, Any] | None] = {}  # many cases of a suite begin with the same object
    for content in _contents(data, path):
        suite = content.get("tests")
        if not isinstance(suite, dict):
            yield Seed(content)
            continue
        for case in (case for kind in suite.values() if isinstance(kind, list) for case in kind):
            if isinstance(case, dict):
                yield from _of_case(case, path, texts)


def _of_case(case: dict[str, Any], path: str, texts: dict[str, dict[str, Any] | None]) -> Iterator[Seed]:
    """The objects of one case that are not in ``texts``, each given as YAML; an update has what is stored before it."""
    given = {name: text for name in ("initial", "updated") if isinstance(text := case.get(name), str)}
    fresh = [text for text in given.values() if text not in texts]
    for text in fresh:
        texts[text] = next(_contents(text.encode(), path), None)
    initial, updated = (texts.get(given.get(name, "")) for name in ("initial", "updated"))
    refused = given.get("updated", given.get("initial")) if any(case.get(key) for key in _EXPECTED) else None
    if initial is not None and updated is not None:
        yield Seed(updated, stored=initial, is_refused=refused is not None)
    yield from (Seed(made, is_refused=text == refused) for text in fresh if (made := texts[text]) is not None)


def _contents(data: bytes, path: str) -> Iterator[dict[str, Any]]:
    for document in read_documents(data, path):
        if not isinstance(document, Problem) and isinstance(document.data, dict):
            yield document.data


def _is_of(seed: Seed, crd: Crd) -> bool:
    """Whether a seed is a small object of a CRD."""
    return all(
        each.get("kind") == crd.kind and str(each.get("apiVersion")).partition("/")[0] == crd.group and _is_small(each)
        for each in (seed.object, seed.stored)
        if each is not None
    )


def _is_small(obj: dict[str, Any]) -> bool:
    try:
        return len(orjson.dumps(obj)) <= _MAX_SIZE
    except TypeError:  # integers of more than 64 bits, for example
        return False

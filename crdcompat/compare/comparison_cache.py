"""Caches of comparisons: verdicts on example objects, differences of schemas, compiled resources.

Every context, direction and pair of releases judges the same witnesses again, and the pairs of several releases compare
the same schemas.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.crd_validation.refusal import Fault
from crdcompat.apiserver.decode import Decoded
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.recent import Recent
from crdcompat.compare.schema_walk import AtNodes, SchemaDiff, diff_schemas
from crdcompat.compare.trial_book import TrialBook
from crdcompat.crds.resolving import Chosen
from crdcompat.schema.answers import ANSWERS, json_of
from crdcompat.schema.structural import Node
from crdcompat.schema.work import WORK, Budget

if TYPE_CHECKING:
    from crdcompat.apiserver.supported.causes import Cause


_T = TypeVar("_T")


class ConvertingResource(Resource):
    """A version of a CRD that judges objects written as another version.

    Conversion strategy None changes nothing but ``apiVersion``.
    """

    def create(self, raw: dict[str, Any], *, keep_status: bool = False) -> Verdict:
        """As Resource.create, after the conversion."""
        return super().create({**raw, "apiVersion": self.api_version}, keep_status=keep_status)


#: What an error costs where it is made, sorted and looked at.
_STEPS_OF_AN_ERROR = 4
#: Bytes of JSON. Witnesses are small; larger objects come from giant enums or defaults and are not cached.
_MAX_CACHED = 4096


class CachingResource(Resource):
    """A version of a CRD with a cache of its verdicts."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._verdicts: dict[tuple[bytes, bool], Verdict] = {}

    def create(self, raw: dict[str, Any], *, keep_status: bool = False) -> Verdict:
        """As Resource.create. The key keeps the order of members, because the order of errors may depend on it."""
        WORK.spend()
        try:
            key = (orjson.dumps(raw), keep_status)
        except TypeError:  # integers of more than 64 bits, for example
            return super().create(raw, keep_status=keep_status)
        known = self._verdicts.get(key)
        if known is None:
            known = super().create(raw, keep_status=keep_status)
            WORK.spend(len(known.errors) * _STEPS_OF_AN_ERROR)
            if len(key[0]) <= _MAX_CACHED:
                self._verdicts[key] = known
        return known

    def whole(self, stored: dict[str, Any], read: Decoded) -> Verdict:
        """As Resource.whole: mostly asked before, when the object became a witness."""
        return self.create(stored, keep_status=True)


class CachingConvertingResource(CachingResource, ConvertingResource):
    """ConvertingResource with a cache of its verdicts."""


class ComparisonCache:
    """Caches that several comparisons share: equal pairs of schemas are walked once, resources are compiled once.

    Differences depend on the two schemas alone, so their key has no release. Effects depend on the servers, too, so
    resources, ``book``, ``faults`` and ``causes``, which are those of whole CRDs by identity, have servers in their
    keys.
    ``budget`` is that of the comparison under way. Of ``before``, the cache of other comparisons, all is
    known that does not hold resources.
    """

    def __init__(self, before: ComparisonCache | None = None) -> None:
        self._resources: Recent[tuple[int, Server, bool], Resource] = Recent()
        self.book: TrialBook = TrialBook(before.book if before is not None else None)
        self.budget = Budget(sys.maxsize)
        self.faults: dict[tuple[Server, bool], dict[int, tuple[Fault, ...]]] = {}
        self.causes: dict[tuple[Server, ...], dict[int, tuple[Cause, ...]]] = {}
        self._schemas: dict[tuple[bytes, bytes], SchemaDiff] = before._schemas if before is not None else {}
        self._at_nodes: AtNodes = before._at_nodes if before is not None else {}
        self._found: dict[tuple[Any, ...], Any] = before._found if before is not None else {}

    def once(self, key: tuple[Any, ...], find: Callable[[], _T]) -> _T:
        """What ``find`` gives, found once for a key that names the question and all that the answer depends on."""
        if key not in self._found:
            self._found[key] = find()
        found: _T = self._found[key]
        return found

    def resource(self, chosen: Chosen, server: Server, *, converting: bool = False) -> Resource:
        """The version of a CRD on a server, compiled once; ``converting``: for objects written as another version."""
        key = (id(chosen.version), server, converting)
        known = self._resources.get(key)
        if known is None:
            made = CachingConvertingResource if converting else CachingResource
            known = self._resources.put(key, made(chosen.document.crd, chosen.version, server))
        return known

    def turn(self) -> None:
        """Begin another comparison: forget resources and proofs that the last one did not use."""
        self._resources.turn()
        self.book.turn()

    def diff(self, old: Node, new: Node) -> SchemaDiff:
        """``diff_schemas`` of two roots."""
        key = (self.book.digest(old), self.book.digest(new))
        if key not in self._schemas:
            walked = partial(diff_schemas, old, new, self.budget, self._at_nodes)
            with self.budget.spending():
                self._schemas[key] = ANSWERS.of("differences", partial(json_of, old.raw, new.raw), SchemaDiff, walked)
        return self._schemas[key]

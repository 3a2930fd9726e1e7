"""Conversion strategy None: an object of one version read as another, with nothing but its apiVersion changed.

Resources that remember their verdicts: a witness is judged for each context, direction and pair of releases.

What comparisons of several releases have in common.
"""

from __future__ import annotations

from typing import Any

import orjson

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.versions import Server
from crdcompat.compare.walk import SchemaDiff, diff_schemas
from crdcompat.compare.witness import TrialBook
from crdcompat.schema.structural import Node


class ConvertingResource(Resource):
    """A version of a CRD that is asked about objects written as another version of it."""

    def create(self, raw: dict[str, Any], *, keep_status: bool = False) -> Verdict:
        """As Resource.create, after the conversion."""
        return super().create({**raw, "apiVersion": self.api_version}, keep_status=keep_status)


#: Witnesses are small; what is larger comes from a giant enum or default, and is judged anew.
_LONGEST = 4096


class CachingResource(Resource):
    """A version of a CRD that gives the same verdict to the same object without judging it twice."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._verdicts: dict[tuple[bytes, bool], Verdict] = {}

    def create(self, raw: dict[str, Any], *, keep_status: bool = False) -> Verdict:
        """As Resource.create. Objects are the same if they are so in the order of their members, too."""
        try:
            key = (orjson.dumps(raw), keep_status)
        except TypeError:  # integers of more than 64 bits, for example
            return super().create(raw, keep_status=keep_status)
        known = self._verdicts.get(key)
        if known is None:
            known = super().create(raw, keep_status=keep_status)
            if len(key[0]) <= _LONGEST:
                self._verdicts[key] = known
        return known


class CachingConvertingResource(CachingResource, ConvertingResource):
    """The same for objects that are written as another version."""


class ComparisonCache:
    """No two equal schemas are walked twice, no resource is compiled twice.

    What differs is a fact about two texts, the same whichever releases they come from. What it does depends on the
    servers, too, and is kept by them.
    """

    def __init__(self) -> None:
        self.resources: dict[tuple[int, Server, bool], Resource] = {}
        self.book = TrialBook()
        self._schemas: dict[tuple[bytes, bytes], SchemaDiff] = {}

    def diff(self, old: Node, new: Node) -> SchemaDiff:
        """``diff_schemas`` of two roots."""
        key = (self.book.digest(old), self.book.digest(new))
        if key not in self._schemas:
            self._schemas[key] = diff_schemas(old, new)
        return self._schemas[key]

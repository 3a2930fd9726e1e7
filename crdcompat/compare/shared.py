"""What comparisons of several releases have in common."""

from __future__ import annotations

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.prove import TrialBook
from crdcompat.compare.walk import SchemaDiff, diff_schemas
from crdcompat.schema.structural import Node


class Shared:
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

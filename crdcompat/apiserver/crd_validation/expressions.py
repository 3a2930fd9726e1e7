"""CEL rules of a CRD: none of them is compiled yet."""

from __future__ import annotations

from crdcompat.apiserver.crd_validation.definition import Schema
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.errors import FieldError
from crdcompat.apiserver.versions import Server
from crdcompat.schema.paths import Pointer


class Scope:
    """The CEL type of a schema."""

    def child(self, parent: Schema, schema: Schema, step: str) -> Scope:
        return self


class Expressions:
    """The rules of one schema."""

    def __init__(self, server: Server, tolerated: Tolerated, *, limited: bool) -> None:
        self.server = server

    def root(self, schema: Schema) -> Scope:
        return Scope()

    def faults(self, scope: Scope, at: Pointer, uncorrelatable: Pointer | None) -> list[FieldError]:
        return []

    def total_faults(self, at: Pointer) -> list[FieldError]:
        return []

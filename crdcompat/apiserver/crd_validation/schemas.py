"""The validation of one schema of a CRD: which checks follow on which.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go
(validateCustomResourceDefinitionValidation).
"""

from __future__ import annotations

from msgspec import Struct

from crdcompat.apiserver.crd_validation.decoded_keywords import Schema, anywhere
from crdcompat.apiserver.crd_validation.defaults import default_faults
from crdcompat.apiserver.crd_validation.definition import fault
from crdcompat.apiserver.crd_validation.openapi import SchemaRules
from crdcompat.apiserver.crd_validation.root import root_faults
from crdcompat.apiserver.crd_validation.structural_rules import conversion_error, structural_faults
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import INVALID, FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer


class Schemas(Struct, frozen=True):
    """How the schemas of a CRD are validated: ``structural``, if they have to be; ``expressions``: with CEL rules."""

    server: Server
    tolerated: Tolerated
    structural: bool
    expressions: bool

    def faults(self, schema: Schema, at: Pointer, version: str, *, has_status: bool) -> list[FieldError]:
        """The faults of one schema: of ``version``, or of the first of all versions."""
        found = [*root_faults(schema, at, self.server, has_status=has_status)]
        unreadable = conversion_error(schema) if self.structural else ""
        readable = self.structural and not unreadable
        if readable:
            prunes = not self.tolerated.unpruned_defaults
            more = [*structural_faults(schema, at, self.server)]
            more = more or [*default_faults(schema, at, self.server, prunes=prunes)]
            readable = not more
            found += more
        expressions = None
        if readable and self.expressions and self.server.does("cel") and anywhere(schema, _has_rules):
            from crdcompat.apiserver.crd_validation.expressions import Expressions

            limited = version not in self.tolerated.unchanged
            expressions = Expressions(self.server, self.tolerated, limited=limited)
        found += SchemaRules(self.server, self.tolerated, expressions).faults(schema, at)
        if unreadable and not found:
            found.append(fault(INVALID, at, "", unreadable, self.server))
        if expressions is not None:
            found += expressions.total_faults(at)
        return found


def _has_rules(schema: Schema) -> bool:
    return "x-kubernetes-validations" in schema

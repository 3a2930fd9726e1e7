"""What a CEL rule may say beside its expression: message, messageExpression, reason, fieldPath.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault
from crdcompat.apiserver.crd_validation.endpoints import field_path
from crdcompat.apiserver.crd_validation.structural_rules import conversion_error
from crdcompat.apiserver.field_errors import INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.wording import supported_values
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import RULES

_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def rule_faults(schema: Schema, at: Pointer, server: Server) -> Iterator[FieldError]:
    """The faults of the rules of one schema beside those of CEL."""
    for index, rule in enumerate(schema[RULES]):
        for kind, member, value, detail in _faults(rule, schema, server):
            yield fault(kind, (*at, RULES, index, member), value, detail, server)


def _faults(rule: Mapping[str, Any], schema: Schema, server: Server) -> Iterator[tuple[str, str, Any, str]]:
    text, message, path = (rule.get(member, "") for member in ("rule", "message", "fieldPath"))
    computed, reason = rule.get("messageExpression", ""), rule.get("reason")
    if not text.strip():
        yield REQUIRED, "rule", "", "rule is not specified"
    elif message and not message.strip():
        yield INVALID, "message", message, _named("message", "must be non-empty if specified", server)
    elif _has_line_breaks(message.strip()):
        yield INVALID, "message", message, _named("message", "must not contain line breaks", server)
    elif _has_line_breaks(text.strip()) and not message.strip():
        yield REQUIRED, "message", "", "message must be specified if rule contains line breaks"
    if computed and not computed.strip():
        yield REQUIRED, "messageExpression", "", "messageExpression must be non-empty if specified"
    if reason is not None and reason not in _REASONS:
        yield NOT_SUPPORTED, "reason", reason, supported_values(_REASONS)
    if path and not path.strip():
        yield INVALID, "fieldPath", path, _named("fieldPath", "must be non-empty if specified", server)
    if _has_line_breaks(path):
        yield INVALID, "fieldPath", path, _named("fieldPath", "must not contain line breaks", server)
    if path and not conversion_error(schema) and isinstance(field_path(path, schema)[1], str):
        yield INVALID, "fieldPath", path, _named("fieldPath", "must be a valid path", server)


def _named(member: str, detail: str, server: Server) -> str:
    """The detail; servers before 1.34 begin it with the name of the field."""
    return detail if server.does("plain_rule_texts") else f"{member} {detail}"


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text

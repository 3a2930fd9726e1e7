"""Field errors and the aggregate message, word for word (reference sections 3.7 and 3.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crdcompat.apiserver import gotext
from crdcompat.apiserver.eras import Server
from crdcompat.records import dataclass
from crdcompat.schema.structural import ABSENT

INVALID = "FieldValueInvalid"
TYPE_INVALID = "FieldValueTypeInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"

_TEXT = {
    INVALID: "Invalid value",
    TYPE_INVALID: "Invalid value",
    REQUIRED: "Required value",
    NOT_SUPPORTED: "Unsupported value",
    DUPLICATE: "Duplicate value",
    FORBIDDEN: "Forbidden",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
}
_WITHOUT_VALUE = frozenset({REQUIRED, FORBIDDEN, TOO_LONG})

#: What the server adds when schema errors kept it from evaluating CEL rules.
NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One cause of a rejection.

    ``type`` is Kubernetes' error type name, ``field`` the path ("<nil>" at the root), ``value`` the bad
    value (ABSENT where the API server names none), ``detail`` the rest of the sentence.
    """

    type: str
    field: str
    value: Any
    detail: str

    def text(self, server: Server) -> str:
        """The sentence as ``Status.message`` shows it on that server."""
        return f"{self.field}: {self.body(server)}"

    def body(self, server: Server) -> str:
        """The sentence without its path, as in ``status.details.causes[].message``."""
        parts = [_TEXT[self.type]]
        if self.type not in _WITHOUT_VALUE and self.value is not ABSENT:
            parts.append(render_value(self.value, server))
        if self.detail:
            parts.append(self.detail)
        return ": ".join(parts)

    @property
    def is_marker(self) -> bool:
        """Whether this is no cause of its own but the note that CEL rules were skipped."""
        return self.detail == NOT_CHECKED


def render_value(value: Any, server: Server) -> str:
    """A bad value as this server prints it."""
    if value is None:
        return "null" if server.does("json_values") else '"null"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return gotext.quote(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return gotext.number(value)
    return gotext.compact_json(value) if server.does("json_values") else gotext.go_syntax(value)


def aggregate(kind: str, group: str, name: str, errors: Sequence[FieldError], server: Server) -> str:
    """The message of the 422: one error plain, several in brackets, equal sentences once; "" without errors."""
    sentences = list(dict.fromkeys(error.text(server) for error in errors))
    if not sentences:
        return ""
    body = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    return f"{kind}.{group} {gotext.quote(name)} is invalid: {body}"


def pathless(sentence: str) -> FieldError:
    """Errors of junctors and number ranges carry no path of their own; they quote it in the sentence."""
    return FieldError(INVALID, "<nil>", "", sentence)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that touches the object and could not be judged: never counted as accepted.

    ``field`` is the path, ``what`` the keyword or the CEL rule's text, ``reason`` why it was not judged.
    """

    field: str
    what: str
    reason: str

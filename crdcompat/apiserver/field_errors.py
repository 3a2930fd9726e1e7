"""Field errors as values: constraint, path and bad value. ``wording`` renders their sentences."""

from __future__ import annotations

from msgspec import Struct

from crdcompat.apiserver import wording
from crdcompat.apiserver.keywords import Keyword

INVALID = "FieldValueInvalid"
TYPE_INVALID = "FieldValueTypeInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
INTERNAL = "InternalError"


class FieldError(wording.ErrorParts):
    """One cause of a rejection. A named tuple, because the search for an example object makes thousands of errors.

    ``type`` is Kubernetes' name of the error type, ``pointer`` the path in the object, ``value`` the bad value (ABSENT
    if the API server shows none). ``demand`` is the value of the keyword: the members of an enum, the pattern, the
    limit, the text of a rule. ``rule`` is the index of a CEL rule in its list. ``fixed_detail`` replaces the detail
    that ``wording`` derives from the keyword: the message of a rule, or a sentence with no keyword in the schema.
    ``base`` is the length of the prefix of ``pointer`` that the server validates on its own: ``status`` in writes to
    /status, the node of a rule with a fieldPath. ``keys`` are the indices of the steps of ``pointer`` that are map
    keys, for errors that show those in brackets.
    """

    __slots__ = ()

    @property
    def field(self) -> str:
        """The path in the server's notation; "<nil>" for the root."""
        return wording.field(self)

    @property
    def detail(self) -> str:
        """The part of the sentence after the bad value."""
        return wording.detail(self)

    def body(self) -> str:
        """The sentence without its path, as in ``status.details.causes[].message``."""
        return wording.body(self)

    def text(self) -> str:
        """The sentence as in ``Status.message``."""
        return wording.text(self)

    @property
    def is_marker(self) -> bool:
        """Whether this only marks that the server skipped CEL rules, and is no cause of the rejection."""
        return self.keyword is Keyword.NOT_CHECKED


class Unknown(Struct, frozen=True):
    """A constraint on the object that could not be judged; the object then never counts as accepted.

    ``field`` is the path, ``what`` the keyword or the text of the CEL rule, ``reason`` the cause.
    """

    field: str
    what: str
    reason: str

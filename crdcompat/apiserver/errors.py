"""Field errors as values: what is broken, where and by what. ``wording`` makes the sentences of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from crdcompat.apiserver import wording
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.versions import Server
from crdcompat.records import dataclass
from crdcompat.schema.paths import Pointer

INVALID = "FieldValueInvalid"
TYPE_INVALID = "FieldValueTypeInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"


class FieldError(NamedTuple):
    """One cause of a rejection. A named tuple: a search for a witness makes thousands, and shows few.

    ``type`` is Kubernetes' error type name, ``pointer`` the place in the object, ``value`` the bad value (ABSENT where
    the API server names none). ``demand`` is what the keyword asks for: the members of an enum, the pattern, the limit,
    the text of a rule. ``rule`` is the index of a CEL rule at its place. ``words`` is a ready detail: a rule's message,
    and sentences of which nothing but their words is known. ``base`` is the length of the place that was checked as a
    whole: ``status`` in writes to /status, the place of a rule with a fieldPath. ``keys`` are the indices of the steps
    that are keys of maps, where the server writes those in brackets.
    """

    type: str
    pointer: Pointer
    keyword: Keyword
    value: Any
    server: Server
    demand: Any = None
    words: str | None = None
    rule: int | None = None
    base: int = 0
    keys: tuple[int, ...] = ()

    @property
    def field(self) -> str:
        """The path as the server spells it; "<nil>" where it names none."""
        return wording.field(self)

    @property
    def detail(self) -> str:
        """What follows the bad value in the sentence."""
        return wording.detail(self)

    def body(self) -> str:
        """The sentence without its path, as in ``status.details.causes[].message``."""
        return wording.body(self)

    def text(self) -> str:
        """The sentence as ``Status.message`` shows it."""
        return wording.text(self)

    @property
    def is_marker(self) -> bool:
        """Whether this is no cause of its own but the note that CEL rules were skipped."""
        return self.keyword is Keyword.NOT_CHECKED


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that touches the object and could not be judged: never counted as accepted.

    ``field`` is the path, ``what`` the keyword or the CEL rule's text, ``reason`` why it was not judged.
    """

    field: str
    what: str
    reason: str

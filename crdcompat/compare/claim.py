"""The reader's reaction that a change claims, and whether a verdict shows it.

A rejection is shown by an error with the keyword and at the place of the change, a loss by an object that the reader
accepts without the value. A rejection for another reason shows neither.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import JUNCTORS, Keyword
from crdcompat.candidates.sample import concrete
from crdcompat.compare.changes import Change
from crdcompat.compare.registry import facet_of
from crdcompat.compare.site import ReaderVerdict
from crdcompat.schema.paths import Pointer, SchemaPath, field_of
from crdcompat.vocabulary import Effect

#: Effects of a write that the reader accepts.
_LOSSES = frozenset({Effect.VALUE_PRUNED, Effect.VALUE_DEFAULTED})


class Shown(Struct, frozen=True):
    """The effect that a verdict shows; NONE if it shows none.

    ``errors`` are the errors that show it, ``others`` those with another cause. ``masked``: the reader loses the value
    as claimed, but rejects the object for another reason.
    """

    effect: Effect
    errors: tuple[FieldError, ...] = ()
    others: tuple[FieldError, ...] = ()
    masked: bool = False

    @property
    def clean(self) -> bool:
        """Whether the verdict shows the effect and nothing else."""
        return self.effect != Effect.NONE and not self.others


class Claim(Struct, frozen=True):
    """The ``effects`` that a change may have at a ``pointer``, the strongest first, as its facet recognises them."""

    change: Change
    effects: tuple[Effect, ...]
    pointer: Pointer

    @classmethod
    def at(cls, change: Change, effects: tuple[Effect, ...], path: SchemaPath | None) -> Claim:
        """The claim at ``path``, by default the change's own: at the first item of lists, the key ``key`` of maps."""
        return cls(change, effects, concrete(path or change.path))

    def shown_by(self, verdict: Verdict) -> Shown:
        """What the reader's verdict on an example object shows."""
        lost = False
        for effect in self.effects:
            if not self._shows(effect, verdict):
                continue
            if effect not in _LOSSES:
                errors = tuple(each for each in verdict.errors if self._shows(effect, replace(verdict, errors=(each,))))
                return Shown(effect, errors, self._others(verdict, errors))
            if verdict.accepted is not False:
                return Shown(effect)
            lost = True
        others = self._others(verdict, ())
        return Shown(Effect.WRITE_REJECTED, (), others, masked=True) if lost else Shown(Effect.NONE, (), others)

    def _shows(self, effect: Effect, verdict: Verdict) -> bool:
        observed = ReaderVerdict(verdict, self.pointer, field_of(self.pointer), self.change)
        return facet_of(self.change.kind).shows(effect, observed)

    def _others(self, verdict: Verdict, errors: tuple[FieldError, ...]) -> tuple[FieldError, ...]:
        """The errors with another cause: without those that a server adds to ``errors``."""
        rest = (each for each in verdict.errors if each not in errors and not each.is_marker)
        return tuple(each for each in rest if not any(_accompanies(each, error) for error in errors))


def _accompanies(other: FieldError, error: FieldError) -> bool:
    """Whether ``other`` follows from ``error``: junctors fail with their branches, branches with their junctor."""
    if other.keyword in JUNCTORS and error.pointer[: len(other.pointer)] == other.pointer:
        return True
    if error.keyword in JUNCTORS and other.pointer[: len(error.pointer)] == error.pointer:
        return True
    return other.keyword is Keyword.RANGE and other.pointer == error.pointer


def ordered(shown: Shown, verdict: Verdict) -> tuple[FieldError, ...]:
    """The reader's errors, those that show the effect first."""
    return (*shown.errors, *(each for each in verdict.errors if each not in shown.errors))

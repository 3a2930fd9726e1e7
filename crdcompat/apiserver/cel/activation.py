"""The converted value of a node, and the evaluation of a rule on it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crdcompat.apiserver.cel import environment
from crdcompat.apiserver.cel.cost_bounds import MAX_STEPS, footprint

_MAX_CACHED_LENGTH = 64  # characters of a string whose results are cached


class UndecidedError(Exception):
    """A rule could not be evaluated; the text is the reason."""


class FailedError(Exception):
    """The evaluation of a rule ended in an error; the text is cel-go's."""


class Data:
    """The converted new and old value of a node, shared by all its rules, and their misfits.

    A misfit is the reason why data does not fit its schema: ``unfit`` by name of variable, ``misfits`` by name of
    member, ``item_misfit`` for an item of a list or map. A variable that is unfit has no value. ``nul`` is whether a
    text has a NUL (``convert.NUL``).
    """

    __slots__ = ("_activation", "_size", "has_old", "item_misfit", "misfits", "nul", "unfit", "value")

    def __init__(self, value: dict[str, Any], *, has_old: bool) -> None:
        self.value = value
        self.has_old = has_old
        self.unfit: dict[str, str] = {}
        self.misfits: dict[str, str] = {}
        self.item_misfit: str | None = None
        self.nul = False
        self._activation: Any = None
        self._size: tuple[float, float] | None = None

    @property
    def activation(self) -> Any:
        """The variables of a rule, in the form of the CEL library."""
        if self._activation is None:
            self._activation = environment.full().Activation(self.value)
        return self._activation

    @property
    def text(self) -> str | None:
        """The value if it is a short string without an old value, else None."""
        new = self.value.get("self")
        return new if type(new) is str and not self.has_old and len(new) <= _MAX_CACHED_LENGTH else None

    @property
    def size(self) -> tuple[float, float]:
        """The ``footprint`` of the data."""
        if self._size is None:
            self._size = footprint(self.value)
        return self._size


def run(expression: Any, data: Data) -> Any:
    """The result of a rule, as a value of the CEL library. Raises UndecidedError if there is none."""
    try:
        text = data.text
        return expression.eval(data.activation) if text is None else _run_on_text(expression, text)
    except (RuntimeError, UnicodeError) as error:
        if "Iteration budget" in str(error):
            raise UndecidedError(f"the rule loops more than {MAX_STEPS} times on this object") from None
        raise UndecidedError(f"the rule cannot be evaluated on this object: {error}") from None


@lru_cache(maxsize=16384)
def _run_on_text(expression: Any, text: str) -> Any:
    """``run`` on one short string. Cached, because many fields share a rule, and the search for example objects tries
    the same strings on each.
    """
    return expression.eval(environment.full().Activation({"self": text, "oldSelf": None, "__old": []}))

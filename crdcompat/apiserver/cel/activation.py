"""A node's value, converted, and a rule run on it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crdcompat.apiserver.cel import environment
from crdcompat.apiserver.cel.bounds import MOST_STEPS, footprint

_LONGEST_REMEMBERED = 64  # characters of a text whose results are kept


class UndecidedError(Exception):
    """Why a rule could not be evaluated."""


class FailedError(Exception):
    """A rule's evaluation ended in an error, here in cel-go's words."""


class Data:
    """A node's value and its old one, converted, with what is wrong with them: all rules of the node share it.

    ``misfit`` says why the whole does not fit its schema, ``misfits`` why members do not, ``loose`` what else may not.
    """

    __slots__ = ("_activation", "_size", "has_old", "loose", "misfit", "misfits", "value")

    def __init__(self, value: dict[str, Any], *, has_old: bool) -> None:
        self.value = value
        self.has_old = has_old
        self.misfit: str | None = None
        self.misfits: dict[str, str] = {}
        self.loose: str | None = None
        self._activation: Any = None
        self._size: tuple[float, float] | None = None

    @property
    def activation(self) -> Any:
        """What the CEL library evaluates rules on."""
        if self._activation is None:
            self._activation = environment.full().Activation(self.value)
        return self._activation

    @property
    def text(self) -> str | None:
        """The whole of the data where that is one short text, else None."""
        mine = self.value["self"]
        return mine if type(mine) is str and not self.has_old and len(mine) <= _LONGEST_REMEMBERED else None

    @property
    def size(self) -> tuple[float, float]:
        """Its ``footprint``."""
        if self._size is None:
            self._size = footprint(self.value)
        return self._size


def run(expression: Any, data: Data) -> Any:
    """The result of a rule, as the CEL library gives it. Raises UndecidedError where it gives none."""
    try:
        text = data.text
        return expression.eval(data.activation) if text is None else _of_text(expression, text)
    except (RuntimeError, UnicodeError) as error:
        if "Iteration budget" in str(error):
            raise UndecidedError(f"the rule loops more than {MOST_STEPS} times on this object") from None
        raise UndecidedError(f"the rule cannot be evaluated on this object: {error}") from None


@lru_cache(maxsize=16384)
def _of_text(expression: Any, text: str) -> Any:
    """A rule on one short text: the same rules stand at many fields, and the search tries the same texts on each."""
    return expression.eval(environment.full().Activation({"self": text, "oldSelf": None, "__old": []}))

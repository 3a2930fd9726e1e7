"""A library of Kubernetes' CEL functions: plain rows, turned into declarations when CEL is loaded.

A value of an opaque type of Kubernetes (URL, IP, CIDR, Quantity, Semver, Format) is a map of one private
key; its text is canonical, so that `==` on the maps is `==` on the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NEVER = 99


class EvaluationError(Exception):
    """An evaluation error in Go's words."""


#: How an error of ours is told from one of the CEL library when it comes back as text.
MARK = "\x01"


@dataclass(frozen=True, slots=True)
class Function:
    """One overload: ``parameters`` and ``returns`` are CEL type names as in ``environment.TYPES``."""

    name: str
    parameters: tuple[str, ...]
    returns: str
    body: Callable[..., Any]
    member: bool = True
    since: int = 0  # Kubernetes minor that introduced it


def opaque(kind: str, text: str) -> dict[str, str]:
    return {f"\x01{kind}": text}


def content(value: Any, kind: str) -> str:
    """The text of an opaque value of that kind; anything else meets no overload of the function."""
    found = value.get(f"\x01{kind}") if isinstance(value, dict) else None
    if not isinstance(found, str):
        raise EvaluationError("no such overload")
    return found


def reported(body: Callable[..., Any]) -> Callable[..., Any]:
    """The body as the CEL library calls it: our errors marked, surprises turned into errors too."""

    def call(*args: Any) -> Any:
        try:
            return body(*args)
        except EvaluationError as error:
            raise ValueError(f"{MARK}{error}") from None

    return call

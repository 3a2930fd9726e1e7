"""The rows of Kubernetes' CEL function libraries. ``environment`` declares them to the CEL library when it loads it.

A value of an opaque type of Kubernetes (URL, IP, CIDR, Quantity, Semver, Format) is a map with one private key and a
canonical text, so that `==` compares the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable


class EvaluationError(Exception):
    """An evaluation error; the message is Go's."""


#: The prefix that distinguishes messages of Python functions from those of the CEL library.
MARK = "\x01"


class Function(Struct, frozen=True):
    """One overload; ``parameters`` and ``returns`` are names of CEL types (``string``, ``map``).

    ``since`` is the Kubernetes minor that introduced it. Servers before the minor ``changed`` run ``older``.
    """

    name: str
    parameters: tuple[str, ...]
    returns: str
    body: Callable[..., Any]
    member: bool = True
    since: int = 0
    changed: int = 0
    older: Callable[..., Any] | None = None

    def body_of(self, minor: int) -> Callable[..., Any]:
        """The Python function that computes the result of a server of this minor."""
        return self.older if self.older is not None and minor < self.changed else self.body


def opaque(kind: str, text: str) -> dict[str, str]:
    return {f"\x01{kind}": text}


def content(value: Any, kind: str) -> str:
    """The text of an opaque value of that kind. Raises EvaluationError for other values, as no overload fits."""
    found = value.get(f"\x01{kind}") if isinstance(value, dict) else None
    if not isinstance(found, str):
        raise EvaluationError("no such overload")
    return found


def reported(body: Callable[..., Any]) -> Callable[..., Any]:
    """``body`` for the CEL library: raises an EvaluationError as a ValueError with ``MARK``."""

    def call(*args: Any) -> Any:
        try:
            return body(*args)
        except EvaluationError as error:
            raise ValueError(f"{MARK}{error}") from None

    return call

"""CEL rules (x-kubernetes-validations) as the API server of a given minor evaluates them.

The CEL library itself is loaded when the first rule is evaluated, not when this package is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.errors import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdcompat.apiserver.cel.evaluate import Findings
    from crdcompat.apiserver.cel.walk import Step
    from crdcompat.apiserver.correlation import Pair
    from crdcompat.apiserver.errors import FieldError
    from crdcompat.apiserver.versions import Server
    from crdcompat.schema.structural import Node

__all__ = ["CelOutcome", "RuleEvaluator"]


@dataclass(frozen=True, slots=True)
class CelOutcome:
    """What the rules say of one object.

    ``warnings`` are the texts of failures on unchanged values, which the API server sends as HTTP warnings;
    ``unknown`` the rules that could not be judged.
    """

    errors: tuple[FieldError, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    warnings: tuple[str, ...] = ()


_NOTHING = CelOutcome()


class RuleEvaluator:
    """All rules of one schema, for one server. Rules are compiled when their node is first met."""

    def __init__(self, root: Node, server: Server) -> None:
        from crdcompat.apiserver.cel import walk

        self._root = root
        self._server = server
        self._steps: Step | None = None
        self._built = False
        #: Whether the API server would evaluate anything; rules inside allOf alone do not count.
        self.has_rules = server.does("cel") and _deep(lambda: walk.has_rules(root.raw), otherwise=True)

    def evaluate(self, new: dict[str, Any], pair: Pair | None, *, ratchet: bool) -> CelOutcome:
        """The rules on a whole decoded object.

        ``pair`` joins it with the stored object (None on create); with ``ratchet``, failures of rules
        without oldSelf on unchanged values become warnings.
        """
        if not self.has_rules:
            return _NOTHING
        from crdcompat.apiserver.cel.evaluate import Findings

        found = Findings()
        self._gather(found, new, pair, ratchet=ratchet)
        return CelOutcome(tuple(found.errors), tuple(found.unknown), tuple(found.warnings))

    def breaks(self, new: dict[str, Any]) -> bool:
        """Whether any rule is against a new object: as ``evaluate``, up to the first error."""
        if not self.has_rules:
            return False
        from crdcompat.apiserver.cel.evaluate import Findings

        found = Findings(first_only=True)
        self._gather(found, new, None, ratchet=False)
        return bool(found.errors)

    def _gather(self, found: Findings, new: dict[str, Any], pair: Pair | None, *, ratchet: bool) -> None:
        from crdcompat.apiserver.cel import walk
        from crdcompat.apiserver.cel.ratchet import Ratchet

        try:
            if not self._built:
                self._steps = walk.steps(self._root, self._server)
                self._built = True
            if self._steps is not None:
                walk.walk(self._steps, new, pair, Ratchet(ratchet, pair, pair, None), None, found)
        except RecursionError:
            found.unknown.append(Unknown("<nil>", "x-kubernetes-validations", "nested too deeply to be walked"))


def _deep(question: Callable[[], bool], *, otherwise: bool) -> bool:
    try:
        return question()
    except RecursionError:
        return otherwise

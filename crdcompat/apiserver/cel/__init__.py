"""CEL rules (x-kubernetes-validations) as the API server of a given minor evaluates them.

The first evaluation of a rule loads the CEL library, which is expensive; the import of this package does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.apiserver.field_errors import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdcompat.apiserver.cel.evaluate import Findings
    from crdcompat.apiserver.cel.rule_walk import Step
    from crdcompat.apiserver.correlation import Pair
    from crdcompat.apiserver.field_errors import FieldError
    from crdcompat.apiserver.server_versions import Server
    from crdcompat.schema.structural import Node

__all__ = ["CelOutcome", "RuleEvaluator"]


class CelOutcome(Struct, frozen=True):
    """The result of the rules on one object.

    ``warnings`` are the messages of failures on unchanged values, which the API server sends as HTTP warnings.
    ``unknown`` are the rules that could not be evaluated.
    """

    errors: tuple[FieldError, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    warnings: tuple[str, ...] = ()


_NO_RULES = CelOutcome()


class RuleEvaluator:
    """All rules of one schema, for one server. The rules of a node are compiled on first use."""

    def __init__(self, root: Node, server: Server) -> None:
        from crdcompat.apiserver.cel import rule_walk

        self._root = root
        self._server = server
        self._steps: Step | None = None
        self._built = False
        #: Whether the API server evaluates any rule. It evaluates none if all rules are inside allOf.
        self.has_rules = server.does("cel") and _unless_too_deep(lambda: rule_walk.has_rules(root.raw), otherwise=True)

    def evaluate(self, new: dict[str, Any], pair: Pair | None, *, ratchet: bool) -> CelOutcome:
        """Evaluate the rules on a whole decoded object.

        ``pair`` correlates it with the stored object (None on create). With ``ratchet``, failures of rules without
        oldSelf on unchanged values are warnings (KEP-4008).
        """
        if not self.has_rules:
            return _NO_RULES
        from crdcompat.apiserver.cel.evaluate import Findings

        found = Findings()
        self._gather(found, new, pair, ratchet=ratchet)
        return CelOutcome(tuple(found.errors), tuple(found.unknown), tuple(found.warnings))

    def breaks(self, new: dict[str, Any], pair: Pair | None = None) -> bool:
        """Whether any rule rejects an object: ``evaluate`` without ratcheting, up to the first error."""
        if not self.has_rules:
            return False
        from crdcompat.apiserver.cel.evaluate import Findings

        found = Findings(first_only=True)
        self._gather(found, new, pair, ratchet=False)
        return bool(found.errors)

    def _gather(self, found: Findings, new: dict[str, Any], pair: Pair | None, *, ratchet: bool) -> None:
        from crdcompat.apiserver.cel import rule_walk
        from crdcompat.apiserver.cel.ratchet import Ratchet

        try:
            if not self._built:
                self._steps = rule_walk.steps(self._root, self._server)
                self._built = True
            if self._steps is not None:
                rule_walk.walk(self._steps, new, pair, Ratchet(ratchet, pair, pair, None), None, found)
        except RecursionError:
            found.unknown.append(Unknown("<nil>", "x-kubernetes-validations", "nested too deeply to be walked"))


def _unless_too_deep(test: Callable[[], bool], *, otherwise: bool) -> bool:
    try:
        return test()
    except RecursionError:
        return otherwise

"""Ratcheting of rules: whether the failure of a rule is only a warning.

Source: KEP-4008; docs/semantics.md#ratcheting-of-rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from crdcompat.apiserver.correlation import Pair


class Ratchet(Struct):
    """The pairs that decide whether a failure at a node is only a warning.

    ``current`` is the pair of the node, None if it does not correlate; ``nearest`` that of the closest correlated
    ancestor. The root always counts as changed, because its metadata differs on every write.
    """

    on: bool
    root: Pair | None
    current: Pair | None
    nearest: Pair | None

    def unchanged(self) -> bool:
        """Whether ratcheting is on and the node counts as unchanged."""
        pair = self.current if self.current is not None else self.nearest
        return self.on and pair is not None and pair is not self.root and pair.equal()

    def below(self, child: Pair | None, name: str = "") -> Ratchet:
        """The state for a member or item with the pair ``child``."""
        if self.current is None:
            return self
        if self.current is self.root and name in ("apiVersion", "kind"):
            return Ratchet(self.on, self.root, None, None)
        return Ratchet(self.on, self.root, child, self.current)

    def in_all_of(self) -> Ratchet:
        """The state for an allOf branch of the same node, which does not correlate."""
        return Ratchet(self.on, self.root, None, self.nearest)

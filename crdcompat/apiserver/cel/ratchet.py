"""Which comparison decides whether a rule's failure is only warned of (reference section 8.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.apiserver.correlation import Pair


@dataclass(slots=True)
class Ratchet:
    """Which comparison decides whether a failure is only warned of.

    ``current`` is the pair of the node where it correlates; ``nearest`` the closest correlated ancestor.
    The root counts as changed always: its metadata differs on every write.
    """

    on: bool
    root: Pair | None
    current: Pair | None
    nearest: Pair | None

    def unchanged(self) -> bool:
        decides = self.current if self.current is not None else self.nearest
        return self.on and decides is not None and decides is not self.root and decides.equal()

    def below(self, child: Pair | None, name: str = "") -> Ratchet:
        if self.current is None:
            return self
        if self.current is self.root and name in ("apiVersion", "kind"):
            return Ratchet(self.on, self.root, None, None)
        return Ratchet(self.on, self.root, child, self.current)

    def in_all_of(self) -> Ratchet:
        return Ratchet(self.on, self.root, None, self.nearest)

"""The filters of a comparison: all commands that compare have the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from crdcompat.vocabulary import Direction, Owner


class Filters(Struct, frozen=True):
    """What a comparison keeps; an empty filter excludes nothing.

    ``directions`` and ``owners`` of findings, ``crds`` by name, rule ids to ``select`` or ``ignore``. ``paths``: a CRD
    is compared if a file of either side lies below one. ``contexts``: names to keep, or ``OLD=NEW`` to force a pair.
    ``touched``: the only CRDs to compare, None for all; unlike ``crds``, they may be missing.
    """

    directions: Sequence[Direction] = tuple(Direction)
    owners: Sequence[Owner] = ()
    crds: Sequence[str] = ()
    paths: Sequence[str] = ()
    contexts: Sequence[str] = ()
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    touched: frozenset[str] | None = None

    @property
    def leave_out(self) -> bool:
        """Whether a filter other than ``directions`` and ``touched`` may leave findings out."""
        return any((self.owners, self.crds, self.paths, self.contexts, self.select, self.ignore))

    def want_owner(self, owner: str) -> bool:
        """Whether the filters leave what such an owner writes."""
        return not self.owners or owner in self.owners

    def want_name(self, names: Collection[str]) -> bool:
        """Whether the filters by name leave a CRD that has one of these names."""
        return all(kept is None or any(name in kept for name in names) for kept in (self.crds or None, self.touched))


#: Every finding counts.
UNFILTERED = Filters()

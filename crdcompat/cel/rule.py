"""A rule as all rooms read it: the members, values, functions and variables of its syntax tree.

It says what a rule names, not what it means; the schema is not known here. Names are spelled as in the schema, not by
their CEL identifiers. The text of a rule is read nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from crdcompat.cel.syntax import Expr

#: The steps from ``self`` or ``oldSelf`` to a value; ITEM is any item of a list, or any value of a map.
Place = tuple[str, ...]
ITEM = "\x01item"

#: How a rule uses a value: whether it is there, how many items or characters it has, each of its items, the value.
PRESENCE, SIZE, ITEMS, VALUE = "presence", "size", "items", "value"


class Use(Struct, frozen=True):
    """A value that a rule uses, and how. ``of_old``: it is in the stored object."""

    place: Place
    how: str
    of_old: bool = False


class Pattern(Struct, frozen=True):
    """A pattern that a rule searches for in a value. ``part``: in the part of that index between separators.

    ``negated``: below an odd number of negations.
    """

    place: Place
    text: str
    part: tuple[str, int] | None = None
    negated: bool = False


class Rule(Struct, frozen=True, eq=False):
    """What one rule names, each thing once, in the order of the text."""

    tree: Expr
    uses: tuple[Use, ...]
    literals: tuple[Any, ...]
    calls: tuple[str, ...]
    variables: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    separators: tuple[str, ...]
    limits: tuple[int, ...]
    uses_old: bool

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the values that it uses."""
        return tuple(dict.fromkeys(use.place for use in self.uses))

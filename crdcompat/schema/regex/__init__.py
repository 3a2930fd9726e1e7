"""Patterns of schemas as languages: relations, members, and differences of two.

A ``pattern`` is an RE2 expression that is searched for in a text, anchored only where it says so. Its language
is the set of texts in which it is found. The automata are this package's own; every text that they find is
confirmed by google-re2, which matches for the API server's decisions, before it is shown. Work and memory are
bounded: beyond the bounds, and for what google-re2 refuses, the answer is "undecided", ``None`` or no text.

How two languages relate: equal, wider, narrower or incomparable, shown by a text that only one has.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import filterfalse
from typing import Literal

from msgspec import Struct

from crdcompat.schema.regex.language import Language, extra_states
from crdcompat.schema.regex.members import finite, members, outside
from crdcompat.schema.regex.open_questions import Unsupported
from crdcompat.schema.regex.product import Product
from crdcompat.schema.regex.readable import text_cost
from crdcompat.schema.regex.shortest_texts import shortest

__all__ = [
    "Kind",
    "Language",
    "Relation",
    "Unsupported",
    "compare",
    "compare_languages",
    "finite",
    "members",
    "only_in",
    "outside",
]


Kind = Literal["equal", "wider", "narrower", "incomparable", "undecided"]

_BOUND = 10_000


class Relation(Struct, frozen=True):
    """The relation of the new language to the old one.

    ``only_new`` is a shortest text that only the new one has, ``only_old`` one that only the old one has; each
    was confirmed by google-re2. If ``kind`` is "undecided", ``reason`` says why; one of the texts may be known
    even so, and then it is certain that the languages differ.
    """

    kind: Kind
    only_new: str | None = None
    only_old: str | None = None
    reason: str = ""


@lru_cache(maxsize=8192)
def compare(old: str, new: str, *, bound: int = _BOUND) -> Relation:
    """How the language of the pattern ``new`` relates to that of ``old``; at most ``bound`` states are looked at."""
    return compare_languages(Language.from_pattern(old), Language.from_pattern(new), bound=bound)


@lru_cache(maxsize=1024)
def compare_languages(old: Language, new: Language, *, bound: int = _BOUND) -> Relation:
    """How ``new`` relates to ``old``; at most ``bound`` states are looked at, and some more for lists and lengths."""
    if old == new:
        return Relation("equal")
    (only_new, why_new), (only_old, why_old) = only_in(new, old, bound=bound), only_in(old, new, bound=bound)
    reasons = dict.fromkeys(why for why in (why_new, why_old) if why)
    if reasons:
        return Relation("undecided", only_new, only_old, "; ".join(reasons))
    if only_new is None:
        return Relation("equal" if only_old is None else "narrower", None, only_old)
    return Relation("wider" if only_old is None else "incomparable", only_new, only_old)


@lru_cache(maxsize=2048)  # each pair is compared in both directions
def only_in(inside: Language, outside: Language, *, bound: int = _BOUND) -> tuple[str | None, str]:
    """A shortest text of ``inside`` that is not in ``outside``, and why it is not known; "" if it is.

    Half the work of ``compare_languages``.
    """
    if inside == outside:
        return None, ""
    try:
        text = _difference(inside, outside, bound)
        if text is None or (text in inside and text not in outside):
            return text, ""
    except Unsupported as refused:
        return None, refused.reason
    return None, f"the automaton and google-re2 disagree on {text!r} for ({inside}) without ({outside})"


def _difference(inside: Language, outside: Language, bound: int) -> str | None:
    automata, others = inside.automata(), outside.automata()
    listed = inside.listed()
    if listed is not None:
        rest = list(filterfalse(outside.judge(), listed))
        return min(rest, key=lambda text: (len(text), text_cost(text)), default=None)
    return shortest(Product(automata, others), bound + extra_states((*automata, *others)))

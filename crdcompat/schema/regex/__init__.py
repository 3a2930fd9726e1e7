"""Patterns of schemas as languages: how two relate, what is in them, what only one of them has.

A ``pattern`` is an RE2 expression that is searched for in a text, anchored only where it says so. Its language
is the set of texts in which it is found. The automata are this package's own; every text that they find is
confirmed by google-re2, which matches for the API server's decisions, before it is shown. Work and memory are
bounded: beyond the bounds, and for what google-re2 refuses, the answer is "undecided", ``None`` or no text.
"""

from __future__ import annotations

from crdcompat.schema.regex.errors import Unsupported
from crdcompat.schema.regex.language import Language
from crdcompat.schema.regex.members import finite, members, outside
from crdcompat.schema.regex.relation import Kind, Relation, compare, compare_languages

__all__ = [
    "Kind",
    "Language",
    "Relation",
    "Unsupported",
    "compare",
    "compare_languages",
    "finite",
    "members",
    "outside",
]

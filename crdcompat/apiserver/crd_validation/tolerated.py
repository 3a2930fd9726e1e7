"""Which checks of a CRD are left out.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go (validationOptions).
"""

from __future__ import annotations

from msgspec import Struct


class Tolerated(Struct, frozen=True):
    """What is not checked; for a new CRD nothing is tolerated.

    ``rules`` and ``messages`` are the CEL expressions of the installed CRD, which may use newer libraries;
    ``unchanged`` the versions whose schema is the installed one, for which the cost of a single rule is not limited.
    """

    review_versions: bool = False
    names: bool = True
    no_schema: bool = False
    property_types: bool = False
    unstructural: bool = False
    unpruned_defaults: bool = False
    sets: bool = False
    list_items: bool = False
    ca_bundle: bool = True
    rules: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    unchanged: frozenset[str] = frozenset()
    many_selectable: frozenset[str] = frozenset()

"""One module per kind of difference. Adding a file here adds a facet: nothing else names them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

from crdcompat.compare.site import Facet


@cache
def all_facets() -> tuple[Facet, ...]:
    """Every facet module, by name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return tuple(cast("Facet", importlib.import_module(f"{__name__}.{name}")) for name in names)


@cache
def facet_of_change(kind: str) -> Facet:
    """The facet that a change kind such as ``enum.value-added`` belongs to."""
    return next(facet for facet in all_facets() if kind in facet.EFFECTS)

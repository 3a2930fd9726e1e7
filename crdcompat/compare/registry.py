"""Find facets by module, kind of change or rule. Iteration over the packages finds the modules; no list names them.

A rule's id is its kind of change with a dash instead of the dot. Its module is the one with the longest name that is a
prefix of the id, with dashes instead of underscores.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from crdcompat.compare import crd_facets, facets
from crdcompat.compare.crd_facet import CrdFacet
from crdcompat.compare.facet import Facet, WaivedBy


@cache
def all_facets() -> tuple[Facet, ...]:
    """Every facet of the schema, in the order of module names."""
    return tuple(_facet(name) for name in _names(facets.__name__))


@cache
def all_crd_facets() -> tuple[CrdFacet, ...]:
    """Every facet of a CRD outside its schemas, in the order of module names."""
    return tuple(_crd_facet(name) for name in _names(crd_facets.__name__))


@cache
def module_of(kind: str) -> str:
    """The module of a kind of change (``enum.value-added``) or its rule (``enum-value-added``). Raises LookupError."""
    modules = (*_names(facets.__name__), *_names(crd_facets.__name__))
    begun = [module for module in modules if _begins(module, kind)]
    if not begun:
        raise LookupError(kind)
    return max(begun, key=lambda module: len(module.rpartition(".")[2]))


@cache
def facet_of(kind: str) -> Facet:
    """The facet of a change of the schema (``enum.value-added``, or its rule). Raises LookupError."""
    return _facet(module_of(kind))


@cache
def declared_by(kind: str) -> Facet | CrdFacet:
    """The facet of any change, of the schema or of the CRD itself, or of its rule. Raises LookupError."""
    module = module_of(kind)
    return _facet(module) if module.startswith(f"{facets.__name__}.") else _crd_facet(module)


@cache
def waived_by(rule: str) -> WaivedBy:
    """What a waiver of a rule names beside the path. Raises LookupError."""
    kinds = {kind.replace(".", "-"): by for kind, by in declared_by(rule).waived_by.items()}
    return kinds.get(rule, WaivedBy.OLD_AND_NEW)


@cache
def _names(package: str) -> tuple[str, ...]:
    path = import_module(package).__path__
    return tuple(sorted(f"{package}.{info.name}" for info in pkgutil.iter_modules(path)))


def _begins(module: str, kind: str) -> bool:
    name = module.rpartition(".")[2].replace("_", "-")
    return f"{kind.replace('.', '-')}-".startswith(f"{name}-")


def _facet(module: str) -> Facet:
    found = import_module(module).FACET
    assert isinstance(found, Facet), module
    return found


def _crd_facet(module: str) -> CrdFacet:
    found = import_module(module).FACET
    assert isinstance(found, CrdFacet), module
    return found

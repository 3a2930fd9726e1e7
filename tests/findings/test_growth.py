"""Declarations of two-step growth: what they mean between releases, and how far they reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import crd, obj, root, string
from variants import tree

from crdcompat import diff, load_crds
from crdcompat.findings.growth import Declaration, Minor, Releases, apply_growth, can_grow, following, is_release
from crdcompat.findings.split import FindingSplitter
from crdcompat.vocabulary.growth import GrowthState

_ACCEPTED, _WRITTEN, _UNKNOWN, _BROKEN = (GrowthState(word) for word in ("accepted", "written", "unknown", "broken"))


def _declaration(first: str = "release-4.16", later: str = "release-4.18") -> Declaration:
    return Declaration("widgets.example.com", "status.p", ("B",), first, later, "so be it")


@pytest.mark.parametrize(
    ("old", "new", "state"),
    [
        ((4, 14), (4, 15), None),  # not declared for 4.15
        ((4, 15), (4, 16), _ACCEPTED),
        ((4, 16), (4, 16), _ACCEPTED),  # 4.16 before the change that adds the value
        (None, (4, 16), _ACCEPTED),
        ((4, 15), (4, 17), _ACCEPTED),
        ((4, 16), (4, 17), _BROKEN),
        ((4, 17), (4, 17), _BROKEN),
        ((4, 15), (4, 18), _WRITTEN),
        ((4, 15), (5, 0), _WRITTEN),
        (None, (4, 18), _WRITTEN),
        ((4, 16), (4, 18), _BROKEN),
        ((4, 17), (5, 0), _BROKEN),
        ((4, 18), (4, 18), _BROKEN),
        ((4, 15), None, _UNKNOWN),
        ((4, 16), None, _UNKNOWN),
    ],
)
def test_the_state_between_two_releases(old: Minor | None, new: Minor | None, state: GrowthState | None) -> None:
    assert _declaration().state(old, new) is state


@pytest.mark.parametrize(
    ("new", "kept"),
    [((4, 15), True), ((4, 16), False)],  # the declaration is silent about 4.15
)
def test_a_value_counts_until_the_release_that_accepts_it(tmp_path: Path, new: Minor, *, kept: bool) -> None:
    sides = [crd(root(status=obj(p=string(*values)))) for values in (("A",), ("A", "B"))]
    old, later = (load_crds(f"path:{tree(tmp_path / name, w=side)}") for name, side in zip("ab", sides, strict=True))
    (finding,) = diff(old, later).findings
    releases = Releases((4, 14), new, "4.14", f"4.{new[1]}")
    grown = apply_growth([finding], [_declaration()], releases, FindingSplitter(old, later).split)
    assert [each.waiver is None for each in grown.findings] == [kept]
    assert len(grown.used) == (not kept)


def test_releases_are_compared_by_number() -> None:
    declaration = _declaration("v4.9", "4.10")
    assert [declaration.is_unwritten_in((4, minor)) for minor in (8, 9, 10)] == [False, True, False]
    assert [declaration.precedes((4, minor)) for minor in (8, 9)] == [True, False]
    assert not declaration.is_unwritten_in(None) and not declaration.precedes(None)


@pytest.mark.parametrize(
    ("rule", "direction", "added", "new", "can"),
    [
        ("enum-value-added", "rollback", ["B"], ["A", "B"], True),
        ("enum-value-added", "upgrade", ["B"], ["A", "B"], False),
        ("enum-value-removed", "rollback", [], ["A"], False),
        ("pattern-widened", "rollback", ["B"], "^(A|B)$", True),
        ("pattern-widened", "rollback", ["B"], "^[A-Z]+$", False),  # B is one of many
        ("pattern-widened", "rollback", ["B"], ["^[A-Z]+$", "^.$"], True),
        ("pattern-changed", "rollback", ["B"], "^(B|C)$", False),
        ("property-added", "rollback", ["b"], None, False),
    ],
)
def test_only_added_values_that_can_be_listed_grow(
    rule: str, direction: str, added: list[Any], new: Any, *, can: bool
) -> None:
    assert can_grow(rule, direction, added, new) is can


def test_the_next_release_has_the_same_form() -> None:
    assert [*map(following, ("release-4.9", "v1.19", "4.16"))] == ["release-4.10", "v1.20", "4.17"]
    assert [*map(is_release, ("release-4.16", "v1.2", "1.2", "main", "origin/release-4.16", "v1.2.3"))] == (
        [True] * 3 + [False] * 3
    )

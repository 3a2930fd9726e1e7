"""Members of patterns: finite sets as written, shortest members, what one pattern has over another."""

from __future__ import annotations

import itertools

import pytest
from operations import operations

from crdcompat.schema.re2 import Pattern, compile_pattern
from crdcompat.schema.regex import Language, finite, members, outside

_CRN = "^crn:v[0-9]+:bluemix:(public|private):(kms|hs-crypto):[a-z-]+:a/[0-9a-f]+:[0-9a-f-]{36}:key:[0-9a-f-]{36}$"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^(Managed|Unmanaged|Force|Removed)$", ("Managed", "Unmanaged", "Force", "Removed")),
        ("^(B|A)$", ("B", "A")),
        ("^(ab|c|ad)$", ("ab", "c", "ad")),
        ("^(AA|A|AAA)$", ("AA", "A", "AAA")),
        ("^B$|^A$", ("B", "A")),
        ("^$|^(ocp|origin)$", ("", "ocp", "origin")),
        (
            r"^(TLS)?v1\.[0-3]$",
            ("TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3", "v1.0", "v1.1", "v1.2", "v1.3"),
        ),
        ("^(?i)(ab)$", ("AB", "Ab", "aB", "ab")),
        ("^$", ("",)),
        ("^a?$", ("", "a")),
        ("^[c-a]?$|a^", None),
        ("a^", ()),
        ("b$c|a^", ()),
        (r"^(foo\b|\Bbar)$", ("foo",)),
        ("^(a|a|a){2}$", ("aa",)),
        ("^(a{0}|b{2})$", ("", "bb")),
        ("^(x(a|b)|y){2}$", ("xaxa", "xaxb", "xay", "xbxa", "xbxb", "xby", "yxa", "yxb", "yy")),
        ("^Allow|Deny$", None),
        ("^0|([0-9]+)+$", None),
        ("(A|B)", None),
        ("^(A|B)", None),
        ("(?m)^a$", None),
        ("^[^a]$", None),
        ("^[a-z]{3}$", None),
        ("^a+$", None),
        ("", None),
        ("(", None),
    ],
)
def test_finite(pattern: str, expected: tuple[str, ...] | None) -> None:
    assert finite(pattern) == expected


def test_finite_of_languages() -> None:
    letters = Language.from_pattern("^[ab]*$")
    assert finite(letters) is None
    assert finite(letters & Language.from_lengths(1, 2)) == ("a", "b", "aa", "ab", "ba", "bb")
    assert finite(letters & Language.from_lengths(3, 2)) == ()
    assert finite(letters & Language.from_pattern("^(b|c|ab)$")) == ("b", "ab")
    assert finite(Language.from_strings(["b", "a", "cc"]) & Language.from_lengths(1, 1)) == ("b", "a")
    assert finite(Language.from_lengths(0, 0)) == ("",)
    assert finite(Language.from_lengths()) is None


def test_finite_respects_the_limit() -> None:
    assert finite("^[a-e]$", limit=4) is None
    assert finite("^[a-e]$", limit=5) == ("a", "b", "c", "d", "e")
    assert finite(Language.from_strings(["a", "b"]), limit=1) is None


@pytest.mark.parametrize(
    ("patterns", "bounds", "expected"),
    [
        (["^[a-z0-9-]+$"], {}, ["a", "b", "c"]),
        (["^[A-C]{1,2}$"], {}, ["A", "B", "C"]),
        (["^[A-Z]+$"], {"min_length": 3}, ["AAA", "AAB", "AAC"]),
        (["^[01]*$"], {"min_length": 1, "max_length": 1}, ["0", "1"]),
        (["^[a-z]+$", "^.*x.*$", "^.{2}$"], {}, ["ax", "bx", "cx"]),
        (["^(?:aaa)*$", "^(?:aaaaa)+$"], {}, ["a" * 15, "a" * 30, "a" * 45]),
        (["^a+$", "^b+$"], {}, []),
        (["^a+$", "^a*b$"], {}, []),
        (["^a+$"], {"min_length": 5, "max_length": 4}, []),
        (["^abc$"], {"max_length": 2}, []),
        (["^abc$"], {"min_length": 4}, []),
        ([], {"min_length": 2}, ["aa", "ab", "ac"]),
        (["("], {}, []),
        ([r"^\S+:\d*$"], {}, ["a:", "b:", "c:"]),
        ([r"\bfoo\b"], {"min_length": 4}, ["-foo", ".foo", "/foo"]),
    ],
)
def test_members(patterns: list[str], bounds: dict[str, int], expected: list[str]) -> None:
    assert list(members(patterns, limit=3, **bounds)) == expected


@pytest.mark.parametrize("bounds", [(144, None), (144, 144), (300, 310), (131, 144)])
def test_members_of_exact_lengths_are_found_directly(bounds: tuple[int, int | None]) -> None:
    with operations() as done:
        found = list(members([_CRN], min_length=bounds[0], max_length=bounds[1], limit=3))
    assert done.calls < 1_500_000
    judge = compile_pattern(_CRN)
    assert isinstance(judge, Pattern)
    assert len(set(found)) == 3
    assert all(judge.search(text) and bounds[0] <= len(text) <= (bounds[1] or 999) for text in found)


def test_members_are_all_and_in_order_of_length() -> None:
    pattern = "^(?:a|bc|[ab]{3})*$"
    judge = compile_pattern(pattern)
    assert isinstance(judge, Pattern)
    expected = [
        "".join(chars)
        for length in range(6)
        for chars in itertools.product("abc", repeat=length)
        if judge.search("".join(chars))
    ]
    found = list(members([pattern], max_length=5))
    assert sorted(found) == sorted(expected)
    assert [len(text) for text in found] == sorted(map(len, found))


def test_outside() -> None:
    assert list(outside(["^[a-z]+$"], ["^[a-f]+$"], limit=3)) == ["g", "h", "i"]
    assert list(outside(["^[a-z]+$"], ["^[a-f]+$", "^a"], limit=3)) == ["b", "c", "d"]
    assert list(outside(["^[a-f]+$"], ["^[a-z]+$"])) == []
    assert list(outside(["^[a-z]+$"], ["^.{1,9}$"], limit=1)) == ["a" * 10]
    assert list(outside(["^[ab]$"], [])) == []
    assert list(outside(["^[ab]+$"], ["^a"], min_length=2, max_length=2)) == ["ba", "bb"]
    assert list(outside([], ["a"], limit=2)) == ["", "b"]

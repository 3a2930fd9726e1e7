"""How languages relate: equal, wider, narrower, incomparable, with the text that shows it."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from patterns import PATTERNS, texts

from crdcompat.schema.re2 import PatternError, compile_pattern
from crdcompat.schema.regex import Language, Relation, compare, compare_languages


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("^(A|B)$", "^(A|B|C)$", Relation("wider", only_new="C")),
        ("^(A|B|C)$", "^(B|A)$", Relation("narrower", only_old="C")),
        ("^(A|B)$", "^(B|A)$", Relation("equal")),
        ("^(A|B)$", "^(A|C)$", Relation("incomparable", only_new="C", only_old="B")),
        ("^Allow|Deny$", "^(Allow|Deny)$", Relation("narrower", only_old="aDeny")),
        ("^[a-z]{3}$", "^[a-z]{2,3}$", Relation("wider", only_new="aa")),
        ("^[a-z.]+$", "^[a-z]+$", Relation("narrower", only_old=".")),
        ("a", "", Relation("wider", only_new="")),
        ("^[a-z]+$", "^[a-z0-9A-Z_]+$", Relation("wider", only_new="0")),
        ("^[a-z]+$", "^[a-z_]+$", Relation("wider", only_new="_")),
        ("^a$", "(?m)^a$", Relation("wider", only_new="a\n")),
        ("(?s).", ".", Relation("narrower", only_old="\n")),
        (r"^\pL$", r"^\p{Lu}$", Relation("narrower", only_old="a")),
        ("^[a-z]$", "^[a-zé\x00]$", Relation("wider", only_new="é")),
        ("^k$", "^(?i)k$", Relation("wider", only_new="K")),
        ("^[kK]$", "^(?i)k$", Relation("wider", only_new="\u212a")),
    ],
)
def test_compare(old: str, new: str, expected: Relation) -> None:
    assert compare(old, new) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("", "a{0}"), ("", "x*"), ("", "(^|a|$)"), ("[^\\n]", "."), ("^a$", r"\Aa\z"), ("^(a|b)*$", "^(a*b*)*$"),
        ("^(?i)k$", "^[kK\u212a]$"), (r"\bfoo\b", r"(^|\W)foo(\W|$)"), ("(?m)^a$", r"(^|\n)a(\n|$)"),
        ("^[A-Za-z0-9-_]+$", r"^[a-zA-Z0-9\_-]+$"), ("a^", "b$c"), ("^(aa|aaa)+$", "^a(a)+$"), ("(?U)^a+?$", "^a+$"),
        (r"^\d{1,3}$", "^(?:[0-9]|[0-9]{2,3})$"), (r"^[^[:^digit:]]$", r"^[0-9]$"), ("^(a{2}){3}$", "^a{6}$"),
        ("^.*a.*$|(?s)a", "a"), ("^https:\\/\\/[^\\s]", "^https:\\/\\/\\S+"), (r"^\Qa.b\E$", r"^a\.b$"),
    ],
)  # fmt: skip
def test_equal_languages(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left) == Relation("equal")


def test_what_does_not_compile_is_undecided_with_the_reason() -> None:
    relation = compare("a", "a(")
    assert relation.kind == "undecided"
    assert relation.reason == "error parsing regexp: missing closing ): `a(`"


def test_beyond_the_bound_is_undecided_but_keeps_what_was_found() -> None:
    relation = compare("^(?:a|b)*a(?:a|b){20}$", "^(?:a|b)*b(?:a|b){20}$|^c$", bound=500)
    assert relation == Relation("undecided", only_new="c", reason="more than 500 states")


def test_a_text_on_which_google_re2_disagrees_is_not_shown() -> None:
    # RE2 finds \B between the bytes of one character; Go, and the automaton, do not.
    relation = compare(r"\B", r"\B|^KΩ1$")
    assert relation.kind == "undecided"
    assert relation.only_new is None
    assert relation.reason.startswith("the automaton and google-re2 disagree on 'KΩ1'")


@settings(max_examples=150, derandomize=True, suppress_health_check=list(HealthCheck))
@given(PATTERNS, PATTERNS)
def test_generated_pairs_agree_with_google_re2(old: str, new: str) -> None:
    assume(r"\B" not in old + new)
    first, second = compile_pattern(old), compile_pattern(new)
    assume(not isinstance(first, PatternError) and not isinstance(second, PatternError))
    assert not isinstance(first, PatternError) and not isinstance(second, PatternError)
    relation = compare(old, new)
    assert relation.kind != "undecided"
    for text in texts(old, 8) + texts(new, 8):
        in_old, in_new = first.search(text), second.search(text)
        if in_new != in_old:
            witness = relation.only_new if in_new else relation.only_old
            assert witness is not None
            assert len(witness) <= len(text)


STRINGS, PATTERN, LENGTHS = Language.from_strings, Language.from_pattern, Language.from_lengths


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (STRINGS(["A", "B"]), PATTERN("^(B|A)$"), Relation("equal")),
        (STRINGS(["A", "B"]), PATTERN("^(A|B|C)$"), Relation("wider", only_new="C")),
        (STRINGS(["A", "B", "Long"]), PATTERN("^[A-Z]$"), Relation("incomparable", only_new="C", only_old="Long")),
        (STRINGS(["A", "B"]), STRINGS(["B", "A"]), Relation("equal")),
        (STRINGS(["A", "B"]), STRINGS(["B", "AA"]), Relation("incomparable", only_new="AA", only_old="A")),
        (STRINGS([]), PATTERN("a^"), Relation("equal")),
        (STRINGS([""]), LENGTHS(0, 0), Relation("equal")),
        (STRINGS(["a"]), LENGTHS(), Relation("wider", only_new="")),
        (STRINGS(["a", "bb"]) & LENGTHS(2), STRINGS(["bb"]), Relation("equal")),
        (PATTERN("^[a-z]*$") & LENGTHS(3, 5), PATTERN("^[a-z]{3,5}$"), Relation("equal")),
        (PATTERN("^x*$") & LENGTHS(0, 9), PATTERN("^x*$") & LENGTHS(0, 10), Relation("wider", only_new="x" * 10)),
        (PATTERN("^.*$") & LENGTHS(1), PATTERN("^.+$"), Relation("equal")),
        (PATTERN("^a") & PATTERN("z$") & LENGTHS(2), PATTERN("(?s)^a.*z$"), Relation("equal")),
        (PATTERN("^[ab]*$"), PATTERN("^[ab]*$") & PATTERN("a"), Relation("narrower", only_old="")),
        (LENGTHS(), PATTERN(""), Relation("equal")),
        (LENGTHS(1), PATTERN("(?s)."), Relation("equal")),
        (LENGTHS(5, 2), STRINGS([]), Relation("equal")),
        (LENGTHS(0, 3), LENGTHS(2, 9), Relation("incomparable", only_new="aaaa", only_old="")),
        (LENGTHS(0, 4096), LENGTHS(0, 8192), Relation("wider", only_new="a" * 4097)),
    ],
)  # fmt: skip
def test_compare_languages(old: Language, new: Language, expected: Relation) -> None:
    assert compare_languages(old, new) == expected


def test_large_enums() -> None:
    values = [f"value-{number}" for number in range(5000)]
    same = PATTERN("^value-([0-9]|[1-9][0-9]{1,2}|[1-4][0-9]{3})$")
    assert compare_languages(STRINGS(values), same) == Relation("equal")
    assert compare_languages(STRINGS(values), STRINGS(values[:-1])) == Relation("narrower", only_old="value-4999")


def test_lengths_count_code_points() -> None:
    assert "\U0001f600" in LENGTHS(1, 1)
    assert "\ud83d\ude00" in LENGTHS(1, 1)
    assert STRINGS(["\ud800"]) == STRINGS(["\ufffd"])


@given(st.integers(0, 5), st.integers(0, 5), st.lists(st.text("ab", max_size=4), max_size=6))
@settings(max_examples=60, derandomize=True)
def test_intersections_hold_what_both_hold(least: int, extra: int, strings: list[str]) -> None:
    both = PATTERN("^a*b*$") & LENGTHS(least, least + extra)
    listed = STRINGS(strings) & both
    rng = random.Random(least * 10 + extra)
    for text in [*strings, *("".join(rng.choices("ab", k=rng.randint(0, 6))) for _ in range(10))]:
        assert (text in both) == (text in PATTERN("^a*b*$") and least <= len(text) <= least + extra)
        assert (text in listed) == (text in strings and text in both)
    assert compare_languages(both, listed).kind in ("narrower", "equal")

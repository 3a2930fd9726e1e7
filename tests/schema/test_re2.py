"""Patterns of manifests: Go's answers about what compiles and what matches."""

from __future__ import annotations

import pytest

from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern, go_text


def compiled(source: str) -> Pattern:
    pattern = compile_pattern(source)
    assert isinstance(pattern, Pattern), pattern
    return pattern


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("", "", True),
        ("^$", "\n", False),
        ("^a$", "a\n", False),
        ("a.c", "a\nc", False),
        ("(?s)a.c", "a\nc", True),
        ("(?m)^b$", "a\nb\nc", True),
        (r"^\d+$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\pL$", "é", True),
        (r"^\p{Greek}$", "α", True),
        ("(?i)^k$", "\u212a", True),
        (r"^.$", "\U0001f600", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Q\C\E", r"\C", True),
        (r"^\\C$", r"\C", True),
        ("^(?P<n>a)$", "a", True),
        ("a{1000}", "a" * 1000, True),
        ("[[:word:]]", "_", True),
    ],
)
def test_search(source: str, text: str, expected: bool) -> None:
    assert compiled(source).search(text) is expected


@pytest.mark.parametrize(
    "source",
    ["(", ")", "[", "a**", "*", "a{1001}", "(a{100}){100}", r"\1", r"\Z", r"(?=a)", r"(?!a)", "(?<!a)b",
    r"\C", r"a\C",
     r"\Qx\E\C", r"\p{Foo}", "[z-a]", "[[:foo:]]", r"\8", "(?P<é>a)", "(?P=n)", "\\"],
)  # fmt: skip
def test_refused(source: str) -> None:
    error = compile_pattern(source)
    assert isinstance(error, PatternError)
    assert error.reason.startswith("error parsing regexp: ")
    assert len(error.reason) > len("error parsing regexp: ")


def test_lone_surrogates_become_replacement_characters() -> None:
    assert compiled("^\ufffd$").search("\ud800")
    assert compiled("^\ud800$").search("\ufffd")
    assert go_text("a\ud83d\ude00\udc00") == "a\U0001f600\ufffd"
    assert go_text("plain") == "plain"


def test_compiles_once() -> None:
    assert compile_pattern("^once$") is compile_pattern("^once$")


def test_hostile_patterns_are_linear() -> None:
    """An engine that backtracks does not come to an end here, and the limit on every test ends it."""
    for source in ("(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*){500}z", "(a|aa)+$"):
        assert not compiled(source).search("x" * 20_000 + "!")
        assert not compiled(source).search("a" * 20_000 + "!")


def test_large_patterns_work_though_not_kept() -> None:
    large = compiled(r"^\pL{1000}$")
    assert large.search("é" * 1000)
    assert not large.search("é" * 999)
    assert repr(large) == r"Pattern('^\\pL{1000}$')"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("(?<=x)a", "invalid named capture: `(?<=x)a`"),
        ("a(?<!x)b", "invalid named capture: `(?<!x)b`"),
        ("x(?<=y>z)", "invalid named capture: `(?<=y>`"),
        ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
    ],
)
def test_words_of_go(source: str, said: str) -> None:
    """As Go 1.22 and newer answer."""
    assert compile_pattern(source) == PatternError(f"error parsing regexp: {said}")

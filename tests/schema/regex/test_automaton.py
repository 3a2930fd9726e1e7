"""The automata of patterns against google-re2: whatever the text, both say the same about it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patterns import NEAR, PATTERNS, disagreements, oracle, texts

from crdcompat.schema.re2 import PatternError, compile_pattern
from crdcompat.schema.regex import Unsupported
from crdcompat.schema.regex.automaton import PatternAutomaton, pattern_automaton
from crdcompat.schema.regex.syntax_tree import parse

TRICKY = [
    "", "a", "^Allow|Deny$", "^0|([0-9]+)+$", "[a-z0-9]([-a-z0-9]*[a-z0-9])?", "^(?i)(abc)$", r"\p{L}", "^$",
    "(^a|b$)", r"\bfoo\b", "(?m)^a$", "(?s).", ".", "a{0}", r"[^\n]", "^", "$", "^^a$$", "a^b", "a$b", "(?m)a$^b",
    "(?m)a$\n^b", r"\b", r"\B", r"\b\B", r"a\Bb", r"\Ba\b", r"^\b", r"\b$", r"^\B$", r"(\b|x)*y", r"(?m)^\b",
    r"\Aa\z", r"(?m)\Aa\z", "(?m)(^a|b$)+", "(|a)+", "(a|)*b", "(a*)*", "(a*)+$", "(^a)*b", "(a$)?b",
    "^(a|ab)(c|bcd)$", "^(?:a?){3}a{3}$", "^a{2,3}$", "^a{2,}$", "^a{0,2}$", "^(ab){2}$", "a{,2}", "a{", "{", "a{1",
    "a{01}", "^a{2}?$", "^a+?$", "^a??$", "^[]a]$", "^[^]a]$", "^[a-]$", "^[-a]$", "^[a-c-e]$", "^[A-Za-z0-9-_]+$",
    r"^[\d-z]$", r"^[\w.]+$", r"^[^\w]$", r"^[\W\d]$", r"^[^\W_]$", r"\s", r"^[\s\S]$", r"^[\]\[\\^-]$",
    "^[[:alpha:]]$", "^[[:^alpha:]x]$", "^[^[:punct:]\\s]$", "^[[:word:][:space:]]$", "^[[:alpha]$", "^[[.a.]]$",
    "^[a[:digit:]-z]$", r"^\pL$", r"^\PL$", r"^\p{^Greek}$", r"^\P{^Greek}$", r"^[\p{Lu}\d]$", r"^[^\pL]$",
    r"^\p{Any}$", r"^[\pN-a]$", "^(?i)k$", "(?i)^ſ$", r"(?i)^\x{212a}$", "(?i)^[k-s]$", "(?i)^[^k]$", "(?i)^[^ks]$",
    r"(?i)^\w$", r"(?i)^\W$", "(?i)^[[:lower:]]$", "(?i)^[[:^lower:]]$", r"(?i)^\p{Lu}$", r"(?i)^\P{Lu}$",
    r"(?i)^[^\p{Ll}]$", "(?i)^σ$", "(?i)^[α-ω]$", "(?i)^ǆ$", "(?i)^ß$", "(?i)^İ$", "(?i)^Ω$", "(?i)é", "^(?i:a)b$",
    "^(a(?i)b|c)d$", "^(?i)a(?-i)b$", "(?i-s:a.)", "(?s)a.b", "a.b", "(?s:.)(?-s:.)$", "(?U)^a+$", "(?im)^a$", "(?)a",
    r"^\Qa.b\E$", r"^\Qa+\E+$", r"\Q", r"\Qa\\E", r"(?i)\Qk\E", r"^\x41\x{42}\103\012$", r"^\a\f\t\n\r\v$", r"^\07$",
    r"^\0$", r"^\_\-\/\.$", r"\x{D800}", r"^[\x{D7FF}-\x{E000}]$", r"[^\x00-\x{10FFFF}]", "(?P<n>a)(?<m>b)$",
    r"^\*(?:\.a)+$|^b", "x*", "(x+x+)+y", "^(a|b|c)*abc(a|b|c)*$", "((((a))))", "^[^a]*$",
    "^[\U0001f600-\U0001f64f]$", "^€$", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("pattern", TRICKY)
def test_agrees_on_tricky_patterns(pattern: str) -> None:
    assert disagreements(pattern, texts(pattern, 100)) == []


@pytest.mark.parametrize(
    "pattern", [r"\p{Greek}", r"(?i)\p{Lu}", r"[^\pL\d]", "(?i)[a-zα-ωⅰ]", r"(?i)[^\x{100}-\x{24f}]", r"\w", r"(?i)\W"]
)
def test_agrees_on_every_code_point(pattern: str) -> None:
    own, judge = pattern_automaton(pattern), oracle(pattern)
    codes = [*range(0x2500), *range(0x2500, 0xD800, 37), *range(0xE000, 0x110000, 211)]
    assert [code for code in codes if own.matches(chr(code)) != judge.search(chr(code))] == []


@settings(max_examples=500, derandomize=True, suppress_health_check=list(HealthCheck))
@given(PATTERNS, st.lists(st.text(NEAR, max_size=8), max_size=4), st.integers(0, 99))
def test_agrees_on_generated_patterns(pattern: str, others: list[str], seed: int) -> None:
    compiled = compile_pattern(pattern)
    if isinstance(compiled, PatternError):
        with pytest.raises(Unsupported):
            PatternAutomaton(pattern)
    else:
        assert disagreements(pattern, texts(pattern, 12, seed) + others) == []


def test_lone_surrogates_are_replacement_characters() -> None:
    assert pattern_automaton("^\ufffd$").matches("\ud800")
    assert pattern_automaton("^\ud800$").matches("\ufffd")
    assert not pattern_automaton(r"\x{D800}").matches("\ud800")


@pytest.mark.parametrize("pattern", ["(", "a**", r"\C", "(?=a)", "a{1001}", r"\p{Foo}", "[z-a]", "(?P<é>a)"])
def test_what_does_not_compile_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(Unsupported, match="error parsing regexp: "):
        parse(pattern)

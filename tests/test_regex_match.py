"""The automata of patterns against google-re2: whatever the text, both say the same about it."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern
from crdcompat.schema.regex import Unsupported
from crdcompat.schema.regex.automaton import PatternAutomaton, pattern_automaton
from crdcompat.schema.regex.nodes import Alternate, Assert, Chars, Concat, Node, Repeat
from crdcompat.schema.regex.parse import parse

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

_NEAR = "abcdkKsSxyz019_-. \n\r\t\v\x00.]^\\[+{},Ee\u212aſéÉβΒςσΣΩ\u2126ǅǆßẞİıµμ€\ufffd\ud7ff\ue000\U0001f600\U0010ffff"


def oracle(pattern: str) -> Pattern:
    compiled = compile_pattern(pattern)
    assert isinstance(compiled, Pattern), compiled
    return compiled


def sample(node: Node, rng: random.Random) -> str:
    """A text that a tree matches if its assertions hold."""
    match node:
        case Chars(chars=chars):
            low, high = rng.choice(chars) if chars else (120, 120)
            return chr(rng.choice((low, high, rng.randint(low, high))))
        case Concat(items=items):
            return "".join(sample(item, rng) for item in items)
        case Alternate(items=items):
            return sample(rng.choice(items), rng)
        case Repeat(item=item, least=least, most=most):
            extra = rng.choice((0, 0, 1, 2)) if most is None else rng.choice((0, most - least, min(1, most - least)))
            return "".join(sample(item, rng) for _ in range(least + extra))
        case Assert():
            return ""
    raise AssertionError(node)


def mutated(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    char = rng.choice(_NEAR if rng.random() < 0.6 else string.printable)
    return rng.choice(
        (
            text, text + char, char + text, text[:at] + char + text[at:], text[:at] + text[at + 1 :],
            text[:at] + char + text[at + 1 :], text + text, text[:at], text[at:], text + "\n", "\n" + text,
            text.swapcase(),
        )
    )  # fmt: skip


def texts(pattern: str, count: int, seed: int = 0) -> list[str]:
    """Members, near members, and others."""
    rng = random.Random(f"{pattern}{seed}")
    tree = parse(pattern)
    made = ["", "\n", *_NEAR]
    for _ in range(count):
        text = sample(tree, rng)
        made += [text, mutated(text, rng), mutated(mutated(text, rng), rng)]
        made.append("".join(rng.choices(_NEAR, k=rng.randint(1, 6))))
    return made


def disagreements(pattern: str, given_texts: list[str]) -> list[str]:
    own, judge = pattern_automaton(pattern), oracle(pattern)
    if r"\B" in pattern:
        # RE2 also looks for \B between the bytes of one character; Go does not.
        given_texts = [text for text in given_texts if text.isascii()]
    return [text for text in given_texts if own.matches(text) != judge.search(text)]


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


_ATOMS = st.sampled_from(
    [
        "a", "b", "k", "S", "0", "_", "-", "é", "σ", ".", "^", "$", r"\b", r"\B", r"\A", r"\z", r"\d", r"\W", r"\s",
        r"\pL", r"\P{Lu}", "[a-c]", "[^a]", "[^b-z0]", "[[:alpha:]_]", r"[\w-]", r"[^\s\d]", r"\n", "\n", r"\x{212a}",
        r"\Qa.\E", "", "(?i)", "(?s)", "(?m)", "(?-i)",
    ]
)  # fmt: skip


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    opened = st.sampled_from(["(", "(?:", "(?i:", "(?m:", "(?s-i:", "(?P<n>"])
    repetition = st.sampled_from(["*", "+", "?", "*?", "{2}", "{0}", "{1,3}", "{2,}", "{0,2}?"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(opened, inner, st.just(")")).map("".join),
        st.tuples(inner, repetition).map(lambda each: f"(?:{each[0]}){each[1]}"),
    )


PATTERNS = st.recursive(_ATOMS, _extended, max_leaves=12)


@settings(max_examples=500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(PATTERNS, st.lists(st.text(_NEAR, max_size=8), max_size=4), st.integers(0, 99))
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

"""Random patterns and texts, and google-re2 as the oracle for both."""

from __future__ import annotations

import random
import string

from hypothesis import strategies as st

from crdcompat.schema.re2 import Pattern, compile_pattern
from crdcompat.schema.regex.automaton import pattern_automaton
from crdcompat.schema.regex.nodes import Alternate, Assert, Chars, Concat, Node, Repeat
from crdcompat.schema.regex.syntax_tree import parse

NEAR = "abcdkKsSxyz019_-. \n\r\t\v\x00.]^\\[+{},Ee\u212aſéÉβΒςσΣΩ\u2126ǅǆßẞİıµμ€\ufffd\ud7ff\ue000\U0001f600\U0010ffff"


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
    char = rng.choice(NEAR if rng.random() < 0.6 else string.printable)
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
    made = ["", "\n", *NEAR]
    for _ in range(count):
        text = sample(tree, rng)
        made += [text, mutated(text, rng), mutated(mutated(text, rng), rng)]
        made.append("".join(rng.choices(NEAR, k=rng.randint(1, 6))))
    return made


def disagreements(pattern: str, given_texts: list[str]) -> list[str]:
    own, judge = pattern_automaton(pattern), oracle(pattern)
    if r"\B" in pattern:
        # RE2 also looks for \B between the bytes of one character; Go does not.
        given_texts = [text for text in given_texts if text.isascii()]
    return [text for text in given_texts if own.matches(text) != judge.search(text)]


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

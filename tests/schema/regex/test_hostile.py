"""Patterns made to exhaust: each question about them costs bounded work and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import operations
import pytest

from crdcompat.schema.regex import Language, compare, compare_languages, finite, members

_WORDS = ["a" * length for length in range(50)]
HOSTILE: dict[str, Callable[[], str]] = {
    "optional repetitions": lambda: "^" + "(a?){1000}" * 4 + "$",
    "too many positions": lambda: "(a?){1000}" * 12,
    "nested repetitions": lambda: "^((a{1,10}){1,10}){1,10}$",
    "exponential states": lambda: "(a|b)*a(a|b){500}$",
    "a late letter": lambda: "a.{999}$",
    "ten thousand alternatives": lambda: "^(" + "|".join(f"w{number}x" for number in range(10_000)) + ")$",
    "many alternatives": lambda: "^(" + "|".join(f"w{number}" for number in range(900)) + ")$",
    "thousands of characters": lambda: "^(" + "|".join(chr(0x4E00 + at) for at in range(4900)) + ")$",
    "folded characters": lambda: "(?i)^(" + "|".join(chr(0x1E00 + at) for at in range(900)) + ")$",
    "five thousand groups": lambda: "(" * 5000 + "a" + ")" * 5000,
    "deep repetitions": lambda: "(?:" * 900 + "a" + ")*" * 900,
    "deep sequences": lambda: "(?:b" * 500 + "a" + ")*" * 500,
    "overlapping classes": lambda: "".join(f"[\\x{{0}}-\\x{{{100 + at * 3:x}}}]" for at in range(2500)),
    "repeated classes": lambda: (
        "^(?:" + "|".join(f"[\\x{{{at}}}-\\x{{{100 + at * 3:x}}}]" for at in range(2500)) + ")*$"
    ),
    "unicode classes": lambda: "".join(rf"[\pL\x{{{0x2500 + at:x}}}]" for at in range(280)),
    "a thousand letters": lambda: r"^\pL{1000}$",
    "five thousand stars": lambda: ".*" * 5000,
    "nested stars": lambda: "((((a*)*)*)*)*",
    "empty repetitions": lambda: "(()|){1000}",
    "boundaries": lambda: r"\b" * 10_000,
    "alternative boundaries": lambda: r"(\b|a|\B|^|$){1000}",
    "prime cycles": lambda: "^(" + "|".join(f"(?:a{{{p}}})+" for p in (2, 3, 5, 7, 11, 13, 17, 19, 23)) + ")$",
    "long members": lambda: "^[ab]{9}" + "a" * 900 + "$",
    "a long pattern": lambda: "a" * 100_000,
}  # fmt: skip

QUESTIONS: dict[str, Callable[[str], object]] = {
    "finite": finite,
    "members": lambda pattern: list(members([pattern], limit=5)),
    "long members": lambda pattern: list(members([pattern], min_length=140, limit=5)),
    "compared": lambda pattern: compare("^[a-z]+$", pattern),
    "with itself": lambda pattern: compare(pattern + "|^zzz$", pattern),
    "with another": lambda pattern: compare("(a|b)*b(a|b){12}$", pattern),
    "with strings": lambda pattern: compare_languages(Language.from_strings(_WORDS), Language.from_pattern(pattern)),
    "with lengths": lambda pattern: compare_languages(Language.from_lengths(3, 99_999), Language.from_pattern(pattern)),
}

#: The question that costs most makes about 4 million calls and needs 60 MB.
_CALLS, _MEGABYTES = 12_000_000, 200
#: Every how many questions one is asked, another one of the next pattern; ``make fuzz`` asks all.
_EVERY = 1 if "CRDCOMPAT_FUZZ" in os.environ else 3

_MEASURE = """
import json, resource, sys
sys.path[:0] = {paths!r}
from operations import operations
from test_hostile import HOSTILE, QUESTIONS
from crdcompat.schema.re2 import compile_pattern

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)

pattern = HOSTILE[{name!r}]()
for each in (pattern, pattern + "|^zzz$"):
    compile_pattern(each)  # what google-re2 needs for this is not measured here
before, calls = megabytes(), {{}}
for question, ask in [*QUESTIONS.items()][{start} :: {every}]:
    with operations() as done:
        ask(pattern)
    calls[question] = done.calls
print(json.dumps([calls, megabytes() - before]))
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_work_and_memory_are_bounded(name: str) -> None:
    paths = [str(Path(file).parent) for file in (__file__, operations.__file__)]
    code = _MEASURE.format(paths=paths, name=name, start=[*HOSTILE].index(name) % _EVERY, every=_EVERY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    calls, megabytes = json.loads(done.stdout)
    assert max(calls.values()) < _CALLS, calls
    assert megabytes < _MEGABYTES, megabytes

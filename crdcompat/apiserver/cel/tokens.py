"""Rewriting of rules on their tokens, from Kubernetes' CEL to that of the CEL library.

Functions of Kubernetes with an optional result return a list here (`[]` or `[x]`), and `[?0]` after the call makes
the optional. A few functions get other names.
"""

from __future__ import annotations

import re

from msgspec import Struct

from crdcompat.apiserver.cel import library_convert

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<string>
        (?:[rR][bB]?|[bB][rR])(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n]*"|'[^'\n]*')
      | [bB]?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    )
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NUL = re.compile(r"(\\+)(?:x00|u0000|U00000000|000)")  # escapes of rules and of their patterns
_OPEN, _CLOSE = "([{", ")]}"
_LOOKBEHIND = 2  # tokens
#: What a NUL is to the CEL library, which ends strings at one: in the data and in the strings of rules.
NUL = "\x02"

#: Functions of Kubernetes whose result is an optional.
_OPTIONAL_RESULT = (("validate", "."), ("named", "format."))
#: Functions that Kubernetes has for lists too, but the CEL library's string extension only for strings,
#: and one whose errors cel-go words with numbers.
SHARED = {
    "charAt": "k8sCharAt",
    "indexOf": "k8sIndexOf",
    "lastIndexOf": "k8sLastIndexOf",
    "substring": "k8sSubstring",
}


def with_nul(text: str) -> str:
    """A text of the CEL library with the NULs of the data, plain and as an escape in Go's quotes."""
    return text.replace(NUL, "\0").replace("\\x02", "\\x00")


class Token(Struct):
    kind: str
    text: str


def tokens(rule: str) -> list[Token]:
    """The tokens of a rule; spaces and comments are tokens of the kind ``space``."""
    return [Token(match.lastgroup or "other", match.group()) for match in _TOKEN.finditer(rule)]


def rewrite(rule: str, *, optional_old: bool = False, guard_has: bool = False) -> str:
    """The text of a rule for the CEL library.

    ``optional_old`` makes oldSelf an optional. ``guard_has`` replaces has(e.f) by a function that raises the error of a
    member whose data does not fit its schema.
    """
    found = [Token("space", "\n") if t.kind == "space" else t for t in tokens(rule)]
    known = {token.text for token in found if token.kind == "name"}
    opaque = known & {"ip", "cidr"}
    orders = any(token.kind == "other" and token.text in "<>" for token in found)
    closing = _closing(found)
    after: dict[int, str] = {}
    for at, token in enumerate(found):
        if token.kind == "string" and "\\" in token.text:
            token.text = _NUL.sub(rf"\1x{ord(NUL):02x}", token.text)
        if token.kind != "name":
            continue
        before = _previous(found, at)
        call = _next(found, at, "(")
        if call is not None and any(token.text == name and before.endswith(end) for name, end in _OPTIONAL_RESULT):
            after[closing.get(call, call)] = "[?0]"
        elif call is not None and before.endswith(".") and token.text in SHARED:
            token.text = SHARED[token.text]
        elif call is not None and token.text in library_convert.RENAMED and not before.endswith("."):
            token.text = (library_convert.ORDERED if orders else library_convert.RENAMED)[token.text]
        elif call is not None and token.text == "string" and opaque and not before.endswith("."):
            token.text = "k8sString"
        elif call is not None and token.text == "has" and guard_has and not before.endswith("."):
            _guard(found, at, closing.get(call, call))
        elif optional_old and token.text == "oldSelf" and not before.endswith("."):
            token.text = "__old[?0]"
    return "".join(token.text + after.get(at, "") for at, token in enumerate(found))


def _closing(found: list[Token]) -> dict[int, int]:
    """Index of each opening bracket -> index of its closing bracket."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for at, token in enumerate(found):
        if token.kind != "other":
            continue
        if token.text in _OPEN:
            stack.append(at)
        elif token.text in _CLOSE and stack:
            pairs[stack.pop()] = at
    return pairs


def _previous(found: list[Token], at: int) -> str:
    near: list[str] = []
    while at > 0 and len(near) < _LOOKBEHIND:
        at -= 1
        if found[at].kind != "space":
            near.insert(0, found[at].text)
    return "".join(near)


def _next(found: list[Token], at: int, text: str) -> int | None:
    at += 1
    while at < len(found) and found[at].kind == "space":
        at += 1
    return at if at < len(found) and found[at].text == text else None


def _guard(found: list[Token], at: int, end: int) -> None:
    """has ( E . f )  ->  k8sHas ( E , "f" )."""
    last = end - 1
    while last > at and found[last].kind == "space":
        last -= 1
    dot = last - 1
    while dot > at and found[dot].kind == "space":
        dot -= 1
    if found[last].kind == "name" and found[dot].text == ".":
        found[at].text = "k8sHas"
        found[dot].text = ","
        found[last] = Token("string", f'"{found[last].text}"')

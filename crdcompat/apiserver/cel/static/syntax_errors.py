"""Errors of the CEL library's parser, translated to those of cel-go's parser.

The parser of cel-go before 0.16 (Kubernetes up to 1.27) does not know the optional syntax ``.?``, ``[?`` and ``{?``;
the parser of 1.28 knows it, but new rules must not use it. Recorded on API servers 1.26 to 1.36.
"""

from __future__ import annotations

import re

_HAS = "has() argument must be a field selection"
_HEAD = re.compile(r"^ERROR: <input>:(\d+):(\d+): (.*)$", re.MULTILINE)
#: A mark of the optional syntax, and the end of an operand before it.
_OPTIONAL = re.compile(r"(?P<operand>[\w\])}]\s*+)?(?P<mark>[.\[{]\?)")
_HAS_AT_BRACKET_UNTIL, _UNREADABLE_UNTIL = 28, 27
_STARTS = ("'['", "'{'", "'('", "'.'", "'-'", "'!'", "'true'", "'false'", "'null'")
_LITERALS = ("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER")

#: An error: its offset in the text of the rule, and its message.
Issue = tuple[int, str]


def issues(text: str, report: str, minor: int) -> list[Issue] | None:
    """The errors of the expression ``text`` as cel-go reports them; None if ``report`` has none.

    ``report`` is the message of the CEL library, ``minor`` that of the Kubernetes server."""
    found = [(_offset(text, int(line), int(column)), sentence) for line, column, sentence in _HEAD.findall(report)]
    if not found:
        return None
    if all(sentence.startswith("unsupported syntax") for _, sentence in found):
        return _of_optionals(text, minor)
    return [_worded(text, *each, minor) for each in found]


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1


def _worded(text: str, offset: int, sentence: str, minor: int) -> Issue:
    if sentence == _HAS:
        bracket = text.rfind("has(", 0, offset) + len("has")
        return (bracket if minor <= _HAS_AT_BRACKET_UNTIL else offset), "invalid argument to has() macro"
    if minor <= _UNREADABLE_UNTIL:
        return offset, re.sub(r"no viable alternative at input '\.\s*(.+)'", r"missing IDENTIFIER at '\1'", sentence)
    return offset, sentence


def _of_optionals(text: str, minor: int) -> list[Issue]:
    """An error for each mark of the optional syntax outside of strings."""
    bare = re.sub(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", lambda found: " " * len(found[0]), text)
    return [
        _of_optional(found.start("mark"), found["mark"], minor, has_operand=found["operand"] is not None)
        for found in _OPTIONAL.finditer(bare)
    ]


def _of_optional(at: int, mark: str, minor: int, *, has_operand: bool) -> Issue:
    is_index = mark == "[?" and has_operand
    if minor > _UNREADABLE_UNTIL:
        return (at, f"unsupported syntax '{mark}'") if mark == ".?" or is_index else (at + 1, "unsupported syntax '?'")
    wanted = "IDENTIFIER" if mark == ".?" else f"{{{', '.join((*_expected(mark, is_index=is_index), *_LITERALS))}}}"
    return at + 1, f"Syntax error: extraneous input '?' expecting {wanted}"


def _expected(mark: str, *, is_index: bool) -> tuple[str, ...]:
    """The tokens that may follow a bracket, in the order in which cel-go lists them."""
    first, second, third, fourth, *others = _STARTS
    if is_index:
        return _STARTS
    if mark == "[?":
        return (first, "']'", second, third, fourth, "','", *others)
    return (first, second, "'}'", third, fourth, "','", *others)

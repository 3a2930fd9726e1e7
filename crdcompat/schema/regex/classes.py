r"""Character classes and escapes of RE2: ``[a-z]``, ``[[:alpha:]]``, ``\d``, ``\pL``, ``\x{2603}``.

Only called on patterns that RE2 accepts, so what cannot be read is refused, not explained.
"""

from __future__ import annotations

from crdcompat.schema.regex.charset import ANY, WORD, CharSet, Range, charset, negate
from crdcompat.schema.regex.errors import Unsupported
from crdcompat.schema.regex.tables import fold, unicode_class

_PERL: dict[str, CharSet] = {"d": ((48, 57),), "s": ((9, 10), (12, 13), (32, 32)), "w": WORD}

_POSIX: dict[str, CharSet] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}

_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_OCTAL = frozenset("01234567")


def shorthand(text: str, at: int, folded: bool) -> tuple[CharSet, int] | None:
    r"""The class that an escape at ``at`` stands for (``\d``, ``\PL``, ...) and where it ends; None if it is none."""
    letter = text[at + 1 : at + 2]
    perl = _PERL.get(letter.lower()) if letter else None
    if perl is not None:
        chars = fold(perl) if folded else perl
        return (chars if letter.islower() else negate(chars)), at + 2
    if letter not in ("p", "P"):
        return None
    if text[at + 2 : at + 3] == "{":
        end = text.index("}", at)
        name, end = text[at + 3 : end], end + 1
    else:
        name, end = text[at + 2 : at + 3], at + 3
    negated = letter == "P"
    if name.startswith("^"):
        name, negated = name[1:], not negated
    chars = ANY if name == "Any" else unicode_class(name, folded)
    return (negate(chars) if negated else chars), end


def escaped(text: str, at: int) -> tuple[int, int]:
    """The code point of an escape for one character at ``at``, and where the escape ends."""
    letter = text[at + 1]
    if letter in _CONTROLS:
        return _CONTROLS[letter], at + 2
    if letter in _OCTAL:
        end = at + 2
        while end < at + 4 and text[end : end + 1] in _OCTAL:
            end += 1
        return int(text[at + 1 : end], 8), end
    if letter == "x":
        if text[at + 2] == "{":
            end = text.index("}", at)
            return int(text[at + 3 : end], 16), end + 1
        return int(text[at + 2 : at + 4], 16), at + 4
    if letter.isascii() and not letter.isalnum():
        return ord(letter), at + 2
    raise Unsupported(f"the escape \\{letter}")


def bracketed(text: str, at: int, folded: bool) -> tuple[CharSet, int]:
    """The set of a bracket expression whose ``[`` is at ``at``, and where it ends."""
    at += 1
    negated = text[at : at + 1] == "^"
    at += negated
    found: list[Range] = []
    first = True
    while first or text[at] != "]":
        first = False
        named = _posix(text, at, folded) or (shorthand(text, at, folded) if text[at] == "\\" else None)
        if named is not None:
            chars, at = named
            found.extend(chars)
            continue
        low, at = _character(text, at)
        high = low
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] != "]":
            high, at = _character(text, at + 1)
        found.extend(fold(charset([(low, high)])) if folded else [(low, high)])
    chars = charset(found)
    return (negate(chars) if negated else chars), at + 1


def _character(text: str, at: int) -> tuple[int, int]:
    return escaped(text, at) if text[at] == "\\" else (ord(text[at]), at + 1)


def _posix(text: str, at: int, folded: bool) -> tuple[CharSet, int] | None:
    if text[at : at + 2] != "[:":
        return None
    end = text.find(":]", at + 2)
    if end < 0:
        return None
    name = text[at + 2 : end]
    chars = _POSIX.get(name.removeprefix("^"))
    if chars is None:
        raise Unsupported(f"the class [:{name}:]")
    chars = fold(chars) if folded else chars
    return (negate(chars) if name.startswith("^") else chars), end + 2

"""The errors of Go's ``netip.ParseAddr``. Source: Go's net/netip/netip.go."""

from __future__ import annotations

from crdcompat.apiserver import gotext
from crdcompat.apiserver.ascii_sets import DIGITS, HEX

_WORDS = 8  # 16-bit fields of an IPv6 address


class AddressError(Exception):
    """The text is no address; the message is Go's."""


def check(text: str) -> None:
    """Raise AddressError if ``netip.ParseAddr`` refuses the text."""
    try:
        _check(text)
    except _MisfitError as misfit:
        message, rest = misfit.args
        at = f" (at {gotext.quote(rest)})" if rest else ""
        raise AddressError(f"ParseAddr({gotext.quote(text)}): {message}{at}") from None


class _MisfitError(Exception):
    """What is wrong, and the rest of the text from there ("" if Go does not show it)."""


def _check(text: str) -> None:
    for char in text:
        if char == ".":
            _check_v4(text)
            return
        if char == ":":
            _check_v6(text)
            return
        if char == "%":
            raise _MisfitError("missing IPv6 address", "")
    raise _MisfitError("unable to parse IP", "")


def _check_v4(text: str) -> None:
    dots, digits = 0, ""
    for at, char in enumerate(text):
        if char in DIGITS:
            if digits == "0":
                raise _MisfitError("IPv4 field has octet with leading zero", "")
            digits += char
            if int(digits) > 255:
                raise _MisfitError("IPv4 field has value >255", "")
        elif char == ".":
            if at in (0, len(text) - 1) or text[at - 1] == ".":
                raise _MisfitError("IPv4 field must have at least one digit", text[at:])
            if dots == 3:
                raise _MisfitError("IPv4 address too long", "")
            dots, digits = dots + 1, ""
        else:
            raise _MisfitError("unexpected character", text[at:])
    if dots < 3:
        raise _MisfitError("IPv4 address too short", "")


def _check_v6(text: str) -> None:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _MisfitError("zone must be a non-empty string", "")
    ellipsis = rest.startswith("::")
    if ellipsis:
        rest = rest[2:]
        if not rest:
            return
    words = 0
    while words < _WORDS:
        size = next((at for at, char in enumerate(rest) if char not in HEX), len(rest))
        if size > 4:
            raise _MisfitError("each group must have 4 or less digits", rest)
        if size == 0:
            raise _MisfitError("each colon-separated field must have at least one digit", rest)
        if rest[size : size + 1] == ".":
            if not ellipsis and words != _WORDS - 2:
                raise _MisfitError("embedded IPv4 address must replace the final 2 fields of the address", rest)
            if words + 2 > _WORDS:
                raise _MisfitError("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
            _check_v4(rest)
            words, rest = words + 2, ""
            break
        words, rest = words + 1, rest[size:]
        if not rest:
            break
        if rest[0] != ":":
            raise _MisfitError("unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _MisfitError("colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis:
                raise _MisfitError("multiple :: in address", rest)
            ellipsis, rest = True, rest[1:]
            if not rest:
                break
    if rest:
        raise _MisfitError("trailing garbage after address", rest)
    if words < _WORDS and not ellipsis:
        raise _MisfitError("address string too short", "")
    if words == _WORDS and ellipsis:
        raise _MisfitError("the :: must expand to at least one field of zeros", "")

"""Network addresses, host names and URIs, as in Go's ``net`` and ``net/url`` and in kube-openapi."""

from __future__ import annotations

import string

from crdcompat.apiserver.ascii_sets import ALNUM, DIGITS, HEX
from crdcompat.schema.re2 import Pattern, compile_pattern

_SCHEME_REST = ALNUM | frozenset("+-.")
_HOST = ALNUM | frozenset("!$&'()*+,;=:[]<>\"-_.~")
_USER_INFO = ALNUM | frozenset("-._:~!$&'()*+,;=%@")

# A single label may have a dash only as its second character; the last of several labels has only letters. Code checks
# the lengths of labels, because a pattern with {0,62} of all letters and symbols takes a tenth of a second to compile.
_HOSTNAME_CHAR, _HOSTNAME_LETTER = r"a-zA-Z0-9\p{S}\p{L}", r"a-zA-Z\p{L}"
_HOSTNAME = (
    rf"^(?:[{_HOSTNAME_CHAR}]-?[{_HOSTNAME_CHAR}]*"
    rf"|(?:[{_HOSTNAME_CHAR}](?:[-{_HOSTNAME_CHAR}]*[{_HOSTNAME_CHAR}])?\.)+[{_HOSTNAME_LETTER}][{_HOSTNAME_LETTER}]+)$"
)


def is_hostname(text: str) -> bool:
    if len(text.encode()) > 255 or any(len(label.encode()) > 63 for label in text.split(".")):
        return False
    pattern = compile_pattern(_HOSTNAME)
    return isinstance(pattern, Pattern) and pattern.search(text)


def is_ipv4(text: str) -> bool:
    """An IP address with a dot, so also ``::ffff:1.2.3.4``. Leading zeros are allowed."""
    return "." in text and is_sloppy_ip(text)


def is_ipv6(text: str) -> bool:
    return ":" in text and _is_v6(text, sloppy=False)


def is_ip(text: str) -> bool:
    """Go's ``net.ParseIP``."""
    return _is_v6(text, sloppy=False) if ":" in text else _is_v4(text, sloppy=False)


def is_sloppy_ip(text: str) -> bool:
    """An IP address as Go before 1.17 parses it: leading zeros are allowed."""
    dot, colon = text.find("."), text.find(":")
    if colon >= 0 and (dot < 0 or colon < dot):
        return _is_v6(text, sloppy=True)
    return dot >= 0 and _is_v4(text, sloppy=True)


def is_cidr(text: str) -> bool:
    address, slash, mask = text.partition("/")
    if not slash or not mask or not DIGITS.issuperset(mask):
        return False
    if _is_v4(address, sloppy=True):
        return _number(mask) <= 32
    return _is_v6(address, sloppy=True) and _number(mask) <= 128


def _is_v4(text: str, *, sloppy: bool) -> bool:
    parts = text.split(".", 4)
    return len(parts) == 4 and all(_is_octet(part, sloppy=sloppy) for part in parts)


def _is_octet(text: str, *, sloppy: bool) -> bool:
    if not text or not DIGITS.issuperset(text):
        return False
    return _number(text) <= 255 and (sloppy or len(text) == 1 or text[0] != "0")


def _number(digits: str) -> int:
    """A decimal number, capped at 10**6: all limits are smaller."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= 6 else 10**6


def _is_v6(text: str, *, sloppy: bool) -> bool:
    head, gap, tail = text.partition("::")
    if not gap:
        return _groups(text, sloppy=sloppy) == 8
    if "::" in tail:
        return False
    before = _groups(head, sloppy=sloppy, last=False) if head else 0
    after = _groups(tail, sloppy=sloppy) if tail else 0
    return before >= 0 and after >= 0 and before + after <= 7


def _groups(text: str, *, sloppy: bool, last: bool = True) -> int:
    """The number of 16-bit groups in a part of an IPv6 address; -1 if it is malformed.

    An IPv4 address at the end of the last part (``last``) counts as two.
    """
    parts = text.split(":", 9)
    count = len(parts)
    if last and "." in parts[-1]:
        if not _is_v4(parts.pop(), sloppy=sloppy):
            return -1
        count += 1
    for part in parts:
        if not part or not HEX.issuperset(part):
            return -1
        if len(part.lstrip("0") if sloppy else part) > 4:
            return -1
    return count


def is_mac(text: str) -> bool:
    """EUI-48, EUI-64 or a 20-octet InfiniBand address: ``aa:bb:…``, ``aa-bb-…`` or ``aabb.ccdd.…``."""
    if len(text) < 14:
        return False
    separator, width = (text[2], 2) if text[2] in ":-" else (text[4], 4)
    if width == 4 and separator != ".":
        return False
    parts = text.split(separator, 20)
    return len(parts) * width in (12, 16, 40) and all(len(part) == width and HEX.issuperset(part) for part in parts)


def is_uri(text: str) -> bool:
    """Go's ``url.ParseRequestURI``: an absolute URI (opaque ones, too), an absolute path, or ``*``."""
    if not text or any(char < " " or char == "\x7f" for char in text):
        return False
    if text == "*":
        return True
    if text[0] == ":":
        return False
    scheme, rest = _scheme(text)
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return scheme != ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        if not _is_authority(authority):
            return False
        rest = slash + path
    return _escapes_are_whole(rest)


def _scheme(text: str) -> tuple[str, str]:
    head, colon, rest = text.partition(":")
    if colon and head[0] in string.ascii_letters and _SCHEME_REST.issuperset(head):
        return head, rest
    return "", text


def _is_authority(text: str) -> bool:
    user, at, host = text.rpartition("@")
    if at and not (_USER_INFO.issuperset(user) and _escapes_are_whole(user)):
        return False
    if host.startswith("["):
        inner, bracket, port = host.rpartition("]")
        if not bracket or not _is_port(port):
            return False
        address, zone_mark, zone = inner.partition("%25")
        return _is_host(address) and (not zone_mark or _is_host(zone, zone=True))
    colon = host.rfind(":")
    return (colon < 0 or _is_port(host[colon:])) and _is_host(host)


def _is_port(text: str) -> bool:
    return not text or (text[0] == ":" and DIGITS.issuperset(text[1:]))


def _is_host(text: str, *, zone: bool = False) -> bool:
    """Whether the text is a valid host, or a valid IPv6 ``zone``.

    A host may escape only bytes beyond ASCII; a zone only spaces and bytes that are valid in a host.
    """
    at = 0
    while at < len(text):
        char = text[at]
        if char != "%":
            if char < "\x80" and char not in _HOST:
                return False
            at += 1
            continue
        code = text[at + 1 : at + 3]
        if len(code) != 2 or not HEX.issuperset(code):
            return False
        escaped = chr(int(code, 16))
        allowed = escaped == " " or escaped in _HOST if zone else escaped >= "\x80"
        if code != "25" and not allowed:
            return False
        at += 3
    return True


def _escapes_are_whole(text: str) -> bool:
    return all(len(part) >= 2 and HEX.issuperset(part[:2]) for part in text.split("%")[1:])

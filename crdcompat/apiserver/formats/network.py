"""Network addresses, host names and URIs, as in Go's ``net`` and ``net/url`` and in kube-openapi."""

from __future__ import annotations

from crdcompat.apiserver.ascii_sets import DIGITS, HEX
from crdcompat.apiserver.cel import gourl
from crdcompat.schema.re2 import Pattern, compile_pattern

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


def is_uri(text: str, *, strict: bool) -> bool:
    """Go's ``url.ParseRequestURI``: an absolute URI (opaque ones, too), an absolute path, or ``*``."""
    try:
        gourl.parse_request_uri(text, strict=strict)
    except gourl.URLError:
        return False
    return True

"""Strings for CEL rules that parse text: for each function, values that it reads, the usual ones first, then odd ones.

Rules about addresses, numbers and times agree on the usual values and differ in the odd ones, such as a number with a
leading zero. The values only guide a search: callers judge them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_IPS = ("10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2", "0.0.0.0", "::", "10.0.0.01", "64:ff9b::10.0.0.1", "FD00::1")
_CIDRS = (
    "10.0.0.0/16", "10.0.0.0/24", "fd00::/64", "fd00::/48", "10.0.0.1/16", "0.0.0.0/0", "10.0.0.0/32", "fd00::/128",
    "10.0.0.0/016", "fd00::/064", "1:2:3:4:5:6:7::/64", "64:ff9b::10.0.0.0/120", "10.0.0.0a/16", "10000::/64",
)  # fmt: skip
_URLS = (
    "https://example.com", "http://example.com", "https://example.com:8443/a?b=c", "https://user@example.com",
    "https://[fd00::1]/", "/a", "example.com", "https://example.com/#a", "ftp://example.com", "HTTPS://example.com",
)  # fmt: skip
_QUANTITIES = ("1", "1Gi", "100m", "0", "-1", "1.5Gi", "1e3", "10Ti", "1ki")
_DURATIONS = ("1s", "1h", "0s", "1h30m", "100ms", "-1s", "1000h", "1d")
_TIMES = ("2006-01-02T15:04:05Z", "2006-01-02T15:04:05.5+01:00", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z")

_BY_FUNCTION: dict[str, tuple[str, ...]] = {
    "ip": _IPS,
    "isIP": _IPS,
    "cidr": _CIDRS,
    "isCIDR": _CIDRS,
    "url": _URLS,
    "isURL": _URLS,
    "quantity": _QUANTITIES,
    "isQuantity": _QUANTITIES,
    "semver": ("1.2.3", "0.0.0", "1.2.3-rc.1", "v1.2.3", "1.2", "99.0.0", "01.2.3"),
    "isSemver": ("1.2.3", "0.0.0", "1.2.3-rc.1", "v1.2.3", "1.2", "99.0.0", "01.2.3"),
    "duration": _DURATIONS,
    "timestamp": _TIMES,
    "int": ("1", "0", "-1"),
    "lowerAscii": ("a", "A"),
    "upperAscii": ("A", "a"),
}
#: A pattern that a rule searches for in the string that it judges; one that must not be found is no hint.
_MATCHES = re.compile(
    r"""(?<![\w!.])self\.matches\(\s*(?P<raw>[rR]?)(?P<quote>["'])(?P<text>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)"""
)
_ESCAPED = re.compile(r"""\\([\\"'`?])""")
_CALL = re.compile(r"(?<![\w'\"])(?P<name>\w+)\s*\(")
#: Rules that take addresses apart without a function for them.
_SPLITS = (
    (re.compile(r"""split\(\s*['"]/['"]"""), _CIDRS),
    (re.compile(r"""split\(\s*['"][.:]['"]"""), _IPS),
)
#: The length of a prefix in a rule: a limit of it.
_PREFIX = re.compile(r"(?:prefixLength\(\)|\bx)\s*[<>]=?\s*(\d{1,3})")


def rule_patterns(rule: str) -> Iterator[str]:
    """The patterns that a rule on a string searches for in it, as RE2 reads them: those of ``self.matches('…')``."""
    for found in _MATCHES.finditer(rule):
        yield unescaped(found["text"], raw=bool(found["raw"]))


def unescaped(text: str, *, raw: bool) -> str:
    """The text of a string literal of CEL as RE2 reads it; ``raw``: the literal begins with ``r``."""
    return text if raw else _ESCAPED.sub(r"\1", text)


def rule_values(rule: str) -> Iterator[str]:
    """Strings that a rule may parse, in the order of the functions it calls; none for most rules."""
    for call in _CALL.finditer(rule):
        yield from _BY_FUNCTION.get(call["name"], ())
    for pattern, found in _SPLITS:
        if pattern.search(rule):
            yield from found
    if "/" in rule or "prefixLength" in rule:
        for limit in _PREFIX.findall(rule):
            yield from (f"{host}/{int(limit) + step}" for host in ("10.0.0.0", "fd00::") for step in (0, 1))

"""Strings for CEL rules that parse text: for each function, values that it reads, the usual ones first, then odd ones.

Rules about addresses, numbers and times agree on the usual values and differ in the odd ones, such as a number with a
leading zero. The values only guide a search: callers judge them.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.cel.rule import Rule

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
#: Rules that take addresses apart without a function for them, by the text between the parts.
_BY_SEPARATOR = {"/": _CIDRS, ".": _IPS, ":": _IPS}
_MAX_PREFIX, _OF_PATTERN = 999, 2


def rule_patterns(rule: Rule) -> Iterator[str]:
    """The patterns that a rule on a string searches for in it, as RE2 reads them; not those that must not match."""
    return (found.text for found in rule.patterns if not (found.place or found.part or found.negated))


def pattern_values(rule: Rule) -> Iterator[str]:
    """Strings with the patterns that a rule searches for."""
    texts = dict.fromkeys(found.text for found in rule.patterns if found.part is None)
    if not texts:
        return
    from crdcompat.schema.regex import members  # the import of automata costs time, and few rules need them

    for text in texts:
        yield from members((text,), min_length=0, max_length=None, limit=_OF_PATTERN)


def rule_values(rule: Rule) -> Iterator[str]:
    """Strings that a rule may parse, in the order of the functions it calls; none for most rules."""
    for call in rule.calls:
        yield from _BY_FUNCTION.get(call, ())
    yield from dict.fromkeys(text for at in rule.separators for text in _BY_SEPARATOR.get(at, ()))
    if "/" in rule.separators or "prefixLength" in rule.calls:
        for limit in rule.limits:
            if 0 <= limit <= _MAX_PREFIX:
                yield from (f"{host}/{limit + step}" for host in ("10.0.0.0", "fd00::") for step in (0, 1))

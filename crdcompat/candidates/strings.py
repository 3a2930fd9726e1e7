"""Strings that a schema accepts, the shortest and plainest first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice, product

from crdcompat.candidates.mentions import rule_patterns, rule_values
from crdcompat.candidates.plausible import plausible_strings
from crdcompat.cel.rule import Rule
from crdcompat.cel.uses import rule_of
from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern
from crdcompat.schema.structural import Node

#: Strings that together match most patterns and formats of real CRDs; the shortest and plainest first.
POOL = (
    "a", "A", "x", "0", "1", "", "aa", "a1", "a.b", "a-b", "a/b", "A_B", "example", "Example", "example.com",
    "*.example.com", "a.example.com", "https://example.com", "https://example.com/", "http://example.com:8080/",
    "oci://example.com/a", "user@example.com", "10.0.0.1", "10.0.0.0/8", "10.0.0.0/16", "10.128.0.0/14",
    "192.168.0.0/24", "fd00::1", "fd00::/64", "fd00::/48", "::1", "2001:db8::/32", "2006-01-02T15:04:05Z",
    "2006-01-02", "1s", "1h", "1m0s", "24h", "5m", "0s", "P1D", "1.2.3", "v1.2.3", "v1", "v1alpha1", "4.14.0",
    "1Gi", "100m", "50%", "80", "8080", "443", "* * * * *", "0 * * * *", "@daily", "YQ==",
    "00000000-0000-0000-0000-000000000000", "11111111-2222-3333-4444-555555555555", "00:00:00:00:00:00",
    "0a:0b:0c:0d:0e:0f", "#ffffff", "arn:aws:iam::123456789012:role/a", "us-east-1", "us-east-1a", "vpc-1234",
    "ami-1234", "sha256:" + "a" * 64, "example.com/a@sha256:" + "a" * 64, "a" * 64, "/a", "/a/b", "/", "a:b",
    "a=b", "key", "Ready", "example.com/name", "64:ff9b:1:2:3:4:1.2.3.4", "0000", "1.1", "0.0.0.0/0", "0:0", "1:1",
    "1-2", "a@b", "kube-system", "rule-a", "TLSv1.2",
)  # fmt: skip

#: Characters of a string at most, and members of a pattern's language at most.
_MAX_LENGTH, _MAX_MEMBERS = 100_000, 8
#: Members of the language of one part of a string.
_OF_PART = 4


def strings(node: Node) -> Iterator[str]:
    """Strings that fit: plausible ones, those of the format or ``POOL``, the shortest of the patterns' language."""
    least, most, patterns = string_limits(node)
    compiled = [compile_pattern(pattern) for pattern in patterns]
    if any(isinstance(each, PatternError) for each in compiled) or least > _MAX_LENGTH:
        return
    preferred = _BY_FORMAT.get(node.format.replace("-", ""), ())
    seen: set[str] = set()
    rules = [rule for raw in node.rules if (rule := rule_of(raw.get("rule"))) is not None]
    hints = [pattern for rule in rules for pattern in rule_patterns(rule)]
    usual = _usual((*patterns, *hints), preferred or POOL, least, most) if hints else []
    yield from usual
    for hint in hints:
        seen.update(_members((*patterns, hint), min_length=least, max_length=most, limit=4))
    yield from sorted(seen.difference(usual), key=lambda text: (len(text), text))
    seen.update(usual)
    parsed = [*_with_parts(sorted(seen), rules), *(value for rule in rules for value in rule_values(rule))]
    for text in (*plausible_strings(node), *parsed, *(preferred or POOL)):
        padded = (text, text * max(math.ceil(least / len(text)), 1) if text else "", text.ljust(least, "a"))
        for candidate in dict.fromkeys(padded):
            fits = least <= len(candidate) <= (math.inf if most is None else most)
            if (
                candidate not in seen
                and fits
                and all(isinstance(each, Pattern) and each.search(candidate) for each in compiled)
            ):
                seen.add(candidate)
                yield candidate
    if patterns:
        found = _members(patterns, min_length=least, max_length=most, limit=_MAX_MEMBERS)
        yield from (text for text in found if text not in seen)


def _usual(patterns: Iterable[str], texts: Iterable[str], least: int, most: int | None) -> list[str]:
    """The first of these texts that all patterns are found in."""
    compiled = [compile_pattern(pattern) for pattern in patterns]
    fitting = (text for text in texts if least <= len(text) <= (math.inf if most is None else most))
    found = (text for text in fitting if all(isinstance(each, Pattern) and each.search(text) for each in compiled))
    return [*islice(found, 1)]


def _with_parts(texts: Iterable[str], rules: Iterable[Rule]) -> Iterator[str]:
    """The texts with parts between separators that have the patterns which rules search for in these parts."""
    wanted: dict[tuple[str, int], tuple[str, ...]] = {}
    for pattern in (pattern for rule in rules for pattern in rule.patterns):
        if pattern.part is not None and pattern.part[0] and not (pattern.place or pattern.negated):
            wanted[pattern.part] = (*wanted.get(pattern.part, ()), pattern.text)
    made = {at: [*_members(found, min_length=1, max_length=None, limit=_OF_PART)] for at, found in wanted.items()}
    for text, nth in product(texts if wanted else (), range(_OF_PART)):
        for (separator, index), members in made.items():
            parts = text.split(separator)
            if index < len(parts) and nth < len(members) and separator not in members[nth]:
                parts[index] = members[nth]
                text = separator.join(parts)
        yield text


def _members(patterns: tuple[str, ...], *, min_length: int, max_length: int | None, limit: int) -> Iterator[str]:
    from crdcompat.schema.regex import members  # the import of automata costs time, and few runs need them

    return members(patterns, min_length=min_length, max_length=max_length, limit=limit)


def string_limits(node: Node) -> tuple[int, int | None, tuple[str, ...]]:
    """The least and the greatest length (None: no limit) and the patterns of a string node with its allOf branches."""
    least, most, patterns = 0, None, []
    for holder in (node, *node.all_of):
        least = max(least, holder.count("minLength") or 0)
        limit = holder.count("maxLength")
        most = limit if most is None or (limit is not None and limit < most) else most
        if isinstance(holder.raw.get("pattern"), str):
            patterns.append(holder.raw["pattern"])
    return least, most, tuple(patterns)


_BY_FORMAT: dict[str, tuple[str, ...]] = {
    "datetime": ("2006-01-02T15:04:05Z",),
    "date": ("2006-01-02",),
    "duration": ("1h", "1s", "1.5h"),
    "byte": ("YQ==", "YWFh"),
    "ipv4": ("10.0.0.1",),
    "ipv6": ("fd00::1", "::ffff:10.0.0.1"),
    "cidr": ("10.0.0.0/8", "fd00::/64", "::ffff:10.0.0.0/104"),
    "uri": ("https://example.com", "/a"),
    "email": ("user@example.com",),
    "hostname": ("example.com",),
    "mac": ("0a:0b:0c:0d:0e:0f",),
    "uuid": ("11111111-2222-3333-4444-555555555555",),
    "uuid4": ("11111111-2222-4333-8444-555555555555",),
}

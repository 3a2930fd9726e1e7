"""Texts that ip(), cidr(), semver() and quantity() cannot read: the errors are those of API server 1.36."""

from __future__ import annotations

import pytest
from helpers import crd, obj, root, string

import crdcompat

_ONCE = "network address parse error during conversion from string: "
_TWICE = 2 * _ONCE
_PATTERN = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"

#: By rule: the text, and the error; "" if it can be read. For ip() the end of the error alone.
_TEXTS: dict[str, dict[str, str]] = {
    "ip(self).family() > 0": {
        "": "unable to parse IP",
        "1": "unable to parse IP",
        "1.2.3": "IPv4 address too short",
        "1.2.3.4.5": "IPv4 address too long",
        "1..2.3": 'IPv4 field must have at least one digit (at ".2.3")',
        "01.2.3.4": "IPv4 field has octet with leading zero",
        "256.1.1.1": "IPv4 field has value >255",
        ".1.2.3": 'IPv4 field must have at least one digit (at ".1.2.3")',
        "1.2.3.": 'IPv4 field must have at least one digit (at ".")',
        "1.2.3.a": 'unexpected character (at "a")',
        "%eth0": "missing IPv6 address",
        "::1%": "zone must be a non-empty string",
        "::1%eth0": 'IP address "::1%eth0" with zone value is not allowed',
        "1:2:3:4:5:6:7:8:9": 'trailing garbage after address (at "9")',
        "1:2:3:4:5:6:7": "address string too short",
        "1::2::3": 'multiple :: in address (at ":3")',
        "12345::": 'each group must have 4 or less digits (at "12345::")',
        "::g": 'each colon-separated field must have at least one digit (at "g")',
        "1:2:3:4:5:6:7:1.2.3.4": 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
        "::1.2.3.4": "",
        "1:": 'colon must be followed by more characters (at ":")',
        "1:2:3:4:5:6:7::8": "the :: must expand to at least one field of zeros",
        "::ffff:1.2.3": "IPv4 address too short",
        "fe80::1%25": 'IP address "fe80::1%25" with zone value is not allowed',
        "1.2.3.4/24": 'unexpected character (at "/24")',
        " 1.2.3.4": 'unexpected character (at " 1.2.3.4")',
    },
    "cidr(self).prefixLength() >= 0": {
        "": _TWICE + "netip.ParsePrefix(\"\"): no '/'",
        "10.0.0.0": _TWICE + "netip.ParsePrefix(\"10.0.0.0\"): no '/'",
        "10.0.0.0/": _TWICE + 'netip.ParsePrefix("10.0.0.0/"): bad bits after slash: ""',
        "10.0.0.0/33": _TWICE + 'netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
        "10.0.0.0/08": _TWICE + 'netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"',
        "10.0.0.0/a": _TWICE + 'netip.ParsePrefix("10.0.0.0/a"): bad bits after slash: "a"',
        "10.0.0.0/-1": _TWICE + 'netip.ParsePrefix("10.0.0.0/-1"): bad bits after slash: "-1"',
        "::/129": _TWICE + 'netip.ParsePrefix("::/129"): prefix length out of range',
        "::1%a/64": _TWICE + 'netip.ParsePrefix("::1%a/64"): IPv6 zones cannot be present in a prefix',
        "10.0.0/8": _TWICE + 'netip.ParsePrefix("10.0.0/8"): ParseAddr("10.0.0"): IPv4 address too short',
        "::ffff:1.2.3.4/96": _ONCE + 'IPv4-mapped IPv6 address "::ffff:1.2.3.4/96" is not allowed',
        "/8": _TWICE + 'netip.ParsePrefix("/8"): ParseAddr(""): unable to parse IP',
        "1.2.3.4/8/8": _TWICE
        + 'netip.ParsePrefix("1.2.3.4/8/8"): ParseAddr("1.2.3.4/8"): unexpected character (at "/8")',
        "10.0.0.0/+8": _TWICE + 'netip.ParsePrefix("10.0.0.0/+8"): bad bits after slash: "+8"',
    },
    "semver(self).major() >= 0": {
        "": "Version string empty",
        "1": "No Major.Minor.Patch elements found",
        "1.2": "No Major.Minor.Patch elements found",
        "1.2.3.4": 'Invalid character(s) found in patch number "3.4"',
        "v1.2.3": 'Invalid character(s) found in major number "v1"',
        "01.2.3": 'Major number must not contain leading zeroes "01"',
        "1.02.3": 'Minor number must not contain leading zeroes "02"',
        "1.2.03": 'Patch number must not contain leading zeroes "03"',
        "1.2.a": 'Invalid character(s) found in patch number "a"',
        "a.2.3": 'Invalid character(s) found in major number "a"',
        "1.b.3": 'Invalid character(s) found in minor number "b"',
        "1.2.3-": "Prerelease is empty",
        "1.2.3-01": 'Numeric PreRelease version must not contain leading zeroes "01"',
        "1.2.3-a..b": "Prerelease is empty",
        "1.2.3-a_b": 'Invalid character(s) found in prerelease "a_b"',
        "1.2.3+": "Build meta data is empty",
        "1.2.3+a_b": 'Invalid character(s) found in build meta data "a_b"',
        "1.2.3+a..b": "Build meta data is empty",
        "18446744073709551616.0.0": 'strconv.ParseUint: parsing "18446744073709551616": value out of range',
        "1..3": 'strconv.ParseUint: parsing "": invalid syntax',
        "1.2.3-rc.1+b.2": "",
        "-1.2.3": 'Invalid character(s) found in major number "-1"',
    },
    "sign(quantity(self)) < 9": {
        "": _PATTERN,
        "1": "",
        "1KI": _PATTERN,
        "1ki": _SUFFIX,
        "1K": _SUFFIX,
        "1 Gi": _PATTERN,
        "1e": _SUFFIX,
        "1e3.5": _PATTERN,
        "1E": "",
        "Gi": "",
        "-": "",
        "+": "",
        ".": "",
        "1..2": _PATTERN,
        "1.2.3": _PATTERN,
        "0x10": _PATTERN,
        "1e400": "",
        "1e-400": "",
        "--1": _SUFFIX,
        "1Gi1": _SUFFIX,
        "12345678901234567890123": "",
        "1n": "",
        "1e2147483648": "",
    },
}


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in _TEXTS.items() for text in texts])
def test_texts(rule: str, text: str) -> None:
    rules = {"x-kubernetes-validations": [{"rule": rule, "message": "broken"}]}
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"v": text}}
    verdict = crdcompat.judge(crd(root(spec=obj(v=string(**rules)))), "create", widget, kubernetes="1.36")
    assert not verdict.unknown
    said = [error.detail.removesuffix(" evaluating rule: broken") for error in verdict.errors]
    expected = _TEXTS[rule][text]
    if said and said[0].startswith("IP Address"):
        quoted = f'"{text}"'
        expected = f"IP Address {quoted} parse error during conversion from string: ParseAddr({quoted}): {expected}"
    assert said == [expected] if expected else said == []

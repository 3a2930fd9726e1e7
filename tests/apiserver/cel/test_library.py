"""Kubernetes' CEL functions: what each answers, most cases from the functions' own documentation."""

from __future__ import annotations

import re

import pytest

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.cel.environment import _introduced, functions_of
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.parse import parse
from crdcompat.schema.structural import Node

HOLDS = {
    "regex": [
        "'abc 123'.find('[0-9]+') == '123'",
        "'abc 123'.find('xyz') == ''",
        "'123 abc 456'.findAll('[0-9]+') == ['123', '456']",
        "'123 abc 456'.findAll('[0-9]+', 1) == ['123']",
        "'123 abc 456'.findAll('[0-9]+', 0) == []",
        "'123 abc'.findAll('xyz') == []",
        "'ab'.findAll('x*') == ['', '', '']",
        "'äöü'.find('ö') == 'ö'",
    ],
    "lists": [
        "[1, 2, 3].isSorted()",
        "['a', 'b', 'b', 'c'].isSorted()",
        "![2.0, 1.0].isSorted()",
        "[].isSorted()",
        "[1, 3].sum() == 4",
        "[1.0, 3.0].sum() == 4.0",
        "[duration('1m'), duration('1s')].sum() == duration('61s')",
        "[].sum() == 0",
        "[1, 3].min() == 1",
        "['b', 'a'].max() == 'b'",
        "[1, 2, 2, 3].indexOf(2) == 1",
        "['a', 'b', 'b', 'c'].lastIndexOf('b') == 2",
        "[1.0].indexOf(1.1) == -1",
        "[].indexOf('string') == -1",
        "[{'a': 1}].indexOf({'a': 1}) == 0",
        "[[1], [2]].lastIndexOf([2]) == 1",
        "[true].indexOf(1) == -1",
    ],
    "conversions": [
        "int('+7') == 7 && int(1.9) == 1 && int(timestamp('1970-01-01T00:00:05Z')) == 5 && int(3u) == 3",
        "double('1_000') == 1000.0 && double('.5') == 0.5 && double('0x1p4') == 16.0 && double(2) == 2.0",
        "double('Inf') > 1.0 && double('-infinity') < 0.0",
        "timestamp('2024-01-02T03:04:05.5+01:00') == timestamp('2024-01-02T02:04:05.5Z')",
        "timestamp(5) == timestamp('1970-01-01T00:00:05Z')",
    ],
    "strings": [
        "'hello mellow'.indexOf('ello') == 1",
        "'hello mellow'.indexOf('ello', 2) == 7",
        "'hello mellow'.indexOf('') == 0",
        "'hello mellow'.lastIndexOf('ello') == 7",
        "'hello mellow'.lastIndexOf('ello', 6) == 1",
        "'hello mellow'.lastIndexOf('jello') == -1",
        "'TacoCat'.lowerAscii() == 'tacocat'",
        "'a,b'.split(',') == ['a', 'b']",
        "['x', 'y'].join('-') == 'x-y'",
        "'hello'.replace('l', 'L', 1) == 'heLlo'",
        "'tacocat'.substring(4) == 'cat'",
        "'  x '.trim() == 'x'",
        "'äö'.size() == 2",
        "'%s-%d'.format(['a', 1]) == 'a-1'",
    ],
    "urls": [
        "isURL('https://user:pass@example.com:80/path?query=val#fragment')",
        "isURL('/absolute-path')",
        "!isURL('https://a:b:c/')",
        "!isURL('../relative-path')",
        "!isURL('')",
        "!isURL('http://a b/')",
        "!isURL('http://h/%zz')",
        "!isURL('http://[::1')",
        "isURL('mailto:a@b')",
        "url('/path').getScheme() == ''",
        "url('HTTPS://example.com/').getScheme() == 'https'",
        "url('https://example.com:80/').getHost() == 'example.com:80'",
        "url('https://[::1]:80/').getHost() == '[::1]:80'",
        "url('https://[::1]:80/').getHostname() == '::1'",
        "url('https://u:p@127.0.0.1:80/').getHostname() == '127.0.0.1'",
        "url('https://example.com:80/').getPort() == '80'",
        "url('https://example.com/').getPort() == ''",
        "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
        "url('https://example.com/a%2Fb#c').getEscapedPath() == '/a%2Fb'",
        "url('https://example.com').getEscapedPath() == ''",
        "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
        "url('https://e.com/path?key with spaces=v+w').getQuery() == {'key with spaces': ['v w']}",
        "url('https://example.com/path?').getQuery() == {}",
        "url('https://example.com/path?a=1;b=2&c=3').getQuery() == {'c': ['3']}",
        "url('https://a/') == url('https://a/')",
    ],
    "ip": [
        "isIP('127.0.0.1')",
        "isIP('::1')",
        "!isIP('127.0.0.256')",
        "!isIP('127.0.0.01')",
        "!isIP(':::1')",
        "!isIP('fe80::1%eth0')",
        "!isIP('::ffff:1.2.3.4')",
        "!isIP('١.2.3.4')",
        "ip('::1') == ip('0:0:0:0:0:0:0:1')",
        "ip.isCanonical('127.0.0.1')",
        "ip.isCanonical('2001:db8::abcd')",
        "!ip.isCanonical('2001:DB8::ABCD')",
        "!ip.isCanonical('2001:db8::0:0:0:abcd')",
        "ip('127.0.0.1').family() == 4",
        "ip('::1').family() == 6",
        "ip('0.0.0.0').isUnspecified() && !ip('127.0.0.1').isUnspecified()",
        "ip('127.9.0.1').isLoopback() && !ip('2001:db8::abcd').isLoopback()",
        "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
        "ip('ff02::1').isLinkLocalMulticast() && !ip('fd00::1').isLinkLocalMulticast()",
        "ip('169.254.169.254').isLinkLocalUnicast() && !ip('fd80::1').isLinkLocalUnicast()",
        "ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
        "ip('2001:db8::abcd').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()",
        "string(ip('2001:DB8::1')) == '2001:db8::1'",
        "string(ip('1.2.3.4')) + string(1) == '1.2.3.41'",
    ],
    "cidr": [
        "isCIDR('192.168.0.0/16') && isCIDR('::1/128')",
        "!isCIDR('192.168.0.0/33') && !isCIDR('::1/129')",
        "!isCIDR('192.168.0.0/08') && !isCIDR('192.168.0.0') && !isCIDR('fe80::%a/10')",
        "!isCIDR('::ffff:1.2.3.4/24')",
        "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))",
        "!cidr('192.168.0.0/24').containsIP('192.168.1.1')",
        "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24'))",
        "!cidr('192.168.1.0/24').containsCIDR('192.168.2.0/24')",
        "!cidr('192.168.1.0/24').containsCIDR('192.168.0.0/16')",
        "!cidr('0.0.0.0/0').containsIP('::1')",
        "cidr('192.168.0.1/24').ip() == ip('192.168.0.1')",
        "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')",
        "cidr('192.168.0.1/24') != cidr('192.168.0.1/24').masked()",
        "cidr('::1/128').prefixLength() == 128",
        "string(cidr('192.168.0.1/24')) == '192.168.0.1/24'",
    ],
    "quantity": [
        "isQuantity('1.3G') && isQuantity('1.3Gi') && isQuantity('10000k')",
        "isQuantity('1e3') && isQuantity('-.5')",
        "!isQuantity('1,3G') && !isQuantity('200K') && !isQuantity('Three')",
        "isQuantity('Mi') && isQuantity('.') && !isQuantity('')",  # no digits at all are 0
        "quantity('1k').isInteger() && quantity('1Ti').isInteger() && !quantity('1Pi').isInteger()",
        "!quantity('1000m').isInteger() && !quantity('1.0').isInteger() && quantity('1000m') == quantity('1')",
        "quantity('1').add(quantity('2')).isInteger() && !quantity('1').add(quantity('1.0')).isInteger()",
        "quantity('50k').add(quantity('20k')) == quantity('70k')",
        "quantity('50k').add(20) == quantity('50020')",
        "quantity('50k').sub(20000) == quantity('30k')",
        "quantity('200M').compareTo(quantity('0.2G')) == 0",
        "quantity('50M').compareTo(quantity('50Mi')) == -1",
        "quantity('150Mi').isGreaterThan(quantity('100Mi'))",
        "quantity('50M').isLessThan(quantity('100M'))",
        "quantity('50k').isInteger() && quantity('50k').asInteger() == 50000",
        "!quantity('9999999999999999999999999999999999999G').isInteger()",
        "!quantity('0.5').isInteger()",
        "quantity('50k').asApproximateFloat() == 50000.0",
        "sign(quantity('-1')) == -1 && quantity('0').sign() == 0",
        "quantity('1Ki') == quantity('1024')",
        "quantity('1E') == quantity('1000P')",
    ],
    "format": [
        "!format.dns1123Label().validate('my-label-name').hasValue()",
        "format.dns1123Label().validate('contains_underscore').hasValue()",
        "format.dns1123Label().validate('A').value()[0].startsWith('a lowercase RFC 1123 label must')",
        "format.dns1123Label().validate('a.b').value() == ['must not contain dots']",
        "!format.dns1035LabelPrefix().validate('a-').hasValue()",
        "!format.dns1123Subdomain().validate('apiextensions.k8s.io').hasValue()",
        "format.dns1035Label().validate('1a').hasValue()",
        "!format.qualifiedName().validate('apiextensions.k8s.io/v1beta1').hasValue()",
        "format.qualifiedName().validate('a/b/c').hasValue()",
        "!format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue()",
        "!format.dns1123SubdomainPrefix().validate('mysubdomain.prefix.-').hasValue()",
        "!format.labelValue().validate('').hasValue() && format.labelValue().validate('-').hasValue()",
        "!format.uri().validate('http://example.com').hasValue() && format.uri().validate('x').hasValue()",
        "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
        "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('').hasValue()",
        "!format.date().validate('2021-01-01').hasValue() && format.date().validate('2021-02-30').hasValue()",
        "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue()",
        "format.datetime().validate('2021-01-01T00:00:00').hasValue()",
        "format.named('dns1123Label').hasValue() && !format.named('nope').hasValue()",
        "!format.named('dns1123Label').value().validate('a').hasValue()",
        "format.dns1123Label().validate('A').orValue([]).size() == 1",
    ],
    "semver": [
        "isSemver('1.0.0') && isSemver('0.1.0-alpha.1') && !isSemver('v1.0') && !isSemver('01.1.1')",
        "isSemver('v1.0', true) && semver('01.01.01', true) == semver('1.1.1')",
        "semver('1.00.0', true) == semver('1.0.0') && !isSemver('0a.1.1', true)",
        "!isSemver('1.0.0-01') && !isSemver('1.0.0-') && !isSemver('1-rc', true)",
        "semver('1.2.3').compareTo(semver('2.0.0')) == -1",
        "semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1'))",
        "semver('1.2.3-rc.2').isLessThan(semver('1.2.3-rc.11'))",
        "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
        "semver('1.2.3+a') == semver('1.2.3+b')",
    ],
    "cel extensions": [
        "sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1], [1, 2])",
        "{'a': 1}.?a.orValue(2) == 1 && {'a': 1}.?b.orValue(2) == 2",
        "optional.of(1).hasValue() && !optional.none().hasValue()",
        "optional.of(1).optMap(x, x + 1).value() == 2",
        "[1, 2].all(i, v, i < v) && {'a': 1}.exists(k, v, k == 'a' && v == 1)",
        "[1, 2].transformList(i, v, i + v) == [1, 3]",
        "[3, 1].sort() == [1, 3] && [1, 1].distinct() == [1]",
        "{'a': 1}[?'a'].or(optional.none()).orValue(2) == 1",
        "!optional.ofNonZeroValue(0).hasValue()",
        "optional.of(1).optFlatMap(x, optional.of(x + 1)).value() == 2",
        "strings.quote('a') == '\"a\"'",
        "[1, 2].existsOne(i, v, v > 1)",
        "[1, 2].first().value() == 1 && [1, 2].last().value() == 2",
        "[[1], [2]].flatten() == [1, 2] && [1, 2].reverse() == [2, 1] && [1, 2, 3].slice(1, 2) == [2]",
        "lists.range(2) == [0, 1]",
        "[2, 1].sortBy(x, x) == [1, 2]",
        "1 < 1.5 && 2 > 1.5",
        "type(1) == int && type('a') == string",
    ],
}

#: Rules that hold on a server, and that are not evaluated here: the CEL library has no function for them.
UNKNOWN = [
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    "{'a': 'b'}.transformMapEntry(k, v, {v: k}) == {'b': 'a'}",
]


def outcome(rule: str) -> tuple[list[str], list[str]]:
    server = Server(36)
    schema = Node({"type": "object", "x-kubernetes-validations": [{"rule": rule, "message": "no"}]})
    found = RuleEvaluator(schema, server).evaluate({}, None, ratchet=False)
    return [error.text() for error in found.errors], [unknown.reason for unknown in found.unknown]


@pytest.mark.parametrize("rule", UNKNOWN)
def test_what_is_not_evaluated_is_unknown(rule: str) -> None:
    errors, unknown = outcome(rule)
    assert (errors, len(unknown)) == ([], 1)


def test_each_function_has_a_rule() -> None:
    rules = [*UNKNOWN, *(rule for rules in HOLDS.values() for rule in rules)]
    used = {name for rule in rules for name in (*functions_of(parse(rule).root), *re.findall(r"\w+", rule))}
    assert {name for name in _introduced() if not name.startswith("k8s")} <= used


@pytest.mark.parametrize("rule", [rule for rules in HOLDS.values() for rule in rules])
def test_holds(rule: str) -> None:
    assert outcome(rule) == ([], [])


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("[].min() == 1", "min called on empty list"),
        ("[].max() == 1", "max called on empty list"),
        ("['a'].sum() == 1", "no such overload"),
        (
            "ip('127.0.0.256').family() == 4",
            'IP Address "127.0.0.256" parse error during conversion from string',
        ),
        ("ip('fe80::1%eth0').family() == 6", 'IP address "fe80::1%eth0" with zone value is not allowed'),
        ("ip('::ffff:1.2.3.4').family() == 6", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        ("cidr('1.2.3.4').prefixLength() == 1", "network address parse error during conversion from string"),
        (
            "url('../x').getHost() == ''",
            'URL parse error during conversion from string: parse "../x": invalid URI',
        ),
        ("quantity('200K').sign() == 1", "unable to parse quantity's suffix"),
        ("quantity('Three').sign() == 1", "quantities must match the regular expression"),
        ("int(' 1') == 1", "type conversion error from 'string' to 'int'"),
        ("int(1e30) == 1", "integer overflow"),
        ("double('0x10') > 0.0", "type conversion error from 'string' to 'double'"),
        ("double('1e400') > 0.0", "type conversion error from 'string' to 'double'"),
        (
            "timestamp('2024-01-02t03:04:05z') == timestamp(0)",
            "type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
        ("quantity('0.5').asInteger() == 1", "cannot convert value to integer"),
        ("'a'.find('(') == ''", "Illegal regex: error parsing regexp"),
        ("ip('1.2.3.4').prefixLength() == 1", "no such overload"),
        ("1 / (size('')) == 1", "division by zero"),
        ("1 % (size('')) == 1", "modulus by zero"),
        ("9223372036854775807 + size('a') == 1", "integer overflow"),
        ("[1][size('abc')] == 1", "index out of bounds: 3"),
        ("{'a': 1}['b'] == 1", "no such key: b"),
        ("int('a') == 1", "type conversion error from 'string' to 'int'"),
        ("optional.none().value() == 1", "optional.none() dereference"),
    ],
)
def test_evaluation_errors_are_cel_gos(rule: str, text: str) -> None:
    errors, unknown = outcome(rule)
    assert not unknown
    assert len(errors) == 1
    assert text in errors[0]


def test_errors_are_absorbed_as_in_cel() -> None:
    assert outcome("true || [].min() == 1") == ([], [])
    assert outcome("[].min() == 1 || true") == ([], [])
    assert outcome("!(false && quantity('x').sign() == 1)") == ([], [])

"""What each format accepts: Go's answers, quirks included."""

from __future__ import annotations

import pytest
from operations import operations

from crdcompat.apiserver.formats import CHECKS, matches, supported
from crdcompat.apiserver.server_versions import Server

NEWEST = Server(36)

GOOD: dict[str, list[str]] = {
    "bsonobjectid": ["507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011"],
    "uri": [
        "http://example.com", "http://example.com/a?b=%zz#c", "/abs/path", "*", "foo:bar", "localhost:8080",
        "mailto:a@b",
        "http://user:pa%20ss@h:80/x", "http://[::1]:80/", "http://[fe80::1%25en0]/", "http://h%C3%A9/",
        "//x/y", "http:///x",
        "http://é.example/", "x://h:/", "/é", "http://h/#%41", "http://[::1%25a%20b]/", "tcp://a:b:1/",
    ],
    "email": [
        "a@b", "a.b@c.example", "Name <a@b.c>", '"q s" <a@b>', '"a b"@c', "a@b (comment)", "a@b ((nested))",
        "<a@b>", " a@b ",
        "g: a@b;", "A. B. <a@b>", "=?utf-8?q?a?= <a@b>", "x =?foo?q?a?= <a@b>", "é@ü", "a@[1.2.3.4]",
        "a (c) b <a@b>",
        '"a\\"b"@c', "a@ b", "=?foo?x?a?= <a@b>",
    ],
    "hostname": [
        "localhost", "a", "h1", "1", "a-b", "a-", "example.com", "a-b.c-d.example", "1.example.com",
        "é.example.com", "☃.net",
        "x" * 63 + ".com", "xn--a.example.org",
    ],
    "ipv4": ["1.2.3.4", "0.0.0.0", "255.255.255.255", "01.002.0003.4", "::ffff:1.2.3.4", "::ffff:01.2.3.4"],
    "ipv6": [
        "::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "ABCD::ef",
        "1:2:3:4:5:6:7::",
    ],
    "cidr": [
        "1.2.3.4/8", "10.0.0.0/32", "01.2.3.4/08", "::/0", "fd00::1/128", "::ffff:1.2.3.4/96", "1.2.3.4/0",
    ],
    "mac": [
        "aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF", "aabb.ccdd.eeff", "aa:bb:cc:dd:ee:ff:00:11",
        "aabb.ccdd.eeff.0011",
        ":".join(["0f"] * 20), ".".join(["0f1a"] * 10),
    ],
    "uuid": [
        "12345678-1234-1234-1234-123456789abc", "123456781234123412341234567890AB",
        "12345678-123412341234-123456789ABC",
    ],
    "uuid3": ["12345678-1234-3234-1234-123456789abc"],
    "uuid4": ["12345678-1234-4234-8234-123456789abc", "12345678-1234-4234-B234-123456789abc"],
    "uuid5": ["12345678-1234-5234-9234-123456789abc"],
    "isbn": ["0321751043", "978-0321751041"],
    "isbn10": ["0321751043", "0-321-75104-3", "080442957X", " 0 321\t75104 3"],
    "isbn13": ["978-0321751041", "9780321751041"],
    "creditcard": [
        "4111111111111111", "4111-1111-1111-1111", "378282246310005", "5555555555554444", "6011111111111117",
        "30569309025904",
        "3530111333300000", "card 4111 1111 1111 1111!",
    ],
    "ssn": ["111-22-3333", "111 22 3333", "111-22 3333"],
    "hexcolor": ["#fff", "fff", "#FFFFFF", "abcdef"],
    "rgbcolor": ["rgb(0,0,0)", "rgb( 255 ,12,\t199 )"],
    "byte": ["YQ==", "YWI=", "YWJj", "YWJjZA==", "+/+/"],
    "password": ["", "anything\n"],
    "date": ["2006-01-02", "2000-02-29", "0000-02-29", "9999-12-31"],
    "date-time": [
        "2014-12-15T19:30:20Z", "2014-12-15t19:30:20z", "2014-12-15T19:30:20.000+01:00",
        "2014-12-15T23:59:59-99:99",
        "2014-12-15T19:30:20x5Z", "2014-12-15T19:30:20Ztail", "2014-12-15T19:30:20é12Z",
    ],
    "duration": [
        "1h30m", "0", "+0", "-5s", "1.5h", ".5s", "5.s", "1µs", "1μs", "22 ns", "5 days", "1w2d", "xx 5 s yy",
        "5 secretly", "2Hours",
        "3000000h", "1.99999999999999999999h", "-9223372036854775808ns", "5 µS", "1h99", "P1D",
    ],
    "k8s-short-name": ["a", "0", "a-b", "a" * 63],
    "k8s-long-name": ["a", "a.b", "a-1.b-2", "a" * 253],
}  # fmt: skip

BAD: dict[str, list[str]] = {
    "bsonobjectid": ["", "507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g", "507f1f77bcf86cd7994390111"],
    "uri": [
        "", "foo", "example.com/x", ":x", "1a:b", "http://a b/", "http://h%41/", "/a%2", "/%zz",
        "http://[::1/", "http://a:b/",
        "http://u\x00@h/", "a\x7f:b", "http://u%zz@h/", "http://é@h/", "http://h\n/", "?x", "http://[::1]x/",
        "http://[::1%25%0a]/", "http://[a]/", "http://[1.2.3.4]", "http://[]:80", "http://[::g]", "a://[v1.a]",
        "http://h%4/",
    ],
    "email": [
        "", "a", "@b", "a@", "a b@c", "a@b,", "a@b, c@d", "a.@b", ".a@b", "a..b@c", '""@c', "g:;",
        "g: a@b, c@d;", "a@b (x", "x <a@b",
        "a@b>", "=?foo?q?a?= <a@b>", "a@b (=?foo?q?a?=)", "a@b (=?foo?b?YQ==?=)", "a@[x]", "a@[1.2.3.4",
        '"a@b', "a@b\n", "(c) a@b",
        "a\x00@b",
    ],
    "hostname": [
        "", "-a", "my-host", "a_b.com", "1.2.3.4", "a.-b.com", "a..com", "a.com.", "a.b", "a.c1",
        "x" * 64 + ".com",
        "a." * 127 + "com", "a b", "é" * 64,
    ],
    "ipv4": [
        "", "1.2.3", "1.2.3.4.5", "256.2.3.4", "::1", "1.2.3.x", "1.2.3.4 ", "1..3.4", "300.1.2.3",
        "1.2.3.4/8", "٣.1.1.1",
    ],
    "ipv6": [
        "", "1.2.3.4", "fe80::1%eth0", "1::2::3", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::g",
        "12345::", "::1.2.3.04",
             "::2:3:4:5:6:7:8:9", "1.2.3.4::", ":1", "1:"],
    "cidr": [
        "", "1.2.3.4", "1.2.3.4/", "1.2.3.4/33", "::/129", "1.2.3.4/-1", "1.2.3.4/8/8", "x/8", "/8",
        "::1%a/8", "1.2.3.4/9999999",
    ],
    "mac": [
        "", "aa:bb:cc:dd:ee", "aa:bb-cc:dd:ee:ff", "aabbccddeeff", "aa:bb:cc:dd:ee:fg", "aabb.ccdd.eef",
        "a:b:c:d:e:f:00:11:22",
            "aa:bb:cc:dd:ee:ff:00"],
    "uuid": [
        "", "12345678-1234-1234-1234-123456789ab", "12345678--1234-1234-1234-123456789abc",
        "{12345678-1234-1234-1234-123456789abc}",
    ],
    "uuid3": ["12345678-1234-4234-1234-123456789abc"],
    "uuid4": ["12345678-1234-4234-7234-123456789abc", "12345678-1234-3234-8234-123456789abc"],
    "uuid5": ["12345678-1234-5234-c234-123456789abc"],
    "isbn": ["", "0321751044", "978-0321751042"],
    "isbn10": ["", "0321751044", "X321751043", "978-0321751041", "032175104", "0321751043x", "٠321751043"],
    "isbn13": ["", "9780321751042", "0321751043", "978032175104X"],
    "creditcard": ["", "4111111111111112", "1234567812345678", "41111111111111111111"],
    "ssn": ["", "111223333", "111-223333", "111-22-333", "111-22-33333", "a11-22-3333"],
    "hexcolor": ["", "#", "#ff", "#ffff", "##fff", "#ggg"],
    "rgbcolor": ["", "rgb(256,0,0)", "rgb(01,0,0)", "rgb(0,0)", "RGB(0,0,0)", "rgb(0,0,0", "rgb(0,0,0)\n"],
    "byte": ["", "YQ", "YQ=", "====", "Y===", "YQ==YQ==", "YW J", "YW-_", "YWJj\n", "YQ==\n"],
    "date": [
        "", "2006-1-2", "2006-02-30", "1900-02-29", "2006-13-01", "2006-00-01", "2006-01-00", "2006-01-02T",
        "٢٠٠٦-01-02",
    ],
    "date-time": [
        "", "yesterday", "2014-12-15", "2014-12-15T", "2014-12-15T19:30:20", "2014-12-15T24:00:00Z",
        "2014-12-15T23:60:00Z",
        "2014-12-15T23:00:60Z", "2014-02-30T00:00:00Z", "2014-12-15 19:30:20Z", "2014-12-15T19:30:20+0100",
        "2014-12-15T19:30Z",
        "2022-01-04T00:24:39Zx", "2014-12-15T19:30:20\n5Z", "2014-12-15T19:30:20.Z", "2014-12-15T19:30:20Z\n",
    ],
    "duration": [
        "", "h", "-", "5", "5 apples", ".s", "99999999999999999999h", "9223372036854775808ns", "9999999.h",
        "1h 99999999999999999999s",
        "5\u00a0s", "0.0",
    ],
    "k8s-short-name": ["", "-a", "a-", "A", "a.b", "a" * 64, "a\n"],
    "k8s-long-name": ["", "a.", ".a", "a..b", "A", "a" * 254, "a_b"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_accepts(name: str, text: str) -> None:
    assert matches(name, text, NEWEST)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_rejects(name: str, text: str) -> None:
    assert not matches(name, text, NEWEST)


def test_every_check_has_examples() -> None:
    assert {name.replace("-", "") for name in GOOD} == set(CHECKS)
    assert {name.replace("-", "") for name in BAD} == set(CHECKS) - {"password"}


def test_unknown_format_demands_nothing() -> None:
    assert matches("no-such-format", "x", NEWEST)


@pytest.mark.parametrize("name", ["date-time", "datetime", "d-a-t-e", "ipv4", "byte", "k8s-short-name", "k8slongname"])
def test_string_formats_whatever_the_dashes(name: str) -> None:
    assert supported(name, "string", NEWEST)
    assert supported(name, "", NEWEST)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("date", "integer"), ("int32", "string"), ("quantity", "string"), ("x", "string"), ("date", "object"),
    ("", "string"),
     ("int-32", "integer"), ("float", "integer"), ("int32", "number"), ("byte", "array")],
)  # fmt: skip
def test_unsupported(name: str, kind: str) -> None:
    assert not supported(name, kind, NEWEST)


def test_formats_by_version() -> None:
    assert supported("k8s-short-name", "string", Server(34))
    assert not supported("k8s-short-name", "string", Server(33))
    assert not supported("k8s-long-name", "string", Server(33))
    for name, kind in (("int32", "integer"), ("int64", "integer"), ("float", "number"), ("double", "number")):
        assert supported(name, kind, Server(36))
        assert not supported(name, kind, Server(35))


@pytest.mark.parametrize("text", ["http://fd00::1", "https://u:p@a:1:2/x", "HTTP://a:80:"])
def test_colons_in_the_host_of_a_web_address(text: str) -> None:
    """Kubernetes 1.36 is built with Go 1.26."""
    assert matches("uri", text, Server(35))
    assert not matches("uri", text, Server(36))


def test_lone_surrogates_are_replacement_characters() -> None:
    assert matches("password", "\ud800", NEWEST)
    assert not matches("hostname", "\ud800.com\ud800", NEWEST)
    assert matches("email", "\ud800@b", NEWEST)


@pytest.mark.parametrize("name", sorted(CHECKS))
@pytest.mark.parametrize(
    "unit",
    ["1", "a", "1 ", "a.", "(", '"', "%25", ":", "a:", "-", "=?",
     "a@b,", "T", "\u00e9", " ", "[", "rgb(", "1\u00b5"]
)  # fmt: skip
def test_long_hostile_text_takes_linear_time(name: str, unit: str) -> None:
    for before in ("", "http://", "g: a@b ("):
        work = []
        for count in (5_000, 10_000):
            with operations() as done:
                matches(name, before + unit * count, NEWEST)
            work.append(done.calls)
        assert work[1] <= 2 * work[0] + 100

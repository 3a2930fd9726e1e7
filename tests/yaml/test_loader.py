"""The Go column: each case was read off goyaml.v2's resolve.go and sigs.k8s.io/yaml's conversion to JSON."""

from __future__ import annotations

import math
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from operations import operations

from crdcompat.errors import Problem
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.loader import GoLoader
from crdcompat.yaml.locate import locate
from crdcompat.yaml.scalars import key_text, plain_value

if TYPE_CHECKING:
    from crdcompat.schema.paths import Pointer

SCALARS: list[tuple[str, Any]] = [
    *((word, True) for word in ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")),
    *((word, False) for word in ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")),
    *((word, None) for word in ("", "~", "null", "Null", "NULL")),
    *((word, word) for word in ("tRUE", "yEs", "nULL", "oN", "nil", "None", "Y ES", "yy", "t", "f", "o")),
    ("010", 8),
    ("-010", -8),
    ("0o10", 8),
    ("0O17", 15),
    ("08", 8),
    ("0b11", 3),
    ("-0b11", -3),
    ("0x1F", 31),
    ("0X1f", 31),
    ("0xg", "0xg"),
    ("1_000", 1000),
    ("1__0_", 10),
    ("_1", "_1"),
    ("+1", 1),
    ("-0", 0),
    ("1e3", 1000),
    ("1E-2", 0.01),
    ("1.", 1),
    ("-0.0", 0),
    ("1152921504606846976.0", 1152921504606847000),
    ("9223372036854774784.0", 9223372036854775000),
    ("9223372036854775808.0", 2.0**63),
    (".5", 0.5),
    ("+.5", 0.5),
    (".", "."),
    (".e3", ".e3"),
    ("1.2.3", "1.2.3"),
    ("1e999", "1e999"),
    ("12:30:45", "12:30:45"),
    ("190:20:30.15", "190:20:30.15"),
    ("2001-12-14", "2001-12-14"),
    ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
    ("9223372036854775807", 2**63 - 1),
    ("9223372036854775808", 2**63),
    ("18446744073709551615", 2**64 - 1),
    ("18446744073709551616", 18446744073709551616.0),
    ("99999999999999999999", 1e20),
    ("-9223372036854775808", -(2**63)),
    ("-9223372036854775809", -9223372036854775808.0),
    ("0x10000000000000000", float(2**64)),
    ("=", "="),
    ("<<", "<<"),
    ("infinity", "infinity"),
    ("1٣", "1٣"),  # digits of other scripts are text
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_plain_scalars(text: str, value: Any) -> None:
    found = yaml.load(f"a: {text}", GoLoader)["a"]
    assert found == value
    assert type(found) is type(value)
    assert type(value) is int or plain_value(text) == value


def test_not_a_number() -> None:
    assert [plain_value(text) for text in ("-", "+", "-_", "0x", "0b2", "1-")] == [
        "-",
        "+",
        "-_",
        "0x",
        "0b2",
        "1-",
    ]
    assert math.isnan(plain_value(".NaN"))
    assert plain_value("-.INF") == -math.inf


@pytest.mark.parametrize("text", ["y", "010", "1e3", "~", "=", "<<", "2001-12-14"])
@pytest.mark.parametrize("style", ["'{}'", '"{}"', "|-\n  {}", "!!str {}"])
def test_quoted_scalars_are_text(text: str, style: str) -> None:
    assert yaml.load(f"a: {style.format(text)}", GoLoader) == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!int '010'", 8),
        ("!!float 3", 3),
        ("!!bool yes", True),
        ("!!null ''", None),
        ("!!timestamp 2001-12-14", "2001-12-14"),
        ("!!binary aGVs bG8=", "hello"),
        ("!!binary /w==", "\ufffd"),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!!omap [{a: 1}]", [{"a": 1}]),
        ("!!map {a: 1}", {"a": 1}),
        ("!Ref x", "x"),
        ("!Ref 5", "5"),
        ("!Ref [5]", [5]),
        ("!Ref {x: 5}", {"x": 5}),
        ("!!str {a: b}", {"a": "b"}),
        ("!!map 5", "5"),
        ("!!python/object:os.system x", "x"),
        ("!!python/name:os.system ''", ""),
    ],
)
def test_explicit_tags(text: str, value: Any) -> None:
    assert yaml.load(f"a: {text}", GoLoader) == {"a": value}


@pytest.mark.parametrize(
    "text",
    [
        "!!int x",
        "!!int 1.5",
        "!!bool 1",
        "!!binary ???",
        ".inf",
        "-.Inf",
        ".NaN",
        "[a?b]",
        "{b: a?b}",
        "{~: 1}",
        "{: 1}",
        "{18446744073709551615: 1}",
    ],
)
def test_what_go_refuses_is_a_problem(text: str) -> None:
    good, bad, after = read_documents(f"a: 1\n---\nb:\n  c: {text}\n---\nd: 1\n".encode(), "f.yaml")
    assert isinstance(good, Document) and isinstance(after, Document)
    assert isinstance(bad, Problem)
    assert (bad.file, bad.line) == ("f.yaml", 4)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("on", "true"),
        ("n", "false"),
        ("1", "1"),
        ("010", "8"),
        ("0x10", "16"),
        ("1.5", "1.5"),
        ("1e3", "1000"),
        ("100000.0", "100000"),
        ("1e6", "1e+06"),
        ("1234567.5", "1.2345675e+06"),
        ("0.0001", "0.0001"),
        ("1e-5", "1e-05"),
        ("0.1", "0.1"),
        ("-0.0", "-0"),
        ("16777217.0", "1.6777216e+07"),
        ("3.4028235e38", "3.4028235e+38"),
        ("1e300", ".inf"),
        (".inf", ".inf"),
        ("-.inf", "-.inf"),
        (".nan", ".nan"),
        ("18446744073709551616", "1.8446744e+19"),
        ("'on'", "on"),
        ("2001-12-14", "2001-12-14"),
        ("=", "="),
    ],
)
def test_keys_become_text(key: str, text: str) -> None:
    assert yaml.load(f"{key}: v", GoLoader) == {text: "v"}


def test_key_text_of_the_smallest_floats() -> None:
    assert key_text(0.0) == "0"
    assert key_text(1e-45) == "1e-45"
    assert key_text(1e-60) == "0"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1.2.3.4, 001:db8::]", ["1.2.3.4", "001:db8::"]),
        ("[2001:db8::, fe80::]", ["2001:db8::", "fe80::"]),
        ("{cidr: 2001:db8::}", {"cidr": "2001:db8::"}),
        ("{a:, b: [c:, d e:]}", {"a:": None, "b": ["c:", "d e:"]}),
        ("[a:, [b]]", ["a:", ["b"]]),
        ("[a :, 'b:,', \"c:]\"]", ["a :", "b:,", "c:]"]),
        ('[a:, {"b":[1], "c":{}}]', ["a:", {"b": [1], "c": {}}]),
        ("[&x a:, *x, *x]", ["a:", "a:", "a:"]),
        ("[&x a, &x b:, *x]", ["a", "b:", "b:"]),
    ],
)
def test_scalars_in_brackets_may_end_with_a_colon(text: str, value: Any) -> None:
    (document,) = read_documents(f"# x:, y\na: {text}\nb: x:, y\n".encode(), "f.yaml")
    assert isinstance(document, Document)
    assert document.data == {"a": value, "b": "x:, y"}


def test_places_are_those_of_the_text() -> None:
    text = b"a: [x::, y,\n  z::, t]\n"
    (document,) = read_documents(text, "f.yaml")
    assert isinstance(document, Document) and document.positions is not None
    pointers: list[Pointer] = [("a", 1), ("a", 2), ("a", 3)]
    assert document.positions.find(document.data, pointers) == {
        ("a", 1): (1, 10),
        ("a", 2): (2, 3),
        ("a", 3): (2, 8),
    }
    assert set(locate(text, [(0, pointer) for pointer in pointers]).values()) == {(1, 10), (2, 3), (2, 8)}


def test_a_text_that_holds_every_stand_in_is_a_problem() -> None:
    every = "".join(map(chr, range(0xE000, 0xE100)))
    (found,) = read_documents(f"a: [x::, {every}]\n".encode(), "f.yaml")
    assert isinstance(found, Problem)


def test_merge() -> None:
    text = "base: &b {x: 1, y: 2}\nother: &o {x: 3, z: 4}\none: {<<: *b, x: 9}\nmany: {<<: [*b, *o]}\n"
    assert yaml.load(text, GoLoader) == {
        "base": {"x": 1, "true": 2},
        "other": {"x": 3, "z": 4},
        "one": {"x": 9, "true": 2},
        "many": {"x": 1, "true": 2, "z": 4},
    }
    # Go merges where the merge key stands: it wins over what was set before it.
    assert yaml.load("{x: 1, <<: {x: 2}}", GoLoader) == {"x": 2}
    with pytest.raises(yaml.YAMLError, match="merged"):
        yaml.load("{<<: 1}", GoLoader)
    with pytest.raises(yaml.YAMLError, match="merged"):
        yaml.load("{<<: [{}, 1]}", GoLoader)


@pytest.mark.parametrize("text", ["[a]: b", "{a: b}: c", "{{ .Values.x }}: y", "? [a]\n: b"])
def test_collections_are_no_keys(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="cannot be a key"):
        yaml.load(text, GoLoader)


def test_duplicate_keys_are_remarked_on() -> None:
    (document,) = read_documents(b"a: 1\nb:\n  c: 1\n  'c': 2\non: 1\na: 3\ntrue: 2\n", "f.yaml")
    assert isinstance(document, Document)
    assert document.data == {"a": 3, "b": {"c": 2}, "true": 2}
    assert [(remark.line, remark.message.split("'")[1]) for remark in document.remarks] == [
        (4, "c"),
        (6, "a"),
        (7, "true"),
    ]


def test_a_merged_key_is_no_duplicate() -> None:
    (document,) = read_documents(b"a: &a {x: 1}\nb: {<<: *a, x: 2}\n", "f.yaml")
    assert isinstance(document, Document)
    assert document.remarks == ()


def test_duplicate_anchors_are_accepted() -> None:
    text = b"a: &x {v: 1}\nb: *x\nc: &x [on]\nd: *x\n---\ne: &x 1\nf: *x\n"
    first, second = read_documents(text, "f.yaml")
    assert isinstance(first, Document) and isinstance(second, Document)
    assert first.data == {"a": {"v": 1}, "b": {"v": 1}, "c": [True], "d": [True]}
    assert (second.data, second.index, second.line) == ({"e": 1, "f": 1}, 1, 6)


def test_aliases_share_nothing() -> None:
    data = yaml.load("a: &a {l: [1]}\nb: *a\n", GoLoader)
    assert data["a"] == data["b"]
    assert data["a"] is not data["b"]
    assert data["a"]["l"] is not data["b"]["l"]


def doubling(levels: int, item: str) -> bytes:
    lines = [f"a0: &a0 [{item}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


BOMBS = {
    "aliases": doubling(9, "x"),
    "deep aliases": b"\n".join([b"a0: &a0 []", *(b"a%d: &a%d [*a%d]" % (n, n, n - 1) for n in range(1, 50_000))]),
    "merges": b"a: &a {%s}\nb: {%s}"
    % (
        b", ".join(b"k%d: 1" % n for n in range(5_000)),
        b", ".join([b"<<: *a"] * 5_000),
    ),
    "aliased text": b"a: &a %s\nb: [%s]" % (b"x" * 1_000_000, b", ".join([b"*a"] * 10_000)),
    "itself": b"a: &a [*a]",
    "itself by merging": b"a: &a {<<: *a}",
    "doubled anchors": doubling(9, "x").replace(b"a0: &a0", b"b: &a0 x\na0: &a0", 1),
    "flow": b"[" * 100_000,
    "flow, closed": b"[" * 100_000 + b"]" * 100_000,
    "flow maps": b'{"a":' * 100_000,
    "flow lines": b"[\n" * 100_000,
    "block": b"- " * 100_000,
    "indents": b"\n".join(b" " * n + b"a:" for n in range(1_500)),
    "complex keys": b"? " * 100_000,
    "flow pairs": b"[a: " * 100_000,
    "json": b"[" * 900 + b"]" * 900,
    "json, deeper": b"[" * 100_000 + b"]" * 100_000,
    "json objects": b'{"a":' * 900 + b"1" + b"}" * 900,
    "later document": b"a: 1\n---\n" + b"[" * 100_000,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_bombs_are_refused_with_bounded_work(bomb: bytes) -> None:
    tracemalloc.start()
    with operations() as done:
        found = list(read_documents(bomb, "bomb.yaml"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert any(isinstance(one, Problem) for one in found)
    assert done.calls < 3_000_000
    assert peak < 150 << 20


def test_innocent_aliases_and_depth_are_accepted() -> None:
    text = b"a: &a {x: [1, 2]}\nb: [" + b", ".join([b"*a"] * 10_000) + b"]"
    (document,) = read_documents(text, "f.yaml")
    assert isinstance(document, Document)
    assert len(document.data["b"]) == 10_000
    (deep,) = read_documents(b"[" * 200 + b"]" * 200, "f.yaml")
    assert isinstance(deep, Document)
    (deep,) = read_documents(b"a: &x 1\nb: &x 1\nc: " + b"[" * 199 + b"]" * 199, "f.yaml")
    assert isinstance(deep, Document)


def test_node_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.yaml.loader.MAX_NODES", 100)
    few, many = b"[" + b"1, " * 90 + b"]", b"- 1\n" * 120
    assert [type(one) for one in read_documents(few, "f")] == [Document]
    # The limit is one of the stream: its documents are not tried one by one.
    assert [type(one) for one in read_documents(many + b"---\na: 1\n", "f")] == [Problem]

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from crdcompat.errors import Problem
from crdcompat.yaml import json_streams
from crdcompat.yaml.documents import Document, read_documents

if TYPE_CHECKING:
    pass


def read(data: bytes | str) -> list[Document | Problem]:
    return list(read_documents(data.encode() if isinstance(data, str) else data, "f.yaml"))


def values(data: bytes | str) -> list[Any]:
    """The data of all documents; there must be no problem."""
    found = read(data)
    assert all(isinstance(one, Document) for one in found), found
    return [one.data for one in found if isinstance(one, Document)]


def shape(found: list[Document | Problem]) -> list[Any]:
    """Each document as (index, line, pointer), each problem as its line."""
    return [one.line if isinstance(one, Problem) else (one.index, one.line, one.pointer) for one in found]


@pytest.mark.parametrize("text", ["", "\n", "# only this\n", "---\n", "---\n---\n# x\n...\n", "\ufeff", "null"])
def test_empty_documents_are_nothing(text: str) -> None:
    assert read(text) == []


def test_stream_of_documents() -> None:
    found = read("# first\na: 1\n---\n---\n\nb: 2\n...\n---\nc: 3\n")
    assert shape(found) == [(0, 2, ()), (2, 6, ()), (3, 9, ())]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["a: ü\n", '{"a": "ü"}'])
def test_encodings(encoding: str, text: str) -> None:
    assert values(text.encode(encoding)) == [{"a": "ü"}]


def test_big_endian_and_windows_lines() -> None:
    assert values(b"\xfe\xff" + "a: 1\r\n---\r\nb: 2\r\n".encode("utf-16-be")) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    "data", [b"\xff\xfea", b"a: \xff", b"a: \x00", b"a: \x1b[31m", b"\xff\xfe\x00\xd8", b'{"a": "\xff"}']
)
def test_bytes_that_are_no_text(data: bytes) -> None:
    (problem,) = read(data)
    assert isinstance(problem, Problem)


def test_json() -> None:
    assert values('\n {"a": [1, 2.0, null, true]}\n') == [{"a": [1, 2.0, None, True]}]
    assert values('{\n\t"a":\t1\n}') == [{"a": 1}]
    assert shape(read('\n\n{"a": 1}')) == [(0, 3, ())]
    assert values('{"a": 1,}') == [{"a": 1}]  # YAML, not JSON
    assert values('---\n{"a": 1}\n---\n{"b": 2}\n') == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("form", ['{{"a": {}}}', "a: {}", "a: {}\n---\nb: 1"])
def test_integers_are_int64(form: str) -> None:
    for number, kind in (
        (2**63 - 1, int),
        (2**63, float),
        (2**64 - 1, float),
        (-(2**63), int),
        (2**70, float),
    ):
        data = values(form.format(number))[0]
        assert data == {"a": float(number) if kind is float else number}
        assert type(data["a"]) is kind


def test_json_lines_and_values_one_after_the_other() -> None:
    assert values('{"a": 1}\n{"b": 2}\n\n[3]\n') == [{"a": 1}, {"b": 2}, [3]]
    pretty = "".join(json.dumps({"a": {"b": number}}, indent=2) + "\n" for number in range(3))
    assert shape(read(pretty)) == [(0, 1, ()), (1, 6, ()), (2, 11, ())]
    broken = read('{"a": 1}\n{"b": 2\n{"c": 3}\n')
    assert shape(broken) == [(0, 1, ()), 2, (2, 3, ())]


def test_truncated_json() -> None:
    (problem,) = read('{"a": [1,\n2')
    assert isinstance(problem, Problem) and problem.line is not None


def test_lists_are_taken_apart() -> None:
    text = "kind: List\napiVersion: v1\nitems:\n- {kind: A}\n- kind: List\n  items: [{kind: B}]\n---\nkind: C\n"
    found = read(text)
    assert [one.data["kind"] for one in found if isinstance(one, Document)] == ["A", "B", "C"]
    assert shape(found) == [(0, 1, ("items", 0)), (0, 1, ("items", 1, "items", 0)), (1, 7 + 1, ())]


def test_empty_lists_are_nothing() -> None:
    assert read("{kind: List, items: null}") == read("{kind: PodList, items: []}") == []


def test_what_only_looks_like_a_list_stays() -> None:
    for text in (
        "{kind: AllowList, spec: {}}",
        "{kind: AllowList, items: {}}",
        "{kind: [x], items: []}",
        "[]",
    ):
        assert len(values(text)) == 1


def test_items_of_typed_lists_get_their_kind() -> None:
    text = "{kind: FooList, apiVersion: g/v1, items: [{metadata: {name: a}}, {kind: Bar, apiVersion: v1}]}"
    assert values(text) == [
        {"apiVersion": "g/v1", "kind": "Foo", "metadata": {"name": "a"}},
        {"kind": "Bar", "apiVersion": "v1"},
    ]


def test_items_that_are_no_objects_are_one_problem() -> None:
    first, last = read("kind: List\nitems: [1, {kind: A}, null, 2]")
    assert isinstance(first, Problem) and first.message == "items[0] of the List is not an object (and 2 more)"
    assert isinstance(last, Document) and last.pointer == ("items", 1)


def test_one_broken_document_does_not_hide_the_others() -> None:
    text = "a: 1\n---\nb: [\n---\nc: 3\n--- # text\n{{ if .Values.x }}\n: }\n---\n\nd: 4\nd: 5\n"
    found = read(text)
    assert [one.data for one in found if isinstance(one, Document)] == [{"a": 1}, {"c": 3}, {"d": 5}]
    problems = [one for one in found if isinstance(one, Problem)]
    assert [3 <= (problem.line or 0) <= 4 or 7 <= (problem.line or 0) <= 9 for problem in problems] == [True] * 2
    last = found[-1]
    assert isinstance(last, Document)
    assert (last.index, last.line, [remark.line for remark in last.remarks]) == (4, 11, [12])


def test_the_line_of_a_problem_counts_from_the_file() -> None:
    found = read("a: 1\n---\nb: 1\nc: 'x\n---\nd: 1\n")
    problems = [one for one in found if isinstance(one, Problem)]
    assert [problem.line for problem in problems] in ([4], [5])
    undefined = read("a: 1\n---\nb: 1\nc: *x\n---\nd: 1\n")
    assert shape(undefined) == [(0, 1, ()), 4, (2, 6, ())]


def test_bad_bytes_have_a_line() -> None:
    found = read(b"a: 1\n---\nb: \x00\n---\nc: 1\n")
    assert shape(found) == [(0, 1, ()), 3, (2, 5, ())]


def test_directives() -> None:
    assert values("%YAML 1.1\n---\na: 1\n") == [{"a": 1}]
    found = read("%YAML 1.1\n---\na: 1\n---\nb: [\n")
    assert shape(found)[0] == (0, 3, ())
    assert isinstance(found[1], Problem)
    assert len(found) == 2


def test_too_large_a_file() -> None:
    (problem,) = read_documents(b"a: 1", "f", max_bytes=3)
    assert isinstance(problem, Problem)


def test_too_many_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.yaml.streams.MAX_DOCUMENTS", 10)
    assert [type(one) for one in read("---\na\n" * 11)] == [Problem]
    assert [type(one) for one in read("---\n[\n" * 11)] == [Problem]
    assert [type(one) for one in read("{}\n" * 11)] == [Problem]
    assert len(read("---\na\n" * 10)) == 10


def test_surrogates_in_json_are_a_problem() -> None:
    found = read('{"a": "\\ud800"}')
    assert [type(one) for one in found] == [Problem]


@pytest.mark.parametrize("seed", range(8))
def test_no_bytes_raise(seed: int) -> None:
    chance = random.Random(seed)
    samples = [
        b"kind: List\nitems:\n- &a {b: *a}\n- !x y\n---\n[1, {2: 3}]\n",
        b'{"kind": "List", "items": [{"a": 1e5}]}\n{"b": null}\n',
        bytes(chance.randrange(256) for _ in range(60)),
    ]
    alphabet = b"\x00\t\n\r -:?[]{},&*!|>'\"%@`#=<.~0019aexyn\x80\xc3\xa9\xff\xef\xbb\xbf"
    for _ in range(400):
        data = bytearray(chance.choice(samples))
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.randrange(3)] = bytes(chance.choices(alphabet, k=chance.randrange(4)))
        for one in read(bytes(data)):
            assert isinstance(one, (Document, Problem))


#: What a JSON text of many values may take; a list of as many maps took 3 GB.
_MOST_MEMORY = 2 << 30
_READ = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))
from crdcompat.yaml.documents import read_documents
text = b'{{"kind":"FooList","items":[' + b",".join([{item!r}] * {count}) + b"]}}"
assert len(text) < 64 << 20
for item in read_documents(text, "f.json"):
    print(item.message)
"""


@pytest.mark.parametrize(
    ("item", "count", "expected"),
    [
        (b"[[[[[[]]]]]]", 4_900_000, "more than 6000000 values: split the list, or record fewer objects in one file"),
        (b'{"":{}}', 3_000_000, "more than 6000000 values: split the list, or record fewer objects in one file"),
        (b"[[]]", 1_900_000, "items[0] of the FooList is not an object (and 1899999 more)"),
    ],
)
def test_a_large_list_fits_in_memory(item: bytes, count: int, expected: str) -> None:
    code = _READ.format(most=_MOST_MEMORY, item=item, count=count)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")


def test_many_small_values_in_one_file_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of one value: lines of JSON take the memory of one line."""
    monkeypatch.setattr(json_streams, "MAX_JSON_VALUES", 4)
    assert values('{"a": [1, 2]}\n' * 3) == [{"a": [1, 2]}] * 3
    (problem,) = read('{"a": [1, 2, 3, 4]}')
    assert isinstance(problem, Problem)

"""Lines of ``judge --requests``: bodies are decoded as a server of Go decodes them."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from helpers import Json, crd, obj, root, run, write

from crdcompat.features.judge.request_lines import Line, read_line


@pytest.mark.parametrize(
    ("body", "value", "number", "surrogates"),
    [
        ('"\U0001f600"', "\U0001f600", "", False),
        (r'"\ud83d\ude00"', "\U0001f600", "", True),
        (r'"a\ud800b"', "a\ufffdb", "", True),
        (r'{"\udc00": 1}', {"\ufffd": 1}, "", True),
        (r'"\\ud83d"', r"\ud83d", "", False),
        (r'"\u00e9"', "\u00e9", "", False),
        ("1e400", "1e400", "1e400", False),
        ("[1, -1e999]", [1, "-1e999"], "-1e999", False),
        ("1" + 5000 * "0", "1" + 5000 * "0", "1" + 5000 * "0", False),
        ("1e-400", 0.0, "", False),
    ],
)
def test_the_spelling_of_a_body(body: str, value: object, number: str, surrogates: bool) -> None:
    line = f'{{"note": "\U0001f601", "new": {body}}}'
    request = {"note": "\U0001f601", "new": value}
    assert read_line(line.encode()) == Line(request, number, surrogates)


@pytest.mark.parametrize("line", ["{", '{"new": NaN}', '{"old": 1e400}', "[" * 100_000, r'{"new": "\ud80"}'])
def test_lines_that_are_no_requests(line: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_line(line.encode())


SMILE = '{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"v": %s}}'
CANNOT = 'Widget in version "v1" cannot be handled as a Widget: '
RANGE = "json: cannot unmarshal number 1e400 into Go value of type float64"
YAML = "error decoding YAML: error converting YAML to JSON: yaml: found invalid Unicode character escape code"


def answers(world: Path, *requests: tuple[str, str, str]) -> list[Json]:
    """The answers to (operation, body, further members of the request)."""
    write(world / "any.yaml", crd(root(spec=obj(v={"x-kubernetes-preserve-unknown-fields": True}))))
    old = SMILE % "1"
    lines = [f'{{"crd": "any.yaml", "op": "{op}", "old": {old}, "new": {new}{more}}}' for op, new, more in requests]
    ran = run("judge", "--requests", "-", cwd=world, stdin="\n".join(lines).encode())
    return [json.loads(line) for line in ran.out.splitlines()]


def test_bodies_of_each_kind_of_write(tmp_path: Path) -> None:
    """As Kubernetes 1.28 and 1.36 answer."""
    operations = ("create", "update", "mergePatch", "apply")
    found = {
        value: [
            (answer["code"], answer["aggregate"] or answer["result"]["spec"]["v"])
            for answer in answers(tmp_path, *((op, SMILE % value, "") for op in operations))
        ]
        for value in ("1e400", r'"\ud83d\ude00"', r'"\ud800"')
    }
    decoded = (400, CANNOT + RANGE)
    assert found == {
        "1e400": [decoded, decoded, (400, f"error decoding patch: {RANGE}"), (200, "1e400")],
        r'"\ud83d\ude00"': [*[(200, "\U0001f600")] * 3, (400, YAML)],
        r'"\ud800"': [*[(200, "\ufffd")] * 3, (400, YAML)],
    }


def test_a_number_out_of_range_in_a_scale_is_not_judged(tmp_path: Path) -> None:
    (found,) = answers(tmp_path, ("scale", SMILE % "1e400", ""))
    assert (found["accepted"], found["unknown"][0]["reason"]) == (None, "the number 1e400 does not fit into a float64")


CRD = "CustomResourceDefinition"
INTO = f'{CRD} in version "v1" cannot be handled as a {CRD}: json: cannot unmarshal'
PROPS = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties"


@pytest.mark.parametrize("op", ["createCRD", "updateCRD"])
@pytest.mark.parametrize(
    ("keyword", "answer"),
    [
        ('"minimum": 1e400', f"{INTO} number 1e400 into Go struct field {PROPS}.minimum of type float64"),
        ('"maxLength": -1e999', f"{INTO} number -1e999 into Go struct field {PROPS}.maxLength of type int64"),
        ('"pattern": 1e400', f"{INTO} number into Go struct field {PROPS}.pattern of type string"),
        ('"default": {"a": [1, 1e400]}', f"{INTO} number 1e400 into Go value of type float64"),
        ('"enum": [1, 1e400]', f"{INTO} number 1e400 into Go value of type float64"),
        ('"example": 1e400', f"{INTO} number 1e400 into Go value of type float64"),
        ('"default": 1e999, "format": 1e400', f"{INTO} number into Go struct field {PROPS}.format of type string"),
        ('"items": {"maximum": 1e400}', f"{INTO} number 1e400 into Go struct field {PROPS}.items of type float64"),
        ('"other": {"a": 1e400}', None),
        ('"minimum": 1e-400', None),
    ],
)
def test_a_number_out_of_range_in_a_crd(op: str, keyword: str, answer: str | None) -> None:
    """As Kubernetes 1.28, 1.31 and 1.33 answer; 1.36 as well, but with the path below items."""
    plain = json.dumps(crd(root(spec=obj(v={"type": "number"}))))
    new = plain.replace('"type": "number"', f'"type": "number", {keyword}')
    line = f'{{"op": "{op}", "kube": "1.33", "old": {plain}, "new": {new}}}'
    (found,) = (json.loads(each) for each in run("judge", "--requests", "-", stdin=line.encode()).out.splitlines())
    assert (found["code"], found["aggregate"]) == ((400, answer) if answer else (200, ""))
    assert "1e400" not in str(found["result"])


def test_the_namespace_of_the_url(tmp_path: Path) -> None:
    placed = [(SMILE % "1").replace('"a"', f'"a", "namespace": "{name}"') for name in ("default", "other", "BAD NS")]
    asked = [("create", new, more) for new in placed for more in ("", ', "namespace": "other"')]
    found = answers(
        tmp_path, *asked, ("create", SMILE % "1", ', "namespace": "x"'), ("create", placed[0], ', "namespace": 1')
    )
    assert [answer["code"] for answer in found] == [200, 400, 200, 200, 400, 400, 200, 0]
    assert found[6]["result"]["metadata"]["namespace"] == "x"
    message = "the namespace of the provided object does not match the namespace sent on the request"
    assert {answer["aggregate"] for answer in found if answer["code"] == 400} == {message}

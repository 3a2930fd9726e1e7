"""What a JSON Schema finds wrong is said in words of ours: what is there, and what to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import run
from jsonschema import Draft202012Validator

from crdcompat.config.configuration_file import config_schema, read_config
from crdcompat.errors import ConfigError
from crdcompat.findings.waiver_file import read_accepted, waivers_schema
from crdcompat.render.data.schema import schema_of_reports
from crdcompat.yaml.schema_errors import worded_keywords
from crdcompat.yaml.validated import first_error

#: Keywords that are no constraint, or whose errors are those of other keywords.
#: Keywords without an error of their own; those of the last line give the errors of the schemas in them.
_NO_CONSTRAINT = {
    *("$schema", "title", "description", "$defs", "$ref", "properties", "items"),
    *("allOf", "if", "then", "else"),
}


def _keywords(schema: Any) -> Iterator[str]:
    for key, value in schema.items() if isinstance(schema, dict) else ():
        yield key
        if key in ("properties", "$defs"):
            for inner in value.values():
                yield from _keywords(inner)
        elif key in ("items", "additionalProperties", "then", "else") and isinstance(value, dict):
            yield from _keywords(value)
        elif key in ("oneOf", "anyOf", "allOf"):
            for inner in value:
                yield from _keywords(inner)


@pytest.mark.parametrize("schema", [config_schema(), waivers_schema(), schema_of_reports()], ids=["c", "w", "r"])
def test_every_keyword_of_our_schemas_has_a_sentence(schema: Any) -> None:
    assert set(_keywords(schema)) - _NO_CONSTRAINT <= worded_keywords()


_SIDES = {"properties": {"crd": {"type": "string"}, "direction": {"enum": ["rollback", "upgrade"]}}}
_LISTS = [{"type": "array", "items": {"type": "string"}}, {"type": "object", "description": "By release"}]
_LINKED = {"dependentRequired": {"old": ["new"]}, "properties": {"new": {"type": ["boolean", "null"]}}}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "string"}, 4.1, '4.1 is a number to YAML: write it in quotes, "4.1"'),
        ({"type": "string"}, True, "true is true or false to YAML: write it in quotes"),
        ({"type": "string"}, ["a"], "text is wanted here, and this is a list"),
        ({"type": "string"}, None, "text is wanted here, and this is empty"),
        ({"type": ["array", "null"], "description": "Globs."}, "a",
         "a list or null is wanted here (Globs), and this is the text a"),
        ({"type": "boolean"}, "no way", "true or false is wanted here, and this is the text no way"),
        ({"enum": ["error", "never"]}, "nevr", "nevr is not known here; did you mean never?"),
        ({"enum": ["a", "b", 1]}, "zzz", "zzz is not known here; write one of a, b, 1"),
        ({"const": "diff"}, "check", "diff is wanted here, and this is check"),
        ({"required": ["crd"], **_SIDES}, {}, "this key is missing; write crd: TEXT"),
        ({"required": ["crd", "direction"], **_SIDES}, {},
         "these keys are missing; write crd: TEXT, direction: rollback|upgrade"),
        (_LINKED, {"old": 1}, "'old' asks for more: this key is missing; write new: TRUE-OR-FALSE|NULL"),
        ({"additionalProperties": False, **_SIDES}, {"cdr": 1}, "there is no key 'cdr'; did you mean 'crd'?"),
        ({"additionalProperties": False, **_SIDES}, {"zzz": 1}, "there is no key 'zzz'; there are crd, direction"),
        ({"minLength": 1}, "", "this is empty; write it, or leave the key out"),
        ({"minLength": 3}, "a", "a is too short: write 3 characters or more"),
        ({"minItems": 2}, [1], "the list has 1 items; write 2 or more"),
        ({"minimum": 1}, 0, "0 is too small; write 1 or more"),
        ({"uniqueItems": True}, ["a", "b", "a"], "a is listed twice; write it once"),
        ({"pattern": "^a$"}, "b", "'b' is not of the form ^a$"),
        ({"pattern": "^a$", "description": "a day"}, "b", "'b' is not a day"),
        ({"oneOf": _LISTS}, "x", "a list or a map of keys is wanted here, and this is the text x"),
        ({"oneOf": _LISTS}, ["x", 1], '1: 1 is a number to YAML: write it in quotes, "1"'),
        ({"anyOf": _LISTS}, ["x", ["y"]], "1: text is wanted here, and this is a list"),
        ({"maxItems": 1}, [1, 2], "does not fit what its schema says of maxItems"),
    ],
)  # fmt: skip
def test_sentences(schema: Any, value: Any, said: str) -> None:
    (theirs, *_) = Draft202012Validator(schema).iter_errors(value)
    ours = first_error("f.yaml", value, None, schema)
    assert ours == f"f.yaml: {said}"
    assert theirs.message not in ours


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("waivers:\n- crd: a\n",
         (":2: waivers.0: these keys are missing; write version: TEXT, path: TEXT, rule: TEXT, direction: "
         "rollback|upgrade, reason: TEXT")),
        ("waivers: no\n", ":1: waivers: a list is wanted here, and this is false"),
        ("wavers: []\n", ":1: there is no key 'wavers'; did you mean 'waivers'?"),
    ],
)  # fmt: skip
def test_waiver_files(tmp_path: Path, text: str, said: str) -> None:
    _refused(tmp_path / "w.yaml", text, said, read_accepted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("base: main\nrollback_targets:\n  main:\n  - a\n  - a\n",
         ":3: rollback_targets.main: a is listed twice; write it once"),
        ("base:\n\ninclude: x\n",
         (":1: base: text is wanted here (What a change is compared with where no option and no CI says so), "
         "and this is empty")),
        ("severities:\n- owner: status\n", ":2: severities.0: this key is missing; write severity: error|warning|info"),
        ("severities:\n- rule: x\n  severity: info\n",
         ":2: severities.0.rule: there is no rule 'x' (crdcompat rules lists them)"),
        ("status_advice: maybe\n",
         (":1: status_advice: true or false is wanted here (Advice on new status fields that will be expensive "
         "to change (info)), and this is the text maybe")),
    ],
)  # fmt: skip
def test_configurations(tmp_path: Path, text: str, said: str) -> None:
    _refused(tmp_path / ".crdcompat.yaml", text, said, read_config)


def test_reports(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"format": "1", "command": "diff",\n"findings": [\n{}]}')
    for command in (["verify", str(file), "--server", "x"], ["waive", "abc", "--reason", "y", "--report", str(file)]):
        ran = run(*command, cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"crdcompat: {file}:1: these keys are missing; write tool: ")
        assert "is a required property" not in ran.err


def _refused(file: Path, text: str, said: str, read: Callable[[Path], Any]) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read(file)
    assert str(raised.value) == f"{file}{said}"

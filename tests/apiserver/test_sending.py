"""judge FILE: what the text of a body has beside its value, and the client's options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import crd, root, run, write

_CRD = crd(root(spec={"type": "object", "properties": {"a": {"type": "string"}}}))
_HEAD = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_HEAD + "spec:\n  a: v\n  a: w\n", 'yaml: unmarshal errors:\n  line 6: key "a" already set in map'),
        (_HEAD + "spec: {a: v, b: w}\n", 'unknown field "spec.b"'),
        (
            '{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x", "name": "x"}}',
            'duplicate field "metadata.name"',
        ),
        (_HEAD, ""),
    ],
)
def test_a_strict_server_refuses_what_a_file_has_twice(text: str, said: str, tmp_path: Path) -> None:
    write(tmp_path / "crd.json", _CRD)
    (tmp_path / "object").write_text(text)
    ran = run("judge", "crd.json", "object", "--field-validation", "strict", "--format", "json", cwd=tmp_path)
    assert ran.code == (1 if said else 0)
    head = 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: '
    assert json.loads(ran.out)["aggregate"] == (head + said if said else "")
    warned = run("judge", "crd.json", "object", "--format", "json", cwd=tmp_path)
    assert warned.code == 0
    assert len(json.loads(warned.out)["warnings"]) == bool(said)

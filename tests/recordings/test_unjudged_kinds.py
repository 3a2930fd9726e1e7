"""What is broken in the contents of an object that no release has a CRD for makes no answer unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import crd, obj, root, run, string, write

_OBJECT = """apiVersion: {group}/v1
kind: {kind}
metadata:
  name: a
  namespace: b
  uid: 1-2-3-4-5
status:
  p: {value}
"""
_BROKEN = "[1, 2"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of a cluster with the CRD of NEW, and an object that OLD accepts."""
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.json", json.dumps(crd(root(status=obj(p=string(*phases))))))
    top = tmp_path / "fleet/recorded"
    write(top / "w.json", (tmp_path / "new/w.json").read_text())
    write(top / "widget.yaml", _OBJECT.format(group="example.com", kind="Widget", value="A"))
    return top


_COMMANDS = {
    "simulate": ("simulate", "old", "new", "--objects", "fleet/recorded"),
    "simulate --fleet": ("simulate", "old", "new", "--fleet", "fleet", "--jobs", "1"),
    "diff": ("diff", "old", "new", "--objects", "fleet/recorded", "--fail-on", "never"),
    "matrix": ("matrix", "path:old", "path:new", "--objects", "fleet/recorded", "--fail-on", "never"),
    "preflight": ("preflight", "old", "--objects", "fleet/recorded"),
}


@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize(("group", "kind"), [("foreign.example", "Thing"), ("example.com", "Widget")])
def test_a_broken_object(recording: Path, command: str, group: str, kind: str) -> None:
    """Of a kind that is judged, it does."""
    write(recording / "other.yaml", _OBJECT.format(group=group, kind=kind, value=_BROKEN))
    ran = run(*_COMMANDS[command], cwd=recording.parents[1])
    assert ran.code == (2 if kind == "Widget" else 0), ran.out + ran.err

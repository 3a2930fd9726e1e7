"""Which of several files of a change is named first."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import crd, diff, obj, only, root, string, write

_ORDINARY, _SELDOM, _NEVER = "deploy/w.yaml", "api/docs/w.yaml", "api/src/test/w.yaml"


@pytest.mark.parametrize("text", ["", "another text"])
def test_a_copy_of_tests_or_examples_is_behind_the_others(tmp_path: Path, text: str) -> None:
    for side, values in (("old", "A"), ("new", "AB")):
        made = crd(root(status=obj(phase=string(*values))))
        write(tmp_path / side / _ORDINARY, made)
        made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = text
        for path in (_SELDOM, _NEVER):
            write(tmp_path / side / path, made)
    finding = only(diff(tmp_path / "old", tmp_path / "new"))
    assert [(place["side"], place["file"]) for place in finding["locations"]] == [
        (side, path) for side in ("old", "new") for path in (_ORDINARY, _SELDOM, _NEVER)
    ]

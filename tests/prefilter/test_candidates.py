"""Which files may hold a CRD, by path and by bytes, and which changes touch one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers import write

from crdcompat.prefilter.candidates import excluded, is_candidate, touches_candidates
from crdcompat.sources import open_source

CRD = "kind: CustomResourceDefinition\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("w.yaml", True),
        ("deep/w.YML", True),
        ("w.json", True),
        ("w.txt", False),
        (".yaml", False),
        ("yaml/README", False),
        ("vendor/w.yaml", False),
        ("a/testdata/b/w.yaml", False),
        ("vendored/tests.yaml", True),
    ],
)
def test_a_candidate_by_its_path(path: str, *, expected: bool) -> None:
    assert is_candidate(path) == expected


def test_a_candidate_by_its_bytes() -> None:
    assert is_candidate("w.yaml", CRD.encode())
    assert is_candidate("w.yaml", CRD.encode("utf-16"))
    assert not is_candidate("w.yaml", b"kind: ConfigMap\n")


def test_why_a_folder_is_excluded() -> None:
    assert [excluded(path) for path in ("vendor/tests/w.yaml", "w.yaml")] == ["vendored", ""]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a.yaml": "a: b\n"}, {"a.yaml": "a: c\n"}, False),
        ({"a.yaml": "a: b\n"}, {"a.yaml": CRD}, True),
        ({"a.yaml": CRD}, {}, True),
        ({}, {"vendor/a.yaml": CRD, "left-out.yaml": CRD}, False),
    ],
    ids=["no CRD", "a new one", "one that goes", "none that is wanted"],
)
def test_whether_a_change_touches_candidates(
    tmp_path: Path, old: Mapping[str, str], new: Mapping[str, str], *, expected: bool
) -> None:
    for side, files in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        for name, text in files.items():
            write(tmp_path / side / name, text)
    before, after = (open_source(f"path:{tmp_path / side}") for side in ("old", "new"))
    assert touches_candidates(before, after, lambda path: path != "left-out.yaml") == expected

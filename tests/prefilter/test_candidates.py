"""Which files may hold a CRD, by path and by bytes."""

from __future__ import annotations

import pytest

from crdcompat.prefilter.candidates import excluded, is_candidate, is_marked, is_other_text

CRD = "kind: CustomResourceDefinition\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("w.yaml", True),
        ("deep/w.YML", True),
        ("w.json", True),
        ("w.txt", False),
        (".yaml", True),
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


def test_a_file_that_may_patch_crds() -> None:
    """Both words, in any order. A long file with one of them thousands of times takes no longer than to read it."""
    assert is_marked(b"patches: []\ntarget: a\n")
    assert is_marked(b"target: a\npatches: []\n")
    assert not is_marked(b"target: a\n" * 300_000)
    assert not is_marked(b"patches: []\n" * 300_000)


def test_why_a_folder_is_excluded() -> None:
    assert [excluded(path) for path in ("vendor/tests/w.yaml", "w.yaml")] == ["vendored", ""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: ConfigMap\n", False),
        ("run: |\n  a \\\n    b\n", False),
        ('a: "\\u003cb\\u003e"\n', False),
        ("a: !!bool 'y'\n", False),
        ("kind: {{ .Values.kind }}\n", False),
        ('"kind": "\\x43ustomResourceDefinition"\n', True),
        ('kind: "Custom\\\x85  ResourceDefinition"\n', True),
        ('kind: "Custom\\\u2028ResourceDefinition"\n', True),
        ("kind: !!b%69nary Q3Vz\n", True),
        ("kind: !<tag:yaml.org,2002:binary> Q3Vz\n", True),
        ("schema: olm.bundle.object\n", True),
        ('a: \'{"kind": "Custom\\\\u0052esourceDefinition"}\'\n', True),
        ("kind: Custom{{/* */}}ResourceDefinition\n", True),
    ],
)
def test_whether_a_file_may_hold_a_crd(text: str, *, expected: bool) -> None:
    """Where it may not, no parser is asked."""
    assert is_marked(text.encode()) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b.tpl", True),
        ("b.in", True),
        ("b.yaml.in", False),
        ("b.yaml.j2", False),
        ("b.j2", True),
        ("w.yaml", False),
        ("README", False),
        ("a.go", False),
        ("vendor/a", True),
    ],
)
def test_texts_of_other_names(path: str, *, expected: bool) -> None:
    assert is_other_text(path) == expected

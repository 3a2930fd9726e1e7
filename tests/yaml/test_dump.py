"""YAML that is written reads back as what it was, by Go's rules and by Python's."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from report_samples import HOSTILE

from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.dump import to_yaml

ODD = (
    "y", "N", "on", "010", "0o7", "0b1", "1_000", "1e3", ".5", "~", "null", "", "=", "<<", "2020-01-01", "12:30:45",
    "- a", "a: b", "#x", "&a", "*a", "!t", "|", ">", "'", '"', "\t", "a\nb\n", " a ", "---", "...", "\u2028", "\ud7ff",
    "true", "0x1F", "+1", ".inf", "{a: 1}", "[1]", "%", "@", "`", "?", "? a", "é", "\U0001f600",
)  # fmt: skip


def again(data: Any) -> Any:
    (document,) = read_documents(to_yaml(data).encode(), "w.yaml")
    assert isinstance(document, Document), document
    return document.data


@pytest.mark.parametrize("text", [*ODD, *(text for text in HOSTILE if "\x00" not in text and "\ufffe" not in text)])
def test_strings_stay_strings(text: str) -> None:
    data = {"value": text, "list": [text, [text]], "map": {text or "empty": {"k": text}}}
    assert again(data) == data
    assert yaml.safe_load(to_yaml(data)) == data
    assert to_yaml(data).isascii()


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text("aynoYN012e:#-+&*!|>?'\"%@` \t\n\u00e9\u2028\u202e{}[],.~=<_\\", max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcy01", min_size=1), inner, max_size=4),
)


@given(st.dictionaries(st.text("abcy01", min_size=1), values, max_size=4))
def test_everything_reads_back(data: dict[str, Any]) -> None:
    assert again(data) == data


def test_what_stands_twice_is_written_twice() -> None:
    part = {"a": [1]}
    assert to_yaml({"x": part, "y": part}) == "x:\n  a:\n  - 1\n'y':\n  a:\n  - 1\n"

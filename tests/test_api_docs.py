"""docs/api.md: its examples run, and it has a section with the real signature for each function."""

from __future__ import annotations

import inspect
import re

import pytest
from offline import PROJECT

import crdcompat

TEXT = (PROJECT / "docs/api.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]}


def test_each_function_has_a_section() -> None:
    assert sorted(SECTIONS) == dir(crdcompat)


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_signature_names_all_parameters(name: str) -> None:
    shown = re.search(rf"^`{name}\((.*?)\) -> (.*?)`$", SECTIONS[name], re.MULTILINE | re.DOTALL)
    assert shown
    parameters = re.findall(r"(?:^|[,(*] ?\n?)([a-z]\w*)(?=[,=]|$)", re.sub(r"\(.*?\)", "", shown[1]))
    assert parameters == list(inspect.signature(getattr(crdcompat, name)).parameters)


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_example_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", SECTIONS[name], re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(PROJECT)
    for variable in ("PRE_COMMIT", "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"):
        monkeypatch.delenv(variable, raising=False)
    assert f"crdcompat.{name}(" in example
    exec(compile(example, f"docs/api.md: {name}", "exec"), {"__name__": "example"})

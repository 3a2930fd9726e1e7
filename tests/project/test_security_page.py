"""docs/security.md names the tests that hold each row: they exist."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_the_tests_that_the_page_names_exist() -> None:
    page = (TOP / "docs" / "security.md").read_text()
    named = set(re.findall(r"`([a-z_/]+\.py)`", page)) - {"benchmarks/budgets.py"}
    assert len(named) > 12
    assert [name for name in sorted(named) if not (TOP / "tests" / name).is_file()] == []

"""``make new-rule ID=…``: the stubs of a rule, its facet and their tests fail until they are filled in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from offline import PROJECT

_COPIED = ("crdcompat", "rules", "tests/support", "tests/findings", "pyproject.toml")
_TO_FILL_IN = re.compile(r"\bTODO\b")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, as far as the tests of rules need it."""
    made = tmp_path_factory.mktemp("project")
    for name in _COPIED:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(PROJECT / name, made / name)
    return made


def _run(copy: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


def _new_rule(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return _run(copy, "tests/support/new_rule.py", *arguments)


def test_a_rule_with_a_new_facet(copy: Path) -> None:
    """Each stub has a test of the project that fails: the example, the step of the facet's own test, the words."""
    made = _new_rule(copy, "hole-widened", "--facet", "")
    assert (made.returncode, made.stderr) == (0, "")
    files = re.findall(r"^made (.*)$", made.stdout, re.MULTILINE)
    assert files == [
        "rules/hole-widened.yaml",
        "crdcompat/compare/facets/hole.py",
        "tests/compare/facets/test_hole.py",
    ]
    assert [name for name in files if not _TO_FILL_IN.search((copy / name).read_text("utf-8"))] == []
    linted = _run(copy, "-m", "ruff", "check", *files[1:]), _run(copy, "-m", "ruff", "format", "--check", *files[1:])
    assert [each.stdout for each in linted if each.returncode] == []
    ran = _run(
        copy, "-m", "pytest", "-n0", "tests/compare/facets/test_hole.py", "tests/findings/test_rules.py", "-k", "hole"
    )
    failed = {each.partition("::")[2].partition(" - ")[0] for each in re.findall(r"^FAILED (.*)$", ran.stdout, re.M)}
    assert failed >= {
        "test_hole_widened",
        "test_examples[hole-widened: TODO: the smallest change of this kind (rollback)]",
    }, ran.stdout
    assert ran.returncode == 1


def test_a_rule_of_a_facet_that_there_is(copy: Path) -> None:
    made = _new_rule(copy, "list-type-forgotten")
    assert re.findall(r"^made (.*)$", made.stdout, re.MULTILINE) == [
        "rules/list-type-forgotten.yaml",
        "tests/compare/facets/test_list_type.py",
    ]
    assert "change: list-type.forgotten\n" in (copy / "rules/list-type-forgotten.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nullable-added"], "rules/nullable-added.yaml is there already"),
        (["Gap"], "'Gap' is no id of a rule: write it as gap-widened"),
        ([""], "'' is no id of a rule: write it as gap-widened"),
        (
            ["enum-closed", "--facet", "closed"],
            "an id that begins so belongs to the facet enum: name the rule otherwise",
        ),
        (["space-widened", "--facet", "gaps"], "the id has to begin with the name of its facet: gaps-…"),
    ],
)
def test_what_is_refused(copy: Path, arguments: list[str], message: str) -> None:
    made = _new_rule(copy, *arguments)
    assert (made.returncode, made.stdout, made.stderr) == (2, "", f"new-rule: {message}\n")


def test_nothing_is_left_to_fill_in() -> None:
    globs = ("crdcompat/**/*.py", "rules/*.yaml", "tests/**/*.py")
    files = {path for each in globs for path in PROJECT.glob(each)}
    files -= {Path(__file__), PROJECT / "tests/support/new_rule.py"}
    found = sorted(path for path in files if _TO_FILL_IN.search(path.read_text("utf-8")))
    assert [str(path.relative_to(PROJECT)) for path in found] == []

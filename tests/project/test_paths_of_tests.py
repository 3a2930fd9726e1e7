"""The tests of a module are where CONTRIBUTING.md promises them: at the path of the module, below tests/."""

from __future__ import annotations

from pathlib import Path

from offline import PROJECT

CODE, TESTS = PROJECT / "crdcompat", PROJECT / "tests"
#: Folders of tests that belong to no package: CONTRIBUTING.md says what each has.
APART = {"cases", "conformance", "data", "examine", "fuzz", "project", "referee", "support"}
_FILES = [path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] not in APART]


def test_each_folder_of_tests_is_a_package() -> None:
    folders = {path.parent.relative_to(TESTS) for path in _FILES}
    assert sorted(str(folder) for folder in folders if not (CODE / folder).is_dir()) == []


def test_a_file_with_the_name_of_a_module_is_at_its_path() -> None:
    """Any other name is a topic. A topic with the name of a module elsewhere would be taken for that module's tests."""
    modules = {path.stem for path in CODE.rglob("*.py")}
    misplaced = [path for path in _FILES if _about(path) in modules and not _is_at_its_path(path)]
    assert [str(path.relative_to(TESTS)) for path in misplaced] == []


def _about(path: Path) -> str:
    return path.stem.removeprefix("test_")


def _is_at_its_path(path: Path) -> bool:
    """Whether the package has such a module or is named so itself: ``features/judge/test_judge.py`` has its command."""
    beside = CODE / path.parent.relative_to(TESTS) / _about(path)
    return beside.with_suffix(".py").is_file() or beside.is_dir() or path.parent.name == _about(path)

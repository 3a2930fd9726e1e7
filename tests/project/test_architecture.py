"""docs/architecture.md: its table of rooms and its order of rooms are those of the code."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from offline import PROJECT
from pages import names, rows

CODE = PROJECT / "crdcompat"
PAGE = PROJECT / "docs/architecture.md"
EVERY_ROOM = "every room"
#: The build of a distribution writes this module: it is no room.
_WRITTEN = "_version"
#: Folders whose modules are entries: their names are those of keywords and rules.
_ENTRIES = ("facets", "crd_facets", "formats")
#: Names that several rooms share, beside those of reports and commands: each is one subject.
_SUBJECTS = {"findings", "growth", "unpaired"}


def test_the_table_names_all_rooms() -> None:
    named = [names(cells[0])[0] for cells in rows(PAGE, "room", "what it decides", "start reading at")]
    assert sorted(named) == sorted(_rooms())


def test_modules_that_moved_are_gone_and_what_they_moved_to_is_there() -> None:
    moved = [line.split("\t") for line in (PROJECT / "docs/moved-modules.tsv").read_text().splitlines()[1:]]
    assert [was for was, _ in moved if _exists(was)] == []
    assert [now for _, now in moved if not _exists(now)] == []


def _exists(module: str) -> bool:
    path = PROJECT / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def test_the_files_to_start_reading_at_exist() -> None:
    for room, _, files in rows(PAGE, "room", "what it decides", "start reading at"):
        (name,) = names(room)
        folder = CODE / name if (CODE / name).is_dir() else CODE
        assert [file for file in names(files) if not (folder / file).is_file()] == [], name


def test_rooms_import_what_the_order_lists() -> None:
    for_all, listed = _order()
    imported = {room: found - for_all for room, found in _imports().items() if room not in for_all}
    assert imported == listed


def test_rooms_that_every_room_imports_import_only_each_other() -> None:
    for_all, _ = _order()
    assert {room: found - for_all for room, found in _imports().items() if room in for_all and found - for_all} == {}


def test_no_room_imports_itself_through_others() -> None:
    try:
        TopologicalSorter(_imports()).prepare()
    except CycleError as error:
        pytest.fail(f"rooms import each other: {' <- '.join(error.args[1])}")


def test_no_command_imports_itself_through_others() -> None:
    commands = {path.stem for path in (CODE / "features").iterdir() if path.name[0] != "_"}
    imported: dict[str, set[str]] = {command: set() for command in commands}
    for path in (CODE / "features").rglob("*.py"):
        command = path.relative_to(CODE / "features").parts[0].removesuffix(".py")
        parts = [name.split(".") for name in _imported_names(path) if name.startswith("crdcompat.features.")]
        imported.setdefault(command, set()).update({each[2] for each in parts} & commands - {command})
    assert imported["simulate"] == {"diff"}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"commands import each other: {' <- '.join(error.args[1])}")


_STEP = re.compile(r"^[│├└─ ]*([\w.]+) +([\w/]+\.py) +(\S.*)$", re.MULTILINE)


def test_the_walks_name_functions_that_exist() -> None:
    drawings = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    walks = [steps for drawing in drawings if len(steps := _STEP.findall(drawing)) == drawing.count("\n")]
    assert [steps[0][:2] for steps in walks] == [("diff", "api/comparing.py"), ("load_objects", "api/comparing.py")]
    steps = {step[:2] for walk in walks for step in walk}
    assert [(name, module) for name, module in sorted(steps) if name not in _functions(CODE / module)] == []


def _functions(module: Path) -> set[str]:
    """The functions of a module, and its methods with their classes."""
    body = ast.parse(module.read_bytes()).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    methods = {
        f"{each.name}.{node.name}" for each in classes for node in each.body if isinstance(node, ast.FunctionDef)
    }
    return methods | {node.name for node in body if isinstance(node, ast.FunctionDef)}


def _order() -> tuple[set[str], dict[str, set[str]]]:
    """The rooms that every room may import, and what each of the others imports besides."""
    listed = {cells[0].strip("`"): set(names(cells[1])) for cells in rows(PAGE, "room", "imports")}
    return listed.pop(EVERY_ROOM), listed


@cache
def _rooms() -> frozenset[str]:
    """The modules and packages at the top level of the program."""
    modules = {path.stem for path in CODE.glob("*.py")} - {_WRITTEN}
    return frozenset(modules | {path.parent.name for path in CODE.glob("*/__init__.py")})


@cache
def _imports() -> dict[str, set[str]]:
    """Room -> the other rooms that its modules import, in functions and for types, too."""
    found: dict[str, set[str]] = {room: set() for room in _rooms()}
    for path in CODE.rglob("*.py"):
        room = path.relative_to(CODE).parts[0].removesuffix(".py")
        if room == _WRITTEN:
            continue
        found[room] |= set(_imported(path)) - {room}
    return found


def _imported(path: Path) -> Iterator[str]:
    """The rooms that a module imports."""
    for name in _imported_names(path):
        program, _, inner = name.partition(".")
        if program == "crdcompat" and inner.partition(".")[0] != _WRITTEN:
            first = inner.partition(".")[0]
            yield first if first in _rooms() else "__init__"


def _imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_modules_of_one_name_are_about_one_subject() -> None:
    """An editor shows the name alone. Rooms have a module for each report; facets have names of rules."""
    files = [path for path in CODE.rglob("*.py") if path.stem != "__init__" and path.parent.name not in _ENTRIES]
    times = Counter(path.stem for path in files)
    reports = {path.stem for room in ("models", "cli") for path in (CODE / room).glob("*.py")}
    assert {name for name, count in times.items() if count > 1} - reports == _SUBJECTS

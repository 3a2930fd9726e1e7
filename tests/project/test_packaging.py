"""The wheel, built offline and used away from the checkout; and the README's example, which is real."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from offline import PROJECT, copy_project, need_wheelhouse, offline_environment

from crdcompat.render.data.schema import schema_of_reports

# What only some commands use is imported by them, not by everybody (docs/architecture.md#cost).
_NOT_AT_START = {
    "cel_expr_python",
    "deepdiff",
    "git",
    "google",
    "jinja2",
    "jsonschema",
    "orjson",
    "re2",
    "rich",
    "tree_sitter",
    "tree_sitter_go",
    "yaml",
}


@dataclass(frozen=True, slots=True)
class Installed:
    """The wheel, and the environment it was installed into: its programs, and an empty home and place to run in."""

    wheel: Path
    bin: Path
    home: Path
    elsewhere: Path
    env: dict[str, str]

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run an installed program, which must succeed."""
        program = str(self.bin / command[0])
        return _run(program, *command[1:], cwd=self.elsewhere, env={**self.env, **env})


def _run(*command: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    need_wheelhouse()
    top = tmp_path_factory.mktemp("packaging")
    env = offline_environment(top / "home")
    project = copy_project(top / "project")
    pip = (sys.executable, "-m", "pip", "--quiet")
    _run(*pip, "wheel", "--no-deps", "--wheel-dir", str(top / "dist"), str(project), cwd=top, env=env)
    (wheel,) = (top / "dist").iterdir()
    _run(sys.executable, "-m", "venv", str(top / "venv"), cwd=top, env=env)
    programs = top / "venv" / "bin"
    _run(str(programs / "python"), "-m", "pip", "--quiet", "install", str(wheel), cwd=top, env=env)
    home, elsewhere = top / "empty-home", top / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    return Installed(wheel, programs, home, elsewhere, env | {"HOME": str(home)})


def test_wheel_holds_package_rules_and_fixtures(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = archive.namelist()
    held = {name for name in names if ".dist-info/" not in name}
    expected = {"crdcompat/_version.py"}
    inside_of = {"crdcompat": "crdcompat", "rules": "crdcompat/_rules", "fixtures": "crdcompat/_fixtures"}
    for folder, inside in inside_of.items():
        files = (path for path in (PROJECT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        expected |= {f"{inside}/{path.relative_to(PROJECT / folder).as_posix()}" for path in files}
    assert held == expected
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_commands_work_away_from_the_checkout(installed: Installed) -> None:
    assert "error[enum-value-added]" in installed.run("crdcompat", "demo").stdout
    rules = {path.stem for path in (PROJECT / "rules").glob("*.yaml")}
    assert rules and rules <= set(installed.run("crdcompat", "rules").stdout.split())
    assert "enum-value-added" in installed.run("crdcompat", "explain", "enum-value-added").stdout
    schema = installed.run("crdcompat", "rules", "--report-schema").stdout
    assert json.loads(schema) == schema_of_reports()
    assert list(installed.home.iterdir()) == [] and list(installed.elsewhere.iterdir()) == []


@pytest.mark.parametrize("command", [["-c", "import crdcompat"], ["-m", "crdcompat", "--version"]])
def test_start_imports_no_heavy_package(installed: Installed, command: list[str]) -> None:
    shown = installed.run("python", "-X", "importtime", *command, PYTHONDONTWRITEBYTECODE="1").stderr
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in shown.splitlines()}
    assert "crdcompat" in imported
    assert imported & _NOT_AT_START == set()


def test_each_dependency_is_imported() -> None:
    """A runtime dependency that nothing imports belongs in an extra, or nowhere."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {_normal(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in project["dependencies"]}
    provided = packages_distributions()
    used = {_normal(dist) for name in _imported() for dist in provided.get(name, ())}
    assert needed - used == set()


def _imported() -> set[str]:
    """The top-level names that the package imports when it runs: not those for the type checker alone."""
    found: set[str] = set()
    for path in (PROJECT / "crdcompat").rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        for guarded in [node for node in ast.walk(tree) if isinstance(node, ast.If)]:
            if ast.unparse(guarded.test) == "TYPE_CHECKING":
                guarded.body = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

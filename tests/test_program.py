"""The name that help and errors give to the command: the one that the user typed, also as a plugin of kubectl or oc."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from offline import PROJECT

from crdcompat.cli.app import _MODULES

_START = "import sys; sys.path.insert(0, {project!r}); from crdcompat.__main__ import main; main()"
#: Files for everybody name the command of an installation: the rules in docs, what is written into configurations.
_FOR_OTHERS = ("render/rules.py", "config/first_configuration.py", "features/verify/scratch_cluster.py", "cli/help.py")
_DEMO = PROJECT / "fixtures/demo"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the three programs of an installation."""
    for name in ("crdcompat", "kubectl-crdcompat", "oc-crdcompat"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        start = _START.format(project=str(PROJECT))
        program.write_text(f"#!{sys.executable} -P\n{start}\n", encoding="utf-8")
        program.chmod(0o755)
    return tmp_path / "bin"


def _output(*command: str | Path, **environment: str) -> str:
    """What a command prints, on both streams."""
    whole = {**os.environ, **environment}
    ran = subprocess.run([*map(str, command)], env=whole, capture_output=True, text=True, check=False, timeout=120)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("host", ["", "kubectl", "oc"])
def test_help_and_errors_name_what_was_typed(host: str, programs: Path) -> None:
    typed = f"{host} crdcompat" if host else "crdcompat"
    program = programs / ("-".join(typed.split()))
    told = [
        _output(program, "diff", "--help"),
        _output(program, "--help"),
        _output(program, "diff"),
        _output(program, "no-such-command"),
        _output(program, "explain", "no-such-rule"),
        _output(program, "rules", "no-such-family"),
        _output(program, "rules"),
        _output(program, "explain", "enum-value-added"),
        _output(program, "demo"),
        _output(program, "diff", _DEMO / "release-4.13", _DEMO / "release-4.14", "-v"),
        _output(program, "diff", _DEMO / "release-4.13", _DEMO / "release-4.14", "--format", "markdown"),
    ]
    commands = "|".join(("-h", r"\[OPTIONS", *_MODULES))
    for text in told:
        named = re.findall(rf"(\b\w+ )?crdcompat (?={commands})", " ".join(text.split()))
        assert {name.strip() if name.strip() in ("kubectl", "oc") else "" for name in named} == {host}, text
    assert ("--install-completion" in told[1]) == (not host)


def test_kubectl_runs_it(programs: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("there is no kubectl")
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    told = _output(kubectl, "crdcompat", "diff", _DEMO / "release-4.13", _DEMO / "release-4.14", "-q", PATH=path)
    assert "release-4.14 -> release-4.13: BLOCKED" in told
    assert "Usage: kubectl crdcompat diff" in _output(kubectl, "crdcompat", "diff", "--help", PATH=path)


def test_no_message_has_a_name_of_its_own() -> None:
    """Outside of reports and files, a message has ``{typed()} diff``. /crdcompat is for comments."""
    command = re.compile(rf"(?<!/)\bcrdcompat ({'|'.join(_MODULES)})\b")
    found = [
        f"{path.relative_to(PROJECT)}:{text.lineno}"
        for path in sorted((PROJECT / "crdcompat").rglob("*.py"))
        if not path.relative_to(PROJECT / "crdcompat").as_posix().startswith(_FOR_OTHERS)
        for text in _texts(ast.parse(path.read_bytes()))
        if command.search(str(text.value)) and not str(text.value).startswith("#")
    ]
    assert found == []


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """The string constants of a module that are not its documentation."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node

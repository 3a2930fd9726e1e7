"""Work as a number: calls of functions, which are the same on every machine, however busy it is."""

from __future__ import annotations

import cProfile
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crdcompat.findings.rules import rule


class Operations:
    """Calls of functions, built-in ones and steps of generators included, once the block has ended."""

    calls = 0


@contextmanager
def operations() -> Iterator[Operations]:
    """Count what a block does. Calls inside C count as the one call from Python: bound the memory beside."""
    done = Operations()
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield done
    finally:
        profile.disable()
        done.calls = sum(entry.callcount for entry in profile.getstats())


#: What is counted: a name, and the function that is called for each.
_COUNTED = {
    "blobs read": "crdcompat.sources.blobs._answer",
    "git processes": "subprocess.Popen.__init__",
    "streams parsed": "crdcompat.yaml.streams._read_stream",
    "nodes compared": "crdcompat.compare.walk._walk",
    "schemas compared": "crdcompat.compare.walk.diff_schemas",
    "changes proved": "crdcompat.compare.witness.prove",
    "objects judged": "crdcompat.apiserver.strategy.Resource.create",
    "rules compiled": "crdcompat.apiserver.cel.environment.compile_rule",
    "patterns compared": "crdcompat.schema.regex._difference",
    "files of rules read": "crdcompat.findings.rules.read_rule",
}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What is done from now on."""
    for module in (
        "cli.run",
        "features.check.sections",
        "findings.split",
        "compare.writer_default",
        "apiserver.cel.walk",
    ):
        importlib.import_module(f"crdcompat.{module}")  # whoever takes a function by name has it now
    importlib.import_module("git")  # it asks git for its version when it is imported, once in a process
    rule.cache_clear()
    counter: Counter[str] = Counter()
    for name, path in _COUNTED.items():
        _count(name, path, counter, monkeypatch)
    return counter


def _count(name: str, path: str, counter: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute = _found(path)
    original: Callable[..., Any] = getattr(owner, attribute)

    def counting(*args: Any, **kwargs: Any) -> Any:
        counter[name] += 1
        return original(*args, **kwargs)

    for module in (owner, *[m for n, m in [*sys.modules.items()] if n.startswith("crdcompat.")]):
        if getattr(module, attribute, None) is original:
            monkeypatch.setattr(module, attribute, counting)


def _found(path: str) -> tuple[Any, str]:
    home, _, attribute = path.rpartition(".")
    try:
        return importlib.import_module(home), attribute
    except ModuleNotFoundError:
        module, _, name = home.rpartition(".")
        return getattr(importlib.import_module(module), name), attribute

"""Operation counts: calls of functions, which do not depend on the machine or its load."""

from __future__ import annotations

import cProfile
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crdcompat.apiserver.crd_validation import cost_budget, refusal
from crdcompat.apiserver.supported import causes
from crdcompat.findings.rules import rule
from crdcompat.sources import blobs


class Operations:
    """Calls of functions, built-in ones and steps of generators included, once the block has ended."""

    calls = 0


@contextmanager
def operations() -> Iterator[Operations]:
    """Count the calls of a block. Work inside a C function counts as one call: bound its memory as well."""
    done = Operations()
    profile = cProfile.Profile(subcalls=False)
    profile.enable()
    try:
        yield done
    finally:
        profile.disable()
        done.calls = sum(entry.callcount for entry in profile.getstats())


#: Name of a count -> the function whose calls are counted.
_COUNTED = {
    "blobs read": "crdcompat.sources.blobs._answer",
    "git processes": "subprocess.Popen.__init__",
    "streams parsed": "crdcompat.yaml.streams.load_stream",
    "nodes compared": "crdcompat.compare.schema_walk._Walk.walk",
    "schemas compared": "crdcompat.compare.schema_walk.diff_schemas",
    "changes proved": "crdcompat.compare.witness.prove",
    "objects judged": "crdcompat.apiserver.strategy.Resource.create",
    "objects replayed": "crdcompat.replay.replayed_writes.replay",
    "CRDs validated": "crdcompat.apiserver.crd_validation.refusal.faults",
    "rules compiled": "crdcompat.apiserver.cel.environment.compile_rule",
    "patterns compared": "crdcompat.schema.regex._difference",
    "files of rules read": "crdcompat.findings.rules.read_rule",
}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts of work from now on, by name."""
    for module in (
        "features.diff.configured",
        "features.check.sections",
        "features.simulate.simulate_workflow",
        "findings.split",
        "compare.likelihood",
        "apiserver.cel.rule_walk",
    ):
        importlib.import_module(f"crdcompat.{module}")  # so that ``from … import`` has bound the original functions
    importlib.import_module("git")  # importing it runs ``git version`` once per process
    as_new_process()
    counter: Counter[str] = Counter()
    for name, path in _COUNTED.items():
        _count(name, path, counter, monkeypatch)
    return counter


def as_new_process() -> None:
    """Forget what one process keeps for its next run."""
    rule.cache_clear()
    blobs._idle.end()
    for module in (cost_budget, causes, refusal):
        module._KNOWN._known.clear()


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

"""crdcompat lsp without its extra."""

from __future__ import annotations

import sys

import pytest
from helpers import run


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pygls", "lsprotocol"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "crdcompat.features.lsp.language_server", raising=False)
    ran = run("lsp")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "crdcompat: lsp needs the package pygls: pip install 'crdcompat[lsp]'\n"

"""A live cluster, played by a local server with the answers that a real API server gave."""

from __future__ import annotations

import pytest
from recorded import from_cluster

from crdcompat.errors import UsageError

pytest.importorskip("kubernetes")


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kubernetes.client", None)
    with pytest.raises(UsageError, match=r"pip install 'crdcompat\[cluster\]'"):
        from_cluster()

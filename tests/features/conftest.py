"""A cluster on the loopback with a CRD that knows more values than OLD's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer, kubeconfig, serving
from helpers import crd, write
from widgets import GADGET, NEW, OLD


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """A cluster with the CRD of Widgets that knows more values than OLD's, and one of Gadgets that is the same."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    write(tmp_path / "old/widgets.json", crd(OLD))
    write(tmp_path / "old/gadgets.json", crd(GADGET, kind="Gadget"))
    with serving(ApiServer()) as server:
        server.install(crd(NEW), crd(GADGET, kind="Gadget"))
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", server.server_port)))
        monkeypatch.chdir(tmp_path)
        yield server

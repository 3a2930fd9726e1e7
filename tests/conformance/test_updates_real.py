"""The script of docs/updates.md with real helm, git and go: each source that ``updates`` lists is fetched and compared.

All of them are on the loopback. ``make referee`` builds Helm.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import helm_build
import pytest
import referee_build
from helpers import commit, crd, git, obj, root, string, write

_DOCS = Path(__file__).resolve().parents[2] / "docs" / "updates.md"
_HELMS = {major: helm_build.binary(major, referee_build.cache_home()) for major in helm_build.VERSIONS}
_VERSIONS = {"1.0.0": "A", "1.1.0": "AB"}
_GIT, _GO = "https://git.example.com/gadgets", "example.com/gizmos"


class _Files(http.server.SimpleHTTPRequestHandler):
    asked: list[str]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        self.asked.append(self.path)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """A folder, its address, and the paths that were asked for."""
    folder, asked = tmp_path / "served", list[str]()
    folder.mkdir()
    handler = type("Handler", (_Files,), {"asked": asked})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def _schema(values: str, kind: str) -> str:
    return json.dumps(crd(root(status=obj(p=string(*values))), kind=kind))


def _charts(folder: Path, helm: Path, name: str) -> None:
    for version, values in _VERSIONS.items():
        top = folder.parent / f"chart-{name}-{version}" / name
        write(top / "Chart.yaml", f"apiVersion: v2\nname: {name}\nversion: {version}\n")
        write(top / "templates" / "crd.yaml", _schema(values, name.capitalize()))
        subprocess.run([helm, "package", top, "-d", folder / "charts"], check=True, capture_output=True)
    subprocess.run([helm, "repo", "index", folder / "charts"], check=True, capture_output=True)


def _repository(folder: Path) -> None:
    top = folder.parent / "gadgets"
    top.mkdir()
    git(top, "init", "-qb", "main")
    for version, values in _VERSIONS.items():
        commit(top, {"config/crd/g.yaml": _schema(values, "Gadget"), "other/n.yaml": _schema(values, "Nothing")})
        git(top, "tag", f"v{version}")
    bare = folder / "gadgets"
    git(top, "clone", "-q", "--bare", str(top), str(bare))
    git(bare, "update-server-info")


def _module(proxy: Path) -> None:
    top = proxy / _GO / "@v"
    top.mkdir(parents=True)
    for version, values in _VERSIONS.items():
        name, mod = f"{_GO}@v{version}", f"module {_GO}\n"
        write(top / f"v{version}.info", json.dumps({"Version": f"v{version}"}))
        write(top / f"v{version}.mod", mod)
        with zipfile.ZipFile(top / f"v{version}.zip", "w") as archive:
            archive.writestr(f"{name}/go.mod", mod)
            archive.writestr(f"{name}/config/g.yaml", _schema(values, "Gizmo"))


def _change(version: str, address: str) -> dict[str, str]:
    charts = f"{address}/charts"
    flux = {"apiVersion": "source.toolkit.fluxcd.io/v1", "metadata": {"name": "r", "namespace": "n"}}
    release = {
        "chart": {"spec": {"chart": "flux", "version": version, "sourceRef": {"kind": "HelmRepository", "name": "r"}}}
    }
    argo = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"}}
    return {
        "Chart.yaml": json.dumps(
            {"name": "a", "dependencies": [{"name": "plain", "version": version, "repository": charts}]}
        ),
        "flux/repository.yaml": json.dumps({**flux, "kind": "HelmRepository", "spec": {"url": charts}}),
        "flux/release.yaml": json.dumps(
            {**flux, "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "spec": release}
        ),
        "flux/git.yaml": json.dumps(
            {**flux, "kind": "GitRepository", "spec": {"url": _GIT, "ref": {"tag": f"v{version}"}}}
        ),
        "argo/chart.yaml": json.dumps(
            {**argo, "spec": {"source": {"repoURL": charts, "chart": "argo", "targetRevision": version}}}
        ),
        "argo/git.yaml": json.dumps(
            {**argo, "spec": {"source": {"repoURL": _GIT, "path": "config/crd", "targetRevision": f"v{version}"}}}
        ),
        "base/kustomization.yaml": f"resources:\n- {_GIT}//config/crd?ref=v{version}\n",
        "go.mod": f"module a.example/a\n\nrequire {_GO} v{version}\n",
    }


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "jq", "go", "git"))), reason="there is no bash, jq, go or git")
@pytest.mark.parametrize("major", sorted(_HELMS))
def test_each_source_is_fetched_and_compared(major: str, tmp_path: Path, served: tuple[Path, str, list[str]]) -> None:
    helm = _HELMS[major]
    if not helm.is_file():
        pytest.skip(f"helm {major} is not built: make referee")
    folder, address, asked = served
    for name in ("plain", "flux", "argo", "unused"):
        _charts(folder, helm, name)
    _repository(folder)
    _module(tmp_path / "proxy")
    here = tmp_path / "repository"
    here.mkdir()
    git(here, "init", "-qb", "main")
    commit(here, _change("1.0.0", address))
    git(here, "tag", "base")
    commit(here, _change("1.1.0", address))
    asked.clear()
    ran = subprocess.run(
        ["bash", "-c", _script(), "script", "base"],
        cwd=here,
        env=_environment(tmp_path, helm, address),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    comment = (here / "comment.md").read_text()
    assert (ran.returncode, ran.stderr) == (1, ""), comment
    _, *parts = re.split(r"(?m)^## (\S+): v?1\.0\.0 to v?1\.1\.0$", comment)
    kinds = {
        file: set(re.findall(r"\b([a-z]+\.example\.com)/v1", text))
        for file, text in zip(parts[::2], parts[1::2], strict=True)
    }
    assert kinds == {
        "Chart.yaml": {"plains.example.com"},
        "flux/release.yaml": {"fluxs.example.com"},
        "flux/git.yaml": {"gadgets.example.com", "nothings.example.com"},
        "argo/chart.yaml": {"argos.example.com"},
        "argo/git.yaml": {"gadgets.example.com"},
        "base/kustomization.yaml": {"gadgets.example.com"},
        "go.mod": {"gizmos.example.com"},
    }
    fetched = {path for path in asked if path.startswith("/charts/") and not path.endswith("index.yaml")}
    assert fetched == {f"/charts/{name}-{version}.tgz" for name in ("plain", "flux", "argo") for version in _VERSIONS}


def _script() -> str:
    """The script as the page has it."""
    found = re.search(r"```sh\n(# crdcompat-updates\.sh BASE\n.*?\n)```\n", _DOCS.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def _environment(tmp_path: Path, helm: Path, address: str) -> dict[str, str]:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "helm").symlink_to(helm)
    (programs / "crdcompat").write_text(f'#!/bin/sh\nexec {sys.executable} -m crdcompat "$@"\n')
    (programs / "crdcompat").chmod(0o755)
    homes = {f"HELM_{name}_HOME": str(tmp_path / "helm") for name in ("CACHE", "CONFIG", "DATA")}
    go = {"GOPROXY": f"file://{tmp_path / 'proxy'}", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw", "GOWORK": "off"}
    redirected = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{address}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://git.example.com/",
    }
    caches = {"GOMODCACHE": str(tmp_path / "modules"), "PATH": f"{programs}:{os.environ['PATH']}"}
    package = {"PYTHONPATH": str(Path(__file__).resolve().parents[2]), "no_proxy": "127.0.0.1"}
    return {**os.environ, **homes, **go, **redirected, **caches, **package}

"""verify --assets: programs of a folder are started, and asked over TLS. Stand-ins take the place of the real ones."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from helpers import both, obj, root, run, string

_HERE = Path(__file__).resolve()
_SUPPORT = _HERE.parents[2] / "support"
#: An etcd that waits; says what it was started with.
_ETCD = """#!{python}
import sys, time
print(*sys.argv[1:], flush=True)
time.sleep(1000)
"""
#: A kube-apiserver that makes a certificate, as the real one does, and serves a cluster of the tests.
_SERVER = """#!{python}
import ssl, subprocess, sys, threading, time
from pathlib import Path
sys.path.insert(0, {support!r})
import fake_cluster
given = dict(each.removeprefix("--").partition("=")[::2] for each in sys.argv[1:])
key, at = given["service-account-signing-key-file"], Path(given["cert-dir"])
subprocess.run(["openssl", "ec", "-in", key, "-noout", "-check"], check=True)
at.mkdir()
made, shown = at / "made.crt", at / "apiserver.crt"
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at / "apiserver.key", "-out", made,
     "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"], check=True)
token = Path(given["token-auth-file"]).read_text().partition(",")[0]
cluster = fake_cluster.FakeCluster(token, port=int(given["secure-port"]))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(made, at / "apiserver.key")
with fake_cluster.serving(cluster, context):
    made.rename(shown)
    time.sleep(1000)
"""
_BROKEN = '#!/bin/sh\necho no such flag: "$1" >&2\nexit 1\n'


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "report.json"
    old, new = (root(status=obj(p=string(*members))) for members in ("A", "AB"))
    run("diff", *both(tmp_path, old, new), "--format", f"json={file}")
    return file


def _assets(tmp_path: Path, **programs: str) -> Path:
    folder = tmp_path / "assets"
    folder.mkdir()
    for name, text in programs.items():
        program = folder / name.replace("_", "-")
        program.write_text(text.format(python=sys.executable, support=str(_SUPPORT)) if "{" in text else text)
        program.chmod(0o755)
    return folder


def test_both_programs_are_started_asked_and_ended(
    tmp_path: Path, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make the stand-in's certificate")
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    ran = run("verify", report, "--assets", _assets(tmp_path, etcd=_ETCD, kube_apiserver=_SERVER), "--format", "json")
    assert ran.code == 0, ran.err
    assert [each["outcome"] for each in ran.report["verified"]] == ["confirmed"]
    assert ran.report["server"]["context"] == "crdcompat-verify"
    assert [*place.iterdir()] == []


def test_a_folder_without_the_programs(tmp_path: Path, report: Path) -> None:
    ran = run("verify", report, "--assets", _assets(tmp_path, etcd=_ETCD))
    assert (ran.code, ran.out) == (2, "")
    assert "assets: no program kube-apiserver: `setup-envtest use -p path` prints a folder that has it" in ran.err


def test_a_server_that_does_not_start(tmp_path: Path, report: Path) -> None:
    ran = run("verify", report, "--assets", _assets(tmp_path, etcd=_ETCD, kube_apiserver=_BROKEN))
    assert (ran.code, ran.out) == (2, "")
    assert "kube-apiserver did not start:\n" in ran.err
    assert "no such flag: --etcd-servers=http://127.0.0.1:" in ran.err


@pytest.mark.skipif("CRDCOMPAT_ASSETS" not in os.environ, reason="CRDCOMPAT_ASSETS names no folder of real programs")
def test_real_programs(report: Path) -> None:
    ran = run("verify", report, "--assets", os.environ["CRDCOMPAT_ASSETS"], "--format", "json")
    assert ran.code == 0, ran.err
    assert [each["outcome"] for each in ran.report["verified"]] == ["confirmed"]

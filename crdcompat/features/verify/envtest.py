"""An API server of our own, started from a folder of binaries as envtest has it: ``etcd`` and ``kube-apiserver``.

Both listen on the loopback, keep their data in a folder that is removed at the end, and end with the run. A token of
this run is the only credential.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import orjson

from crdcompat.errors import SourceError

CONTEXT = "crdcompat-verify"
"""The context of the kubeconfig that is written."""

_START_SECONDS, _PAUSE_SECONDS, _STOP_SECONDS = 120.0, 0.2, 10.0
_ON_LOOPBACK = "127.0.0.1"


@contextlib.contextmanager
def running(assets: str) -> Iterator[str]:
    """Start the binaries of ``assets``; the path of a kubeconfig. Raises SourceError if a server does not start."""
    folder = Path(assets)
    binaries = [folder / name for name in ("etcd", "kube-apiserver")]
    for binary in binaries:
        if not os.access(binary, os.X_OK):
            raise SourceError(
                f"{assets}: no program {binary.name}: `setup-envtest use -p path` prints a folder that has it"
            )
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crdcompat-verify-")))
        etcd, peers, api = _free_ports(3)
        token = secrets.token_hex(16)
        stack.enter_context(_process(_etcd(binaries[0], data, etcd, peers), data / "etcd.log"))
        server = stack.enter_context(
            _process(_kube_apiserver(binaries[1], data, etcd, api, token), data / "kube-apiserver.log")
        )
        _await_ready(server, data, api, token)
        yield str(_kubeconfig(data, api, token))


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind((_ON_LOOPBACK, 0))
        return [each.getsockname()[1] for each in found]


def _etcd(binary: Path, data: Path, clients: int, peers: int) -> list[str]:
    at, between = f"http://{_ON_LOOPBACK}:{clients}", f"http://{_ON_LOOPBACK}:{peers}"
    return [
        str(binary),
        f"--data-dir={data / 'etcd'}",
        f"--listen-client-urls={at}",
        f"--advertise-client-urls={at}",
        f"--listen-peer-urls={between}",
        f"--initial-advertise-peer-urls={between}",
        f"--initial-cluster=default={between}",
        "--unsafe-no-fsync",
    ]


def _kube_apiserver(binary: Path, data: Path, etcd: int, port: int, token: str) -> list[str]:
    tokens, key = data / "tokens.csv", data / "service-accounts.pem"
    _write_private(tokens, f'{token},crdcompat,crdcompat,"system:masters"\n')
    _write_private(key, _private_key())
    return [
        str(binary),
        f"--etcd-servers=http://{_ON_LOOPBACK}:{etcd}",
        f"--bind-address={_ON_LOOPBACK}",
        f"--secure-port={port}",
        f"--cert-dir={data / 'certificates'}",  # where the server puts a certificate of its own
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        "--anonymous-auth=false",
        "--service-account-issuer=https://crdcompat.invalid",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount",
    ]


def _write_private(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text, encoding="ascii")


def _private_key() -> str:
    """A new private key of the curve P-256, for tokens of service accounts, which nobody asks for (RFC 5915)."""
    number = (secrets.randbelow(_P256_ORDER - 1) + 1).to_bytes(32, "big")
    curve = bytes.fromhex("a00a06082a8648ce3d030107")
    body = b"\x02\x01\x01" + b"\x04\x20" + number + curve
    text = base64.b64encode(b"\x30" + bytes([len(body)]) + body).decode()
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN EC PRIVATE KEY-----", *lines, "-----END EC PRIVATE KEY-----", ""])


_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@contextlib.contextmanager
def _process(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that ends with the block; Ctrl-C does not reach it, so that installed CRDs can be removed first."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=log.parent, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_ready(server: subprocess.Popen[bytes], data: Path, port: int, token: str) -> None:
    """Raises SourceError with the end of the server's log."""
    until = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        if _is_ready(data, port, token):
            return
        time.sleep(_PAUSE_SECONDS)
    logs = ((data / f"{name}.log").read_text(errors="replace") for name in ("etcd", "kube-apiserver"))
    last = "\n".join(log.strip()[-600:] for log in logs)
    raise SourceError(f"kube-apiserver did not start:\n{last}")


def _is_ready(data: Path, port: int, token: str) -> bool:
    certificate = _certificate(data)
    if not certificate.is_file():
        return False
    request = urllib.request.Request(
        f"https://{_ON_LOOPBACK}:{port}/readyz", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        trusted = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(certificate)))
        # Requests to the loopback use no proxy, even if the environment sets one.
        with urllib.request.build_opener(urllib.request.ProxyHandler({}), trusted).open(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _certificate(data: Path) -> Path:
    return data / "certificates" / "apiserver.crt"


def _kubeconfig(data: Path, port: int, token: str) -> Path:
    cluster = {"server": f"https://{_ON_LOOPBACK}:{port}", "certificate-authority": str(_certificate(data))}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
        "current-context": CONTEXT,
    }
    file = data / "kubeconfig"
    _write_private(file, orjson.dumps(config).decode())
    return file

"""Kubernetes' own reader of YAML and JSON, built from ``tests/referee/reader`` and the modules on this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import referee_build

_SOURCE = Path(__file__).resolve().parents[1] / "referee/reader/main.go"
_SECONDS = 300
_CACHE = referee_build.cache_home()


class NoReaderError(Exception):
    """There is no Go, or the modules are not here; the message says what is missing."""


def reader() -> Path:
    """The program; it is built once, without a network. Raises NoReaderError."""
    newest = [*referee_build.recipes().values()][-1]
    go_mod = f"module crdcompat/reader\n\ngo {newest.go}\n\nrequire k8s.io/apimachinery {newest.kubernetes}\n"
    digest = hashlib.sha256(go_mod.encode() + _SOURCE.read_bytes()).hexdigest()[:16]
    folder = _CACHE / "reader" / digest
    program = folder / "reader"
    if program.is_file():
        return program
    go = shutil.which("go")
    if go is None:
        raise NoReaderError("there is no `go` command")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(_SOURCE, folder)
    (folder / "go.mod").write_text(go_mod, encoding="utf-8")
    alone = {"GOWORK": "off", "CGO_ENABLED": "0", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GONOSUMDB": "*"}
    command = [go, "build", "-o", str(folder / "built"), "."]
    made = subprocess.run(
        command, cwd=folder, env={**os.environ, **alone}, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    if made.returncode:
        raise NoReaderError(
            f"Kubernetes' reader cannot be built (`make referee` gets its modules): {made.stderr[-300:]}"
        )
    (folder / "built").replace(program)
    return program


def kinds(program: Path, files: Sequence[bytes]) -> list[set[tuple[str, str]]]:
    """The (apiVersion, kind) of the objects that Kubernetes reads in each file."""
    asked = "".join(f"{base64.b64encode(data).decode()}\n" for data in files)
    ran = subprocess.run([program], input=asked, capture_output=True, text=True, timeout=_SECONDS, check=True)
    return [{(version, kind) for version, kind in json.loads(line)} for line in ran.stdout.splitlines()]

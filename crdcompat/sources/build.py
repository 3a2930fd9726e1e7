"""Programs that make manifests: helm and kustomize. They run only if the user asks for it, on files on disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.atomic_write import temporary_folder
from crdcompat.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_SECONDS = 120
_VERSION = "kubeVersion"  # occurs in helm's error if a chart excludes this version of Kubernetes
_SOURCE = re.compile(rb"^---[ \t]*\r?\n# Source: ([^\n]+)\n", re.MULTILINE)


def helm_template(name: str, chart: str | bytes, values: Sequence[str], kubernetes: str) -> dict[str, bytes]:
    """The manifests of a chart, by the path of the template that makes them.

    ``chart`` is its path, or the content of its ``.tgz``. ``values`` are files of values. ``kubernetes`` is the version
    of the server for the templates, "" for helm's own. Raises UsageError if helm is not installed or the chart is not
    on disk, SourceError if helm fails.
    """
    options = [argument for file in values for argument in ("--values", str(Path(file).absolute()))]
    options += ("--kube-version", kubernetes) if kubernetes else ()
    with _chart_on_disk(name, chart) as path:
        try:
            text = _output(name, ["helm", "template", "crdcompat", path, "--include-crds", *options])
        except SourceError as error:
            if _VERSION in str(error):
                raise SourceError(f"{error}{_version_hint(name, kubernetes)}") from None
            raise
    before, *parts = _SOURCE.split(text)
    found = {"rendered.yaml": before} if before.strip() else {}
    for source, content in zip(parts[::2], parts[1::2], strict=True):
        template = source.decode("utf-8", "replace").strip().partition("/")[2] or "rendered.yaml"
        found[template] = b"---\n".join((*filter(None, (found.get(template),)), content))
    return found


def kustomize_build(name: str, path: str) -> bytes:
    """The manifests that a kustomization makes. Raises as `helm_template`."""
    folder = _on_disk(name, path)
    if shutil.which("kustomize"):
        return _output(name, ["kustomize", "build", folder])
    return _output(name, ["kubectl", "kustomize", folder])


def _version_hint(name: str, kubernetes: str) -> str:
    where = f'in the configuration, as releases: {{"{name}": "1.31"}}'
    if kubernetes:
        return f": Kubernetes {kubernetes} is what the configuration or --kube-version names; correct it {where}"
    return f": that is helm's own version; name the server of this release {where}"


@contextmanager
def _chart_on_disk(name: str, chart: str | bytes) -> Iterator[str]:
    """The path of a chart. The content of a packed chart is written to a temporary folder."""
    if isinstance(chart, str):
        yield _on_disk(name, chart)
        return
    with temporary_folder() as folder:
        packed = Path(folder) / "chart.tgz"
        packed.write_bytes(chart)
        yield str(packed)


def _on_disk(name: str, path: str) -> str:
    if not Path(path).exists():
        raise UsageError(f"{name}: helm and kustomize read only files on this machine: download it first")
    return str(Path(path).absolute())  # an absolute path cannot be read as an option


def _output(name: str, command: Sequence[str]) -> bytes:
    program = shutil.which(command[0])
    if program is None:
        raise UsageError(f"{name}: {command[0]} is not on the PATH: install it, or compare its output as files")
    environment = {**os.environ, "HELM_NO_PLUGINS": "1"}
    try:
        ran = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=MAX_SECONDS,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"{name}: {command[0]} did not end within {MAX_SECONDS} seconds") from None
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").split("\n\n")[0].split()
        raise SourceError(f"{name}: {command[0]} failed: {' '.join(said) or 'without a message'}")
    return ran.stdout

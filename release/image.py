"""Builds the container image of a release as an archive (OCI), with buildah or podman.

Its base and Debian's packages come from their registries: a later build of the same commit can have newer ones.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

_TOOLS = ("buildah", "podman")


def build_image(source: Path, file: Path, version: str, epoch: int) -> None:
    """Build the Containerfile of a clone that may be changed; all times are ``epoch``.

    Raises SystemExit if neither tool is installed, or if it fails.
    """
    tool = next(filter(shutil.which, _TOOLS), None)
    if tool is None:
        raise SystemExit(f"an image needs {' or '.join(_TOOLS)}: install one, or leave out IMAGE=1")
    # The builder gets no .git, from which the version would come.
    text = f'def version() -> str:\n    return "{version}"\n'
    (source / "version_from_git.py").write_text(text, encoding="utf-8")
    name = f"localhost/crdcompat:{version.replace('+', '-')}"
    times = ("--timestamp", str(epoch), "--build-arg", f"SOURCE_DATE_EPOCH={epoch}")
    _run(tool, "build", *times, "--tag", name, "--file", str(source / "Containerfile"), str(source))
    if tool == "buildah":
        _run(tool, "push", name, f"oci-archive:{file}")
    else:
        _run(tool, "save", "--format", "oci-archive", "--output", str(file), name)
    set_times(file, epoch)


def set_times(file: Path, epoch: int) -> None:
    """Give all members of an archive one time: the tools give them the time at which they wrote it, in any order."""
    made = file.with_name(f"{file.name}.new")
    with tarfile.open(file) as archive, tarfile.open(made, "w", format=tarfile.USTAR_FORMAT) as fixed:
        for member in sorted(archive, key=lambda each: each.name):
            member.mtime = epoch
            fixed.addfile(member, archive.extractfile(member) if member.isfile() else None)
    made.replace(file)


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"{command[0]} {command[1]} failed (above is why); make dist without IMAGE=1 builds the rest")

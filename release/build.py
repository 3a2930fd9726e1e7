"""Builds what a release consists of, into ``dist/`` (``make dist``).

    python release/build.py WHEELS [--address URL] [--image]

* the wheel and the sdist
* ``crdcompat-….pex``: one file that needs only the Python and the system in its name, with the extra ``cluster``. PEX
  makes it: zipapp cannot import compiled modules, and PEX unpacks them once into a cache.
* ``kubectl-crdcompat-….tar.gz`` with that file as a plugin of kubectl, and ``crdcompat.yaml``, the manifest for krew
* ``helm-crdcompat-….tgz``: the plugin for Helm
* with ``--image`` (``make dist IMAGE=1``): ``crdcompat-….oci.tar``, the container image (``image.py``)
* ``crdcompat-….cdx.json``: the bill of materials of the single file (CycloneDX), and ``SHA256SUMS``

``WHEELS`` is a folder with the wheels of all dependencies: nothing is fetched, except for the image. URL is where the
files will be, for krew. What is not committed is left out. The same commit and the same wheels give the same bytes: all
times are those of the commit.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from image import build_image

PROJECT = Path(__file__).resolve().parents[1]
#: Where krew finds the archive, as long as nobody says so.
_ADDRESS = "https://<where you publish the files of dist>"
#: The version of the plugin for Helm in a checkout.
_UNBUILT = b"version: 0.1.0"
#: The names of architectures in Go, which krew uses.
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def build(wheels: Path, dist: Path, address: str, *, with_image: bool) -> None:
    """Build the commit that is checked out into an empty folder."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "source")
        subprocess.run(["git", "clone", "--quiet", PROJECT, source], check=True)
        asked = ("git", "log", "-1", "--format=%ct")
        epoch = int(subprocess.run(asked, cwd=source, check=True, capture_output=True, text=True).stdout)
        _distributions(source, dist, epoch)
        (wheel,) = dist.glob("*.whl")
        version = wheel.name.split("-")[1]
        single = dist / f"crdcompat-{version}-{_tag()}.pex"
        materials = dist / f"crdcompat-{version}.cdx.json"
        _single_file(wheel, wheels, single, materials, Path(scratch), epoch)
        programs = {"kubectl-crdcompat": single.read_bytes(), "LICENSE": (source / "LICENSE").read_bytes()}
        plugin = dist / f"kubectl-{single.stem}.tar.gz"
        _archive(plugin, programs, epoch)
        helm = {path.name: path.read_bytes() for path in (source / "contrib/helm").iterdir()}
        if with_image:
            machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
            build_image(source, dist / f"crdcompat-{version}-linux_{machine}.oci.tar", version, epoch)
    helm["plugin.yaml"] = helm["plugin.yaml"].replace(_UNBUILT, f"version: {_semantic(version)}".encode())
    _archive(dist / f"helm-crdcompat-{version}.tgz", helm, epoch)
    (dist / "crdcompat.yaml").write_text(_manifest(plugin, version, f"{address}/{plugin.name}"), encoding="utf-8")
    sums = "".join(f"{_digest(path)}  {path.name}\n" for path in sorted(dist.iterdir()))
    (dist / "SHA256SUMS").write_text(sums, encoding="utf-8")


def _tag() -> str:
    """The Python and the system that compiled modules are for."""
    system = sysconfig.get_platform().split("-")[0]
    return f"cp{sys.version_info.major}{sys.version_info.minor}-{system}_{platform.machine()}"


def _distributions(source: Path, dist: Path, epoch: int) -> None:
    _run(source, epoch, "hatchling", "build", "-d", str(dist))


def _single_file(wheel: Path, wheels: Path, file: Path, materials: Path, scratch: Path, epoch: int) -> None:
    """The wheel with all that it needs as one program, and what that consists of."""
    root, environment = str(scratch / "pex"), str(scratch / "environment")
    offline = ("--no-index", "--find-links", str(wheels), "--pex-root", root)
    # As an environment it starts in 0.4 s, else in 1.9 s.
    options = ("--console-script", "crdcompat", "--venv", "prepend", "--include-tools", "--output-file", str(file))
    _run(scratch, epoch, "pex", f"{wheel}[cluster]", *offline, *options)
    tools = {**os.environ, "PEX_TOOLS": "1", "PEX_ROOT": root}
    subprocess.run([sys.executable, file, "venv", environment], check=True, env=tools)
    reproducible = ("--output-reproducible", "--output-file", str(materials))
    _run(scratch, epoch, "cyclonedx_py", "environment", f"{environment}/bin/python", *reproducible)


def _archive(file: Path, files: Mapping[str, bytes], epoch: int) -> None:
    """A packed archive of programs, without anything of this machine."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(files[name]), epoch, 0o755
            archive.addfile(entry, io.BytesIO(files[name]))
    file.write_bytes(gzip.compress(packed.getvalue(), mtime=epoch))


def _manifest(archive: Path, version: str, address: str) -> str:
    """The manifest of the plugin for krew; it names the Python that the file needs."""
    system, machine = platform.system().lower(), platform.machine()
    return f"""\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: crdcompat
spec:
  version: v{_semantic(version)}
  shortDescription: Can this release be rolled back?
  description: |
    Compares the CRDs of two releases, or of a release and the cluster, and finds the changes
    after which a rollback fails.
  caveats: |
    It needs Python {sys.version_info.major}.{sys.version_info.minor} in PATH, and git to compare git refs.
  platforms:
    - selector:
        matchLabels: {{os: {system}, arch: {_ARCHITECTURES.get(machine, machine)}}}
      uri: "{address}"
      sha256: {_digest(archive)}
      bin: kubectl-crdcompat
"""


def _semantic(version: str) -> str:
    """A version as Semantic Versioning writes it, for krew and Helm: 0.1.0.dev3+gabc is 0.1.0-dev.3+gabc."""
    return version.replace(".dev", "-dev.")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(at: Path, epoch: int, module: str, *arguments: str) -> None:
    """Run a program of this Python in a folder, with the time of the commit and without an index of packages."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PIP_NO_INDEX": "1"}
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, check=True, cwd=at, env=environment, stdout=subprocess.DEVNULL)


def main() -> int:
    """Replace ``dist/`` by what was built."""
    parser = argparse.ArgumentParser(description="Build a release into dist/.")
    parser.add_argument("wheels", type=Path, help="a folder with the wheels of all dependencies")
    parser.add_argument("--address", default=_ADDRESS, help="where the files will be, for krew")
    parser.add_argument("--output", type=Path, default=PROJECT / "dist", help="the folder to write (default: dist)")
    parser.add_argument("--image", action="store_true", help="build the container image, too")
    options = parser.parse_args()
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    build(options.wheels.absolute(), options.output.absolute(), options.address, with_image=options.image)
    print("\n".join(f"{path.stat().st_size:>11,}  {path.name}" for path in sorted(options.output.iterdir())))
    if not options.image:
        print("left out: the container image (make dist IMAGE=1; it fetches its base)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

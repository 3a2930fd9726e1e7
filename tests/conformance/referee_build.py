"""Builds the API servers that the tests ask: one program, once per Kubernetes minor (``make referee``).

    python tests/conformance/referee_build.py [MINOR ...]            1.26 to 1.36; without arguments the usual ones
    python tests/conformance/referee_build.py 1.30.0                 a patch, where it differs from the last one
    python tests/conformance/referee_build.py --built [MINOR ...]    builds nothing: which of them are there?

A binary is kept in the user's cache, in a directory named after what it is built from; the tests use those that are
there. The Go module proxy gives the modules, the checksum database vouches for them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

_SOURCES = Path(__file__).resolve().parents[1] / "referee"
_SERVER = _SOURCES / "server"
#: One minor of each behaviour that differs most: before ratcheting, with it, with it in status, and the newest.
USUAL = ("1.28", "1.31", "1.33", "1.36")
_PATCH = re.compile(r"(1\.[0-9]+)\.[0-9]+")


class CannotBuildError(Exception):
    """There is no Go, or the build failed; the message says why."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a server is built from: versions of modules, and the build tags of our own program.

    ``name`` is a minor, or a patch of it.
    """

    name: str
    kubernetes: str
    etcd: str
    go: str
    tags: tuple[str, ...] = ()

    @property
    def go_mod(self) -> str:
        """The go.mod of the program; the go command adds what follows from it."""
        modules = {f"k8s.io/{name}": self.kubernetes for name in ("apiextensions-apiserver", "apiserver", "client-go")}
        modules["go.etcd.io/etcd/server/v3"] = self.etcd
        needed = "".join(f"\t{name} {version}\n" for name, version in modules.items())
        return f"module crdcompat/referee\n\ngo {self.go}\n\nrequire (\n{needed})\n"

    def binary(self, cache: Path) -> Path:
        """Where the binary is kept: the folder's name is a hash of all it is built from."""
        digest = hashlib.sha256(f"{self.go_mod}{self.tags}".encode())
        for source in sorted(_SERVER.glob("*.go")):
            digest.update(source.read_bytes())
        return cache / self.name / digest.hexdigest()[:16] / "referee"


def cache_home() -> Path:
    """The folder of the binaries in the user's cache; tests that replace the cache have to ask before they do."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "crdcompat-referee"


def recipes() -> dict[str, Recipe]:
    """All minors that can be built, oldest first."""
    data = tomllib.loads((_SOURCES / "versions.toml").read_text(encoding="utf-8"))
    return {
        minor: Recipe(minor, entry["kubernetes"], entry["etcd"], entry["go"], tuple(entry.get("tags", ())))
        for minor, entry in data.items()
    }


def recipe_of(name: str) -> Recipe | None:
    """The recipe of a minor, or of a patch of it: that has other modules of Kubernetes. None for any other name."""
    known = recipes()
    if name in known or (found := _PATCH.fullmatch(name)) is None or found[1] not in known:
        return known.get(name)
    return replace(known[found[1]], name=name, kubernetes=f"v0.{name.removeprefix('1.')}")


def minor_of(name: str) -> str:
    """The minor of a server by its name: 1.30 for 1.30.0."""
    found = _PATCH.fullmatch(name)
    return found[1] if found else name


def built(cache: Path) -> dict[str, Path]:
    """Name -> binary, of those that are built from the sources as they are now: the minors, then patches of them."""
    kept = {folder.name for folder in cache.iterdir()} if cache.is_dir() else set()
    names = [*recipes(), *sorted(name for name in kept if _PATCH.fullmatch(name))]
    found = {name: recipe.binary(cache) for name in names if (recipe := recipe_of(name)) is not None}
    return {name: binary for name, binary in found.items() if binary.is_file()}


def build(recipe: Recipe, cache: Path) -> Path:
    """Build a minor's server if it is not there yet. Raises CannotBuildError."""
    binary = recipe.binary(cache)
    if binary.is_file():
        print(f"{recipe.name}: is built ({recipe.kubernetes})", flush=True)
        return binary
    go = shutil.which("go")
    if go is None:
        raise CannotBuildError("there is no `go` command: the API servers are built from Go modules")
    print(f"{recipe.name}: building {recipe.kubernetes}; the first time this takes some minutes...", flush=True)
    began = time.monotonic()
    work = binary.parent / "source"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(_SERVER, work)
    (work / "go.mod").write_text(recipe.go_mod, encoding="utf-8")
    # The program gets its name last: a build that ends early leaves none behind.
    made = work / "referee"
    command = [go, "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", f"-tags={','.join(recipe.tags)}", "-v"]
    run_go([*command, "-o", str(made), "."], work, recipe.name)
    made.replace(binary)
    _forget_others(binary)
    size = binary.stat().st_size / 1e6
    print(f"{recipe.name}: built in {time.monotonic() - began:.0f} s, {size:.0f} MB", flush=True)
    return binary


def run_go(command: Sequence[str], work: Path, name: str) -> None:
    """Run the go command; it names each module and package as it comes to it, which is counted, not shown."""
    environment = {**os.environ, "GOWORK": "off", "CGO_ENABLED": "0"}
    said: list[str] = []
    with subprocess.Popen(command, cwd=work, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for count, line in enumerate(process.stderr, start=1):
            said.append(line)
            if count % 100 == 0:
                print(f"{name}: {count} modules and packages...", flush=True)
    if process.returncode != 0:
        raise CannotBuildError(f"{name}: {' '.join(command)} failed:\n{''.join(said[-20:])}")


def _forget_others(binary: Path) -> None:
    """Remove what was built under this name from other sources."""
    for folder in binary.parent.parent.iterdir():
        if folder != binary.parent:
            shutil.rmtree(folder, ignore_errors=True)


def main(given: Sequence[str]) -> int:
    """Build the minors and patches named, or the usual minors. ``--built`` prints those that are there instead.

    Returns 0 if all are there, 1 if one cannot be built, 2 for a wrong name.
    """
    only_built = "--built" in given
    names = [name for name in given if name != "--built"] or [*USUAL]
    chosen = {name: recipe_of(name) for name in names}
    if wrong := [name for name, recipe in chosen.items() if recipe is None]:
        print(f"{', '.join(wrong)}: not one of {', '.join(recipes())}, nor a patch of one", file=sys.stderr)
        return 2
    if only_built:
        there = built(cache_home())
        print(*(name for name in names if name in there))
        return 0
    failed = False
    for recipe in filter(None, chosen.values()):
        try:
            build(recipe, cache_home())
        except CannotBuildError as error:
            print(error, file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

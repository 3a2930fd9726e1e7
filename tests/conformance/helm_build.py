"""Builds the Helm that the tests ask, once per major version, beside their API servers.

    python tests/conformance/helm_build.py

Helm is a Go module: the module proxy gives it, the checksum database vouches for it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from referee_build import CannotBuildError, cache_home, run_go

#: The version of each major one.
VERSIONS: Mapping[str, str] = {"3": "v3.19.0", "4": "v4.2.1"}
_GO = "1.26"


def binary(major: str, cache: Path) -> Path:
    """Where a Helm is kept."""
    return cache / "helm" / VERSIONS[major] / "helm"


def build(major: str, cache: Path) -> Path:
    """Build a Helm if it is not there yet. Raises CannotBuildError."""
    made = binary(major, cache)
    if made.is_file():
        return made
    go = shutil.which("go")
    if go is None:
        raise CannotBuildError("there is no `go` command: Helm is built from Go modules")
    work = made.parent / "source"
    work.mkdir(parents=True, exist_ok=True)
    module = f"helm.sh/helm/v{major}"
    needed = f"module crdcompat/helm\n\ngo {_GO}\n\nrequire {module} {VERSIONS[major]}\n"
    (work / "go.mod").write_text(needed, encoding="utf-8")
    # The program gets its name last: a build that ends early leaves none behind.
    options = ["-mod=mod", "-ldflags=-s -w", "-v"]
    run_go([go, "build", *options, "-o", str(work / "helm"), f"{module}/cmd/helm"], work, f"helm {major}")
    (work / "helm").replace(made)
    return made


def main() -> int:
    """Build all; 0 if all are there."""
    try:
        for major in VERSIONS:
            print(build(major, cache_home()), flush=True)
    except CannotBuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

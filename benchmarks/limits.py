"""The baseline programs: the least that any Python program must do for the same work. They judge nothing.

    python benchmarks/limits.py app [--version|--help]   a bare Typer application
    python benchmarks/limits.py diff OLD NEW             list both refs, read and parse the CRD files that differ
    python benchmarks/limits.py parse ARCHIVE            read an archive and parse its YAML
    python benchmarks/limits.py listing ARCHIVE          list the archive, as ``tar tzf`` does, then ``parse``

Each imports only what it names. ``diff`` imports Typer, PyYAML and GitPython, as a program that uses them would, and
parses with PyYAML's C loader.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator

_ELSEWHERE = frozenset(
    {"vendor", "testdata", "tests", "zz_generated.featuregated-crd-manifests", "manual-override-crd-manifests"}
)


def app() -> None:
    """A Typer application of one command, called with the arguments after ``app``."""
    import typer

    bare = typer.Typer(pretty_exceptions_enable=False)

    @bare.callback(invoke_without_command=True)
    def main(version: bool = typer.Option(False, "--version", help="Show the version.")) -> None:
        """Do nothing."""
        if version:
            typer.echo("bare 1.0")

    bare(sys.argv[2:], prog_name="bare")


def diff(old: str, new: str) -> None:
    """The least work of a comparison of two refs: the blobs of CRD files that only one of them has."""
    import git  # noqa: F401
    import typer  # noqa: F401
    import yaml

    sides = [set(_blobs(ref)) for ref in (old, new)]
    for data in _contents(sorted(sides[0] ^ sides[1])):
        if b"CustomResourceDefinition" in data:
            with contextlib.suppress(yaml.YAMLError):  # a template
                for _ in yaml.load_all(data, yaml.CSafeLoader):
                    pass


def _blobs(ref: str) -> Iterator[bytes]:
    listing = subprocess.run(["git", "ls-tree", "-r", "-z", "--full-tree", ref], capture_output=True, check=True).stdout
    for record in filter(None, listing.split(b"\0")):
        meta, _, path = record.partition(b"\t")
        folders = path.decode("utf-8", "replace").split("/")[:-1]
        if path.endswith((b".yaml", b".yml", b".json")) and not _ELSEWHERE.intersection(folders):
            yield meta.split(b" ")[2]


def _contents(blobs: list[bytes]) -> Iterator[bytes]:
    asked = b"".join(b"%s\n" % blob for blob in blobs)
    answer = subprocess.run(["git", "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[2])
        yield answer[end + 1 : end + 1 + size]
        at = end + size + 2


def parse(path: str) -> None:
    """Read an archive and parse the YAML in it."""
    import tarfile

    import yaml

    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            with contextlib.suppress(yaml.YAMLError):  # PyYAML does not know `=`, which CRDs list as an operator
                for _ in yaml.load_all(stream.read(), yaml.CSafeLoader) if stream is not None else ():
                    pass


def listing(path: str) -> None:
    """``tar tzf``, then ``parse``."""
    subprocess.run(["tar", "tzf", path], stdout=subprocess.DEVNULL, check=True)
    parse(path)


if __name__ == "__main__":
    works: dict[str, Callable[..., None]] = {"app": lambda *_: app(), "diff": diff, "parse": parse, "listing": listing}
    works[sys.argv[1]](*sys.argv[2:])

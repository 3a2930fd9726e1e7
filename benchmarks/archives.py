"""Recordings to measure with, made from the real must-gather beside the project.

python benchmarks/archives.py FOLDER     write them there
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

_RECORDED = Path(__file__).resolve().parents[2] / "shared/data/recorded"
_OBJECTS = 2000
NAMES = ("mixed", "rejected")
#: The metadata of a file that is one object, as must-gather writes it.
_METADATA = re.compile(rb"(?ms)^metadata:\n(?:  .*?\n)*?  name: (?P<name>[^\n]+)\n")
_IS_OBJECT = re.compile(rb"(?m)\A(?:---\n)?apiVersion: |^kind: (?!.*List$)")
_UID = re.compile(rb"(?m)^  uid: .*$")


def make(folder: Path) -> None:
    """Write ``mixed.tar.gz`` (2,000 objects as a cluster has them) and ``rejected.tar.gz`` (2,000 ClusterVersions)."""
    mixed = list(islice(_many(objects()), _OBJECTS))
    version = next(data for name, data in mixed if "/clusterversions/version" in name)
    rejected = islice(renamed(cycle([("clusterversions/version.yaml", version)])), _OBJECTS)
    for name, files in zip(NAMES, (mixed, rejected), strict=True):
        write(folder / f"{name}.tar.gz", files)


def objects() -> Iterator[tuple[str, bytes]]:
    """The files of the real must-gather that hold one object, by name."""
    with tarfile.open(_RECORDED / "must-gather-4.18.tar.gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".yaml") and (stream := archive.extractfile(member)):
                data = stream.read()
                if _IS_OBJECT.search(data) and _METADATA.search(data) and b"\nitems:" not in data:
                    yield member.name, data


def _many(found: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The objects, and then copies of them by other names, without end."""
    known = list(found)
    yield from known
    yield from renamed(cycle(known))


def renamed(known: Iterable[tuple[str, bytes]], start: int = 0) -> Iterator[tuple[str, bytes]]:
    """The same objects by other names, numbered from ``start``."""
    for number, (name, data) in enumerate(known, start):
        found = _METADATA.search(data)
        assert found is not None
        at = found.span("name")
        copied = b"%sbench-%d%s" % (data[: at[0]], number, data[at[1] :])
        uid = b"  uid: 00000000-0000-0000-0000-%012d" % number
        yield name.replace(".yaml", f"-{number}.yaml"), _UID.sub(uid, copied, count=1)


def write(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """A must-gather of these files, or an archive whose names begin at its top (``./``)."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in files:
            member = tarfile.TarInfo(name if name.startswith(("must-gather", "./")) else f"must-gather.local.1/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


if __name__ == "__main__":
    make(Path(sys.argv[1]))

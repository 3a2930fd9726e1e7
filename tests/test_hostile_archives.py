"""Hostile archives and interrupted fleets: damage is an answer or a problem, never a crash or a pass.

The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) makes 1,000 of them.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
from pathlib import Path

import pytest
from fleets import gather, releases, widget
from helpers import run

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "400")) // 20
_NAMES = (
    "../w.yaml", "/etc/w.yaml", "w\n.yaml", "ü/w.yaml", "\x1b[31mw.yaml", "a/../../w.yaml", ".", "x" * 300 + ".yaml",
)  # fmt: skip


@pytest.fixture(scope="module")
def crds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return releases(tmp_path_factory.mktemp("crds"))


def _packed(members: list[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _hostile(good: bytes, rng: random.Random) -> bytes:
    """An archive with damage of one kind."""
    plain = gzip.decompress(good)
    match rng.randrange(6):
        case 0:
            return good[: rng.randrange(len(good))]
        case 1:
            data = bytearray(rng.choice((good, plain)))
            for _ in range(rng.randrange(1, 20)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(data)
        case 2:
            return _packed([(f"inner{suffix}", good) for suffix in (".tar.gz", ".tgz", ".yaml")])
        case 3:
            return gzip.compress(_packed([(name, b"kind: Widget\n") for name in rng.sample(_NAMES, 3)]))
        case 4:
            return gzip.compress(gzip.compress(plain))
        case _:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(2000)))


@pytest.mark.parametrize("seed", range(CASES))
def test_a_damaged_archive_is_an_answer_or_a_problem(tmp_path: Path, crds: dict[str, Path], seed: int) -> None:
    rng = random.Random(seed)
    good = gather(tmp_path / "good.tar.gz", widget("w", "B"), widget("v", "A")).read_bytes()
    name = rng.choice(("must-gather.tar.gz", "a.tar", "a.tgz", "a.json", "a.yaml.gz", "ü\n.tar.gz"))
    path = tmp_path / "fleet" / name
    path.parent.mkdir()
    path.write_bytes(_hostile(good, rng))
    releases_of = [f"path:{crds[release]}" for release in ("release-4.15", "release-4.16")]
    for args in (("--objects", path), ("--fleet", path.parent, "--jobs", "1")):
        ran = run("simulate", *releases_of, *args, "--format", "json")
        assert ran.code in (0, 1, 2), (seed, ran)
        assert "Traceback" not in ran.err and "crashed" not in ran.err, (seed, ran)


@pytest.mark.parametrize("seed", range(max(CASES // 10, 1)))
def test_a_fleet_interrupted_anywhere_goes_on(tmp_path: Path, crds: dict[str, Path], seed: int) -> None:
    """A journal that ends at any byte gives the same report as a run without interruption."""
    rng = random.Random(seed)
    fleet, journal = tmp_path / "fleet", tmp_path / "journal"
    for number in range(4):
        gather(fleet / f"{number}.tar.gz", widget(f"w{number}", rng.choice("AB")))
    releases_of = [f"path:{crds[release]}" for release in ("release-4.15", "release-4.16")]
    args = ("simulate", *releases_of, "--fleet", fleet, "--jobs", "1", "--format", "json", "--resume", journal)
    whole = run(*args)
    written = journal.read_bytes()
    journal.write_bytes(written[: rng.randrange(len(written))])
    again = run(*args)
    assert (again.code, again.out) == (whole.code, whole.out), (seed, again)
    assert journal.read_bytes().splitlines() == written.splitlines()

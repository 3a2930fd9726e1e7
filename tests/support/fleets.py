"""Small fleets for the tests: three releases and recordings of clusters, all made up."""

from __future__ import annotations

import io
import os
import random
import signal
import tarfile
import time
from collections.abc import Iterable
from pathlib import Path

import yaml
from helpers import Json, array, crd, obj, root, string, write

from crdcompat.config.configuration_file import find_config
from crdcompat.features.fleet.fleet_judge import FleetJudge, Plan

#: What the enum of each release knows; release-4.16 wrote the objects.
MODES = {
    "release-4.13": ("A",),
    "release-4.14": ("A", "B"),
    "release-4.15": ("A", "B", "C"),
    "release-4.16": ("A", "B", "C", "D"),
}
#: What no archive makes small, the same in every run.
NOISE = random.Random(6)
TARGETS = ("release-4.15", "release-4.14", "release-4.13")


def releases(top: Path) -> dict[str, Path]:
    """A folder of CRDs for each release: widgets with a growing enum, gadgets from 4.14 on, a field from 4.15 on."""
    for name, modes in MODES.items():
        more = {"extra": string()} if name >= "release-4.15" else {}
        schema = root(spec=obj(size={"type": "integer"}, **more), status=obj(modes=array(string(*modes))))
        write(top / name / "widgets.yaml", crd(schema))
        if name >= "release-4.14":
            write(top / name / "gadgets.yaml", crd(root(spec=obj(a=string())), kind="Gadget"))
    return {name: top / name for name in MODES}


def widget(name: str, *modes: str, **spec: object) -> Json:
    return _object("Widget", name, spec={"size": 1, **spec}, status={"modes": list(modes)})


def gadget(name: str) -> Json:
    return _object("Gadget", name, spec={"a": "x"})


def cluster_version(cluster: str, version: str = "4.16.3") -> Json:
    """A ClusterVersion: it identifies the cluster although no release here defines its kind."""
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version", "uid": f"uid-{cluster}"},
        "spec": {"clusterID": cluster},
        "status": {"desired": {"version": version}},
    }


def infrastructure(platform: str) -> Json:
    """The Infrastructure of a cluster: it has the platform although no release here defines its kind."""
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster", "uid": "uid-infrastructure"},
        "status": {"platformStatus": {"type": platform}},
    }


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def _object(kind: str, name: str, **parts: Json) -> Json:
    return {
        "apiVersion": "example.com/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "uid": f"{kind}-{name}"},
        **parts,
    }


def gather(path: Path, *objects: Json) -> Path:
    """A must-gather, packed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files(objects):
            member = tarfile.TarInfo(f"must-gather.local.1/quay-io-image-sha256-00ff/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def unpacked(folder: Path, *objects: Json) -> Path:
    """The same as a folder."""
    for name, data in files(objects):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def files(objects: Iterable[Json]) -> Iterable[tuple[str, bytes]]:
    for item in objects:
        group = item["apiVersion"].partition("/")[0]
        where = f"cluster-scoped-resources/{group}/{item['kind'].lower()}s/{item['metadata']['name']}.yaml"
        yield where, yaml.dump(item, Dumper=yaml.CSafeDumper, explicit_start=True).encode()


def one_of_each(top: Path) -> Path:
    """Six clusters, one of each sort."""
    gather(top / "a-clean.tar.gz", widget("w", "A"), cluster_version(uuid(1)))
    gather(top / "b.tar.gz", widget("w", "A", "B"), widget("v", "B"), cluster_version(uuid(2)))
    gather(top / "case-1" / "c.tar.gz", widget("w", "C", "B"))
    unpacked(top / "case-2" / "must-gather.local.77" / "quay-io-image-sha256-12", widget("w", "D"))
    gather(top / "e-lossy.tar.gz", widget("w", "A", extra="x"))
    gather(top / "f-unknown.tar.gz", widget("w", "A"), gadget("g"))
    return top


def damage(top: Path) -> dict[str, str]:
    """Recordings that cannot be read, each with a part of what is said of it."""
    whole = gather(top / "whole.tar.gz", *(widget(f"w{n}", "A", extra=NOISE.randbytes(8000).hex()) for n in range(200)))
    data = whole.read_bytes()
    whole.unlink()
    (top / "x-empty.tar.gz").touch()
    (top / "x-text.tar.gz").write_text("hello, this is no archive")
    (top / "x-header.tgz").write_bytes(data[:12])
    (top / "x-zip.zip").write_bytes(b"PK\x03\x04")
    (top / "x-nothing.tar.gz").symlink_to(top / "not-there")
    with tarfile.open(top / "x-logs.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("must-gather.local.1/some.log"))
    write(top / "x-yaml.yaml", "a: [")
    # What stands before a damaged place is read all the same.
    (top / "y-cut.tar.gz").write_bytes(data[: len(data) // 2])
    (top / "y-flipped.tar.gz").write_bytes(data[: len(data) // 2] + bytes(4000) + data[len(data) // 2 + 4000 :])
    return {
        "x-empty.tar.gz": "empty",
        "x-text.tar.gz": "no gzip archive",
        "x-header.tgz": "cut short",
        "x-zip.zip": "cut short",
        "x-nothing.tar.gz": "a link to nothing",
        "x-logs.tar.gz": "holds no objects",
        "x-yaml.yaml": "no object could be read",
    }


def plan(folders: dict[str, Path]) -> Plan:
    """All three targets, newest given last."""
    names = [f"path:{folders[name]}" for name in MODES]
    return Plan(names[0], names[-1], (names[1], names[2]), find_config(None, folders["release-4.13"]))


class Deadly(FleetJudge):
    """A judge whose process ends on some recordings: killed, or by ``exit``; others never end."""

    def __call__(self, path: str) -> bytes:
        if "killed" in path:
            os.kill(os.getpid(), signal.SIGKILL)
        if "exits" in path:
            os._exit(7)
        while "endless" in path:
            time.sleep(0.01)
        return super().__call__(path)


class Watched(FleetJudge):
    """A judge that records its calls, and is interrupted after ``most`` of them."""

    def __init__(self, plan: Plan, most: int | None = None) -> None:
        super().__init__(plan)
        self.asked: list[str] = []
        self._most = most

    def __call__(self, path: str) -> bytes:
        if len(self.asked) == self._most:
            raise KeyboardInterrupt
        self.asked.append(Path(path).name)
        return super().__call__(path)

"""A cluster on a real API server, what the command foretells of its rollback, and the rollback, done."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from api_server import kubeconfig
from differences import Bench
from helpers import Json
from referee import Referee, collection
from rollback_writes import NoSuchWriteError, Rollback, lost
from schema_values import Values, empty_object, parts_of

from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.features.judge.write_verdict import resource_of

_OBJECTS = int(os.environ.get("CRDCOMPAT_REFEREE_PROMISE", "60"))
_SAMPLE = 10
#: Creates of a kind in vain, after which no more objects of it are stored: its rules are seldom met by chance.
_PATIENCE = 40
#: The share of the objects that a manager applies; an operator creates the others.
_APPLIED = 0.4
_APPLY = "application/apply-patch+yaml"


class Cluster:
    """A server that ran OLD and runs NEW, with objects of both times."""

    def __init__(self, server: Referee, r: random.Random) -> None:
        self._server, self._r = server, r
        self._values = Values(r, 0.0)
        self.crds: dict[str, tuple[Json, Json]] = {}
        self.objects: Counter[str] = Counter()

    def add(self, name: str, old: Json, new: Json, *, before: bool = True) -> None:
        """Install OLD, store objects, move to NEW, and store more; a kind that gets no object is of no use.

        ``before``: objects are stored under OLD, too.
        """
        if not self._server.install(old).accepted:
            return
        stored = self._fill(old, "o", _OBJECTS // 3) if before else 0
        if self._server.swap(new).accepted and (stored := stored + self._fill(new, "n", _OBJECTS - _OBJECTS // 3)):
            self.crds[name], self.objects[name] = (old, new), stored

    def _fill(self, crd: Json, prefix: str, count: int) -> int:
        versions = [each for each in crd["spec"]["versions"] if each["served"]]
        stored = vain = 0
        while stored < count and vain < _PATIENCE:
            if self._store(crd, self._r.choice(versions), f"{prefix}{stored}"):
                stored, vain = stored + 1, 0
            else:
                vain += 1
        return stored

    def _store(self, crd: Json, version: Json, name: str) -> bool:
        drawn = self._values.parts(version, parts_of(version))
        at, empty = collection(crd, version["name"]), empty_object(crd, version, name)
        if self._r.random() < _APPLIED:
            sent = {**empty, **drawn}
            return self._server.ask("PATCH", f"{at}/{name}?fieldManager=flux", sent, _APPLY).accepted
        answer = self._server.ask("POST", f"{at}?fieldManager=operator", {**empty, **drawn})
        if answer.accepted and "status" in drawn and "status" in (version.get("subresources") or {}):
            self._server.ask("PUT", f"{at}/{name}/status?fieldManager=operator", {**answer.body, **drawn})
        return answer.accepted


class Foretold:
    """What the commands say of a rollback of the cluster from the CRDs of one tree to those of another."""

    def __init__(self, bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
        port = urlsplit(bench.server.url).port
        assert port is not None
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(folder / "kubeconfig.yaml", port, bench.server.token)))
        old, new = (str(folder / side) for side in ("old", "new"))
        more = ("--kube-version", bench.minor, *options)
        self.preflight = _asked("preflight", old, "--cluster", "prod", "--all", *more)
        self.objects: list[Json] = _asked("simulate", old, new, "--objects", "cluster:prod", *more)["objects"]
        _kept(f"promise-{bench.minor}", [self.preflight, self.objects])

    @property
    def kinds(self) -> dict[str, Json]:
        """What is said of each kind."""
        return {kind["crd"]: kind for kind in self.preflight["summary"]["kinds"]}

    def chosen(self) -> list[Json]:
        """The objects that are named for any write, and the first others of each kind."""
        found, fine = [], Counter[str]()
        for item in self.objects:
            is_fine = {write["verdict"] for write in item["writes"].values()} == {"accepted"}
            fine[item["crd"]] += is_fine
            if not is_fine or fine[item["crd"]] <= _SAMPLE:
                found.append(item)
        return found


def written(folder: Path, crds: Collection[Json]) -> None:
    """A folder with these CRDs."""
    folder.mkdir(parents=True)
    for at, crd in enumerate(crds):
        (folder / f"{crd['metadata']['name']}-{at}.json").write_text(json.dumps(crd))


def _kept(name: str, what: object) -> None:
    """Keep something for who looks for the cause of a difference."""
    if place := os.environ.get("CRDCOMPAT_REFEREE_DIFFERENCES"):
        Path(f"{place}-{name}.json").write_text(json.dumps(what, indent=1))


def _asked(command: str, *arguments: str) -> Json:
    """The report of the command, as its users run it."""
    more = ("--format", "json", "--no-progress", "--no-redact")
    ran = subprocess.run(
        [sys.executable, "-m", "crdcompat", command, *arguments, *more], capture_output=True, text=True, check=False
    )
    assert ran.stdout, ran.stderr
    found: Json = json.loads(ran.stdout)
    return found


class Done:
    """The rollback, done: what the server answered, and where that is not what the command foretold."""

    def __init__(self, bench: Bench, cluster: Cluster) -> None:
        self._bench, self._cluster = bench, cluster
        self._kinds: dict[tuple[str, str], Rollback] = {}
        self.asked: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.wrong: list[str] = []

    def roll_back(self, foretold: Foretold) -> set[str]:
        """Put OLD's CRDs in the place of NEW's, and send all writes. Returns the CRDs that the server refuses."""
        chosen = [(item, self.before(item)) for item in foretold.chosen() if item["crd"] in self._cluster.crds]
        crds = self._cluster.crds.items()
        refused = {name for name, (crd, _) in crds if not self._bench.server.swap(crd).accepted}
        for item, before in chosen:
            if item["crd"] not in refused:
                self.compare(item, before)
        _kept(f"promise-wrong-{self._bench.minor}", self.wrong)
        return refused

    def before(self, item: Json) -> Json:
        """The object as the cluster serves it before the rollback: NEW's defaults, too, are lost to its readers."""
        _, new = self._cluster.crds[item["crd"]]
        return self._bench.server.read(new, item["version"], item["object"]["name"]).body

    def compare(self, item: Json, before: Json) -> None:
        """Send all writes of one object."""
        self.asked["objects"] += 1
        answers = {kind: self._write(item, kind, write, before) for kind, write in item["writes"].items()}
        counted = [
            answer for kind, answer in answers.items() if kind != "create" and not item["writes"][kind].get("already")
        ]
        self.rejected[item["crd"]] += not all(counted)

    def _write(self, item: Json, kind: str, write: Json, before: Json) -> bool:
        said, name = write["verdict"], item["object"]["name"]
        about_it = f"{item['crd']} {name} {kind} ({write.get('note')})"
        on = self._kind(item["crd"], item["version"])
        try:
            answer, after = on.answer(kind, name, write.get("note") or "")
        except NoSuchWriteError:
            self.wrong.append(f"no such write: {about_it}")
            return True
        self.asked[said] += 1
        if answer.accepted != (said != "rejected"):
            self.wrong.append(
                f"{about_it}: foretold {said} {write.get('message')}: answered {answer.code} {answer.message}"
            )
        elif answer.accepted and kind == "metadata-update":
            gone = sorted(lost(before, after))
            if gone != sorted(item["pruned"]):
                self.wrong.append(f"{about_it}: foretold the loss of {item['pruned']}, but lost {gone}")
        elif not answer.accepted:
            self.asked["same words"] += answer.message == write["message"]
        if write.get("accepted_without"):
            way_out, _ = on.answer("apply-without", name, write["note"])
            self.asked["ways out"] += way_out.accepted
            if not way_out.accepted:
                self.wrong.append(f"{about_it}: no way out: {way_out.code} {way_out.message}")
        return answer.accepted

    def _kind(self, crd: str, version: str) -> Rollback:
        if (crd, version) not in self._kinds:
            old, _ = self._cluster.crds[crd]
            resource = resource_of(old, version, kubernetes_server(self._bench.minor))
            self._kinds[crd, version] = Rollback(self._bench.server, old, resource)
        return self._kinds[crd, version]

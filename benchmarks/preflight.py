"""What preflight of a large cluster costs, and whether a cluster on a bad day gets the same answer. See README.md.

python benchmarks/preflight.py                     100,000 objects of 20 kinds; then with 5 % of requests failing
python benchmarks/preflight.py --objects 10000     fewer

The objects are those of the real must-gather, repeated under other names and with other messages; the cluster has the
CRDs of OpenShift 4.16, and is to go back to 4.14. The API server is a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_SHARED = _HERE.parents[1] / "shared/data"
_BUNDLE = _SHARED / "openshift-api-4.12-4.16.bundle"
_TESTS = _HERE.parent / "tests"
sys.path.insert(0, str(_TESTS / "support"))

import archives  # noqa: E402
from api_server import PAGE, Answer, ApiServer, kubeconfig, serving  # noqa: E402

import crdcompat  # noqa: E402
from crdcompat.yaml.documents import Document, read_documents  # noqa: E402

Json = dict[str, Any]
_KINDS = 20
#: The mean size of the objects of kinds of which a cluster has one alone.
_LARGE_BYTES = 8_000
_NAME = "@name@"
_FAULTS = (429, 500, 502, 503, 504)
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def kinds(wanted: int) -> Iterator[tuple[Json, Json, list[bytes]]]:
    """OLD, NEW and the recorded objects of the kinds that have most of them, without the largest."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), folder], check=True)
        old, new = (_by_kind(release, folder) for release in ("origin/release-4.14", "release-4.16"))
    found: dict[tuple[str, str], list[bytes]] = {}
    for name, data in archives.objects():
        for document in read_documents(data, name) if any(kind.encode() in data for _, kind in new) else ():
            each = document.data if isinstance(document, Document) else {}
            kind = str(each.get("apiVersion")).rpartition("/")[0], str(each.get("kind"))
            if kind in old.keys() & new.keys():
                found.setdefault(kind, []).append(_shape(each))
    sized = {kind: shapes for kind, shapes in found.items() if sum(map(len, shapes)) < _LARGE_BYTES * len(shapes)}
    for kind in sorted(sized, key=lambda kind: (-len(sized[kind]), kind))[:wanted]:
        yield old[kind], new[kind], sized[kind]


def _by_kind(release: str, repo: str) -> dict[tuple[str, str], Json]:
    documents = crdcompat.load(release, repo=repo).documents
    return {(each.crd.group, each.crd.kind): _anywhere(dict(each.crd.raw)) for each in documents}


def _anywhere(crd: Json) -> Json:
    """The CRD without its feature set and profile."""
    return {**crd, "metadata": {"name": crd["metadata"]["name"]}}


def _shape(obj: Json) -> bytes:
    """An object as JSON, with places for its name and for what its conditions say."""
    obj["metadata"] |= {"name": _NAME, "uid": _NAME}
    for condition in (obj.get("status") or {}).get("conditions") or ():
        condition["message"] = f"{_NAME} {condition.get('message', '')}"
    return json.dumps(obj).encode()


def _pages(shapes: list[bytes], count: int, fails: Callable[[], bool]) -> Callable[[str], Answer]:
    def page(token: str) -> Answer:
        if fails():
            if random.random() < 0.2:
                raise ConnectionAbortedError
            return random.choice(_FAULTS), b'{"kind":"Status","message":"not now"}'
        start, end = int(token or 0), min(int(token or 0) + PAGE, count)
        items = (shapes[at % len(shapes)].replace(_NAME.encode(), b"o%06d" % at) for at in range(start, end))
        more = b'"%d"' % end if end < count else b'""'
        return 200, b'{"metadata":{"continue":%s},"items":[%s]}' % (more, b",".join(items))

    return page


def _serve(made: list[tuple[Json, Json, list[bytes]]], each: int, failing: float, to: Connection) -> None:
    """Serve until the parent goes."""
    server, r = ApiServer(), random.Random(34)
    server.install(*(new for _, new, _ in made))
    for _, new, shapes in made:
        (version,) = (one["name"] for one in new["spec"]["versions"] if one["storage"])
        path = f"/apis/{new['spec']['group']}/{version}/{new['spec']['names']['plural']}"
        server.answers[path] = _pages(shapes, each, lambda: r.random() < failing)
    with serving(server):
        to.send(server.server_port)
        with contextlib.suppress(EOFError):
            to.recv()


def _measured(config: Path, old: Path, more: list[str]) -> tuple[Json, float, float, float]:
    """The report, and the CPU seconds, MiB and seconds that it took."""
    command = [sys.executable, "-m", "crdcompat", "preflight", str(old), "--cluster", "prod", "--all", *more]
    command += ["--format", "json", "--no-progress", "--kube-version", "1.31"]
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, env={**os.environ, "KUBECONFIG": str(config)})
        _, _, usage = os.wait4(process.pid, 0)
        out.seek(0)
        report: Json = json.loads(out.read())
    mib = usage.ru_maxrss * _MAXRSS_UNIT / 2**20
    return report, usage.ru_utime + usage.ru_stime, mib, time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--failing", type=float, nargs="*", default=[0.0, 0.05])
    parser.add_argument("more", nargs="*", help="options of preflight")
    given = parser.parse_args()
    made = list(kinds(_KINDS))
    size = sum(sum(map(len, shapes)) / len(shapes) for _, _, shapes in made) / len(made)
    print(f"{len(made)} kinds, {size / 1e3:.1f} KB an object", flush=True)
    each = given.objects // len(made)
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        old.mkdir()
        for crd, _, _ in made:
            (old / f"{crd['metadata']['name']}.json").write_text(json.dumps(crd))
        for failing in given.failing:
            here, there = get_context("fork").Pipe()
            server = get_context("fork").Process(target=_serve, args=(made, each, failing, there), daemon=True)
            server.start()
            config = kubeconfig(Path(folder) / "kubeconfig.yaml", here.recv())
            report, cpu, mib, seconds = _measured(config, old, given.more)
            server.kill()
            counts = [(kind["crd"], kind["objects"], kind["rejected"]) for kind in report["summary"]["kinds"]]
            objects, rejected = (sum(count[at] for count in counts) for at in (1, 2))
            print(
                f"{objects:,} objects of {len(counts)} kinds, {rejected:,} rejected, {failing:.0%} of requests fail: "
                f"{report['answer']}, {cpu:.1f} CPU s, {mib:.0f} MiB, {seconds:.0f} s",
                flush=True,
            )
            answers.append(report)
    print("the answers are", "equal" if all(each == answers[0] for each in answers) else "NOT EQUAL")


if __name__ == "__main__":
    main()

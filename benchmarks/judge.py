"""How many writes of a real ClusterVersion one thread judges in a second, beside a plain jsonschema loop.

    python benchmarks/judge.py [--seconds 1] [--profile] [OBJECT.yaml…]

OBJECT.yaml holds a ClusterVersion (alone or in a List); without one, all recorded ones are taken. ``create`` and
``status`` are whole judgements: decoding, metadata, schema, lists and CEL rules; ``jsonschema`` only walks the
schema, with a validator that is made once.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema

import crdcompat
from crdcompat.apiserver.server_versions import OPENSHIFT, Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.context import FEATURE_SET
from crdcompat.yaml.documents import Document, read_documents

NAME = "clusterversions.config.openshift.io"
RELEASES = ("4.13", "4.16")
_RESULTS = Path(__file__).resolve().with_name("results.json")
_SHARED = Path(__file__).resolve().parents[2] / "shared/data"


def resource(repository: Path, release: str) -> Resource:
    """The CRD of a release's default feature set, on its server."""
    found = crdcompat.load(f"release-{release}", repo=str(repository))
    candidates = [document for document in found.documents if document.crd.name == NAME]
    default = [d for d in candidates if "NoUpgrade" not in d.crd.annotations.get(FEATURE_SET, "") + d.file]
    crd = (default or candidates)[0].crd
    major, minor = map(int, release.split("."))
    return Resource(crd, crd.versions[0], Server(OPENSHIFT[major, minor], (major, minor)))


def cluster_version(path: Path) -> dict[str, Any]:
    for document in read_documents(path.read_bytes(), path.name):
        if isinstance(document, Document) and document.data.get("kind") == "ClusterVersion":
            return dict(document.data)
    raise SystemExit(f"{path}: no ClusterVersion in it")


def plain(schema: Any) -> Any:
    """The schema for ``jsonschema``: null where nullable, none of Kubernetes' keywords, no formats."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: plain(sub) for name, sub in value.items()} if key == "properties" else plain(value)
        for key, value in schema.items()
        if not key.startswith("x-kubernetes-") and key not in ("nullable", "format", "default", "description")
    }
    if schema.get("nullable") and isinstance(schema.get("type"), str):
        made["type"] = [schema["type"], "null"]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive):
            made[exclusive] = made.pop(bound)
    return made


def per_second(call: Callable[[], object], seconds: float) -> float:
    """The best of five runs: other processes only make it slower."""
    call()
    best = 0.0
    for _ in range(5):
        done, began = 0, time.perf_counter()
        while (passed := time.perf_counter() - began) < seconds / 5:
            for _ in range(20):
                call()
            done += 20
        best = max(best, done / passed)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("objects", type=Path, nargs="*")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each is measured (default: 1)")
    parser.add_argument("--profile", action="store_true", help="also print what takes the time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as clone:
        subprocess.run(["git", "clone", "--quiet", str(_SHARED / "openshift-api-4.12-4.16.bundle"), clone], check=True)
        resources = {release: resource(Path(clone), release) for release in RELEASES}
    print(f"{'ClusterVersion':<46} {'KB':>5} {'release':<8} {'create/s':>10} {'status/s':>10} {'jsonschema/s':>13}")
    calls: list[Callable[[], object]] = []
    rows: list[dict[str, Any]] = []
    for path in options.objects or sorted((_SHARED / "recorded/oc-adm-upgrade").glob("*-cv.yaml")):
        stored = cluster_version(path)
        size = len(json.dumps(stored)) / 1000
        for release, served in resources.items():
            changed = {**stored, "status": {**stored["status"], "observedGeneration": 99}}
            validator = jsonschema.Draft202012Validator(plain(served.version.schema))
            writes: list[Callable[[], object]] = [
                lambda served=served, stored=stored: served.create(stored),  # type: ignore[misc]
                lambda served=served, stored=stored, changed=changed: served.update_status(changed, stored),  # type: ignore[misc]
                lambda validator=validator, stored=stored: list(validator.iter_errors(stored)),  # type: ignore[misc]
            ]
            calls.extend(writes[:2])
            rates = [per_second(write, options.seconds) for write in writes]
            names = ("create_per_s", "status_per_s", "jsonschema_per_s")
            rows.append(
                {"object": path.stem, "kb": round(size, 1), "release": release}
                | {name: round(rate) for name, rate in zip(names, rates, strict=True)}
            )
            print(
                f"{path.stem[:46]:<46} {size:>5.1f} {release:<8} {rates[0]:>10.0f} {rates[1]:>10.0f} {rates[2]:>13.0f}"
            )
    results = json.loads(_RESULTS.read_text("utf-8")) if _RESULTS.is_file() else {}
    _RESULTS.write_text(json.dumps({**results, "judge": rows}, indent=2) + "\n", "utf-8")
    if options.profile:
        profile = cProfile.Profile()
        profile.enable()
        for call in calls:
            for _ in range(200):
                call()
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()

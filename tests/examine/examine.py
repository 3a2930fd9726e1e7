"""Ask an SMT solver about every change without effect, and every effect without an example (``make examine``).

The question: is there an object that the writing release accepts, and the reading one rejects at the place of the
change? The solver knows only a part of what servers do, so its answer is no verdict: each model is judged by the
model of the servers, as ``judge`` does. A change "without effect" with a model that it confirms is a failing case, and
the exit code is 1. An effect without an example ("may") with such a model is one that the search does not find yet.

    python tests/examine/examine.py [--seconds N] [REPOSITORY OLD NEW]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import z3
from schema_formulas import demands, inside, own
from symbols import Maker, UntranslatedError, Value, concrete

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.ranges import servers_beside
from crdcompat.compare.changes import Change
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.engine import Comparer
from crdcompat.compare.objects import whole_object
from crdcompat.compare.site import WriterReader
from crdcompat.crds.pairing import pair
from crdcompat.crds.resolving import Chosen
from crdcompat.features.diff.diff_workflow import load
from crdcompat.schema.paths import SchemaPath, Wild, node_at, render
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

DATA = Path(__file__).resolve().parents[3] / "shared/data"
API, PROJECTS = DATA / "openshift-api-4.12-4.16.bundle", DATA / "projects/projects.bundle"
PAIRS = (
    *((API, f"release-4.{minor}", f"release-4.{minor + 1}") for minor in range(12, 16)),
    (PROJECTS, "gateway-api/v1.3.0", "gateway-api/v1.4.0"),
    (PROJECTS, "crossplane/v1.17.0", "crossplane/v1.20.0"),
    (PROJECTS, "istio/1.23.0", "istio/1.24.0"),
    (PROJECTS, "cluster-api/v1.12.0", "cluster-api/v1.13.0"),
)
#: Nodes of the part of a schema around a change that become symbols.
_MOST_NODES = 120
NONE, MAY, SHOWN = "no effect", "may", "shown"


@dataclass(frozen=True)
class Question:
    """A change in one direction, the versions of the writing and the reading release, and what the program says."""

    crd: str
    version: str
    change: Change
    direction: Direction
    writer: tuple[Chosen, Server]
    reader: tuple[Chosen, Server]
    said: str

    def __str__(self) -> str:
        return f"{self.crd}/{self.version} {render(self.change.path)} {self.change.kind} {self.direction}"


def questions(repo: str, old_ref: str, new_ref: str, *, shown: bool) -> Iterator[Question]:
    """The changes of a pair of releases that are said to have no effect, or one without an example.

    ``shown``: also those with an example.
    """
    old, new = (load(f"git:{ref}", repo=repo) for ref in (old_ref, new_ref))
    servers = servers_beside(old, new)
    cache = ComparisonCache()
    comparer = Comparer(servers.of_old, servers.of_new, cache)
    pairs = pair(old, new).pairs
    said: dict[tuple[Any, ...], str] = {}
    for item in comparer.compare(pairs).judged:
        if item.effect == Effect.WRITE_REJECTED:
            key = (item.crd, item.version, item.change.path, item.direction)
            said[key] = SHOWN if item.witness.object is not None or said.get(key) == SHOWN else MAY
    known: set[tuple[Any, ...]] = set()
    for crd_pair in pairs:
        for version, before in crd_pair.old.versions.items():
            after = crd_pair.new.versions.get(version)
            if after is None or before.version.schema is None or after.version.schema is None:
                continue
            sides = ((before, servers.of_old), (after, servers.of_new))
            for change in cache.diff(before.version.node, after.version.node).changes:
                for direction, (writer, reader) in zip(Direction, (sides[::-1], sides), strict=True):
                    place = (crd_pair.old.name, version, change.path, direction)
                    question = (*place, change.kind, repr(change.old), repr(change.new))
                    if question not in known and ((answer := said.get(place, NONE)) != SHOWN or shown):
                        known.add(question)
                        yield Question(crd_pair.old.name, version, change, direction, writer, reader, answer)


def around(root: Node, path: SchemaPath) -> SchemaPath:
    """The path of the largest part of the schema around a place that is small enough to become symbols."""
    for length in range(1, len(path) + 1):
        node = node_at(root, path[:length])
        if node is not None and sum("type" in each for each in node.parts()) <= _MOST_NODES:
            return path[:length]
    raise UntranslatedError("the value is too large")


def places(node: Node, value: Value, steps: SchemaPath, there: Any) -> Iterator[tuple[Node, Value, Any]]:
    """The values at a path, each with its node and when it is there."""
    if not steps:
        yield node, value, there
        return
    step = steps[0]
    for below, entry in inside(node, value):
        if isinstance(step, Wild) or value.members.get(step) is entry:
            yield from places(below, entry.value, steps[1:], z3.And(there, entry.present))


def asked(question: Question, seconds: int) -> tuple[str, Any]:
    """The answer, and the object of a model.

    ``none``, ``model``, ``unconfirmed`` (a model that the servers' model does not confirm), ``unknown`` (no answer in
    time), or ``one-sided``: the reader has no such field, so nothing rejects it.
    """
    (written, write_server), (read, read_server) = question.writer, question.reader
    path = question.change.path
    path = path[:-1] if question.change.kind.startswith("required") else path
    writer, reader = written.version.node, read.version.node
    at = around(writer, path) if path else ()
    inner, outer = node_at(writer, at), node_at(reader, at)
    if not path or inner is None or outer is None or node_at(reader, path) is None:
        return "one-sided", None
    maker = Maker()
    value = maker.value(inner, "v")
    broken = [
        z3.And(there, z3.Not(own(_without_members(node, question.change), each)))
        for node, each, there in places(outer, value, path[len(at) :], True)
    ]
    solver = z3.Solver()
    solver.set("timeout", seconds * 1000)
    solver.add(*maker.facts, *demands(inner, value), z3.Or(*broken))
    found = solver.check()
    if found != z3.sat:
        return ("none" if found == z3.unsat else "unknown"), None
    cache = ComparisonCache()
    pair_ = WriterReader(cache.resource(written, write_server), cache.resource(read, read_server))
    obj = whole_object(pair_.writer, at, concrete(solver.model(), value))
    if obj is None:
        return "unconfirmed", None
    accepted = pair_.writer.create(obj, keep_status=True)
    if not accepted.accepted or accepted.object is None:
        return "unconfirmed", obj
    rejected = pair_.reader.create({**accepted.object, "apiVersion": pair_.reader.api_version}, keep_status=True)
    length = len(path)
    at_place = [error for error in rejected.errors if _is_at(error.pointer[:length], path)]
    return ("model" if at_place else "unconfirmed"), obj


def _without_members(node: Node, change: Change) -> Node:
    """The node without ``required``, which is a change of each member, unless the change is about it."""
    if change.kind.startswith(("required", "shared-constraint")):
        return node
    return Node({keyword: value for keyword, value in node.raw.items() if keyword != "required"})


def _is_at(pointer: tuple[str | int, ...], path: SchemaPath) -> bool:
    return len(pointer) == len(path) and all(
        isinstance(step, Wild) or step == there for there, step in zip(pointer, path, strict=True)
    )


def examined(repo: str, old: str, new: str, options: argparse.Namespace) -> Counter[tuple[str, str]]:
    """Ask about one pair; print each model that is confirmed, and the counts."""
    counts: Counter[tuple[str, str]] = Counter()
    start = time.process_time()
    for question in questions(repo, old, new, shown=options.shown):
        try:
            answer, obj = asked(question, options.seconds)
        except (UntranslatedError, z3.Z3Exception, RecursionError) as error:
            answer, obj = f"untranslated ({error})", None
        counts[question.said, answer] += 1
        if answer in options.show or (answer == "model" and question.said != SHOWN):
            print(f"  {question.said}: {question}\n    {json.dumps(obj, ensure_ascii=True)[:1000]}", flush=True)
    told = ", ".join(f"{said}, {answer}: {count}" for (said, answer), count in sorted(counts.items()))
    print(f"{old} to {new}: {told or 'no question'} ({time.process_time() - start:.0f} s)", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask an SMT solver about what the program does not show.")
    parser.add_argument("pair", nargs="*", metavar="REPOSITORY OLD NEW", help="one pair (default: eight real ones)")
    parser.add_argument("--seconds", type=int, default=5, help="the solver's time for a question (default: 5)")
    parser.add_argument("--shown", action="store_true", help="ask about changes with an example, too")
    parser.add_argument("--show", action="append", default=[], metavar="ANSWER", help="print what has this answer")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for repo, old, new in [options.pair] if options.pair else PAIRS:
            clone = str(repo)
            if Path(repo).is_file():
                clone = f"{folder}/{Path(repo).name}"
                if not Path(clone).exists():
                    subprocess.run(["git", "clone", "-q", "--bare", str(repo), clone], check=True)
            counts += examined(clone, old, new, options)
    return 1 if counts[NONE, "model"] else 0


if __name__ == "__main__":
    sys.exit(main())

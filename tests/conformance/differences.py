"""One request, answered by crdcompat and by a real API server, and what the two answers do not have in common."""

from __future__ import annotations

import copy
import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from helpers import at
from referee import Answer, Referee
from referee_build import minor_of

import crdcompat
from crdcompat.apiserver.admission import Verdict

Json = dict[str, Any]

#: Metadata that the server makes up.
_SERVERS_OWN = ("uid", "creationTimestamp", "resourceVersion", "managedFields", "selfLink")
NAME = "x"
#: How often an apply is repeated until the server names the same fields; each time is one of a few orders.
_REPEATS = 40
_groups = itertools.count()


_OURS, _THEIRS = "only ours: ", "only the server's: "


@dataclass(frozen=True, slots=True)
class Known:
    """A difference that is listed in known.toml."""

    reason: str
    minors: tuple[str, ...]  # or patches of them; none: all
    lines: tuple[str, ...]
    same_but: str
    where: str
    requests: tuple[Json, ...]

    def concerns(self, minor: str) -> bool:
        return not self.minors or not {minor, minor_of(minor)}.isdisjoint(self.minors)

    def unexplained(self, lines: Sequence[str], whole: Sequence[str]) -> list[str]:
        """Those of the lines that this difference does not explain; ``whole`` are all that the request showed."""
        if not any(re.search(self.where, line) for line in whole):
            return [*lines]
        left = [line for line in lines if not any(re.search(known, line) for known in self.lines)]
        if not self.same_but:
            return left
        sides = [{self._bare(line, side) for line in left if line.startswith(side)} for side in (_OURS, _THEIRS)]
        return [line for line in left if self._bare(line, _OURS, _THEIRS) not in sides[0] & sides[1]]

    def _bare(self, line: str, *sides: str) -> str:
        for side in sides:
            line = line.removeprefix(side)
        return re.sub(self.same_but, "", line)


@cache
def known_differences() -> tuple[Known, ...]:
    """All that is listed."""
    data = tomllib.loads((Path(__file__).parent / "known.toml").read_text(encoding="utf-8"))
    return tuple(
        Known(
            entry["reason"],
            tuple(entry.get("minors", ())),
            tuple(entry.get("lines", ())),
            entry.get("same_but", ""),
            entry.get("where", ""),
            tuple(map(json.loads, entry["requests"])),
        )
        for entry in data.get("difference", ())
    )


def unexplained(minor: str, lines: Sequence[str]) -> list[str]:
    """The lines that no known difference of that minor explains."""
    left = [*lines]
    for known in known_differences():
        if known.concerns(minor) and left:
            left = known.unexplained(left, lines)
    return left


def sort_of(lines: Iterable[str]) -> set[str]:
    """What a difference is about, without the values and paths: a smaller request has to show the same sort."""
    return {re.sub(r'"(\\.|[^"\\])*"|\S*[.\[]\S*|\d+', "", line.partition(" stores ")[0]) for line in lines}


def in_group(crd: Json, group: str) -> Json:
    """The CRD in another API group: each test has its own on a server that they share."""
    made = copy.deepcopy(crd)
    made["spec"]["group"] = group
    made["metadata"]["name"] = f"{made['spec']['names']['plural']}.{group}"
    return made


def new_group() -> str:
    """An API group that no other CRD of this run has."""
    return f"g{next(_groups)}.example.com"


def crd_of(request: Json, group: str) -> Json:
    """The CRD of a request.

    ``schema`` is the root's, or ``node`` the one at spec.a; ``status`` says whether there is a status subresource (true
    where it is not given), ``put`` what else of its spec is another: a list of places and values.
    """
    common = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    if "node" in request:
        spec = {"type": "object", "properties": {"a": request["node"]}}
        request = {**request, "schema": {"type": "object", "properties": {"spec": spec}}}
    schema = copy.deepcopy(request["schema"])
    if isinstance(schema.get("properties"), dict):
        schema["properties"] = {**common, **schema["properties"]}
    version: Json = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if request.get("status", True):
        version["subresources"] = {"status": {}}
    crd: Json = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
    for (*above, last), value in request.get("put", ()):
        at(crd["spec"], above)[last] = value
    return crd


class Bench:
    """Puts requests to both: a CRD is installed once, however many requests go to it."""

    def __init__(self, server: Referee, minor: str) -> None:
        self.server = server
        self.minor = minor
        self.asked = 0
        self.unknown = 0
        self._installed: dict[str, tuple[Json, list[str]]] = {}

    def differences(self, request: Json) -> list[str]:
        """What the answers to a request do not have in common; a CRD that the server refuses is the whole request.

        ``request``: the CRD (see crd_of); with ``op`` a write of ``new`` over the stored ``old``,
        both without apiVersion, kind and metadata; without it the installation alone. With ``then``, the root's schema
        of another CRD, ``old`` is created under the first, and the other takes its place before the write; without
        ``op`` that update of the CRD is compared. ``then_put``: see ``put``, for the other CRD.
        """
        if "then" in request:
            return self._rolled_back(request) if "op" in request else self._updated(request)
        crd, lines = self._crd(request)
        if not crd or "op" not in request:
            return lines
        return self._write(crd, request)

    def _crd(self, request: Json) -> tuple[Json, list[str]]:
        """The CRD, {} if the server refuses it; and what the answers to its installation do not have in common."""
        parts = [request.get(part) for part in ("schema", "node", "status", "put")]
        key = json.dumps([*parts, "op" in request], sort_keys=True)
        if key not in self._installed:
            crd = crd_of(request, new_group())
            answer = self.server.install(crd) if "op" in request else self.server.create_crd(crd)
            self._installed[key] = crd if answer.accepted else {}, installation(crd, answer, self.minor)
        return self._installed[key]

    def _updated(self, request: Json) -> list[str]:
        """The differences of an update of a CRD; those of the first CRD where the server refuses that."""
        before, after = crds_of(request, new_group())
        answer = self.server.install(before)
        if not answer.accepted:
            return installation(before, answer, self.minor)
        installed = self.server.crd(before)
        return installation(after, self.server.update_crd(after), self.minor, installed)

    def _rolled_back(self, request: Json) -> list[str]:
        """The differences of a write after the CRDs were swapped; none where a server refuses what comes before it."""
        op = request["op"]
        before, after = crds_of(request, new_group())
        if not self.server.install(before).accepted:
            return []
        made = _object(before, request["old"], {"name": NAME, "namespace": "default"})
        if not self.server.write("create", before, made).accepted:
            return []
        if request.get("status", True):
            self.server.write("updateStatus", before, made)
        held = self.server.stored(before, NAME)
        if held is None or not self.server.swap(after).accepted:
            return []
        new = {**held, **request["new"]} if op.startswith("update") else body_of(after, op, request["new"])
        verdict = crdcompat.judge(after, op, new, held, version="v1", kubernetes=self.minor)
        self.asked += 1
        self.unknown += bool(verdict.unknown)
        return compared_to_any(op, verdict, partial(self.server.write, op, after, new, name=NAME))

    def _write(self, crd: Json, request: Json) -> list[str]:
        op, old = request["op"], None
        new = body_of(crd, op, request["new"])
        if op != "create":
            old = stored_object(crd, request["old"])
            self.server.store(crd, old)
        try:
            verdict = crdcompat.judge(crd, op, new, old, version="v1", kubernetes=self.minor)
            self.asked += 1
            self.unknown += bool(verdict.unknown)
            return compared_to_any(op, verdict, partial(self.server.write, op, crd, new, name=NAME))
        finally:
            self.server.discard(crd, NAME)


def crds_of(request: Json, group: str) -> tuple[Json, Json]:
    """The CRD of a request, and the one that takes its place."""
    before = {key: value for key, value in request.items() if key not in ("then", "then_put")}
    after = {**before, "schema": request["then"], "put": request.get("then_put", ())}
    return crd_of(before, group), crd_of(after, group)


def stored_object(crd: Json, part: Json) -> Json:
    """The object as etcd holds it."""
    meta = {"name": NAME, "namespace": "default", "generation": 1, "uid": "1", "resourceVersion": "1"}
    owned = {"apiVersion": f"{crd['spec']['group']}/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {}}}
    managed = {"manager": "other", "operation": "Update", "time": "2024-01-01T00:00:00Z", **owned}
    return _object(crd, part, {**meta, "creationTimestamp": "2024-01-01T00:00:00Z", "managedFields": [managed]})


def body_of(crd: Json, op: str, part: Json) -> Json:
    """The body of a request."""
    if op.startswith("mergePatch"):
        return part
    if op.startswith("update"):
        return stored_object(crd, part)
    return _object(crd, part, {"name": NAME, "namespace": "default"})


def _object(crd: Json, part: Json, meta: Json) -> Json:
    return {"apiVersion": f"{crd['spec']['group']}/v1", "kind": "Widget", "metadata": meta, **part}


def installation(crd: Json, answer: Answer, minor: str, installed: Json | None = None) -> list[str]:
    """What the answers to a new CRD do not have in common, or to one that replaces the installed one.

    Addresses in the server's memory differ from answer to answer.
    """
    verdict = crdcompat.judge_crd(crd, installed, kubernetes=minor)
    mine = [error.text() for error in verdict.errors] or [verdict.message] * (not verdict.accepted)
    if answer.accepted:
        return [f"refused, though the server takes it: {sentence}" for sentence in mine]
    if answer.causes:
        return two_sides(mine, (_unaddressed(f"{field}: {message}") for _, field, message in answer.causes))
    return two_sides(mine, [_unaddressed(answer.message)])


def _unaddressed(text: str) -> str:
    return re.sub(r"\(0x[0-9a-f]+\)", "(0x…)", text)


def compared(op: str, verdict: Verdict, answer: Answer) -> list[str]:
    """What the two answers to a write do not have in common; nothing where ours is that it cannot be judged."""
    if verdict.unknown:
        return []
    if answer.accepted and verdict.accepted:
        return two_sides([f"{op} stores {_stored(verdict.object)}"], [f"{op} stores {_stored(answer.body)}"])
    mine = {f"{error.type} {error.text()}" for error in verdict.errors}
    theirs = {f"{kind} {field}: {message}" for kind, field, message in answer.causes}
    if not verdict.accepted and not mine:
        mine = {f"{verdict.code} {verdict.message}"}
    if not answer.accepted and not theirs:
        theirs = {f"{answer.code} {answer.message}"}
    if mine != theirs and verdict.code != 422 and answer.code != 422 and not (verdict.accepted or answer.accepted):
        ours, other = mine.pop(), theirs.pop()
        return [] if _lines(ours) == _lines(other) else [f"ours: {ours}; the server's: {other}"]
    lines = two_sides(mine, theirs)
    if not lines and _parts(verdict.message) != _parts(answer.message):
        return two_sides([verdict.message], [answer.message])
    return lines


def compared_to_any(op: str, verdict: Verdict, ask: Callable[[], Answer]) -> list[str]:
    """What the verdict does not have in common with the server's answer, or with a later one to the same apply.

    The typing of an apply reads a map in Go's random order, and ends at the first undeclared field: the answer has the
    errors that come before it. A refused apply stores nothing, so that it can be repeated.
    """
    lines = compared(op, verdict, answer := ask())
    for _ in range(_REPEATS * (answer.code == 500 and op.startswith("apply"))):
        if not lines:
            break
        lines = compared(op, verdict, ask())
    return lines


def _stored(obj: Any) -> str:
    """The object as text, without what the server adds to metadata; 1.0 and 1 are one number in JSON."""
    meta = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    return json.dumps(_plain({**obj, "metadata": meta}), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _parts(message: str) -> tuple[str, list[str]]:
    """The head of a 422 message and its parts, sorted: the server's order is random."""
    head, _, body = message.partition(" is invalid: ")
    return head, sorted(body.removeprefix("[").removesuffix("]").split(", "))


def _lines(message: str) -> list[str]:
    """The lines of a message, sorted: an apply that does not fit the types names a line for each field, in the random
    order of a Go map."""
    return sorted(message.splitlines())


def two_sides(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """What only one of two answers says, a line for each sentence."""
    mine, other = set(ours), set(theirs)
    return [
        *(f"{_OURS}{line}" for line in sorted(mine - other)),
        *(f"{_THEIRS}{line}" for line in sorted(other - mine)),
    ]


def listed(wrong: Sequence[Any], of: int) -> str:
    """The differences, one below the other; each entry is about something, and ends with its lines."""
    lines = [f"{len(wrong)} of {of}:"]
    for entry in wrong[:40]:
        *about, differing = entry
        lines += [" | ".join(map(str, about)), *(f"    {line}" for line in differing)]
    return "\n".join(lines)

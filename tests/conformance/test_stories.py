"""The longer stories of the recordings of rollbacks, replayed step by step.

A small cluster of one CRD and one server goes through the recorded steps: what it answers, what clients then
see and what is stored is compared with what the real server did. What cannot be compared is listed in
``NOT_COMPARED``; a recorded step in neither is an error.
"""

from __future__ import annotations

import ast
import copy
import fnmatch
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string, version

from crdcompat import judge
from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.crd_validation.answer import update_crd
from crdcompat.apiserver.crd_validation.refusal import refusal, update_refusal
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.model import read_crd
from crdcompat.errors import UsageError
from crdcompat.features.judge.write_verdict import resource_of

GROUP = "rb.example.com"
#: The recorded servers; all but 1.31 are OpenShift builds.
SERVERS = {
    "1.26": Server(26, (4, 13)),
    "1.29": Server(29, (4, 16)),
    "1.30": Server(30, (4, 17)),
    "1.31": Server(31),
    "1.31-openshift-4.18": Server(31, (4, 18)),
    "1.33": Server(33, (4, 20)),
}

#: (server, sequence, step) as patterns -> why that step is not compared.
NOT_COMPARED = {
    ("*", "watch", "*"): "a watch is no write, and no question to a judge",
    ("*", "heal/*", "DELETE"): "DELETE validates nothing",
    ("*", "ver-drop", "6 DELETE *"): "DELETE validates nothing",
    ("*", "ver-drop", "? LIST"): "LIST fails as a whole because of one object; the judge looks at single objects",
    ("*", "ver-drop", "etcd apiVersion"): "which version an object is stored as is not the judge's business",
    ("*", "ver-drop", "4 GET as v2 (served=false)"): "routing: an API that is not served",
    ("*", "ver-drop", "5 PATCH crd/status *"): "a write of the CRD's own status",
    ("*", "crd-level", "selectableFields kept?"): "what the server drops from a CRD's own fields",
    ("1.29", "crd-level", "CEL optionalOldSelf (1.29)"): (
        "a gate of 1.29 drops optionalOldSelf from CRDs that have not had it: no question of judging objects"
    ),
    ("*", "crd-delete-stuck", "DELETE CRD"): "DELETE validates nothing",
    ("*", "crd-delete-stuck", "GET CRD *"): "the life of the CRD object itself",
    ("*", "crd-delete-stuck", "etcd"): "the life of the CRD object itself",
    ("*", "server-rollback/*", "setup: CRD created"): "recorded on 1.33 before the rollback of the server",
    ("*", "server-rollback/*", "*: CRD in etcd afterwards"): "what the server drops from a CRD's own fields",
}

#: What was not recorded.
ABSENT = {("1.31", "heal/*"), ("1.31", "server-rollback/*"), ("1.31-openshift-4.18", "server-rollback/*")}

Parts = tuple[str, "Counter[str]"]


@dataclass(frozen=True)
class Step:
    """What the program says of one recorded step; what is None is not compared."""

    name: str
    status: int | None = None
    message: str | None = None
    warnings: tuple[str, ...] | None = None
    seen: Any = None
    stored: Any = None


class Cluster:
    """One CRD on one server, and etcd."""

    def __init__(self, server: Server, definition: Json, at: str = "v1") -> None:
        self.server = server
        self.etcd: dict[str, Json] = {}
        self.at = at
        self.roll(definition)

    def roll(self, definition: Json) -> None:
        """Replace the CRD; nothing happens to the stored objects."""
        self.definition = definition
        self.resource: Resource = resource_of(definition, self.at, self.server)

    def object(self, name: str, **parts: Any) -> Json:
        crd = self.resource.crd
        return {"apiVersion": f"{crd.group}/{self.at}", "kind": crd.kind, "metadata": {"name": name}, **parts}

    def create(self, name: str, spec: Json, status: Json | None = None, **metadata: Any) -> Verdict:
        """POST, then the status by a write of its own, as everybody has to."""
        new = self.object(name, spec=spec)
        new["metadata"].update(metadata)
        verdict = self._store(name, self.resource.create(new))
        if status is not None:
            assert self.put(name, {"status": status}, status=True).accepted
        return verdict

    def get(self, name: str) -> Json:
        return self.resource.read(self.etcd[name]).object

    def put(self, name: str, changes: Json, *, status: bool = False, dry_run: bool = False) -> Verdict:
        """GET, change, PUT: what a client does that knows only what it sees."""
        stored, write = self.etcd[name], self.resource.update_status if status else self.resource.update
        return self._store(name, write(_deep(self.get(name), changes), stored), dry_run=dry_run)

    def put_whole(self, name: str, new: Json, *, status: bool = False) -> Verdict:
        write = self.resource.update_status if status else self.resource.update
        return self._store(name, write(new, self.etcd[name]))

    def patch(self, name: str, patch: Json, *, status: bool = False) -> Verdict:
        return self._store(name, self.resource.merge_patch(patch, self.etcd[name], status=status))

    def apply(self, name: str, patch: Json) -> Verdict:
        return self._store(name, self.resource.apply(patch, self.etcd[name]))

    def scale(self, name: str, replicas: int) -> Verdict:
        return self._store(name, self.resource.scale(replicas, self.etcd[name]))

    def label(self, name: str) -> Verdict:
        return self.patch(name, {"metadata": {"labels": {"touched": "yes"}}})

    def unfinalize(self, name: str) -> Verdict:
        return self.patch(name, {"metadata": {"finalizers": None}})

    def _store(self, name: str, verdict: Verdict, *, dry_run: bool = False) -> Verdict:
        assert not verdict.unknown, verdict.unknown
        if verdict.accepted and not dry_run:
            assert verdict.object is not None
            self.etcd[name] = copy.deepcopy(verdict.object)
        return verdict


def _deep(base: Any, changes: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    return {**base, **{key: _deep(base.get(key), value) for key, value in changes.items()}}


def _reported(name: str, verdict: Verdict, *, created: bool = False, **more: Any) -> Step:
    code = 201 if created and verdict.code == 200 else verdict.code
    return Step(name, code, verdict.message, **more)


# -- the stories -------------------------------------------------------------------------------------------


def _prune_life(*, new: bool) -> Json:
    extra = {"extra": string()} if new else {}
    color = {"color": string()} if new else {}
    integer = {"type": "integer"}
    items = {**obj(name=string(), **color), "required": ["name"]}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    spec = obj(note=string(), cap=string(maxLength=3), replicas=integer, l=array(items, **keyed), **extra)
    status = obj(replicas=integer, conditions=array(obj(type=string(), status=string())), **extra)
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    entry = version(root(spec=spec, status=status), subresources={"status": {}, "scale": scale})
    return crd(kind="PruneLife", group=GROUP, scope="Cluster", versions=[entry])


_CONDITIONS = [{"type": "Ready", "status": "False"}]
#: Operation -> the write; the full object is what a client still has from before the rollback.
_PRUNING: dict[str, Callable[[Cluster, str, Json], Verdict | None]] = {
    "none": lambda c, n, full: None,
    "get-only": lambda c, n, full: c.get(n) and None,
    "list-only": lambda c, n, full: c.get(n) and None,
    "noop-put": lambda c, n, full: c.put(n, {}),
    "noop-status-put": lambda c, n, full: c.put(n, {}, status=True),
    "noop-merge-patch-empty": lambda c, n, full: c.patch(n, {}),
    "noop-ssa-same-manager": lambda c, n, full: c.apply(n, {"spec": c.get(n)["spec"]}),
    "label-patch": lambda c, n, full: c.label(n),
    "status-put-condition": lambda c, n, full: c.put(n, {"status": {"conditions": _CONDITIONS}}, status=True),
    "status-merge-patch": lambda c, n, full: c.patch(n, {"status": {"conditions": _CONDITIONS}}, status=True),
    "spec-put": lambda c, n, full: c.put(n, {"spec": {"note": "n2"}}),
    "ssa-spec": lambda c, n, full: c.apply(n, {"spec": {"note": "n2"}}),
    "finalizer-add": lambda c, n, full: c.patch(n, {"metadata": {"finalizers": ["example.com/hold"]}}),
    # DELETE validates nothing, but it writes the object as the server read it, with a deletionTimestamp.
    "delete-held-by-finalizer": lambda c, n, full: c.label(n),
    "scale-put": lambda c, n, full: c.scale(n, 3),
    "scale-put-noop": lambda c, n, full: c.scale(n, 1),
    "rejected-put-422": lambda c, n, full: c.put(n, {"spec": {"cap": "long"}}),
    "dry-run-put": lambda c, n, full: c.put(n, {"spec": {"note": "n2"}}, dry_run=True),
    "put-with-extra-from-cache": lambda c, n, full: c.put_whole(n, full),
    "put-with-extra-strict": lambda c, n, full: c.resource.update(full, c.etcd[n]),
    "put-with-extra-ignore": lambda c, n, full: c.put_whole(n, full),
    "status-put-with-extra-from-cache": lambda c, n, full: c.put_whole(n, full, status=True),
    "merge-patch-setting-extra": lambda c, n, full: c.patch(n, {"spec": {"extra": "again"}}),
    "merge-patch-setting-extra-strict": lambda c, n, full: c.resource.merge_patch(
        {"spec": {"extra": "again"}}, c.etcd[n]
    ),
    "ssa-setting-extra": lambda c, n, full: c.apply(n, {"spec": {"extra": "again"}}),
}


def _prune(server: Server, sequence: str) -> Iterator[Step]:
    """A field that only the new CRD has, in spec, in a list item and in status."""
    name = sequence.partition("/")[2]
    cluster = Cluster(server, _prune_life(new=True))
    spec = {"note": "n1", "cap": "c", "replicas": 1, "extra": "kept", "l": [{"name": "y", "color": "red"}]}
    held = {"finalizers": ["example.com/hold"]} if name == "delete-held-by-finalizer" else {}
    cluster.create(name, spec, {"replicas": 1, "extra": "kept"}, **held)
    full = cluster.get(name)
    cluster.roll(_prune_life(new=False))
    verdict = _PRUNING[name](cluster, name, full)
    status, message, warnings = 200, "", ()
    if verdict is not None:
        status, message, warnings = verdict.code, verdict.message, verdict.warnings
    if name.endswith("-ignore"):
        warnings = ()  # fieldValidation=Ignore: nobody wants to know
    if name.endswith("-strict"):
        # fieldValidation=Strict turns the same warnings into an error; the write never gets to the judge.
        assert verdict is not None
        assert verdict.accepted
        status, message, warnings = (400 if name.startswith("put") else 422), ", ".join(verdict.warnings), ()
    seen, stored = _losses(cluster.get(name)), _losses(cluster.etcd[name])
    yield Step("after write under old CRD", status, message, warnings, seen, stored)
    cluster.roll(_prune_life(new=True))
    seen, stored = _losses(cluster.get(name)), _losses(cluster.etcd[name])
    yield Step("GET after rolling forward again", 200, "", seen=seen, stored=stored)


def _losses(data: Json) -> str:
    """In the words of the recording."""
    found = {
        "spec.extra": "extra" in data["spec"],
        "item.color": "color" in data["spec"]["l"][0],
        "status.extra": "extra" in data["status"],
    }
    return " ".join(f"{name}={'kept' if there else 'LOST'}" for name, there in found.items())


def _kind(kind: str, spec: Json, status: Json | None = None, **root_more: Any) -> Json:
    condition = obj(type=string(), status=string())
    entry = {**root(spec=spec, status=status or obj(conditions=array(condition))), **root_more}
    return crd(entry, kind=kind, group=GROUP, scope="Cluster")


def _note(**more: Json) -> Json:
    return obj(note=string(), **more)


_DEFAULTED = string(default="dflt")
#: Story -> (schema of spec under old, under new, the spec that is created, which CRD is there first).
_SPECS: dict[str, tuple[Json, Json, Json, str]] = {
    "dflt-only-new": (_note(s=string()), _note(s=_DEFAULTED), {"note": "n1"}, "new"),
    "dflt-only-new-field-only-new": (_note(), _note(s=_DEFAULTED), {"note": "n1"}, "new"),
    "dflt-only-old": (_note(s=_DEFAULTED), _note(s=string()), {"note": "n1"}, "new"),
    "dflt-changed": (_note(s=string(default="A")), _note(s=string(default="B")), {"note": "n1"}, "new"),
    "dflt-changed-written-under-old-first": (
        _note(s=string(default="A")),
        _note(s=string(default="B")),
        {"note": "n1"},
        "old",
    ),
    "dflt-new-on-old-object": (_note(), _note(s=_DEFAULTED), {"note": "n1"}, "old"),
    "null-nullable-only-new": (_note(s=string()), _note(s=string(nullable=True)), {"note": "n1", "s": None}, "new"),
    "null-nullable-only-new-old-default": (
        _note(s=_DEFAULTED),
        _note(s=string(nullable=True)),
        {"note": "n1", "s": None},
        "new",
    ),
    "empty-object-after-prune": (
        _note(o=obj(y=string())),
        _note(o=obj(x=string(), y=string())),
        {"note": "n1", "o": {"x": "1"}},
        "new",
    ),
}


def _values(server: Server, sequence: str) -> Iterator[Step]:
    """Defaults and nulls: one object that is only read, and a twin that gets a label after each change."""
    old, new, spec, first = _SPECS[sequence]
    crds = {"old": _kind("Values", old), "new": _kind("Values", new)}
    cluster = Cluster(server, crds[first])
    cluster.create("twin", spec)
    created = cluster.create("read", spec)
    yield _reported(f"0:{first} created", created, created=True, **_both(cluster, "read"))
    turns = ("new", "old", "new") if first == "old" else ("old", "new")
    for number, side in enumerate(turns, 1):
        cluster.roll(crds[side])
        yield Step(f"{number}:{side} GET (no write)", 200, "", **_both(cluster, "read"))
        verdict = cluster.label("twin")
        yield _reported(f"{number}:{side} label patch on twin", verdict, stored=cluster.etcd["twin"]["spec"])


def _both(cluster: Cluster, name: str) -> dict[str, Any]:
    return {"seen": cluster.get(name)["spec"], "stored": copy.deepcopy(cluster.etcd[name]["spec"])}


def _prune_required(server: Server, _: str) -> Iterator[Step]:
    """A required field that is lost by a write under the old CRD makes the object invalid after rolling forward."""
    new = _kind("PruneRequired", {**_note(need=string()), "required": ["need"]})
    cluster = Cluster(server, new)
    for name in ("a", "b"):
        cluster.create(name, {"note": "n1", "need": "v"})
    cluster.roll(_kind("PruneRequired", _note()))
    verdict = cluster.label("a")
    yield _reported("label patch under old", verdict, stored=cluster.etcd["a"]["spec"])
    cluster.roll(new)
    for name in ("a", "b"):
        yield Step(f"{name}: GET after forward", 200, "", seen=cluster.get(name)["spec"])
        yield _reported(f"{name}: label patch after forward", cluster.label(name))
        conditions = {"status": {"conditions": _CONDITIONS}}
        yield _reported(f"{name}: status PUT after forward", cluster.put(name, conditions, status=True))
        yield _reported(f"{name}: spec PATCH note after forward", cluster.patch(name, {"spec": {"note": "n2"}}))
        yield _reported(f"{name}: PATCH need (heal)", cluster.patch(name, {"spec": {"need": "v"}}))


def _rule(rule: str, message: str = "", **more: Any) -> Json:
    return {"rule": rule, **({"message": message} if message else {}), **more}


_RED, _BLUE = string("red"), string("red", "blue")
_ON_SPEC = _rule("self.spec.color == 'red'", "spec must be red")
_ON_STATUS = _rule("!has(self.status) || self.status.color == 'red'", "status must be red")
#: Story -> (kind, spec, status, rules at the root), all under the old CRD; the new one only knows two colors.
_HEALING: dict[str, tuple[str, Json, Json, list[Json]]] = {
    "enum-spec+enum-status": ("HealA", _note(color=_RED), obj(color=_RED), []),
    "cel-spec+enum-status": (
        "HealB",
        {**_note(color=_BLUE), "x-kubernetes-validations": [_rule("self.color == 'red'", "must be red")]},
        obj(color=_RED),
        [],
    ),
    "enum-spec+cel-root-status": ("HealC", _note(color=_RED), obj(color=_BLUE), [_ON_STATUS]),
    "cel-root-spec+cel-root-status": ("HealD", _note(color=_BLUE), obj(color=_BLUE), [_ON_SPEC, _ON_STATUS]),
}


def _heal(server: Server, sequence: str) -> Iterator[Step]:
    """Spec and status are bad at once: which write, if any, brings the object back?"""
    kind, spec, status, rules = _HEALING[sequence.partition("/")[2]]
    cluster = Cluster(server, _kind(kind, _note(color=_BLUE), obj(color=_BLUE)))
    cluster.create("a", {"note": "n1", "color": "blue"}, {"color": "blue"}, finalizers=["example.com/hold"])
    cluster.roll(_kind(kind, spec, status, **({"x-kubernetes-validations": rules} if rules else {})))
    red = {"spec": {"color": "red"}, "status": {"color": "red"}}
    for again in ("", " (2nd)"):
        yield _reported(f"main PUT fixing spec+status{again}", cluster.put("a", red))
        yield _reported(f"status PUT fixing spec+status{again}", cluster.put("a", red, status=True))
    yield _reported("label patch afterwards", cluster.label("a"))
    yield _reported("remove finalizer", cluster.unfinalize("a"))


def _delete_stuck(server: Server, _: str) -> Iterator[Step]:
    """Deleting the CRD waits for an object whose finalizer cannot be removed."""
    cluster = Cluster(server, _kind("CrdDeleteStuck", _note(color=_BLUE)))
    cluster.create("held", {"note": "n1", "color": "blue"}, finalizers=["example.com/hold"])
    cluster.roll(_kind("CrdDeleteStuck", _note(color=_RED)))
    yield _reported("remove finalizer of the held CR", cluster.unfinalize("held"))


def _refused(name: str, message: str, *, created: bool = False) -> Step:
    return Step(name, 422 if message else (201 if created else 200), message)


def _ver_drop(server: Server, _: str) -> Iterator[Step]:
    """A version that is stored cannot leave the CRD; what is stored in a version that left cannot be read."""
    schema = root(spec=_note(), status=obj())

    def crd_of(*versions: tuple[str, bool, bool]) -> Json:
        entries = [version(schema, name, served=served, storage=storage) for name, served, storage in versions]
        return crd(kind="VerDrop", group=GROUP, scope="Cluster", versions=entries)

    old, new = crd_of(("v1", True, True)), crd_of(("v1", True, False), ("v2", True, True))
    kept = crd_of(("v1", True, True), ("v2", False, False))

    def replaced(before: Json, after: Json, stored: list[str]) -> str:
        return update_refusal(read_crd(before), read_crd(after), stored, server)

    yield _refused("1 old CRD [v1 storage]", refusal(read_crd(old), server), created=True)
    yield _refused("2 new CRD [v1, v2 storage]", refusal(read_crd(new), server) or replaced(old, new, ["v1"]))
    yield _refused("3 roll back to old CRD [v1 only]", replaced(new, old, ["v1", "v2"]))
    yield _refused("4 roll back keeping v2 served=false, storage v1", replaced(new, kept, ["v1", "v2"]))
    cluster = Cluster(server, new)
    cluster.create("stored-v1", {"note": "n1"})
    cluster.create("stored-v2", {"note": "n1"})
    cluster.roll(kept)
    yield Step("4 GET stored-v1 as v1", 200, "", seen=cluster.get("stored-v1")["apiVersion"])
    # Conversion strategy None: the same object under another apiVersion.
    yield Step("4 GET stored-v2 as v1", 200, "", seen=cluster.get("stored-v2")["apiVersion"])
    yield _refused("6 roll back to old CRD [v1 only] again", replaced(kept, old, ["v1"]))
    cluster.roll(old)
    yield Step("6 GET stored-v1", 200, "", seen=cluster.get("stored-v1")["spec"])
    yield _reported("6 label PATCH stored-v1", cluster.label("stored-v1"))
    lost = {**cluster.etcd["stored-v2"], "apiVersion": f"{GROUP}/v2"}
    for step in ("6 GET stored-v2", "6 label PATCH stored-v2"):
        # The judge has no answer either, and does not make one up.
        with pytest.raises(UsageError, match=r"verdrops\.rb\.example\.com has no version v2"):
            judge(old, "update", lost, lost, kubernetes=server.kubernetes)
        yield Step(step, 500)
    yield _refused("7 forward again [v1, v2 storage]", replaced(old, new, ["v1"]))


def _crd_level(server: Server, _: str) -> Iterator[Step]:
    """What the server refuses to store as a CRD at all."""

    def crd_of(s: Json | None = None, **spec: Any) -> Json:
        made = _kind("CrdLevel", _note(s=s or string()))
        made["spec"].update(spec)
        return made

    base = crd_of()
    names = base["spec"]["names"]
    storeless = [{**base["spec"]["versions"][0], "storage": False}]

    def put(after: Json) -> str:
        established = {"type": "Established", "status": "True"}
        status = {"conditions": [established], "storedVersions": ["v1"], "acceptedNames": names}
        return update_crd(after, {**base, "status": status}, server).message

    yield _refused("create", refusal(read_crd(base), server), created=True)
    yield _refused("scope Cluster -> Namespaced", put(crd_of(scope="Namespaced")))
    yield _refused("names.kind changed", put(crd_of(names={**names, "kind": "Other"})))
    yield _refused("names.kind back", put(base))
    yield _refused("preserveUnknownFields: true", put(crd_of(preserveUnknownFields=True)))
    yield _refused("no storage version", put(crd_of(versions=storeless)))
    yield _refused("default of wrong type", put(crd_of(string(default=5))))
    for step, rule in (
        ("CEL isIP() (upstream library since 1.30; openshift forks carry it from 4.14, PR 1911)", _rule("isIP(self)")),
        ("CEL optionalOldSelf (1.29)", _rule("self==oldSelf.orValue(self)", optionalOldSelf=True)),
        (
            "CEL messageExpression/reason (1.27/1.28)",
            _rule("self.size() < 5", messageExpression="'too long: ' + self", reason="FieldValueForbidden"),
        ),
    ):
        yield _refused(step, _compiles(crd_of({**string(), "x-kubernetes-validations": [rule]}), server))
    selectable = {**base["spec"]["versions"][0], "selectableFields": [{"jsonPath": ".spec.note"}]}
    yield _refused("selectableFields (1.30)", put(crd_of(versions=[selectable])))


def _compiles(definition: Json, server: Server) -> str:
    """The compiler's words, which are the same for the CRD and for an object under it."""
    resource = resource_of(definition, "v1", server)
    found = {"apiVersion": f"{GROUP}/v1", "kind": resource.crd.kind, "metadata": {"name": "a"}}
    verdict = resource.create({**found, "spec": {"s": "a"}})
    return "".join(error.detail for error in verdict.errors if error.detail.startswith("rule compile error: "))


_SERVER_ROLLBACK: dict[str, tuple[str, list[Json], str]] = {
    "cel-isip": ("SrvCelIsip", [_rule("isIP(self)", "must be an IP")], "10.0.0.1"),
    "cel-optoldself": (
        "SrvCelOptoldself",
        [_rule("oldSelf.hasValue() ? self == oldSelf.value() : true", "immutable", optionalOldSelf=True)],
        "a",
    ),
    "cel-msgexpr": (
        "SrvCelMsgexpr",
        [_rule("self.size() < 5", messageExpression='"too long: " + self', reason="FieldValueForbidden")],
        "a",
    ),
    "selectable": ("SrvSelectable", [], "a"),
    "cel-format": ("SrvCelFormat", [_rule("!format.dns1123Label().validate(self).hasValue()", "dns")], "a"),
}


def _server_rollback(server: Server, sequence: str) -> Iterator[Step]:
    """The newer CRD stays, an older server runs it: rules that it cannot compile refuse every write."""
    if server.minor > 30:
        return  # there the CRD was only created
    kind, rules, value = _SERVER_ROLLBACK[sequence.partition("/")[2]]
    definition = _kind(kind, _note(s=string(**({"x-kubernetes-validations": rules} if rules else {}))))
    before = Cluster(Server(33, (4, 20)), definition)
    before.create("a", {"note": "n1", "s": value}, finalizers=["example.com/hold"])
    cluster = Cluster(server, definition)
    cluster.etcd = before.etcd
    yield Step("after-1.33: GET CR", 200, "", seen={"note": "n1", "s": value} == cluster.get("a")["spec"])
    yield Step("after-1.33: LIST CR", 200, "")
    yield _reported("after-1.33: label PATCH CR", cluster.label("a"))
    yield _reported(
        "after-1.33: status PATCH CR", cluster.patch("a", {"status": {"conditions": _CONDITIONS}}, status=True)
    )
    forbidden = {"spec": {"s": "!!bad-value!!"}}
    yield _reported("after-1.33: PATCH s to a value the rule forbids", cluster.patch("a", forbidden))
    yield _reported("after-1.33: remove finalizer CR", cluster.unfinalize("a"))
    yield _refused("after-1.33: label PATCH of the CRD itself", _compiles(definition, server))


#: Pattern of sequences -> how they are replayed.
STORIES: dict[str, Callable[[Server, str], Iterator[Step]]] = {
    "prune/*": _prune,
    "dflt-*": _values,
    "null-*": _values,
    "empty-object-after-prune": _values,
    "prune-required": _prune_required,
    "heal/*": _heal,
    "crd-delete-stuck": _delete_stuck,
    "ver-drop": _ver_drop,
    "crd-level": _crd_level,
    "server-rollback/*": _server_rollback,
    "watch": lambda server, sequence: iter(()),
}


# -- against the recordings --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Json]:
    path = shared / "data/rollback-truth/sequences.ndjson.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    with gzip.open(path) as lines:
        return [json.loads(line) for line in lines]


def _parts(message: str) -> Parts:
    head, _, body = message.partition(" is invalid: ")
    return head, Counter(body.removeprefix("[").removesuffix("]").split(", "))


def _literal(text: Any) -> Any:
    return ast.literal_eval(text) if isinstance(text, str) and text.startswith("{") else text


def _differences(record: Json, step: Step) -> Iterator[str]:
    status, message = record.get("http_status"), record["message"]
    if status is not None and step.status is not None and status != step.status:
        yield f"HTTP {step.status} instead of {status} ({step.message or message})"
    elif step.message is not None and not _same_message(record, step):
        yield f"says {step.message!r} instead of {message!r}"
    if step.warnings is not None and sorted(step.warnings) != sorted(_warnings(record)):
        yield f"warns {step.warnings} instead of {record['warnings']}"
    seen = _literal(record.get("api", record.get("spec", record.get("apiVersion"))))
    if step.seen is not None and seen is not None and step.seen != seen:
        yield f"clients see {step.seen} instead of {seen}"
    if step.stored is not None and step.stored != _literal(record.get("etcd", step.stored)):
        yield f"stores {step.stored} instead of {record['etcd']}"


def _warnings(record: Json) -> list[str]:
    return [json.loads(text.removeprefix("299 - ")) for text in record.get("warnings", ())]


def _same_message(record: Json, step: Step) -> bool:
    message, said = record["message"], step.message or ""
    sequence = record["sequence"]
    if "rule compile error: " in said and message.startswith("CustomResourceDefinition."):
        # So it does with the rule.
        return message.endswith(said.removeprefix("rule compile error: "))
    if sequence.endswith("-strict") and message:
        # Made of the warnings; a patch's error quotes the whole object before them.
        return message.endswith(f"strict decoding error: {said}")
    return _parts(said) == _parts(message)


def _excuse(record: Json) -> str:
    """Why a recorded step is not compared; "" if it is."""
    key = (record["kubernetes"], record["sequence"], record["step"])
    return next((reason for wanted, reason in NOT_COMPARED.items() if _matches(key, wanted)), "")


def _matches(key: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    # Brackets in names are no character classes.
    return all(
        fnmatch.fnmatchcase(part.replace("[", "("), pattern.replace("[", "("))
        for part, pattern in zip(key, wanted, strict=True)
    )


@pytest.mark.parametrize(
    ("kubernetes", "family"),
    [(server, story) for server in SERVERS for story in STORIES if (server, story) not in ABSENT],
)
def test_story(recorded: list[Json], kubernetes: str, family: str) -> None:
    """Every recorded step is replayed as it was, or excused; no step is made up."""
    mine = [r for r in recorded if r["kubernetes"] == kubernetes and fnmatch.fnmatchcase(r["sequence"], family)]
    assert mine
    wrong = []
    for sequence in dict.fromkeys(record["sequence"] for record in mine):
        records = {record["step"]: record for record in mine if record["sequence"] == sequence}
        assert len(records) == sum(record["sequence"] == sequence for record in mine)
        steps = {step.name: step for step in STORIES[family](SERVERS[kubernetes], sequence)}
        excused = {name for name, record in records.items() if _excuse(record)}
        assert steps.keys() | excused == records.keys(), sequence
        for name in steps.keys() - excused:
            wrong.extend((sequence, name, said) for said in _differences(records[name], steps[name]))
    assert not wrong, f"{len(wrong)} of {len(mine)}; the first: {wrong[0]}"


def test_nothing_recorded_is_left_out(recorded: list[Json]) -> None:
    """Each sequence belongs to one family, each server is asked, each excuse is needed."""
    assert {record["kubernetes"] for record in recorded} == set(SERVERS)
    for record in recorded:
        assert sum(fnmatch.fnmatchcase(record["sequence"], family) for family in STORIES) == 1, record["sequence"]
        assert not any(
            fnmatch.fnmatchcase(record["sequence"], story) for server, story in ABSENT if server == record["kubernetes"]
        )
    keys = [(record["kubernetes"], record["sequence"], record["step"]) for record in recorded]
    assert all(any(_matches(key, wanted) for key in keys) for wanted in NOT_COMPARED)
    assert len(recorded) == 1153
    assert sum(bool(_excuse(record)) for record in recorded) == 125


def test_a_wrong_answer_is_noticed(recorded: list[Json]) -> None:
    """The comparison can fail: the steps differ when a server of another era replays them."""
    for family, sequence in (("heal/*", "heal/enum-spec+enum-status"), ("prune-required", "prune-required")):
        records = {r["step"]: r for r in recorded if (r["kubernetes"], r["sequence"]) == ("1.26", sequence)}
        steps = STORIES[family](SERVERS["1.33"], sequence)
        assert [said for step in steps for said in _differences(records[step.name], step)]

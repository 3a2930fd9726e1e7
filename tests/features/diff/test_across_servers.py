"""Writes that one supported server accepts and another refuses, each with an object that both have judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, crd, diff, obj, root, select, string, write

from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.model import read_crd

INT32 = {"type": "integer", "format": "int32"}
NUMBER = {"type": "integer"}


def _found(tmp_path: Path, old: Json, new: Json, kubernetes: Any, *args: str) -> list[Json]:
    config = write(tmp_path / "c.yaml", {"kubernetes": kubernetes})
    sides = [write(tmp_path / name, crd(schema)) for name, schema in (("old.yaml", old), ("new.yaml", new))]
    report = diff(*sides, "--config", config, *args)
    return [each for each in report["findings"] if each["rule"].startswith("server-")]


def _accepts(schema: Json, witness: Json, version: str) -> bool:
    found = read_crd(crd(schema))
    return bool(Resource(found, found.versions[0], kubernetes_server(version)).create(witness).accepted)


# -- formats ---------------------------------------------


@pytest.mark.parametrize(
    ("field", "servers", "strict"),
    [
        (INT32, ["1.34", "1.35", "1.36"], ["1.36"]),
        (string(format="k8s-short-name"), ["1.33", "1.34", "1.35"], ["1.34", "1.35"]),
        (INT32, ["1.28", "1.35"], None),
        (INT32, ["1.36"], None),
        ({**INT32, "minimum": 0, "maximum": 9}, ["1.35", "1.36"], None),
        (string(format="date"), ["1.28", "1.36"], None),
        (string(format="nonsense"), ["1.28", "1.36"], None),
        (NUMBER, ["1.28", "1.36"], None),
        ({"type": "number", "format": "float"}, ["1.28", "1.36"], ["1.36"]),
        ({"type": "number", "format": "double"}, ["1.28", "1.36"], None),
        ({"type": "integer", "format": "int64"}, ["1.28", "1.36"], None),
        (string(format="uri"), ["1.28", "1.35", "1.36"], ["1.36"]),
        (string(format="uri", pattern="^https://[a-z.]+$"), ["1.28", "1.36"], None),
    ],
)
def test_formats(tmp_path: Path, field: Json, servers: list[str], strict: list[str] | None) -> None:
    old, new = root(spec=obj(a=string())), root(spec=obj(a=string(), b=field))
    found = select({"findings": _found(tmp_path, old, new, servers)}, rule="server-stricter-on")
    if strict is None:
        assert found == []
        return
    (finding,) = found
    assert (finding["path"], finding["severity"], finding["new"]) == ("spec.b", "info", strict)
    assert finding["added"] == [field["format"]]
    verdicts = {version: _accepts(new, finding["witness"]["object"], version) for version in servers}
    assert verdicts == {version: version not in strict for version in servers}


# -- limits that the type of a number cannot hold ---------------------------------------------

UNSIGNED = {**INT32, "minimum": 0, "maximum": 2**32 - 1}


@pytest.mark.parametrize(
    ("before", "field", "servers", "limits"),
    [
        pytest.param(None, UNSIGNED, ["1.28", "1.35", "1.36"], ["maximum"], id="a new field"),
        pytest.param(None, UNSIGNED, ["1.36"], ["maximum"], id="on one server"),
        pytest.param(None, UNSIGNED, ["1.28", "1.35"], None, id="on servers that do not look"),
        pytest.param(None, {**UNSIGNED, "format": "int64"}, ["1.35", "1.36"], None, id="a limit that fits"),
        pytest.param(None, {**NUMBER, "minimum": 0.5}, ["1.35", "1.36"], ["minimum"], id="a fraction"),
        pytest.param(None, {"type": "string", "maximum": 0.5}, ["1.35", "1.36"], None, id="a limit of no number"),
        pytest.param(
            UNSIGNED,
            {**UNSIGNED, "maximum": 2**33},
            ["1.35", "1.36"],
            ["maximum"],
            id="a field that had no value before",
        ),
    ],
)
def test_limits_without_any_value(
    tmp_path: Path, before: Json | None, field: Json, servers: list[str], limits: list[str] | None
) -> None:
    """envoyproxy/gateway and metallb: Kubernetes 1.36 takes their CRDs, and refuses each of their int32 fields."""
    old, new = (root(spec=obj(a=string(), **({} if b is None else {"b": b}))) for b in (before, field))
    found = _found(tmp_path, old, new, servers)
    if limits is None:
        assert found == []
        return
    (finding,) = found
    assert (finding["rule"], finding["path"], finding["severity"]) == ("server-refuses-all", "spec.b", "warning")
    assert (finding["new"], finding["added"]) == (["1.36"], limits)
    verdicts = {version: _accepts(new, finding["witness"]["object"], version) for version in servers}
    assert verdicts == {version: version != "1.36" for version in servers}


def test_a_limit_that_no_longer_fits_is_one_finding(tmp_path: Path) -> None:
    """A change of the schema: the finding of the servers does not repeat it."""
    sides = (root(spec=obj(b={**INT32, "maximum": limit})) for limit in (9, 2**32 - 1))
    assert _found(tmp_path, *sides, ["1.36"]) == []


# -- rules ---------------------------------------------


def _ruled(rule: str, **field: Any) -> Json:
    return {"type": "string", "maxLength": 100, **field, "x-kubernetes-validations": [{"rule": rule}]}


SERVERS = ["1.31", "1.32", "1.33", "1.34", "1.36"]
BEFORE_1_36 = SERVERS[:-1]
CONTAINS = "cidr('10.0.0.0/8').containsCIDR(self)"
IN_MEMBERS = "!has(self.inner) || cidr(self.outer).containsCIDR(self.inner)"
NETWORKS = {"type": "object", "required": ["outer"], "properties": {"outer": string(), "inner": string()}}
URLS = {"type": "array", "maxItems": 4, "items": string(maxLength=100)}


@pytest.mark.parametrize(
    ("field", "strict", "functions"),
    [
        (_ruled("isURL(self)"), ["1.36"], ["isURL()"]),
        (_ruled("!isURL(self)"), BEFORE_1_36, ["isURL()"]),
        (_ruled("self.all(u, url(u).getScheme() == 'https')", **URLS), ["1.36"], ["url()"]),
        (_ruled("!format.uri().validate(self).hasValue()"), ["1.36"], ["validate()"]),
        (_ruled(CONTAINS), ["1.31", "1.32"], ["containsCIDR()"]),
        (_ruled(IN_MEMBERS, **NETWORKS), ["1.31", "1.32"], ["containsCIDR()"]),
        (_ruled("self.indexOf('x') < 0"), ["1.31", "1.32"], ["indexOf()"]),
        (_ruled("self.lastIndexOf('x') < 0"), ["1.31", "1.32", "1.33"], ["lastIndexOf()"]),
        (_ruled("self.indexOf('x') < 0", minLength=1), None, []),
        (_ruled("isURL(self)", pattern="^https://[a-z.]+$"), None, []),
        (_ruled("!format.dns1123Label().validate(self).hasValue()"), None, []),
        (_ruled("isIP(self) || self.matches('^a+$')"), None, []),
    ],
)
def test_rules(tmp_path: Path, field: Json, strict: list[str] | None, functions: list[str]) -> None:
    old, new = root(spec=obj(a=string())), root(spec=obj(a=string(), b=field))
    found = _found(tmp_path, old, new, SERVERS)
    assert [(each["rule"], each["path"], each["new"], each["added"]) for each in found] == (
        [] if strict is None else [("server-stricter-on", "spec.b", strict, functions)]
    )
    for finding in found:
        verdicts = {version: _accepts(new, finding["witness"]["object"], version) for version in SERVERS}
        assert verdicts == {version: version not in finding["new"] for version in SERVERS}
        assert finding["message"].endswith(" accepts")


def test_a_server_that_refuses_the_crd_counts_on_neither_side(tmp_path: Path) -> None:
    """Kubernetes 1.28 has no cidr()."""
    old, new = root(spec=obj(a=string())), root(spec=obj(a=string(), b=_ruled(CONTAINS)))
    assert _found(tmp_path, old, new, ["1.28", "1.33"]) == []
    assert [each["new"] for each in _found(tmp_path, old, new, ["1.28", "1.31", "1.33"])] == [["1.31"]]


def test_rules_that_stay_are_not_judged(tmp_path: Path) -> None:
    old, new = (root(spec=obj(a=_ruled("isURL(self)"), b=string(*values))) for values in ((), ("A",)))
    assert select({"findings": _found(tmp_path, old, new, SERVERS)}, rule="server-stricter-on") == []


def test_only_touched_fields(tmp_path: Path) -> None:
    same = {"list": array(obj(n=INT32)), "a": INT32}
    old, new = root(spec=obj(**same)), root(spec=obj(**same, items=array(obj(n=INT32), maxItems=2)))
    assert [each["path"] for each in _found(tmp_path, old, new, ["1.35", "1.36"])] == ["spec.items[*].n"]


# -- updates ---------------------------------------------


@pytest.mark.parametrize(
    ("servers", "strict", "kinds"),
    [
        (["1.29", "1.30"], ["1.29"], {"spec-update", "metadata-update", "finalizer-removal", "apply"}),
        (["1.27", "1.28"], ["1.27"], {"status-update"}),
        (["1.30", "1.36"], None, set()),
        (["1.28", "1.29"], None, set()),
    ],
)
def test_updates_of_spec(tmp_path: Path, servers: list[str], strict: list[str] | None, kinds: set[str]) -> None:
    status = obj(n=NUMBER)
    old = root(spec=obj(mode=string("A", "B"), n=NUMBER), status=status)
    new = root(spec=obj(mode=string("A"), n=NUMBER), status=status)
    found = _found(tmp_path, old, new, servers, "--direction", "upgrade")
    if strict is None:
        assert found == []
        return
    (finding,) = found
    assert (finding["rule"], finding["severity"], finding["path"]) == ("server-looser-on", "warning", "spec.mode")
    assert (finding["new"], set(finding["added"])) == (strict, kinds)
    assert finding["witness"]["object"]["spec"]["mode"] == "B"


def test_updates_of_status(tmp_path: Path) -> None:
    """Status ratchets since 1.33 only; the rollback is judged on OLD's servers."""
    old, new = (root(status=obj(p=string(*values), n=NUMBER)) for values in (("A",), ("A", "B")))
    (finding,) = _found(tmp_path, old, new, ["1.32", "1.33"], "--direction", "rollback")
    assert (finding["rule"], finding["severity"]) == ("server-looser-on", "info")
    assert (finding["new"], finding["added"]) == (["1.32"], ["status-update"])
    assert finding["message"].endswith("Kubernetes 1.33 accepts what Kubernetes 1.32 refuses: status-update")


def test_without_the_key_there_is_no_such_finding(tmp_path: Path) -> None:
    sides = [
        write(tmp_path / name, crd(root(spec=obj(a=string(*values), n=INT32))))
        for name, values in (("old.yaml", ("A", "B")), ("new.yaml", ("A",)))
    ]
    assert [each for each in diff(*sides)["findings"] if each["rule"].startswith("server-")] == []


def test_fields_that_differ_alike_are_one_finding(tmp_path: Path) -> None:
    old, new = (
        root(spec=obj(a=string(*values), b=string(*values), c=string(*values), n=NUMBER))
        for values in (("A", "B"), ("A",))
    )
    (finding,) = _found(tmp_path, old, new, ["1.29", "1.30"], "--direction", "upgrade")
    assert finding["path"] == "spec.a"
    assert finding["message"].endswith("apply (alike at 2 more fields)")

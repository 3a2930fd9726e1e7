"""Changes and refusals that depend on the minor: both releases meet the same one, and reports name the minors."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, only, remarks, root, run, string, write

_RULES = "x-kubernetes-validations"
_RANGE: Json = {"kubernetes": {"min": "1.28", "max": "1.36"}}
_BOTH = pytest.mark.parametrize("config", [{}, _RANGE])


def _format(name: str) -> Json:
    return {"type": "string", "format": name}


def _ruled(rule: str, **more: object) -> Json:
    return {**string(maxLength=43), _RULES: [{"rule": rule, **more}]}


_PLAIN = string(maxLength=43)
_CIDR = _ruled("isCIDR(self)")


def _sides(tmp_path: Path, old: Json, new: Json, config: Json) -> list[str]:
    for name, schema in (("v1", old), ("v2", new)):
        write(tmp_path / name / "widget.yaml", crd(schema))
    write(tmp_path / "config.yaml", config)
    return ["path:v1", "path:v2", "--config", "config.yaml"]


def _diff(tmp_path: Path, old: Json, new: Json, config: Json) -> Json:
    return diff(*_sides(tmp_path, old, new, config), cwd=tmp_path)


def _spans(report: Json) -> list[tuple[str, str, str]]:
    """Direction and rule of each finding on its own servers, with these servers."""
    found = []
    for each in report["findings"]:
        before, on, servers = each["message"].rpartition("on Kubernetes ")
        if on and before.endswith((": ", "; ")):
            found.append((each["direction"], each["rule"], servers))
    return sorted(found)


@_BOTH
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # 1.34 is the first server that knows the format.
        (string(), _format("k8s-short-name"), [("upgrade", "format-changed", "1.34 to 1.36")]),
        (_format("k8s-short-name"), string(), [("rollback", "format-changed", "1.34 to 1.36")]),
        # A long name has at most 253 characters.
        (
            _format("k8s-long-name"),
            string(maxLength=253),
            [("rollback", "format-changed", "1.34 to 1.36"), ("upgrade", "length-tightened", "{first} to 1.33")],
        ),
        (
            {"type": "integer", "format": "int64"},
            {"type": "integer", "format": "int32"},
            [("upgrade", "format-changed", "1.36")],
        ),
        # No int32 reaches the limit: 1.36 refuses all numbers, the others those above it.
        (
            {"type": "integer", "format": "int32"},
            {"type": "integer", "format": "int32", "maximum": 2**32 - 1},
            [("upgrade", "bounds-tightened", "{first} to 1.35"), ("upgrade", "number-range-changed", "1.36")],
        ),
    ],
)
def test_the_minors_of_an_effect(
    tmp_path: Path, config: Json, old: Json, new: Json, expected: list[tuple[str, str, str]]
) -> None:
    """Older and newer minors have other effects, and each finding names its own."""
    report = _diff(tmp_path, root(spec=obj(a=old)), root(spec=obj(a=new)), config)
    first = "1.28" if config else "1.26"
    assert _spans(report) == [(*each, servers.format(first=first)) for *each, servers in expected]


def _rules_of(report: Json) -> list[tuple[str, str, str]]:
    return sorted((each["direction"], each["severity"], each["rule"]) for each in report["findings"])


_OLDER = "Kubernetes {first} to 1.30 refuse this CRD: `isCIDR` needs Kubernetes 1.31 or later"


def test_a_rollback_to_a_crd_that_a_supported_server_refuses_is_blocked(tmp_path: Path) -> None:
    """The finding names the minors; the report judges the rest on the servers that take the CRD."""
    sides = _sides(tmp_path, root(spec=obj(net=_CIDR)), root(spec=obj(net=_PLAIN)), _RANGE)
    found = only(diff(*sides, cwd=tmp_path), rule="crd-refused-by")
    assert (found["direction"], found["severity"]) == ("rollback", "error")
    assert (found["old"], found["new"], found["removed"]) == (["1.28", "1.29", "1.30"], None, ["isCIDR"])
    assert found["message"].endswith(
        "Kubernetes 1.28 to 1.30 refuse it, because `isCIDR` needs Kubernetes 1.31 or later"
    )
    ran = run("diff", *sides, cwd=tmp_path)
    assert ran.code == 1
    assert "path:v2 -> path:v1: BLOCKED" in ran.out


def test_an_older_minor_that_refuses_old_is_named_where_no_server_is_known(tmp_path: Path) -> None:
    report = _diff(tmp_path, root(spec=obj(net=_CIDR)), root(spec=obj(net=_PLAIN)), {})
    assert [message for *_, message in remarks(report)] == [_OLDER.format(first="1.26")]
    assert _rules_of(report) == [("rollback", "warning", "cel-rule-removed")]


@_BOTH
def test_what_both_sides_have_is_no_finding(tmp_path: Path, config: Json) -> None:
    report = _diff(tmp_path, root(spec=obj(net=_CIDR)), root(spec=obj(net=_CIDR, more=string())), config)
    assert _rules_of(report) == [("rollback", "info", "property-added")]
    assert [message for *_, message in remarks(report)] == ([_OLDER.format(first="1.28")] if config else [])


def test_one_more_function_of_the_same_minor_is_a_finding(tmp_path: Path) -> None:
    new = root(spec=obj(net=_CIDR, host=_ruled("isIP(self)")))
    found = only(_diff(tmp_path, root(spec=obj(net=_CIDR, host=_PLAIN)), new, _RANGE), rule="crd-refused-by")
    assert (found["direction"], found["added"]) == ("upgrade", ["isIP"])


@_BOTH
def test_a_crd_that_the_oldest_server_refuses_is_judged_on_the_next(tmp_path: Path, config: Json) -> None:
    """There no write could be shown: each object breaks the rule that does not compile."""
    rule = {_RULES: [{"rule": "!isCIDR(self.metadata.name)"}]}
    old, new = ({**root(status=obj(p=each)), **rule} for each in (string("A"), string("A", "B")))
    found = only(_diff(tmp_path, old, new, config), rule="enum-value-added")
    assert (found["severity"], found["witness"]["object"]["status"]) == ("error", {"p": "B"})


def test_ratcheting_is_asked_of_servers_that_take_the_crd(tmp_path: Path) -> None:
    old, new = (root(spec=obj(net=_CIDR), status=obj(p=each)) for each in (string("A"), string("A", "B")))
    message = only(_diff(tmp_path, old, new, _RANGE), rule="server-looser-on")["message"]
    assert "Kubernetes 1.33 to 1.36 accepts what Kubernetes 1.31 to 1.32 refuses" in message


@_BOTH
@pytest.mark.parametrize("is_new", [True, False])
def test_a_crd_that_newer_servers_refuse_is_a_finding(tmp_path: Path, config: Json, is_new: bool) -> None:
    """1.36 refuses a default that the type cannot hold. Clusters go to newer servers."""
    beyond = {"type": "integer", "format": "int32", "default": 2**32}
    sides = root(spec=obj(a={"type": "integer", "format": "int32"})), root(spec=obj(a=beyond))
    report = _diff(tmp_path, *(sides if is_new else sides[::-1]), config)
    found = only(report, rule="crd-refused-by")
    assert (found["direction"], found["severity"]) == ("upgrade" if is_new else "rollback", "error")
    assert found["new" if is_new else "old"] == ["1.36"]


def test_a_field_of_rules_has_its_own_minor(tmp_path: Path) -> None:
    """Servers before 1.30 drop optionalOldSelf, and compile the rule without it."""
    rule = {"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "optionalOldSelf": True}
    report = _diff(tmp_path, root(spec=obj(a=_PLAIN)), root(spec=obj(a={**_PLAIN, _RULES: [rule]})), _RANGE)
    found = [each for each in report["findings"] if each["rule"] == "crd-refused-by"]
    assert {server for each in found for server in each["new"]} == {"1.28", "1.29"}


def test_metadata_of_old_is_validated_too(tmp_path: Path) -> None:
    """A group of Kubernetes needs the annotation. NEW has it, and the way back loses it."""
    approved = {"api-approved.kubernetes.io": "unapproved, testing"}
    write(tmp_path / "v1" / "widget.yaml", crd(root(spec=obj()), group="apps.k8s.io"))
    write(tmp_path / "v2" / "widget.yaml", crd(root(spec=obj()), group="apps.k8s.io", annotations=approved))
    found = only(diff("path:v1", "path:v2", cwd=tmp_path), rule="crd-refused")
    assert (found["direction"], found["severity"]) == ("rollback", "error")
    ran = run("diff", "path:v1", "path:v2", cwd=tmp_path)
    assert "CLEAN" not in ran.out
    assert "The schemas are the same" not in ran.out

"""Outside of OpenShift a rollback does not change the server: both releases meet the same one."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, only, remarks, root, string, write

_RULES = "x-kubernetes-validations"
_PLAIN = {"type": "integer", "format": "int32"}
#: No int32 reaches the limit: Kubernetes 1.36 refuses every number because of it.
_BEYOND = {**_PLAIN, "maximum": 2**32 - 1}


def _sides(tmp_path: Path, old: Json, new: Json, **config: object) -> Json:
    for name, schema in (("v1", old), ("v2", new)):
        write(tmp_path / name / "widget.yaml", crd(schema))
    write(tmp_path / "config.yaml", config)
    return diff("path:v1", "path:v2", "--config", "config.yaml", cwd=tmp_path)


@pytest.mark.parametrize("config", [{}, {"kubernetes": {"min": "1.28", "max": "1.36"}}, {"kubernetes": ["1.36"]}])
def test_a_limit_that_the_newest_server_cannot_hold(tmp_path: Path, config: Json) -> None:
    """The server stays the same, so OLD's objects meet NEW's limit on 1.36."""
    report = _sides(tmp_path, root(spec=obj(a=_PLAIN)), root(spec=obj(a=_BEYOND)), **config)
    found = only(report, rule="number-range-changed")
    assert (found["direction"], found["path"]) == ("upgrade", "spec.a")
    newest_alone = config != {"kubernetes": ["1.36"]}
    assert (": on Kubernetes 1.36" in found["message"]) == newest_alone


def test_no_supported_server_cannot_hold_the_limit(tmp_path: Path) -> None:
    sides = root(spec=obj(a=_PLAIN)), root(spec=obj(a=_BEYOND))
    report = _sides(tmp_path, *sides, kubernetes={"min": "1.28", "max": "1.35"})
    assert [each for each in report["findings"] if each["rule"] == "number-range-changed"] == []


@pytest.mark.parametrize(
    ("config", "servers"),
    [
        ({"kubernetes": {"min": "1.28", "max": "1.34"}}, ("1.28", "1.28")),
        ({"kubernetes": {"versions": ["1.30", "1.31"], "targets": {"path:v1": ["1.29", "1.30"]}}}, ("1.30", "1.30")),
        ({"kubernetes": {"versions": ["1.31", "1.32"], "targets": {"path:v1": ["1.28", "1.29"]}}}, ("1.29", "1.31")),
        ({"releases": {"path:v2": "1.33"}}, ("1.33", "1.33")),
        ({"releases": {"path:v1": "1.30", "path:v2": "1.33"}}, ("1.30", "1.33")),
        ({}, (None, None)),
    ],
)
def test_the_servers_of_both_sides(tmp_path: Path, config: Json, servers: tuple[str | None, str | None]) -> None:
    """The oldest that both support, which spares least; each its own only where the configuration leaves no other."""
    report = _sides(tmp_path, root(status=obj(p=string("A"))), root(status=obj(p=string("A", "B"))), **config)
    assert (report["old"]["kubernetes"], report["new"]["kubernetes"]) == servers


def test_the_minors_that_differ_are_named_where_none_is_known(tmp_path: Path) -> None:
    """Older minors refuse the new rule, newer ones tolerate the stored value."""
    ruled = {**string(maxLength=43), _RULES: [{"rule": "isCIDR(self)"}]}
    old = root(spec=obj(net=string(maxLength=43)), status=obj(p=string("A"), q=string()))
    new = root(spec=obj(net=ruled), status=obj(p=string("A", "B"), q=string()))
    report = _sides(tmp_path, old, new)
    assert [message for *_, message in remarks(report)] == [
        "Kubernetes 1.26 to 1.30 refuse this CRD: `isCIDR` needs Kubernetes 1.31 or later"
    ]
    found = only(report, rule="enum-value-added")
    assert (found["severity"], found["message"].rpartition("; ")[2]) == (
        "error", "Kubernetes 1.32 and older reject all of them, later ones those that change the value"
    )  # fmt: skip


def test_what_old_has_too_is_not_named(tmp_path: Path) -> None:
    ruled = {**string(maxLength=43), _RULES: [{"rule": "isCIDR(self)"}]}
    report = _sides(tmp_path, root(spec=obj(net=ruled)), root(spec=obj(net=ruled, more=string())))
    assert remarks(report) == []


def test_a_rollback_to_a_refused_crd_is_blocked(tmp_path: Path) -> None:
    """NEW mends the fault; the way back brings it again."""
    refused, mended = root(spec=obj(a={"type": "array"})), root(spec=obj(a={"type": "array", "items": string()}))
    found = only(_sides(tmp_path, refused, mended))
    assert (found["rule"], found["direction"], found["severity"]) == ("crd-refused", "rollback", "error")
    assert {place["side"] for place in found["locations"]} == {"old"}
    assert _sides(tmp_path / "same", refused, refused)["findings"] == []

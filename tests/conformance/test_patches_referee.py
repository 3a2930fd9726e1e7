"""Where the first and the last patch of a minor answer differently, and since which patch.

The program judges as the last patch does, but for containsCIDR on 1.32 (docs/limits.md). ``make referee MINORS="1.28
1.28.1"`` builds both; each server that is asked says which patch it is. Found by comparing the sources of
k8s.io/apiextensions-apiserver, apiserver and apimachinery.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from differences import Bench, crd_of, new_group
from helpers import Json
from referee import Answer

_RULES = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class _Border:
    """A difference: ``new`` is the first patch known to answer as the last one, ``old`` the last known not to."""

    minor: str
    old: int
    new: int
    node: Json
    shows: Callable[[Answer], bool]
    value: str = ""


def _text(size: int, rule: str) -> Json:
    return {"type": "string", "maxLength": size, _RULES: [{"rule": rule}]}


def _refused(answer: Answer) -> bool:
    return not answer.accepted


def _warned(answer: Answer) -> bool:
    return any("unrecognized format" in each for each in answer.warnings)


#: The estimated cost of what follows a replace() of "": the result had no limit (kubernetes/kubernetes#119800).
_REPLACED = _text(10, "self.replace('', 'x').contains('x')")
_BORDERS = {
    **{
        f"{minor}: replace": _Border(minor, old, new, _REPLACED, _refused)
        for minor, old, new in (("1.26", 3, 9), ("1.27", 3, 6), ("1.28", 1, 2))
    },
    # Before, the inner prefix had to begin at the address of the outer one (kubernetes/kubernetes#130450).
    "1.32: containsCIDR": _Border(
        "1.32", 2, 9, _text(20, "cidr('10.0.0.0/8').containsCIDR(self)"), _refused, "10.1.0.0/16"
    ),
    # Before, servers warned of formats of integers and numbers, too.
    "1.34: formats": _Border("1.34", 0, 1, {"type": "integer", "format": "hours"}, _warned),
}


@pytest.mark.parametrize("name", _BORDERS)
def test_what_a_patch_changed(bench: Bench, name: str) -> None:
    border, server = _BORDERS[name], bench.server
    version = server.send("GET", "/version", b"", "application/json").body["gitVersion"]
    minor, _, patch = version.removeprefix("v").rpartition(".")
    if minor != border.minor:
        pytest.skip(f"{version} is another minor")
    if border.old < int(patch) < border.new:
        pytest.skip(f"{version} is between the patches that are known")
    crd = crd_of({"node": border.node}, new_group())
    answer = server.install(crd) if border.value else server.create_crd(crd)
    if border.value:
        assert answer.accepted, answer.message
        meta = {"name": "x", "namespace": "default"}
        base = {"apiVersion": f"{crd['spec']['group']}/v1", "kind": "Widget", "metadata": meta}
        answer = server.write("create", crd, {**base, "spec": {"a": border.value}})
    assert border.shows(answer) == (int(patch) <= border.old), (version, answer)

"""Which servers answer alike, and which of them show whether any refuses a CRD."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import array, crd, obj, root, string

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.eras import Turns, asked_about
from crdcompat.crds.model import read_crd
from crdcompat.schema.structural import RULES, Node

_SERVERS = [Server(minor) for minor in range(25, 37)]


def _first_minors(old: dict[str, Any], new: dict[str, Any]) -> list[int]:
    """The first minor of each era of a field."""
    turns = Turns()
    turns.add(Node(old), Node(new))
    return [era[0].minor for era in turns.eras(_SERVERS)]


_OPTIONAL = {RULES: [{"rule": "oldSelf.orValue('') != self", "optionalOldSelf": True}]}


@pytest.mark.parametrize(
    ("old", "new", "minors"),
    [
        (string(), string(maxLength=3), [25]),
        # The tolerance of float64 values and the ranges of integers.
        ({"type": "integer"}, {"type": "integer", "maximum": 3}, [25, 36]),
        # The field optionalOldSelf, and ratcheting.
        (string(), string(**_OPTIONAL), [25, 29, 30]),
        (string(**_OPTIONAL), string(**_OPTIONAL, maxLength=3), [25]),
        # Objects without declared members in rules.
        ({"type": "object"}, {"type": "object", RULES: [{"rule": "true"}]}, [25, 29]),
    ],
)
def test_the_eras_of_a_field(old: dict[str, Any], new: dict[str, Any], minors: list[int]) -> None:
    assert _first_minors(old, new) == minors


@pytest.mark.parametrize(
    ("schema", "minors"),
    [
        (obj(a=string()), [36]),
        (obj(a=string(maxLength=9, **{RULES: [{"rule": "self != 'x'"}]})), [25, 36]),
        # A rule that is beyond its budget: the last server of each way to estimate costs.
        (obj(a=array(string(**{RULES: [{"rule": "self.matches('^a+$')"}]}))), [25, 27, 28, 29, 31, 33, 36]),
    ],
)
def test_which_servers_are_asked(schema: dict[str, Any], minors: list[int]) -> None:
    found = asked_about(read_crd(crd(root(spec=schema))), _SERVERS)
    assert [server.minor for server in found] == minors

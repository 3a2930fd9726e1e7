"""Which servers take the same values of a schema, and so are asked once: those that differ in nothing that decides."""

from __future__ import annotations

import pytest
from helpers import Json, obj, string

from crdcompat.apiserver.equivalence import equivalence_key
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.structural import Node


def ruled(rule: str, **more: object) -> Json:
    return obj(a=string() | {"x-kubernetes-validations": [{"rule": rule, **more}]})


@pytest.mark.parametrize(
    ("schema", "minors", "alike"),
    [
        (obj(a=string("A", "B")), (25, 29), True),
        (obj(a=string(maxLength=3)), (32, 33), True),
        (obj(a=string(format="k8s-short-name")), (33, 34), False),
        (obj(a={"type": "integer"}), (35, 36), False),
        (ruled("self.size() < 3"), (26, 29), True),
        (ruled("self.size() < 3"), (24, 25), False),  # before, no rule is asked
        (obj(a=ruled("self.size() < 3"), b={"type": "object"}), (26, 28), True),
        (
            obj(a=ruled("self.size() < 3"), b={"type": "object"}),
            (28, 29),
            False,
        ),  # rules can read the member b since 1.29
        (ruled("isQuantity(self)"), (26, 29), False),
        (ruled("isQuantity(self)"), (29, 30), True),
        (ruled("self == oldSelf", optionalOldSelf=True), (29, 30), False),
        (ruled("self ==="), (26, 29), False),  # what does not compile is left to each
    ],
)
def test_servers_are_alike_where_nothing_decides_otherwise(
    schema: Json, minors: tuple[int, int], *, alike: bool
) -> None:
    first, second = (equivalence_key(Server(minor), Node(schema)) for minor in minors)
    assert (first == second) == alike

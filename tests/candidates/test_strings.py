"""Strings that a schema accepts: usual ones first, then short ones of the patterns."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from helpers import string

from crdcompat.candidates.strings import strings
from crdcompat.schema.structural import Node


@pytest.mark.parametrize(
    ("rules", "more", "found"),
    [
        # openshift/api, ImagePolicy: an address of which the rule only asks for the sign
        ([r"self.matches('^\\S+@\\S+$')"], {}, ["user@example.com", "a@a"]),
        ([r"self.matches('^\\S+@\\S+$')"], {"maxLength": 3}, ["a@b", "a@a"]),
        ([r"self.matches('^[a-z]+/[a-z]+$')"], {}, ["a/b", "a/a"]),
        ([r"self.matches('^a')", r"self.matches('^b')"], {}, ["a", "b"]),
    ],
)
def test_a_usual_text_that_all_rules_match_comes_first(rules: list[str], more: Any, found: list[str]) -> None:
    node = Node({**string(**more), "x-kubernetes-validations": [{"rule": rule} for rule in rules]})
    assert [*islice(strings(node), 2)] == found
    every = [*strings(node)]
    assert len(every) == len(set(every))

"""Long values in sentences: what tells two of them apart stays, whatever has to go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crdcompat.findings.contrast import MOST, brief, contrast, contrasted, cut_middle, listed

_ARN = r"^arn:(aws|aws-cn|aws-us-gov{}):kms:[a-z0-9-]+:[0-9]{{12}}:(key|alias)\/.*{}$"


def test_short_texts_stay() -> None:
    assert contrast("^a$", "^b$") == ("^a$", "^b$")


def test_what_two_long_patterns_share_is_cut() -> None:
    more = "[a-z]*" * 12
    before, after = contrast(_ARN.format("", more), _ARN.format("|aws-iso", more))
    assert before == "…n:(aws|aws-cn|aws-us-gov):kms:[a-z0-9-]+:[0-9]{1…"
    assert after == "…n:(aws|aws-cn|aws-us-gov|aws-iso):kms:[a-z0-9-]+:[0-9]{1…"


def test_a_difference_at_the_end_is_shown() -> None:
    start = "has(self.a) && " * 12
    before, after = contrast(f"{start}self.x", f"{start}self.y")
    assert (before[0], before[-1], after[-1]) == ("…", "x", "y")
    assert max(len(before), len(after)) < 40


def test_what_differs_is_cut_in_its_middle_if_it_is_long() -> None:
    before, after = contrast("a" * 300, "b" * 200)
    assert (len(before), len(after)) == (MOST, MOST)
    assert before == f"{'a' * 77} … {'a' * 40}"
    assert cut_middle("x" * MOST) == "x" * MOST


def test_one_rule_and_its_successor_are_contrasted_many_are_listed() -> None:
    known = ", ".join(f"'kind{number}'" for number in range(12))
    assert contrasted([f"self in [{known}]"], [f"self in [{known}, 'more']"]) == (
        "\"…nd9', 'kind10', 'kind11']\"",
        "\"…nd9', 'kind10', 'kind11', 'more']\"",
    )
    rules = [f"self.field{number} == 'value' || !has(self.other{number})" for number in range(5)]
    assert contrasted(rules, ["true"]) == (f'"{rules[0]}", "{rules[1]}" and 3 more', '"true"')


def test_limits_are_words() -> None:
    assert brief({"minLength": 1, "maxLength": 9}) == "minLength 1, maxLength 9"
    assert brief({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"]}) == (
        "list-type map, list-map-keys a b"
    )
    assert brief(None) == "none"
    assert brief({"anyOf": [{"type": "string"}]}) == '{"anyOf":[{"type":"string"}]}'


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ("ABC", '"A", "B", "C"'),
        ("ABCDEFGHIJ", '"A", "B", "C", "D", "E", "F", "G", "H" and 2 more'),
        (["a" * 36] * 9, ", ".join([f'"{"a" * 36}"'] * 3) + " and 6 more"),
        (["a" * 90] * 3, ", ".join([f'"{"a" * 90}"'] * 2) + " and 1 more"),
    ],
)
def test_values_of_a_list_are_whole(values: Sequence[str], shown: str) -> None:
    assert listed(values) == shown

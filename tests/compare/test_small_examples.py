"""Examples are small: they hold what the claim needs. A large one is made in few steps, and shown by its size."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson
import pytest
from helpers import Json, array, both, crd, diff, obj, only, prove, root, run, string

_RULES = "x-kubernetes-validations"
_MAP = {"type": "object", "additionalProperties": string()}
_PAIRS = "[self.group, self.kind] in [['core', 'Service'], ['', 'Gateway']]"


def sides(old: Json, new: Json) -> tuple[Json, Json]:
    return root(spec=obj(v=old)), root(spec=obj(v=new))


def shown(tmp_path: Path, old: Json, new: Json, **wanted: str) -> tuple[Json, list[str]]:
    """The value of spec.v in the proved witness of the only such finding, and the errors but for remarks."""
    schemas = sides(old, new)
    finding = only(diff(*both(tmp_path, *schemas)), **wanted)
    prove(finding, *map(crd, schemas))
    errors = [error for error in finding["witness"]["errors"] if not error.startswith("<nil>")]
    return finding["witness"]["object"]["spec"]["v"], errors


def test_a_long_text_of_an_example_is_cut(tmp_path: Path) -> None:
    """Long texts are cut in a report on all findings, and the usual text shows no example."""
    files = both(tmp_path, *sides(string(), string(maxLength=32768)))
    witness = only(diff(*files))["witness"]["object"]
    assert witness["spec"]["v"] == "a" * 32769
    for ways in (("--format", "junit"), ("-v",)):
        assert f"{'a' * 40}… (32,769 characters)" in run("diff", *files, *ways).out
        assert "a" * 100 not in run("diff", *files, *ways).out
    assert "a" * 100 not in run("diff", *files).out


@pytest.mark.parametrize("ways", [("-v",), ("--format", "markdown"), ("--format", "junit")])
def test_an_example_of_many_members_is_shown_by_its_size(tmp_path: Path, ways: tuple[str, ...]) -> None:
    """A comment on a pull request has room for 60 KB: one such example would leave no room for other findings."""
    files = both(tmp_path, *sides(_MAP, {**_MAP, "maxProperties": 4096}))
    size = len(orjson.dumps(only(diff(*files))["witness"]["object"]))
    assert f"  witness: an object of {size:,} bytes: --format json shows it\n" in run("diff", *files, *ways).out


def test_a_usual_example_is_shown_whole(tmp_path: Path) -> None:
    files = both(tmp_path, *sides(string(), string(maxLength=3)))
    shown = orjson.dumps(only(diff(*files))["witness"]["object"]).decode()
    assert f"  witness: {shown}\n" in run("diff", *files, "-v").out


def test_members_like_each_other_are_not_all_tried(tmp_path: Path, work: Counter[str]) -> None:
    """A map of 300 members, which all have to stay, and a rule that the first object breaks."""
    beside = {"required": ["other"], _RULES: [{"rule": "self.other == 'b' && size(self.labels) != 3"}]}
    old = {**obj(labels=_MAP, other=string()), **beside}
    new = {**obj(labels={**_MAP, "maxProperties": 299}, other=string()), **beside}
    value = only(diff(*both(tmp_path, *sides(old, new))))["witness"]["object"]["spec"]["v"]
    assert (len(value["labels"]), value["other"]) == (300, "b")
    assert work["objects judged"] < 100


# -- no errors beside that of the claim, where another object does without them ------------------------


def test_items_of_a_long_list_are_valid_on_both_sides(tmp_path: Path) -> None:
    """istio 1.23 -> 1.24: addresses are limited in number and length at once."""
    new = array(string(maxLength=20), maxItems=100)
    value, errors = shown(tmp_path, array(string()), new, rule="item-count-tightened")
    assert len(value) == 101 and max(map(len, value)) <= 20
    assert errors == ["spec.v: Too many: 101: must have at most 100 items"]


def test_items_of_a_long_list_have_keys_of_their_own(tmp_path: Path) -> None:
    item = {**obj(name=string(), number={"type": "integer"}), "required": ["name", "number"]}
    keyed = array(item, maxItems=20, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})
    value, errors = shown(tmp_path, array(item), keyed, rule="item-count-tightened")
    assert len({each["name"] for each in value}) == 21
    assert errors == ["spec.v: Too many: 21: must have at most 20 items"]


def test_a_rule_about_two_items_is_shown_by_items_with_different_keys(tmp_path: Path) -> None:
    item = {**obj(name=string(), number={"type": "integer"}), "required": ["name", "number"]}
    once = {_RULES: [{"rule": "self.all(a, self.exists_one(b, a.number == b.number))"}]}
    keyed = array(item, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})
    value, errors = shown(tmp_path, array(item), keyed | once, rule="cel-rule-added")
    assert len({each["name"] for each in value}) == 2 and len({each["number"] for each in value}) == 1
    assert len(errors) == 1


def test_a_rule_about_a_map_of_numbers_is_shown_by_a_member(tmp_path: Path) -> None:
    """istio 1.22 -> 1.23: the map may not be empty, its keys are numbers, and it needs a selector."""
    ports = {**_MAP, "minProperties": 1, _RULES: [{"rule": "self.all(key, 0 < int(key) && int(key) <= 65535)"}]}
    needs = {_RULES: [{"rule": "has(self.selector) || !has(self.ports)"}]}
    old = obj(ports=_MAP, selector=string())
    value, errors = shown(tmp_path, old, obj(ports=ports, selector=string()) | needs, path="spec.v")
    assert ([*value], [*value["ports"]], len(errors)) == (["ports"], ["1"], 1)


def test_shrinking_brings_in_no_other_error(tmp_path: Path) -> None:
    """istio 1.22 -> 1.23: whatever the pattern of the group rejects, the rule on group and kind rejects, too."""
    old = obj(group=string(), kind=string(), name=string())
    new = {**obj(group=string(pattern="^[a-z]*$"), kind=string(), name=string()), "required": ["kind", "name"]}
    value, errors = shown(tmp_path, old, new | {_RULES: [{"rule": _PAIRS}]}, rule="pattern-narrowed")
    assert sorted(value) == ["group", "kind", "name"]
    assert [error.partition(": ")[0] for error in errors] == ["spec.v.group", "spec.v"]

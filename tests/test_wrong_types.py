"""Each keyword of a schema with values of each wrong type, in OLD, in NEW and in both, through each command.

No value may crash a command: the schema is compared as far as it can be read, and the server's refusal is reported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from helpers import Json, array, commit, crd, git, obj, root, run, string, version, write
from mutations import KEYWORDS, NUMBERS, TEXTS, WRONG, mutate, single

_SPEC = obj(
    s={**string(), "minLength": 1, "pattern": "^a"},
    l={
        **array({**obj(k=string(), v=string("A", "B")), "required": ["k"]}),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "minItems": 1,
    },
    o={"type": "object", "additionalProperties": string(), "minProperties": 1},
    j={**string(), "anyOf": [{"minLength": 2}, {"enum": ["a"]}]},
    n={"type": "integer", "minimum": 1},
)
_CRD = crd(root(spec=_SPEC))
_OBJECT = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "a", "namespace": "b"},
    "spec": {"s": "ab", "l": [{"k": "a", "v": "A"}], "o": {"a": "b"}, "j": "ab", "n": 1},
}
#: Every command that reads CRDs from files.
_COMMANDS = {
    "diff": ("diff", "old", "new", "--format", "json"),
    "simulate": ("simulate", "old", "new", "--objects", "object.json", "--format", "json"),
    "judge": ("judge", "new/crd.json", "object.json", "--format", "json"),
    "judge of a CRD": ("judge", "new/crd.json", "--old", "old/crd.json", "--format", "json"),
    "servers": ("servers", "old", "new", "--format", "json"),
    "versions": ("versions", "old", "new", "--format", "json"),
}
#: Every how many wrong values one is tried, and the number of mutations of each seed: all in ``make fuzz``.
_EVERY, _MUTATIONS = (1, 400) if "CRDCOMPAT_FUZZ" in os.environ else (64, 6)


@pytest.fixture
def sides(tmp_path: Path) -> Path:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    (tmp_path / "object.json").write_text(json.dumps(_OBJECT))
    return tmp_path


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_of_a_wrong_type(sides: Path, keyword: str) -> None:
    for number, made in enumerate(single(_CRD, keyword)):
        if number % _EVERY == len(keyword) % _EVERY:
            pairs = ((_CRD, made), (made, _CRD), (made, _enlarged(made)))
            _run_all(sides, *pairs[number // _EVERY % 3], number)


@pytest.mark.parametrize("seed", range(4))
def test_mutations(sides: Path, seed: int) -> None:
    random = Random(seed)
    for number in range(_MUTATIONS):
        old = mutate(random, _CRD)
        _run_all(sides, old, mutate(random, old), number)


def _enlarged(made: Json) -> Json:
    """The same fault on both sides of another change."""
    versions = [*made["spec"]["versions"], version(root(spec=obj(a=string())), "v2", storage=False)]
    return {**made, "spec": {**made["spec"], "versions": versions}}


def _run_all(at: Path, old: Json, new: Json, number: int) -> None:
    """Compare, and run one of the other commands in turn."""
    for name, definition in (("old", old), ("new", new)):
        (at / name / "crd.json").write_text(json.dumps(definition))
    for command in ("diff", [*_COMMANDS][number % len(_COMMANDS)]):
        ran = run(*_COMMANDS[command], cwd=at)
        assert ran.code in (0, 1, 2), f"{command}: {ran.err}\n{json.dumps(old)}\n{json.dumps(new)}"
        if ran.out:
            json.loads(ran.out, parse_constant=pytest.fail)
        else:
            assert ran.code == 2
            assert ran.err


# -- what was found by these -------------------------------------------------------------------------------


def _pairs() -> Iterator[tuple[str, Json, Json]]:
    number, text = {"type": "integer"}, string()
    yield "enum is true on one side", string("a"), {**string(), "enum": True}
    yield "a factor is no number", {**number, "enum": [1]}, {**number, "enum": [1, 2], "multipleOf": "a"}
    yield "a pattern is broken", {**text, "minLength": 1}, {**text, "minLength": 2, "pattern": "["}
    yield "a pattern is broken and bounded", {**text, "maxLength": 9, "pattern": "["}, {**text, "maxLength": 8}
    yield "rules are a number", array(string()), {**array(string()), "x-kubernetes-validations": 5, "maxItems": 3}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "minItems": -(2**63)}
    items = {**obj(k=string(), v=string("A")), "required": ["k", "v"]}
    yield "a negative number of items", {**array(items), **keyed}, {**array(obj(k=string(), v=string())), **keyed}
    huge = {**string(), "minLength": 90_000}
    yield "many long items", {**array(huge), "minItems": 9_000}, {**array(huge), "minItems": 8_999}
    kept = {"type": "object", "minProperties": 9_000}
    yield "many long values", {**kept, "additionalProperties": huge}, {**kept, "additionalProperties": string()}
    names = [f"v{index}" for index in range(900)]
    wide = {**obj(**dict.fromkeys(names, huge)), "required": names}
    yield "many long members", wide, {**wide, "required": names[1:]}


@pytest.mark.parametrize(("about", "old", "new"), [*_pairs()], ids=[about for about, *_ in _pairs()])
def test_found(sides: Path, about: str, old: Json, new: Json) -> None:
    both = [crd(root(spec=obj(a=side))) for side in (old, new)]
    for number, pair in enumerate((both, both[::-1])):
        _run_all(sides, *pair, number)
    assert len(json.dumps(json.loads(run(*_COMMANDS["diff"], cwd=sides).out)["findings"])) < 3_000_000


@pytest.mark.parametrize(("about", "old", "new"), [*_pairs()], ids=[about for about, *_ in _pairs()])
def test_found_by_check(tmp_path: Path, about: str, old: Json, new: Json) -> None:
    """A change of a pull request, as CI checks it."""
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"crd.yaml": crd(root(spec=obj(a=old)))})
    write(tmp_path / "crd.yaml", crd(root(spec=obj(a=new))))
    git(tmp_path, "add", "-A")
    ran = run("check", "--base", "HEAD", "--format", "json", cwd=tmp_path)
    assert ran.code in (0, 1, 2), ran.err
    assert "crashed" not in ran.err
    assert json.loads(ran.out)["sections"] or ran.code == 2


def test_unknown_fields_of_the_object_itself_are_kept_newly(sides: Path) -> None:
    """Whatever a root accepts, a resource is an object."""
    base = {**root(spec=obj()), "minProperties": 3}
    keeping = {**base, "x-kubernetes-preserve-unknown-fields": True}
    _run_all(sides, crd(base), crd(keeping), 0)
    _run_all(sides, crd(keeping), crd(base), 0)


def test_an_installed_crd_that_no_server_stores_is_not_judged(sides: Path) -> None:
    for wrong in WRONG:
        stored = crd({"type": "object", "properties": wrong})
        for name, definition in (("old", stored), ("new", _CRD)):
            (sides / name / "crd.json").write_text(json.dumps(definition))
        ran = run(*_COMMANDS["judge of a CRD"], cwd=sides)
        answer = json.loads(ran.out)
        decodes = wrong is None or (
            isinstance(wrong, dict) and all(isinstance(each, dict | None) for each in wrong.values())
        )
        assert decodes or (ran.code, answer["accepted"], answer["unknown"][0]["what"]) == (2, None, "installed CRD")


def test_servers_of_no_crd(sides: Path) -> None:
    (sides / "old" / "crd.json").write_text(json.dumps({**_CRD, "spec": 5}))
    ran = run("servers", "old", "--format", "json", cwd=sides)
    assert ran.code == 2
    assert ran.out or ran.err


def test_a_mutation_leaves_its_crd_alone_and_is_the_same_in_each_run() -> None:
    before = json.dumps(_CRD)
    made = [json.dumps(mutate(Random(seed), _CRD)) for seed in range(30)]
    assert made == [json.dumps(mutate(Random(seed), _CRD)) for seed in range(30)]
    assert json.dumps(_CRD) == before
    assert len(set(made)) > 25
    assert {type(value) for value in WRONG} >= {bool, int, float, str, list, dict, type(None)}
    assert {2**31, 2**53, 2**63} <= set(NUMBERS)
    assert max(map(len, TEXTS)) > 1_000

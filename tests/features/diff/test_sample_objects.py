"""Objects of a source's own tests and samples prove changes for which no example could be built."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from helpers import Json, array, crd, diff, obj, only, prove, root, string, write

_RULES = "x-kubernetes-validations"
#: Holds but for a few numbers, 429 among them: no value that is built breaks it.
_COUNT = {_RULES: [{"rule": "self * 7 % 1000 != 3"}]}
_NUMBER = {"type": "integer"}
_UPDATE = {_RULES: [{"rule": "self <= oldSelf || self * 7 % 1000 != 3"}]}


def widget(spec: Json, name: str = "seed", **more: Json) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec, **more}


def sides(tmp_path: Path, seed: Json | str, path: str, old: Json, new: Json) -> tuple[Path, Path]:
    """Two folders with a CRD each, and a seed in NEW."""
    write(tmp_path / "old" / "widget.yaml", crd(root(spec=old)))
    write(tmp_path / "new" / "widget.yaml", crd(root(spec=new)))
    write(tmp_path / "new" / path, seed)
    return tmp_path / "old", tmp_path / "new"


@pytest.mark.parametrize(
    "path", ["config/samples/v1_widget.yaml", "examples/widgets.yaml", "v1/tests/widgets.example.com/stable.yaml"]
)
def test_a_sample_proves_a_rule(tmp_path: Path, path: str) -> None:
    """It is made smaller, and the value that shows the effect comes first."""
    seed = widget({"other": "x", "items": [{"n": 1}, {"n": 429, "m": 3}]})
    items = [array(obj(n=number, m=_NUMBER)) for number in (_NUMBER, _NUMBER | _COUNT)]
    old, new = (obj(items=each, other=string()) for each in items)
    finding = only(diff(*sides(tmp_path, seed, path, old, new)))
    prove(finding, *(crd(root(spec=side)) for side in (old, new)))
    assert finding["rule"] == "cel-rule-added"
    assert finding["witness"]["object"]["spec"] == {"items": [{"n": 429}]}
    assert finding["witness"]["object"]["metadata"] == {"name": "seed", "namespace": "default"}


def test_a_sample_holds_the_value_under_trial(tmp_path: Path) -> None:
    """Without 429 beside it, the new value breaks a rule of both sides."""
    rule = {_RULES: [{"rule": "!has(self.mode) || self.mode != 'B' || has(self.n) && self.n * 7 % 1000 == 3"}]}
    old, new = (obj(n=_NUMBER, mode=string(*modes)) | rule for modes in (("A",), ("A", "B")))
    seed = widget({"n": 429, "mode": "A"})
    finding = only(diff(*sides(tmp_path, seed, "samples/widget.yaml", old, new)))
    assert finding["rule"] == "enum-value-added"
    assert finding["witness"]["object"]["spec"] == {"n": 429, "mode": "B"}


_SUITE = """\
apiVersion: apiextensions.k8s.io/v1
tests:
  onCreate:
  - name: not YAML
    initial: "{"
  - a case that is no mapping
  onUpdate:
  - name: grows
    initial: |
      apiVersion: example.com/v1
      kind: Widget
      spec: {count: 1}
    updated: |
      apiVersion: example.com/v1
      kind: Widget
      spec: {count: 429}
    expectedError: too many
"""


def test_a_suite_proves_a_transition_rule(tmp_path: Path) -> None:
    old, new = (obj(count=number) for number in (_NUMBER, _NUMBER | _UPDATE))
    finding = only(diff(*sides(tmp_path, _SUITE, "v1/stable.widget.testsuite.yaml", old, new)))
    prove(finding, *(crd(root(spec=side)) for side in (old, new)))
    assert finding["rule"] == "cel-transition-rule-added"
    witness = finding["witness"]
    assert (witness["stored"]["spec"], witness["object"]["spec"]) == ({"count": 1}, {"count": 429})


@pytest.mark.parametrize(
    "seed",
    [
        widget({"n": 430}),
        {**widget({"n": 429}), "kind": "Gadget"},
        {**widget({"n": 429}), "apiVersion": "other.example.com/v1"},
        widget({"n": 429, "unknown": "a" * 20_000}),
        widget({"n": "429"}),
        widget({"n": 429, "m": "not a number"}),
        "kind: Widget\nspec: [}",
        'kind: Widget\napiVersion: [1]\nmetadata: 5\nspec: {"n": 429}',
        "- &a [x]\n- [*a, *a]",
    ],
)
def test_what_the_servers_do_not_take_proves_nothing(tmp_path: Path, seed: Json | str) -> None:
    old, new = (obj(n=number, m=_NUMBER) for number in (_NUMBER, _NUMBER | _COUNT))
    finding = only(diff(*sides(tmp_path, seed, "samples/widget.yaml", old, new)))
    assert finding["witness"]["object"] is None
    assert "may" in finding["message"]


def test_seeds_are_few(tmp_path: Path, work: Counter[str]) -> None:
    old, new = (obj(n=number) for number in (_NUMBER, _NUMBER | _COUNT))
    folders = sides(tmp_path, widget({"n": 429}), "samples/widget-99.yaml", old, new)
    for index in range(60):
        write(tmp_path / "new" / "samples" / f"widget-{index:02}.yaml", widget({"n": index}))
    before = work["streams parsed"]
    assert only(diff(*folders))["witness"]["object"] is None
    assert work["streams parsed"] - before == 2 + 12


def test_without_such_a_change_none_is_read(tmp_path: Path, work: Counter[str]) -> None:
    old, new = (obj(mode=string(*modes)) for modes in (("A",), ("A", "B")))
    folders = sides(tmp_path, widget({"mode": "A"}), "samples/widget.yaml", old, new)
    before = work["streams parsed"]
    assert only(diff(*folders))["witness"]["object"] is not None
    assert work["streams parsed"] - before == 2

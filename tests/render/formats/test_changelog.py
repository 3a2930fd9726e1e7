"""All changes of a release as a Markdown page: each once, harmless ones too, with what going back does."""

from __future__ import annotations

from pathlib import Path

from helpers import array, both, crd, diff, obj, root, run, string, write

_PAGE = """\
# Changes of the API from `r1` to `r2`

```text
r2 -> r1: BLOCKED
  Widget  status.phase
    r1 rejects "B": the controller cannot write status
rollback: 1 error, 0 warnings, 2 info; upgrade: 0 errors, 0 warnings, 0 info; 0 undecided.
```

## New kinds

- `Gadget` (`gadgets.example.com`) — going back: request failed (info)

## `Widget`, `widgets.example.com/v1`

- `spec.name`: Field added — going back: value pruned (info)
- `status.phase`: Enum value added: `"B"` — going back: write rejected (error)
"""


def test_each_change_once(tmp_path: Path) -> None:
    old, new = tmp_path / "r1", tmp_path / "r2"
    status = [obj(phase=string(*values)) for values in ("A", "AB")]
    write(old / "w.yaml", crd(root(spec=obj(), status=status[0])))
    write(new / "w.yaml", crd(root(spec=obj(name=string()), status=status[1])))
    write(new / "g.yaml", crd(root(), kind="Gadget"))
    ran = run("diff", old, new, "--format", "changelog")
    assert ran.code == 1
    assert ran.out == _PAGE


def test_a_harmless_change_is_there(tmp_path: Path) -> None:
    """No server refuses anything on account of it, in either direction."""
    maps = [obj(a=string()) | {"x-kubernetes-map-type": kind} for kind in ("atomic", "granular")]
    ran = run("diff", *both(tmp_path, *(root(spec=obj(m=each)) for each in maps)), "--format", "changelog")
    assert (ran.code, "- `spec.m`: " in ran.out) == (0, True)


def test_a_change_in_two_places_is_there_once(tmp_path: Path) -> None:
    """Kong: what has an effect in one direction only was listed again, at its second place."""
    items = (obj(i=string(*values), j=string()) for values in ("A", "AB"))
    sides = (root(spec=obj(a=each, b=each)) for each in items)
    text = run("diff", *both(tmp_path, *sides), "--format", "changelog").out
    assert [line for line in text.splitlines() if line.startswith("- `spec")] == [
        '- `spec.a.i`: Enum value added: `"B"`, also at `spec.b.i` — going back: write rejected (warning)'
    ]


def test_nothing(tmp_path: Path) -> None:
    text = run("diff", *both(tmp_path, root(), root()), "--format", "changelog").out
    assert text.endswith("\n\nNothing changed.\n")


def test_a_check_has_none(tmp_path: Path) -> None:
    ran = run("check", "--format", "changelog", cwd=tmp_path)
    assert (ran.code, "changelog cannot show a comparison" in ran.err) == (2, True)
    ran = run("simulate", "a", "b", "--objects", "c", "--format", "changelog", cwd=tmp_path)
    assert (ran.code, "changelog cannot show a simulation; what can: concise, " in ran.err) == (2, True)


_SETS = "release.openshift.io/feature-set"


def test_contexts_are_named_where_a_change_is_not_in_all(tmp_path: Path) -> None:
    """A kind and a field are new in TechPreviewNoUpgrade alone; another field is new in all sets."""
    sets, sides = ("Default", "TechPreviewNoUpgrade"), (tmp_path / "r1", tmp_path / "r2")
    for name in sets:
        fields = {"everywhere": string()} | ({"early": string()} if name != "Default" else {})
        write(sides[0] / f"{name}.yaml", crd(root(spec=obj(a=string())), annotations={_SETS: name}))
        write(sides[1] / f"{name}.yaml", crd(root(spec=obj(a=string(), **fields)), annotations={_SETS: name}))
    write(sides[1] / "gadget.yaml", crd(root(), kind="Gadget", annotations={_SETS: sets[1]}))
    text = run("diff", *sides, "--format", "changelog").out
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- `Gadget` (`gadgets.example.com`, in TechPreviewNoUpgrade) — going back: request failed (info)",
        "- `spec.early` (in TechPreviewNoUpgrade): Field added — going back: value pruned (info)",
        "- `spec.everywhere`: Field added — going back: value pruned (info)",
    ]


def test_advice_is_no_change(tmp_path: Path) -> None:
    """A rule near the cost budget of its server is a finding of info, and the field with it the only change."""
    rules = {"x-kubernetes-validations": [{"rule": "self.matches('^a+$')"}]}
    names = array(string(maxLength=500, **rules), maxItems=45_000)
    sides = both(tmp_path, root(spec=obj()), root(spec=obj(names=names)))
    assert "cel-cost-near-budget" in {each["rule"] for each in diff(*sides)["findings"]}
    text = run("diff", *sides, "--format", "changelog").out
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- `spec.names`: Field added — going back: value pruned (info)",
    ]

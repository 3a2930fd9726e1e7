"""All changes of a release as a Markdown page: each once, harmless ones too, with what going back does."""

from __future__ import annotations

from pathlib import Path

from helpers import both, crd, obj, root, run, string, write

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


def test_nothing(tmp_path: Path) -> None:
    text = run("diff", *both(tmp_path, root(), root()), "--format", "changelog").out
    assert text.endswith("\n\nNothing changed.\n")


def test_a_check_has_none(tmp_path: Path) -> None:
    ran = run("check", "--format", "changelog", cwd=tmp_path)
    assert (ran.code, "changelog cannot show a comparison" in ran.err) == (2, True)

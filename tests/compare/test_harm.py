"""What a transition rule takes from every user: each change of a field, or only some."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, root, string, write

_AB = string("A", "B")
_RULES = "x-kubernetes-validations"
#: Spec, its transition rule, and whether nobody can change the field, or one of its members, any more.
_CASES: dict[str, tuple[Json, str, bool]] = {
    "an object": (obj(a=_AB, b=string()), "self == oldSelf", True),
    "a member": (obj(a=_AB, b=string()), "self.a == oldSelf.a", True),
    "a member that is an object": (obj(a=obj(c=_AB), b=string()), "self.a == oldSelf.a", True),
    "a member, once it is set": (obj(a=_AB, b=string()), "!has(oldSelf.a) || has(self.a) && self.a == oldSelf.a", True),
    "a member, but under one value of another": (obj(a=_AB, b=string()), "self.a == oldSelf.a || self.b == 'x'", False),
    "a value, but one": (string(), "oldSelf == 'Unknown' || self == oldSelf", False),
    "a member, but of one value": (obj(a=string(), b=string()), "oldSelf.a == 'Unknown' || self.a == oldSelf.a", False),
    "whether a member is there": (obj(a=obj(c=_AB)), "has(self.a) == has(oldSelf.a)", False),
    "whether a member is there that cannot change": (
        *(obj(a={**string(), _RULES: [{"rule": "self == oldSelf"}]}), "has(self.a) == has(oldSelf.a)", False),
    ),
    "whether any member is there": (obj(a=_AB, b=string()), "!has(oldSelf.a) || has(self.a)", False),
}


@pytest.mark.parametrize("case", _CASES)
def test_what_a_transition_rule_freezes(tmp_path: Path, case: str) -> None:
    spec, rule, frozen = _CASES[case]
    write(tmp_path / "old/w.yaml", crd(root(spec=spec)))
    write(tmp_path / "new/w.yaml", crd(root(spec={**spec, _RULES: [{"rule": rule}]})))
    found = diff(tmp_path / "old", tmp_path / "new", "--direction", "upgrade")["findings"]
    assert [(each["rule"], each["severity"]) for each in found] == [
        ("cel-transition-rule-added", "error" if frozen else "warning")
    ]

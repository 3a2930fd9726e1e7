"""Rules about values that functions compute: what is proved about them holds for every string."""

from __future__ import annotations

import os
import random
import re
from itertools import product
from pathlib import Path

import pytest
from helpers import both, crd, diff, obj, root, string

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.compare.equivalence.entailment import entails
from crdcompat.compare.equivalence.rule_formulas import truth_of_rule
from crdcompat.schema.structural import Node

_WIDE, _NARROW = "x.matches('[0-9a-f]{1,4}')", "x.matches('^[0-9a-f]{1,4}$') && size(x) < 5"
_BOTH = {"rollback", "upgrade"}


@pytest.mark.parametrize(
    ("old", "new", "directions"),
    [
        ("self.split('/')[0].matches('[0-9]')", "self.split('/')[0].matches('^[0-9]+$')", {"upgrade"}),
        ("int(self.split('/')[1]) <= 29", "int(self.split('/')[1]) <= 30", {"rollback"}),
        ("[int(self.split('/')[1])].all(x, x <= 29 && x >= 0)", "int(self.split('/')[1]) in [0, 29]", {"upgrade"}),
        ("self.indexOf(':') >= 0", "self.indexOf(':') > 2", {"upgrade"}),
        (f"self.split(':').all(x, x == '' || {_WIDE})", f"self.split(':').all(x, x == '' || {_NARROW})", {"upgrade"}),
        ("self.split(':').exists(x, x == 'a')", "self.split(':').exists(x, x in ['a', 'b'])", {"rollback"}),
        ("self.lowerAscii().size() >= 3", "self.lowerAscii().size() >= 2", {"rollback"}),
        ("int(self.lowerAscii()) >= 5", "self.lowerAscii().indexOf('q') >= 4", _BOTH),  # neither is a size
        # The size of one list says nothing about that of another.
        ("self.split('/').size() == 2", "self.split(':').size() == 2", _BOTH),
        # A list with an item that is an error is an error, even if nothing reads the item.
        ("self.startsWith('a')", "self.startsWith('a') && [self.split('/')[1]].size() == 1", {"upgrade"}),
        ("self.startsWith('a')", "[self, self.split('/')[1]].exists(x, x.startsWith('a'))", _BOTH),
    ],
)
def test_rules_about_parts_of_a_string(tmp_path: Path, old: str, new: str, directions: set[str]) -> None:
    sides = [
        crd(root(spec=obj(v=string(maxLength=20, **{"x-kubernetes-validations": [{"rule": rule}]}))))
        for rule in (old, new)
    ]
    report = diff(*both(tmp_path, *sides))
    assert {(finding["rule"], finding["direction"]) for finding in report["findings"]} == {
        ("cel-rule-changed", direction) for direction in directions
    }


_CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "300"))
_NODE = Node({"type": "string"})
_TEXTS = [
    *("".join(parts) for size in range(4) for parts in product("a1:", repeat=size)),
    *("a/1", "1/a", "/", "a.b", "1.1", "A", "A1", "aa1", "123", "12:34", "0", "01", "-1", "99", "1/24", "a/b/c", "10"),
]
#: A part of a rule, and the one that replaces it.
_STEPS = (
    *(("<=", "<"), ("<", "<="), (">=", ">"), (">", ">="), ("&&", "||"), ("||", "&&"), ("[0-9]+", "[0-9]")),
    *(("{1,3}", "{1,2}"), ("exists(", "all("), (" 2", " 3"), (" 3", " 2"), (" 1", " 2"), ("^[0-9]+$", "[0-9]")),
    *(("true", "false"), ("'a'", "'1'"), ("contains", "startsWith")),
)


class _Rules(random.Random):
    """Makes rules about a string and its parts."""

    def text(self, of: str) -> str:
        mark, number = self.choice(":/."), self.randrange(3)
        calls = ("", f".split('{mark}')[{number}]", ".lowerAscii()", f".substring({number})", ".find('[0-9]+')")
        return of + self.choice((*calls, f".findAll('[a-z0-9]+')[{number}]"))

    def texts(self, of: str) -> str:
        whole = self.text(of)
        return self.choice((f"{whole}.split(':')", f"{whole}.findAll('[0-9a-z]')", f"[{whole}, {self.text(of)}]"))

    def number(self, of: str) -> str:
        whole, mark = self.text(of), self.choice(":a1")
        return self.choice(
            (f"size({whole})", f"{self.texts(of)}.size()", f"int({whole})", f"{whole}.indexOf('{mark}')")
        )

    def rule(self, depth: int = 3, of: str = "self") -> str:
        form = self.randrange(9)
        if not depth or form < 4:
            return self.statement(of)
        one, other = self.rule(depth - 1, of), self.rule(depth - 1, of)
        if form < 6:
            return f"({one} {self.choice(('&&', '||'))} {other})"
        if form == 6:
            return f"!({one})"
        if form == 7 or of == "xx":
            return f"({one} ? {other} : {self.choice(('true', 'false'))})"
        variable = "x" if of == "self" else "xx"
        macro = self.choice(("all", "exists", "exists_one"))
        return f"{self.texts(of)}.{macro}({variable}, {self.rule(depth - 1, variable)})"

    def statement(self, of: str) -> str:
        pattern = self.choice(("^[0-9]+$", "[0-9]", "^[a-z0-9]{1,3}$", "^(a|1)$", "^$"))
        sign = self.choice(("<", "<=", ">", ">=", "==", "!="))
        mark, number = self.choice("a1"), self.randrange(-1, 5)
        return self.choice(
            (
                f"{self.text(of)}.matches('{pattern}')",
                f"{self.text(of)} == '{mark}'",
                f"{self.text(of)}.startsWith('{mark}')",
                f"{self.text(of)}.contains('{mark}')",
                f"{self.number(of)} {sign} {number}",
                f"{self.text(of)} in ['a', '1']",
            )
        )

    def changed(self, rule: str) -> str:
        """The rule with a small step, or with another one beside it."""
        old, new = self.choice(_STEPS)
        places = [found.start() for found in re.finditer(re.escape(old), rule)]
        if places:
            at = self.choice(places)
            return rule[:at] + new + rule[at + len(old) :]
        return f"({rule}) {self.choice(('&&', '||'))} {self.rule(1)}"


def _accepts(rule: str) -> list[bool]:
    """Whether the rule accepts each of the texts."""
    value = {"type": "string", "x-kubernetes-validations": [{"rule": rule}]}
    rules = RuleEvaluator(Node({"type": "object", "properties": {"v": value}}), DEFAULT_SERVER)
    return [not rules.evaluate({"v": text}, None, ratchet=False).errors for text in _TEXTS]


def test_what_is_proved_holds_for_every_text() -> None:
    proved, wrong = 0, []
    for seed in range(_CASES):
        rules = _Rules(seed)
        rule = rules.rule()
        pair = (rule, rules.changed(rule))
        truths = [truth_of_rule(text, ("self",), _NODE, resource=False) for text in pair]
        for (one, mine), (other, theirs) in (
            zip(pair, truths, strict=True),
            zip(pair[::-1], truths[::-1], strict=True),
        ):
            if mine is None or theirs is None or not entails((mine.true,), theirs.true, {"self": View(_NODE)}):
                continue
            proved += 1
            broken = [
                text for text, held, holds in zip(_TEXTS, _accepts(one), _accepts(other), strict=True) if held > holds
            ]
            wrong += [(seed, one, other, broken[:3])] if broken else []
    assert wrong == []
    assert proved > _CASES / 3

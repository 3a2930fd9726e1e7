"""Stubs of a new rule: its file in rules/, its facet, their tests. They fail until somebody fills them in.

    make new-rule ID=gap-widened [FACET=gap]

An id is the kind of change with a dash for the dot: its facet is the module whose name the id begins with. If no facet
has such a name, the stub of one is written, by default with the first word of the id as its name. Nothing is
overwritten. The tests find the word TODO, and what is missing in the lists that CONTRIBUTING.md names.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template

PROJECT = Path(__file__).resolve().parents[2]
_FACETS = ("crdcompat/compare/facets", "crdcompat/compare/crd_facets")

_RULE = Template("""\
id: $id
change: $change
mirror_reason: "TODO: name the rule of the opposite change in mirror instead, or say why there is none"
title: "TODO: the change in three words"
summary: "TODO: what NEW has and OLD has not, as a sentence."
message:
  rollback: "TODO: {path} … {reader} {rejects} … of the {kind}"
  upgrade: "TODO: {path} … of the {kind}"
short:
  rollback: "{reader} rejects {writes} TODO"
why: |
  TODO: what the API server does, and why that matters.
fix: |
  - TODO: what to do.
references:
  - "TODO: a KEP, a page of Kubernetes' documentation, a file of its code"
examples:
  - title: "TODO: the smallest change of this kind"
    direction: rollback
    old:
      type: object
      properties:
        status: {type: object, properties: {a: {type: string}}}
    new:
      type: object
      properties:
        status: {type: object, properties: {a: {type: string}}}
    finding:
      path: status.a
      effect: write-rejected
      severity: error
""")

_FACET = Template('''\
"""TODO: what differs, and what an API server does with it (docs/semantics.md#what-a-change-of-the-schema-does)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.vocabulary import Direction, Effect

#: TODO: the keywords of the schema that this facet compares; no other facet has them.
KEYWORDS = frozenset({"x-todo-$facet"})
EFFECTS = {
    "$change": Effects(rollback=(Effect.WRITE_REJECTED,)),
}


def changes(site: Site) -> Iterator[Change]:
    """TODO: ``yield site.change("$change", …)`` where OLD and NEW differ."""
    yield from ()


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """TODO: the values that may prove the effect."""
    raise NotImplementedError("$change: which values may prove it?")


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    """TODO: whether the reader's verdict proves the effect."""
    raise NotImplementedError("$change: which verdict proves it?")


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows)
''')

_TEST = Template('''\
"""TODO: what these tests show of the facet."""

from __future__ import annotations

from pathlib import Path

from helpers import both, brief, diff, obj, root, string


def test_$function(tmp_path: Path) -> None:
    """TODO: a change of this kind, and the exact findings of both directions."""
    old, new = root(status=obj(a=string())), root(status=obj(a=string()))
    found = [brief(finding) for finding in diff(*both(tmp_path, old, new))["findings"]]
    assert found == [("rollback", "error", "$id", "widgets.example.com", "status.a")]
''')

_LEFT = """\
Fill in each TODO, then:
  the step in tests/compare/test_smallest_steps.py (STEPS)
  docs/rules.md: crdcompat rules --format markdown > docs/rules.md
  a row for a new facet in docs/semantics.md
  a line in CHANGELOG.md
  make test ARGS='tests/findings/test_rules.py tests/render/test_rules.py tests/compare tests/project/test_new_rule.py \
tests/project/test_semantics_page.py'"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", help="the kind of change with a dash for the dot: gap-widened")
    parser.add_argument("--facet", default="", help="the module of a new facet; default: the first word of the id")
    asked = parser.parse_args()
    try:
        made = stubs(asked.id, asked.facet)
    except ValueError as error:
        print(f"new-rule: {error}", file=sys.stderr)
        return 2
    for name, text in made.items():
        (PROJECT / name).parent.mkdir(parents=True, exist_ok=True)
        (PROJECT / name).write_text(text, encoding="utf-8")
        print(f"made {name}")
    print(_LEFT)
    return 0


def stubs(rule: str, facet: str = "") -> Mapping[str, str]:
    """The files to write, path -> text: the rule, and its facet and the tests of that if the project has none.

    Raises ValueError for an id that is none, and for a rule or facet that there is.
    """
    if not re.fullmatch(r"[a-z]+(-[a-z]+)+", rule):
        raise ValueError(f"{rule!r} is no id of a rule: write it as gap-widened")
    if (PROJECT / f"rules/{rule}.yaml").exists():
        raise ValueError(f"rules/{rule}.yaml is there already")
    there = facet_of(rule)
    if there and facet not in ("", there):
        raise ValueError(f"an id that begins so belongs to the facet {there}: name the rule otherwise")
    module = there or facet or rule.partition("-")[0]
    begin = f"{module.replace('_', '-')}-"
    if not rule.startswith(begin):
        raise ValueError(f"the id has to begin with the name of its facet: {begin}…")
    values = {"id": rule, "facet": module, "change": f"{module.replace('_', '-')}.{rule.removeprefix(begin)}",
              "function": rule.replace("-", "_")}  # fmt: skip
    made = {f"rules/{rule}.yaml": _RULE.substitute(values)}
    if not there:
        made[f"{_FACETS[0]}/{module}.py"] = _FACET.substitute(values)
    if not (PROJECT / f"tests/compare/facets/test_{module}.py").exists():
        made[f"tests/compare/facets/test_{module}.py"] = _TEST.substitute(values)
    return made


def facet_of(rule: str) -> str:
    """The facet of a rule: the longest name of a module that its id begins with; "" if no facet has such a name."""
    modules = [path.stem for folder in _FACETS for path in (PROJECT / folder).glob("[!_]*.py")]
    return max((name for name in modules if rule.startswith(f"{name.replace('_', '-')}-")), key=len, default="")


if __name__ == "__main__":
    sys.exit(main())

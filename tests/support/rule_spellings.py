"""Spellings of a rule, and the findings for each of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from helpers import Json, crd, diff, obj, root, write
from rewriting import UnwritableError, reworded


def around(rule: str) -> Iterator[str]:
    """The rule in more words, by its text alone."""
    yield f"({rule})"
    yield f"!(!({rule}))"
    yield f"({rule}) == true"
    yield f"true == ({rule})"
    yield f"({rule}) ? true : false"
    yield f"!({rule}) ? false : true"
    yield f"true && ({rule})"
    yield f"({rule}) || false"
    yield f"({rule}) && ({rule})"
    yield f"({rule}) in [true]"
    yield f"[true].all(yes, yes == ({rule}))"
    yield f"[0].exists(zero, {rule})"
    yield f"// it's a \"comment\" on oldSelf\n{rule}\n// self.other == 'C'"
    yield f"\n\t {rule} \n"
    yield f"optional.of({rule}).value()"
    yield f"optional.none().orValue({rule})"


Outcome = list[tuple[str, str, str, bool]]


def outcomes(folder: Path, schema: Json, rules: Sequence[str], at: str = "") -> list[Outcome]:
    """The findings for each of the rules: its OLD has the rule at the status, or ``at`` a member, its NEW has not."""
    for index, rule in enumerate(rules):
        with_rule = {**schema, "x-kubernetes-validations": [{"rule": rule, "message": "refused"}]}
        for side, node in (("old", with_rule), ("new", schema)):
            write(
                folder / side / f"{index}.yaml",
                crd(root(status=obj(**{at: node}) if at else node), kind=f"Widget{index}"),
            )
    found: list[Outcome] = [[] for _ in rules]
    for finding in diff(folder / "old", folder / "new")["findings"]:
        if finding["rule"] != "crd-refused":  # more words cost more
            index = int(finding["crd"].split(".")[0].removeprefix("widget").removesuffix("s"))
            proved = finding["witness"]["object"] is not None
            found[index].append((finding["rule"], finding["direction"], finding["severity"], proved))
    return found


_AS_RULES = dict.fromkeys(("enum-value-added", "enum-dropped"), "cel-rule-removed")


def as_rules(found: Outcome) -> Outcome:
    """The findings, with those of a rule that lists values as those of a rule: in more words it is no enum."""
    return [
        ("cel-rule-removed" if rule in ("enum-value-added", "enum-dropped") else rule, *rest) for rule, *rest in found
    ]


def agree(folder: Path, schema: Json, rules: Sequence[str], expected: Outcome, at: str = "") -> None:
    """Assert that all of the rules have the expected findings."""
    found = [as_rules(each) for each in outcomes(folder, schema, rules, at)]
    assert {rule: each for rule, each in zip(rules, found, strict=True) if each != expected} == {}


def random_spellings(rules: Sequence[str], rng: random.Random) -> list[str]:
    """Each of the rules in other words, without those that cannot be written."""
    found = []
    for rule in rules:
        with suppress(UnwritableError):
            found.append(reworded(rule, rng))
    return found

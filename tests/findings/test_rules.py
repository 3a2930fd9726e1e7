"""Every kind of change that can do something has a rule, and every example of a rule is run through the program."""

from __future__ import annotations

import json
import re
import string as text
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, example_crd, run, write
from msgspec.structs import replace

import crdcompat
from crdcompat.apiserver.server_versions import DEFAULT_SERVER, kubernetes_server
from crdcompat.compare.engine import Comparer
from crdcompat.compare.registry import all_crd_facets, all_facets
from crdcompat.compare.witness import Witness
from crdcompat.crds.installers import Installers
from crdcompat.crds.pairing import pair
from crdcompat.findings.finding import make_findings
from crdcompat.findings.message import VERBS
from crdcompat.findings.rules import Example, Rule, catalogue
from crdcompat.models.finding import Finding
from crdcompat.render.rules import rule_text
from crdcompat.vocabulary.installers import Installer

RULES = catalogue()
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.id}: {example.title} ({example.direction})")
    for rule in RULES.values()
    for example in rule.examples
]
DIRECTIONS = ("rollback", "upgrade")

_EFFECTS = {kind: effects for facet in all_facets() for kind, effects in facet.effects.items()}
_OF_CRDS = {kind: effects for facet in all_crd_facets() for kind, effects in facet.effects.items()}
_WITH_EFFECT = {kind for kind, effects in (_EFFECTS | _OF_CRDS).items() if effects.rollback or effects.upgrade}
#: Adding a version and storing it at once has a rule of its own; taking it away again is a removal like others.
#: A version that is added and neither served nor stored (""): nothing, OLD's clusters never had it.
_UNEVEN = {
    ("version-removed", "a version that is neither served nor stored is removed"): "",
    ("version-removed", "the storage version is removed"): "version-storage-moved",
    ("version-storage-moved", "a version is added and stored at once"): "version-removed",
}
#: A server refuses v1 CRDs that preserve unknown fields in new clusters, too.
_ALSO_IN_THE_MIRROR = {
    ("preserve-unknown-fields-changed", "rollback"): ("crd-refused",),
    ("crd-refused-on-way", "rollback"): ("crd-refused-by",),
}
#: The verbs of each effect: one of them must be in the message.
_VERBS_OF = {
    "write-rejected": {"rejects"},
    "value-pruned": {"prunes", "drops", "is"},
    "value-defaulted": {"sets", "appears", "comes"},
}
#: The end of a message that nothing proves.
_DOUBTS = ("object was found", "update was found", "before the field had a default")
_FIELDS = {
    *VERBS, "path", "added", "removed", "before", "after", "reader", "writer", "old", "new", "kind", "a_kind",
    "rules", "writes", "one", "others", "default", "then", "then_at_reader",
}  # fmt: skip


def test_every_change_with_an_effect_has_its_rule_and_every_rule_its_change() -> None:
    assert sorted(rule.change for rule in RULES.values()) == sorted(_WITH_EFFECT)
    for rule in RULES.values():
        assert rule.id == rule.change.replace(".", "-")
    assert [*RULES] == [rule.id for rule in RULES.values()]  # each is in the file of its name


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_sentences(rule: Rule) -> None:
    assert set(rule.message) == set(DIRECTIONS)
    assert set(rule.unproven) <= set(DIRECTIONS)
    values = {field: f"<{field}>" for field in _FIELDS}
    assert rule.staying.keys() in (set(), {"message", "short"})
    staying = [rule.staying["message"]] if rule.staying else []
    for sentence in (*rule.message.values(), *rule.unproven.values(), *staying):
        used = {field for _, field, _, _ in text.Formatter().parse(sentence) if field is not None}
        assert used <= _FIELDS
        assert used & {"path", "kind"}
        assert "{" not in sentence.format(**values)
        assert not sentence.endswith((".", " "))
    for sentence in (rule.summary, *rule.why.rstrip().split("\n\n")):
        assert sentence.endswith((".", ".)")), sentence


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_an_effect_is_called_by_its_verb(rule: Rule) -> None:
    for direction in DIRECTIONS:
        effects = _EFFECTS[rule.change].towards(direction) if rule.change in _EFFECTS else ()
        used = {field for _, field, _, _ in text.Formatter().parse(rule.message[direction])}
        for effect in effects if direction not in rule.unproven else ():
            # Where a default is the weakest of several effects, the message leaves it out.
            assert used & _VERBS_OF[effect] or (effect == "value-defaulted" and effect != effects[0])
        assert effects or not used & VERBS.keys()
    for direction, sentence in rule.unproven.items():
        assert "may re" in sentence  # reject, or read
        assert direction in _directions(rule)


#: Effects of which a verdict says who fails, doing what.
_REFUSING = {"write-rejected", "request-failed", "crd-rejected"}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_line_of_a_verdict(rule: Rule) -> None:
    """Each direction in which something is refused has a short sentence that names the side that refuses."""
    effects = (_EFFECTS | _OF_CRDS)[rule.change]
    assert set(rule.short) == {each for each in DIRECTIONS if _REFUSING & {*effects.towards(each)}}
    for sentence in (*rule.short.values(), *([rule.staying["short"]] if rule.staying else ())):
        used = {field for _, field, _, _ in text.Formatter().parse(sentence) if field is not None}
        assert used <= {"reader", "writer", "kind", "a_kind", "rules", "writes", "before", "after", "where"}
        assert used & {"reader", "writer", "kind", "writes"}
        assert not sentence.endswith((".", " ")) and len(sentence) < 140


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_mirrors_are_mutual(rule: Rule) -> None:
    """What a rule says of OLD and NEW, its mirror says of NEW and OLD."""
    assert bool(rule.mirror) != bool(rule.mirror_reason)
    if not rule.mirror:
        return
    mirror = RULES[rule.mirror]
    assert mirror.mirror == rule.id
    if rule.change in _EFFECTS:
        ours, theirs = _EFFECTS[rule.change], _EFFECTS[mirror.change]
        assert (ours.rollback, ours.upgrade) == (theirs.upgrade, theirs.rollback)
        assert set(rule.unproven) == {_other(direction) for direction in mirror.unproven}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_direction_with_an_effect_has_an_example(rule: Rule) -> None:
    shown = {example.direction for example in rule.examples}
    if rule.change in _EFFECTS:
        assert shown == _directions(rule)
    assert shown


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_examples(tmp_path: Path, rule: Rule, example: Example) -> None:
    """The finding comes out exactly as written, and no other in that direction."""
    sides = example_crd(example, "old"), example_crd(example, "new")
    finding = _run(tmp_path, rule.id, example.direction, *sides, example.also, example)
    _check(finding, example.finding, proved="unproven" not in example.finding)
    assert finding.change == rule.change


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_examples_in_the_mirror(tmp_path: Path, rule: Rule, example: Example) -> None:
    """With OLD and NEW changed over, the mirror finds the same the other way."""
    mirror = _UNEVEN.get((rule.id, example.title), rule.mirror)
    mirrors = (RULES[name].mirror for name in example.also)
    also = (*filter(None, mirrors), *_ALSO_IN_THE_MIRROR.get((rule.id, example.direction), ()))
    direction = _other(example.direction)
    sides = example_crd(example, "new"), example_crd(example, "old")
    if not mirror:
        assert sorted(finding.rule for finding in _findings(tmp_path, direction, *sides)) == sorted(also)
        return
    finding = _run(tmp_path, mirror, direction, *sides, also, example)
    expected = {key: value for key, value in example.finding.items() if key not in ("severity", "added", "removed")}
    expected["added"] = example.finding.get("removed", [])
    expected["removed"] = example.finding.get("added", [])
    _check(finding, expected, proved="unproven" not in example.finding)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_nothing_is_claimed_without_a_witness(tmp_path: Path, rule: Rule, example: Example) -> None:
    """The same finding without its witness says "may", why, and is no error."""
    if rule.change not in _EFFECTS:
        return
    names = ("old", "new")
    sides = [crdcompat.load(f"path:{write(tmp_path / f'{name}.yaml', example_crd(example, name))}") for name in names]
    server = kubernetes_server(example.kubernetes[-1]) if example.kubernetes else DEFAULT_SERVER
    compared = Comparer(server, server).compare(pair(*sides).pairs, [example.direction])
    judged = [each for each in compared.judged if each.change.kind == rule.change]
    doubted: dict[str, Any] = {"witness": Witness(None, reason="none"), "doubtful": True, "writer_default": False}
    found = make_findings([replace(each, **doubted) for each in judged], "old", "new", lambda each: ())
    for finding in found:
        assert finding.severity != "error"
        assert finding.message.endswith(_DOUBTS)
        assert re.search(r"\bmay (reject|prune|drop|set|appear|come|be|read)\b", finding.message)
        claims = re.sub(r"by members that \w+ prunes", "", finding.message)
        assert not re.search(r"\b(rejects|prunes|drops|sets|appears|erases)\b", claims)
    assert found


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_explain(rule: Rule) -> None:
    reported = "\n".join(rule_text(rule))
    for line in (rule.title, rule.summary, *rule.why.splitlines(), *rule.fix.splitlines(), *rule.references):
        assert line.strip() in reported
    for example in rule.examples:
        assert f"Example: {example.title} ({example.direction})" in reported


def _directions(rule: Rule) -> set[str]:
    effects = (_EFFECTS | _OF_CRDS)[rule.change]
    return {direction for direction in DIRECTIONS if effects.towards(direction)}


def _other(direction: str) -> str:
    return DIRECTIONS[1 - DIRECTIONS.index(direction)]


def _run(
    tmp_path: Path,
    rule: str,
    direction: str,
    old: Json,
    new: Json,
    also: tuple[str, ...],
    example: Example | None = None,
) -> Finding:
    """The rule's one finding on two CRDs; beside it only those of ``also``."""
    findings = _findings(tmp_path, direction, old, new, example)
    assert sorted(finding.rule for finding in findings) == sorted((rule, *also))
    return next(finding for finding in findings if finding.rule == rule)


def _findings(
    tmp_path: Path, direction: str, old: Json, new: Json, example: Example | None = None
) -> tuple[Finding, ...]:
    file = (example and example.manifest) or "widget.yaml"
    before, after = (
        crdcompat.load(f"path:{write(tmp_path / name / file, data)}") for name, data in (("old", old), ("new", new))
    )
    if example and example.manifest:
        before, after = (
            replace(crds, runs=runs) for crds, runs in zip((before, after), example.kubernetes, strict=True)
        )
    elif example and example.kubernetes:
        before, after = (replace(crds, supported=example.kubernetes) for crds in (before, after))
    elif example and example.installers:
        before, after = (
            replace(crds, installers=Installers(Installer(name)))
            for crds, name in zip((before, after), example.installers, strict=True)
        )
    report = crdcompat.diff(before, after, directions=(direction,))
    assert not report.problems
    assert not report.undecided
    return report.findings


def _check(finding: Finding, expected: Json, *, proved: bool) -> None:
    witness = finding.witness
    shown: dict[str, Any] = {
        "path": finding.path,
        "effect": finding.effect,
        "severity": finding.severity,
        "added": list(finding.added),
        "removed": list(finding.removed),
        "errors": sorted(witness.errors),
        "pruned": sorted(witness.pruned),
        "defaulted": sorted(witness.defaulted),
    }
    wanted = {"added": [], "removed": [], "errors": [], **{k: v for k, v in expected.items() if k != "unproven"}}
    for key in ("errors", "pruned", "defaulted"):
        if key in wanted:
            wanted[key] = sorted(wanted[key])
    assert {key: shown[key] for key in wanted} == wanted
    if finding.owner != "crd" and finding.effect != "none":
        assert (witness.object is not None) == proved, witness.reason
        assert finding.message.endswith(_DOUBTS) == (not proved)


# -- the commands about rules -------------------------------------------------------------------------


def test_rules_are_listed() -> None:
    listed = run("rules")
    assert listed.code == 0
    listing = [line.split() for line in listed.out.splitlines()]
    for rule in RULES.values():
        assert any(line[:1] == [rule.id] and line[3:] == rule.summary.split() for line in listing)
    reported = json.loads(run("rules", "--format", "json").out)
    assert [rule["id"] for rule in reported] == sorted(RULES)


def test_an_explanation_fits_on_a_screen() -> None:
    assert {name for name, rule in RULES.items() if len([*rule_text(rule, whole=False)]) > 40} == set()
    shown = [*rule_text(RULES["enum-value-added"], whole=False)]
    assert [line.strip() for line in shown if line.startswith(("  - ", "  + ")) and "enum:" in line] == [
        "-            enum: [Pending, Ready]",
        "+            enum: [Pending, Ready, Draining]",
    ]


@pytest.mark.parametrize("name", ["enum-value-added", "version-storage-moved"])
def test_a_rule_is_explained(name: str) -> None:
    reported = run("explain", name)
    shown = [*rule_text(RULES[name], whole=False)]
    assert (reported.code, reported.out.splitlines()) == (0, shown)
    assert sum(line.startswith("Example: ") for line in shown) == 1
    assert run("explain", name, "-v").out.splitlines() == [*rule_text(RULES[name])]


@pytest.mark.parametrize(("asked", "near"), [("enum-value-add", "enum-value-added"), ("enum_dropped", "enum-dropped")])
def test_a_rule_that_there_is_not(asked: str, near: str) -> None:
    for command in (("explain", asked), ("diff", "a", "b", "--select", asked), ("diff", "a", "b", "--ignore", asked)):
        ran = run(*command)
        assert ran.code == 2
        assert f"did you mean {near}?" in ran.err

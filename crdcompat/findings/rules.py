"""The rule catalogue: one YAML file per rule, which judges one kind of change (docs/rules.md)."""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct, field

from crdcompat.compare.facet import Facet
from crdcompat.compare.registry import declared_by, module_of
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.findings.severity import default_severity
from crdcompat.package_data import data_dir
from crdcompat.program import typed
from crdcompat.vocabulary import Direction, Effect, Owner, Severity


class Example(Struct, frozen=True):
    """An executable example: two schemas, and the finding that must come out of comparing them.

    ``old_crd`` and ``new_crd`` say what differs outside the schemas: parts of ``spec`` laid over a plain CRD (null
    removes a key, each entry of ``versions`` lies over a plain v1). ``also`` names the rules of the findings
    that cannot be had apart from this one. ``kubernetes`` are the servers on which both releases have to work; with the
    name of a ``manifest``, the server of OLD and that of NEW. ``installers`` are those of OLD and NEW.
    """

    title: str
    direction: Direction
    finding: dict[str, Any]
    old: dict[str, Any] = field(default_factory=dict)
    new: dict[str, Any] = field(default_factory=dict)
    old_crd: dict[str, Any] | None = None
    new_crd: dict[str, Any] | None = None
    also: tuple[str, ...] = ()
    kubernetes: tuple[str, ...] = ()
    manifest: str = ""
    installers: tuple[str, ...] = ()


class Rule(Struct, frozen=True):
    """The judgement on one kind of change.

    ``message`` has one sentence per direction with ``{path}``, ``{added}``, ``{removed}``, ``{before}``,
    ``{after}``, ``{others}`` (further fields of one advice), ``{default}``,
    ``{reader}``, ``{writer}``, ``{old}``, ``{new}``, ``{kind}`` and ``{a_kind}`` (with
    its article) to fill in; ``{rules}`` is "a rule" or "3 rules". ``{then}`` is "after a rollback" or "after the
    upgrade". The verbs of the effect are in
    braces, too (``{rejects}``): where no witness was found, they become "may reject". ``unproven`` is the sentence to
    use there instead, if more is to be said. ``short`` is the line of a verdict about an error, per direction in which
    something is refused: who fails, doing what. It may use
    ``{where}``, too: `` in Default``, or nothing if all feature sets are concerned. ``severity``
    overrides the default policy per direction. ``staying`` has ``message`` and ``short`` for a CRD that the installer
    does not replace, where they differ. ``mirror`` is the rule that the same change is judged by when OLD and
    NEW change places, or ``mirror_reason`` says why there is none.
    """

    id: str
    change: str
    title: str
    summary: str
    message: dict[str, str]
    why: str
    fix: str
    references: tuple[str, ...] = ()
    severity: dict[Direction, Severity] = field(default_factory=dict)
    unproven: dict[str, str] = field(default_factory=dict)
    short: dict[str, str] = field(default_factory=dict)
    staying: dict[str, str] = field(default_factory=dict)
    mirror: str = ""
    mirror_reason: str = ""
    examples: tuple[Example, ...] = ()

    def judge(self, direction: Direction, effect: Effect, owner: Owner) -> Severity:
        """The severity of a finding of this rule."""
        return self.severity.get(direction) or default_severity(direction, effect, owner)


def read_rule(data: dict[str, Any]) -> Rule:
    """Read one rule document; tests validate every file against the JSON Schema of rules."""
    examples = tuple(
        Example(
            **{
                **example,
                "direction": Direction(example["direction"]),
                "also": tuple(example.get("also", ())),
                "kubernetes": tuple(example.get("kubernetes", ())),
                "installers": tuple(example.get("installers", ())),
            },
        )
        for example in data.get("examples", ())
    )
    facts = {key: value for key, value in data.items() if key not in ("examples", "references", "severity")}
    severity = {Direction(direction): Severity(level) for direction, level in data.get("severity", {}).items()}
    return Rule(**facts, severity=severity, references=tuple(data.get("references", ())), examples=examples)


@cache
def rule_names() -> tuple[str, ...]:
    """The ids of all rules; each is the name of a file."""
    return tuple(sorted(file.stem for file in data_dir("rules").glob("*.yaml")))


@cache
def rule(name: str) -> Rule:
    """The rule with one of the ``rule_names``; loaded on demand, because a run needs few rules."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return read_rule(yaml.load((data_dir("rules") / f"{name}.yaml").read_bytes(), Loader=loader))


def catalogue() -> dict[str, Rule]:
    """All rules by id."""
    return {name: rule(name) for name in rule_names()}


def rule_for(change: str) -> Rule:
    """The rule about a kind of change (``enum.value-added``)."""
    return rule(change.replace(".", "-"))


def find_rule(name: str) -> Rule:
    """A rule by id. Raises UsageError with the nearest id."""
    if name in rule_names():
        return rule(name)
    raise UsageError(f"there is no rule {name!r}{did_you_mean(name, rule_names())} ({typed()} rules lists them all)")


# The rules by family, with their severities. A family has the rules of one facet.


class Levels(Struct, frozen=True):
    """The worst severities of a rule in one direction: for fields in ``status``, and for fields ``elsewhere``."""

    status: Severity
    elsewhere: Severity


class Member(Struct, frozen=True):
    """A rule with its family, and its severities in each direction that has findings."""

    family: str
    rule: Rule
    levels: dict[Direction, Levels]


def members(family: str = "") -> tuple[Member, ...]:
    """All rules, family by family, or the rules of one ``family``. Raises UsageError with the nearest family."""
    everything = sorted(map(_member, catalogue().values()), key=lambda member: (member.family, member.rule.id))
    found = tuple(member for member in everything if not family or member.family == family)
    if not found:
        hint = did_you_mean(family, dict.fromkeys(member.family for member in everything))
        raise UsageError(f"there is no family {family!r}{hint} ({typed()} rules lists all rules by family)")
    return found


def _member(rule: Rule) -> Member:
    levels = {direction: found for direction in Direction if (found := _levels(rule, direction)) is not None}
    return Member(module_of(rule.id).rpartition(".")[2].replace("_", "-"), rule, levels)


def _levels(rule: Rule, direction: Direction) -> Levels | None:
    """The severities of the effects that the facet declares; None if it declares none. A change of the CRD itself is in
    no field, so both severities are the same."""
    facet = declared_by(rule.id)
    effects = facet.effects[rule.change].towards(direction)
    if not effects:
        return None
    owners = (Owner.STATUS, Owner.SPEC) if isinstance(facet, Facet) else (Owner.CRD, Owner.CRD)
    order = list(Severity).index
    return Levels(*(min((rule.judge(direction, effect, owner) for effect in effects), key=order) for owner in owners))

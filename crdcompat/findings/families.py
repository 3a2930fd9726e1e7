"""The rules by family, with their severities. A family has the rules of one facet."""

from __future__ import annotations

from msgspec import Struct

from crdcompat.compare.facet import Facet
from crdcompat.compare.registry import declared_by, module_of
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.findings.rules import Rule, catalogue
from crdcompat.program import typed
from crdcompat.vocabulary import Direction, Owner, Severity


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
    """All rules, family by family, or those of one ``family``. Raises UsageError with the nearest family."""
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

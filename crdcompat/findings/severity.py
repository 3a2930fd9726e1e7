"""How severe a finding is, and what decided it (docs/judging.md has the table).

The effect in the API server and the owner of the field give the start. What a change takes from every user raises it;
a value that nobody writes, ratcheting and a missing proof lower it. Nothing that only feature sets without upgrades
have, and no example API, is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.crds.context import is_default
from crdcompat.models.finding import Finding
from crdcompat.vocabulary import Direction, Effect, Owner, Severity
from crdcompat.vocabulary.installers import WITHOUT_API, Window
from crdcompat.vocabulary.judging import Harm, Named
from crdcompat.vocabulary.writes import Spared

if TYPE_CHECKING:
    from crdcompat.compare.result import Judged

#: (direction, effect) -> severity, but for writes of status.
_DEFAULT = {
    (Direction.ROLLBACK, Effect.CRD_REJECTED): Severity.ERROR,
    (Direction.ROLLBACK, Effect.WRITE_REJECTED): Severity.WARNING,  # only if someone uses the new thing
    (Direction.ROLLBACK, Effect.REQUEST_FAILED): Severity.WARNING,
    (Direction.UPGRADE, Effect.CRD_REJECTED): Severity.ERROR,
    (Direction.UPGRADE, Effect.WRITE_REJECTED): Severity.WARNING,
    (Direction.UPGRADE, Effect.REQUEST_FAILED): Severity.WARNING,
}
#: Nobody writes the rejected value, as far as the sources tell.
_UNWRITTEN = frozenset({Named.NOBODY, Named.KEY, Named.WRITTEN})
#: Domains that documentation and tests use for APIs of any kind.
_EXAMPLE_DOMAINS = ("example.com", "example.org", "example.net")


class Decision(Struct, frozen=True):
    """A severity and what decided it, in a few words each."""

    severity: Severity
    because: tuple[str, ...]


def default_severity(direction: Direction, effect: Effect, owner: Owner) -> Severity:
    """The severity with which a judgement starts, unless the rule sets another one."""
    if owner == Owner.STATUS and effect == Effect.WRITE_REJECTED:
        return Severity.ERROR  # controllers write status without users: the API server rejects all their writes
    return _DEFAULT.get((direction, effect), Severity.INFO)


def decide(item: Judged, start: Severity) -> Decision:
    """The severity of a judged change; ``start`` is the severity that its rule gives."""
    raising, limits = [*_raising(item)], [*_limits(item)]
    severity = Severity.ERROR if raising else start
    severity = max((severity, *(most for most, _ in limits)), key=lambda each: each.rank)
    named = [item.named.value] if item.named is not None else []
    reasons = [*_places(item), *raising, *named, *(reason for _, reason in limits)]
    if is_lowered(item):
        severity = severity.lowered
        reasons.append("only in feature sets that can be neither upgraded nor rolled back")
    return Decision(severity, tuple(dict.fromkeys(reasons)))


def is_lowered(item: Judged) -> bool:
    """Whether only feature sets that can be neither upgraded nor rolled back have the change."""
    return all(occurrence.terminal for occurrence in item.occurrences)


def _places(item: Judged) -> Iterator[str]:
    """The owner of the field, which server meets the CRD first, and whether clusters of most users have it."""
    yield item.change.owner.value if item.change.owner != Owner.CRD else "the CRD itself"
    if item.early:
        yield "applied before the API server is updated"
    if item.is_in_default:
        yield f"in Default {item.since}".rstrip()


def _raising(item: Judged) -> Iterator[str]:
    """The reasons for an error beside the effect itself."""
    kind, upgrades = item.change.kind, item.direction == Direction.UPGRADE
    if item.writer_default:
        yield Named.DEFAULT.value
    if Harm.NO_COMMON_VALUE in item.harms:
        yield Harm.NO_COMMON_VALUE.value
    if item.window is Window.OLD_CRD_NEW_WRITER and kind in WITHOUT_API:
        yield "helm does not replace the CRD, and the controllers of the new release need it"
    if upgrades and kind == "version.removed" and item.doubtful:
        yield "an earlier release may have stored the version"


def _limits(item: Judged) -> Iterator[tuple[Severity, str]]:
    """The most that a finding can be, and why."""
    kind = item.change.kind
    harms_all = bool(item.harms)
    if kind.startswith("cel.transition-") and item.direction == Direction.UPGRADE:
        frozen = Harm.FROZEN in item.harms
        yield (Severity.ERROR, Harm.FROZEN.value) if frozen else (Severity.WARNING, "some changes still pass")
    if item.named in _UNWRITTEN and not harms_all:
        yield Severity.WARNING, str(item.named)
    if item.spared is Spared.VALUE and not harms_all:
        yield Severity.WARNING, "the server lets updates pass that leave the value as it is"
    if item.turned_on_by:
        yield Severity.WARNING, "its chart is off by default"
    if item.doubtful and kind == "crd.deleted":
        yield Severity.WARNING, "only helm renders the annotations"
    elif item.doubtful and kind.startswith("subresource.status-"):
        yield Severity.WARNING, "its status declares nothing"
    elif item.doubtful and kind != "version.removed":
        yield Severity.WARNING, "no example object was found"
    if item.unlikely:
        yield Severity.INFO, "no controller writes such a state"
    in_status = item.change.owner == Owner.STATUS
    if in_status and (item.named is Named.KEY or (kind == "list-type.tightened" and isinstance(item.change.new, dict))):
        yield Severity.INFO, "the controller writes each key once"
    if is_example(item.crd.partition(".")[2]):
        yield Severity.WARNING, "an example API, which no cluster has"


def is_example(group: str) -> bool:
    """Whether an API group is an example inside a real domain, as ``example.openshift.io``: no cluster has it."""
    labels = group.split(".")
    return "example" in labels and not group.endswith(_EXAMPLE_DOMAINS)


_REJECTIONS = frozenset({Effect.CRD_REJECTED, Effect.WRITE_REJECTED, Effect.REQUEST_FAILED})
#: Changes after which an upgraded cluster lacks something that users had.
_REMOVALS = frozenset(
    {
        "crd.removed", "crd.renamed", "property.removed", "subresource-scale.removed", "subresource-status.removed",
        "version.removed",
    }
)  # fmt: skip


def is_strict_error(finding: Finding) -> bool:
    """Whether the strict profile makes an error of a finding: a rejection or a removal on upgrade.

    An effect that no object proves is no error, nor is one that only other feature sets than Default have.
    """
    if finding.direction != Direction.UPGRADE or not any(map(is_default, finding.contexts)):
        return False
    is_proven = finding.owner == Owner.CRD or finding.witness.object is not None
    return is_proven and (finding.effect in _REJECTIONS or finding.change in _REMOVALS)

"""Blocks of one cause: changes of a type that stands in several places, or of all that several CRDs embed."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.entries import Entry
from crdcompat.render.wording.blocks import Block, blocks
from crdcompat.render.wording.findings import crd_name, plural, some
from crdcompat.vocabulary import Owner

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from crdcompat.models.finding import Finding

#: Places of a change that make it worth a heading of its own.
_MIN_PLACES = 3


class Cause(Struct, frozen=True, eq=False):
    """Blocks with the same places, the worst first; a block whose change has no others is a cause of its own."""

    blocks: tuple[Block, ...]

    @property
    def finding(self) -> Finding:
        """The worst finding."""
        return self.blocks[0].finding

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(entry for block in self.blocks for entry in block.entries)

    @property
    def is_shared(self) -> bool:
        """Whether several changes have the cause."""
        return len(self.blocks) > 1

    @property
    def heading(self) -> str:
        """``one cause, 110 findings: status.conditions[*] of 22 CRDs: a/v1, b/v1, c/v1 and 19 more``."""
        count = sum(len(entry.findings) for entry in self.entries)
        return f"one cause, {plural(count, 'finding')}: {self.where}"

    @property
    def where(self) -> str:
        """``status.conditions[*] of 22 CRDs: a/v1, b/v1, c/v1 and 19 more``."""
        findings = [finding for entry in self.entries for finding in entry.findings]
        holders = [*dict.fromkeys(crd_name(each.crd, each.version) for each in findings)]
        paths = [each.path for each in findings if (each.crd, each.version) == (self.finding.crd, self.finding.version)]
        steps = zip(*(path.split(".") for path in paths), strict=False)
        where = ".".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, steps))
        count = len({place for each in self.entries for place in _holders(each)})
        shown = f"{plural(len(holders), 'CRD')}: {some(holders)}" if len(holders) > 1 else holders[0]
        copies = f" in {plural(count, 'place')}" if count > len(holders) else ""
        return f"{where or 'changes'}{copies} of {shown}"


def causes(listed: Iterable[Entry]) -> tuple[Cause, ...]:
    """The entries as causes, in the order of their first blocks."""
    made: dict[Hashable, list[Block]] = {}
    for number, block in enumerate(blocks(listed)):
        made.setdefault(_key(block) or number, []).append(block)
    return tuple(Cause(tuple(group)) for group in made.values())


def _key(block: Block) -> Hashable:
    """What blocks of one cause share: the direction, and the CRDs or the places in them. None for few places."""
    finding = block.finding
    if finding.owner == Owner.CRD:
        return None
    holders = frozenset((each.crd, each.version) for each in (finding, *block.mirrors))
    places = frozenset(place for entry in block.entries for place in _holders(entry))
    shared = next((each for each in (holders, places) if len(each) >= _MIN_PLACES), None)
    return None if shared is None else (finding.direction, shared)


def _holders(entry: Entry) -> Sequence[tuple[str, str, str]]:
    """The CRD, the version and the path of what holds the changed field, at each of its places."""
    return [
        (each.crd, each.version, path.rpartition(".")[0])
        for each in entry.findings
        for path in (each.path, *each.places)
    ]

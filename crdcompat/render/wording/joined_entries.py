"""Entries that read as one: siblings with the same sentence share a block, ``status.{a,b}[*]``."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from crdcompat.findings.entries import Entry
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.vocabulary import Owner
from crdcompat.vocabulary.texts import some

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from crdcompat.models.finding import Finding

T = TypeVar("T")

#: Names of siblings that are written out.
_MAX_NAMES = 6


class Block(Struct, frozen=True, eq=False):
    """Entries of one CRD, version, rule and sentence whose paths differ in one step; the first one is the example."""

    entries: tuple[Entry, ...]

    @property
    def finding(self) -> Finding:
        """The finding that the block is worded after."""
        return self.entries[0].finding

    @property
    def path(self) -> str:
        """The path of all: ``status.{a,b}[*]``."""
        return fold([*map(_path, self.entries)])

    @property
    def mirrors(self) -> tuple[Finding, ...]:
        """The other places of the same changes."""
        return tuple(mirror for entry in self.entries for mirror in entry.mirrors)


def blocks(listed: Iterable[Entry]) -> tuple[Block, ...]:
    """The entries as blocks, in the order of their first entries."""
    return tuple(Block(tuple(group)) for group in siblings(listed, _path, _facts))


def siblings(items: Iterable[T], path: Callable[[T], str], facts: Callable[[T], Hashable]) -> list[list[T]]:
    """Groups of items of equal facts whose paths differ in one step, in the order of their first items."""
    made: dict[Hashable, list[list[T]]] = {}
    order: list[list[T]] = []
    for item in items:
        groups = made.setdefault(facts(item), [])
        home = next((group for group in groups if _are_siblings([*map(path, group), path(item)])), None)
        if home is None:
            home = []
            groups.append(home)
            order.append(home)
        home.append(item)
    return order


def predicate(finding: Finding) -> str:
    """The sentence without its subject where that is the path: ``gained "A": after a rollback, …``."""
    return finding.message.removeprefix(f"{finding.path} ") if finding.path else finding.message


def fold(paths: Sequence[str]) -> str:
    """Paths that differ in one step as one: ``status.{enabled,known}Items[*]``; a single path stays as it is."""
    steps = [path.split(".") for path in paths]
    at = _differing_step(steps)
    if at is None:
        return paths[0]
    names = [path[at] for path in steps]
    suffix = _common_end(names)
    shown = [name.removesuffix(suffix) for name in names[:_MAX_NAMES]]
    more = f",{len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ".".join([*steps[0][:at], f"{{{','.join(shown)}{more}}}{suffix}", *steps[0][at + 1 :]])


def _common_end(names: Sequence[str]) -> str:
    """The last words that all names in camel case share: ``Items[*]`` of ``enabledItems[*]`` and ``knownItems[*]``."""
    columns = takewhile(lambda chars: len(set(chars)) == 1, zip(*(reversed(name) for name in names), strict=False))
    shared = "".join(chars[0] for chars in columns)[::-1]
    start = next((at for at, char in enumerate(shared) if char.isupper() or char == "["), len(shared))
    return shared[start:] if all(len(name) > len(shared) - start for name in names) else ""


def _path(entry: Entry) -> str:
    return entry.finding.path


def _facts(entry: Entry) -> Hashable:
    finding = entry.finding
    return finding.crd, finding.version, finding.direction, finding.severity, finding.rule, predicate(finding)


def _are_siblings(paths: Sequence[str]) -> bool:
    return _differing_step([path.split(".") for path in paths]) is not None


def _differing_step(steps: Sequence[Sequence[str]]) -> int | None:
    """The index of the only step in which paths differ; None if there is none, or more than one."""
    if len({len(path) for path in steps}) != 1:
        return None
    differing = [index for index, names in enumerate(zip(*steps, strict=True)) if len(set(names)) > 1]
    return differing[0] if len(differing) == 1 else None


# Blocks of one cause: changes of a type that stands in several places, or of all that several CRDs embed.


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
    """What blocks of one cause share: the direction, and the CRDs or the places in them. None if the places are few."""
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

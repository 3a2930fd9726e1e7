"""The life of each version over the releases, and what a jump from one release to a later one loses.

``status.storedVersions`` of a cluster names each version that it ever stored objects in, until somebody rewrites the
objects and removes the name. The API server refuses a CRD that lacks one of them. So a jump is blocked by a version
that the older release has, that this or an earlier release stores, and that the newer release lacks. A version that
is no longer served can still be read from storage: it blocks nothing as long as the CRD has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from crdcompat.compare.crd_facets.version import precedes
from crdcompat.features.versions.facts import CrdFacts, Facts
from crdcompat.models.versions import Jump, Lost, VersionLife


def lives(names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]) -> Iterator[VersionLife]:
    """Each version of each CRD, by CRD, in the order in which the releases bring the versions."""
    for crd in sorted({crd for each in facts for crd in each}):
        if not wanted or crd in wanted:
            line = [(name, each.get(crd)) for name, each in zip(names, facts, strict=True)]
            yield from _of_crd(crd, [(name, found) for name, found in line if found is None or not found.dispute])


def _of_crd(crd: str, line: Sequence[tuple[str, CrdFacts | None]]) -> Iterator[VersionLife]:
    versions = dict.fromkeys(version for _, found in line if found is not None for version in found.flags)
    for version in versions:
        having = [at for at, (_, found) in enumerate(line) if found is not None and version in found.flags]
        flags = [(line[at][0], line[at][1].flags[version]) for at in having]  # type: ignore[union-attr]
        after = line[having[-1] + 1 :][:1]
        kind = next(found.kind for _, found in reversed(line) if found is not None)
        yield VersionLife(
            crd=crd,
            kind=kind,
            version=version,
            present=tuple(name for name, _ in flags),
            served=tuple(name for name, (is_served, _, _) in flags if is_served),
            stored=tuple(name for name, (_, _, is_stored) in flags if is_stored),
            deprecated=tuple(name for name, (_, is_deprecated, _) in flags if is_deprecated),
            removed_in=after[0][0] if after else "",
            has_crd=not after or after[0][1] is not None,
        )


def disputes(names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]) -> tuple[str, ...]:
    """The CRDs whose copies disagree in a release, each with the first such release."""
    first: dict[str, str] = {}
    for name, each in zip(names, facts, strict=True):
        for crd, found in each.items():
            if found.dispute and (not wanted or crd in wanted):
                first.setdefault(crd, _dispute(crd, name, found))
    return tuple(first[crd] for crd in sorted(first))


def _dispute(crd: str, release: str, found: CrdFacts) -> str:
    return f"{crd}: in {release}, {found.dispute}"


def jumps(names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]) -> Iterator[Jump]:
    """The jumps from each release to each later one."""
    for older, newer in combinations(range(len(names)), 2):
        lost: list[Lost] = []
        unjudged: list[str] = []
        for crd in sorted(facts[older].keys() & facts[newer].keys()):
            if wanted and crd not in wanted:
                continue
            before = [(name, each.get(crd)) for name, each in zip(names[:newer], facts[:newer], strict=True)]
            target = facts[newer][crd]
            known = [*before[: older + 1], (names[newer], target)]
            disputed = [_dispute(crd, name, each) for name, each in known if each is not None and each.dispute]
            unjudged += disputed[:1]
            lost += () if disputed else _lost(crd, before, older, target)
        yield Jump(names[older], names[newer], tuple(lost), tuple(unjudged))


def _lost(crd: str, before: Sequence[tuple[str, CrdFacts | None]], older: int, target: CrdFacts) -> Iterator[Lost]:
    """The versions that a jump loses; ``before`` are the releases before the target, ``older`` is the origin's index.

    No manifest shows what an earlier release than these stored. As for ``diff``, that may be a version that is not
    served any more, or one that is older than the stored one.
    """
    origin = before[older][1]
    assert origin is not None, crd
    for version, (is_served, _, _) in origin.flags.items():
        if version in target.flags:
            continue
        stored = tuple(name for name, each in before[: older + 1] if each is not None and each.storage == version)
        if stored or not is_served or precedes(version, origin.storage):
            there = [name for name, each in before[older:] if each is not None and _migrates(each, version, target)]
            yield Lost(crd, target.kind, version, stored, tuple(there), is_certain=bool(stored))


def _migrates(facts: CrdFacts, version: str, target: CrdFacts) -> bool:
    """Whether objects that are stored in a version can be rewritten in a release, into a version of the target."""
    return version in facts.flags and facts.storage != version and facts.storage in target.flags

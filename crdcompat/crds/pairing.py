"""Pair the CRDs of two sets: by name and context, never by path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct

from crdcompat.crds.context import Context, context_label
from crdcompat.crds.copies import Matched, Unmatched, by_facts, match_copies
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Chosen, Resolved, disagree, resolve
from crdcompat.crds.shipped import like_shipped
from crdcompat.crds.unpaired import Unpaired, entering, unpaired
from crdcompat.crds.variants import contexts_of, is_shipped

_Documents = tuple[CrdDocument, ...]


class CrdPair(Struct, frozen=True, eq=False):
    """A CRD of OLD and the CRD of the same name of NEW, in one pair of contexts.

    ``terminal``: clusters of one of the contexts can be neither upgraded nor rolled back.
    """

    context: str
    terminal: bool
    old: Resolved
    new: Resolved


class Pairing(Struct, frozen=True, eq=False):
    """The pairs of two CRD sets, and what has no counterpart.

    ``unpaired`` are the CRDs of one side alone in a context; ``entering`` are those of NEW alone, also where OLD is no
    release of the same project. ``without_common_context`` are CRDs that both sets have, but no context of both.
    ``unmatched`` are copies with several possible counterparts.
    """

    pairs: tuple[CrdPair, ...]
    contexts: tuple[str, ...]
    only_old_contexts: tuple[str, ...]
    only_new_contexts: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    ignored_duplicates: tuple[tuple[str, str, str], ...]
    without_common_context: tuple[str, ...] = ()
    unpaired: tuple[Unpaired, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    entering: tuple[Unpaired, ...] = ()


def pair(old: CrdSet, new: CrdSet, forced: Sequence[tuple[str, str]] = (), only: Sequence[str] = ()) -> Pairing:
    """Pair two sets context by context.

    ``forced`` are pairs of contexts (of OLD, of NEW) with different names, ``only`` the names of common contexts. With
    either, nothing else is paired.
    """
    olds = {str(context): context for context in contexts_of(old.documents, new.documents)}
    news = {str(context): context for context in contexts_of(new.documents, old.documents)}
    everything = not only and not forced
    common = [(olds[name], news[name]) for name in olds if name in news and (everything or name in only)]
    common += [(olds[a], news[b]) for a, b in forced if a in olds and b in news]
    moved = _moved_channel(olds, news) if everything and not common else []
    common += moved
    resolved = cache(resolve)  # most CRDs have the same documents in all contexts
    pairs: list[CrdPair] = []
    unmatched: list[Unmatched] = []
    alone: set[tuple[str, str, str]] = set()
    for old_context, new_context in common:
        label = context_label(old_context, new_context)
        terminal = old_context.is_terminal or new_context.is_terminal
        found = _matched(old, new, old_context, new_context)
        unmatched += found.unmatched
        alone.update(found.alone)
        pairs += (CrdPair(label, terminal, resolved(of_old), resolved(of_new)) for of_old, of_new in found.pairs)
    for at, of_old, of_new in _given_way(pairs):
        found = match_copies(of_old, of_new)
        unmatched += found.unmatched
        alone.update(found.alone)
        pairs += (CrdPair(at.context, at.terminal, resolved(a), resolved(b)) for a, b in found.pairs)
    old_named, new_named = old.named(), new.named()
    old_names, new_names = old_named.keys(), new_named.keys()
    paired = {each.old.name for each in pairs} | {each.name for each in unmatched}
    apart = {
        name
        for name in (old_names & new_names if everything else ())
        if name not in paired
        and (is_shipped(old_named[name], olds.values()) or is_shipped(new_named[name], news.values()))
    }
    contexts = dict.fromkeys(  # also those without a pair: of a part of a tree none may be read
        context_label(a, b) for a, b in common if is_shipped(old.documents, (a,)) and is_shipped(new.documents, (b,))
    )
    return Pairing(
        pairs=tuple(pairs),
        contexts=tuple(contexts or dict.fromkeys(str(a) for a, _ in common)),
        only_old_contexts=() if moved else tuple(name for name in olds if name not in news),
        only_new_contexts=() if moved else tuple(name for name in news if name not in olds),
        only_old=tuple(sorted(old_names - new_names)),
        only_new=tuple(sorted(new_names - old_names)),
        ignored_duplicates=tuple(
            sorted(alone.union(*(side.ignored_duplicates for each in pairs for side in (each.old, each.new))))
        ),
        without_common_context=tuple(sorted(apart)),
        unpaired=unpaired(old, new, common),
        unmatched=tuple(unmatched),
        entering=entering(old, new, common),
    )


def _moved_channel(olds: dict[str, Context], news: dict[str, Context]) -> list[tuple[Context, Context]]:
    """The only channels of both sides: a project that ships one gives its clusters the other from now on."""
    both = [*olds.values(), *news.values()]
    return [(both[0], both[1])] if len(olds) == len(news) == 1 and all(each.channel for each in both) else []


def version_pairs(old: Resolved, new: Resolved, version: str) -> list[tuple[Chosen, Chosen]]:
    """The definitions of a version that both sides have, as pairs; several where copies of the CRD differ.

    A copy belongs to the counterpart that ``pair`` finds for it; without one, to all of the other side.
    """
    olds, news = old.versions[version], new.versions[version]
    if not olds.rivals and not news.rivals:
        return [(olds, news)]
    sides = [
        {id(each.document): each for first in (chosen, *chosen.rivals) for each in first.everywhere()}
        for chosen in (olds, news)
    ]
    of_sides = [tuple(each.document for each in side.values()) for side in sides]
    found = match_copies(of_sides[0], of_sides[1])
    both = [*found.pairs, *((rest.old, rest.new) for rest in found.unmatched)]
    return [(sides[0][id(a)], sides[1][id(b)]) for of_old, of_new in both for a in of_old for b in of_new]


def _matched(old: CrdSet, new: CrdSet, a: Context, b: Context) -> Matched:
    """The documents of the CRDs of both sides in a pair of contexts, paired."""
    made = Matched([], [], [])
    olds, news = old.named(), new.named()
    for name in filter(news.__contains__, olds):  # in name order: a budget ends at the same change in every run
        left = tuple(document for document in olds[name] if document.is_in(a))
        right = tuple(document for document in news[name] if document.is_in(b))
        if not left or not right:
            continue
        if old.shipped is not None and new.shipped is not None:
            if name not in old.shipped and name in new.shipped:
                left = like_shipped(left, right)
            elif name in old.shipped and name not in new.shipped:
                right = like_shipped(right, left)
        has_variants = not a == b == Context()
        pairs = [(left, right)]
        if disagree(left, has_variants) or disagree(right, has_variants):
            files = {document.file for document in olds[name]} & {document.file for document in news[name]}
            files |= new.relisted
            found = match_copies(left, right, files)
            pairs = found.pairs
            made.unmatched.extend(found.unmatched)
            made.alone.extend(found.alone)
        for both in pairs:
            made.pairs.extend([both] if has_variants else by_facts(*both))
    return made


def _given_way(pairs: Iterable[CrdPair]) -> list[tuple[CrdPair, _Documents, _Documents]]:
    """The documents of OLD and NEW that all contexts ignore as duplicates, with a pair of their CRD.

    No cluster should get these documents, but nothing enforces that: a change of them is compared as well.
    """
    named = {each.old.name for each in pairs if each.old.ignored_duplicates or each.new.ignored_duplicates}
    by_name: dict[str, list[CrdPair]] = {}
    for each in pairs:
        if each.old.name in named:
            by_name.setdefault(each.old.name, []).append(each)
    found = []
    for group in by_name.values():
        old, new = _unused(each.old for each in group), _unused(each.new for each in group)
        if old or new:
            found.append((group[0], old or group[0].old.documents, new or group[0].new.documents))
    return found


def _unused(crds: Iterable[Resolved]) -> _Documents:
    """The documents of a CRD with a version for which each context has another document."""
    everywhere = list(crds)
    used = {
        (id(chosen.document), version)
        for crd in everywhere
        for version, first in crd.versions.items()
        for chosen in first.everywhere()
    }
    documents = dict.fromkeys(document for crd in everywhere for document in crd.documents)
    return tuple(
        document
        for document in documents
        if any((id(document), version.name) not in used for version in document.crd.versions)
    )

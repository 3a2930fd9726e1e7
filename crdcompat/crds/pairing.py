"""Which CRD faces which: by identity and context, never by path (design, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import orjson

from crdcompat.crds.model import CrdVersion
from crdcompat.crds.reader import CrdDocument, CrdSet
from crdcompat.crds.variants import Context, contexts_of
from crdcompat.errors import UsageError
from crdcompat.records import dataclass


@dataclass(frozen=True, eq=False)
class Chosen:
    """The document that gives one version of a CRD in one context; ``copies`` say the same elsewhere in the tree."""

    document: CrdDocument
    version: CrdVersion
    copies: tuple[Chosen, ...] = ()

    def everywhere(self) -> tuple[Chosen, ...]:
        """The chosen document, then its copies."""
        return (self, *self.copies)


@dataclass(frozen=True, eq=False)
class Resolved:
    """A CRD as one context gets it. ``documents`` are all that take part, the first speaks for the CRD itself.

    ``losers`` are files whose schema for a version lost against another file's.
    """

    name: str
    versions: dict[str, Chosen]
    documents: tuple[CrdDocument, ...]
    losers: tuple[tuple[str, str, str], ...] = ()


_Documents = tuple[CrdDocument, ...]
_Resolve = Callable[[_Documents], Resolved]


@dataclass(frozen=True, eq=False)
class Facing:
    """One CRD of OLD facing the same CRD of NEW in one pair of contexts."""

    context: str
    terminal: bool
    old: Resolved
    new: Resolved


@dataclass(frozen=True, eq=False)
class Pairing:
    """How two CRD sets face each other; ``apart`` are CRDs of both that no context of both has."""

    facings: tuple[Facing, ...]
    contexts: tuple[str, ...]
    only_old_contexts: tuple[str, ...]
    only_new_contexts: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    losers: tuple[tuple[str, str, str], ...]
    apart: tuple[str, ...] = ()


def pair(old: CrdSet, new: CrdSet, forced: Sequence[tuple[str, str]] = (), only: Sequence[str] = ()) -> Pairing:
    """Pair two sets context by context; ``forced`` names pairs OLD=NEW, ``only`` keeps the contexts named."""
    olds = {str(context): context for context in contexts_of(old.documents, new.documents)}
    news = {str(context): context for context in contexts_of(new.documents, old.documents)}
    everything = not only and not forced
    common = [(olds[name], news[name]) for name in olds if name in news and (everything or name in only)]
    common += [(olds[a], news[b]) for a, b in forced if a in olds and b in news]
    resolved = cache(resolve)  # most CRDs are the same in all contexts
    facings: list[Facing] = []
    losers: set[tuple[str, str, str]] = set()
    for old_context, new_context in common:
        a, b = str(old_context), str(new_context)
        label = a if a == b else f"{a}={b}"
        terminal = old_context.is_terminal or new_context.is_terminal
        for facing_old, facing_new in _faced(old, new, old_context, new_context, resolved):
            facings.append(Facing(label, terminal, facing_old, facing_new))
            losers.update((*facing_old.losers, *facing_new.losers))
    old_names, new_names = old.named().keys(), new.named().keys()
    return Pairing(
        facings=tuple(facings),
        contexts=tuple(dict.fromkeys(facing.context for facing in facings)) or tuple(str(a) for a, _ in common),
        only_old_contexts=tuple(name for name in olds if name not in news),
        only_new_contexts=tuple(name for name in news if name not in olds),
        only_old=tuple(sorted(old_names - new_names)),
        only_new=tuple(sorted(new_names - old_names)),
        losers=tuple(sorted(losers)),
        apart=tuple(sorted(old_names & new_names - {facing.old.name for facing in facings})) if everything else (),
    )


def _faced(old: CrdSet, new: CrdSet, a: Context, b: Context, resolved: _Resolve) -> Iterator[tuple[Resolved, Resolved]]:
    olds, news = old.named(), new.named()
    for name in olds.keys() & news.keys():
        left = tuple(document for document in olds[name] if a.takes(document.crd.annotations))
        right = tuple(document for document in news[name] if b.takes(document.crd.annotations))
        if not left or not right:
            continue
        if a == b == Context() and (_disagree(left) or _disagree(right)):
            yield from _by_folder(left, right, resolved)
        else:
            yield resolved(left), resolved(right)


def _by_folder(left: _Documents, right: _Documents, resolved: _Resolve) -> Iterator[tuple[Resolved, Resolved]]:
    """Copies that differ with nothing to tell them apart (config/crd, bundle/, charts/): folder against folder."""
    olds, news = _folders(left), _folders(right)
    common = sorted(olds.keys() & news.keys())
    for folder in common:
        yield resolved(olds[folder]), resolved(news[folder])
    if not common:
        yield resolved(left), resolved(right)


def _folders(documents: Iterable[CrdDocument]) -> dict[str, _Documents]:
    found: dict[str, list[CrdDocument]] = {}
    for document in documents:
        folder, slash, _ = document.file.partition("/")
        found.setdefault(folder if slash else "", []).append(document)
    return {folder: tuple(inside) for folder, inside in found.items()}


def _disagree(documents: _Documents) -> bool:
    return any(len(_distinct(chosen)) > 1 for chosen in _by_version(documents).values())


def resolve(documents: _Documents) -> Resolved:
    """One CRD out of its documents in a context: equal schemas collapse, else the rules of precedence decide."""
    name = documents[0].crd.name
    versions: dict[str, Chosen] = {}
    losers: list[tuple[str, str, str]] = []
    for version, candidates in _by_version(documents).items():
        ranked = sorted(candidates, key=lambda chosen: _rank(chosen, version))
        first, *others = ranked
        same = [other.version.schema is first.version.schema or _text(other) == _text(first) for other in others]
        copies = tuple(other for other, equal in zip(others, same, strict=True) if equal)
        versions[version] = Chosen(first.document, first.version, copies)
        losers += [
            (name, other.document.file, first.document.file)
            for other, equal in zip(others, same, strict=True)
            if not equal
        ]
    speakers = dict.fromkeys(chosen.document for chosen in versions.values())
    return Resolved(name, versions, (*speakers, *(d for d in documents if d not in speakers)), tuple(losers))


#: The context that most clusters have, where a tree has several and none is asked for.
_USUAL_CONTEXTS = ("Default/self-managed-high-availability", "Default/default")


def resolve_all(crds: CrdSet, others: CrdSet, wanted: str | None = None) -> tuple[str, dict[tuple[str, str], Resolved]]:
    """Every CRD by (group, kind) as one context gets it, and that context's name. Raises UsageError.

    ``others`` is the set it is used beside: a tree without variants is the same in each of its contexts.
    """
    contexts = {str(context): context for context in contexts_of(crds.documents, others.documents)}
    if wanted is not None and wanted not in contexts:
        raise UsageError(f"no context {wanted} in {crds.name}; there are: {', '.join(contexts)}")
    name = wanted or next((name for name in _USUAL_CONTEXTS if name in contexts), next(iter(contexts)))
    found = {}
    for documents in crds.named().values():
        taken = tuple(document for document in documents if contexts[name].takes(document.crd.annotations))
        if taken:
            found[taken[0].crd.group, taken[0].crd.kind] = resolve(taken)
    return name, found


def _rank(chosen: Chosen, version: str) -> tuple[bool, bool, str]:
    """In that version's directory first, then with an explicit feature set, then by path."""
    folders = chosen.document.file.split("/")[:-1]
    explicit = "release.openshift.io/feature-set" in chosen.document.crd.annotations
    return (version not in folders, not explicit, chosen.document.file)


def _by_version(documents: Iterable[CrdDocument]) -> dict[str, list[Chosen]]:
    found: dict[str, list[Chosen]] = {}
    for document in documents:
        for version in document.crd.versions:
            found.setdefault(version.name, []).append(Chosen(document, version))
    return found


def _distinct(candidates: list[Chosen]) -> set[bytes]:
    first = candidates[0].version.schema
    if all(chosen.version.schema is first for chosen in candidates):
        return {b""}
    return {_text(chosen) for chosen in candidates}


def _text(chosen: Chosen) -> bytes:
    return orjson.dumps(chosen.version.schema, option=orjson.OPT_SORT_KEYS)

"""CRDs that one of two sets lacks in a context: they enter, leave, or have another name on the other side.

Two sets of one project show what its releases ship. A live cluster or its recording has the CRDs of many projects, and
a single file the CRDs that somebody chose: missing or additional CRDs there mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from crdcompat.crds.context import Context, context_label
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.templates import TEMPLATE
from crdcompat.vocabulary import Side

_Documents = tuple[CrdDocument, ...]
_Named = Mapping[str, _Documents]


class Unpaired(Struct, frozen=True, eq=False):
    """A CRD that only one side ships in a context, with the ``documents`` that define it there.

    ``elsewhere``: the other side ships it in another context. ``has_sources``: the other side has it outside of its
    payload, and another component may ship it from there. ``renamed`` are NEW's documents of the same kind under
    another name, where OLD's CRD (``side``) has a successor; the successor has no entry of its own.
    """

    context: str
    terminal: bool
    side: Side
    documents: _Documents
    elsewhere: bool = False
    has_sources: bool = False
    renamed: _Documents = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the CRD, and of its successor."""
        return tuple(documents[0].crd.name for documents in (self.documents, self.renamed) if documents)


def unpaired(old: CrdSet, new: CrdSet, contexts: Sequence[tuple[Context, Context]]) -> tuple[Unpaired, ...]:
    """The CRDs of one side alone, for each pair of contexts."""
    if not _are_releases(old, new):
        return ()
    olds, news = _shipped(old, new), _shipped(new, old)
    unread_old, unread_new = unread_files(old), unread_files(new)
    found = []
    for a, b in contexts:
        label = context_label(a, b)
        terminal = a.is_terminal or b.is_terminal
        left, right = _in_context(olds, a), _in_context(news, b)
        gone = {name: left[name] for name in left.keys() - right.keys() if not may_be_in(left[name], unread_new)}
        come = {name: right[name] for name in right.keys() - left.keys() if not may_be_in(right[name], unread_old)}
        for name, successor in _renamed(gone, come):
            found.append(Unpaired(label, terminal, Side.OLD, gone.pop(name), renamed=come.pop(successor)))
        sources_old, sources_new = _in_context(_named(old), a), _in_context(_named(new), b)
        for name in sorted(gone):
            found.append(Unpaired(label, terminal, Side.OLD, gone[name], name in news, name in sources_new))
        for name in sorted(come):
            found.append(Unpaired(label, terminal, Side.NEW, come[name], name in olds, name in sources_old))
    return tuple(found)


def entering(old: CrdSet, new: CrdSet, contexts: Sequence[tuple[Context, Context]]) -> tuple[Unpaired, ...]:
    """The CRDs that NEW ships in a context and OLD does not, whatever OLD is; none if an API server has taken them.

    With one file as OLD, only the CRDs in it were chosen.
    """
    if _is_of_cluster(new) or (old.is_one_file and not new.is_one_file):
        return ()
    olds, news = old.named(), _shipped(new, old)
    return tuple(
        Unpaired(context_label(a, b), a.is_terminal or b.is_terminal, Side.NEW, documents)
        for a, b in contexts
        for name, documents in _in_context(news, b).items()
        if not any(document.is_in(a) for document in olds.get(name, ()))
    )


def _are_releases(old: CrdSet, new: CrdSet) -> bool:
    """Whether both sets are what a project ships; before its first CRD, it shipped nothing."""
    is_chosen = old.is_one_file != new.is_one_file
    return (
        bool(old.documents or old.unread or old.is_partial)
        and not is_chosen
        and not any(map(_is_of_cluster, (old, new)))
    )


def _is_of_cluster(crds: CrdSet) -> bool:
    """Whether the CRDs come from an API server, which gives each a uid."""
    return any("uid" in document.crd.raw["metadata"] for document in crds.documents)


def _named(crds: CrdSet) -> _Named:
    return {name: tuple(documents) for name, documents in crds.named().items()}


def _shipped(crds: CrdSet, other: CrdSet) -> _Named:
    """The documents by name, without the sources of CRDs that only the payload of ``other`` contains."""
    named = _named(crds)
    if crds.shipped is None or other.shipped is None:
        return named
    return {name: documents for name, documents in named.items() if name not in other.shipped - crds.shipped}


def _in_context(named: _Named, context: Context) -> dict[str, _Documents]:
    included = {
        name: tuple(document for document in documents if document.is_in(context)) for name, documents in named.items()
    }
    return {name: documents for name, documents in included.items() if documents}


def unread_files(crds: CrdSet) -> frozenset[str]:
    """The files that may define CRDs, but could not be read."""
    templates = (item.file for item in crds.skipped if item.reason == TEMPLATE)
    return frozenset({*(problem.file for problem in crds.problems), *templates})


def may_be_in(documents: Iterable[CrdDocument], unread: frozenset[str]) -> bool:
    """Whether the other tree may have a CRD with these documents in a file of them that could not be read there."""
    return any(document.file in unread for document in documents)


def _renamed(gone: _Named, come: _Named) -> Iterator[tuple[str, str]]:
    """The names in OLD and NEW of one renamed CRD: each is the only candidate for the other."""
    successors = {name: [other for other in come if _is_successor(gone[name], come[other])] for name in gone}
    for name, candidates in successors.items():
        if len(candidates) == 1 and sum(candidates[0] in others for others in successors.values()) == 1:
            yield name, candidates[0]


def _is_successor(before: _Documents, after: _Documents) -> bool:
    """Whether the kind is the same, and the group too, or most fields: unrelated groups have kinds of one name."""
    a, b = before[0].crd, after[0].crd
    if a.kind != b.kind:
        return False
    mine, theirs = _fields(before), _fields(after)
    return a.group == b.group or 2 * len(mine & theirs) > len(mine | theirs)


def _fields(documents: Iterable[CrdDocument]) -> set[tuple[str, str]]:
    """The fields below ``spec``, ``status`` and other top-level fields of all versions, without those of each kind."""
    roots = (version.node.properties for document in documents for version in document.crd.versions)
    halves = ((top, node) for root in roots for top, node in root.items() if top != "metadata")
    return {(top, name) for top, node in halves for name in node.properties}

"""Resolve the documents of a CRD: which of them a cluster of one context gets, for each version.

See docs/configuration.md#variants-and-feature-gates.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson
from msgspec import Struct

from crdcompat.crds.context import no_context
from crdcompat.crds.model import Crd, CrdDocument, CrdVersion
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.variants import contexts_of
from crdcompat.errors import UsageError

_Documents = tuple[CrdDocument, ...]
#: The contexts of most clusters: the defaults where a tree has several.
_USUAL_CONTEXTS = ("Default/self-managed-high-availability", "Default/default")


class Chosen(Struct, frozen=True, eq=False):
    """The document that defines one version of a CRD in one context.

    ``copies`` define it in the same way elsewhere. ``rivals`` define it in another way, and only paths rank them.
    """

    document: CrdDocument
    version: CrdVersion
    copies: tuple[Chosen, ...] = ()
    rivals: tuple[Chosen, ...] = ()

    def everywhere(self) -> tuple[Chosen, ...]:
        """The chosen document, then its copies."""
        return (self, *self.copies)


class Resolved(Struct, frozen=True, eq=False):
    """A CRD as a cluster of one context gets it.

    ``documents`` are all that define it in the context; the first one defines the scope, the names and the conversion.
    ``ignored_duplicates`` are documents of lower rank with another schema for a version: (CRD name, ignored file, used
    file).
    """

    name: str
    versions: dict[str, Chosen]
    documents: tuple[CrdDocument, ...]
    ignored_duplicates: tuple[tuple[str, str, str], ...] = ()

    @property
    def crd(self) -> Crd:
        """The CRD of the first document."""
        return self.documents[0].crd


def resolve(documents: _Documents) -> Resolved:
    """One CRD from its documents in a context: for each version the first by rank; equal schemas become its copies."""
    name = documents[0].crd.name
    versions: dict[str, Chosen] = {}
    ignored_duplicates: list[tuple[str, str, str]] = []
    for version, candidates in _by_version(documents).items():
        ranked = sorted(candidates, key=lambda chosen: _rank(chosen, version))
        first, *others = ranked
        same = [len(_distinct([first, other])) == 1 for other in others]
        copies = tuple(other for other, equal in zip(others, same, strict=True) if equal)
        different = [other for other, equal in zip(others, same, strict=True) if not equal]
        rivals = tuple(
            each
            for each in _of_first_rank(ranked, version)
            if each in different and each.version.content != first.version.content
        )
        versions[version] = Chosen(first.document, first.version, copies, rivals)
        ignored_duplicates += [(name, other.document.file, first.document.file) for other in different]
    used = dict.fromkeys(chosen.document for chosen in versions.values())
    return Resolved(name, versions, (*used, *(d for d in documents if d not in used)), tuple(ignored_duplicates))


def lacking(crd: Resolved, version: str) -> Chosen:
    """A version that a CRD lacks, as one that is not served; its place is the list of versions."""
    at = ("spec", "versions")
    return Chosen(crd.documents[0], CrdVersion(version, False, False, None, {}, {}, at, at))


def usual_context(crds: CrdSet, others: CrdSet) -> str:
    """The name of the context of most clusters of ``crds``; ``others`` is the other set of a run."""
    names = [str(context) for context in contexts_of(crds.documents, others.documents)]
    return next((name for name in _USUAL_CONTEXTS if name in names), names[0])


def as_filter(context: str, old: CrdSet, new: CrdSet) -> tuple[str, ...]:
    """A context as the filter of a comparison; () where OLD and NEW have no CRD of one name in this context."""
    of_sides = [
        {
            document.crd.name
            for each in contexts_of(crds.documents, others.documents)
            if str(each) == context
            for document in crds.documents
            if document.is_in(each)
        }
        for crds, others in ((old, new), (new, old))
    ]
    return (context,) if set.intersection(*of_sides) else ()


def resolve_all(crds: CrdSet, others: CrdSet, wanted: str | None = None) -> tuple[str, dict[tuple[str, str], Resolved]]:
    """The name of a context, and every CRD by (group, kind) as a cluster of this context gets it.

    ``wanted`` names the context. ``others`` is the other set of a run: a tree without variants has the contexts of the
    other one. Raises UsageError if there is no such context.
    """
    contexts = {str(context): context for context in contexts_of(crds.documents, others.documents)}
    if wanted is not None and wanted not in contexts:
        raise UsageError(no_context(wanted, f"in {crds.name}", contexts))
    name = wanted or usual_context(crds, others)
    found = {}
    for documents in crds.named().values():
        included = tuple(document for document in documents if document.is_in(contexts[name]))
        if included:
            found[included[0].crd.group, included[0].crd.kind] = resolve(included)
    return name, found


def disagree(documents: _Documents, has_variants: bool) -> bool:
    """Whether documents of one version differ; where a tree has variants, only those of equal rank count.

    Without variants, documents that share a version and have different other ones differ, too.
    """
    for version, candidates in _by_version(documents).items():
        if len(_distinct(_of_first_rank(candidates, version) if has_variants else candidates)) > 1:
            return True
        names = {tuple(each.name for each in chosen.document.crd.versions) for chosen in candidates}
        if not has_variants and len(set(map(frozenset, names))) > 1:
            return True
    return False


def _rank(chosen: Chosen, version: str) -> tuple[bool, bool, str]:
    """Sort key: first a document in a folder named like the version, then one with a feature set, then by path."""
    folders = chosen.document.file.split("/")[:-1]
    explicit = "release.openshift.io/feature-set" in chosen.document.crd.annotations
    return (version not in folders, not explicit, chosen.document.file)


def _of_first_rank(candidates: list[Chosen], version: str) -> list[Chosen]:
    """The candidates for a version that only their paths order, of those that rank first."""
    first = min(_rank(chosen, version)[:-1] for chosen in candidates)
    return [chosen for chosen in candidates if _rank(chosen, version)[:-1] == first]


def _by_version(documents: Iterable[CrdDocument]) -> dict[str, list[Chosen]]:
    found: dict[str, list[Chosen]] = {}
    for document in documents:
        for version in document.crd.versions:
            found.setdefault(version.name, []).append(Chosen(document, version))
    return found


def _distinct(candidates: list[Chosen]) -> set[bytes]:
    """The different definitions of one version; descriptions count."""
    first = candidates[0].version
    if all(chosen.version is first for chosen in candidates):
        return {b""}
    return {_text(chosen.version) for chosen in candidates}


def _text(version: CrdVersion) -> bytes:
    facts = version.served, version.storage, version.subresources, version.schema
    return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)

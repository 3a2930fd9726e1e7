"""A facet of a CRD outside its schemas: versions, scope, names, subresources, conversion.

Each facet is a module of ``compare/crd_facets/``. Most of these effects follow from the CRD alone and need no
example object. ``apiserver.crd_validation`` decides which CRDs a server rejects, and in which words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from crdcompat.apiserver.crd_validation.refusal import update_refusal
from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Differing, Effects, Reaction, WaivedBy, explains_at
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.crds.resolving import Chosen, Resolved
from crdcompat.schema.paths import Object, Pointer
from crdcompat.vocabulary import Effect


class CrdEffect(Struct, frozen=True):
    """The effect of a change in one direction, with the server's message and the example object, if there are any.

    ``doubt``: the condition of the effect that the manifests do not contain; "" if the effect is certain.
    """

    effect: Effect = Effect.NONE
    sentence: str = ""
    object: Object | None = None
    doubt: str = ""


NOTHING, FAILED, LOST = CrdEffect(), CrdEffect(Effect.REQUEST_FAILED), CrdEffect(Effect.VALUE_PRUNED)


class CrdChange(Struct, frozen=True):
    """A change of the CRD (``version`` "") or of one version, with its effect each way."""

    version: str
    change: Change
    rollback: CrdEffect = NOTHING
    upgrade: CrdEffect = NOTHING


class ResolvedPair(Struct, frozen=True, eq=False):
    """Two resolved CRDs with the servers of either release.

    ``refused_rollback`` is the server's message when OLD's CRD replaces NEW's, ``refused_upgrade`` when NEW's replaces
    OLD's; "" if the server accepts the replacement.
    """

    old: Resolved
    new: Resolved
    old_server: Server
    new_server: Server
    refused_rollback: str
    refused_upgrade: str

    @property
    def crds(self) -> tuple[Crd, Crd]:
        """The first CRD of OLD and of NEW, which represents its side."""
        return self.old.crd, self.new.crd

    @property
    def keeps_storage_version(self) -> bool:
        """Whether some version is marked as the storage version on both sides."""
        return bool(_stored(_whole(self.old)) & _stored(_whole(self.new)))

    def refused(self, words: str) -> tuple[CrdEffect, CrdEffect]:
        """The effects of rollback and upgrade: CRD_REJECTED where the message names ``words`` (a field path)."""
        rollback, upgrade = (
            CrdEffect(Effect.CRD_REJECTED, text) if words in text else NOTHING
            for text in (self.refused_rollback, self.refused_upgrade)
        )
        return rollback, upgrade


class VersionPair(Struct, frozen=True, eq=False):
    """One version that both resolved CRDs have."""

    name: str
    old: Chosen
    new: Chosen
    crds: ResolvedPair

    @property
    def versions(self) -> tuple[CrdVersion, CrdVersion]:
        return self.old.version, self.new.version


def pair_crds(old: Resolved, new: Resolved, old_server: Server, new_server: Server) -> ResolvedPair:
    """Pair two resolved CRDs, and validate each as an update of the other on the server that receives it.

    A CRD of a cluster lists its stored versions. Those of a manifest follow from its storage version.
    """
    a, b = _whole(old), _whole(new)
    kept = _stored(a) & _stored(b)
    rollback = update_refusal(b, a, b.stored_versions or sorted(kept or _stored(b)), old_server)
    upgrade = update_refusal(a, b, a.stored_versions or sorted(kept or _stored(a)), new_server)
    return ResolvedPair(old, new, old_server, new_server, rollback, upgrade)


def _whole(resolved: Resolved) -> Crd:
    """The CRD with all versions of its context, from all documents."""
    first = resolved.crd
    versions = tuple(chosen.version for chosen in resolved.versions.values())
    return Crd(first.name, first.group, first.kind, first.plural, first.scope, first.annotations, versions, first.raw)


def _stored(crd: Crd) -> set[str]:
    """The versions marked as the storage version: one, or more where manifests of several folders make up the CRD.

    A cluster gets one of these manifests. If both sides mark a version, the storage version stayed. Else they
    are ``status.storedVersions`` in a cluster where no other CRD was installed before.
    """
    return {version.name for version in crd.versions if version.storage}


def spec_of(crd: Crd) -> dict[str, Any]:
    spec = crd.raw.get("spec")
    return spec if isinstance(spec, dict) else {}


def crd_change(kind: str, old: Any, new: Any, old_at: Pointer, new_at: Pointer | None = None) -> Change:
    """A change of the CRD itself; ``new_at`` is the pointer in NEW's document, by default the same as in OLD's."""
    return Change(kind, (), old, new, old_at=old_at, new_at=old_at if new_at is None else new_at, of_crd=True)


def no_changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    return iter(())


def no_version_changes(pair: VersionPair) -> Iterator[CrdChange]:
    return iter(())


class CrdFacet(Struct, frozen=True, eq=False):
    """One kind of difference between CRDs outside their schemas.

    ``effects``: its kinds of change (``version.added``), each with the effects it can have. ``changes`` yields those of
    the CRD itself, ``version_changes`` those of a version that both sides have. ``spec_keys`` and ``version_keys``: the
    keys of ``spec`` and of an entry of ``spec.versions`` that the facet compares. ``facts``: values of the CRD by name;
    where several documents of one side define the CRD and differ in a fact, the comparison reports it as undecided.
    ``texts``: values by name that admission ignores.

    ``waived_by`` and ``explains`` are those of ``Facet``.
    """

    effects: Mapping[str, Effects]
    changes: Callable[[ResolvedPair], Iterator[CrdChange]] = no_changes
    version_changes: Callable[[VersionPair], Iterator[CrdChange]] = no_version_changes
    spec_keys: frozenset[str] = frozenset()
    version_keys: frozenset[str] = frozenset()
    facts: Mapping[str, Callable[[Crd], Any]] = field(default_factory=dict)
    texts: Mapping[str, Callable[[Crd], Any]] = field(default_factory=dict)
    waived_by: Mapping[str, WaivedBy] = field(default_factory=dict)
    explains: Callable[[Differing, Reaction], bool] = explains_at

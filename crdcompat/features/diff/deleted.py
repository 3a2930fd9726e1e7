"""CRDs that Helm deletes with all their objects, because only one of two releases has them in ``templates/``.

Helm deletes what the release that it leaves manages and the other does not, unless the resource is annotated with
``helm.sh/resource-policy: keep`` (Helm's documentation, "Tell Helm Not To Uninstall a Resource"). It does not manage
``crds/``: a CRD that moves from there to ``templates/`` is deleted by a rollback, and by an upgrade the other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Lone
from crdcompat.compare.witness import Witness
from crdcompat.crds.context import Context
from crdcompat.crds.file import templates_of
from crdcompat.crds.installers import keeps, metadata_in
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Chosen
from crdcompat.crds.subcharts import turned_on_by
from crdcompat.crds.unpaired import may_be_in, unread_files
from crdcompat.crds.variants import contexts_of
from crdcompat.features.diff.compared import Compared, wants
from crdcompat.vocabulary import Direction, Effect, Owner, Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.installers import Installer

DELETED = "crd.deleted"
#: The change that says less about a CRD, by direction.
_ALONE = {Direction.ROLLBACK: "crd.added", Direction.UPGRADE: "crd.removed"}
_NAME = ("metadata", "name")
_NEEDS_NO_OBJECT = "a change of the CRD as a whole: it needs no object to show"


def with_deleted(compared: Compared, wanted: Filters) -> Compared:
    """The comparison with the CRDs that Helm deletes on the way, without ``crd-added`` and ``crd-removed`` on them."""
    if not wanted.want_owner(Owner.CRD):
        return compared
    old, new = compared.old, compared.new
    if old.is_one_file != new.is_one_file:
        return compared  # somebody chose the CRDs of one file
    ways = {Direction.ROLLBACK: (new, old), Direction.UPGRADE: (old, new)}
    found = [
        item
        for direction, (left, entered) in ways.items()
        if direction in wanted.directions
        for item in _deleted(compared, direction, left, entered, wanted)
    ]
    said = {(_ALONE[item.direction], item.direction, item.crd): _contexts(item) for item in found}
    kept = [
        item
        for item in compared.judged
        if not _contexts(item) <= said.get((item.change.kind, item.direction, item.crd), frozenset())
    ]
    return replace(compared, judged=(*kept, *found))


def _contexts(item: Judged) -> frozenset[str]:
    return frozenset(occurrence.context for occurrence in item.occurrences)


def _deleted(
    compared: Compared, direction: Direction, left: CrdSet, entered: CrdSet, wanted: Filters
) -> Iterator[Judged]:
    """The CRDs that the release that is ``left`` manages, and that the release that is ``entered`` does not manage.

    What only rendering can tell is no reason to say less than that a CRD is gone.
    """
    side = Side.NEW if direction is Direction.ROLLBACK else Side.OLD
    contexts = [
        each for each in contexts_of(left.documents, entered.documents) if str(each) in compared.pairing.contexts
    ]
    others, unread = entered.named(), unread_files(entered)
    for name, documents in left.named().items():
        if managed_by_helm(entered, others.get(name, ())) or not wants(wanted, (name,), (documents,)):
            continue
        if may_be_in(documents, unread):
            continue
        unkept = [(each, kept) for each, kept in _judged_documents(left, documents) if kept is not True]
        is_doubtful = not any(kept is False for _, kept in unkept)
        managed = [each for each, _ in unkept]
        others_have = [] if name in others else [each for each in documents if each not in managed]
        occurrences = tuple(_occurrences(managed, others_have, contexts, side))
        if occurrences and not (is_doubtful and name not in others and direction is Direction.UPGRADE):
            values = [turned_on_by(left, each.file) for each in managed]
            found = _judged(direction, name, occurrences, is_doubtful=is_doubtful)
            yield replace(found, turned_on_by=values[0] if all(values) else "")


def deleted_names(entered: CrdSet, left: CrdSet) -> frozenset[str]:
    """The CRDs that Helm deletes, with their objects, when one release is left and the other is entered."""
    if not (entered.installers.has_chart and left.installers.has_chart):
        return frozenset()
    others, unread = entered.named(), unread_files(entered)
    return frozenset(
        name
        for name, documents in left.named().items()
        if not managed_by_helm(entered, others.get(name, ()))
        and not may_be_in(documents, unread)
        and any(kept is False for _, kept in _judged_documents(left, documents))
    )


def _judged_documents(crds: CrdSet, documents: Sequence[CrdDocument]) -> Iterator[tuple[CrdDocument, bool | None]]:
    """The documents that Helm manages, each with whether it keeps the CRD."""
    managed = managed_by_helm(crds, documents)
    read = crds.read(dict.fromkeys(each.file for each in managed))
    metadata = {
        (file, inside): metadata_in(template) for file, data in read for inside, template in templates_of(file, data)
    }
    return ((each, keeps(each.crd, metadata.get((each.file, each.inside), {}))) for each in managed)


def managed_by_helm(crds: CrdSet, documents: Sequence[CrdDocument]) -> list[CrdDocument]:
    """The documents that Helm manages: in ``templates/``, and neither from a cluster nor inside of other objects."""
    return [
        each
        for each in documents
        if crds.installers.of(each.file, each.inside) is Installer.HELM_TEMPLATES
        and not each.pointer
        and "uid" not in each.crd.raw["metadata"]
    ]


def _occurrences(
    managed: Sequence[CrdDocument], others: Sequence[CrdDocument], contexts: Sequence[Context], side: Side
) -> Iterator[Lone]:
    """Where Helm has the CRD, with the manifests of ``others``: with their installers, the CRD leaves as well."""
    for context in contexts:
        inside, beside = (
            [Chosen(each, each.crd.versions[0]) for each in documents if each.is_in(context)]
            for documents in (managed, others)
        )
        if inside:
            chosen = replace(inside[0], copies=(*inside[1:], *beside))
            yield Lone(str(context), context.is_terminal, side, chosen)


def _judged(direction: Direction, name: str, occurrences: tuple[Lone, ...], *, is_doubtful: bool) -> Judged:
    effects = tuple(Effect.REQUEST_FAILED if each is direction else Effect.NONE for each in Direction)
    old, new = (None, name) if direction is Direction.ROLLBACK else (name, None)
    return Judged(
        change=Change(DELETED, (), old, new, old_at=_NAME, new_at=_NAME, of_crd=True),
        direction=direction,
        effect=Effect.REQUEST_FAILED,
        witness=Witness(None, reason=_NEEDS_NO_OBJECT),
        labels=(),
        windows=(effects[0], effects[1]),
        crd=name,
        kind=occurrences[0].chosen.document.crd.kind,
        version="",
        occurrences=occurrences,
        doubtful=is_doubtful,
    )

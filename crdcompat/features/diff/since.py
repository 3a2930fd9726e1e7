"""The oldest release whose feature set Default has the field, version or CRD that a change concerns.

Users of these releases have the values or fields that the change breaks. Only releases that are read anyway count.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from crdcompat.compare.result import Judged
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved, resolve
from crdcompat.crds.variants import contexts_of
from crdcompat.features.diff.compared import Compared
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.schema.paths import node_at


def with_since(compared: Compared, options: DiffOptions) -> Compared:
    """The results in Default, each with the oldest of the releases that has its field, version or CRD there."""
    releases = [_Release(each, compared.new) for each in options.released or ()]
    if options.released is None:
        releases = [_Release(compared.old, compared.new)]
    if not releases:
        return compared
    judged = (replace(item, since=_since(item, releases)) if item.is_in_default else item for item in compared.judged)
    return replace(compared, judged=tuple(judged))


def _since(item: Judged, releases: Sequence[_Release]) -> str:
    """``since 4.15``; "or before" follows the oldest release that was read."""
    first = next((at for at, release in enumerate(releases) if release.has(item)), None)
    if first is None:
        return f"not yet in {releases[-1].name}"
    return f"since {releases[first].name}{'' if first else ' or before'}"


class _Release:
    """The CRDs of the feature set Default in a release; each is resolved at its first use."""

    def __init__(self, crds: CrdSet, new: CrdSet) -> None:
        self.name = crds.title
        self._documents = crds.named()
        self._contexts = [each for each in contexts_of(crds.documents, new.documents) if each.feature_set == "Default"]
        self._resolved: dict[str, Resolved | None] = {}

    def has(self, item: Judged) -> bool:
        """Whether the release has the field of a change, or the version or CRD that a change of the CRD concerns."""
        if item.crd not in self._resolved:
            self._resolved[item.crd] = self._resolve(item.crd)
        resolved = self._resolved[item.crd]
        if resolved is None or not item.version:
            return resolved is not None
        chosen = resolved.versions.get(item.version)
        return chosen is not None and (item.change.of_crd or node_at(chosen.version.node, item.change.path) is not None)

    def _resolve(self, name: str) -> Resolved | None:
        documents = self._documents.get(name, ())
        included = tuple(each for each in documents if any(map(each.is_in, self._contexts)))
        return resolve(included) if included else None

"""Reads the CRDs of a check: both sides of the change, and the rollback targets, each with its name and its servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from msgspec.structs import replace

from crdcompat.config.applied import reader_for, with_labels, with_servers
from crdcompat.config.configuration import Config
from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.evidence import read_evidence
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.shipping import NOWHERE
from crdcompat.crds.unseen import UNSEEN
from crdcompat.errors import skipped_order
from crdcompat.features.check.changed import Changed
from crdcompat.features.check.check_options import CheckOptions, compares_all
from crdcompat.features.check.unchanged import FileSearch, unneeded_files
from crdcompat.prefilter.collect import PendingFacts
from crdcompat.prefilter.facts import FileFacts
from crdcompat.sources.naming import is_commit_id
from crdcompat.sources.refs import name_at
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.steps import stepping

#: The names of the sides of a change in sentences.
_CHANGE, _BEFORE = "this change", "the API before this change"


class SetReader:
    """Reads the files of both sides and of the ``targets`` that matter, as the configuration says.

    ``release`` is the release that the change is made for. Files that have ``facts`` are read only if a comparison
    needs them; ``needed`` are names of CRDs that are compared in any case.
    Raises SourceError, as the methods do.
    """

    def __init__(
        self,
        files: Changed,
        targets: Sequence[Tree],
        release: str,
        facts: PendingFacts,
        config: Config,
        options: CheckOptions,
        needed: Iterable[str] = (),
    ) -> None:
        self._trees, self._targets, self._release, self._config = files.trees, targets, release, config
        self._repo = options.repo
        self._reader = reader_for(config, files.texts)
        search = FileSearch(self._reader, config.wants, config.texts("variant_annotations"))
        self._facts = facts = cache(facts)
        named = (*options.filters.crds, *needed)
        unneeded = unneeded_files(files.trees, targets, search, facts, named, all_crds=compares_all(options))
        self._unneeded, self._unneeded_of_targets = unneeded[0], unneeded[1:]

    def sides(self) -> tuple[CrdSet, CrdSet]:
        """The CRDs before the change, and those with it."""
        before, after = (
            self._read(tree, side, self._unneeded, self._release)
            for tree, side in zip(self._trees, (Side.OLD, Side.NEW), strict=True)
        )
        before, after = (
            self._for_clusters(crds, tree) for crds, tree in zip((before, after), self._trees, strict=True)
        )
        return replace(before, name=self._release, label=_BEFORE), replace(after, name=_CHANGE)

    def _for_clusters(self, crds: CrdSet, tree: Tree) -> CrdSet:
        """The CRDs, with what makes or changes CRDs for tests and designs alone among the files that do not ship.

        A file counts if the tree says that it ships, and in a tree whose CRDs are all for tests and designs.
        """
        doubtful = {item.file for item in crds.skipped if item.reason in UNSEEN and place_of(item.file) >= Place.NEVER}
        with_crds = (*(each.file for each in crds.documents), *filter(crds.unread.get, crds.unread))
        if not doubtful or all(place_of(file) >= Place.NEVER for file in with_crds):
            return crds
        evidence = read_evidence(tree, self._reader.kustomized, doubtful)
        left = {file for file in doubtful if not any(each.covers(file) for each in evidence)}
        skipped = (
            replace(item, reason=NOWHERE) if item.file in left and item.reason in UNSEEN else item
            for item in crds.skipped
        )
        return replace(crds, skipped=tuple(sorted(skipped, key=skipped_order)))

    def targets(self, names: Sequence[str]) -> list[CrdSet]:
        """The CRDs of the rollback targets. ``names``: as the user or the configuration names them."""
        branches = [self._branch_at(name) for name in names]
        read = [
            self._read(tree, Side.OLD, unneeded, branch)
            for tree, unneeded, branch in stepping(
                zip(self._targets, self._unneeded_of_targets, branches, strict=True),
                "Rollback targets read",
                len(branches),
            )
        ]
        return [
            crds if branch == name else replace(crds, label=branch)
            for name, branch, crds in zip(names, branches, with_labels(read), strict=True)
        ]

    def _read(self, tree: Tree, side: Side, unneeded: frozenset[str], release: str) -> CrdSet:
        left = {path: (*facts.plurals, *[""][: facts.may_hold_any]) for path, facts in self._left_out(tree, unneeded)}
        return with_servers(self._reader.read(tree, side, self._config.wants, left), self._config, release)

    def may_hold(self, crd: str) -> bool:
        """Whether a file that was not read may contain a CRD of this name, on a side or in a target."""
        plurals = {crd.partition(".")[0]}
        read = ((tree, self._unneeded) for tree in self._trees)
        both = (*read, *zip(self._targets, self._unneeded_of_targets, strict=True))
        return any(facts.may_hold(plurals) for tree, unneeded in both for _, facts in self._left_out(tree, unneeded))

    def _left_out(self, tree: Tree, unneeded: frozenset[str]) -> Iterator[tuple[str, FileFacts]]:
        """The files that were not read, with their facts."""
        known = self._facts() if unneeded else {}
        return (
            (entry.path, known[entry.oid]) for entry in tree.entries() if entry.path in unneeded and entry.oid in known
        )

    def _branch_at(self, target: str) -> str:
        """The branch or tag at the commit ``target``; ``target`` itself if it is no commit, or has no branch or tag."""
        return (is_commit_id(target) and name_at(Repository(self._repo), target)) or target

"""What became of each changed file that may hold a CRD: judged, without a CRD, or not judged, and the reason.

Most changes touch no such file. Names decide that, then bytes; kustomizations and charts are read only where the change
touches a part of one.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.crds.unseen import KUSTOMIZE, METADATA, UNSEEN
from crdcompat.models.check import ChangedFile, Outcome
from crdcompat.prefilter.builders import Builders, find_builders
from crdcompat.prefilter.candidates import (
    excluded,
    has_crd_line,
    is_candidate,
    is_description,
    is_gate_list,
    is_go_of_crds,
    is_marked,
    is_other_text,
    is_packed_chart,
    may_matter,
    unchanged,
)
from crdcompat.sources.naming import KUSTOMIZATIONS, is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crdcompat.config.configuration import Config
    from crdcompat.crds.reader import CrdReader, CrdSet
    from crdcompat.sources.tree import Tree

_NEW_TEXT = "a text with a CRD that only this change has: no manifest by its name"
_LEFT_OUT = "left out by `include` or `exclude`"
#: Reasons to skip a file that holds no CRD; what a kustomization does beside its list is looked at by itself.
_WITHOUT_CRD = ("no CRD", "empty", KUSTOMIZE, METADATA)


def _is_notes(path: str) -> bool:
    """Whether helm shows the file, a template, to the user instead of the server."""
    return path.endswith("NOTES.txt") and "/templates/" in f"/{path}"


class Changed(Struct, frozen=True, dict=True):
    """The changed files that may matter: ``contents`` of each on both sides, by path.

    ``config`` says which of them count. The others have no contents: a partial clone may lack these. ``failed``: a file
    could not be read. ``builders`` are the kustomizations and charts of both sides.
    """

    trees: tuple[Tree, Tree]
    contents: dict[str, tuple[bytes, ...]]
    config: Config
    failed: bool
    builders: Builders

    @cached_property
    def texts(self) -> frozenset[str]:
        """The files that hold a CRD without the name of a manifest, and count.

        A text that the change adds does not count, unless another one goes or a chart reads it: a CRD that moves into
        a text has left the manifests.
        """
        found = self._texts
        olds, news = ({entry.path for entry in tree.entries()} for tree in self.trees)
        has_gone = any(path not in news for path in found)
        return frozenset(path for path in found if has_gone or path in olds or self.builders.loads(path))

    @cached_property
    def _texts(self) -> frozenset[str]:
        return frozenset(
            path
            for path, sides in self.contents.items()
            if (is_other_text(path) or self.builders.loads(path))
            and not (excluded(path) or _is_notes(path))
            and any(map(has_crd_line, sides))
        )

    @cached_property
    def reader(self) -> CrdReader:
        """A reader that also reads ``texts``."""
        from crdcompat.config.applied import reader_for

        return reader_for(self.config, self.texts)

    def touches(self) -> bool:
        """Whether a file that differs may hold a CRD that counts. Raises SourceError."""
        if self.failed:
            return True
        return any(self._may_hold(path) for path in self.contents if self.config.wants(path))

    @cached_property
    def _marked(self) -> frozenset[str]:
        return frozenset(path for path, sides in self.contents.items() if any(map(is_marked, sides)))

    def _may_hold(self, path: str) -> bool:
        if is_candidate(path):
            return is_gate_list(path) or path in self._marked
        if path in self.texts or is_packed_chart(path):
            return True
        # In a folder that is passed over, or without the name of a manifest: what lists it decides.
        return path in self._marked and any(self.reader.passes_over(tree, path) is None for tree in self.trees)

    @cached_property
    def unbuilt(self) -> tuple[tuple[str, str], ...]:
        """The files that change what only a build can tell, each with the reason. Raises SourceError."""
        return (*self._of_kustomizations(), *self._of_charts(), *self._of_go())

    def _of_kustomizations(self) -> Iterator[tuple[str, str]]:
        if not any(map(self.builders.names, self.contents)):
            return
        from crdcompat.crds.kustomizations import DELISTED, delisted, unbuilt

        before, after = (self.reader.kustomized(tree) for tree in self.trees)
        yield from unbuilt(before, after, self._is_unconverted)
        gone = delisted(before, after)
        entries = [entry for entry in self.trees[1].entries() if entry.path in gone]
        yield from ((entry.path, DELISTED) for entry, data in self.trees[1].read(entries) if has_crd_line(data))

    @cached_property
    def _is_unconverted(self) -> Callable[[str], bool]:
        """Whether no server converts objects of a CRD, before and after the change; it raises SourceError."""
        from crdcompat.features.check.unconverted import is_unconverted

        return cache(lambda crd: is_unconverted(crd, self.trees, self.reader))

    @cached_property
    def without_effect(self) -> frozenset[str]:
        """The patches that only give a conversion to CRDs whose objects no server converts. Raises SourceError."""
        from crdcompat.crds.patches import converted_crd

        named = {path: {converted_crd({}, data) for data in self.contents[path]} for path in self._marked}
        return frozenset(path for path, crds in named.items() if all(crd and self._is_unconverted(crd) for crd in crds))

    def _of_charts(self) -> Iterator[tuple[str, str]]:
        paths = [
            path for path in self.contents if is_description(path) and path.rpartition("/")[2] not in KUSTOMIZATIONS
        ]
        if not paths:
            return
        from crdcompat.crds.charts import charts_around, read_chart, unrendered

        for folder in sorted(set.intersection(*(charts_around(paths, tree) for tree in self.trees))):
            yield from unrendered(folder, *(read_chart(tree, folder) for tree in self.trees))

    def _of_go(self) -> Iterator[tuple[str, str]]:
        """The Go files with other CRDs than before, as YAML in strings, if no manifest that ships has one of them."""
        paths = [path for path, sides in self.contents.items() if is_go_of_crds(path) and any(map(has_crd_line, sides))]
        if not paths:
            return
        from crdcompat.crds.aside import Place, place_of
        from crdcompat.crds.go_strings import IN_GO, crds_in_go

        changed: dict[str, set[str]] = {}
        for path in (path for path in paths if place_of(path) < Place.NEVER):
            first, last = (crds_in_go(data).items() for data in (*self.contents[path], b"")[:2])
            changed[path] = {name for name, _ in first ^ last}
        read = (self.reader.read(tree, wanted=self.config.wants) for tree in self.trees if any(changed.values()))
        shipped = {each.crd.name for crds in read for each in crds.documents if place_of(each.file) < Place.NEVER}
        yield from ((path, IN_GO) for path, names in sorted(changed.items()) if names - shipped)

    def unseen(self) -> tuple[str, ...]:
        """The reasons why an effect of the change may not be seen. Raises SourceError."""
        return tuple(f"{path}: {why}" for path, why in dict.fromkeys(self.unbuilt) if self.config.wants(path))

    def files(self, *sides: CrdSet, superseded: Iterable[tuple[str, str, str]] = ()) -> tuple[ChangedFile, ...]:
        """What became of each file. ``sides`` are the CRDs before and after the change, if they were read.

        ``superseded`` are copies of CRDs, each with the CRD and the file that is used. Raises SourceError.
        """
        return tuple(self._files(sides, superseded))

    def _files(self, sides_read: Sequence[CrdSet], superseded: Iterable[tuple[str, str, str]]) -> Iterator[ChangedFile]:
        problems: dict[str, str] = {}
        copies = [each for each in superseded if len(self.contents.get(each[1], ())) == 1]
        copies += (each for crds in sides_read for each in crds.set_aside)
        skipped = {file: f"a further copy of {crd}: {by} is used" for crd, file, by in copies}
        with_crds = {document.file for crds in sides_read for document in crds.documents}
        for crds in sides_read:
            problems.update((item.file, item.message) for item in reversed(crds.problems))
            skipped.update((it.file, it.reason) for it in crds.skipped if it.file not in with_crds)
            skipped.update((it.file, it.reason) for it in crds.skipped if it.reason in UNSEEN)
        unbuilt = dict(reversed(self.unbuilt))
        for path in sorted({*self.contents, *unbuilt}):
            counts = path in unbuilt or path in problems or path in self._texts
            if not (counts or is_manifest_name(path) or self._may_hold(path)):
                continue
            yield self._file(path, unbuilt.get(path) or problems.get(path, ""), skipped.get(path, ""))

    def _file(self, path: str, unjudged: str, skipped: str) -> ChangedFile:
        if not self.config.wants(path):
            return ChangedFile(path, Outcome.NOT_JUDGED, _LEFT_OUT)
        if unjudged:
            return ChangedFile(path, Outcome.NOT_JUDGED, unjudged)
        if is_gate_list(path):
            return ChangedFile(path, Outcome.JUDGED)
        if not self._may_hold(path):
            reason = excluded(path) or (_NEW_TEXT if path in self._texts else "")
            return ChangedFile(path, Outcome.NOT_JUDGED if reason and path in self._marked else Outcome.NO_CRD, reason)
        if skipped in _WITHOUT_CRD or path in self.without_effect:
            return ChangedFile(path, Outcome.NO_CRD)
        return ChangedFile(path, Outcome.NOT_JUDGED if skipped else Outcome.JUDGED, skipped)


def look_at(trees: tuple[Tree, Tree], config: Config) -> Changed:
    """Read the files of both sides that differ, may matter, and are not left out. Raises SourceError."""
    same = unchanged(trees)
    failed = False
    differing = {entry.path for tree in trees for entry in tree.entries() if entry.path not in same}
    builders = find_builders(trees, [path for path in differing if not is_manifest_name(path)])
    contents: dict[str, tuple[bytes, ...]] = {
        path: () for path in differing if may_matter(path) or builders.may_use(path)
    }
    for tree in trees:
        entries = [entry for entry in tree.entries() if entry.path in contents and config.wants(entry.path)]
        found = {entry.path: data for entry, data in tree.read(entries)}
        failed = failed or bool(tree.problems)
        for path, data in found.items():
            contents[path] = (*contents[path], data)
    return Changed(trees, contents, config, failed, builders)

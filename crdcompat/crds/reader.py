"""Read all CRDs of one source (docs/sources.md#what-is-read), and record each skipped file with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from types import MappingProxyType

import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.again import left_of_files
from crdcompat.crds.evidence import Evidence, read_evidence
from crdcompat.crds.file import CrdFile, read_file
from crdcompat.crds.gates import NO_GATES, FeatureGates, read_gates
from crdcompat.crds.installers import Installers, installers_in
from crdcompat.crds.kept_files import keep_file, kept_file
from crdcompat.crds.kustomizations import Kustomized, is_kustomization_name, read_kustomizations
from crdcompat.crds.manifest_positions import ManifestPositions
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.shipped import NOT_SHIPPED, OPENSHIFT_PAYLOAD, is_shipped, lists, split_shipped
from crdcompat.crds.unseen import KUSTOMIZE, unseen
from crdcompat.errors import Problem, Skipped, skipped_order
from crdcompat.golang.sources import NO_GO, GoSources
from crdcompat.prefilter.candidates import excluded, is_packed_chart
from crdcompat.sources.naming import is_manifest_name
from crdcompat.sources.tree import Entry, Tree
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.installers import Installer


class CrdSet(Struct, frozen=True, eq=False):
    """The CRDs of one source.

    ``problems`` are documents that could not be read, ``remarks`` oddities of documents that were (duplicate keys).
    ``read`` gives the bytes of files by path, ``positions`` the lines of values in them, ``go`` the Go types. ``runs``
    is the server version that the configuration gives the source (``1.31``, ``openshift-4.18``) or a live cluster has
    (``v1.31.4``), else "".
    ``supported`` are the versions of all servers on which it has to work, oldest first, if the configuration says so.
    ``unread`` are the files that were left out because no comparison needs them, each with the plurals of the CRDs that
    it may contain ("" for any). ``shipped`` are the
    names of the CRDs in the payload of the source, as far as it was read; None for a source without a payload.
    ``set_aside`` are copies that do not decide, each with its CRD and the file that does; ``relisted`` are files that
    count instead of others since a change of what the source says of them; ``evidence`` reads that, and raises
    SourceError.
    ``label`` is its name in sentences, if that differs. ``gates`` are the feature gates that are on.
    ``is_one_file``: the user named one file, ``is_partial``: manifests were left out by path. ``may_be_openshift``: a
    name such as release-4.13 gives the server. ``installers`` put the CRDs into a cluster; ``deleted`` are the names of
    those that they have deleted, with all objects, when a cluster has come to this release.
    """

    name: str
    commit: str | None
    notes: tuple[str, ...]
    documents: tuple[CrdDocument, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...]
    read: Callable[[Iterable[str]], Iterator[tuple[str, bytes]]]
    positions: ManifestPositions
    go: GoSources = NO_GO
    runs: str = ""
    supported: tuple[str, ...] = ()
    unread: Mapping[str, Sequence[str]] = MappingProxyType({})
    shipped: frozenset[str] | None = None
    label: str = ""
    gates: FeatureGates = NO_GATES
    is_one_file: bool = False
    is_partial: bool = False
    may_be_openshift: bool = True
    installers: Installers = Installers()
    deleted: frozenset[str] = frozenset()
    set_aside: tuple[tuple[str, str, str], ...] = ()
    relisted: frozenset[str] = frozenset()
    evidence: Callable[[], tuple[Evidence, ...]] = tuple

    @property
    def has_more(self) -> bool:
        """Whether a file that was left out may contain a CRD."""
        return any(self.unread.values())

    @property
    def title(self) -> str:
        """The name for people."""
        return self.label or self.name

    def named(self) -> dict[str, list[CrdDocument]]:
        """The documents by CRD name, in name order, each list in path order."""
        found: dict[str, list[CrdDocument]] = {}
        for document in self.documents:
            found.setdefault(document.crd.name, []).append(document)
        return dict(sorted(found.items()))

    @property
    def names(self) -> frozenset[str]:
        """The name of each CRD."""
        return frozenset(document.crd.name for document in self.documents)

    def kinds(self, names: Collection[str] = ()) -> frozenset[tuple[str, str]]:
        """The (group, kind) of each CRD, or of those with these names."""
        crds = (document.crd for document in self.documents)
        return frozenset((crd.group, crd.kind) for crd in crds if not names or crd.name in names)


class CrdReader:
    """Reads CRDs from trees; one reader parses equal blobs once over all its trees.

    CRDs that differ only in their metadata share their ``CrdVersion`` objects: caches by identity then compare and
    compile each of them once. ``keep_annotations`` reduces a CRD's annotations to those that distinguish variants;
    None keeps all. ``ships`` are the globs of the payload (``split_shipped``); ``may_be_openshift``: see ``CrdSet``.
    ``include`` are globs that can name a folder which is passed over otherwise, ``also`` paths of more files to read.
    ``installer``: the user names who installs the CRDs.
    """

    def __init__(
        self,
        keep_annotations: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None,
        ships: Sequence[str] = OPENSHIFT_PAYLOAD,
        *,
        may_be_openshift: bool = True,
        include: Sequence[str] = (),
        also: Container[str] = (),
        installer: Installer | None = None,
    ) -> None:
        self._installer = installer
        self._include, self._also = tuple(include), also
        self._kustomized: dict[int, tuple[Tree, Kustomized]] = {}
        self._may_be_openshift = may_be_openshift
        self.ships = tuple(ships)
        self._by_bytes: dict[tuple[str | None, bool], CrdFile] = {}
        self._by_spec: dict[bytes, Crd] = {}
        self._keep_annotations = keep_annotations

    def kustomized(self, tree: Tree) -> Kustomized:
        """What the kustomizations of a tree say. Raises SourceError."""
        if id(tree) not in self._kustomized:
            self._kustomized[id(tree)] = tree, read_kustomizations(tree, tree.entries())
        return self._kustomized[id(tree)][1]

    def passes_over(self, tree: Tree, path: str) -> str | None:
        """Why a file of a tree is not read: "" if it is no manifest, None if it is read. Raises SourceError.

        A file counts whatever its name and folder if a kustomization lists it, and a manifest in any folder that a glob
        of the configuration names.
        """
        reason, is_manifest = excluded(path), is_manifest_name(path)
        if not reason and (is_manifest or is_packed_chart(path)):
            return None
        if path in self._also or (is_manifest and lists(path, (*self._include, *self.ships))):
            return None
        if not is_kustomization_name(path) and path in self.kustomized(tree).listed:
            return None
        return reason if is_manifest else ""

    def documents(self, tree: Tree, entries: Iterable[Entry]) -> Iterator[CrdDocument]:
        """The CRDs of these files of ``tree``. Raises SourceError."""
        for file in self._files(tree, list(entries)):
            yield from file.documents

    def read(
        self,
        tree: Tree,
        side: Side = Side.ANY,
        wanted: Callable[[str], bool] | None = None,
        unneeded: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> CrdSet:
        """Read all CRDs of ``tree``; ``side`` is set on problems. Raises SourceError.

        ``wanted`` may leave out files by path. The files at the paths ``unneeded`` are not read: ``CrdSet.unread``.
        """
        skipped: list[Skipped] = []
        candidates: list[Entry] = []
        unread: dict[str, Sequence[str]] = {}
        has_payload = is_partial = False
        entries = list(tree.entries())
        for entry in entries:
            has_payload = has_payload or is_shipped(entry.path, self.ships)
            if entry.path in unneeded:
                unread[entry.path] = unneeded[entry.path]
            elif (reason := None if tree.is_one_file else self.passes_over(tree, entry.path)) is not None:
                if reason:
                    skipped.append(Skipped(entry.path, reason, side))
            elif wanted is None or wanted(entry.path):
                candidates.append(entry)
            else:
                is_partial = True
        documents: list[CrdDocument] = []
        problems: list[Problem] = []
        remarks: list[Problem] = []
        for file in self._files(tree, candidates):
            documents.extend(file.documents)
            skipped.extend(replace(item, side=side) for item in file.skipped)
            problems.extend(Problem(item.file, item.line, item.message, side) for item in file.problems)
            remarks.extend(Problem(item.file, item.line, item.message, side) for item in file.remarks)
        problems.extend(Problem(item.file, item.line, item.message, side) for item in getattr(tree, "problems", ()))
        by_path = {entry.path: entry for entry in entries}
        # Cached files come first; the tree's order counts, because the first document of a CRD defines its scope.
        order = {path: index for index, path in enumerate(by_path)}
        documents.sort(key=lambda document: order[document.file])
        gates = read_gates(tree, entries)
        problems.extend(Problem(item.file, item.line, item.message, side) for item in gates.problems)
        documents = [replace(document, gated=gates.of(document.crd.annotations)) for document in documents]

        def read(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
            return (
                (entry.path, data) for entry, data in tree.read([by_path[path] for path in paths if path in by_path])
            )

        positions, installers = ManifestPositions(read), installers_in(by_path, self._installer)
        documents, replaced = left_of_files(documents, installers, remarks, positions)
        remarks.extend(replace(item, side=side) for item in replaced)
        kept, overridden, shipped = split_shipped(documents, self.ships)
        used, broken = {document.file for document in kept}, {problem.file for problem in problems}
        skipped.extend(Skipped(file, NOT_SHIPPED, side) for file in {item.file for item in overridden} - used)

        wanted_entries = [entry for entry in entries if wanted is None or wanted(entry.path)]

        def may_patch(file: str, reason: str) -> bool:
            made = self.kustomized(tree)
            return file in made.changing if reason == KUSTOMIZE else made.may_apply(file)

        return CrdSet(
            name=tree.name,
            commit=tree.commit,
            notes=(*tree.notes, *unseen(tree, wanted_entries, skipped, may_patch, has_crds=bool(documents or unread))),
            documents=kept,
            skipped=tuple(sorted(skipped, key=skipped_order)),
            problems=tuple(problems),
            remarks=tuple(remarks),
            read=read,
            positions=positions,
            go=GoSources(lambda: (entry.path for entry in wanted_entries), read),
            runs=getattr(tree, "server_version", ""),
            unread=unread,
            shipped=shipped if has_payload else None,
            gates=gates,
            is_one_file=tree.is_one_file,
            is_partial=is_partial,
            may_be_openshift=self._may_be_openshift,
            installers=installers,
            evidence=cache(lambda: read_evidence(tree, self.kustomized, used | broken | {*filter(unread.get, unread)})),
        )

    def _files(self, tree: Tree, candidates: list[Entry]) -> Iterator[CrdFile]:
        # A damaged tree can have two entries at one path.
        unread: list[Entry] = []
        for entry in candidates:
            if (known := self._known(entry)) is not None:
                yield known
            else:
                unread.append(entry)
        for entry, data in tree.read(unread):
            if (known := self._read_before(entry)) is not None:
                yield known
                continue
            read = read_file(data, entry)
            keep_file(entry, data, read)
            yield self._shared_as(entry, read)

    def _known(self, entry: Entry) -> CrdFile | None:
        """What this run or an earlier one has read of the same bytes."""
        if (known := self._read_before(entry)) is not None:
            return known
        kept = kept_file(entry)
        return self._shared_as(entry, kept) if kept is not None else None

    def _read_before(self, entry: Entry) -> CrdFile | None:
        known = self._by_bytes.get(_bytes_of(entry))
        return known.at(entry) if known is not None else None

    def _shared_as(self, entry: Entry, file: CrdFile) -> CrdFile:
        """A file that was read, with versions shared with those before; equal bytes get the same."""
        shared = self._with_shared_versions(file)
        if entry.oid is not None:
            self._by_bytes[_bytes_of(entry)] = shared
        return shared

    def _with_shared_versions(self, file: CrdFile) -> CrdFile:
        documents = tuple(replace(item, crd=self._shared(item.crd)) for item in file.documents)
        return replace(file, documents=documents)

    def _shared(self, crd: Crd) -> Crd:
        """The CRD with the versions of an earlier one that has the same apiVersion, name and spec."""
        annotations = crd.annotations if self._keep_annotations is None else self._keep_annotations(crd.annotations)
        text = orjson.dumps([crd.raw["apiVersion"], crd.name, crd.raw["spec"]])
        known = self._by_spec.setdefault(blake2b(text, digest_size=20).digest(), crd)
        return replace(
            crd, annotations=annotations, versions=known.versions, raw={**crd.raw, "spec": known.raw["spec"]}
        )


def _bytes_of(entry: Entry) -> tuple[str | None, bool]:
    """The key of what a file says: its bytes, and whether its name makes it a kustomization."""
    return entry.oid, is_kustomization_name(entry.path)

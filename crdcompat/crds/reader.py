"""All CRDs of one source: which documents are CRDs, which files were left out, and why (design, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import field, replace
from hashlib import blake2b

import orjson

from crdcompat.collector import gc_paused
from crdcompat.crds.model import Crd, NotACrdError, is_crd, is_fragment, read_crd
from crdcompat.errors import Problem, Skipped, skipped_order
from crdcompat.prefilter.candidates import excluded, has_extension, is_marked
from crdcompat.records import dataclass
from crdcompat.sources.encoding import legible
from crdcompat.sources.tree import Entry, Tree
from crdcompat.vocabulary import Side
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.positions import Positions


@dataclass(frozen=True, eq=False)
class CrdDocument:
    """A CRD and where it stands: file, position of the document in the stream, pointer inside a List.

    ``positions`` are those of its values, where reading it told.
    """

    crd: Crd
    file: str
    index: int
    pointer: tuple[str | int, ...] = ()
    oid: str | None = None
    positions: Positions | None = None


@dataclass(frozen=True, eq=False)
class CrdSet:
    """The CRDs of one source.

    ``remarks`` are oddities of documents that were read all the same (duplicate keys). ``read`` gives the
    bytes of some of its files, to find line numbers in. ``runs`` is what the configuration says runs beside it
    (``1.31``, ``openshift-4.18``); without it the name tells. ``unread`` counts the files that were left out because
    every side has them alike.
    """

    name: str
    commit: str | None
    notes: tuple[str, ...]
    documents: tuple[CrdDocument, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...]
    read: Callable[[Iterable[str]], Iterator[tuple[str, bytes]]] = field(repr=False)
    runs: str = ""
    unread: int = 0

    def named(self) -> dict[str, list[CrdDocument]]:
        """The documents by CRD name, in name order, each list in path order."""
        found: dict[str, list[CrdDocument]] = {}
        for document in self.documents:
            found.setdefault(document.crd.name, []).append(document)
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class _File:
    """What one file gave."""

    documents: tuple[CrdDocument, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()

    def at(self, entry: Entry) -> _File:
        """The same bytes at another path."""
        return _File(
            tuple(replace(item, file=entry.path, oid=entry.oid) for item in self.documents),
            tuple(Skipped(entry.path, item.reason) for item in self.skipped),
            tuple(Problem(entry.path, item.line, item.message) for item in self.problems),
            tuple(Problem(entry.path, item.line, item.message) for item in self.remarks),
        )


class CrdReader:
    """Reads CRDs out of trees; equal blobs are parsed once over all trees read by one reader.

    CRDs that differ in their metadata alone share their versions, so that whoever compares or compiles those by
    identity does it once. ``decisive`` leaves of a CRD's annotations those by which variants differ; None
    leaves all.
    """

    def __init__(self, decisive: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None) -> None:
        self._by_oid: dict[str, _File] = {}
        self._by_spec: dict[bytes, Crd] = {}
        self._decisive = decisive

    def documents(self, tree: Tree, entries: Iterable[Entry]) -> Iterator[CrdDocument]:
        """The CRDs of these files of ``tree``. Raises SourceError."""
        with gc_paused():
            for file in self._files(tree, list(entries)):
                yield from file.documents

    def read(
        self,
        tree: Tree,
        side: Side = Side.ANY,
        wanted: Callable[[str], bool] | None = None,
        unread: Container[str] = (),
    ) -> CrdSet:
        """Read all CRDs of ``tree``; ``wanted`` may leave files out by path. Raises SourceError.

        The files at the paths ``unread``, of which each would be read, are left out and counted.
        """
        skipped: list[Skipped] = []
        candidates: list[Entry] = []
        left_out = 0
        for entry in tree.entries():
            if entry.path in unread:
                left_out += 1
            elif not tree.is_one_file and not has_extension(entry.path):
                continue
            elif reason := excluded(entry.path):
                skipped.append(Skipped(entry.path, reason, side))
            elif wanted is None or wanted(entry.path):
                candidates.append(entry)
        documents: list[CrdDocument] = []
        problems: list[Problem] = []
        remarks: list[Problem] = []
        with gc_paused():
            for file in self._files(tree, candidates):
                documents.extend(file.documents)
                skipped.extend(Skipped(item.file, item.reason, side) for item in file.skipped)
                problems.extend(Problem(item.file, item.line, item.message, side) for item in file.problems)
                remarks.extend(Problem(item.file, item.line, item.message, side) for item in file.remarks)
        problems.extend(Problem(item.file, item.line, item.message, side) for item in getattr(tree, "problems", ()))
        by_path = {entry.path: entry for entry in candidates}
        # In the tree's order, whatever was read before: the first document of a CRD speaks for it.
        places = {path: place for place, path in enumerate(by_path)}
        documents.sort(key=lambda document: places[document.file])
        return CrdSet(
            name=tree.name,
            commit=tree.commit,
            notes=tree.notes,
            documents=tuple(documents),
            skipped=tuple(sorted(skipped, key=skipped_order)),
            problems=tuple(problems),
            remarks=tuple(remarks),
            read=lambda paths: ((entry.path, data) for entry, data in tree.read([by_path[path] for path in paths])),
            unread=left_out,
        )

    def _files(self, tree: Tree, candidates: list[Entry]) -> Iterator[_File]:
        known = {entry.path for entry in candidates if entry.oid is not None and entry.oid in self._by_oid}
        for entry in candidates:
            if entry.path in known and entry.oid is not None:
                yield self._by_oid[entry.oid].at(entry)
        for entry, data in tree.read([entry for entry in candidates if entry.path not in known]):
            if entry.oid is not None and entry.oid in self._by_oid:
                yield self._by_oid[entry.oid].at(entry)
                continue
            result = self._told(_read_file(data, entry))
            if entry.oid is not None:
                self._by_oid[entry.oid] = result
            yield result

    def _told(self, file: _File) -> _File:
        documents = tuple(replace(item, crd=self._shared(item.crd)) for item in file.documents)
        return replace(file, documents=documents)

    def _shared(self, crd: Crd) -> Crd:
        annotations = crd.annotations if self._decisive is None else self._decisive(crd.annotations)
        text = orjson.dumps([crd.raw["apiVersion"], crd.name, crd.raw["spec"]])
        known = self._by_spec.setdefault(blake2b(text, digest_size=20).digest(), crd)
        return replace(
            crd, annotations=annotations, versions=known.versions, raw={**crd.raw, "spec": known.raw["spec"]}
        )


def _read_file(data: bytes, entry: Entry) -> _File:
    if not is_marked(data):
        return _File(skipped=(Skipped(entry.path, "empty" if not data.strip() else "no CRD"),))
    documents: list[CrdDocument] = []
    skipped: list[Skipped] = []
    problems: list[Problem] = []
    remarks: list[Problem] = []
    others = 0
    for item in read_documents(data, entry.path):
        if isinstance(item, Problem):
            problems.append(item)
        elif not is_crd(item.data):
            others += 1
        elif is_fragment(item.data):
            skipped.append(Skipped(entry.path, "fragment of a CRD: no names or versions"))
        else:
            remarks.extend(Problem(entry.path, remark.line, remark.message) for remark in item.remarks)
            try:
                crd = read_crd(item.data)
            except NotACrdError as error:
                problems.append(Problem(entry.path, _line(data, item, error), f"not a readable CRD: {error}"))
            else:
                place = entry.path, item.index, item.pointer, entry.oid
                documents.append(CrdDocument(crd, *place, item.positions))
    if problems and b"{{" in legible(data) and not documents:
        return _File(skipped=(Skipped(entry.path, "template that is not YAML"),))
    if others and not documents and not skipped and not problems:
        skipped.append(Skipped(entry.path, "no CRD"))
    return _File(tuple(documents), tuple(skipped), tuple(problems), tuple(remarks))


def _line(data: bytes, item: Document, error: NotACrdError) -> int:
    from crdcompat.yaml.locate import locate

    pointer = (*item.pointer, *error.pointer)
    found = locate(data, [(item.index, pointer)]).get((item.index, pointer))
    return found[0] if found else item.line

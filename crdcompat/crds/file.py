"""Read the CRDs of one file: a manifest, a template of one, or a packed chart; what was skipped has a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.held import held_crds
from crdcompat.crds.makers import content_of
from crdcompat.crds.model import CrdDocument, NotACrdError, is_crd, is_fragment, read_crd
from crdcompat.crds.templates import (
    TEMPLATE,
    conditions_remark,
    of_template,
    without_conditions,
    without_controls,
    without_other_kinds,
    without_references,
)
from crdcompat.crds.unseen import FRAGMENT, KUSTOMIZE, METADATA, fragment_reason, is_kustomization
from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.prefilter.candidates import (
    has_crd_line,
    is_lfs_pointer,
    is_marked,
    is_packed_chart,
    template_names_crds,
)
from crdcompat.sources.encoding import legible
from crdcompat.sources.helm import unpacked_charts
from crdcompat.sources.naming import is_manifest_name, is_template_name
from crdcompat.sources.tree import Entry
from crdcompat.sources.unpack import is_gzip
from crdcompat.yaml.documents import Document, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: The reason to skip a file that was read and has no CRD.
NO_CRD = "no CRD"
_IN_TEXT = "a text with a CRD that only helm renders: compare the chart with --helm"
_LFS = "a pointer of Git LFS, not the file: run `git lfs pull` and compare folders (path:DIR), or exclude the file"


class CrdFile(Struct, frozen=True):
    """The result of reading one file."""

    documents: tuple[CrdDocument, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()

    def at(self, entry: Entry) -> CrdFile:
        """The same bytes at another path."""
        return CrdFile(
            tuple(replace(item, file=entry.path, oid=entry.oid) for item in self.documents),
            tuple(replace(item, file=entry.path) for item in self.skipped),
            tuple(Problem(entry.path, item.line, item.message) for item in self.problems),
            tuple(Problem(entry.path, item.line, item.message) for item in self.remarks),
        )


def _read_packed(data: bytes, entry: Entry) -> CrdFile:
    """The CRDs in a packed chart, as documents of the one file."""
    problems: list[Problem] = []
    found: list[tuple[str, CrdFile]] = []
    try:
        for path, content in _unpacked(data, entry.path, problems):
            if is_manifest_name(path):
                found.append((path, read_file(content, Entry(entry.path))))
            elif has_crd_line(content) and not path.endswith("NOTES.txt"):
                problems.append(Problem(entry.path, None, f"{path}: {_IN_TEXT}"))
    except SourceError as error:
        problems.append(Problem(entry.path, None, str(error)))
    documents = [replace(document, inside=path) for path, file in found for document in file.documents]
    skipped = [item for _, file in found for item in file.skipped if item.reason != NO_CRD]
    problems += (Problem(entry.path, None, f"{path}: {each.message}") for path, file in found for each in file.problems)
    if not (documents or skipped or problems):
        skipped.append(Skipped(entry.path, NO_CRD))
    numbered = (replace(document, index=index, positions=None) for index, document in enumerate(documents))
    return CrdFile(tuple(numbered), tuple(skipped), tuple(replace(each, file=entry.path) for each in problems))


def _unpacked(data: bytes, path: str, problems: list[Problem]) -> Iterable[tuple[str, bytes]]:
    return unpacked_charts({f"charts/{path.rpartition('/')[2]}": data}, problems)


def templates_of(path: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The templates in a packed chart, by their paths inside; of another file itself, by "". Raises SourceError."""
    if is_packed_chart(path) and is_gzip(data):
        yield from _unpacked(data, path, [])
    else:
        yield "", data


def read_file(data: bytes, entry: Entry) -> CrdFile:
    """Read the CRDs of a file. Raises nothing."""
    if is_packed_chart(entry.path) and is_gzip(data):
        return _read_packed(data, entry)
    if not is_marked(data):
        return CrdFile(skipped=(Skipped(entry.path, "empty" if not data.strip() else NO_CRD),))
    if is_lfs_pointer(data):
        return CrdFile(problems=(Problem(entry.path, 1, _LFS),))
    found, has_others = _documents(data, entry)
    if found.problems and b"{{" in legible(data):
        found = _of_template(found, data, entry)
    if found.problems and is_template_name(entry.path):
        found = replace(found, skipped=(*found.skipped, Skipped(entry.path, TEMPLATE)), problems=())
    if has_others and not (found.documents or found.skipped or found.problems):
        return replace(found, skipped=(Skipped(entry.path, NO_CRD),))
    return found


def _documents(data: bytes, entry: Entry) -> tuple[CrdFile, bool]:
    """What plain YAML shows of a file, and whether the file has objects that are no CRDs."""
    documents: list[CrdDocument] = []
    skipped: list[Skipped] = []
    problems: list[Problem] = []
    remarks: list[Problem] = []
    has_others = False
    for item in _items(data, entry.path):
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Skipped):
            skipped.append(item)
        elif is_kustomization(item.data, entry.path):
            skipped.append(Skipped(entry.path, KUSTOMIZE))
        elif not is_crd(item.data):
            has_others = True
        elif is_fragment(item.data):
            skipped.append(Skipped(entry.path, fragment_reason(item.data), content=content_of(item.data)))
        else:
            remarks.extend(Problem(entry.path, remark.line, remark.message) for remark in item.remarks)
            try:
                crd = read_crd(item.data)
            except NotACrdError as error:
                problems.append(Problem(entry.path, _line(data, item, error), f"not a readable CRD: {error}"))
            else:
                place = entry.path, item.index, item.pointer, entry.oid
                documents.append(CrdDocument(crd, *place, item.positions))
    return CrdFile(tuple(documents), tuple(skipped), tuple(problems), tuple(remarks)), has_others


def _of_template(found: CrdFile, data: bytes, entry: Entry) -> CrdFile:
    """The content of a template. ``found`` is what plain YAML shows of it."""
    if found.documents:
        problems, may_name_crds = without_other_kinds(legible(data), found.problems)
        more = (Skipped(entry.path, TEMPLATE),) if may_name_crds else ()
        found = replace(found, skipped=(*found.skipped, *more), problems=tuple(problems))
        if not problems:
            return found
    elif not has_crd_line(rest := without_references(data)):
        return CrdFile(skipped=(Skipped(entry.path, TEMPLATE if template_names_crds(rest) else NO_CRD),))
    plain = read_file(text, entry) if (text := without_conditions(data)) != data else CrdFile()
    if plain.documents and not plain.problems:
        return replace(plain, remarks=(conditions_remark(entry.path, data), *plain.remarks))
    if found.documents:
        return found
    piece = read_file(text, entry) if (text := without_controls(data)) != data else CrdFile()
    reasons = {item.reason for item in piece.skipped}
    # Without its controls it is the head of a CRD: the template adds the versions when a chart is built.
    if reasons in ({FRAGMENT}, {METADATA}) and not (piece.documents or piece.problems):
        return CrdFile(skipped=(Skipped(entry.path, TEMPLATE),))
    return replace(found, problems=tuple(map(of_template, found.problems)))


def _items(data: bytes, file: str) -> Iterator[Document | Problem | Skipped]:
    """The documents of a file, each with the CRDs inside of it behind it."""
    for item in read_documents(data, file):
        yield item
        if isinstance(item, Document) and not is_crd(item.data) and not is_kustomization(item.data, file):
            yield from held_crds(item)


def _line(data: bytes, item: Document, error: NotACrdError) -> int:
    from crdcompat.yaml.locate import locate

    pointer = (*item.pointer, *error.pointer)
    found = locate(data, [(item.index, pointer)]).get((item.index, pointer))
    return found[0] if found else item.line

"""What was decided on one side about the copies of its CRDs, and the line of a report that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from crdcompat.crds.evidence import Kind
from crdcompat.crds.model import CrdDocument, is_crd
from crdcompat.yaml.documents import Document, read_documents


class Chosen(Struct):
    """What was decided on one side: the documents that count, and those set aside, each with one that counts instead.

    ``sources`` are the folders of CRDs with copies that were set aside, each with what says that it ships. ``decided``
    are the CRDs on which evidence of a kind decides.
    """

    kept: set[int]
    aside: list[tuple[CrdDocument, CrdDocument | None]]
    sources: Counter[tuple[str, str]]
    agree: int = 0
    relisted: frozenset[str] = frozenset()
    decided: dict[str, Kind] = field(default_factory=dict)


def names_in(file: str, data: bytes) -> frozenset[str]:
    """The names of the CRDs of a file, also of those that cannot be read; none if it holds anything else."""
    names = [_name(item) for item in read_documents(data, file)]
    return frozenset(filter(None, names)) if all(names) else frozenset()


def _name(item: object) -> str:
    """The name of a document that is a CRD; "" if it is none, or has none."""
    metadata = item.data.get("metadata") if isinstance(item, Document) and is_crd(item.data) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def notes_of(chosen: Sequence[Chosen]) -> Iterator[str]:
    """One line: what was taken, by what, and how many copies elsewhere agree and differ."""
    differ = sum(by is not None for each in chosen for _, by in each.aside)
    nowhere = {document.crd.name for each in chosen for document, by in each.aside if by is None}
    if differ:
        sources = chosen[-1].sources or chosen[0].sources
        (folder, source), _ = sources.most_common(1)[0]
        more = len({folder for folder, _ in sources}) - 1
        also = f" and {more} more folder{'' if more == 1 else 's'}" if more else ""
        agree = sum(each.agree for each in chosen)
        differs = "differs" if differ == 1 else "differ"
        copies = f"{agree} {'copy elsewhere agrees' if agree == 1 else 'copies elsewhere agree'}, {differ} {differs}"
        if not agree:
            copies = f"{differ} {'copy' if differ == 1 else 'copies'} elsewhere {differs}"
        yield f"CRDs of {folder or 'the top folder'}{also}, {source}; {copies}: -v"
    if nowhere:
        are = "CRD is" if len(nowhere) == 1 else "CRDs are"
        yield f"{len(nowhere)} {are} only in folders of tests, designs, examples or scripts, and not compared: -v"

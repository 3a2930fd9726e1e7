"""The CRDs and objects that ``judge`` reads from files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from crdcompat.apiserver.crd_validation.refusal import refusal
from crdcompat.apiserver.sending import Duplicate
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.model import Crd, NotACrdError, is_crd, read_crd
from crdcompat.errors import Problem, SourceError, UsageError
from crdcompat.schema.paths import field_of
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.loader import Remark


def served(file: str, resource: Resource) -> Resource:
    """The resource, if a server would serve it at all. Raises SourceError with the rule that its CRD breaks."""
    refused = refusal(resource.crd, resource.server)
    if refused:
        raise SourceError(f"{file}: the API server refuses this CRD: {refused}")
    return resource


def _documents(file: str) -> list[Document]:
    from crdcompat.sources.files import PathTree

    tree = PathTree(file, file)
    found: list[Document] = []
    for entry, data in tree.read(tree.entries()):
        for item in read_documents(data, entry.path):
            if isinstance(item, Problem):
                raise SourceError(f"{file}:{item.line or 1}: {item.message}")
            found.append(item)
    if tree.problems:
        raise SourceError(f"{file}: {tree.problems[0].message}")
    return found


def one_object(file: str) -> dict[str, Any]:
    """The only object in ``file``. Raises SourceError, or UsageError if there is another number of them."""
    found = one_document(file).data
    if not isinstance(found, dict):
        raise UsageError(f"{file}: not an object")
    return found


def one_document(file: str) -> Document:
    """The only document in ``file``. Raises SourceError, or UsageError if there is another number of them."""
    documents = _documents(file)
    if len(documents) != 1:
        raise UsageError(f"{file}: judge takes one object, there are {len(documents)}")
    return documents[0]


def body(file: str) -> tuple[Any, tuple[Duplicate, ...]]:
    """The only value in ``file``, an object or the list of a JSON patch, and what its text has twice."""
    found = one_document(file)
    text = b"" if found.remarks or file == "-" else Path(file).read_bytes()
    return found.data, in_yaml(found.remarks) or in_json(text)


def crd_for(file: str, obj: dict[str, Any]) -> Crd:
    """The CRD in ``file``. If the file has several CRDs, the CRD of the object's kind."""
    try:
        crds = [read_crd(document.data) for document in _documents(file) if is_crd(document.data)]
    except NotACrdError as error:
        raise SourceError(f"{file}: not a readable CRD: {error}") from None
    chosen = [crd for crd in crds if crd.kind == obj.get("kind")] or crds
    if not chosen:
        raise UsageError(f"{file}: there is no CustomResourceDefinition in it")
    return chosen[0]


def only_crd(file: str, like: dict[str, Any] | None = None) -> dict[str, Any]:
    """The CRD in ``file``. If the file has several CRDs, the CRD with the name of ``like``.

    The server judges the CRD, so nothing in it is checked here.
    """
    found = [document.data for document in _documents(file) if is_crd(document.data)]
    if like is not None and len(found) > 1:
        found = [crd for crd in found if name_of(crd) == name_of(like)]
    if len(found) != 1:
        raise UsageError(f"{file}: judge takes one CustomResourceDefinition, there are {len(found)}")
    chosen: dict[str, Any] = found[0]
    return chosen


def name_of(crd: dict[str, Any]) -> Any:
    """The name in the metadata of a CRD, whatever it is."""
    metadata = crd.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None


# The fields that the text of a body has twice, which its value no longer shows.


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with all its members."""


def in_json(text: bytes, member: str = "") -> tuple[Duplicate, ...]:
    """The duplicates in a JSON text, or in the value of one ``member`` of it; none if it is not JSON."""
    try:
        found = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return ()
    if member:
        found = next((value for name, value in reversed(found) if name == member), None)
    return tuple(Duplicate(str(path[-1]), field_of(path)) for path in _twice(found, ()))


def _twice(value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, _Pairs):
        known: set[str] = set()
        for name, member in value:
            if name in known:
                yield (*at, name)
            known.add(name)
            yield from _twice(member, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _twice(item, (*at, index))


def in_yaml(remarks: Iterable[Remark]) -> tuple[Duplicate, ...]:
    """The duplicates in a YAML document, by the remarks of its reader."""
    return tuple(Duplicate(each.key, line=each.line) for each in sorted(remarks) if each.key)

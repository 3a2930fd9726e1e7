"""Copies that agree with those that ship, and stay beside them; and CRDs that have no other place.

A project that moves its CRDs out of a folder of samples shipped all of that folder, also the CRD that it drops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from crdcompat.crds.copies import content_of
from crdcompat.crds.model import V1, CrdDocument
from crdcompat.crds.reader import CrdSet

_Documents = Sequence[CrdDocument]


def agreeing(documents: Sequence[_Documents], found: Sequence[_Documents]) -> Iterator[list[CrdDocument]]:
    """Of each side, the documents elsewhere that agree with one that is ``found``.

    One that differs at the same path of the other side has no counterpart there.
    """
    same = [
        [each for each in of_side if not any(each is one for one in some) and agrees(each, some)]
        for of_side, some in zip(documents, found, strict=True)
    ]
    files = [
        {each.file for each in of_side} - {each.file for each in (*some, *alike)}
        for of_side, some, alike in zip(documents, found, same, strict=True)
    ]
    for alike, differing in zip(same, reversed(files), strict=True):
        yield [each for each in alike if each.file not in differing]


def agrees(document: CrdDocument, others: Iterable[CrdDocument]) -> bool:
    """Whether one of the others is of the same API version and has the same versions, apart from texts."""
    content = b""
    for other in others:
        if document.crd.raw["apiVersion"] != other.crd.raw["apiVersion"]:
            continue
        if document.crd.versions is other.crd.versions:
            return True
        content = content or content_of((document,))
        if content == content_of((other,)):
            return True
    return False


def of_newer_api(documents: Sequence[_Documents]) -> list[_Documents]:
    """Of each side, the documents of ``apiextensions.k8s.io/v1``, if both have one; else all of them.

    No server since Kubernetes 1.22 takes the copies for older ones, of v1beta1.
    """
    newer = [[each for each in of_side if each.crd.raw["apiVersion"] == V1] for of_side in documents]
    return list(newer if all(newer) else documents)


def hold_copies(one: str, other: str, sides: Iterable[CrdSet]) -> bool:
    """Whether all CRDs that two folders both have agree on each side, as where one has links to the other's files."""
    for documents in chain.from_iterable(crds.named().values() for crds in sides):
        mine, theirs = ([each for each in documents if _folder(each) == folder] for folder in (one, other))
        if mine and not all(agrees(each, mine) for each in theirs):
            return False
    return True


def neighbours(mine: Mapping[str, _Documents], theirs: Collection[str], kept: Collection[int]) -> Iterator[CrdDocument]:
    """The documents of CRDs that one side alone has, from folders that are the only place of a CRD of both sides.

    ``mine`` are the documents of the side by CRD, ``theirs`` the names on the other side; ``kept`` are the ids of the
    documents that ship.
    """
    shipping = {name: documents for name, documents in mine.items() if any(id(each) in kept for each in documents)}
    homes = [{_folder(each) for each in documents} for name, documents in shipping.items() if name in theirs]
    only = {folder for folders in homes if len(folders) == 1 for folder in folders}
    for name in mine.keys() - shipping.keys() - set(theirs):
        yield from (each for each in mine[name] if _folder(each) in only)


def _folder(document: CrdDocument) -> str:
    return document.file.rpartition("/")[0]

"""Copies of a CRD beside those that ship: which of them agree with one of these, and stay with their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crdcompat.crds.copies import content_of
from crdcompat.crds.model import CrdDocument

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
    """Whether one of the others has the same versions, apart from texts."""
    content = b""
    for other in others:
        if document.crd.versions is other.crd.versions:
            return True
        content = content or content_of((document,))
        if content == content_of((other,)):
            return True
    return False

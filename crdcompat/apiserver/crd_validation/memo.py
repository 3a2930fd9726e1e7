"""Answers about CRDs that are found once for equal CRDs of several releases."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from crdcompat.crds.model import Crd

_T = TypeVar("_T")
#: Answers that are kept; they are small, and hold no CRD.
_MAX_KNOWN = 1 << 14


class Memo(Generic[_T]):
    """Answers by the digest of a CRD, and by what was asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, Hashable], _T] = {}

    def of(self, crd: Crd, asked: Hashable, make: Callable[[], _T]) -> _T:
        """What ``make`` gives, made once for equal CRDs; each time for one without a digest."""
        if crd.digest is None:
            return make()
        key = crd.digest, asked
        if key not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = make()
        return self._known[key]

"""Resources that remember their verdicts: a witness is judged for each context, direction and pair of releases."""

from __future__ import annotations

from typing import Any

import orjson

from crdcompat.apiserver.conversion import Converting
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.verdict import Verdict

#: Witnesses are small; what is larger comes from a giant enum or default, and is judged anew.
_LONGEST = 4096


class Remembered(Resource):
    """A version of a CRD that gives the same verdict to the same object without judging it twice."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._verdicts: dict[tuple[bytes, bool], Verdict] = {}

    def create(self, raw: dict[str, Any], *, keep_status: bool = False) -> Verdict:
        """As Resource.create. Objects are the same if they are so in the order of their members, too."""
        try:
            key = (orjson.dumps(raw), keep_status)
        except TypeError:  # integers of more than 64 bits, for example
            return super().create(raw, keep_status=keep_status)
        known = self._verdicts.get(key)
        if known is None:
            known = super().create(raw, keep_status=keep_status)
            if len(key[0]) <= _LONGEST:
                self._verdicts[key] = known
        return known


class RememberedConverting(Remembered, Converting):
    """The same for objects that are written as another version."""

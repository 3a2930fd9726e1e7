"""What a scale subresource demands of the fields it names, where the other side demands nothing (row 85).

With the endpoint comes a check at every write, which no ratcheting softens: replicas are whole numbers from 0 to
2147483647, the label selector is a text (reference section 9).
"""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.scale import scale_pointer
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.objects import Object, whole_object

#: What the fields may not hold, the likeliest first.
_WRONG: dict[str, tuple[Any, ...]] = {
    "specReplicasPath": (-1, 2**31, 0.5, "a"),
    "statusReplicasPath": (-1, 2**31, 0.5, "a"),
    "labelSelectorPath": (1, True, {}, []),
}


def rejected_by_scale(writer: Resource, reader: Resource) -> tuple[Object, str] | None:
    """The smallest object that ``writer`` takes and the scale check of ``reader`` refuses, with its sentence."""
    mine, theirs = (dict(side.version.scale or {}) for side in (writer, reader))
    for key, values in _WRONG.items():
        path = theirs.get(key)
        if not isinstance(path, str) or not path or mine.get(key) == path:
            continue
        steps = scale_pointer(path)
        for value in values:
            made = whole_object(writer, steps, value)
            stored = writer.create(made, keep_status=True) if made is not None else None
            if made is None or stored is None or stored.object is None:
                continue
            for error in reader.create(stored.object, keep_status=True).errors:
                if error.keyword is Keyword.SCALE and error.pointer == steps:
                    return made, error.text()
    return None

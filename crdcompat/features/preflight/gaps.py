"""What a preflight could not judge: the kinds and files, and the reasons. Memory grows with the distinct reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crdcompat.errors import Problem, Skipped
from crdcompat.models.preflight import Missing, StepKind
from crdcompat.recordings.recorded_objects import NOT_WHOLE, ObjectItem

#: Pairs of a kind or file and a reason that a report lists.
MAX_GAPS = 500
_OTHERS = "other objects", "they could not be judged either", StepKind.TRY


class Gaps:
    """Counts objects that were not read or not judged."""

    def __init__(self) -> None:
        self._found = Counter[tuple[str, str, StepKind]]()

    def add(self, what: str, reason: str, step: StepKind = StepKind.TRY) -> None:
        """Count one more object of the kind or file ``what``; a ``step`` of this kind would close the gap."""
        key = what, reason, step
        self._found[key if key in self._found or len(self._found) < MAX_GAPS else _OTHERS] += 1

    def add_unread(self, item: ObjectItem) -> None:
        """Count the item if an object was not read; any other item is no gap."""
        if isinstance(item, Problem):
            self.add(item.file, item.message, StepKind.MEND)
        elif isinstance(item, Skipped) and item.reason in NOT_WHOLE:
            self.add(item.file, item.reason, StepKind.RECORD_ANEW)

    def missing(self) -> Iterator[Missing]:
        """The kinds or files with objects that were not judged, the reasons, and how often each occurred."""
        for (what, reason, step), count in sorted(self._found.items()):
            yield Missing(what, reason if count == 1 else f"{reason} ({count} times)", step=step)

"""The smallest form of an object for which a rollback has the same outcome, found by trial.

Each form is replayed, and the first form with the outcome of the whole object is recorded. So preflight gives the same
answer for the recording as for the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import SERVER_SET, metadata_of
from crdcompat.apiserver.redaction import redacted_error
from crdcompat.features.preflight.rollback import Rollback
from crdcompat.features.preflight.writers import managers_of
from crdcompat.features.record.hide import NameHasher, hidden
from crdcompat.features.record.reduce import reduced, smallest_metadata
from crdcompat.models.losses import general_path
from crdcompat.models.preflight import Step
from crdcompat.recordings.clusters import identifying_places
from crdcompat.recordings.objects import Recorded
from crdcompat.replay.replayed import Replayed
from crdcompat.schema.paths import Object, Pointer
from crdcompat.vocabulary.writes import WriteResult


class Smallest:
    """Makes the smallest forms of objects. ``names`` hashes their names (None: keep them), ``redact`` hides values."""

    def __init__(self, rollback: Rollback, names: NameHasher | None, *, redact: bool) -> None:
        self._rollback, self._names, self._redact = rollback, names, redact

    def of(self, item: Recorded) -> Object | None:
        """The object to record; None if names or values must be hidden and each such form has another outcome."""
        whole = self._replayed(item)
        if isinstance(whole, Replayed):
            wanted = self._outcome(whole)
            for form in self._forms(item, whole):
                made = self._replayed(replace(item, data=form))
                if isinstance(made, Replayed) and self._outcome(made) == wanted:
                    return form
        is_hidden = self._redact or self._names is not None
        return None if is_hidden or not isinstance(item.data, dict) else item.data

    def _replayed(self, item: Recorded) -> Any:
        return self._rollback.replayer.replay_once(item, set())

    def _forms(self, item: Recorded, whole: Replayed) -> Iterator[Object]:
        """The forms to replay, the smallest first."""
        causes = (*whole.last.causes, *whole.last.already)
        places = [cause.pointer for cause in causes if cause.pointer]
        meta = smallest_metadata(item.data, places)
        if self._names is not None:
            meta = self._names.hashed(meta)
        old = whole.schemas[0]
        small = reduced(item.data, (old, whole.schemas[-1]), (*places, *identifying_places(item)))
        for form in ({**small, "metadata": meta}, {**item.data, "metadata": meta}):
            yield from hidden(form, whole.schemas) if self._redact else [form]
        if self._names is None and not self._redact:
            kept = {key: value for key, value in metadata_of(item.data).items() if key not in SERVER_SET}
            yield {**item.data, "metadata": {**kept, **meta}}

    def _outcome(self, replayed: Replayed) -> Any:
        """The parts of a replay that a report of preflight shows."""
        last = replayed.last
        causes = (*last.causes, *last.already)
        rejected = replayed.worst is WriteResult.REJECTED
        return (
            {name: (answer.counts, answer.already) for name, answer in last.writes.items()},
            [self._comparable(replayed, cause.pointer, cause.error) for cause in causes],
            {general_path(path) for path in last.pruned},
            bool(last.not_stored),
            [managers_of(replayed.item.data, cause.pointer) for cause in causes] if rejected else [],
            [self._without_name(step) for step in self._rollback.repairs.steps(replayed)] if rejected else [],
        )

    def _comparable(self, replayed: Replayed, pointer: Pointer, error: Any) -> tuple[Any, ...]:
        shown = redacted_error(error, *replayed.schemas) if self._redact else error
        return pointer, error.type, error.keyword, str(error.demand), repr(shown.value)

    def _without_name(self, step: Step) -> Step:
        patch = step.redacted if self._redact else step.patch
        return replace(step, name="", namespace="", patch=patch, redacted=None)

"""The smallest form of an object for which a rollback has the same outcome, found by trial.

Each form is replayed, and the first form with the outcome of the whole object is recorded. So preflight gives the same
answer for the recording as for the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from msgspec.structs import replace

from crdcompat.apiserver.admission import SERVER_SET, metadata_of
from crdcompat.apiserver.redaction import redacted_error
from crdcompat.features.preflight.plan import Rollback
from crdcompat.features.preflight.writers import managers_of
from crdcompat.features.record.hide import NAMES, NameHasher, hidden, without_applied, without_secrets
from crdcompat.features.record.reduce import reduced, smallest_metadata
from crdcompat.models.preflight import Step
from crdcompat.models.simulation import general_path
from crdcompat.recordings.clusters import identifying_places
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.replay.replayed import Replayed
from crdcompat.schema.paths import Object, Pointer
from crdcompat.vocabulary.writes import WriteResult

#: Forms whose outcomes are kept at a time.
_MAX_KNOWN = 2000


class Smallest:
    """Makes the smallest forms of objects. ``names`` hashes their names (None: keep them), ``redact`` hides values.

    Secrets are masked in each form. ``hides``: so far names, values or secrets were hidden on which a repair depends.
    """

    def __init__(self, rollback: Rollback, names: NameHasher | None, *, redact: bool) -> None:
        self._rollback, self._names, self._redact = rollback, names, redact
        self.hides = redact or names is not None
        self._known: dict[bytes, Any] = {}

    def whole(self, item: Recorded) -> Any:
        """The whole object without secrets."""
        plain = without_secrets(item.data)
        self.hides = self.hides or _is_masked(item, plain)
        return plain

    def of(self, item: Recorded) -> Object | None:
        """The object to record; None if names or values must be hidden and each such form has another outcome."""
        whole, plain = self._replayed(item), without_secrets(item.data)
        if isinstance(whole, Replayed):
            wanted = self._outcome(whole)
            for form in self._forms(plain, item, whole):
                if self._outcome_of(form, item, whole) == wanted:
                    return form
        is_hidden = self._redact or self._names is not None or _is_masked(item, plain)
        return None if is_hidden or not isinstance(plain, dict) else plain

    def _outcome_of(self, form: Object, item: Recorded, whole: Replayed) -> Any:
        """The outcome of a form. Objects with hidden names and values have forms in common, which are replayed once."""
        key = self._key(form, whole)
        if key is None or key not in self._known:
            made = self._replayed(replace(item, data=form))
            found = self._outcome(made) if isinstance(made, Replayed) else None
            if key is None:
                return found
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = found
        return self._known[key]

    def _key(self, form: Object, whole: Replayed) -> bytes | None:
        """A key that is equal for forms with equal outcomes; None if names are not hidden, or if rules judge them."""
        if self._names is None or any("metadata" in repr(node.rules) for node in whole.schemas):
            return None
        meta = {key: value for key, value in form["metadata"].items() if key not in NAMES}
        try:
            return orjson.dumps({**form, "metadata": meta})
        except (orjson.JSONEncodeError, RecursionError):
            return None

    def _replayed(self, item: Recorded) -> Any:
        return self._rollback.replayer.replay_once(item, set())

    def _forms(self, data: Object, item: Recorded, whole: Replayed) -> Iterator[Object]:
        """The forms of ``data``, the item's object without secrets, to replay: the smallest first."""
        causes = (*whole.last.causes, *whole.last.already)
        places = [cause.pointer for cause in causes if cause.pointer]
        meta = smallest_metadata(data, places)
        if self._names is not None:
            meta = self._names.hashed(meta)
        old = whole.schemas[0]
        small = reduced(data, (old, whole.schemas[-1]), (*places, *identifying_places(item)))
        for form in ({**small, "metadata": meta}, {**data, "metadata": meta}):
            yield from hidden(form, whole.schemas) if self._redact else [form]
        if self._names is None and not self._redact:
            kept = {key: value for key, value in metadata_of(data).items() if key not in SERVER_SET}
            yield {**data, "metadata": {**kept, **meta}}

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
        return pointer, error.type, error.keyword, str(error.demand), repr(_shown(pointer, shown.value))

    def _without_name(self, step: Step) -> Step:
        patch = step.redacted if self._redact else step.patch
        plain = without_secrets(patch)
        self.hides = self.hides or plain is not patch
        return replace(step, name="", namespace="", patch=plain, redacted=None)


def _is_masked(item: Recorded, plain: Any) -> bool:
    """Whether ``plain``, the item's object without secrets, has other values than the object."""
    return plain is not item.data and plain != without_applied(item.data)


def _shown(pointer: Pointer, value: Any) -> Any:
    """The value at a place, without secrets."""
    names = [step for step in pointer if isinstance(step, str)]
    return without_secrets(value, names[-1] if names else "")

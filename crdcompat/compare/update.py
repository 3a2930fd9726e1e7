"""Try an update: a stored object that both sides accept, and a write of one other value that only the reader refuses.

Only rules with oldSelf judge updates. They are never ratcheted, and a rule that correlates no old value is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.sample import concrete
from crdcompat.candidates.search import Answer, find, shrink
from crdcompat.compare.claim import Claim, Shown
from crdcompat.compare.objects import whole_object
from crdcompat.compare.site import Trial, WriterReader
from crdcompat.schema.paths import Object, SchemaPath, with_value
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Effect
from crdcompat.vocabulary.writes import Operation


class Update(Struct, frozen=True):
    """An update of a stored object."""

    stored: Object
    write: Object
    operation: Operation

    def judged_by(self, resource: Resource) -> Verdict:
        """The answer of one side."""
        write = resource.update_status if self.operation == Operation.STATUS else resource.update
        return write(self.write, self.stored)

    def shown(self, claim: Claim, pair: WriterReader) -> Shown:
        """The effect that the reader's answer shows, if both sides accept what is stored and the writer the write."""
        held = pair.writer.create(self.stored, keep_status=True)
        if held.accepted is not True or held.object is None or self.judged_by(pair.writer).accepted is not True:
            return Shown(Effect.NONE)
        if claim.shown_by(pair.reader.create(held.object, keep_status=True)).others:
            return Shown(Effect.NONE)
        return claim.shown_by(self.judged_by(pair.reader))


def updates(trial: Trial, claim: Claim, pair: WriterReader, shared: Node) -> Update | None:
    """The update from ``trial.stored`` to ``trial.value`` that shows the claim and nothing else; None if none does.

    ``shared`` is the intersection of both schemas.
    """
    keep = concrete(trial.path)

    def update(stored: Object, operation: Operation) -> Update:
        written = with_value(stored, keep, trial.value) if keep else {**stored, **trial.value}
        return Update(stored, written, operation)

    def answer(obj: Object) -> Answer:
        """Whether both sides accept the object, as far as the claim does not matter."""
        written = pair.writer.create(obj, keep_status=True)
        if written.accepted is not True or written.object is None:
            return Answer(found=False, errors=written.errors)
        others = claim.shown_by(pair.reader.create(written.object, keep_status=True)).others
        return Answer(not others, others)

    start = whole_object(pair.writer, trial.path, trial.stored, shared)
    stored = find(start, answer(start), keep, shared, answer) if start is not None else None
    if stored is None:
        return None
    possible = operations(trial.path, pair)
    operation = next((each for each in possible if update(stored, each).shown(claim, pair).clean), None)
    if operation is None:
        return None
    return update(shrink(stored, keep, lambda obj: update(obj, operation).shown(claim, pair).clean), operation)


def addition(written: Object, claim: Claim, pair: WriterReader, path: SchemaPath) -> Update | None:
    """The update that adds the value at ``path`` of an object whose creation the claim forbids; None if none does.

    The status of a new object is not stored, so rules about status judge their first value in an update. Other rules
    need no update: the server refuses the new object.
    """
    keep = concrete(path)
    if Operation.STATUS not in operations(path, pair):
        return None
    for length in range(len(keep), 0, -1):
        stored = with_value(written, keep[:length], ABSENT)
        found = Update(stored, written, Operation.STATUS)
        if found.shown(claim, pair).clean:
            return found
    return None


def operations(path: SchemaPath, pair: WriterReader) -> Iterator[Operation]:
    """The writes that can change the value at ``path`` on both sides."""
    separate = [side.version.has_status for side in (pair.writer, pair.reader)]
    in_status = bool(path) and path[0] == "status"
    if not in_status or not any(separate):
        yield Operation.MAIN
    if (in_status or not path) and all(separate):
        yield Operation.STATUS

"""Try an update: an object that the writer stored, and a write of one other value that only the reader refuses.

Only rules with oldSelf judge updates. They are never ratcheted, and a rule that correlates no old value is skipped.
The reader never creates what is stored, so it need not accept it as a new object. One that it accepts is plainer, and
is tried first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
        """The effect that the reader's answer shows, if the writer accepts what is stored and the write."""
        held = pair.writer.create(self.stored, keep_status=True)
        if held.accepted is not True or self.judged_by(pair.writer).accepted is not True:
            return Shown(Effect.NONE)
        return claim.shown_by(self.judged_by(pair.reader))


def updates(trial: Trial, claim: Claim, pair: WriterReader, shared: Node) -> Update | None:
    """The update from ``trial.stored`` to ``trial.value`` that shows the claim and nothing else; None if none does.

    ``shared`` is the intersection of both schemas.
    """
    found = _among(trial, claim, pair, shared, lambda obj: _creatable(obj, claim, pair))
    return found or _among(trial, claim, pair, pair.writer.node, lambda obj: _writable(obj, pair))


def _among(
    trial: Trial, claim: Claim, pair: WriterReader, root: Node, answer: Callable[[Object], Answer]
) -> Update | None:
    """The update of a stored object for which ``answer`` is yes; ``root`` is the schema to make it from."""
    keep = concrete(trial.path)

    def update(stored: Object, operation: Operation) -> Update:
        written = with_value(stored, keep, trial.value) if keep else {**stored, **trial.value}
        return Update(stored, written, operation)

    start = whole_object(pair.writer, trial.path, trial.stored, root)
    stored = find(start, answer(start), keep, root, answer) if start is not None else None
    if stored is None:
        return None
    possible = operations(trial.path, pair)
    operation = next((each for each in possible if update(stored, each).shown(claim, pair).clean), None)
    if operation is None:
        return None

    def still(obj: Object) -> bool:
        return answer(obj).found and update(obj, operation).shown(claim, pair).clean

    return update(shrink(stored, keep, still), operation)


def _writable(obj: Object, pair: WriterReader) -> Answer:
    """Whether the writer accepts an object."""
    written = pair.writer.create(obj, keep_status=True)
    return Answer(written.accepted is True, written.errors)


def _creatable(obj: Object, claim: Claim, pair: WriterReader) -> Answer:
    """Whether the reader accepts an object of the writer as a new one, too, as far as the claim does not matter."""
    written = pair.writer.create(obj, keep_status=True)
    if written.accepted is not True or written.object is None:
        return Answer(found=False, errors=written.errors)
    others = claim.shown_by(pair.reader.create(written.object, keep_status=True)).others
    return Answer(not others, others)


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

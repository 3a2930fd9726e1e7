"""Try one value of a change: find a valid object that holds it, and see what the reader does to that object.

The best object is clean: both schemas accept everything in it but the change. Where the search finds none, an object
that the reader rejects for other reasons, too, proves the change as well.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.candidates.local import NodeJudge, shape
from crdcompat.candidates.sample import concrete
from crdcompat.candidates.search import Answer, Judge, find, shrink
from crdcompat.compare.claim import Claim, Shown
from crdcompat.compare.objects import whole_object
from crdcompat.compare.site import Trial, WriterReader
from crdcompat.compare.update import Update, addition, updates
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.paths import Object, node_at, value_or_absent, with_value
from crdcompat.schema.structural import ABSENT, MAX_SIZE, RULES, Node
from crdcompat.vocabulary import Effect

#: Objects that the search for a clean one judges at most, each under both schemas.
_MAX_CLEAN = 80
_TOO_LARGE = f"no example object was built: it would have {MAX_SIZE:,} members or more"


class Ended(Enum):
    """How an attempt ended."""

    PROVED = "proved"
    NO_EFFECT = "no effect"
    NEVER = "never"
    """Every object has the field: none can lack it."""
    NOT_THIS = "not this"
    """No object can have this value."""
    OPEN = "open"


class Reading(Struct, frozen=True):
    """One object as the writer accepts it and the reader reads it.

    ``read`` is None if the writer does not accept the object, or does not keep the value under trial (not ``held``).
    ``update``: the update that is judged, if the effect needs one.
    """

    object: Object
    written: Verdict
    read: Verdict | None = None
    shown: Shown = Shown(Effect.NONE)
    held: bool = False
    update: Update | None = None

    @property
    def answer(self) -> Answer:
        """The judgement of the search for a clean object."""
        return Answer(self.shown.clean, self.written.errors or self.shown.others)


class Attempt(Struct, frozen=True):
    """The result of one trial: the ``reading`` of an object if the effect is proved, the reason ``why`` if open."""

    ended: Ended
    reading: Reading | None = None
    why: str = ""

    @property
    def refuted(self) -> bool:
        """Whether this value is known to have no effect."""
        return self.ended in (Ended.NO_EFFECT, Ended.NEVER, Ended.NOT_THIS)


def attempt(
    trial: Trial,
    claim: Claim,
    pair: WriterReader,
    shared: Node,
    *,
    known: Object | None,
    search: bool,
    made: ValidValues,
) -> Attempt:
    """Try ``trial``: ``shared`` is the intersection of both schemas, ``known`` an object that proved another value.

    ``made`` makes the values of the members that a search adds.

    Without ``search`` only the plainest objects are tried.
    """
    if trial.stored is not ABSENT:
        update = updates(trial, claim, pair, shared)
        return Attempt(Ended.OPEN, why=_NO_UPDATE) if update is None else _updated(update, claim, pair)
    if trial.value is ABSENT and not _has_members(node_at(pair.writer.node, trial.path[:-1])):
        return Attempt(Ended.NEVER)
    if not trial.path and not isinstance(trial.value, dict):
        return Attempt(Ended.NOT_THIS)  # whatever the schema says, a resource is an object
    found = _Trying(trial, claim, pair, shared, made).run(known, search=search)
    if trial.adds and found.reading is not None and (update := addition(found.reading.object, claim, pair, trial.path)):
        return _updated(update, claim, pair)
    return replace(found, why=_TOO_LARGE) if found.why and _is_too_large(trial, pair.writer.node) else found


def _is_too_large(trial: Trial, root: Node) -> bool:
    nodes = (node_at(root, trial.path[:length]) for length in range(len(trial.path) + 1))
    return any(node is not None and node.least_size == MAX_SIZE for node in nodes)


_NO_UPDATE = "no object was found whose update shows it"


def _updated(update: Update, claim: Claim, pair: WriterReader) -> Attempt:
    written, read = (update.judged_by(side) for side in (pair.writer, pair.reader))
    return Attempt(Ended.PROVED, Reading(update.write, written, read, claim.shown_by(read), held=True, update=update))


class _Trying:
    """The steps of one attempt."""

    def __init__(self, trial: Trial, claim: Claim, pair: WriterReader, shared: Node, made: ValidValues) -> None:
        self._trial, self._claim, self._pair, self._shared, self._made = trial, claim, pair, shared, made
        self._keep = concrete(trial.path)

    def run(self, known: Object | None, *, search: bool) -> Attempt:
        swapped = self._swapped(known)
        if swapped is not None:
            return Attempt(Ended.PROVED, swapped)
        agreed = self._start(self._shared)
        plain = self._start(self._pair.writer.node) or agreed
        if plain is None:
            return Attempt(Ended.OPEN, why="no valid object with this field could be made")
        first = self.read(plain)
        ended = self._ended(first)
        if ended is not None:
            return ended
        start = first if agreed is None or agreed == plain else self.read(agreed)
        if start.shown.clean:
            return Attempt(Ended.PROVED, start)
        if search and (clean := self._clean(start)) is not None:
            return Attempt(Ended.PROVED, clean)
        return self._unclean(first, start, search=search)

    def read(self, obj: Object) -> Reading:
        """The verdicts of both sides on an object."""
        written = self._pair.writer.create(obj, keep_status=True)
        if written.accepted is not True or written.object is None:
            return Reading(obj, written)
        if (value_or_absent(written.object, self._keep) is ABSENT) != (self._trial.value is ABSENT):
            return Reading(obj, written)  # decoding changes it: it drops the null, or sets a default for the field
        read = self._pair.reader.create(written.object, keep_status=True)
        return Reading(obj, written, read, self._claim.shown_by(read), held=True)

    def _ended(self, first: Reading) -> Attempt | None:
        """The result if the plainest object already decides it."""
        if first.shown.clean:
            return Attempt(Ended.PROVED, first)
        if first.written.accepted is False:
            ended = _impossible(self._trial, self._pair)
            return Attempt(ended) if ended is not None else None
        if first.written.accepted is None:
            return None
        if not first.held:
            return Attempt(Ended.NOT_THIS)
        return Attempt(Ended.NO_EFFECT) if first.read is not None and first.read.accepted else None

    def _start(self, root: Node) -> Object | None:
        return whole_object(self._pair.writer, self._trial.path, self._trial.value, root)

    def _swapped(self, known: Object | None) -> Reading | None:
        """The last witness with the new value in it, if that is clean, too."""
        if known is None:
            return None
        try:
            reading = self.read(with_value(known, self._keep, self._trial.value))
        except LookupError:
            return None
        return reading if reading.shown.clean else None

    def _clean(self, start: Reading) -> Reading | None:
        inside = self._trial.label is ABSENT
        found = self._found(start.object, start.answer, self._shared, self._seen, limit=_MAX_CLEAN, inside=inside)
        if found is None:
            return None
        effect = self.read(found).shown.effect
        small = shrink(found, self._keep, lambda obj: (seen := self.read(obj).shown).clean and seen.effect == effect)
        return self.read(small)

    def _unclean(self, first: Reading, start: Reading, *, search: bool) -> Attempt:
        """An object that the writer accepts, whatever else the reader rejects in it."""
        reading = min((each for each in (start, first) if each.written.accepted), key=_disputes, default=first)
        if not reading.written.accepted:
            errors = () if reading.written.accepted is None else reading.written.errors
            first_answer = Answer(found=False, errors=errors if search else ())
            found = self._found(reading.object, first_answer, self._pair.writer.node, self._written)
            if found is None:
                return Attempt(Ended.OPEN, why=_why_rejected(reading.written))
            reading = self.read(found)
        if not reading.held or reading.read is None:
            return Attempt(Ended.NOT_THIS)
        if reading.shown.effect == Effect.NONE:
            if self._skips_rule(reading.read):
                return Attempt(Ended.OPEN, why=f"{_SKIPPED}: {reading.read.errors[0].text()}")
            return Attempt(Ended.NO_EFFECT)
        wanted = reading.shown
        small = shrink(reading.object, self._keep, lambda obj: _as_good(self.read(obj).shown, wanted))
        return Attempt(Ended.PROVED, self.read(small))

    def _seen(self, obj: Object) -> Answer:
        return self.read(obj).answer

    def _written(self, obj: Object) -> Answer:
        written = self._pair.writer.create(obj, keep_status=True)
        return Answer(written.accepted is True, written.errors)

    def _found(self, start: Object, first: Answer, root: Node, judge: Judge, **limits: Any) -> Object | None:
        """The object of a search by edits, or of models of the rules that reject ``start``; None without one."""
        found = find(start, first, self._keep, root, judge, made=self._made, **limits)
        if found is not None or not first.errors:
            return found
        from crdcompat.compare.equivalence.satisfying import mended  # it loads the CEL library

        made = mended(start, first.errors, self._keep, root, self._made)
        return next((obj for obj in made if judge(obj).found), None)

    def _skips_rule(self, read: Verdict) -> bool:
        """Whether the reader skips its rules for an object, and by its rules alone rejects the value."""
        if self._trial.value is ABSENT or not any(error.is_marker for error in read.errors):
            return False
        node = node_at(self._pair.reader.node, self._trial.path)
        if node is None or not node.rules:
            return False
        by_rules = Node({**shape(node.raw), RULES: list(node.rules)})
        return NodeJudge(by_rules, self._pair.reader.server).breaks_rules(self._trial.value)


_SKIPPED = "the server skips its rules for every object found, which it rejects for another reason"


def _disputes(reading: Reading) -> tuple[bool, int]:
    """The sort key of objects that the writer accepts: those that show an effect first, then those with few errors."""
    errors = reading.read.errors if reading.read is not None else ()
    return reading.shown.effect == Effect.NONE, len(reading.shown.others) + any(error.is_marker for error in errors)


def _as_good(shown: Shown, wanted: Shown) -> bool:
    """Whether an object shows the same effect, and no error of another cause that the first object does not show."""
    kept = {(error.pointer, error.keyword) for error in wanted.others}
    others = all((error.pointer, error.keyword) in kept for error in shown.others)
    return (shown.effect, shown.masked) == (wanted.effect, wanted.masked) and others


def _has_members(parent: Node | None) -> bool:
    """Whether values of a node may be objects: only these can lack a member."""
    return parent is not None and (not parent.types or parent.type == "object")


def _impossible(trial: Trial, pair: WriterReader) -> Ended | None:
    """NEVER or NOT_THIS if the writer rejects the value in every object; None if not known."""
    root, server = pair.writer.node, pair.writer.server
    if trial.value is ABSENT:
        parent = node_at(root, trial.path[:-1])
        needed = parent is not None and trial.path[-1] in parent.required  # a branch may require it of some objects
        return Ended.NEVER if needed else None
    node, _ = pair.nodes(trial.path)
    fixed = trial.label is not ABSENT or not isinstance(trial.value, (dict, list))  # the search may change other values
    if node is not None and fixed and not NodeJudge(node, server).accepts(trial.value):
        return Ended.NOT_THIS
    parent, member = node_at(root, trial.path[:-1]) if trial.path else None, trial.path[-1:]
    if parent is None or not member or not isinstance(member[0], str):
        return None
    from crdcompat.compare.equivalence.effective import excludes  # it loads the CEL library

    return Ended.NOT_THIS if excludes(parent, member[0], trial.value, server) else None


def _why_rejected(verdict: Verdict) -> str:
    if verdict.unknown and not verdict.errors:
        first = verdict.unknown[0]
        return f"cannot be judged: {first.field}: {first.what}: {first.reason}"
    return f"no valid object found that holds the value: {verdict.errors[0].text()}"

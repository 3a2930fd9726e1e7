"""What became of each object of a recording, kept small: an object that two recordings of a cluster hold is one.

A worker writes it down (`Roll`), and where recordings meet in a cluster (`Held`) what was counted before is taken off.
An object is 8 bytes of a digest of its name there, listed by what became of it: that is the same for most.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from crdcompat.features.fleet.outcome import NAME_BYTES, OUTSIDE, STANDS, Fate, HeldCause, Outcome, Stand, TargetOutcome
from crdcompat.records import dataclass

#: Of one recording; what is above counts in each recording anew.
_MOST_OBJECTS = 100_000
_MOST_FATES = 2_000


@dataclass(frozen=True, slots=True)
class Became:
    """What became of an object in front of one target; ``causes`` and ``reasons`` are names of any sort."""

    verdict: str
    causes: frozenset[Any] = frozenset()
    reasons: frozenset[str] = frozenset()


#: In front of all targets.
_Fate = tuple[Became, ...]


class Roll:
    """Lists the objects of one recording."""

    def __init__(self) -> None:
        self._alike: dict[_Fate, bytearray] = {}
        self._count = 0

    def add(self, name: Sequence[str], fate: _Fate) -> None:
        """List one more object, if there is room."""
        if self._count == _MOST_OBJECTS or (fate not in self._alike and len(self._alike) == _MOST_FATES):
            return
        self._count += 1
        text = "\0".join(name).encode("utf-8", "backslashreplace")
        self._alike.setdefault(fate, bytearray()).extend(blake2b(text, digest_size=NAME_BYTES).digest())

    def fates(self, places: Sequence[tuple[Mapping[Any, int], Mapping[str, int]]]) -> tuple[Fate, ...]:
        """The lists for an outcome; ``places`` are those of causes and reasons in each of its targets."""
        return tuple(
            Fate(b64encode(objects).decode(), tuple(_stand(*each) for each in zip(fate, places, strict=True)))
            for fate, objects in self._alike.items()
        )


def _stand(became: Became, places: tuple[Mapping[Any, int], Mapping[str, int]]) -> Stand:
    causes, reasons = (
        tuple(sorted(where[each] for each in names if each in where))
        for names, where in zip((became.causes, became.reasons), places, strict=True)
    )
    return Stand(became.verdict, causes, reasons)


class Held:
    """The objects of one cluster. ``known`` are the fates of all clusters, each of which is in memory once."""

    def __init__(self, known: dict[_Fate, _Fate]) -> None:
        self._known = known
        self._alike: dict[_Fate, bytes] = {}

    def news(self, outcome: Outcome) -> Outcome:
        """What one more recording adds: its outcome, with counts that are less by what was counted before.

        An object that was there before has the worst verdict of both, and holds what it held in any of them.
        """
        if not self._alike:
            self._alike = dict(self._listed(outcome))
            return outcome
        fates = {each: fate for fate, objects in self._alike.items() for each in _split(objects)}
        met: Counter[tuple[_Fate, _Fate]] = Counter()
        for here, objects in self._listed(outcome):
            both: dict[_Fate, _Fate] = {}
            for each in _split(objects):
                before = fates.get(each)
                if before is None:
                    fates[each] = here
                    continue
                met[before, here] += 1
                if before not in both:
                    both[before] = self._once(_worse(before, here))
                fates[each] = both[before]
        alike: dict[_Fate, bytearray] = {}
        for each, fate in fates.items():
            alike.setdefault(fate, bytearray()).extend(each)
        self._alike = {fate: bytes(objects) for fate, objects in alike.items()}
        return _less(outcome, met)

    def _listed(self, outcome: Outcome) -> Iterator[tuple[_Fate, bytes]]:
        alike: dict[_Fate, bytes] = {}
        for item in outcome.fates:
            fate = tuple(_became(*each) for each in zip(item.stands, outcome.targets, strict=True))
            fate = self._once(fate)
            alike[fate] = alike.get(fate, b"") + b64decode(item.objects)
        return iter(alike.items())

    def _once(self, fate: _Fate) -> _Fate:
        return self._known.setdefault(fate, fate)


def _became(stand: Stand, target: TargetOutcome) -> Became:
    causes = frozenset(target.causes[at].key for at in stand.causes)
    return Became(stand.verdict, causes, frozenset(target.missed[at].reason for at in stand.missed))


def _split(objects: bytes) -> Iterator[bytes]:
    return (objects[at : at + NAME_BYTES] for at in range(0, len(objects), NAME_BYTES))


def _worse(before: _Fate, here: _Fate) -> _Fate:
    return tuple(
        Became(_worst(a, b), a.causes | b.causes, a.reasons | b.reasons) for a, b in zip(before, here, strict=True)
    )


def _worst(a: Became, b: Became) -> str:
    return min(a.verdict, b.verdict, key=STANDS.index)


def _less(outcome: Outcome, met: Counter[tuple[_Fate, _Fate]]) -> Outcome:
    """The outcome where objects met before count by how much worse they are now."""
    outside = Counter({OUTSIDE: outcome.outside})
    if outcome.targets:
        _shift(outside, 0, met)
    return replace(
        outcome,
        objects=outcome.objects - met.total(),
        outside=outside[OUTSIDE],
        targets=tuple(_less_of(target, at, met) for at, target in enumerate(outcome.targets)),
    )


def _less_of(target: TargetOutcome, at: int, met: Counter[tuple[_Fate, _Fate]]) -> TargetOutcome:
    verdicts = Counter(target.verdicts)
    _shift(verdicts, at, met)
    less: Counter[Any] = Counter()
    for (before, here), count in met.items():
        for each in (*(before[at].causes & here[at].causes), *(before[at].reasons & here[at].reasons)):
            less[each] += count
    return TargetOutcome(
        {verdict: verdicts[verdict] for verdict in target.verdicts},
        tuple(_cause_less(cause, less) for cause in target.causes),
        tuple(replace(missed, objects=missed.objects - less[missed.reason]) for missed in target.missed),
    )


def _cause_less(cause: HeldCause, less: Counter[Any]) -> HeldCause:
    return replace(cause, objects=cause.objects - less.pop(cause.key, 0))


def _shift(counted: Counter[Any], at: int, met: Counter[tuple[_Fate, _Fate]]) -> None:
    """Take off what was counted before and here, and count the worst of both."""
    for (before, here), count in met.items():
        counted[_worst(before[at], here[at])] += count
        counted[before[at].verdict] -= count
        counted[here[at].verdict] -= count

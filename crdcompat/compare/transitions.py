"""Candidates for updates that transition rules refuse: pairs of a stored value and the value that replaces it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from msgspec import Struct

from crdcompat.candidates.local import NodeJudge
from crdcompat.compare.site import Trial
from crdcompat.schema.paths import SchemaPath
from crdcompat.schema.structural import ABSENT

#: Values that are combined, and pairs that are tried in whole objects.
MAX_VALUES, _MAX_PAIRS = 24, 6


class Judges(Struct, frozen=True):
    """The writer's node; the reader's changed rules alone; the reader's node without them."""

    writer: NodeJudge
    rules: NodeJudge
    rest: NodeJudge

    def tell_apart(self, new: Any, old: Any = ABSENT) -> bool:
        """Whether the changed rules refuse a value, in an update of ``old`` if that is given, and the writer's do not.

        Both sides' other keywords accept the value.
        """
        return self.rules.breaks_rules(new, old) and not self.writer.breaks_rules(new, old)


def transitions(
    values: Iterable[Any],
    path: SchemaPath,
    judges: Judges,
    fixed: tuple[str, ...],
    modelled: Iterable[tuple[Any, Any]],
    *,
    optional: bool,
) -> tuple[Trial, ...]:
    """Trials of updates at ``path`` that only the reader refuses, unchanged values first.

    ``values`` are those that both sides accept by everything else. ``fixed`` are the members that an update cannot
    change: the keys of a list item, the metadata of a resource. ``modelled`` are pairs of counter-models, tried before
    the pairs of ``values``. ``optional``: the rules judge new values, too.
    """
    known = list(islice(values, MAX_VALUES))
    unchanged = ((value, value) for value in known)
    pairs = ((old, new) for old in known for new in known if old is not new)
    changed = ((old, _with_members_of(old, new, fixed)) for old, new in chain(modelled, pairs))
    made = [Trial(new, path, stored=old) for old, new in islice(_refused(unchanged, judges), 1)]
    if optional:
        made += [Trial(value, path, adds=True) for value in islice(filter(judges.tell_apart, known), _MAX_PAIRS)]
    made += [Trial(new, path, stored=old) for old, new in islice(_refused(changed, judges), _MAX_PAIRS)]
    return tuple(made)


def _refused(pairs: Iterable[tuple[Any, Any]], judges: Judges) -> Iterator[tuple[Any, Any]]:
    return ((old, new) for old, new in pairs if judges.tell_apart(new, old))


def _with_members_of(old: Any, new: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**new, **{name: old[name] for name in names if name in old}}

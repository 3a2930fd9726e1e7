"""Values of spec that a controller copies to status: a change that adds them to both is refused for both.

Users alone decide whether they write a new value of spec. A controller that reports the value of spec in status, or
fills spec from what it reports, does not ask them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from crdcompat.compare.result import Judged
from crdcompat.golang.types import GoMember
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, Effect, Owner
from crdcompat.vocabulary.judging import Named

_ADDED = "enum.value-added"
#: Shorter lists may be equal by chance, such as Managed and Unmanaged.
_MIN_EQUAL = 3


def with_copies(judged: Iterable[Judged], go_member: Callable[[Judged], GoMember | None]) -> Iterator[Judged]:
    """The judged changes; values that enums of spec and status gain are named by the copy.

    The two enums have the same values in NEW, at least three, or the same Go type. ``go_member`` describes the field of
    NEW's Go type.
    """
    found = list(judged)
    of_status: dict[tuple[str, str], list[Judged]] = {}
    for item in found:
        if _grows(item, Owner.STATUS):
            of_status.setdefault((item.crd, item.version), []).append(item)
    for item in found:
        beside = of_status.get((item.crd, item.version), ()) if _grows(item, Owner.SPEC) else ()
        is_copied = any(_is_same(item, other, go_member) for other in beside)
        yield replace(item, named=Named.COPIED) if is_copied else item


def _grows(item: Judged, owner: Owner) -> bool:
    is_refused = item.direction == Direction.ROLLBACK and item.effect == Effect.WRITE_REJECTED
    return is_refused and item.change.kind == _ADDED and item.change.owner == owner


def _is_same(of_spec: Judged, of_status: Judged, go_member: Callable[[Judged], GoMember | None]) -> bool:
    contexts = ({each.context for each in item.occurrences} for item in (of_spec, of_status))
    if not set.intersection(*contexts) or not _keys(of_spec.change.added) <= _keys(of_status.change.added):
        return False
    of_both = _keys(of_spec.change.new)
    if len(of_both) >= _MIN_EQUAL and of_both == _keys(of_status.change.new):
        return True
    spec, status = go_member(of_spec), go_member(of_status)
    return spec is not None and status is not None and bool(spec.type) and spec.type == status.type


def _keys(values: object) -> set[object]:
    return {member_key(each) for each in values} if isinstance(values, (list, tuple)) else set()

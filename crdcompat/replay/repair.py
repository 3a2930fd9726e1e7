"""Finds the single write that repairs a rejected object, or a deadlock (docs/semantics.md#after-a-rollback).

A main write cannot change status, and a status write changes nothing else. If both halves have bad values and the
server validates the whole object on either write, only a change of the CRD helps.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import itemgetter
from typing import Any

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.mentions import mentions
from crdcompat.candidates.sample import sample, values
from crdcompat.models.simulation import Repair
from crdcompat.schema.paths import Object, Pointer, node_at, schema_path_of, value_at, with_value
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary.writes import RepairVerdict


def repair(resource: Resource, obj: Object, bad: list[Pointer], *, at_root: bool = False) -> Repair:
    """Remove the bad values through the endpoint that can: main, /status, or neither.

    ``at_root``: the object breaks a rule on the whole object. The error of such a rule has no path.
    """
    if at_root:
        return _for_root_rules(resource, without(obj, bad, resource), obj)
    if not bad:
        return Repair(RepairVerdict.NOT_NEEDED)
    in_status = [place for place in bad if place[0] == "status"]
    elsewhere = [place for place in bad if place[0] != "status"]
    repaired_status = without(obj, in_status, resource)
    repaired_main = without(obj, elsewhere, resource)
    separate = resource.version.has_status
    by_status = separate and bool(in_status) and _status(resource, repaired_status, obj).accepted
    if separate and in_status and not by_status:
        by_status = _status(resource, _without_status(obj), obj).accepted
        repaired_status = _without_status(obj) if by_status else repaired_status
    patches = {
        RepairVerdict.STATUS: _patch(obj, repaired_status, in_status),
        RepairVerdict.MAIN: _patch(obj, repaired_main, elsewhere),
    }
    if not separate:
        repaired = without(repaired_main, in_status, resource)
        done = _main(resource, repaired, obj).accepted
        return Repair(
            RepairVerdict.MAIN if done else RepairVerdict.DEADLOCK,
            {**patches[RepairVerdict.MAIN], **patches[RepairVerdict.STATUS]},
        )
    by_main = bool(elsewhere) and _main(resource, repaired_main, obj).accepted
    if by_status and (by_main or not elsewhere):
        note = "" if not elsewhere else "then the same for the rest of the object on the main endpoint"
        return _through_status(patches[RepairVerdict.STATUS], note)
    if by_status and _main(resource, repaired_main, _with_status_of(repaired_status, obj)).accepted:
        return _through_status(patches[RepairVerdict.STATUS], "then the rest of the object on the main endpoint")
    if by_main:
        note = "" if not in_status else "then the status on /status"
        return Repair(RepairVerdict.MAIN, patches[RepairVerdict.MAIN], note)
    return Repair(RepairVerdict.DEADLOCK, {**patches[RepairVerdict.MAIN], **patches[RepairVerdict.STATUS]})


_WHOLE_STATUS = {"status": None}


def _through_status(patch: dict[str, Any], then: str = "") -> Repair:
    whole = "the whole status goes: its controller has to write it again" if patch == _WHOLE_STATUS else ""
    return Repair(RepairVerdict.STATUS, patch, "; ".join(filter(None, (whole, then))))


def _without_status(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name != "status"}


def _with_status_of(other: Object, obj: Object) -> Object:
    return {**_without_status(obj), **({"status": other["status"]} if "status" in other else {})}


def _main(resource: Resource, repaired: Object, obj: Object) -> Verdict:
    """The repairing update. ``obj`` is the object as read; decoding the request may default a removed field."""
    return resource.update_decoded(resource.read(repaired), obj)


def _status(resource: Resource, repaired: Object, obj: Object) -> Verdict:
    return resource.update_status_decoded(resource.read(repaired), obj)


def _for_root_rules(resource: Resource, start: Object, obj: Object) -> Repair:
    """Try other values for each member that the root's rules mention, one at a time, through its endpoint."""
    for mention in mentions(resource.node):
        if not mention.member or mention.member[0] in _NOT_WRITTEN:
            continue
        status = mention.member[0] == "status" and resource.version.has_status
        node = node_at(resource.node, mention.member)
        others = list(islice(values(node), _MAX_VALUES_TRIED)) if node is not None else []
        for value in (ABSENT, *mention.values, *others):
            try:
                repaired: Object = with_value(start, mention.member, value)
            except LookupError:
                continue
            verdict = _status(resource, repaired, obj) if status else _main(resource, repaired, obj)
            if verdict.accepted:
                patch = _patch(obj, repaired, [mention.member])
                return _through_status(patch) if status else Repair(RepairVerdict.MAIN, patch)
    if resource.version.has_status and "status" in obj and _status(resource, _without_status(obj), obj).accepted:
        return _through_status(_WHOLE_STATUS)
    return Repair(RepairVerdict.DEADLOCK, note="rules on the whole object are broken")


_NOT_WRITTEN = ("apiVersion", "kind", "metadata")
_MAX_VALUES_TRIED = 6


def without(obj: Object, places: Iterable[Pointer], resource: Resource) -> Object:
    """The object without the bad values: list items and optional members are removed, required members replaced."""
    for place in sorted(places, key=_from_the_end, reverse=True):
        try:
            value_at(obj, place)
        except LookupError:
            obj = _filled(obj, place, resource)
            continue
        if isinstance(place[-1], int):
            items = value_at(obj, place[:-1])
            kept = [item for index, item in enumerate(items) if index != place[-1]]
            obj = with_value(obj, place[:-1], kept)
            continue
        parent = node_at(resource.node, schema_path_of(resource.node, place[:-1]))
        required = parent is not None and place[-1] in parent.required
        obj = _filled(obj, place, resource) if required else with_value(obj, place, ABSENT)
    return obj


def patches_without(obj: Object, places: Iterable[Pointer], resource: Resource) -> tuple[Object, Object]:
    """Merge patches that take out the bad values at ``places``: of the object without its status, and of its status."""
    bad = list(places)
    repaired = without(obj, bad, resource)
    in_status = [place for place in bad if place[0] == "status"]
    return _patch(obj, repaired, (place for place in bad if place not in in_status)), _patch(obj, repaired, in_status)


def place_before(pointer: Pointer, gone: Iterable[Pointer]) -> Pointer:
    """The place that a pointer into the object of ``without(…, gone, …)`` had before items were removed."""
    items = sorted({(place[:-1], place[-1]) for place in gone if isinstance(place[-1], int)}, key=itemgetter(1))
    before: Pointer = ()
    for step in pointer:
        for holder, index in items:
            if isinstance(step, int) and holder == before and index <= step:
                step += 1
        before = (*before, step)
    return before


def _filled(obj: Object, place: Pointer, resource: Resource) -> Object:
    node = node_at(resource.node, schema_path_of(resource.node, place))
    made = sample(node) if node is not None else ABSENT
    try:
        filled: Object = with_value(obj, place, made) if made is not ABSENT else obj
    except LookupError:
        return obj
    return filled


def _from_the_end(place: Pointer) -> tuple[tuple[bool, int | str], ...]:
    """A sort key. In reverse order later list items come first, so that the indices of earlier ones stay valid."""
    return tuple((isinstance(step, int), step) for step in place)


def _patch(before: Object, after: Object, places: Iterable[Pointer]) -> dict[str, Any]:
    """The merge patch from ``before`` to ``after``; it replaces lists as a whole."""
    parts = dict.fromkeys(place[0] for place in places)
    return {str(part): _merge(before.get(str(part)), after.get(str(part))) for part in parts}


def _merge(before: Any, after: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    changed = {name: _merge(before.get(name), value) for name, value in after.items() if before.get(name) != value}
    return {**changed, **{name: None for name in before if name not in after}}

"""Values that satisfy all that a node states, made from models of its formulas.

A search by edits follows one error after the other; a model satisfies all rules of a node at once. The values are
candidates: a model says nothing certain of what is not understood, so a caller asks the servers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import JUNCTORS, Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.local import as_resource
from crdcompat.candidates.valid_lists import Maker
from crdcompat.cel.parse import RefusedError
from crdcompat.compare.equivalence.alike import declared
from crdcompat.compare.equivalence.connectives import every, has, opposite
from crdcompat.compare.equivalence.counterexamples import counterexamples
from crdcompat.compare.equivalence.formula import Formula, Path, TooComplexError
from crdcompat.compare.equivalence.keyword_formulas import keywords_of, member_path
from crdcompat.compare.equivalence.premises import Place, stated
from crdcompat.schema.paths import Object, Pointer, node_at, schema_path_of, value_or_absent, with_value
from crdcompat.schema.structural import ABSENT, Node


def satisfying(node: Node, made: Maker, wanted: Iterable[Formula] = ()) -> Iterator[Any]:
    """Values that satisfy what a node states by itself, and the formulas ``wanted`` about its value (``self``)."""

    def of_node(node: Node, variable: str) -> Iterator[Formula]:
        return stated(node, Place((variable,), ()), View(node), made.server)

    try:
        formulas = [*of_node(node, "self"), *wanted]
        formulas += _of_members(node, formulas, made.server)
        for found in counterexamples(formulas, {"self": node}, made, of_node):
            yield found["self"]
    except (TooComplexError, RecursionError, RefusedError):
        return


def _of_members(node: Node, formulas: Iterable[Formula], server: Server) -> Iterator[Formula]:
    """What the schema states of the members that formulas are about, where they are there."""
    about = {path[:length] for formula in formulas for path in formula.paths() for length in range(2, len(path) + 1)}
    for path in sorted(about):
        below: Node | None = node
        for step in path[1:]:
            name = declared(below, step)
            below = None if below is None or name is None else below.properties[name]
        if below is not None:
            place = Place(path, ())
            yield from map(place.lifted, stated(below, place, View(below), server))


def mended(obj: Object, errors: Iterable[FieldError], keep: Pointer, root: Node, made: Maker) -> Iterator[Object]:
    """Objects like ``obj`` that may satisfy the rules and junctors of a node that reject ``obj``, all at once.

    The value at ``keep`` stays. ``root`` is the schema to take values from.
    """
    for pointer in dict.fromkeys(_places(errors)):
        node = node_at(root, schema_path_of(root, pointer))
        below = keep[len(pointer) :] if keep[: len(pointer)] == pointer else ()
        place = tuple(step for step in takewhile(lambda step: isinstance(step, str), below) if isinstance(step, str))
        if node is None or node.type != "object" or pointer[: len(keep)] == keep:
            continue
        node = as_resource(node, is_root=not pointer)
        kept = value_or_absent(obj, (*pointer, *place)) if place else ABSENT
        wanted = _states(node, ("self",), place, kept, made) if place else ()
        for value in satisfying(node, made, wanted):
            changed = with_value(value, place, kept) if place else value
            yield with_value(obj, pointer, changed if pointer else _named(changed, obj))


def _places(errors: Iterable[FieldError]) -> Iterator[Pointer]:
    """Where the nodes are whose rules or junctors fail."""
    for error in errors:
        if error.keyword is Keyword.RULE:
            yield error.pointer[: error.base]
        elif error.keyword in JUNCTORS:
            yield error.pointer


def _named(value: Object, obj: Object) -> Object:
    """A value for a whole object, with the type of ``obj``, and its metadata but for what the value says of these."""
    metadata = {**obj["metadata"], **value.get("metadata", {})}
    return {**obj, **value, "apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}


def _states(node: Node, path: Path, place: tuple[str, ...], value: Any, made: Maker) -> Iterator[Formula]:
    """The formulas that ``value`` is at a place below ``path``; of members that no formula can say, nothing."""
    if not place:
        yield from _is(node, path, value, made)
        return
    below, at = node.child(place[0]), member_path(path, place[0])
    if below is None:
        return
    if value is ABSENT and len(place) == 1:
        yield opposite(has(at))
        return
    yield has(at)
    yield from _states(below, at, place[1:], value, made)


def _is(node: Node, path: Path, value: Any, made: Maker) -> Iterator[Formula]:
    if isinstance(value, dict):
        for name, member in node.properties.items():
            at = member_path(path, name)
            if name in value:
                yield every(has(at), *_is(member, at, value[name], made))
            elif member.default is ABSENT:
                yield opposite(has(at))
    elif isinstance(value, str | int | float):
        yield keywords_of(Node({"enum": [value]}), path, node, View(node), made.server)

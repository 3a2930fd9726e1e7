"""Server-side apply: typing of the patch and of the object, and their merge (``ownership`` has who owns what).

Source: structured-merge-diff ``typed/validate.go`` and ``merge.go``; kube-openapi ``schemaconv/openapi.go``;
docs/semantics.md#server-side-apply. Enums, bounds and patterns do not count here, and ratcheting does not prevent a
failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from crdcompat.apiserver.gotext import compact_json, go_syntax, plain, quote
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.structural import ABSENT, Node

_OWNERS = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"], "items": {}}
#: What the server's own schema says of the root's metadata, as far as merging needs it.
_METADATA: Final = Node(
    {
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {
            "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ownerReferences": _OWNERS,
            "labels": {"additionalProperties": {}},
            "annotations": {"additionalProperties": {}},
        },
    }
)
_TYPE_META = ("apiVersion", "kind")
_GO_TYPES = {str: "string", bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}
UNDECLARED = "field not declared in schema"
MAP, LIST, SCALAR = "map", "list", "scalar"
#: The identity of an item of a set or keyed list; None if it has none.
Identity = tuple[tuple[str, str], ...] | None


class Type(Struct, frozen=True):
    """A type of server-side apply.

    Without a node it accepts every value, merges maps unless ``atomic``, and replaces lists as a whole.
    ``open`` is whether this node or one above preserves unknown fields.
    """

    node: Node | None = None
    open: bool = False
    atomic: bool = False

    def member(self, name: str) -> Type | None:
        """The type of an object's member; None if it is not declared."""
        node = self.node
        if node is None:
            return self
        if name in node.properties:
            return _type(node.properties[name], self.open)
        if isinstance(node.additional, Node):
            return _type(node.additional, self.open)
        if node.additional is False:
            return None
        return Type() if node.additional is True or self.open or not node.properties else None

    def declares(self, name: str) -> bool:
        """Whether a member is a field of its own, and no key of a map."""
        return self.node is not None and name in self.node.properties

    @property
    def items(self) -> Type:
        node = self.node
        return _type(node.items, self.open) if node is not None and node.items is not None else Type(atomic=True)

    def kind(self, value: Any) -> str:
        """How a value is merged: as a map, a list or a scalar. Null takes the form of the type."""
        declared = self.node.type if self.node is not None else ""
        if declared in ("object", "array"):
            return MAP if declared == "object" else LIST
        if declared:
            return SCALAR
        return MAP if value is None or isinstance(value, dict) else LIST if isinstance(value, list) else SCALAR

    def is_atomic(self, kind: str) -> bool:
        """Whether a patch replaces the value as a whole."""
        if self.node is None:
            return self.atomic or kind == LIST
        if kind == LIST:
            return self.node.list_type not in ("set", "map")
        return self.node.raw.get("x-kubernetes-map-type") == "atomic"


def _type(node: Node, is_open: bool) -> Type:
    return Type(node, is_open or node.preserve)


class _Root(Type, frozen=True):
    """The type of a whole object."""

    def member(self, name: str) -> Type | None:
        if name == "metadata":
            return Type(_METADATA, True)
        return Type() if name in _TYPE_META else Type.member(self, name)

    def declares(self, name: str) -> bool:
        return name == "metadata" or name in _TYPE_META or Type.declares(self, name)


def root_type(node: Node) -> Type:
    """The type of the objects of a schema."""
    return _Root(node, node.preserve)


class _Typing(Struct, frozen=True):
    """What one typing tolerates, and whether it checks scalars of any type."""

    duplicates: bool
    partial_keys: bool
    checks_scalars: bool


def typing_errors(value: Any, type_: Type, server: Server, *, strict: bool) -> str:
    """The errors of typing ``value``, or ``""``. ``strict`` is for patches, where duplicates are always errors."""
    tolerant = not strict and server.does("apply_tolerates_duplicates")
    lenient = _Typing(tolerant, server.does("apply_partial_keys"), server.does("apply_checks_scalars"))
    found = list(_errors(value, type_, "", lenient))
    return found[0] if len(found) < 2 and found else "\n  ".join(("errors:", *found)) if found else ""


def _errors(value: Any, type_: Type, path: str, lenient: _Typing) -> Iterator[str]:
    if value is None:
        return
    kind = type_.kind(value)
    if kind == MAP:
        if not isinstance(value, dict):
            yield _misfit(path, f"expected map, got &{{{plain(value)}}}")
            return
        for name in sorted(value):
            member = type_.member(name)
            if member is None:
                yield f"{path}.{name}: {UNDECLARED}"
                return
            yield from _errors(value[name], member, f"{path}.{name}", lenient)
    elif kind == LIST:
        if not isinstance(value, list):
            yield _misfit(path, f"expected list, got &{{{plain(value)}}}")
            return
        yield from _item_errors(value, type_, path, lenient)
    elif misfit := _scalar_misfit(value, type_, lenient):
        yield _misfit(path, misfit)


def _misfit(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text


def _scalar_misfit(value: Any, type_: Type, lenient: _Typing) -> str:
    node = type_.node
    declared = node.type if node is not None else ""
    if declared in ("integer", "number"):
        fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "" if fits else f"expected numeric (int or float), got {_GO_TYPES[type(value)]}"
    if declared == "string" and node is not None and node.format in ("", "byte"):
        shown = f"&value.valueUnstructured{{Value:{go_syntax(value)}}}"
        return "" if isinstance(value, str) else f"expected string, got {shown}"
    if declared == "boolean":
        return "" if isinstance(value, bool) else f"expected boolean, got &{{{plain(value)}}}"
    is_odd = lenient.checks_scalars and isinstance(value, (dict, list))
    return f"expected any scalar, got &{{{plain(value)}}}" if is_odd else ""


def _item_errors(value: list[Any], type_: Type, path: str, lenient: _Typing) -> Iterator[str]:
    keyed = not type_.is_atomic(LIST)
    seen: set[Identity] = set()
    for index, item in enumerate(value):
        here = f"{path}[{index}]"
        if keyed:
            identity, wrong = _identity(item, type_, partial=lenient.partial_keys)
            if wrong:
                yield _misfit(path, f"element {index}: {wrong}")
                return
            here = f"{path}{shown_identity(identity)}"
            if identity in seen and not lenient.duplicates:
                yield _misfit(path, f"duplicate entries for key {shown_identity(identity)}")
            seen.add(identity)
        yield from _errors(item, type_.items, here, lenient)


def _identity(item: Any, type_: Type, *, partial: bool = True) -> tuple[Identity, str]:
    """What identifies an item of a set or keyed list, and the error if nothing can. ``partial``: some keys suffice."""
    node = type_.node
    if node is None or node.list_type == "set":
        wrong = {
            dict: "associative list without keys has an element that's a map type",
            list: "not supported: associative list with lists as elements",
            type(None): "associative list without keys has an element that's an explicit null",
        }.get(type(item), "")
        return (("", compact_json(item)),) if not wrong else None, wrong
    if item is None:
        return None, "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return None, "associative list with keys may not have non-map elements"
    members = node.items.properties if node.items is not None else {}
    found = []
    for key in node.list_keys:
        default = members[key].default if key in members else ABSENT
        value = item.get(key, default)
        if value is not ABSENT and (key in item or value is not None):
            found.append((key, compact_json(value)))
        elif not partial:
            lacks = f"omits key field {quote(key)} (and doesn't have default value)"
            return None, f"associative list with keys has an element that {lacks}"
    if not found:
        keys = f"[{' '.join(compact_json(key) for key in node.list_keys)}]"
        ending = "(and doesn't have default values for any key fields)"
        return None, f"associative list with keys has an element that omits all key fields {keys} {ending}"
    return tuple(sorted(found)), ""


def identity_of(item: Any, type_: Type) -> Identity:
    """What identifies an item of a set or keyed list; None if nothing can."""
    return _identity(item, type_)[0]


def shown_identity(identity: Identity) -> str:
    """An identity as messages show it: ``[name="a"]``, ``[="a"]``."""
    return f"[{','.join(f'{name}={value}' for name, value in identity or ())}]"


def merged(live: Any, patch: Any, type_: Type, server: Server) -> Any:
    """The merge of a patch into the object; each may be ABSENT. Maps and keyed lists merge, sets unite.

    The patch replaces anything else. A null for a map or list that has members changes nothing. Fields that the manager
    owned before and now omits stay: ``ownership`` removes them.
    """
    if patch is ABSENT:
        return live
    kind = type_.kind(patch)
    if kind == SCALAR:
        return patch
    container: Any = dict if kind == MAP else list
    old, new = (side if isinstance(side, container) else container() for side in (live, patch))
    if type_.is_atomic(kind) or not (old or new):
        return patch
    if kind == LIST:
        return _merged_items(old, new, type_, server)
    names = [*old, *(name for name in new if name not in old)]
    return {
        name: merged(old.get(name, ABSENT), new.get(name, ABSENT), type_.member(name) or Type(), server)
        for name in names
    }


def _merged_items(old: list[Any], new: list[Any], type_: Type, server: Server) -> list[Any]:
    """Items of the patch keep their order, and items of the object stay before what follows them there."""
    before = [(_identity(item, type_)[0], item) for item in old]
    after = {_identity(item, type_)[0]: item for item in new}
    places: dict[Identity, list[Any]] = {}
    for identity, item in before:
        places.setdefault(identity, []).append(item)

    def both(identity: Identity) -> Any:
        known = places.get(identity, [])  # duplicates are not merged
        return merged(known[0] if len(known) == 1 else ABSENT, after[identity], type_.items, server)

    if not server.does("apply_interleaves"):
        kept = [both(identity) if identity in after else item for identity, item in before]
        return kept + [both(identity) for identity in after if identity not in places]
    shared = [identity for identity in after if identity in places]
    out: list[Any] = []
    done: set[Identity] = set()
    queue = list(after)
    at = 0
    while at < len(before) or queue:
        identity, item = before[at] if at < len(before) else (None, None)
        if at < len(before) and queue:
            if identity == queue[0]:
                done.add(identity)
                out.append(both(identity))
                shared = shared[1:]
                queue.pop(0)
                at += 1
                continue
            if identity in after and shared and shared[0] != identity:
                at += 1
                continue
        if at < len(before):
            if identity not in after:
                out.append(item)
                at += 1
                continue
            if identity in done:
                at += 1
        if queue:
            identity = queue.pop(0)
            done.add(identity)
            out.append(both(identity))
            if shared and shared[0] == identity:
                shared = shared[1:]
    return out

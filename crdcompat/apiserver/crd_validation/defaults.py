"""Defaults: values that their own schema has to accept, and that have no field that it does not declare.

Source: apiextensions-apiserver, pkg/apiserver/schema/defaulting/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel.static.compile import compiled
from crdcompat.apiserver.cel.static.declared import declared
from crdcompat.apiserver.correlation import Pair
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault, map_keys
from crdcompat.apiserver.decode import prune
from crdcompat.apiserver.extensions import embedded_errors
from crdcompat.apiserver.field_errors import INVALID, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.metadata import undecodable
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import Node, mapping_of

if TYPE_CHECKING:
    from crdcompat.apiserver.cel.rule_walk import Step

_METADATA = frozenset({"metadata", "apiVersion", "kind"})
_EMBEDDED = "x-kubernetes-embedded-resource"
#: Keywords of a schema that accepts each value of its type.
_OF_ANY_VALUE = frozenset({"type", "default", "description", "title", "nullable"})
_PLAIN = {"string": str, "boolean": bool}


def default_faults(schema: Schema, at: Pointer, server: Server, *, prunes: bool = True) -> Iterator[FieldError]:
    """The faults of all defaults of a structural schema. The root of an object counts as an embedded resource.

    ``prunes``: whether a default with unknown fields is a fault.
    """
    yield from _below({**schema, _EMBEDDED: True}, at, server, prunes=prunes, inside=False, is_root=True)


def _below(
    schema: Schema, at: Pointer, server: Server, *, prunes: bool, inside: bool, is_root: bool = False
) -> Iterator[FieldError]:
    embedded = bool(schema.get(_EMBEDDED))
    inside = inside and not embedded
    if schema.get("default") is not None and not _is_plain(schema):
        yield from _default(schema, (*at, "default"), server, prunes=prunes and not inside, is_root=is_root)
    if isinstance(items := schema.get("items"), dict):
        yield from _below(items, (*at, "items"), server, prunes=prunes, inside=inside)
    for name, sub in schema.get("properties", {}).items():
        within = inside or (embedded and name in _METADATA)
        yield from _below(sub, (*at, "properties", name), server, prunes=prunes, inside=within)


def _is_plain(schema: Schema) -> bool:
    """Whether the default is one of a schema that says no more than its type: most defaults of large schemas are."""
    return type(schema["default"]) is _PLAIN.get(schema.get("type", "")) and schema.keys() <= _OF_ANY_VALUE


def _default(schema: Schema, at: Pointer, server: Server, *, prunes: bool, is_root: bool) -> Iterator[FieldError]:
    node, value = Node(schema), schema["default"]
    if prunes and _unknown_fields(node, value):
        yield fault(INVALID, at, value, "must not have unknown fields", server)
    holder = Node({"properties": {"v": schema}})
    errors = [each._replace(pointer=each.pointer[1:]) for each in embedded_errors({"v": value}, holder, server)]
    if misfit := _undecodable_metadata(value, node, ()):
        errors = [FieldError(INVALID, misfit[0], Keyword.METADATA, misfit[1], server, fixed_detail=misfit[2])]
    if not errors:
        _DefaultValidator(node, server).validate(value, None, None, errors, [])
    if not errors and server.does("cel"):
        errors = _broken_rules(node, value, server, is_root=is_root)
    for error in errors:
        yield FieldError(error.type, at, Keyword.DEFAULT, error.value, server, error, base=len(at), keys=map_keys(at))


class _DefaultValidator(SchemaValidator):
    """One schema node for its default."""

    strips_formats = False

    def __init__(self, node: Node, server: Server) -> None:
        super().__init__(node, server)
        if node.int_or_string:  # the structural schema has no type there, and nothing else says "int or string"
            self.types = ()


def _undecodable_metadata(value: Any, node: Node | None, at: Pointer) -> tuple[Pointer, Any, str] | None:
    """The first metadata of an embedded resource that does not decode: where, its value, the message."""
    if node is None or not isinstance(value, (dict, list)):
        return None
    if isinstance(value, list):
        found = (_undecodable_metadata(item, node.items, (*at, index)) for index, item in enumerate(value))
        return next(filter(None, found), None)
    if node.embedded and (said := undecodable(value.get("metadata"))):
        return (*at, "metadata"), value["metadata"], said
    members = (_undecodable_metadata(member, node.child(name), (*at, name)) for name, member in value.items())
    return next(filter(None, members), None)


def _broken_rules(node: Node, value: Any, server: Server, *, is_root: bool) -> list[FieldError]:
    """The errors of the CEL rules, with the default as the old value, and then without an old value."""
    from crdcompat.apiserver.cel import rule_walk

    if not rule_walk.has_rules(node.raw):
        return []
    from crdcompat.apiserver.cel.evaluate import Findings
    from crdcompat.apiserver.cel.ratchet import Ratchet

    steps = rule_walk.steps(node, server, resource=is_root)
    _mark_uncompiled(steps, server)
    pairs = [Pair(value, value, node), None] if server.does("ratchet_main") else [Pair(value, value, node)]
    for pair in pairs:
        found = Findings()
        if steps is not None:
            rule_walk.walk(steps, value, pair, Ratchet(False, pair, pair, None), None, found)
        if found.errors:
            return found.errors
    return []


def _mark_uncompiled(step: Step | None, server: Server) -> None:
    """Give the rules that the server's compiler refuses its message: it evaluates none of them."""
    if step is None:
        return
    if step.rules is not None:
        view = step.rules.view
        root = declared(view.node.raw, resource=view.resource, enums=server.does("enum_lengths"))
        for rule in step.rules.compiled():
            found = compiled(rule.text, root, server, stored=False, optional_old=rule.optional_old) if root else None
            if found is not None and found.error:
                rule.compile_error = f"rule compile error: {found.stage} failed: {found.error}"
    for below in (*step.all_of, *step.properties.values(), step.additional, step.items):
        _mark_uncompiled(below, server)


def _unknown_fields(node: Node, value: Any) -> list[str]:
    pruned: list[str] = []
    parent = Node({"properties": {"v": node.raw}})
    prune({"v": _without_metadata(value, node)}, parent, None, pruned)
    return pruned


def has_unpruned_defaults(schema: Schema) -> bool:
    """Whether any default has a field that its schema does not declare."""
    node = Node(schema)
    if node.raw.get("default") is not None and _unknown_fields(node, node.raw["default"]):
        return True
    below = [*mapping_of(schema.get("properties")).values(), schema.get("items")]
    return any(has_unpruned_defaults(each) for each in below if isinstance(each, dict))


def _without_metadata(value: Any, node: Node | None) -> Any:
    """The value without the metadata of embedded resources: a default may have unknown fields there."""
    if node is None:
        return value
    if isinstance(value, list):
        return [_without_metadata(item, node.items) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: member for name, member in value.items() if not (node.embedded and name == "metadata")}
    return {name: _without_metadata(member, node.child(name)) for name, member in kept.items()}

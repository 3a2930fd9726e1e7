"""Judge a value by one node alone, without the object around it: the prefilter of candidates before a proof."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.correlation import Pair
from crdcompat.apiserver.decode import apply_defaults, decode
from crdcompat.apiserver.metadata.object_names import NEARLY_SUBDOMAIN, SUBDOMAIN_LIMIT
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.schema.structural import ABSENT, RULES, Node, mapping_of
from crdcompat.schema.work import WORK

#: A rule for names, close to a DNS subdomain.
_NAME = f"self.matches('^{NEARLY_SUBDOMAIN}$') && size(self) <= {SUBDOMAIN_LIMIT}"


class NodeJudge:
    """Judges values by one node: its keywords, and its rules and those below it."""

    def __init__(self, node: Node, server: Server) -> None:
        self._node = node
        self._server = server
        self._validator = SchemaValidator(node, server)
        self._holder = _holder(node)
        self._rules = RuleEvaluator(self._holder, server)

    def breaks_rules(self, value: Any, old: Any = ABSENT) -> bool:
        """Whether only rules reject ``value``, in an update of ``old`` if that is given.

        Servers evaluate rules only if the other keywords accept the value.
        """
        WORK.spend()
        pair = None if old is ABSENT else Pair({"v": value}, {"v": old}, self._holder)
        return self._validator.accepts(value) and self._rules.breaks({"v": value}, pair)

    def without(self, removed: Callable[[dict[str, Any]], bool]) -> NodeJudge:
        """The judge by the node without some of its own rules; this one if it has none of them."""
        kept = [rule for rule in self._node.rules if not removed(rule)]
        if len(kept) == len(self._node.rules):
            return self
        return self.by(Node({**self._node.raw, RULES: kept}))

    def by(self, node: Node) -> NodeJudge:
        """A judge by another node, on the same server."""
        return NodeJudge(node, self._server)

    def accepts(self, value: Any) -> bool:
        """Whether the node accepts ``value`` after defaulting. What cannot be judged counts as accepted."""
        WORK.spend()
        stored = defaulted(value, self._node)
        return self._validator.accepts(stored) and not self._rules.breaks({"v": stored})


def defaulted(value: Any, node: Node) -> Any:
    """A value as the server stores it under ``node``: with the defaults below it applied."""
    if not isinstance(value, (dict, list)) or not node.has_defaults:
        return value
    made = deepcopy(value)
    apply_defaults(made, node, "", [])
    return made


def as_read(value: Any, node: Node) -> Any:
    """A stored value as a server reads it under ``node``: pruned, without nulls of fields not nullable, defaulted."""
    return decode({"v": value}, _holder(node)).object.get("v")


@lru_cache(64)
def _holder(node: Node) -> Node:
    """An object with the node as its member ``v``. The values of one node are read in a row."""
    return Node({"type": "object", "properties": {"v": node.raw}})


def as_resource(node: Node, *, is_root: bool) -> Node:
    """The root of a schema, or an embedded resource, with what no schema has to declare: rules may read it.

    Every resource has an apiVersion and a kind; the whole object has a name, too. Other nodes stay as they are.
    """
    if not (is_root or node.embedded):
        return node
    text = {"type": "string"}
    properties = mapping_of(node.raw.get("properties"))
    metadata = mapping_of(properties.get("metadata"))
    declared = mapping_of(metadata.get("properties"))
    name = {**text, **({RULES: [{"rule": _NAME}]} if is_root else {}), **mapping_of(declared.get("name"))}
    metadata = {**metadata, "type": "object", "properties": {**declared, "name": name}}
    if is_root:
        metadata["required"] = ["name"]
    properties = {"apiVersion": text, "kind": text, **properties, "metadata": metadata}
    required = dict.fromkeys((*node.required, "apiVersion", "kind", *(["metadata"] if is_root else [])))
    changed = {"x-kubernetes-embedded-resource": True, "properties": properties, "required": list(required)}
    return Node({**node.raw, **changed})


#: The keywords that determine what rules see. The others are removed to try a rule by itself.
_SHAPE = (
    "type",
    "format",
    "nullable",
    "default",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
)


def shape(schema: Any, *more: str) -> Any:
    """A schema reduced to the names and types of its values, without restrictions but the keywords ``more``.

    A list without a type is atomic.
    """
    if not isinstance(schema, dict):
        return schema
    kept = {key: schema[key] for key in (*_SHAPE, *more) if key in schema}
    if kept.get("x-kubernetes-list-type") == "atomic":
        del kept["x-kubernetes-list-type"]
    kept |= {key: shape(schema[key], *more) for key in ("items", "additionalProperties") if key in schema}
    if isinstance(members := schema.get("properties"), dict):
        kept["properties"] = {name: shape(member, *more) for name, member in members.items()}
    return kept

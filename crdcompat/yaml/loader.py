"""Read YAML as Kubernetes does: with the tag resolution of sigs.k8s.io/yaml, and the speed of libyaml.

Kubernetes tools convert YAML to JSON with Go's YAML 1.1 reader, which differs from all Python readers: ``y`` is a
boolean, ``010`` is 8, ``12:30:45``, dates and ``=`` are strings, ``1.0`` becomes the JSON number 1, map keys become
strings, tags other than those of YAML's scalars are ignored. `GoLoader` does the same.
libyaml composes the nodes. `GoLoader` builds the values directly from them: this is faster than PyYAML's constructor,
bounds depth, size and aliases (input can be hostile), and records duplicate keys.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from array import array
from typing import TYPE_CHECKING, Any

import yaml
from msgspec import Struct
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from crdcompat.yaml.aliases import MAX_DEPTH, MAX_NODES, TOO_DEEP, TOO_MANY, refuse_bomb
from crdcompat.yaml.positions import COLUMN_BITS, Positions
from crdcompat.yaml.scalars import INT64_MAX, TYPED_FIRST, json_number, key_text, plain_value

if TYPE_CHECKING:
    from yaml import CSafeLoader as _Loader
    from yaml.nodes import Node
else:
    _Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


MAX_REMARKS = 100
"""Remarks on one document; further ones are dropped."""


_PREFIX = "tag:yaml.org,2002:"
# `resolve` returns these objects themselves; a tag in the text is at most an equal string. So an identity check
# recognizes plain strings, maps and lists.
_STR, _MAP, _SEQ = _PREFIX + "str", _PREFIX + "map", _PREFIX + "seq"
_NULL, _BOOL, _INT, _FLOAT = (_PREFIX + name for name in ("null", "bool", "int", "float"))
_MERGE, _BINARY = _PREFIX + "merge", _PREFIX + "binary"

_TAG_OF: dict[type, str] = {type(None): _NULL, bool: _BOOL, int: _INT, float: _FLOAT, str: _STR}
_TYPE_OF: dict[str, type] = {tag: kind for kind, tag in _TAG_OF.items() if tag is not _STR}

# Every alias and anchor has these bytes (with a NUL in UTF-16): most files have none and skip the check.
_ALIAS_LIKE, _ANCHOR_LIKE = (re.compile(rb"%b\0?[0-9A-Za-z_-]" % mark) for mark in (rb"\*", rb"&"))
_QUESTION = "a scalar with '?' inside [] or {} is not read by Kubernetes: write it in quotes"


class Remark(Struct, frozen=True, order=True):
    """An oddity that does not prevent reading: a duplicate ``key``. ``line`` counts from 1."""

    line: int
    message: str
    key: str = ""


class GoLoader(_Loader):
    """A loader with the tag resolution of Go's YAML; it also works with ``yaml.load(text, GoLoader)``.

    Raises subclasses of ``yaml.YAMLError`` with a mark, also for exceeded limits.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._depth = 0
        self._nodes_left = MAX_NODES
        self._parent: Node | None = None
        self.start_document()
        self._may_alias = not isinstance(stream, bytes) or bool(
            _ALIAS_LIKE.search(stream) and _ANCHOR_LIKE.search(stream)
        )

    def start_document(self) -> None:
        """Reset the state of the previous document: remarks, positions, and whether integers exceed int64."""
        self.remarks: list[Remark] = []
        self.has_uint64 = False
        self._marks = array("Q")
        self._in_order = True

    @property
    def positions(self) -> Positions | None:
        """The places of the document's values; None with duplicate keys or merges, where values and nodes differ."""
        return Positions(self._marks) if self._in_order else None

    # The composer calls these two methods before and after each node that it reads. It has not recursed yet, so this is
    # the only place to limit the depth of the C stack.

    def descend_resolver(self, current_node: Node | None, current_index: object) -> None:
        self._nodes_left -= 1
        self._depth += 1
        if self._nodes_left < 0 or self._depth > MAX_DEPTH:
            what = TOO_DEEP if self._depth > MAX_DEPTH else TOO_MANY
            raise ComposerError(None, None, what, getattr(current_node, "start_mark", None))
        self._parent = current_node

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0] and "?" in value and getattr(self._parent, "flow_style", False):
            # Go ends a plain scalar there, libyaml does not: Go's message is "did not find expected ',' or ']'".
            raise ComposerError(None, None, _QUESTION, getattr(self._parent, "start_mark", None))
        return implied_tag(kind, value, implicit)

    def construct_document(self, node: Node) -> Any:
        if self._may_alias:
            refuse_bomb(node)
        self._marks.append(node.start_mark.line << COLUMN_BITS | node.start_mark.column)
        return self._value(node)

    def _value(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            value = self._scalar(node)
            if type(value) is not float:
                return value
            if not math.isfinite(value):
                raise ConstructorError(None, None, f"{node.value[:60]} is no number of JSON", node.start_mark)
            return json_number(value)
        return self._mapping(node) if isinstance(node, MappingNode) else self._sequence(node)

    def _mapping(self, node: Node) -> dict[str, Any]:
        out: dict[str, Any] = {}
        add_mark = self._marks.append
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            add_mark(mark.line << COLUMN_BITS | mark.column)
            if key_node.tag is _STR:
                key = key_node.value
            elif key_node.tag == _MERGE:
                self._merge(out, value_node)
                continue
            else:
                key = self._key(key_node)
            tag = value_node.tag
            if tag is _STR:
                out[key] = value_node.value
            elif tag is _MAP:
                out[key] = self._mapping(value_node)
            else:
                out[key] = self._value(value_node)
        if len(out) != len(node.value):
            self._in_order = False
            self._remark_duplicates(node)
        return out

    def _sequence(self, node: Node) -> list[Any]:
        out: list[Any] = []
        add_mark = self._marks.append
        for item in node.value:
            mark = item.start_mark
            add_mark(mark.line << COLUMN_BITS | mark.column)
            out.append(item.value if item.tag is _STR else self._value(item))
        return out

    def _key(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            raise ConstructorError(None, None, "a map or list cannot be a key", node.start_mark)
        value = self._scalar(node)
        if value is None or (isinstance(value, int) and value > INT64_MAX):
            what = "null" if value is None else "an integer beyond int64"
            raise ConstructorError(None, None, f"{what} cannot be a key: write it in quotes", node.start_mark)
        return key_text(value)

    def _merge(self, out: dict[str, Any], node: Node) -> None:
        """Merge ``<<`` over the keys that are already set, as Go does; the first map of a list has precedence."""
        self._in_order = False
        if isinstance(node, MappingNode):
            out.update(self._mapping(node))
            return
        if not isinstance(node, SequenceNode) or not all(isinstance(n, MappingNode) for n in node.value):
            raise ConstructorError(None, None, "only a map or a list of maps can be merged", node.start_mark)
        for source in reversed(node.value):
            out.update(self._mapping(source))

    def _scalar(self, node: ScalarNode) -> Any:
        tag, text = node.tag, node.value
        kind = _TYPE_OF.get(tag)
        if kind is not None:
            value = plain_value(text)
            if type(value) is int and kind is float:
                return float(value)
            if type(value) is not kind:
                message = f"cannot read {text[:60]!r} as !!{tag.removeprefix(_PREFIX)}"
                raise ConstructorError(None, None, message, node.start_mark)
            if isinstance(value, int) and value > INT64_MAX:
                self.has_uint64 = True
            return value
        return _binary(node) if tag == _BINARY else text

    def _remark_duplicates(self, node: Node) -> None:
        first: dict[str, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            if len(self.remarks) >= MAX_REMARKS:
                return
            key, line = self._key(key_node), key_node.start_mark.line + 1
            if key in first:
                message = f"duplicate key {key[:60]!r} (first on line {first[key]}); the last one counts"
                self.remarks.append(Remark(line, message, key))
            first.setdefault(key, line)


class AnchorLoader(GoLoader):
    """Accepts duplicate anchor names, as YAML and Go do.

    PyYAML's C composer always rejects them, so this class composes libyaml's events with the Python composer.
    """

    check_node = Composer.check_node
    get_node = Composer.get_node
    compose_document = Composer.compose_document
    compose_scalar_node = Composer.compose_scalar_node
    compose_sequence_node = Composer.compose_sequence_node
    compose_mapping_node = Composer.compose_mapping_node

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.anchors: dict[str, Node] = {}

    def compose_node(self, parent: Node | None, index: object) -> Node | None:
        if not self.check_event(AliasEvent):
            event: Any = self.peek_event()
            self.anchors.pop(event.anchor, None)
        return Composer.compose_node(self, parent, index)  # type: ignore[arg-type]


def implied_tag(kind: type[Node], value: Any, implicit: Any) -> str:
    """The tag of a node without one; ``implicit``: whether it may be another tag than that of strings, for scalars."""
    if kind is ScalarNode:
        if not implicit[0] or (value and value[0] not in TYPED_FIRST):
            return _STR
        return _MERGE if value == "<<" else _TAG_OF[type(plain_value(value))]
    return _MAP if kind is MappingNode else _SEQ


def node_key(node: Node) -> str | None:
    """The JSON key of a key node; None for a merge, a map or a list."""
    if not isinstance(node, ScalarNode) or node.tag == _MERGE:
        return None
    return key_text(plain_value(node.value)) if node.tag in _TYPE_OF else str(node.value)


def _binary(node: ScalarNode) -> str:
    """Decode ``!!binary`` as Go does for JSON: bytes that are not UTF-8 are replaced."""
    try:
        data = base64.b64decode("".join(node.value.split()).encode(), validate=True)
    except (binascii.Error, ValueError):
        raise ConstructorError(None, None, "!!binary is not valid base64", node.start_mark) from None
    return data.decode("utf-8", "replace")

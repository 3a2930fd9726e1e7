"""Schema nodes as CEL types, and the parts of their values that rules read.

Source: k8s.io/apiserver/pkg/cel/common/schemas.go; docs/semantics.md#types-in-rules.
"""

from __future__ import annotations

from msgspec import Struct, field

from crdcompat.cel.identifiers import canonical, escape, unescape
from crdcompat.schema.structural import Node


class View:
    """One schema node as a CEL type; ``kind`` is ``unseen`` if it has none."""

    __slots__ = ("_members", "_named", "_unordered", "described", "element", "kind", "node", "nullable", "resource")

    def __init__(self, node: Node, *, resource: bool = False) -> None:
        self.node = node
        self.resource = resource or node.embedded
        self.nullable = node.nullable
        self.element: View | None = None
        self.kind = self._kind()
        self.described = bool(node.properties) or self.resource or node.preserve or isinstance(node.additional, Node)
        self._members: dict[str, Member] | None = None
        self._named: dict[str, View | None] = {}
        self._unordered: bool | None = None

    def _kind(self) -> str:
        node = self.node
        if node.int_or_string:
            return "int_or_string"
        if node.type == "object":
            if isinstance(node.additional, Node) and not node.properties and not self.resource:
                self.element = View(node.additional)
                return "map" if self.element.kind != "unseen" else "unseen"
            return "object"
        if node.type == "array":
            if node.items is None:
                return "unseen"
            self.element = View(node.items)
            return "list" if self.element.kind != "unseen" else "unseen"
        if node.type == "string":
            formats = {"byte": "bytes", "date": "date", "date-time": "datetime", "duration": "duration"}
            return formats.get(node.format, "string")
        return node.type if node.type in ("integer", "number", "boolean") else "unseen"

    def members(self) -> dict[str, Member]:
        """An object's members by escaped name."""
        if self._members is None:
            properties = self.node.properties
            if self.resource:
                properties = {**properties, **_resource_members(properties)}
            self._members = {
                name: Member(original, View(sub))
                for original, sub in properties.items()
                if (name := escape(original)) is not None
            }
        return self._members

    def member(self, name: str) -> View | None:
        """The view of ``.name`` of this node; None if rules cannot read it."""
        if self.kind == "map":
            return self.element
        if self.kind != "object":
            return None
        name = canonical(name)
        if name not in self._named:
            self._named[name] = self._view_of(name)
        found = self._named[name]
        return found if found is not None and found.kind != "unseen" else None

    def _view_of(self, name: str) -> View | None:
        """The view of one member alone: a rule reads few members of an object that may have thousands."""
        if self._members is not None or self.resource:
            found = self.members().get(name)
            return found.view if found is not None else None
        original = unescape(name)
        sub = self.node.properties.get(original) if escape(original) == name else None
        return View(sub) if sub is not None else None

    @property
    def unordered(self) -> bool:
        """Whether this node or a node below is a list of type set or map, whose equality ignores order."""
        if self._unordered is None:
            below = [member.view for member in self.members().values()] if self.kind == "object" else []
            below += [self.element] if self.element is not None else []
            self._unordered = self.is_unordered_list or any(view.unordered for view in below)
        return self._unordered

    @property
    def is_unordered_list(self) -> bool:
        return self.kind == "list" and self.node.list_type in ("set", "map")


class Member(Struct):
    original: str
    view: View


def _text() -> Node:
    return Node({"type": "string"})


def _resource_members(properties: dict[str, Node]) -> dict[str, Node]:
    """The members that rules can read in any resource: apiVersion, kind, metadata.name and metadata.generateName."""
    declared = properties["metadata"].properties if "metadata" in properties else {}
    names = {name: (declared.get(name) or _text()).raw for name in ("name", "generateName")}
    metadata = Node({"type": "object", "properties": names})
    return {"apiVersion": _text(), "kind": _text(), "metadata": metadata}


class Reads(Struct):
    """The parts of a value that rules read: all of it, or the members in ``children``."""

    whole: bool = False
    children: dict[str, Reads] = field(default_factory=dict)

    def child(self, name: str) -> Reads:
        return self.children.setdefault(name, Reads())

    def merge(self, other: Reads) -> None:
        self.whole = self.whole or other.whole
        for name, sub in other.children.items():
            self.child(name).merge(sub)

    @property
    def everything(self) -> Reads:
        return Reads(whole=True)

    def any_child(self) -> Reads:
        """The union of the reads of all children."""
        union = Reads()
        for sub in self.children.values():
            union.merge(sub)
        return union

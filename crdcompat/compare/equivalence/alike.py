"""Checks whether both sides read the values of a formula alike: with the same type and default, and never as null."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.candidates.local import shape
from crdcompat.cel.identifiers import unescape
from crdcompat.compare.equivalence.formula import Atom, Formula, Kind, Path, Quantified, atoms_in
from crdcompat.compare.equivalence.keyword_formulas import member_path
from crdcompat.compare.equivalence.of_writer import is_marked
from crdcompat.compare.resource_fields import OF_RESOURCES
from crdcompat.schema.equality import identical
from crdcompat.schema.structural import ABSENT, Node

_LIST_TYPE = "x-kubernetes-list-type"
#: Keywords that decide, beside the default, how a value is read. Formulas treat the others as constraints.
_READING = (
    *("type", "nullable", "x-kubernetes-int-or-string"),
    *("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", _LIST_TYPE),
)
#: The node of a map's keys, which are strings.
KEY = Node({"type": "string"})

_Pair = tuple[Node | None, Node | None]


def reads_formula_alike(formula: Formula, roots: Mapping[str, _Pair], about: Collection[Path]) -> bool:
    """Whether both sides read the values of a formula alike that the reader's constraint is ``about``.

    The writer alone reads the others, such as a member that the reader prunes; they are not null. What the constraint
    says of a value as a whole may be an error, so nothing follows from it but where both sides read all of the value.
    ``roots`` has the nodes of each variable: the writer's and the reader's.
    """
    return all(_reads_atom_alike(atom, roots, about) for atom in atoms_in(formula))


def _reads_atom_alike(atom: Atom, roots: Mapping[str, _Pair], about: Collection[Path]) -> bool:
    if isinstance(atom.value, Quantified):
        nodes = _alike(atom.path, roots, about)
        if nodes is None:
            return False
        items = nodes[0].items or KEY, nodes[1].items or KEY
        return _are_alike(*items) and reads_formula_alike(
            atom.value.formula, {**roots, atom.value.variable: items}, about
        )
    reads_below = atom.kind in (Kind.TRUE, Kind.FALSE, Kind.KEYWORD)
    for path in atom.paths():
        if path[0] not in roots and reads_below:
            continue  # the variable of a comprehension; the path of its list is another path of the atom
        nodes = _alike(path, roots, about)
        if nodes is None or (reads_below and not _holds_alike(*nodes)):
            return False
    return True


def _alike(path: Path, roots: Mapping[str, _Pair], about: Collection[Path]) -> tuple[Node, Node] | None:
    """The nodes at a path, if both sides read the value and those around it alike."""
    writer, reader = roots.get(path[0], (None, None))
    for length, step in enumerate(path[1:], 2):
        if writer is None or reader is None:
            return None
        below, reader = _below(writer, step), _below(reader, step)
        # The writer prunes a member that only the reader declares, so the member is absent for both.
        writer = reader if below is None and prunes(writer, step) else below
        reader = reader if path[:length] in about else writer
        if not _are_alike(writer, reader):
            return None
    return None if writer is None or reader is None else (writer, reader)


def _below(node: Node, step: str) -> Node | None:
    name = declared(node, step)
    return node.child(step) if name is None else node.properties[name]


def _are_alike(writer: Node | None, reader: Node | None) -> bool:
    """Whether two nodes are read alike, apart from the nodes below them."""
    if writer is None or reader is None:
        return False
    same = all(identical(_read_as(writer, keyword), _read_as(reader, keyword)) for keyword in _READING)
    is_stored = writer.default is not ABSENT or is_marked(reader) or reader.default is ABSENT
    return same and is_stored and not writer.nullable and _kind_of_string(writer) == _kind_of_string(reader)


def _holds_alike(writer: Node, reader: Node) -> bool:
    """Whether all values below two nodes that are read alike are so, too."""
    one, other = ({**shape(node.raw), "default": None} for node in (writer, reader))
    return identical(one, other)


def _kind_of_string(node: Node) -> str:
    """The type that a string has in rules: a format such as date-time makes another type, cidr is a mere constraint."""
    return View(node).kind if node.type == "string" else ""


def _read_as(node: Node, keyword: str) -> Any:
    """The value of a keyword; a list without a type is atomic."""
    return node.raw.get(keyword, "atomic" if keyword == _LIST_TYPE else ABSENT)


def prunes(node: Node, name: str, *, resource: bool = False) -> bool:
    """Whether no object of a node has a member that it does not declare. ``resource``: it is a whole resource."""
    kept = (resource or node.embedded) and name in OF_RESOURCES
    return bool(node.type == "object" and not node.preserve and node.additional is None and not kept)


def declared(node: Node | None, step: str) -> str | None:
    """The declared member of a node for a step of a path."""
    name = step[1:-1] if step.startswith("`") else unescape(step)
    return name if node is not None and name in node.properties and member_path((), name) == (step,) else None

"""What a schema states about the values that a formula reads, as formulas: the premises of a proof or a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.cel.environment import lacks
from crdcompat.apiserver.cel.rule_programs import program
from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.metadata.object_names import NEARLY_SUBDOMAIN
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.uses import uses_old
from crdcompat.compare.equivalence.alike import declared, prunes, reads_formula_alike
from crdcompat.compare.equivalence.connectives import each, every, fact, has, opposite, some
from crdcompat.compare.equivalence.formula import TRUE, Formula, Kind, Literal, Path, Quantified, atoms_in, conjuncts
from crdcompat.compare.equivalence.keyword_formulas import distinct_items, keywords_of, member_path
from crdcompat.compare.equivalence.rule_formulas import OLD, truth_of_rule
from crdcompat.schema.paths import ITEM, SchemaPath, node_at
from crdcompat.schema.structural import ABSENT, Node

_NAME = ("self", "metadata", "name")
#: Statements of the writer that one proof uses.
_MAX_PREMISES = 80


class Scope(Struct, frozen=True):
    """What formulas are about: the object, a value of a map, or a nullable value that is not null.

    ``depth``: the steps from the root of the schema.
    """

    node: Node
    view: View
    server: Server
    depth: int


class Place(Struct, frozen=True):
    """A value in a scope, and the lists around it, each with the variable of its items."""

    path: Path
    lists: tuple[tuple[Path, str], ...]

    def lifted(self, formula: Formula) -> Formula:
        """The formula about the value as one about its scope: if the value is there, each of its items satisfies it."""
        found = some(opposite(has(self.path)), formula)
        for holder, variable in reversed(self.lists):
            found = some(opposite(has(holder)), each(holder, variable, found))
        return found


def place_of(path: SchemaPath, variable: str = "self") -> Place:
    here: Path = (variable,)
    lists: list[tuple[Path, str]] = []
    for step in path:
        if step is ITEM:
            variable = f"#{len(lists)}"
            lists.append((here, variable))
            here = (variable,)
        else:
            here = member_path(here, str(step))
    return Place(here, tuple(lists))


def premises(wanted: Formula, writer: Scope, reader: Scope, *, wide: bool = False) -> list[Formula]:
    """What the writer states about the values that ``wanted`` reads, as far as both sides read them alike.

    ``wide``: also what states that a member of such a value is there, for then the value is, and what the objects
    around these values state of the values beside them. The stored object of an update was made under the writer, too.
    """
    about = _with_parents(wanted.paths())
    found: dict[Formula, None] = {}
    for variable in ("self", OLD):
        of_node = cache(partial(_of_node, variable=variable, writer=writer, reader=reader))
        read = _with_parents(_schema_paths(wanted, {variable: ()}, reader.node))
        found.update(dict.fromkeys(_said(map(of_node, _sorted(read)), about, wide=wide)))
        if variable == "self":  # what is known of the values beside them
            beside = {path for formula in found for path in _schema_paths(formula, {variable: ()}, writer.node)}
            named = {path for formula in found for path in formula.paths()}
            looked_at = beside | read if wide else beside - read
            found.update(dict.fromkeys(_said(map(of_node, _sorted(looked_at)), named, wide=wide)))
    roots = dict.fromkeys(("self", OLD), (writer.node, reader.node))
    alike = [formula for formula in found if formula != TRUE and reads_formula_alike(formula, roots, about)]
    return [*_of_resources(reader.view), *alike][:_MAX_PREMISES]


def _with_parents(paths: Iterable[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    return {path[:length] for path in paths for length in range(len(path) + 1)}


class _Stated(Struct, frozen=True):
    """What the writer states of the value at a place, as conjuncts.

    ``of_others`` makes those about the given values that only the reader declares, ``of_updates`` those that judge
    updates.
    """

    place: Place
    parts: Sequence[Formula]
    of_others: Callable[[Set[Path]], Iterable[Formula]] = lambda _: ()
    of_updates: Callable[[], Iterable[Formula]] = tuple


def _said(nodes: Iterable[_Stated], about: Set[Path], *, wide: bool) -> Iterator[Formula]:
    """What is stated ``about`` certain values; if ``wide``, also by conjuncts that a member of one is there."""
    for node in nodes:
        for part in (*node.parts, *node.of_others(about)):
            if not about.isdisjoint(part.paths()) or (wide and not about.isdisjoint(_begun(part))):
                yield node.place.lifted(part)
        if any(each[0] == OLD for each in about if each):
            yield from map(node.place.lifted, node.of_updates())


def _sorted(paths: Iterable[SchemaPath]) -> list[SchemaPath]:
    return sorted(paths, key=repr)


def _of_node(path: SchemaPath, variable: str, writer: Scope, reader: Scope) -> _Stated:
    place, node = place_of(path, variable), node_at(writer.node, path)
    if node is None:
        return _Stated(place, ())
    view = View(node, resource=writer.view.resource and not path)
    parts = [part for formula in stated(node, place, view, writer.server) for part in conjuncts(formula)]
    of_others = partial(_of_others, node, node_at(reader.node, path), place, view)
    if variable != "self":
        return _Stated(place, parts, of_others)
    return _Stated(place, parts, of_others, partial(_rules_of_updates, node, place, view, writer.server))


def _begun(formula: Formula) -> Iterator[Path]:
    """The paths to objects that are there if the formula holds: those around members of which it says that."""
    if not isinstance(formula, Literal):
        for part in formula.parts:
            yield from _begun(part)
    elif formula.holds and formula.atom.kind is Kind.HAS:
        yield from (formula.atom.path[:length] for length in range(2, len(formula.atom.path)))


def _of_resources(view: View) -> Iterator[Formula]:
    """Members that every resource has; a whole object has a name, too, which is a DNS subdomain."""
    if view.resource:
        yield every(has(("self", "apiVersion")), has(("self", "kind")))
        if not view.node.embedded:
            yield every(has(_NAME), fact(Kind.MATCHES, _NAME, f"^{NEARLY_SUBDOMAIN}$"))


def stated(node: Node, place: Place, view: View, server: Server) -> Iterator[Formula]:
    """The formulas of the writer's node: of keywords, rules, distinct items, and members that a default adds."""
    yield keywords_of(node, place.path, node, view, server)
    yield distinct_items(place.path, node)
    for name in node.defaulted:
        yield has(member_path(place.path, name))
    for rule in node.rules:
        formula = formula_of_rule(rule, place, view, server)
        if formula is not None:
            yield formula


def _rules_of_updates(node: Node, place: Place, view: View, server: Server) -> Iterator[Formula]:
    for rule in node.rules:
        if uses_old(rule.get("rule")):
            formula = formula_of_rule(rule, place, view, server, of_updates=True)
            if formula is not None:
                yield formula


def _of_others(writer: Node, reader: Node | None, place: Place, view: View, about: Set[Path]) -> Iterator[Formula]:
    """Members that only the reader declares: they are absent, if they are asked for, or have the reader's default."""
    if reader is None:
        return
    asked = {declared(reader, path[-1]) for path in about if path[:-1] == place.path}
    for name in sorted({*reader.defaulted, *filter(None, asked)}):
        if name not in writer.properties and prunes(writer, name, resource=view.resource):
            path, member = member_path(place.path, name), reader.properties[name]
            default = member.default
            yield has(path) if default is not ABSENT else opposite(has(path))
            if View(member).kind in ("string", "boolean", "integer") and isinstance(default, str | int):
                yield fact(Kind.EQUAL, path, default)


def formula_of_rule(
    rule: dict[str, Any], place: Place, view: View, server: Server, *, of_updates: bool = False
) -> Formula | None:
    """When a rule accepts a value; None if the server cannot evaluate it.

    A rule that judges updates is read only with ``of_updates``, and not if it judges new values, too. A server
    evaluates it where the stored object has a value. Which item of a list was which is not known.
    """
    text = str(rule.get("rule", ""))
    judges_updates = uses_old(text)
    if judges_updates and (not of_updates or place.lists or rule.get("optionalOldSelf") is True):
        return None
    if not server.does("cel") or lacks(server, program(text).functions):
        return None
    found = truth_of_rule(text, place.path, view.node, resource=view.resource)
    if found is None:
        return None
    return some(opposite(has((OLD, *place.path[1:]))), found.true) if judges_updates else found.true


def _schema_paths(formula: Formula, roots: Mapping[str, SchemaPath], scope: Node) -> Iterator[SchemaPath]:
    """The paths of the schema that a formula reads, inside of atoms, too."""
    for atom in atoms_in(formula):
        for path in atom.paths():
            if path[0] in roots:
                yield (*roots[path[0]], *_names(path, node_at(scope, roots[path[0]])))
        if isinstance(atom.value, Quantified) and atom.path[0] in roots:
            start = roots[atom.path[0]]
            holder = (*start, *_names(atom.path, node_at(scope, start)), ITEM)
            yield from _schema_paths(atom.value.formula, {**roots, atom.value.variable: holder}, scope)


def _names(path: Path, node: Node | None) -> tuple[str, ...]:
    """The names of the members on a path, as the schema writes them, as far as it declares them."""
    names: list[str] = []
    for step in path[1:]:
        name = declared(node, step)
        if node is None or name is None:
            break
        names.append(name)
        node = node.properties[name]
    return tuple(names)


def not_null(node: Node | None) -> Node | None:
    """A node without null among its values."""
    if node is None or not node.nullable:
        return node
    return Node({keyword: value for keyword, value in node.raw.items() if keyword != "nullable"})

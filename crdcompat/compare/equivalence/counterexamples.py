"""Values made from counter-models: assignments of atoms that satisfy what the writer states, and not a reader's rule.

An assignment says which members are there, and what holds of the value at each path. It says nothing certain of opaque
terms, so a made value is a candidate: a caller asks the servers before it claims anything of it.
"""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.candidates.sample import object_of_size, values
from crdcompat.candidates.valid_lists import Maker, list_of
from crdcompat.compare.equivalence.alike import KEY, declared
from crdcompat.compare.equivalence.computed import is_statement, statements
from crdcompat.compare.equivalence.connectives import opposite, some
from crdcompat.compare.equivalence.entailment import Assignment, entails, models
from crdcompat.compare.equivalence.formula import Atom, Canonical, Formula, Kind, Literal, Path, Quantified, atoms_in
from crdcompat.compare.equivalence.terms import Const, Opaque, Ref, Truth, Views
from crdcompat.compare.equivalence.values import Facts, candidates, sizes
from crdcompat.schema.structural import ABSENT, Node

#: Assignments of one question that become values.
_MAX_MODELS = 3
#: Items of a list, and candidates for one scalar.
_MAX_SIZE, _MAX_SCALARS = 100, 64

#: What a node states about the value of a variable.
Stated = Callable[[Node, str], Iterable[Formula]]


def counterexamples(
    formulas: Iterable[Formula], nodes: dict[str, Node], made: Maker, stated: Stated, around: Views | None = None
) -> Iterator[dict[str, Any]]:
    """Values of the variables in ``nodes`` that satisfy the formulas, as far as these are understood.

    ``stated`` has the formulas of the items of lists, ``around`` the types of other variables.
    """
    views = {**(around or {})} | {variable: View(node) for variable, node in nodes.items()}
    for model in islice(models(formulas, views), _MAX_MODELS):
        maker = _Maker(model, views, made, stated)
        found = {variable: maker.value((variable,), node) for variable, node in nodes.items()}
        if ABSENT not in found.values():
            yield found


def is_understood(formula: Formula) -> bool:
    """Whether an assignment of the formula's atoms says more of a value than that it is there.

    If not, all its models are one plain value, and the search for them is in vain.
    """
    model = dict.fromkeys(atoms_in(formula), True)
    computed = statements((atom, holds) for atom, holds in model.items() if is_statement(atom))
    return (
        any(atom.path or _counted(atom.value) is not None for atom in model)
        or next(_pairs(model), None) is not None
        or any(_part(term) is not None for term, _, _ in computed)
    )


class _Maker:
    """Makes values by one assignment."""

    def __init__(self, model: Assignment, views: Views, made: Maker, stated: Stated) -> None:
        self._views, self._made, self._stated = views, made, stated
        self._is_there = {atom.path: holds for atom, holds in model.items() if atom.kind is Kind.HAS}
        self._facts: dict[Path, list[tuple[Atom, bool]]] = defaultdict(list)
        for atom, holds in model.items():
            if atom.path and atom.kind is not Kind.HAS:
                self._facts[atom.path].append((atom, holds))
        self._paths = [*dict.fromkeys((*self._is_there, *self._facts))]
        self._pairs = list(_pairs(model))
        self._counted = list(_counts(model))
        self._parts = list(_parts(model))
        self._texts = dict(_texts(model))
        self._known: dict[Path, Any] = {}

    def value(self, path: Path, node: Node) -> Any:
        """The value at a path; ABSENT if none is found."""
        others = [(self._known[other], equal) for other, equal in self._compared(path) if other in self._known]
        if node.type == "object":
            found = self._object(path, node)
            if any(found == other and not equal for other, equal in others):
                found = self._with_another_member(path, node, found)
        elif node.type == "array":
            found = self._list(path, node)
        else:
            found = self._scalar(path, node, others)
        self._known[path] = found
        return found

    def _with_another_member(self, path: Path, node: Node, found: dict[str, Any]) -> dict[str, Any]:
        """The object with another value of a member of which nothing is stated, an optional member if possible."""
        stated = {declared(node, step) for step in self._steps(path)}
        free = (name for name in node.properties if name not in stated)
        for name in sorted(free, key=node.required.__contains__):
            below = node.properties[name]
            for value in (self._made(below), *islice(values(below), 2)):
                if value not in (ABSENT, found.get(name, ABSENT)):
                    return {**found, name: value}
        return found

    def _scalar(self, path: Path, node: Node, others: list[tuple[Any, bool]]) -> Any:
        wanted = (other for other, equal in others if equal)
        plain = self._with_parts(path, chain(self._encoded(path, node), (self._made(node),), values(node)))
        named = candidates(self._facts[path], View(node), ()) if node is KEY else ()  # no schema describes keys
        tried = chain(wanted, named, candidates(self._facts[path], View(node), plain))
        fitting = (
            value
            for value in islice(tried, _MAX_SCALARS)
            if value is not ABSENT and all((value == other) == equal for other, equal in others)
        )
        return next(fitting, ABSENT)

    def _encoded(self, path: Path, node: Node) -> Iterator[str]:
        """The bytes whose text the assignment states, in base64, where the length of the bytes is free."""
        if path in self._texts:
            facts, view = self._texts[path]
            least = ((node.count("minLength") or 0) + 3) // 4 * 3
            for text in islice(candidates((*facts, (Atom(Kind.SIZE, path, least), True)), view, ()), 1):
                yield b64encode(text.encode()).decode()

    def _with_parts(self, path: Path, plain: Iterable[Any]) -> Iterator[Any]:
        """Values with the parts that the assignment states, where it states parts between separators."""
        stated = [each for holder, each in self._parts if holder == path]
        separator = stated[0][0] if stated else ""
        for value in plain:
            parts = value.split(separator) if separator and isinstance(value, str) else []
            for other, index, part in stated:
                if other == separator and index < len(parts):
                    parts[index] = part
            yield separator.join(parts) if parts else value

    def _steps(self, path: Path) -> dict[str, None]:
        """The members of the value at a path of which something is stated."""
        return dict.fromkeys(each[len(path)] for each in self._paths if each[: len(path)] == path and each != path)

    def _object(self, path: Path, node: Node) -> Any:
        base = self._made(node)
        found = dict(base) if isinstance(base, dict) else {}
        for step in self._steps(path):
            name = declared(node, step) or step
            below = node.child(name)
            if not self._is_there.get((*path, step), name in found):
                found.pop(name, None)
                continue
            value = ABSENT if below is None else self.value((*path, step), below)
            if value is ABSENT:
                return ABSENT
            found[name] = value
        if isinstance(node.additional, Node):
            keys = self._elements(path, KEY)
            found |= {key: self._made(node.additional) for key in keys or () if isinstance(key, str)}
            least, _ = sizes(self._facts[path])
            others = object_of_size(node, least) if len(found) < least else ABSENT
            found |= dict(islice(others.items(), least - len(found))) if isinstance(others, dict) else {}
            return ABSENT if keys is None else found
        return found

    def _list(self, path: Path, node: Node) -> Any:
        if node.items is None or (items := self._elements(path, node.items)) is None:
            return ABSENT
        least, most = sizes(self._facts[path])
        plain = self._made(node)
        wanted = max(least, len(items), len(plain) if isinstance(plain, list) and len(plain) <= most else 0)
        if wanted > min(most, _MAX_SIZE):
            return ABSENT
        others = list_of(node, wanted, self._made)
        if not items:
            return others
        if not isinstance(others, list):
            return items if len(items) == wanted else ABSENT
        keys = [{key: item[key] for key in node.list_keys if key in item} for item in others if isinstance(item, dict)]
        if node.list_type == "map" and len(keys) == wanted > 1:
            made = [items[min(at, len(items) - 1)] for at in range(wanted)]
            return [{**item, **key} for item, key in zip(made, keys, strict=True)]
        return [*items, *others[len(items) :]]

    def _elements(self, path: Path, node: Node) -> list[Any] | None:
        """Elements for each statement that one of them breaks, or that counts them; None if one is not found."""
        stated = [(atom.value, holds) for atom, holds in self._facts[path] if isinstance(atom.value, Quantified)]
        kept = [value for value, holds in stated if holds]
        view = View(node)
        wanted = [each for holder, each in self._counted if holder == path]
        for variable, formula in ((value.variable, opposite(value.formula)) for value, holds in stated if not holds):
            views = {variable: view}
            if not any(name == variable and count and entails((part,), formula, views) for name, part, count in wanted):
                wanted.append((variable, formula, 1))
        found: list[Any] = []
        for variable, formula, count in wanted:
            nodes, formulas = {variable: node}, [formula, *(each.formula for each in kept if each.variable == variable)]
            for atom in atoms_in(formula):
                if isinstance(atom.value, Quantified) and atom.path == path:  # what another element breaks
                    nodes[atom.value.variable] = node
                    formulas.append(some(Literal(atom), opposite(atom.value.formula)))
            formulas += (part for name in nodes for part in self._stated(node, name))
            made = next(counterexamples(formulas, nodes, self._made, self._stated, self._views), None)
            if made is None:
                return None
            is_compared = len(nodes) == 1 and path in formula.paths()  # with others of the list: with an equal one
            found += [*made.values()] * (count + is_compared)
        return found

    def _compared(self, path: Path) -> Iterator[tuple[Path, bool]]:
        """The paths whose values equal the one at ``path``, or do not."""
        for first, second, equal in self._pairs:
            if path in (first, second):
                yield (second if path == first else first), equal


def _pairs(model: Assignment) -> Iterator[tuple[Path, Path, bool]]:
    """The paths whose values a rule compares, and whether they are equal."""
    for atom, holds in model.items():
        term = atom.value
        if isinstance(term, Opaque) and term.name == "==" and atom.kind in (Kind.TRUE, Kind.FALSE):
            first, second = term.parts
            if isinstance(first, Ref) and isinstance(second, Ref) and (holds or atom.kind is Kind.TRUE):
                yield first.path, second.path, holds == (atom.kind is Kind.TRUE)


def _counts(model: Assignment) -> Iterator[tuple[Path, tuple[str, Formula, int]]]:
    """Of each list whose items a rule counts: the path, the variable, which items count, and how many do."""
    for atom, holds in model.items():
        found = _counted(atom.value) if atom.kind in (Kind.TRUE, Kind.FALSE) else None
        if found is None:
            continue
        (over, variable, truth), sign, size = found
        if isinstance(over, Ref) and isinstance(variable, Const) and isinstance(truth, Truth):
            is_true = holds == (atom.kind is Kind.TRUE)
            if is_true or sign == "==":  # where fewer count than so many, none need to
                yield over.path, (variable.value, truth.true, size if is_true else size + 1)


def _counted(term: Any) -> tuple[tuple[Canonical, ...], str, int] | None:
    """The items that a term counts, the sign of the comparison, and the number; None for other terms."""
    if not isinstance(term, Opaque):
        return None
    if term.name == "exists_one":
        return term.parts, "==", 1
    if term.name not in (">=", "=="):
        return None
    size, number = term.parts
    items = size.parts[0] if isinstance(size, Opaque) and size.name == "size" else None
    if not isinstance(items, Opaque) or items.name != "filter" or not isinstance(number, Const):
        return None
    return items.parts, term.name, number.value


def _parts(model: Assignment) -> Iterator[tuple[Path, tuple[str, int, str]]]:
    """Of each string of which a rule states a part: the path, the separator, the index of the part, and such a part."""
    for term, facts, view in statements((atom, holds) for atom, holds in model.items() if is_statement(atom)):
        if (found := _part(term)) is not None:
            path, separator, index = found
            made = (each for each in candidates(facts, view, ()) if separator not in each)
            yield from ((path, (separator, index, part)) for part in islice(made, 1))


def _texts(model: Assignment) -> Iterator[tuple[Path, tuple[Facts, View]]]:
    """Of bytes whose text a rule reads (``string(self)``): the path, and what the model states of the text."""
    for term, facts, view in statements((atom, holds) for atom, holds in model.items() if is_statement(atom)):
        read = term.parts[0] if isinstance(term, Opaque) and term.name == "string" else None
        if isinstance(read, Ref) and read.is_a("bytes"):
            yield read.path, (facts, view)


def _part(term: Canonical) -> tuple[Path, str, int] | None:
    """The path of a string, a separator, and an index, of ``self.split(',')[0]``; None for other terms."""
    if not isinstance(term, Opaque) or term.name != "_[_]":
        return None
    split, index = term.parts
    if isinstance(split, Opaque) and split.name == "split" and len(split.parts) == 2 and isinstance(index, Const):
        text, separator = split.parts
        if isinstance(text, Ref) and isinstance(separator, Const) and separator.value:
            return text.path, separator.value, index.value
    return None

"""Compilation of rules against the types of a schema: errors in the server's words, the type of the result, the cost.

Source: apiextensions-apiserver, pkg/apiserver/schema/cel/compilation.go; cel-go, common/error.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.cel.environment import parse_as
from crdcompat.apiserver.cel.static import literals, syntax_errors
from crdcompat.apiserver.cel.static.checker import Checker
from crdcompat.apiserver.cel.static.cost import Coster
from crdcompat.apiserver.cel.static.declarations import functions
from crdcompat.apiserver.cel.static.declared import Declared, name_types
from crdcompat.apiserver.cel.static.types import Type, optional
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.parse import RefusedError
from crdcompat.cel.syntax import Parsed

#: Since this minor a server takes functions of new rules one minor after those of stored rules.
_ENVIRONMENTS_SINCE = 28
_OLD_CHECKER_UNTIL = 28
_SELF = "selfType0"
_MAX_SNIPPET = 16384
#: The libraries since which literals are checked with the types; before: when the program is made.
_CHECKS_LITERALS_SINCE = 29
#: The server since which literals of ``format`` are checked, and the libraries since which there is ``format``.
_CHECKS_FORMATS_SINCE, _FORMATS_SINCE = 31, 29


class Compiled(Struct, frozen=True):
    """A compiled expression: ``error`` is the server's text about one that does not compile, "" for others.

    ``stage`` is the step that failed: ``compilation`` or ``instantiation``.
    """

    error: str
    result: Type | None = None
    cost: int = 0
    uses_old: bool = False
    stage: str = "compilation"


def level(server: Server, *, stored: bool) -> int:
    """The newest minor whose libraries a rule may use; ``stored``: the installed CRD has it already."""
    if server.minor < _ENVIRONMENTS_SINCE or stored:
        return server.minor
    return server.minor - 1


def compiled(text: str, root: Declared, server: Server, *, stored: bool, optional_old: bool) -> Compiled:
    """The compiled expression on values of the type ``root``. Equal expressions on equal types are compiled once."""
    return _compiled(text, root, server, stored, optional_old)


@lru_cache(maxsize=65536)
def _compiled(text: str, root: Declared, server: Server, stored: bool, optional_old: bool) -> Compiled:
    try:
        tree, checker, result = checked(text, root, server, stored=stored, optional_old=optional_old)
    except RefusedError as error:
        issues = syntax_errors.issues(text, str(error), server.minor)
        return Compiled(_report(text, issues) if issues is not None else str(error))
    if checker.errors:
        return Compiled(_report(text, [(tree.offsets.get(node, 0), said) for node, said in checker.errors]))
    known = level(server, stored=stored)
    if wrong := [*_bad_literals(tree, checker, server, known)]:
        return Compiled(_report(text, [(tree.offsets.get(node, 0), said) for node, said in wrong]))
    if known < _CHECKS_LITERALS_SINCE and (bad := next(literals.unreadable(tree.root, checker), None)) is not None:
        return Compiled(bad[2], stage="instantiation")
    cost = Coster(checker, root, server.minor, net="net" in server.cel_backports).cost(tree.root)
    return Compiled("", result, cost, "oldSelf" in checker.names)


def checked(
    text: str, root: Declared, server: Server, *, stored: bool, optional_old: bool
) -> tuple[Parsed, Checker, Type]:
    """The tree of an expression, the checker with its types and errors, and the type of the result.

    Raises RefusedError for an expression that does not parse.
    """
    known, backports = level(server, stored=stored), server.cel_backports
    tree = parse_as(text, known)
    structs: dict[str, Declared] = {}
    own = name_types(root, _SELF, structs)
    variables = {"self": own, "oldSelf": optional(own) if optional_old else own}
    checker = Checker(
        functions(known, server.minor, backports),
        variables,
        structs,
        _resolutions(known, server.minor, backports),
        old=server.minor <= _OLD_CHECKER_UNTIL,
        reads_keywords=server.does("cel_keyword_fields"),
    )
    return tree, checker, checker.check(tree.root)


def _bad_literals(tree: Parsed, checker: Checker, server: Server, known: int) -> Iterator[tuple[int, str]]:
    """The faults of literals, each with its node, that a server finds after the type check."""
    if server.minor > _OLD_CHECKER_UNTIL:
        yield from literals.mixed(tree.root, checker)
    if known >= _CHECKS_LITERALS_SINCE:
        yield from (
            (literal.id, f"invalid {name} argument") for literal, name, _ in literals.unreadable(tree.root, checker)
        )
    if server.minor >= _CHECKS_FORMATS_SINCE and known >= _FORMATS_SINCE:
        yield from literals.misformatted(tree.root, checker)


@lru_cache(maxsize=64)
def _resolutions(known: int, minor: int, backports: frozenset[str]) -> dict[Any, Any]:
    """The overloads that calls resolved to, by name and types: they are the same in all rules."""
    return {}


def _report(text: str, errors: list[tuple[int, str]]) -> str:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for offset, said in errors:
        row = max(index for index, start in enumerate(starts[:-1]) if start <= offset)
        found.append((row, offset - starts[row], said))
    return "\n".join(_shown(*each, lines) for each in sorted(found, key=lambda each: each[:2]))


def _shown(row: int, column: int, said: str, lines: list[str]) -> str:
    head = f"ERROR: <input>:{row + 1}:{column + 1}: {said}"
    line = lines[row].replace("\t", " ")
    if len(line) > _MAX_SNIPPET:
        return head
    marks = "".join("." if char.isascii() else "\uff0e" for char in line[:column])
    at_wide = column < len(line) and not line[column].isascii()
    return f"{head}\n | {line}\n | {marks}{chr(0xFF3E) if at_wide else '^'}"

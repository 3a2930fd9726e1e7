"""The functions of an expression that a server lacks: the server's type checker reports an error at each of them."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.cel.static.compile import checked
from crdcompat.apiserver.cel.static.declarations import functions
from crdcompat.apiserver.cel.static.declared import Declared
from crdcompat.apiserver.server_versions import NEWEST, Server
from crdcompat.cel.parse import RefusedError, parse
from crdcompat.cel.syntax import Expr

#: Name in a syntax tree -> operator or macro as rules spell it.
_SPELLED = {
    **{f"_{sign}_": sign for sign in ("<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "%", "&&", "||")},
    "_?._": "?.",
    "_[?_]": "[?]",
    "_[_]": "[]",
    "@in": "in",
    "!_": "!",
    "-_": "-",
    "_?_:_": "?:",
    "cel.@mapInsert": "transformMap",
}
#: Macros with a form of two variables since 1.33. Before, a call with three arguments calls an unknown function.
_TWO_VARIABLES = frozenset({"all", "exists", "existsOne"})
#: Operators that parsers before 1.28 refuse.
_OPTIONAL_SYNTAX = frozenset({"_?._", "_[?_]"})


def lacking(text: str, root: Declared, server: Server, *, optional_old: bool) -> tuple[str, ...]:
    """The functions, operators and fields, as the expression spells them, that ``server`` does not have.

    The result is empty if the expression compiles, or if its errors have another cause.
    """
    try:
        tree, checker, _ = checked(text, root, server, stored=False, optional_old=optional_old)
    except RefusedError:
        return _unreadable_syntax(text)
    wrong = {node for node, _ in checker.errors}
    if not wrong:
        return ()
    found = [each for each in tree.root.walk() if each.id in wrong and not any(_wrong_parts(each, wrong))]
    calls = [_name(each) for each in found if each.kind == "call"]
    named = [name for name in calls if name not in _SPELLED]
    fields = [each.name for each in found if each.kind == "select"]
    operators = [_SPELLED[name] for name in calls if name in _SPELLED]
    return tuple(dict.fromkeys(named or fields or operators))


def _wrong_parts(expr: Expr, wrong: set[int]) -> Iterator[Expr]:
    """The wrong calls and fields inside an expression. They cause the error of the expression itself."""
    below = (each for part in expr.parts() for each in part.walk())
    return (each for each in below if each.id in wrong and each.kind in ("call", "select"))


def _unreadable_syntax(text: str) -> tuple[str, ...]:
    """The operators of newer servers in an expression that an older one cannot parse."""
    try:
        calls = {each.name for each in parse(text).root.walk() if each.kind == "call"}
    except RefusedError:
        return ()
    return tuple(sorted(_SPELLED[name] for name in calls & _OPTIONAL_SYNTAX))


def _name(call: Expr) -> str:
    """The called function as a rule spells it, with its namespace: ``sets.contains``."""
    if call.target is not None and call.target.kind == "ident":
        name = f"{call.target.name}.{call.name}"
        if name in functions(NEWEST, NEWEST, frozenset()):
            return name
    return f"{call.name}(i, v, …)" if call.name in _TWO_VARIABLES else call.name

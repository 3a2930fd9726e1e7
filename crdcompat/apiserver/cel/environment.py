"""The CEL environments: one with every function of Kubernetes for evaluation, and one for each server version.

Source: k8s.io/apiserver/pkg/cel/environment/base.go; docs/semantics.md#libraries-of-rules.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel import (
    library_convert,
    library_format,
    library_lists,
    library_net,
    library_quantity,
    library_url,
)
from crdcompat.apiserver.cel.library import EvaluationError, Function, reported
from crdcompat.apiserver.cel.tokens import SHARED
from crdcompat.apiserver.server_versions import has_library
from crdcompat.cel import parse, syntax
from crdcompat.cel.parse import RefusedError, compiled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.apiserver.server_versions import Server

_NEWEST = 99


def _has(_object: Any, _member: str) -> bool:
    """has() that raises the error of a member whose data does not fit its schema; see ``convert``."""
    fault = _object.get(f"\x01{_member}")
    if isinstance(fault, str):
        raise EvaluationError(fault)
    return _member in _object


_LIBRARIES: tuple[tuple[Function, ...], ...] = (
    library_lists.FUNCTIONS,
    library_url.FUNCTIONS,
    library_net.FUNCTIONS,
    library_quantity.FUNCTIONS,
    library_format.FUNCTIONS,
    library_convert.FUNCTIONS,
    (Function("k8sHas", ("map", "string"), "bool", _has, member=False),),
)


def _misfit(function: Function) -> Function:
    """A function of a text, given the integer of an int-or-string."""

    def body(_value: int) -> Any:
        raise EvaluationError(f"no such overload: {function.name}(int)")

    return Function(function.name, ("int",), function.returns, body, member=False, since=function.since)


_MISFITS = tuple(
    _misfit(function)
    for library in (library_net, library_quantity, library_url)
    for function in library.FUNCTIONS
    if function.parameters == ("string",) and not function.member and not function.name.startswith("k8s")
)

#: Function or operator of CEL's own extensions -> the Kubernetes minor that introduced it.
_EXTENSIONS: dict[str, int] = {
    **dict.fromkeys(("_?._", "_[?_]", "hasValue", "value", "orValue", "or"), 28),
    **dict.fromkeys(("optional.of", "optional.none", "optional.ofNonZeroValue", "optMap", "optFlatMap"), 28),
    **dict.fromkeys(("sets.contains", "sets.equivalent", "sets.intersects", "format", "strings.quote"), 29),
    **dict.fromkeys(("transformList", "transformMap", "transformMapEntry", "existsOne"), 32),
    **dict.fromkeys(("first", "last"), 32),
    **dict.fromkeys(("distinct", "flatten", "lists.range", "reverse", "slice", "sort", "sortBy"), 34),
}

#: The minors whose libraries brought macros or operators.
_MACROS_SINCE = (28, 32, 34)


@cache
def _introduced() -> dict[str, int]:
    found = dict(_EXTENSIONS)
    for function in (function for library in _LIBRARIES for function in library):
        found[function.name] = min(function.since, found.get(function.name, _NEWEST))
    return found


#: Function -> the library that OpenShift has earlier.
_BACKPORTED = {
    **{function.name: "net" for function in library_net.FUNCTIONS},
    **{function.name: "format" for function in library_format.FUNCTIONS},
}


def lacks(server: Server, functions: Iterable[str]) -> tuple[str, ...]:
    """The functions among ``functions`` that the server does not know."""
    introduced, backports = _introduced(), server.cel_backports
    return tuple(
        name
        for name in functions
        if not has_library(introduced.get(name, 0), _BACKPORTED.get(name, ""), server.minor, backports)
    )


def functions_of(tree: syntax.Expr) -> frozenset[str]:
    """The functions and operators that a rule calls; namespaced ones by their full names (``ip.isCanonical``)."""
    found: set[str] = set()
    for expr in tree.walk():
        if expr.kind == "call":
            found.add(qualified(expr))
        elif expr.kind == "fold" and expr.variables[1]:
            found.add("transformList")
    return frozenset(found)


def qualified(call: syntax.Expr) -> str:
    """The name of the called function, with its namespace if it has one."""
    target = call.target
    if target is not None and target.kind == "ident":
        name = f"{target.name}.{call.name}"
        if name in _introduced():
            return name
    return call.name


def _environment(
    known: int, *, backports: frozenset[str], self_type: str, old_type: str, lenient: bool = False, era: int = _NEWEST
) -> Any:
    """An environment; ``lenient`` has functions of texts for integers too, which fail as in cel-go.

    Functions do what they do on servers of the minor ``era``.
    """
    cel = parse.library()
    declared: dict[str, list[Any]] = {}
    for function in (*(function for library in _LIBRARIES for function in library), *(_MISFITS if lenient else ())):
        if has_library(function.since, _BACKPORTED.get(function.name, ""), known, backports):
            declared.setdefault(function.name, []).append(_overload(cel, function, era))
    config = ["extensions:", " - name: strings", f"   version: {2 if known >= 29 else 0}"]
    if known >= 28:
        config += [" - name: optional", f"   version: {2 if known >= 32 else 1}"]
    for name, since in (("sets", 29), ("two-var-comprehensions", 32), ("lists", 34)):
        if known >= since:
            config.append(f" - name: {name}")
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml("\n".join(config) + "\n"),
        variables={"self": _type(cel, self_type), "oldSelf": _type(cel, old_type), "__old": cel.Type.DYN},
        functions=[cel.FunctionDecl(name, overloads) for name, overloads in declared.items()],
    )


def _overload(cel: Any, function: Function, era: int) -> Any:
    identity = "_".join(
        ("k8s", re.sub(r"\W", "_", function.name), *function.parameters, "m" if function.member else "g")
    )
    return cel.Overload(
        identity,
        _type(cel, function.returns),
        [_type(cel, name) for name in function.parameters],
        function.member,
        impl=reported(function.body_of(era)),
    )


def _type(cel: Any, name: str) -> Any:
    return cel.Type.Map(cel.Type.STRING, cel.Type.DYN) if name == "object" else getattr(cel.Type, name.upper())


@cache
def full(era: int = _NEWEST) -> Any:
    """The environment for evaluation: all functions of Kubernetes as of an era, with untyped variables."""
    return _environment(_NEWEST, backports=frozenset(), self_type="dyn", old_type="dyn", lenient=True, era=era)


@cache
def _changed() -> dict[str, int]:
    """The functions that servers of older minors run differently, by their names in rules."""
    shared = {ours: name for name, ours in SHARED.items()}
    every = (function for library in _LIBRARIES for function in library)
    return {shared.get(function.name, function.name): function.changed for function in every if function.changed}


def changed_functions(used: frozenset[str]) -> frozenset[str]:
    """The functions among ``used`` that servers of different minors run differently."""
    return used & _changed().keys()


def era_of(minor: int, used: frozenset[str]) -> int:
    """The era in which the functions ``used`` do what servers of a minor do; as many minors as can share one."""
    changes = [since for name, since in _changed().items() if name in used]
    return max((since for since in changes if since <= minor), default=0) if changes else _NEWEST


@cache
def _server_environment(known: int, backports: frozenset[str], self_type: str) -> Any:
    return _environment(known, backports=backports, self_type=self_type, old_type=self_type)


def parse_as(rule: str, known: int) -> syntax.Parsed:
    """The tree of a rule with the macros and operators of the libraries up to a minor. Raises RefusedError.

    Libraries that differ in functions alone share the tree: the parser asks for macros and operators only.
    """
    return _parsed(rule, max((since for since in _MACROS_SINCE if since <= known), default=0))


@lru_cache(maxsize=16384)
def _parsed(rule: str, known: int) -> syntax.Parsed:
    environment = _server_environment(known, frozenset(), "dyn")
    return syntax.read(compiled(environment, rule, disable_check=True).serialize())


def compile_rule(rule: str, era: int) -> Any:
    """The evaluable expression of a rewritten rule, with the functions of an era. Raises RefusedError.

    Kubernetes compares int with double (since 1.28). The checker of the CEL library refuses such comparisons, but its
    evaluator supports them.
    """
    try:
        return compiled(full(era), rule)
    except RefusedError as error:
        sentences = [text.split("\n")[0] for text in _ISSUE.split(str(error))[3::3]]
        if not sentences or not all(map(_COMPARISON.match, sentences)):
            raise
    return compiled(full(era), rule, disable_check=True)


_COMPARISON = re.compile(r"found no matching overload for '_[<>]=?_' applied to '\((?:int|double), (?:int|double)\)'")
_ISSUE = re.compile(r"^ERROR: <input>:(\d+):(\d+): ", re.MULTILINE)


def compile_issues(rule: str, server: Server, self_type: str) -> list[tuple[int, int, str]] | None:
    """The errors of the server's compiler: (line, column, sentence); None if the rule compiles."""
    try:
        compiled(_server_environment(server.minor, server.cel_backports, self_type), rule)
    except RefusedError as error:
        parts = _ISSUE.split(str(error))[1:]
        return sorted(
            (int(line), int(column), sentence.split("\n | ")[0].strip())
            for line, column, sentence in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        )
    return None

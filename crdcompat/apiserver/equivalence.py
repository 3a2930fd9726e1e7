"""What of a server decides which values it takes: servers that agree in it need not be asked one by one."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.versions import Server
from crdcompat.schema.structural import Node

#: Behaviours that decide about a value; all others are about words, paths and writes (eras.py).
_KEYWORDS = ("typed_errors", "k8s_name_formats", "integer_range")
_RULES = ("cel", "cel_in_all_of")
_VALIDATIONS = "x-kubernetes-validations"


def manner(server: Server, schema: Node) -> tuple[Any, ...]:
    """Equal for servers that take the same new values under ``schema``, whatever they say about the others.

    Rules are the same to servers that know all their functions (``environment.lacks``), unless they ask for an
    optional oldSelf: what comes of that changed from minor to minor.
    """
    taken = tuple(server.does(behaviour) for behaviour in _KEYWORDS)
    rules = [rule for part in schema.parts() if _VALIDATIONS in part for rule in Node(part).rules]
    if not rules:
        return taken
    from crdcompat.apiserver.cel.environment import RefusedError, lacks
    from crdcompat.apiserver.cel.rules import program

    if any("optionalOldSelf" in rule for rule in rules):
        return (*taken, server)
    try:
        functions = {name for rule in rules for name in program(str(rule.get("rule", ""))).functions}
    except (RefusedError, RecursionError):
        return (*taken, server)
    return (*taken, *(server.does(behaviour) for behaviour in _RULES), lacks(server, sorted(functions)))

"""Equivalence of servers: one judgement is enough for all servers with the same equivalence key."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.structural import RULES, Node

#: Behaviours (``versions.SINCE``) that decide whether a value is valid. All others affect messages, paths and writes.
_KEYWORD_BEHAVIOURS = ("typed_errors", "k8s_name_formats", "integer_range", "strict_url_colons", "halved_tolerance")
_RULE_BEHAVIOURS = ("cel", "cel_in_all_of")


def equivalence_key(server: Server, schema: Node) -> tuple[Any, ...]:
    """A hashable key, equal for servers that accept the same new values under ``schema``. Their messages may differ.

    A rule means the same on every server of its functions' era (``environment.era_of``) that has all of them
    (``environment.lacks``). A rule with optionalOldSelf does not: its semantics changed between minors.
    """
    keywords = tuple(server.does(behaviour) for behaviour in _KEYWORD_BEHAVIOURS)
    rules = [rule for part in schema.parts() if RULES in part for rule in Node(part).rules]
    if not rules:
        return keywords
    from crdcompat.apiserver.cel.environment import era_of, lacks
    from crdcompat.apiserver.cel.rule_programs import program
    from crdcompat.cel.parse import RefusedError

    if any("optionalOldSelf" in rule for rule in rules):
        return (*keywords, server)
    try:
        functions = {name for rule in rules for name in program(str(rule.get("rule", ""))).functions}
    except (RefusedError, RecursionError):
        return (*keywords, server)
    return (
        *keywords,
        *(server.does(behaviour) for behaviour in _RULE_BEHAVIOURS),
        server.does("cel_bare_objects") or not any(map(is_bare, schema.parts())),
        era_of(server.minor, frozenset(functions)),
        lacks(server, sorted(functions)),
    )


def is_bare(part: dict[str, Any]) -> bool:
    """Whether a schema describes an object without declared members, which not all servers can show to rules."""
    return part.get("type") == "object" and not View(Node(part)).described

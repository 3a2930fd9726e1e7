"""Disputed objects: one supported server accepts them and another refuses them, because a function of CEL changed.

Some functions of CEL changed between minors of Kubernetes. This module knows strings on which the old and the new
function differ, and tries them in the members that a rule names.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.cel.environment import changed_functions, era_of
from crdcompat.apiserver.cel.rule_programs import program
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.local import NodeJudge, as_read, as_resource, defaulted, shape
from crdcompat.candidates.mentions import mentions
from crdcompat.candidates.small_values import hint, variants
from crdcompat.compare.attempt import attempt
from crdcompat.compare.changes import Change
from crdcompat.compare.claim import Claim
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.site import Trial, WriterReader
from crdcompat.crds.resolving import Chosen
from crdcompat.schema.paths import Object, SchemaPath
from crdcompat.schema.structural import RULES, Node
from crdcompat.vocabulary import Effect

_URLS = ("http://fd00::1", "https://fd00::1", "https://fd00::1/a")
#: Function -> strings for which its results differ between servers. The strings of containsCIDR follow from the rule.
_TEXTS: dict[str, tuple[str, ...]] = {
    "url": _URLS,
    "isURL": _URLS,
    "validate": _URLS,
    "indexOf": ("",),
    "lastIndexOf": ("",),
}
_MAX_TRIALS = 3


def changed_by(rule: dict[str, Any]) -> tuple[str, ...]:
    """The functions of a rule that changed between servers."""
    return tuple(sorted(changed_functions(program(_text(rule)).names)))


class Disputed(Struct, frozen=True):
    """A rule by which the ``strict`` servers refuse ``object``, and the ``others`` accept it.

    ``functions`` are the functions of the rule that changed between the servers, ``errors`` the messages of a strict
    server.
    """

    functions: tuple[str, ...]
    object: Object
    errors: tuple[str, ...]
    strict: tuple[Server, ...]
    others: tuple[Server, ...]


def disputed(
    chosen: Chosen, path: SchemaPath, node: Node, rule: dict[str, Any], servers: Sequence[Server]
) -> Disputed | None:
    """The dispute of the servers about a rule of the node at ``path``; None if no object shows one."""
    functions, names = changed_by(rule), program(_text(rule)).names
    eras = {era_of(server.minor, names): server for server in servers}
    known = ComparisonCache()  # not the cache of the comparison: its servers are others
    for older, newer in pairwise(sorted(eras.values(), key=lambda server: server.minor)):
        for trial, writer, reader in _trials(path, node, rule, functions, (older, newer)):
            pair = WriterReader(known.resource(chosen, writer), known.resource(chosen, reader))
            found = _object(trial, rule, pair, known)
            if found is None:
                continue
            verdicts = {each: known.resource(chosen, each).create(found, keep_status=True) for each in servers}
            if any(verdict.accepted is None for verdict in verdicts.values()):
                continue
            strict, others = (
                tuple(each for each in servers if verdicts[each].accepted is accepted) for accepted in (False, True)
            )
            if strict and others:
                errors = tuple(error.text() for error in verdicts[reader].errors)
                return Disputed(functions, found, errors, strict, others)
    return None


def _object(trial: Trial, rule: dict[str, Any], pair: WriterReader, known: ComparisonCache) -> Object | None:
    """An object that the writer accepts and the reader refuses by this rule; None if there is none."""
    change = Change("cel.rule-added", trial.path, None, [rule], added=(_text(rule),))
    claim = Claim.at(change, (Effect.WRITE_REJECTED,), None)
    made = known.book.made(pair.writer.server)
    reading = attempt(trial, claim, pair, pair.writer.node, known=None, search=True, made=made).reading
    return reading.object if reading is not None and reading.shown.clean else None


def _trials(
    path: SchemaPath, node: Node, rule: dict[str, Any], functions: Sequence[str], servers: tuple[Server, Server]
) -> Iterator[tuple[Trial, Server, Server]]:
    """Values that one of the two servers refuses by the rule, each with the accepting and the refusing server."""
    node = as_resource(node, is_root=not path)
    named = Node({**shape(node.raw), RULES: [rule]})
    texts = list(dict.fromkeys(text for name in functions for text in _texts(name, named)))
    seeds = Node({"anyOf": [hint(mention.member, texts) for mention in mentions(named)]})
    judges = [NodeJudge(named, server) for server in servers]
    whole = [NodeJudge(node, server) for server in servers]
    count = 0
    for value in variants(Node({**node.raw, RULES: []}), seeds, named):
        seen = as_read(defaulted(value, node), node)
        breaks = [judge.breaks_rules(seen) for judge in judges]
        if breaks[0] == breaks[1]:
            continue
        accepting, refusing = (0, 1) if breaks[1] else (1, 0)
        if whole[accepting].accepts(value):
            yield Trial(value, path), servers[accepting], servers[refusing]
            count += 1
        if count == _MAX_TRIALS:
            return


def _text(rule: dict[str, Any]) -> str:
    return str(rule.get("rule", "")).strip()


def _texts(function: str, named: Node) -> Iterator[str]:
    if function != "containsCIDR":
        yield from _TEXTS[function]
        return
    literals = [value for mention in mentions(named) for value in mention.values if isinstance(value, str)]
    for literal in (*literals, "10.0.0.0/8"):
        yield from _subnets(literal)


def _subnets(literal: str) -> Iterator[str]:
    """A network, and a smaller one in it with another first address: containsCIDR is false for them before 1.33."""
    try:
        network = ipaddress.ip_network(literal)
    except ValueError:
        return
    for longer in (8, 1):
        if network.prefixlen + longer <= network.max_prefixlen:
            yield literal
            size = 1 << (network.max_prefixlen - network.prefixlen - longer)
            yield f"{network.network_address + size}/{network.prefixlen + longer}"
            return

"""Why some servers refuse a CRD: the function, field or keyword that they do not know, and its place.

`ask` gets the answers of servers. A cause follows from the answers of all servers of one product: if only some of them
refuse a part of the CRD, the version decides. The texts of the answers are not parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial

from msgspec import Struct

from crdcompat.apiserver.cel.static.declared import declared
from crdcompat.apiserver.cel.static.lacking import lacking
from crdcompat.apiserver.crd_validation.decoded_keywords import decoded_schema
from crdcompat.apiserver.crd_validation.definition import GATED
from crdcompat.apiserver.crd_validation.memo import Memo
from crdcompat.apiserver.crd_validation.refusal import Fault, contributes, without_totals
from crdcompat.apiserver.field_errors import FORBIDDEN
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.crd_answer import Answer, answers_of
from crdcompat.apiserver.supported.ranges import age, family
from crdcompat.crds.model import Crd
from crdcompat.schema.paths import Pointer, value_or_none
from crdcompat.schema.structural import RULES

_EXPRESSIONS = ("rule", "messageExpression")
_OPTIONAL_OLD = "optionalOldSelf"
_ROOT = "openAPIV3Schema"


class CauseKind(StrEnum):
    """The refused part: a part of a CEL expression, the cost, a rule as a whole, or a keyword of the CRD."""

    EXPRESSION = "expression"
    COST = "cost"
    RULE = "rule"
    KEYWORD = "keyword"


class Cause(Struct, frozen=True):
    """Something that servers refuse: ``what`` is the function, operator, field or keyword as the CRD spells it.

    ``at`` is its place in the document, ``rule`` the expression that it is in ("" outside of CEL). ``refused`` gives
    each server that refuses it, oldest first, and its message; ``accepting`` are the other servers.
    """

    kind: CauseKind
    what: str
    at: Pointer
    rule: str
    refused: Mapping[Server, str]
    accepting: tuple[Server, ...]

    @property
    def has_name(self) -> bool:
        """Whether ``what`` is spelled in the CRD."""
        return self.kind in (CauseKind.EXPRESSION, CauseKind.KEYWORD)

    @property
    def title(self) -> str:
        """The refused part as sentences name it."""
        return {CauseKind.COST: "the CEL cost", CauseKind.RULE: "this rule"}.get(self.kind, self.what)

    @property
    def since(self) -> Server | None:
        """The oldest server from which on all accept it; None if the newest one refuses it."""
        newest = max(map(age, self.refused))
        return next((server for server in self.accepting if age(server) > newest), None)

    @property
    def until(self) -> Server | None:
        """The newest server up to which all accept it; None if the oldest one refuses it."""
        oldest = min(map(age, self.refused))
        return next((server for server in reversed(self.accepting) if age(server) < oldest), None)

    @property
    def message(self) -> str:
        """The message of the refusing server that is next to the accepting ones."""
        messages = list(self.refused.values())
        return messages[-1] if self.since is not None else messages[0]


_KNOWN: Memo[tuple[Cause, ...]] = Memo()


class Answers(Struct, frozen=True, eq=False):
    """The answers of servers to one CRD, and the causes of refusals."""

    answers: tuple[Answer, ...]
    causes: tuple[Cause, ...]


def ask(crd: Crd, servers: Sequence[Server]) -> Answers:
    """Ask servers about a CRD. If one refuses it, ask all others of its product: their answers show the cause."""
    answers = answers_of(crd, servers)
    refusing = [server for server in servers if answers[server].faults]
    found: list[Cause] = []
    for product in dict.fromkeys(map(family, refusing)):
        every = _KNOWN.of(crd, product, partial(_causes_on, crd, product))
        found += (cause for cause in every if any(server in cause.refused for server in refusing))
    return Answers(tuple(answers[server] for server in servers), tuple(found))


def _causes_on(crd: Crd, product: Sequence[Server]) -> tuple[Cause, ...]:
    answers = answers_of(crd, product)
    return causes(crd, [answers[server] for server in product])


def causes(crd: Crd, answers: Sequence[Answer]) -> tuple[Cause, ...]:
    """The causes of the refusals. ``answers`` has the answer of each server of a product, oldest first."""
    found: dict[tuple[CauseKind, str, Pointer], dict[Server, str]] = {}
    places = {fault.at for each in answers for fault in without_totals(each.faults)}
    for each in answers:
        for fault in each.faults:
            # A cause on one server counts on the others as well, where it stands beside another one.
            if contributes(fault) or fault.at not in places:
                continue
            for kind, what in _parts(crd, fault, each.server):
                found.setdefault((kind, what, fault.at), {}).setdefault(each.server, fault.detail or fault.text)
    every = [each.server for each in answers]
    cause_of = partial(_cause, crd=crd, every=every)
    return tuple(cause_of(*key, refused=refused) for key, refused in found.items())


def _cause(
    kind: CauseKind, what: str, at: Pointer, *, crd: Crd, every: Sequence[Server], refused: Mapping[Server, str]
) -> Cause:
    accepting = tuple(server for server in every if server not in refused)
    return Cause(kind, what, at, _expression(crd, at), refused, accepting)


def _parts(crd: Crd, fault: Fault, server: Server) -> Iterator[tuple[CauseKind, str]]:
    """The kind and the name of each part that ``server`` refuses at the place of a fault."""
    expression = _expression(crd, fault.at)
    if fault.type == FORBIDDEN and (expression or fault.at[-1:] == (_ROOT,)):
        yield CauseKind.COST, "cost"
    elif expression:
        names = _lacking(crd, fault.at, server)
        yield from ((CauseKind.EXPRESSION, name) for name in names)
        if not names and _drops_optional_old(crd, fault.at, server):
            yield CauseKind.KEYWORD, _OPTIONAL_OLD
        elif not names:
            yield CauseKind.RULE, str(fault.at[-1])
    else:
        yield CauseKind.KEYWORD, next((each for each in reversed(fault.at) if isinstance(each, str)), "")


def _expression(crd: Crd, at: Pointer) -> str:
    """The CEL expression at a place; "" for other places, and for what is no text: no server decodes that."""
    if len(at) < len(_EXPRESSIONS) + 1 or at[-3] != RULES or at[-1] not in _EXPRESSIONS:
        return ""
    found = value_or_none(crd.raw, at)
    return found if isinstance(found, str) else ""


def _lacking(crd: Crd, at: Pointer, server: Server) -> tuple[str, ...]:
    """The functions, operators and fields in the expression at a place that ``server`` lacks."""
    decoded = decoded_schema(value_or_none(crd.raw, at[:-3]))
    resource = at[-4] == _ROOT or bool(decoded.get("x-kubernetes-embedded-resource"))
    root = declared(decoded, resource=resource, enums=server.does("enum_lengths"))
    if root is None:
        return ()
    return lacking(_expression(crd, at), root, server, optional_old=_has_optional_old(crd, at))


def _has_optional_old(crd: Crd, at: Pointer) -> bool:
    return bool(value_or_none(crd.raw, (*at[:-1], _OPTIONAL_OLD)))


def _drops_optional_old(crd: Crd, at: Pointer, server: Server) -> bool:
    """Whether the server compiles the rule without its optionalOldSelf, because that feature is off or unknown."""
    return _has_optional_old(crd, at) and not server.does(GATED[_OPTIONAL_OLD])

"""Widenings that accept what OLD or NEW accepts, and nothing else (``--suggest-patch``)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import orjson

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Widen, Widening
from crdcompat.schema.paths import Pointer, node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, RULES, Node

#: The types of an int-or-string.
_TYPES = [{"type": "integer"}, {"type": "string"}]
#: Says in CEL what a keyword of OLD says: its value -> an expression about ``self``; "" if no expression says it.
InCel = Callable[[Any], str]


def either(keywords: Collection[str], in_cel: InCel = lambda value: "") -> Widen:
    """Widen by the keywords of both sides as branches of ``anyOf``; by NEW's lack of them, where it has none.

    Rules of NEW that took the place of a keyword come with it; each accepts what ``in_cel`` of the keyword accepts.
    """
    return lambda change, values, old, new: _either(change, keywords, in_cel, old, new)


def _either(change: Change, keywords: Collection[str], in_cel: InCel, old: Node, new: Node) -> Iterator[Widening]:
    a, b = node_at(old, change.path), node_at(new, change.path)
    if a is None or b is None:
        return
    at = schema_pointer(change.path)
    before, after = (_own(side, keywords) for side in (a, b))
    if before == after or not before:
        return
    for keyword in before:
        if keyword != "anyOf" or not after:
            yield Widening(at, keyword, ABSENT)
    if after:
        branches = {"anyOf": [before, after]}
        if "anyOf" not in a.raw or "anyOf" in before:
            yield Widening(at, "anyOf", branches["anyOf"])
        else:
            beside = [{"anyOf": _TYPES}] if a.int_or_string else a.raw.get("allOf", ())
            yield Widening(at, "allOf", [*beside, branches])
        return
    yield from rules_besides(a, b, at, next((in_cel(value) for value in before.values()), ""))


def _own(node: Node, keywords: Collection[str]) -> dict[str, Any]:
    """The keywords of a node, without the ``anyOf`` that an int-or-string has to have."""
    found = {key: node.raw[key] for key in sorted(keywords) if key in node.raw}
    if node.int_or_string and found.get("anyOf") == _TYPES:
        del found["anyOf"]
    return found


def rules_besides(old: Node, new: Node, at: Pointer, fits: str) -> Iterator[Widening]:
    """OLD's rules and those that NEW alone has; these accept what ``fits``, an expression of CEL, accepts, too."""
    if added := only_in(new, old):
        changed = [{**rule, "rule": f"{fits} || ({rule['rule']})"} if fits else rule for rule in added]
        yield Widening(at, RULES, [*old.rules, *changed])


def either_rules(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """The rules of both sides; of those that one side alone has, either side's. NEW's, if a rule is about updates."""
    a, b = node_at(old, change.path), node_at(new, change.path)
    if a is None or b is None:
        return
    removed, added = only_in(a, b), only_in(b, a)
    kept = [rule for rule in a.rules if rule not in removed]
    if removed and added and not any(_is_of_updates(rule) for rule in (*removed, *added)):
        both = [" && ".join(f"({rule['rule']})" for rule in side) for side in (removed, added)]
        made = {key: value for key, value in removed[0].items() if key != "messageExpression"}
        kept.append({**made, "rule": " || ".join(f"({side})" if " && " in side else side for side in both)})
    elif any(_is_of_updates(rule) for rule in (*removed, *added)):
        kept = list(b.rules)
    yield Widening(schema_pointer(change.path), RULES, kept or ABSENT)


def looser(low: str, high: str) -> Widen:
    """Widen two limits to the smaller low and the larger high one of both sides."""

    def widen(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
        a, b = node_at(old, change.path), node_at(new, change.path)
        if a is None or b is None:
            return
        for keyword, pick in ((low, min), (high, max)):
            sides = a.raw.get(keyword, ABSENT), b.raw.get(keyword, ABSENT)
            value = ABSENT if ABSENT in sides else pick(sides)
            if value != sides[0]:
                yield Widening(schema_pointer(change.path), keyword, value, pick)

    return widen


def only_in(mine: Node, theirs: Node) -> list[dict[str, Any]]:
    """The rules of one node that another lacks, by their text."""
    known = {rule.get("rule") for rule in theirs.rules}
    return [rule for rule in mine.rules if rule.get("rule") not in known]


def matching(pattern: Any) -> str:
    """A pattern in CEL; both are searched in the text, as RE2."""
    return f"self.matches({orjson.dumps(pattern).decode()})" if isinstance(pattern, str) else ""


def listing(values: Any) -> str:
    """A list of values in CEL."""
    return f"self in {orjson.dumps(values).decode()}" if isinstance(values, list) and None not in values else ""


def _is_of_updates(rule: dict[str, Any]) -> bool:
    return "oldSelf" in str(rule.get("rule"))

"""CEL rules (x-kubernetes-validations): added, removed, changed (docs/semantics.md#rules).

Evidence decides whether a rule matters: a value that the writer accepts and the rule rejects. A transition rule (with
oldSelf) judges updates; its evidence is a stored object and a write. With optionalOldSelf it judges new values, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import floor
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates.local import NodeJudge, as_read, as_resource, defaulted, shape
from crdcompat.candidates.mentions import Mention, mentions
from crdcompat.candidates.small_values import distinct, every_value, hint, variants
from crdcompat.candidates.unique_items import keeps_rule
from crdcompat.cel.uses import rule_of, uses_old
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Differing, Effects, Facet, Reaction
from crdcompat.compare.intersection import intersection
from crdcompat.compare.reading import reads_alike
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
from crdcompat.compare.transitions import MAX_VALUES, Judges, transitions
from crdcompat.compare.union import either_rules
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.paths import SchemaPath, node_at
from crdcompat.schema.structural import RULES, Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({RULES})
_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {
    "cel.rule-added": Effects(upgrade=_REJECTED),
    "cel.rule-removed": Effects(rollback=_REJECTED),
    "cel.rule-changed": Effects(rollback=_REJECTED, upgrade=_REJECTED),
    "cel.transition-rule-added": Effects(upgrade=_REJECTED),
    "cel.transition-rule-removed": Effects(rollback=_REJECTED),
    "cel.transition-rule-changed": Effects(rollback=_REJECTED, upgrade=_REJECTED),
    "cel.text-changed": Effects(),
}
OF_UPDATES = frozenset(kind for kind in EFFECTS if kind.startswith("cel.transition-"))

_MAX_TRIALS = 6
#: Rules whose counter-models are searched one by one: more change at a node of hostile schemas only.
_MAX_MODELLED = 32
#: Rules by syntax tree.
Rules = dict[str, dict[str, Any]]


def changes(site: Site) -> Iterator[Change]:
    """One change per node for the rules that judge values, one for those that judge transitions.

    A rule that the other side states in other words is a change of text.
    """
    lists = site.lists_count
    old, new = _rules(site.old, lists=lists), _rules(site.new, lists=lists)
    found = []
    for kind, transition in (("rule", False), ("transition-rule", True)):
        before, after = (
            {text: rule for text, rule in side.items() if _is_transition(rule) == transition} for side in (old, new)
        )
        known = _stated_by_both(before, after, site, transition=transition)
        removed, added = ([rule for text, rule in side.items() if text not in known] for side in (before, after))
        if removed or added:
            what = "changed" if removed and added else "added" if added else "removed"
            texts = {"added": _texts(added), "removed": _texts(removed)}
            found.append(site.change(f"cel.{kind}-{what}", removed or None, added or None, RULES, **texts))
    yield from found
    reworded = not found and old.keys() != new.keys()
    if reworded or any(old[text] != new[text] for text in old.keys() & new.keys()):
        yield site.change("cel.text-changed", None, None, RULES)


def _stated_by_both(old: Rules, new: Rules, site: Site, *, transition: bool) -> frozenset[str]:
    """The texts of the rules of either side that the other side states, too, if in other words.

    The facet ``shared_constraint`` has the rules in the same words that one side reads differently: it adds or removes
    a member first. Such rules in other words are not the same.
    """
    if not old or not new or old.keys() == new.keys():
        known = frozenset(old.keys() & new.keys())
    else:
        from crdcompat.compare.equivalence.rewritten import equal_transitions, rewritten  # it loads the CEL library

        known = (equal_transitions if transition else rewritten)(old, site.old, new, site.new, root=not site.path)
    return known if transition or site.reshaped else known - frozenset(_read_differently(old, new, site))


def _read_differently(old: Rules, new: Rules, site: Site) -> Iterator[str]:
    """The texts of the rules whose words one side alone has, and which the sides read differently."""
    ways = (site.old, site.new), (site.new, site.old)
    words = [set(_texts(side.values())) for side in (old, new)]
    for text, rule in chain(old.items(), new.items()):
        is_shared = all(_source(rule) in side for side in words)
        if not is_shared and not all(reads_alike(RULES, [rule], *way) for way in ways):
            yield text


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values that the writer accepts and one of the reader's own rules rejects, or updates of such values.

    Values that the reader rejects for nothing else come first: the server evaluates no rules if other keywords fail.
    """
    writer, reader = pair.nodes(change.path)
    rules = change.old if direction == Direction.ROLLBACK else change.new
    if writer is None or reader is None or not isinstance(rules, list):
        return Trials(())
    from crdcompat.compare.equivalence.effective import always_holds  # it loads the CEL library

    sides, root = ((writer, pair.writer.server), (reader, pair.reader.server)), not change.path
    writer, reader = (as_resource(side, is_root=root) for side in (writer, reader))
    stronger = _texts([rule for rule in writer.rules if _judges_new_values(rule)])
    others = [rule for rule in rules if _source(rule) not in stronger]
    if all(
        not _judges_new_values(rule)
        and (keeps_rule(_source(rule), writer, reader) or always_holds(_source(rule), *sides, root=root))
        for rule in others
    ):
        return Trials((), complete=True)
    rules_only = Node({**shape(reader.raw), RULES: rules})
    rest = Node({**reader.raw, RULES: [rule for rule in reader.rules if rule not in rules]})
    nodes = (writer, pair.writer.server), (rules_only, pair.reader.server), (rest, pair.reader.server)
    judges = Judges(*(NodeJudge(*each) for each in nodes))
    shared, made = intersection(writer, rest, pair.writer.server), ValidValues(pair.writer.server)
    if change.kind in OF_UPDATES:
        fixed = _fixed(node_at(pair.reader.node, change.path[:-1])) if change.path else ("metadata",)
        return _updates(change.path, rules, (writer, reader, shared), judges, fixed, made)
    return _values(change.path, rules, (writer, reader, shared), judges, made)


def _values(
    path: SchemaPath, rules: list[Any], nodes: tuple[Node, Node, Node], judges: Judges, made_by: ValidValues
) -> Trials:
    """Trials of values that break the rules."""
    writer, reader, shared = nodes
    every = every_value(writer) or []
    broken = (value for value in every if judges.rules.breaks_rules(as_read(defaulted(value, writer), reader)))
    complete = bool(every) and not any(map(judges.writer.accepts, broken))
    hints = _hints(reader, rules)
    modelled = (found["self"] for found in _modelled(rules, shared, reader, made_by))
    searched = chain(modelled, variants(shared, *hints), every, () if complete else variants(writer, *hints))
    found = _broken(searched, writer, reader, judges)
    made = tuple(Trial(value, path) for value in found)
    return Trials(made, complete=complete and not made)


def _modelled(rules: list[Any], shared: Node, reader: Node, made_by: ValidValues) -> Iterator[dict[str, Any]]:
    """Values of counter-models, each of one of the rules; those of updates have a stored value, too."""
    from crdcompat.compare.equivalence.effective import breaking  # it loads the CEL library

    for rule in rules[:_MAX_MODELLED]:
        yield from breaking(Node({RULES: [rule]}), shared, (reader, made_by.server), made_by)


def _broken(values: Iterable[Any], writer: Node, reader: Node, judges: Judges) -> list[Any]:
    """Values that the writer accepts and the rules reject, those that the reader rejects for nothing else first."""
    alone: list[Any] = []
    also: list[Any] = []
    for value in distinct(values):
        seen = as_read(defaulted(value, writer), reader)
        if judges.rules.breaks_rules(seen) and judges.writer.accepts(value):
            (alone if judges.rest.accepts(seen) else also).append(value)
        if len(alone) == _MAX_TRIALS:
            break
    return [*alone, *also][:_MAX_TRIALS]


def _updates(
    path: SchemaPath,
    rules: list[Any],
    nodes: tuple[Node, Node, Node],
    judges: Judges,
    fixed: tuple[str, ...],
    made_by: ValidValues,
) -> Trials:
    """Trials of updates that break the rules; they do not change the members ``fixed``."""
    from crdcompat.compare.equivalence.rule_formulas import OLD  # it loads the CEL library

    writer, reader, shared = nodes
    every = every_value(writer)
    searched = variants(shared, *_hints(reader, rules)) if every is None else every
    both = judges.writer.without(_judges_new_values), judges.rest.without(_judges_new_values)
    read = ((value, as_read(defaulted(value, writer), reader)) for value in searched)
    valid = (value for value, seen in read if both[0].accepts(value) and both[1].accepts(seen))
    optional = any(map(_judges_new_values, rules))
    pairs = ((found[OLD], found["self"]) for found in _modelled(rules, shared, reader, made_by) if OLD in found)
    modelled = (pair for pair in pairs if all(map(both[0].accepts, pair)))
    made = transitions(valid, path, judges, fixed, modelled, optional=optional)
    return Trials(made, complete=not made and every is not None and len(every) <= MAX_VALUES, why=_NO_UPDATE)


_NO_UPDATE = "no update was found that breaks the rule"


def _fixed(parent: Node | None) -> tuple[str, ...]:
    """The members of a list's items that an update of an item cannot change."""
    return parent.list_keys if parent is not None and parent.list_type == "map" else ()


def _hints(reader: Node, rules: list[Any]) -> tuple[Node, ...]:
    """Nodes that mention values which may break the rules."""
    named = Node({**shape(reader.raw), RULES: rules})
    return named, _neighbours(named)


def _neighbours(node: Node) -> Node:
    """Unions that list values beside those in a node's rules, as hints for values just beyond what a rule names."""
    return Node({"anyOf": [hint(mention.member, [*_beside(mention)]) for mention in mentions(node)]})


def _beside(mention: Mention) -> Iterator[Any]:
    """The neighbours of numbers; of a resource's name, names that begin or end with one."""
    for value in mention.values:
        if isinstance(value, int | float):
            yield from (floor(value) + step for step in (-1, 1))
        elif mention.member == ("metadata", "name") and isinstance(value, str):
            name = value.strip("-.")
            yield from (name, f"{name}-a", f"a-{name}")


def _is_transition(rule: dict[str, Any]) -> bool:
    return uses_old(rule.get("rule"))


def _texts(rules: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(map(_source, rules))


def _source(rule: dict[str, Any]) -> str:
    return str(rule.get("rule", "")).strip()


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    """Whether one of the changed rules fails at the pointer. A fieldPath moves the error of a rule below it."""
    texts = {*observed.change.added, *observed.change.removed}
    return any(
        error.keyword is Keyword.RULE and error.pointer[: error.base] == observed.pointer and error.demand in texts
        for error in observed.verdict.errors
    )


def explains(difference: Differing, reaction: Reaction) -> bool:
    """Whether one of the changed rules fails. The error of one with a fieldPath is at a member of its node."""
    text = reaction.error.demand if reaction.error is not None else None
    rules = [rule for side in (difference.old, difference.new) if isinstance(side, list) for rule in side]
    failed = [rule for rule in rules if isinstance(rule, dict) and _source(rule) == text]
    return any(reaction.below if "fieldPath" in rule else reaction.at for rule in failed)


def _rules(node: Node, *, lists: bool) -> Rules:
    """The rules by syntax tree, each once. With ``lists`` without those that only list values (facet ``enum``)."""
    found: dict[str, dict[str, Any]] = {}
    listing = {index for index, _ in node.listed} if lists else set()
    for rule in (rule for index, rule in enumerate(node.rules) if index not in listing):
        found.setdefault(_text(rule), rule)
    return found


def _text(rule: dict[str, Any]) -> str:
    """A text that is equal for rules with equal syntax trees.

    With optionalOldSelf it is another rule, which also judges new values.
    """
    read = rule_of(rule.get("rule"))
    normalized = read.tree.form() if read is not None else _source(rule)
    return f"{normalized} (optionalOldSelf)" if _judges_new_values(rule) else normalized


def _judges_new_values(rule: dict[str, Any]) -> bool:
    return rule.get("optionalOldSelf") is True


FACET = Facet(
    KEYWORDS,
    EFFECTS,
    changes,
    trials,
    shows,
    looks_above=True,
    of_updates=OF_UPDATES,
    widen=either_rules,
    explains=explains,
)

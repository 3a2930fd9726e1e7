"""Evaluation of the rules of one schema node on its value: errors, warnings and undecided rules.

Source: apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go; docs/semantics.md#failures-of-rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct, field

from crdcompat.apiserver import field_errors
from crdcompat.apiserver.cel import environment
from crdcompat.apiserver.cel.activation import Data, FailedError, UndecidedError, run
from crdcompat.apiserver.cel.convert import Conversion, MisfitError, Plan, plan
from crdcompat.apiserver.cel.failures import NO_OVERLOAD, in_go, missing_key, missing_variable
from crdcompat.apiserver.cel.rule_programs import OPTIONAL_OLD_RUNS, Rule, program, read_rule
from crdcompat.apiserver.cel.tokens import with_nul
from crdcompat.apiserver.cel.views import Reads, View
from crdcompat.apiserver.field_errors import FieldError, Unknown
from crdcompat.apiserver.field_paths import rule_field
from crdcompat.apiserver.keywords import Keyword
from crdcompat.cel.parse import RefusedError
from crdcompat.cel.uses import uses_old
from crdcompat.schema.paths import place_at
from crdcompat.schema.structural import ABSENT
from crdcompat.schema.work import WORK

if TYPE_CHECKING:
    from crdcompat.apiserver.cel.ratchet import Ratchet
    from crdcompat.apiserver.correlation import Pair
    from crdcompat.apiserver.server_versions import Server
    from crdcompat.schema.paths import Trail

#: What the evaluation of a rule costs, beside a visit of a value.
_STEPS_OF_A_RULE = 8
_MAX_MESSAGE_BYTES = 5120  # of the result of a messageExpression
#: Values that satisfy all rules of a node are kept, as text: the search for examples asks for the same ones again.
_MOST_KEPT, _MOST_BYTES_KEPT = 512, 1024
_REASONS = frozenset({field_errors.FORBIDDEN, field_errors.REQUIRED, field_errors.DUPLICATE})


class Findings(Struct):
    """The results of one evaluation; ``first_only`` ends it at the first error."""

    errors: list[FieldError] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    first_only: bool = False


def _text_of(value: Any) -> bytes | None:
    """A short value as text: equal texts have equal values. None for one that is long, or no JSON."""
    try:
        text = orjson.dumps(value)
    except TypeError:
        return None
    return text if len(text) <= _MOST_BYTES_KEPT else None


class NodeRules:
    """The rules of one schema node, compiled for one server."""

    __slots__ = ("_kept", "_messages", "old_plan", "raw", "rules", "self_plan", "server", "unseen", "uses_old", "view")

    def __init__(self, raw: tuple[dict[str, Any], ...], view: View, server: Server) -> None:
        self.raw = raw
        self.view = view
        self.server = server
        self.rules: tuple[Rule, ...] | None = None
        self._messages: dict[str, Any] = {}
        self._kept: set[bytes | None] = set()

    def compiled(self) -> tuple[Rule, ...]:
        """The rules, compiled on the first call."""
        return self.rules if self.rules is not None else self._compile()

    def _compile(self) -> tuple[Rule, ...]:
        read = [read_rule(index, raw, self.view, self.server) for index, raw in enumerate(self.raw)]
        rules = tuple(rule for rule in read if rule is not None)
        new, old = Reads(), Reads()
        for rule in rules:
            new.merge(rule.analysis.self_reads)
            old.merge(rule.analysis.old_reads)
            if rule.message_expression:
                new.whole = old.whole = True
        self.uses_old = any(rule.uses_old for rule in rules)
        self.unseen = any(rule.analysis.compares for rule in rules)
        self.self_plan: Plan = plan(self.view, new)
        self.old_plan: Plan = plan(self.view, old)
        self.rules = rules
        return rules

    def evaluate(self, value: Any, pair: Pair | None, path: Trail, *, ratchet: Ratchet, found: Findings) -> None:
        """Evaluate the rules on ``value`` at ``path``; add the results to ``found``."""
        rules = self.compiled()
        old = pair.old if pair is not None else None
        key = _text_of(value) if old is None or not self.uses_old else None
        if key in self._kept:
            WORK.spend()
            return
        results = len(found.errors), len(found.unknown), len(found.warnings)
        shared: dict[bool, Data] = {}
        for rule in rules:
            if found.first_only and found.errors:
                return
            WORK.spend(_STEPS_OF_A_RULE)
            if rule.compile_error is not None:
                found.errors.append(self._error(rule, path, field_errors.INVALID, self._type, rule.compile_error))
                continue
            if rule.uses_old and old is None and not (rule.optional_old and self.server.minor >= OPTIONAL_OLD_RUNS):
                continue
            try:
                if not self._holds(rule, value, old, shared):
                    self._report(
                        rule,
                        value,
                        old,
                        path,
                        shared,
                        ratchet=not rule.uses_old and ratchet.unchanged(),
                        found=found,
                    )
            except UndecidedError as reason:
                found.unknown.append(Unknown(rule_field(*place_at(path)), rule.text, str(reason)))
            except FailedError as error:
                detail = self._failure(rule, str(error))
                found.errors.append(self._error(rule, path, field_errors.INVALID, self._type, detail))
        if key is not None and results == (len(found.errors), len(found.unknown), len(found.warnings)):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept.add(key)

    def _error(
        self, rule: Rule, path: Trail, kind: str, value: Any, detail: str | None, *, at_field_path: bool = False
    ) -> FieldError:
        """An error of the rule, at its node or at its fieldPath."""
        pointer, keys = place_at(path)
        base, text = len(pointer), rule.text.strip()
        if at_field_path:
            for step in rule.field_path:
                path = (path, step)
            pointer, keys = place_at(path)
        return FieldError(kind, pointer, Keyword.RULE, value, self.server, text, detail, rule.index, base, keys)

    @property
    def _type(self) -> str:
        return self.view.node.type if not self.view.node.int_or_string else ""

    def _failure(self, rule: Rule, text: str) -> str:
        if text.startswith(NO_OVERLOAD):
            return (
                f"'{text}': call arguments did not match a supported operator, function or macro signature "
                f"for rule: {rule.shown}"
            )
        return f"{text} evaluating rule: {rule.shown}"

    def _holds(self, rule: Rule, value: Any, old: Any, shared: dict[bool, Data]) -> bool:
        if rule.refused is not None:
            raise UndecidedError(rule.refused)
        ordered = not rule.analysis.compares_unordered
        result = self._result(rule, self._data(value, old, shared, ordered=ordered))
        if (
            not ordered
            and rule.analysis.depends_on_order
            and result != self._result(rule, self._data(value, old, shared, ordered=True))
        ):
            raise UndecidedError("the rule compares lists of type set or map and depends on their order too")
        return result

    def _data(self, value: Any, old: Any, shared: dict[bool, Data], *, ordered: bool) -> Data:
        data = shared.get(ordered)
        if data is None:
            data = shared[ordered] = self._convert(value, old, ordered=ordered)
        return data

    def _convert(self, value: Any, old: Any, *, ordered: bool) -> Data:
        found = Conversion(ordered=ordered, unseen=self.unseen, bare=self.server.does("cel_bare_objects"))
        has_old = old is not None
        variables: dict[str, Any] = {"oldSelf": None}
        unfit: dict[str, str] = {}
        for name, side, read in (("self", value, self.self_plan), ("oldSelf", old, self.old_plan)):
            if name == "self" or (self.uses_old and has_old):
                try:
                    variables[name] = read(side, found)
                except MisfitError as error:
                    unfit[name] = str(error)
                    variables.pop(name, None)
        variables["__old"] = [variables.get("oldSelf")] if has_old else []
        data = Data(variables, has_old=has_old)
        data.unfit, data.misfits, data.item_misfit = unfit, found.misfits, found.item_misfit
        data.nul = found.nul
        return data

    def _result(self, rule: Rule, data: Data) -> bool:
        """The result of the rule. Raises UndecidedError and FailedError."""
        expression = rule.expression
        if data.misfits or data.item_misfit is not None:
            expression = self._guarded(rule, data)
        if rule.optional_old and "oldSelf" in data.unfit:
            raise UndecidedError(f"data does not fit its schema: {data.unfit['oldSelf']}")
        if not rule.always_cheap and not rule.program.is_cheap(*data.size):
            raise UndecidedError("the rule could take more work on this object than is spent on one rule")
        result = run(expression, data)
        try:
            answer = result.value()
        except TypeError:  # a type or an optional
            raise UndecidedError("the rule gives no boolean") from None
        if answer is True or answer is False:
            return bool(answer)
        if result.type().name() != "ERROR":
            raise UndecidedError("the rule gives no boolean")
        text = in_go(str(answer))
        if data.nul:
            text = with_nul(text)
        if (variable := missing_variable(text)) is not None:
            raise FailedError(data.unfit[variable])
        raise FailedError(data.misfits.get(missing_key(text) or "", text))

    def _guarded(self, rule: Rule, data: Data) -> Any:
        """The expression for members that do not fit their schema, where reading one is an error.

        Raises UndecidedError.
        """
        if data.item_misfit is None and not rule.analysis.compares and not rule.program.reads(data.misfits):
            return rule.expression
        if data.item_misfit is not None or rule.analysis.compares or "_?._" in rule.program.functions:
            reason = data.item_misfit or next(iter(data.misfits.values()))
            raise UndecidedError(f"data does not fit its schema: {reason}")
        try:
            return rule.program.form(self.server, optional_old=rule.optional_old, guard_has=True)
        except RefusedError as error:
            raise UndecidedError(f"data does not fit its schema, and the rule does not compile: {error}") from None

    def _report(
        self,
        rule: Rule,
        value: Any,
        old: Any,
        path: Trail,
        shared: dict[bool, Data],
        *,
        ratchet: bool,
        found: Findings,
    ) -> None:
        shown = self._type if not self.server.does("cel_actual_value") else value
        if isinstance(shown, (dict, list)):
            shown = ABSENT
        reason = rule.reason if rule.reason in _REASONS else field_errors.INVALID
        detail = "" if reason == field_errors.DUPLICATE else self._detail(rule, value, old, shared)
        if reason in (field_errors.REQUIRED, field_errors.FORBIDDEN):
            shown = ABSENT
        error = self._error(rule, path, reason, shown, detail, at_field_path=True)
        if ratchet:
            found.warnings.append(error.text())
        else:
            found.errors.append(error)

    def _detail(self, rule: Rule, value: Any, old: Any, shared: dict[bool, Data]) -> str | None:
        """The result of messageExpression if that is a valid message, else the message; None without either."""
        source = rule.message_expression
        if not source or (old is None and uses_old(source)):
            return rule.own_message
        try:
            if environment.lacks(self.server, program(source).functions):
                return rule.own_message
            if source not in self._messages:
                self._messages[source] = program(source).form(self.server, optional_old=False)
            data = self._data(value, old, shared, ordered=True)
            if not program(source).is_cheap(*data.size):
                return rule.own_message
            result = run(self._messages[source], data)
        except (RefusedError, UndecidedError, RecursionError):
            return rule.own_message
        if result.type().name() != "STRING":
            return rule.own_message
        text = str(result.value()).strip()
        if data.nul:
            text = with_nul(text)
        if not text or "\n" in text or len(text.encode("utf-8", "replace")) > _MAX_MESSAGE_BYTES:
            return rule.own_message
        return text

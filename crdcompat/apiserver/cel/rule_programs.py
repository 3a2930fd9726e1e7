"""Compilation of rules, once per process for each distinct text; and the compile errors of older servers.

cel-go before 0.16 (Kubernetes up to 1.27) gives a call of an unknown function no type, and so adds an error for the
operator around it. Later versions report only the unknown function. Recorded on Kubernetes 1.26.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from crdcompat.apiserver.cel import environment
from crdcompat.apiserver.cel.analysis import Analysis, analyse
from crdcompat.apiserver.cel.cost_bounds import MAX_OBJECT_SIZE, Bound
from crdcompat.apiserver.cel.tokens import rewrite
from crdcompat.cel.parse import RefusedError, parse
from crdcompat.cel.uses import uses_old
from crdcompat.schema.paths import Key
from crdcompat.schema.structural import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.apiserver.cel.views import View
    from crdcompat.apiserver.server_versions import Server
    from crdcompat.cel.syntax import Expr, Parsed

_MAX_PROGRAMS = 8192

#: Field of a rule -> the Kubernetes minor that introduced it. Older servers drop the field.
_FIELD_SINCE = {"messageExpression": 27, "reason": 28, "fieldPath": 28, "optionalOldSelf": 29}
#: Since this minor CRDValidationRatcheting is on, and rules with optionalOldSelf run without an old value.
OPTIONAL_OLD_RUNS = 30


class Program:
    """The text of a rule, with its tree and its evaluable forms."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._forms: dict[tuple[bool, bool, int], Any] = {}
        self._cheap: dict[tuple[int, int], bool] = {}

    @cached_property
    def parsed(self) -> Parsed:
        return parse(self.text)

    @property
    def tree(self) -> Expr:
        return self.parsed.root

    @cached_property
    def names(self) -> frozenset[str]:
        """The identifiers in the tree, of variables, members and functions."""
        return frozenset(name for expr in self.tree.walk() for name in _identifiers(expr))

    def reads(self, members: Iterable[str]) -> bool:
        """Whether the rule names one of these members, which are escaped."""
        return not self.names.isdisjoint(members)

    @cached_property
    def functions(self) -> frozenset[str]:
        return environment.functions_of(self.tree)

    def form(self, server: Server, *, optional_old: bool, guard_has: bool = False) -> Any:
        """The evaluable expression, as the server runs it. Raises RefusedError."""
        era = environment.era_of(server.minor, self.names)
        key = (optional_old, guard_has, era)
        if key not in self._forms:
            text = rewrite(self.text, optional_old=optional_old, guard_has=guard_has)
            self._forms[key] = environment.compile_rule(text, era)
        return self._forms[key]

    @cached_property
    def always_cheap(self) -> bool:
        """Whether the rule is within the limits of ``bounds`` on every object."""
        return Bound(MAX_OBJECT_SIZE, MAX_OBJECT_SIZE).fits(self.tree)

    def is_cheap(self, size: float, longest: float) -> bool:
        """Whether the rule is within the limits on data of that footprint, rounded up to powers of two."""
        bucket = (int(size).bit_length(), int(longest).bit_length())
        if bucket not in self._cheap:
            self._cheap[bucket] = Bound(2.0 ** bucket[0], 2.0 ** bucket[1]).fits(self.tree)
        return self._cheap[bucket]


def _identifiers(expr: Expr) -> Iterator[str]:
    yield expr.name
    if expr.name == "_?._" and isinstance(expr.args[1].value, str):
        yield expr.args[1].value


@lru_cache(maxsize=_MAX_PROGRAMS)
def program(text: str) -> Program:
    """The program of a rule's text."""
    return Program(text)


class Rule(Struct):
    """A rule at a schema node, as one server reads it."""

    index: int
    text: str
    message: str
    message_expression: str
    reason: str
    field_path: tuple[str | Key, ...]
    optional_old: bool
    uses_old: bool
    program: Program
    analysis: Analysis = field(default_factory=Analysis)
    refused: str | None = None  # the reason why the rule cannot be evaluated here
    compile_error: str | None = None  # the message of the server's compiler
    always_cheap: bool = True
    expression: Any = None

    @property
    def shown(self) -> str:
        """The rule as error messages show it."""
        return self.message.strip() or self.text.strip()

    @property
    def own_message(self) -> str | None:
        """The message of the CRD's author; None without one."""
        return self.message.strip() if self.message else None


def read_rule(index: int, raw: dict[str, Any], view: View, server: Server) -> Rule | None:
    """The rule at ``index`` of x-kubernetes-validations; None if it has no text."""
    text = raw.get("rule")
    if not isinstance(text, str) or not text.strip():
        return None

    def known(name: str) -> Any:
        return raw.get(name) if server.minor >= _FIELD_SINCE.get(name, 0) else None

    def text_of(name: str) -> str:
        value = known(name)
        return value if isinstance(value, str) else ""

    found = program(text)
    optional_old = known("optionalOldSelf") is True
    rule = Rule(
        index=index,
        text=text,
        message=text_of("message"),
        message_expression=text_of("messageExpression"),
        reason=text_of("reason"),
        field_path=field_path_steps(text_of("fieldPath"), view.node),
        optional_old=optional_old,
        uses_old=uses_old(text),
        program=found,
    )
    try:
        lacking = environment.lacks(server, found.functions)
        optional_dropped = raw.get("optionalOldSelf") is True and not optional_old
        if lacking or optional_dropped:
            _compile_for(server, rule, view)
        if rule.compile_error is None and rule.refused is None:
            rule.analysis = analyse(found.tree, view, optional_old=optional_old)
            rule.expression = found.form(server, optional_old=optional_old)
            rule.always_cheap = found.always_cheap
            rule.refused = rule.analysis.obstacle
    except (RefusedError, RecursionError) as error:
        rule.refused = f"the rule does not compile: {str(error) or 'nested too deeply'}"
    return rule


#: Kind of a view -> CEL type of ``self`` for the server's compiler; other kinds are names of CEL types.
_TYPES = {
    "date": "timestamp",
    "datetime": "timestamp",
    "number": "double",
    "integer": "int",
    "boolean": "bool",
}
_TYPES |= {"map": "object", "int_or_string": "dyn", "unseen": "dyn"}


def _compile_for(server: Server, rule: Rule, view: View) -> None:
    """Set the compile error of a rule that needs something the server lacks (docs/semantics.md#libraries-of-rules)."""
    cel_type = _TYPES.get(view.kind, view.kind)
    issues = environment.compile_issues(rule.text, server, cel_type)
    if issues is None:
        return
    if not issues:
        rule.refused = f"{server} does not compile the rule"
        return
    if server.minor < 28:
        issues = sorted({*issues, *unresolved_operators(rule.program.parsed, issues, cel_type, rule.text)})
    rule.compile_error = "rule compile error: compilation failed: " + "\n".join(
        f"ERROR: <input>:{line}:{column}: {sentence}\n | {_line(rule.text, line)}\n | {'.' * (column - 1)}^"
        for line, column, sentence in issues
    )


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1] if number <= len(lines) else ""


def field_path_steps(path: str, node: Node) -> tuple[str | Key, ...]:
    """The steps of a fieldPath below a node: ``.a.b['k']`` -> ``("a", "b", Key("k"))`` where ``b`` is a map.

    The schema says whether a step is a key, not the way in which it is written.
    """
    steps: list[str | Key] = []
    here: Node | None = node
    for name in _names_of(path):
        is_key = here is not None and not here.properties and isinstance(here.additional, Node)
        steps.append(Key(name) if is_key else name)
        here = here.child(name) if here is not None else None
    return tuple(steps)


def _names_of(path: str) -> list[str]:
    names: list[str] = []
    at = 0
    while at < len(path):
        if path.startswith("['", at):
            end = at + 2
            while end < len(path) and path[end] != "'":
                end += 2 if path[end] == "\\" else 1
            names.append(path[at + 2 : end].replace("\\'", "'").replace("\\\\", "\\"))
            at = end + 2
        else:
            at += path[at] == "."
            end = min((found for mark in (".", "['") if (found := path.find(mark, at)) >= 0), default=len(path))
            names.append(path[at:end])
            at = end
    return names


_OPERATORS = frozenset({"!_", "_==_", "_!=_", "_?_:_", "_<_", "_<=_", "_>_", "_>=_", "_+_", "_-_", "-_", "@in"})
_NONE, _ERROR = "<nil>", "!error!"

Issue = tuple[int, int, str]


def unresolved_operators(parsed: Parsed, issues: list[Issue], self_type: str, rule: str) -> list[Issue]:
    """The errors of operators around unknown functions. Operators with an operand of unknown type have none."""
    if "\n" in rule:
        return []
    unknown = {column for _, column, sentence in issues if sentence.startswith("undeclared reference")}
    found: list[Issue] = []
    _type(parsed.root, parsed, unknown, self_type, found)
    return found


def _type(expr: Expr, parsed: Parsed, unknown: set[int], self_type: str, found: list[Issue]) -> str | None:
    """The type of an expression as the checker prints it; None if unknown. Adds errors of operators to ``found``."""
    column = parsed.offsets.get(expr.id, -1) + 1
    if expr.kind == "const":
        names: dict[type, str] = {bool: "bool", str: "string", int: "int", float: "double", bytes: "bytes"}
        return names.get(type(expr.value), "null")
    if expr.kind == "ident":
        return self_type if expr.name in ("self", "oldSelf") else None
    types = [_type(part, parsed, unknown, self_type, found) for part in expr.parts()]
    if expr.kind != "call":
        return None
    if column in unknown:
        return _NONE
    if expr.name in _OPERATORS:
        if _NONE in types and None not in types:
            operands = ", ".join(name or "" for name in types)
            found.append((1, column, f"found no matching overload for '{expr.name}' applied to '({operands})'"))
            return _ERROR
        if _NONE in types or _ERROR in types or None in types:
            return None if None in types else _ERROR
        return "bool" if expr.name not in ("_+_", "_-_", "-_", "_?_:_") else types[-1]
    return "bool" if expr.name in ("_&&_", "_||_") else None

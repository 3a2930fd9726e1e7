"""CEL rules in other words, and rules that differ by one small step: written from syntax trees, at random."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping

from crdcompat.apiserver.cel.rule_programs import program
from crdcompat.cel.syntax import Expr

_INFIX = {"_&&_": "&&", "_||_": "||", "_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_INFIX |= {"@in": "in", "_+_": "+", "_-_": "-", "_*_": "*", "_/_": "/", "_%_": "%"}
_MIRRORED = {"_==_": "_==_", "_!=_": "_!=_", "_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_"}
_BOOLEAN = {"_&&_", "_||_", "!_", "@in", *_MIRRORED, "startsWith", "endsWith", "contains", "matches"}


class UnwritableError(Exception):
    """The tree has a part that this module does not write."""


def reworded(rule: str, rng: random.Random) -> str:
    """The rule in other words. Raises UnwritableError."""
    return _Writer(rng).text(program(rule).tree, {})


def mutated(rule: str, rng: random.Random) -> str:
    """The rule with one small step of meaning changed, which may have no effect. Raises UnwritableError."""
    tree = copy.deepcopy(program(rule).tree)
    steps = [step for expr in _written(tree) for step in _steps(expr)]
    if not steps:
        raise UnwritableError
    rng.choice(steps)()
    return _Writer(None).text(tree, {})


def conjuncts(rule: str, rng: random.Random) -> list[str]:
    """The parts of a conjunction as rules, each in other words. Raises UnwritableError."""
    left, parts = [program(rule).tree], []
    while left:
        expr = left.pop()
        if expr.kind == "call" and expr.name == "_&&_":
            left += expr.args
        else:
            parts.append(expr)
    return [_Writer(rng).text(expr, {}) for expr in parts]


class _Writer:
    """Writes trees; without a source of randomness, as they are."""

    def __init__(self, rng: random.Random | None) -> None:
        self._rng = rng
        self._bound = 0

    def text(self, expr: Expr, names: Mapping[str, str]) -> str:
        plain = self._plain(expr, names)
        if self._flip(8) and _is_boolean(expr):
            plain = self._pick((f"!(!({plain}))", f"(({plain}) == true)", f"(({plain}) ? true : false)"))
        return f"({plain})" if self._flip(4) else plain

    def _plain(self, expr: Expr, names: Mapping[str, str]) -> str:
        match expr.kind:
            case "const":
                return self._literal(expr.value)
            case "ident":
                return names.get(expr.name, expr.name)
            case "select":
                assert expr.target is not None
                member = f"{self._operand(expr.target, names)}.{expr.name}"
                return f"has({member})" if expr.test_only else member
            case "list":
                return f"[{self._listed(expr.args, names)}]"
            case "map" if not expr.name:
                pairs = zip(expr.args[::2], expr.args[1::2], strict=True)
                return (
                    "{" + ", ".join(f"{self.text(key, names)}: {self.text(value, names)}" for key, value in pairs) + "}"
                )
            case "fold":
                return self._macro(expr, names)
            case "call":
                return self._call(expr, names)
        raise UnwritableError

    def _call(self, expr: Expr, names: Mapping[str, str]) -> str:
        name, args = expr.name, expr.args
        if name in _INFIX:
            return self._infix(name, args, names)
        if name == "_?_:_":
            condition, one, other = (self._operand(arg, names) for arg in args)
            if self._flip(3):
                condition, one, other = f"!({condition})", other, one
            elif self._flip(3) and _is_boolean(args[1]) and _is_boolean(args[2]):
                return f"(({condition}) && ({one})) || (!({condition}) && ({other}))"
            return f"{condition}{self._space()}?{self._space()}{one} :{self._space()}{other}"
        if name in ("!_", "-_"):
            return f"{name[0]}({self.text(args[0], names)})"
        if name in ("_[_]", "_[?_]"):
            return f"{self._operand(args[0], names)}[{'?' if '?' in name else ''}{self.text(args[1], names)}]"
        if name == "_?._":
            return f"{self._operand(args[0], names)}.?{args[1].value}"
        if name == "size" and self._flip(2):
            (held,) = args or ([expr.target] if expr.target is not None else [])
            return f"size({self.text(held, names)})" if not args else f"({self.text(held, names)}).size()"
        if name.startswith("@"):
            raise UnwritableError
        receiver = f"{self._operand(expr.target, names)}." if expr.target is not None else ""
        return f"{receiver}{name}({self._listed(args, names)})"

    def _infix(self, name: str, args: list[Expr], names: Mapping[str, str]) -> str:
        if name == "@in" and args[1].kind == "list" and args[1].args:
            return self._member(args[0], args[1].args, names)
        left, right = (self._operand(arg, names) for arg in args)
        if name in ("_&&_", "_||_"):
            left, right = (right, left) if self._flip(2) else (left, right)
            if self._flip(4):
                other = "||" if name == "_&&_" else "&&"
                return f"!(!({left}) {other} !({right}))"
        elif name in _MIRRORED and self._flip(3):
            name, left, right = _MIRRORED[name], right, left
        if name == "_!=_" and self._flip(3):
            return f"!({left} == {right})"
        around = " " if name == "@in" else self._space()
        return f"{left}{around}{_INFIX[name]}{around}{right}"

    def _member(self, item: Expr, listed: list[Expr], names: Mapping[str, str]) -> str:
        found, members = self._operand(item, names), [self._operand(each, names) for each in listed]
        if self._rng is not None:
            self._rng.shuffle(members)
        if self._flip(4):
            return " || ".join(f"({found} == {member})" for member in members)
        if self._flip(4):
            return f"[{', '.join(members)}].exists(any, any == {found})"
        return f"{found} in [{', '.join(members)}]"

    def _macro(self, expr: Expr, names: Mapping[str, str]) -> str:
        name, body, *more = _macro(expr)
        assert expr.over is not None
        variable, over = expr.variables[0], self._operand(expr.over, names)
        if self._rng is not None:
            self._bound += 1
            names = {**names, variable: f"it{self._bound}"}
        bound = names.get(variable, variable)
        written = self.text(body, names)
        if name in ("all", "exists") and self._flip(3):
            other = "exists" if name == "all" else "all"
            return f"!{over}.{other}({bound}, !({written}))"
        rest = "".join(f", {self.text(each, names)}" for each in more)
        return f"{over}.{name}({bound}, {written}{rest})"

    def _operand(self, expr: Expr, names: Mapping[str, str]) -> str:
        written = self.text(expr, names)
        return written if expr.kind in ("ident", "select", "list") and not written.startswith("!") else f"({written})"

    def _listed(self, args: list[Expr], names: Mapping[str, str]) -> str:
        return f",{self._space()}".join(self.text(arg, names) for arg in args)

    def _literal(self, value: object) -> str:
        if isinstance(value, str):
            quote = self._pick(("'", '"'))
            escaped = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
            return quote + "".join(char if char >= " " else f"\\u{ord(char):04x}" for char in escaped) + quote
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, int | float):
            return repr(value)
        raise UnwritableError

    def _space(self) -> str:
        return self._pick((" ", "", "\n  "))

    def _flip(self, one_in: int) -> bool:
        return self._rng is not None and self._rng.randrange(one_in) == 0

    def _pick(self, choices: tuple[str, ...]) -> str:
        return choices[0] if self._rng is None else self._rng.choice(choices)


def _is_boolean(expr: Expr) -> bool:
    return (expr.kind == "call" and expr.name in _BOOLEAN) or (expr.kind == "select" and expr.test_only)


def _macro(expr: Expr) -> tuple[str, Expr] | tuple[str, Expr, Expr]:
    """The name and the arguments of a macro with one variable."""
    step, initial = expr.step, expr.initial
    if step is None or initial is None or expr.variables[1] or step.kind != "call":
        raise UnwritableError
    if step.name == "_&&_" and initial.value is True:
        return "all", step.args[1]
    if step.name == "_||_" and initial.value is False:
        return "exists", step.args[1]
    if step.name == "_+_" and initial.kind == "list":
        return "map", step.args[1].args[0]
    if step.name == "_?_:_" and initial.kind == "list":
        made = step.args[1].args[1].args[0]
        kept = made.kind == "ident" and made.name == expr.variables[0]
        return ("filter", step.args[0]) if kept else ("map", step.args[0], made)
    if step.name == "_?_:_" and initial.value == 0:
        return "exists_one", step.args[0]
    raise UnwritableError


def _written(expr: Expr) -> Iterator[Expr]:
    """The parts of a tree that its text has, itself included."""
    yield expr
    if expr.kind == "fold":
        assert expr.over is not None
        parts: list[Expr] = [expr.over, *_macro(expr)[1:]]  # type: ignore[list-item]
    else:
        parts = [*([expr.target] if expr.target is not None else []), *expr.args]
    for part in parts:
        yield from _written(part)


_SWAPPED = {"_&&_": "_||_", "_||_": "_&&_", "_==_": "_!=_", "_!=_": "_==_"}
_SWAPPED |= {"_<_": "_<=_", "_<=_": "_<_", "_>_": "_>=_", "_>=_": "_>_", "startsWith": "endsWith"}


def _steps(expr: Expr) -> Iterator[Callable[[], None]]:
    """What changes one expression by a small step."""
    if expr.kind == "const" and isinstance(expr.value, str):
        yield lambda: _set(expr, value=f"{expr.value}x")
    elif expr.kind == "const" and type(expr.value) in (int, bool):
        yield lambda: _set(expr, value=not expr.value if isinstance(expr.value, bool) else expr.value + 1)
    elif expr.kind == "call" and expr.name in _SWAPPED:
        yield lambda: _set(expr, name=_SWAPPED[expr.name])
    elif expr.kind == "call" and expr.name == "_?_:_":
        yield lambda: _set(expr, args=[expr.args[0], expr.args[2], expr.args[1]])
    elif expr.kind == "call" and expr.name == "!_":
        yield lambda: _become(expr, expr.args[0])
    elif expr.kind == "list" and len(expr.args) > 1:
        yield lambda: _set(expr, args=expr.args[1:])
    elif expr.kind == "select" and expr.test_only:
        yield lambda: _become(expr, Expr("call", name="!_", args=[copy.copy(expr)]))
    if expr.kind == "call" and expr.name in ("_&&_", "_||_"):
        yield lambda: _become(expr, expr.args[0])
        yield lambda: _become(expr, expr.args[1])


def _set(expr: Expr, **fields: object) -> None:
    for name, value in fields.items():
        setattr(expr, name, value)


def _become(expr: Expr, other: Expr) -> None:
    made = copy.copy(other)
    for name in Expr.__struct_fields__:
        setattr(expr, name, getattr(made, name))

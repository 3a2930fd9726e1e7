"""The dataclass of the standard library, quicker to define: a command loads a hundred classes before it does anything.

The standard library compiles up to six functions for each class, half a millisecond. Here one is compiled,
``__init__``; the others are the same few functions for all classes and take the fields from their names. What comes of
it is a dataclass in every other respect: ``fields``, ``replace``, ``asdict`` and ``match`` know it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**manner: bool) -> Callable[[type], type]:
        """``frozen``, ``slots``, ``eq`` and ``order``, as in the standard library."""
        return lambda cls: _made(cls, **manner)


def _made(
    cls: type[Any], *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> type[Any]:
    own = dict(cls.__dict__)
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    fields = dataclasses.fields(made)
    functions: dict[str, Any] = {"__init__": _init(made, fields, frozen=frozen, slots=slots), "__repr__": _repr(fields)}
    if eq:
        compared = _values(field.name for field in fields if field.compare)
        functions |= {"__eq__": _eq(compared), "__hash__": _hash(compared) if frozen else None}
        if order:
            functions |= {f"__{name}__": _ordered(compared, name) for name in ("lt", "le", "gt", "ge")}
    if frozen:
        functions |= {"__setattr__": _no_assignment, "__delattr__": _no_deletion}
        if slots:
            functions |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, function in functions.items():
        if name not in own or (name == "__hash__" and own[name] is None and "__eq__" in own):
            setattr(made, name, function)
    return made


def _init(cls: type[Any], fields: tuple[Field[Any], ...], *, frozen: bool, slots: bool) -> Callable[..., None]:
    """The one function that is written for a class: to assign in a loop would make each object twice as dear."""
    names: dict[str, Any] = {"_MISSING": MISSING, "_set": object.__setattr__}
    parameters, lines = [], []
    for field in fields:
        name, value = field.name, field.name
        parameters.append(name)
        if field.default is not MISSING:
            parameters[-1] += f"=_default_{name}"
            names[f"_default_{name}"] = field.default
        elif field.default_factory is not MISSING:
            parameters[-1] += "=_MISSING"
            names[f"_new_{name}"] = field.default_factory
            value = f"_new_{name}() if {name} is _MISSING else {name}"
        if not frozen:
            lines.append(f" self.{name} = {value}")
        elif slots:
            names[f"_set_{name}"] = getattr(cls, name).__set__
            lines.append(f" _set_{name}(self, {value})")
        else:
            lines.append(f" _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(['self', *parameters])}):", *lines, " pass"]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _values(names: Iterator[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives an object's values of these fields as a tuple."""
    found = tuple(names)
    if len(found) > 1:
        return attrgetter(*found)
    return lambda self: tuple(getattr(self, name) for name in found)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def equal(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _ordered(values: Callable[[Any], tuple[Any, ...]], name: str) -> Callable[[Any, Any], bool]:
    compare = getattr(tuple, f"__{name}__")

    def ordered(self: Any, other: Any) -> Any:
        return compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

    return ordered


def _repr(fields: tuple[Field[Any], ...]) -> Callable[[Any], str]:
    shown = [field.name for field in fields if field.repr]

    def shown_as(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return shown_as


def _no_assignment(self: Any, name: str, value: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)

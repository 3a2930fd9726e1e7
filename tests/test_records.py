"""The program's own dataclass beside the standard library's: the same in every respect that anything here uses."""

from __future__ import annotations

import dataclasses
import importlib
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import pytest

from crdcompat import records

#: Hidden from mypy, which would take the one for the other.
BOTH: list[Any] = [dataclasses.dataclass, vars(importlib.import_module("crdcompat.records"))["dataclass"]]
Maker = Callable[..., Any]


def plain(make: Maker, **manner: bool) -> type[Any]:
    @make(**manner)
    class Plain:
        """A class with all kinds of fields."""

        KIND: ClassVar[str] = "kind"
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        secret: int = field(default=0, repr=False)
        seen: int = field(default=0, compare=False)

        @property
        def double(self) -> int:
            return self.a * 2

    return Plain


MANNERS = [
    dict(zip(("frozen", "slots", "eq"), each, strict=True)) for each in product((False, True), (False, True), (True,))
]
MANNERS += [{"frozen": True, "slots": True, "eq": False}, {"slots": True, "eq": False}]


def facts(cls: type[Any]) -> dict[str, Any]:
    """What can be seen of a class and its objects from outside."""
    one, same, other = cls(1), cls(1, seen=5), cls(a=2, b="x", c=[3])
    found: dict[str, Any] = {
        "repr": (repr(one), repr(other)),
        "equal": (one == one, one == same, one == other, one != other, one == 1),
        "match": cls.__match_args__,
        "fields": [each.name for each in dataclasses.fields(cls)],
        "dict": dataclasses.asdict(other),
        "replaced": repr(dataclasses.replace(other, a=9)),
        "double": (other.double, cls.KIND),
        "own list": one.c is not same.c,
        "slots": hasattr(one, "__dict__"),
        "doc": cls.__doc__,
        "name": (cls.__qualname__, cls.__init__.__qualname__),
    }
    for name, act in {
        "assign": lambda: setattr(cls(1), "a", 2),
        "assign another": lambda: setattr(cls(1), "z", 2),
        "delete": lambda: delattr(cls(1), "a"),
        "hash": lambda: hash(cls(1, c=())) == hash(cls(1, c=(), seen=1)),
        "missing": cls,
        "unknown": lambda: cls(1, z=1),
        "order": lambda: one < other,
    }.items():
        try:
            found[name] = act()
        except Exception as error:
            found[name] = type(error)
    return found


@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_as_the_standard_library_makes_it(manner: dict[str, bool]) -> None:
    expected, found = (facts(plain(make, **manner)) for make in BOTH)
    if manner.get("frozen") and manner["slots"]:
        expected["assign another"] = FrozenInstanceError  # there a TypeError, by an accident of its own
    assert found == expected


@pytest.mark.parametrize("make", BOTH)
def test_what_a_class_defines_itself_stays(make: Maker) -> None:
    @make(frozen=True, slots=True)
    class Own:
        a: float

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError(self.a)

        def __repr__(self) -> str:
            return "mine"

        def __hash__(self) -> int:
            return 7

    assert (repr(Own(1)), hash(Own(1))) == ("mine", 7)
    with pytest.raises(ValueError, match="-1"):
        Own(-1)

    @make(frozen=True)
    class Equal:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

    assert Equal(1) == Equal(2)
    assert {Equal(1), Equal(1)} == {Equal(1)}


@pytest.mark.parametrize("make", BOTH)
def test_order_inheritance_and_what_is_worked_out_once(make: Maker) -> None:
    @make(frozen=True, slots=True, order=True)
    class Pair:
        a: int
        b: str = ""

    assert sorted([Pair(2), Pair(1, "z"), Pair(1)]) == [Pair(1), Pair(1, "z"), Pair(2)]
    assert (Pair(1) <= Pair(1), Pair(1) >= Pair(2), Pair(3) > Pair(2)) == (True, False, True)
    with pytest.raises(TypeError):
        assert Pair(1) < (1, "")

    class Child(Pair):
        __slots__ = ()

    assert Child(1) != Pair(1)
    assert hash(Child(1)) == hash(Pair(1))

    @make(frozen=True)
    class Once:
        a: int

        @cached_property
        def list(self) -> list[int]:
            return [self.a]

    once = Once(1)
    assert once.list is once.list


@records.dataclass(frozen=True, slots=True)
class Sent:
    """What goes to another process."""

    a: int
    b: tuple[str, ...] = ()


def test_frozen_objects_go_to_other_processes() -> None:
    sent = Sent(1, ("x",))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(sent, protocol)) == sent


def test_every_class_is_defined_the_quick_way() -> None:
    """But for those of the standard library, nothing of the program asks for its dataclass."""
    from pathlib import Path

    home = Path(records.__file__).parent
    wrong = [
        str(file.relative_to(home))
        for file in home.rglob("*.py")
        if file.name != "records.py" and "import dataclass" in (text := file.read_text("utf-8"))
        if "from dataclasses import dataclass" in text
    ]
    assert wrong == []

"""A command takes a group of options as one parameter."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest
import typer
from msgspec import Struct
from typer.testing import CliRunner

from crdcompat.cli.groups import expanded, varied
from crdcompat.cli.help import GroupedCommand


class Shown(Struct, frozen=True, kw_only=True):
    HEADING: ClassVar = "Output"

    size: Annotated[int, typer.Option(help="A size.")] = 3
    loud: Annotated[bool, typer.Option("--loud", help="Loud.")] = False
    deep: Annotated[bool, typer.Option("--deep", help="Deep.")] = False


QUIETER = Annotated[Shown, varied("loud", helps={"deep": "Deeper."}, loud=True)]


def told(group: object, *arguments: str) -> tuple[object, str]:
    """What a command with this group got, and what it printed."""
    got: list[tuple[str, Shown]] = []

    def command(name: str, *, shown: Shown, own: Annotated[str, typer.Option(help="Its own.")] = "x") -> None:
        """Do it."""
        got.append((name, shown, own))  # type: ignore[arg-type]

    command.__annotations__["shown"] = group
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(cls=GroupedCommand)(expanded(command))
    ran = CliRunner().invoke(app, arguments)
    return (got[0] if got else None), ran.output


@pytest.mark.parametrize(
    ("group", "arguments", "expected"),
    [
        (Shown, ("n",), ("n", Shown(), "x")),
        (Shown, ("n", "--loud", "--size", "5", "--own", "y"), ("n", Shown(size=5, loud=True), "y")),
        (QUIETER, ("n", "--deep"), ("n", Shown(loud=True, deep=True), "x")),
    ],
)
def test_a_group_gets_its_options(group: object, arguments: tuple[str, ...], expected: object) -> None:
    assert told(group, *arguments)[0] == expected


def test_a_field_without_an_option_is_none() -> None:
    got, said = told(QUIETER, "n", "--loud")
    assert got is None
    assert "No such option" in said


def test_the_help_has_the_heading_of_a_group_with_three_options() -> None:
    _, said = told(Shown, "--help")
    assert [line for line in said.splitlines() if line.endswith(":")][-2:] == ["Options:", "Output:"]
    _, said = told(QUIETER, "--help")
    assert "Output:" not in said
    assert "Deeper." in said

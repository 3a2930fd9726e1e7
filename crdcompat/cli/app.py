"""The commands by name; each is imported on demand, and imports its dependencies when it runs."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from crdcompat.cli.help import GroupedCommand
from crdcompat.program import NAME, typed
from crdcompat.version import __version__

#: Command functions and their modules in this package, in the order of the help.
_MODULES = {
    "diff": "diff",
    "simulate": "simulate",
    "check": "check",
    "matrix": "matrix",
    "preflight": "preflight",
    "record": "record",
    "waive": "waive",
    "baseline": "waive",
    "config": "config",
    "init": "config",
    "judge": "judge",
    "verify": "verify",
    "servers": "servers",
    "versions": "versions",
    "updates": "updates",
    "requirement": "requirement",
    "lsp": "lsp",
    "rules": "rules",
    "explain": "rules",
    "demo": "demo",
}


class _Commands(UserDict[str, Any]):
    """The commands by name, each built on demand: building all of them costs a fifth of a quick run."""

    def __getitem__(self, name: str) -> Any:
        return _command(name, super().__getitem__(name))


class _Group(TyperGroup):
    """The group of these commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands(_MODULES)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of its arguments quotes them, so its hidden characters are escaped."""
        with _escaped():
            return super().invoke(ctx)

    def make_context(self, *args: Any, **more: Any) -> Any:
        """``invoke``, for the arguments before the command."""
        with _escaped():
            return super().make_context(*args, **more)


@contextmanager
def _escaped() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # Typer's class of usage errors is not public.
        if isinstance(message := getattr(error, "message", None), str):
            from crdcompat.render.escape import escape_lines

            error.message = escape_lines(message)  # type: ignore[attr-defined]
        raise


@cache
def _command(name: str, module: str) -> Any:
    from crdcompat.cli.groups import expanded

    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, cls=GroupedCommand)(expanded(getattr(import_module(f"crdcompat.cli.{module}"), name)))
    return get_command(alone)


app = typer.Typer(
    name=NAME,
    cls=_Group,
    help="Can this release be rolled back? Compares the CRDs of two releases, finds what a rollback breaks,"
    f" and proves it. Example: {typed()} diff release-4.15 release-4.16",
    no_args_is_help=True,
    add_completion=typed() == NAME,  # a shell completes the words of kubectl by kubectl's own script
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help and errors: rich takes a third of the time of --help
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from crdcompat.render.escape import say

        say(f"crdcompat {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before the command."""

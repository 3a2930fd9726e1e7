"""The commands by name; each is imported on demand, and imports its dependencies when it runs."""

from __future__ import annotations

from collections import Counter, UserDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

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


# The help of a command: options in groups, then examples. It is plain text, because an import of rich is slow.


#: The headings in their order. A command shows fewer than three options of one heading among its others.
_HEADINGS = ("Filters", "Many clusters", "Output", "Sources")
_LEAST = 3
#: Commands to try, by command.
EXAMPLES: dict[str, Sequence[str]] = {
    "diff": ("crdcompat diff release-4.15 release-4.16", "crdcompat diff v1.2.0 worktree: --crd widgets.example.com"),
    "simulate": ("crdcompat simulate release-4.15 release-4.16 --objects must-gather.tar.gz",),
    "check": ("crdcompat check --target release-4.15", "crdcompat check --base origin/main --head HEAD"),
    "matrix": ("crdcompat matrix --branches 'release-4.1*'", "crdcompat matrix v1.1 v1.2 v1.3 --format html=m.html"),
    "waive": ('crdcompat waive 3f1c0a9b --reason "4.15.3 accepts it" --until 4.17',),
    "baseline": ('crdcompat baseline --reason "before we checked"',),
    "config": ("crdcompat config --show",),
    "init": ("crdcompat init",),
    "judge": (
        "crdcompat judge crd.yaml object.yaml --kube-version 1.30",
        "crdcompat judge crd.yaml new.yaml --op updateStatus --old stored.yaml",
    ),
    "verify": (
        "crdcompat diff OLD NEW --format json=r.json",
        "crdcompat verify r.json --server kind-kind",
    ),
    "rules": ("crdcompat rules", "crdcompat rules enum", "crdcompat rules --format markdown > rules.md"),
    "explain": ("crdcompat explain enum-value-added",),
    "demo": ("crdcompat demo",),
    "servers": ("crdcompat servers config/crd --kubernetes 1.28-1.36",),
    "versions": (
        "crdcompat versions --branches 'release-4.1*'",
        "crdcompat versions release-4.14 release-4.16 --objects must-gather.tar.gz",
    ),
    "updates": ("crdcompat updates origin/main",),
    "requirement": ("crdcompat requirement release-4.15 --crd widgets.example.com | oc apply -f -",),
    "lsp": ("crdcompat lsp --target release-4.15",),
    "preflight": ("crdcompat preflight release-4.15 --cluster my-cluster",),
    "record": ("crdcompat record release-4.15 --cluster my-cluster -o recording.json.gz",),
}


class GroupedCommand(TyperCommand):
    """A command whose help has groups and examples."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """The description of the command, without typer's empty line before it."""
        with formatter.indentation():
            formatter.write_text(cleandoc(self.help or ""))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then options by group."""
        arguments = [record for each in self.get_params(ctx) if each.param_type_name == "argument"
                     if (record := each.get_help_record(ctx))]  # fmt: skip
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        for title, found in self._grouped(ctx):
            with formatter.section(title):
                formatter.write_dl(found)

    def _grouped(self, ctx: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """The title of each group, with the name and the help of each option."""
        options = [each for each in self.get_params(ctx) if each.param_type_name != "argument"]
        found: dict[str, list[Any]] = {"Options": [], **{heading: [] for heading in _HEADINGS}}
        counted = Counter(getattr(each, "rich_help_panel", None) for each in options)
        for each in options:
            heading = getattr(each, "rich_help_panel", None)
            found[heading if counted[heading] >= _LEAST and heading in _HEADINGS else "Options"].append(each)
        for heading, chosen in found.items():
            if records := [record for each in chosen if each.name != "help" and (record := each.get_help_record(ctx))]:
                yield heading, records

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples, as users type them."""
        if lines := EXAMPLES.get(self.name or "", ()):
            with formatter.section("Examples"):
                formatter.write("".join(f"  {typed()}{line.removeprefix(NAME)}\n" for line in lines))

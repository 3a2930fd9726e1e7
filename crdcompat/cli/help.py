"""The help of a command: options in groups, then examples. It is plain text, because an import of rich is slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from typing import Any

from typer.core import TyperCommand

from crdcompat.program import NAME, typed

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

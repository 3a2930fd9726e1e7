"""crdcompat updates BASE [HEAD]: the versions of others that a change moves."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def updates(
    base: Annotated[str, typer.Argument(metavar="BASE", help="The branch that the change will be merged into.")],
    head: Annotated[str, typer.Argument(metavar="HEAD", help="The change: a branch, a tag or a commit.")] = "HEAD",
    repo: o.Repo = None,
) -> None:
    """List the charts, bases and modules whose versions a change moves."""
    from crdcompat.features.updates.updates_workflow import updates as run
    from crdcompat.render.escape import say, warn
    from crdcompat.vocabulary import ExitCode

    report = run(base, head, repo)
    for each in report.found:
        words = each.new.kind, each.new.place, each.new.name, each.old.version, each.new.version
        say(" ".join([*(word or "-" for word in words), each.file]))
    for line in report.left:
        warn(f"not listed: {line}")
    raise typer.Exit(ExitCode.NOT_DONE if report.left else ExitCode.CLEAN)

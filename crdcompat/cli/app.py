"""The commands by name; each imports what it uses when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat import __version__
from crdcompat.cli import check, config, demo, diff, judge, matrix, rules, simulate, waive

app = typer.Typer(
    name="crdcompat",
    help="Can this release be rolled back? Compares the CRDs of two releases, proves what would be rejected, and"
    " replays the rollback on recorded objects.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"crdcompat {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before the command."""


app.command("diff")(diff.diff)
app.command("simulate")(simulate.simulate)
app.command("check")(check.check)
app.command("matrix")(matrix.matrix)
app.command("waive")(waive.waive)
app.command("baseline")(waive.baseline)
app.command("config")(config.config)
app.command("init")(config.init)
app.command("judge")(judge.judge)
app.command("rules")(rules.rules)
app.command("explain")(rules.explain)
app.command("demo")(demo.demo)

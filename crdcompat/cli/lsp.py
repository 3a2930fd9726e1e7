"""crdcompat lsp: the language server for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def lsp(
    base: Annotated[
        str | None, typer.Option(metavar="REF", help="Compare with its merge base (default: from the configuration).")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="REF", help="A release to roll back to; may be repeated.")
    ] = None,
    config: o.ConfigFile = None,
    stdio: Annotated[bool, typer.Option("--stdio", hidden=True, help="As editors ask; there is no other way.")] = True,
) -> None:
    """Serve an editor: diagnostics on save, hover, code actions. Needs crdcompat[lsp]."""
    from crdcompat.errors import UsageError
    from crdcompat.features.lsp.working_tree import Asked

    try:
        from crdcompat.features.lsp.language_server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "attrs", "cattrs"):
            raise
        raise UsageError("lsp needs the package pygls: pip install 'crdcompat[lsp]'") from None
    serve(Asked(config, base, tuple(target or ())))

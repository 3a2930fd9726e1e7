"""crdcompat config and init: shows the effective configuration, and writes a first one for a tree."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.settings import Place


def config(
    show: Annotated[
        bool, typer.Option("--show", help="Print each key, its value and the origin of the value.")
    ] = False,
    *,
    place: Place,
) -> None:
    """Check the configuration, and show its values."""
    from crdcompat.config.first_configuration import missing_refs
    from crdcompat.config.proposed import proposed
    from crdcompat.findings.waiver_file import read_accepted
    from crdcompat.render.escape import json_text, say
    from crdcompat.render.wording.findings import plural
    from crdcompat.sources.repository import Repository

    found = place.found()
    told = proposed(Repository(place.repo), found)
    doubts = (*missing_refs(found, place.repo), *told.contradicted(found))
    accepted = read_accepted(found.waiver_file)
    if not show:
        say(f"{found.file or 'no configuration file: the defaults hold'}")
        growth = f", {plural(len(accepted.growth), 'declaration')} of growth" if accepted.growth else ""
        say(f"{found.waiver_file}: {plural(len(accepted.waivers), 'waiver')}{growth}")
        say("".join(f"note: {note}\n" for note in doubts), end="")
        return
    shown = told.completing(found)
    for key, value in shown.values.items():
        say(f"{key}: {json_text(value)}  # {shown.origins[key]}")
    say("".join(f"# note: {note}\n" for note in doubts), end="")


def init(
    force: Annotated[bool, typer.Option("--force", help="Replace the present configuration.")] = False,
    repo: o.Repo = None,
) -> None:
    """Write a configuration with comments for this repository."""
    from pathlib import Path

    from crdcompat.atomic_write import write_file
    from crdcompat.config.configuration import NAMES
    from crdcompat.config.first_configuration import first_config
    from crdcompat.errors import UsageError
    from crdcompat.render.escape import say
    from crdcompat.sources.plain_file import inside
    from crdcompat.sources.repository import Repository

    path = Path(repo or ".") / NAMES[0]
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force writes over it")
    inside(path, path.parent)
    try:
        write_file(path, first_config(repo).encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    if Repository(repo).exists:
        say(f"{path} written")
        return
    say(f"{path.resolve()} written")
    say("note: there is no git repository around it: check needs one, and there was no branch to take targets from")

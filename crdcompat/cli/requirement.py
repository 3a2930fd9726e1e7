"""crdcompat requirement OLD --crd NAME: writes a CompatibilityRequirement of OpenShift."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.settings import Place


class Action(StrEnum):
    """What a cluster does with what breaks the requirement."""

    deny = "Deny"
    warn = "Warn"


def requirement(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The release to stay compatible with, as for diff.")],
    crd: Annotated[str, typer.Option("--crd", metavar="NAME", help="The CRD (metadata.name).")],
    context: o.ClusterContext = None,
    action: Annotated[
        Action, typer.Option(metavar="ACTION", help="What happens to what breaks it: Deny or Warn.")
    ] = Action.deny,
    *,
    place: Place,
) -> None:
    """Print a CompatibilityRequirement, by which OpenShift keeps OLD's CRD possible."""
    from crdcompat.features.requirement.requirement_workflow import requirement as run
    from crdcompat.render.escape import say

    say(run(old, crd, place.found(), context=context, action=action.value, repo=place.repo), end="")

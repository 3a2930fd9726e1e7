"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.errors import UsageError
from crdcompat.vocabulary import Direction, FailOn, Owner

if TYPE_CHECKING:
    from crdcompat.apiserver.versions import Server


class DirectionChoice(StrEnum):
    """The directions to report."""

    ROLLBACK = Direction.ROLLBACK.value
    UPGRADE = Direction.UPGRADE.value
    BOTH = "both"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The chosen directions, rollback first."""
        return tuple(Direction) if self is DirectionChoice.BOTH else (Direction(self),)


class Profile(StrEnum):
    """How much fails."""

    standard = "standard"
    strict = "strict"


class Colour(StrEnum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


Old = Annotated[
    str,
    typer.Argument(
        metavar="OLD",
        help="The older release: a git ref, a folder, file, archive, Helm chart, OLM bundle or catalog, image, URL,"
        " cluster:CONTEXT, index: or worktree: (docs/sources.md).",
    ),
]
New = Annotated[str, typer.Argument(metavar="NEW", help="The newer release, in the same forms.")]
Repo = Annotated[
    str | None, typer.Option(help="The git repository that refs are looked up in (default: the current one).")
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help="How to report: text, concise, json, markdown, sarif, junit, github, gitlab, html; may be repeated.",
    ),
]
FailOnChoice = Annotated[
    FailOn | None, typer.Option("--fail-on", help="Exit with 1 from this severity on (default: error).")
]
ProfileOption = Annotated[
    Profile | None,
    typer.Option(
        "--profile", help="strict: what upgrades reject or remove in Default is an error (default: standard)."
    ),
]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="The configuration (default: the nearest .crdcompat.yaml upwards)."),
]
Objects = Annotated[
    list[str] | None,
    typer.Option("--objects", metavar="PATH", help="Recorded objects as evidence: they raise what they meet."),
]
ColourOption = Annotated[Colour, typer.Option("--color", help="Colour the output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that was found.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors and the summary only.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress on a terminal.")]
DirectionOption = Annotated[DirectionChoice, typer.Option(help="Report this direction only.")]
Owners = Annotated[list[Owner] | None, typer.Option("--owner", help="Only fields that this owner writes.")]
Crds = Annotated[
    list[str] | None,
    typer.Option("--crd", metavar="NAME", help="Only this CRD (metadata.name); may be repeated."),
]
Contexts = Annotated[
    list[str] | None,
    typer.Option("--context", metavar="NAME", help="Only this context, or OLD=NEW to compare two of different name."),
]
Select = Annotated[list[str] | None, typer.Option("--select", metavar="RULE", help="Only findings of this rule.")]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="RULE", help="No findings of this rule.")]


ConnectTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.1, help="How long cluster:CONTEXT may take to connect.")
]
ReadTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.1, help="How long it may send nothing before it is given up.")
]
Helm = Annotated[bool, typer.Option("--helm", help="Render Helm charts with the helm program, with their defaults.")]
HelmValues = Annotated[
    list[str] | None,
    typer.Option("--helm-values", metavar="FILE", help="Values for --helm, which this implies; may be repeated."),
]
Kustomize = Annotated[
    bool, typer.Option("--kustomize", help="Build kustomize: folders with the kustomize or kubectl program.")
]
ImagePath = Annotated[
    list[str] | None,
    typer.Option(
        "--image-path", metavar="FOLDER", help="Where an image has manifests (default: /manifests, /release-manifests)."
    ),
]
Redact = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact",
        help="Hide values of recorded objects, except members of enums (default: in github, gitlab, markdown, sarif).",
    ),
]
AnyOrder = Annotated[bool, typer.Option("--any-order", help="Allow an OLD whose name is a later release than NEW's.")]


def verbosity(verbose: bool, quiet: bool) -> int:
    """The verbosity: -1 quiet, 0 default, 1 verbose."""
    return int(verbose) - int(quiet)


def chosen_server(kube_version: str | None, openshift_version: str | None) -> Server | None:
    """The requested server; None if neither option is given. Raises UsageError if both are given."""
    from crdcompat.apiserver.versions import kubernetes_server, openshift_server

    if kube_version and openshift_version:
        raise UsageError("--kube-version and --openshift-version exclude each other")
    if openshift_version:
        return openshift_server(openshift_version)
    return kubernetes_server(kube_version) if kube_version else None

"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.errors import UsageError
from crdcompat.vocabulary import Direction, FailOn, Owner
from crdcompat.vocabulary.installers import Installer

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


class LogFormat(StrEnum):
    """What standard error shows while the fleet is judged: a line for people, or one of JSON for each recording."""

    text = "text"
    json = "json"


def known_refs(incomplete: str) -> list[str]:
    """The branches and tags of the current repository that begin so, for the completion of shells."""
    from crdcompat.errors import SourceError
    from crdcompat.sources.refs import branch_spellings, tags
    from crdcompat.sources.repository import Repository

    try:
        repository = Repository(None)
        names = (*branch_spellings(repository), *tags(repository))
    except SourceError:
        return []
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def known_rules(incomplete: str) -> list[str]:
    """The rules that begin so, for the completion of shells."""
    from crdcompat.findings.rules import rule_names

    return [name for name in rule_names() if name.startswith(incomplete)]


def known_formats(incomplete: str) -> list[str]:
    """The formats that begin so, for the completion of shells."""
    from crdcompat.render.formats import format_names

    return [name for name in format_names() if name.startswith(incomplete)]


Old = Annotated[
    str,
    typer.Argument(
        metavar="OLD",
        help="Older release: ref, folder, image, … (docs/sources.md).",
        autocompletion=known_refs,
    ),
]
New = Annotated[str, typer.Argument(metavar="NEW", help="Newer release, in the same forms.", autocompletion=known_refs)]
Repo = Annotated[str | None, typer.Option(metavar="PATH", help="Git repository of the refs (default: this one).")]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help="text, concise, json, markdown, sarif, junit, github, gitlab, html or csv; repeatable.",
        autocompletion=known_formats,
    ),
]
FailOnChoice = Annotated[
    FailOn | None,
    typer.Option("--fail-on", metavar="LEVEL", help="error (default), warning, info, undecided or never."),
]
AllowUnknown = Annotated[bool, typer.Option("--allow-unknown", help="UNKNOWN does not fail; the report says so.")]
ProfileOption = Annotated[
    Profile | None,
    typer.Option("--profile", metavar="NAME", help="strict: rejections and removals on upgrade fail, too."),
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Only these files, in place of `include`."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Not these files, nor those of `exclude`."),
]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Configuration (default: nearest .crdcompat.yaml)."),
]
Objects = Annotated[
    list[str] | None,
    typer.Option("--objects", metavar="PATH", help="Recorded objects as evidence; may be repeated."),
]
ColourOption = Annotated[Colour, typer.Option("--color", metavar="WHEN", help="auto, always or never.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that was found.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors and the summary only.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress on a terminal.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Judge all anew: neither read nor write the cache.")]
DirectionOption = Annotated[DirectionChoice, typer.Option(metavar="WAY", help="rollback, upgrade or both.")]
Owners = Annotated[
    list[Owner] | None,
    typer.Option("--owner", metavar="OWNER", help="Fields written by status, spec, metadata, other or crd."),
]
Crds = Annotated[
    list[str] | None,
    typer.Option("--crd", metavar="NAME", help="Only this CRD (metadata.name); may be repeated."),
]
Contexts = Annotated[
    list[str] | None,
    typer.Option("--context", metavar="NAME", help="Only this context; OLD=NEW compares two with two names."),
]
ClusterContext = Annotated[
    str | None, typer.Option("--context", metavar="NAME", help="The context of the cluster, if CRDs have variants.")
]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULE", help="Only findings of this rule.", autocompletion=known_rules),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULE", help="No findings of this rule.", autocompletion=known_rules),
]


InstallerOption = Annotated[
    Installer | None,
    typer.Option(
        "--installer",
        metavar="NAME",
        help="Who installs CRDs: helm-crds, … (docs/installers.md).",
    ),
]
ConnectTimeout = Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="To connect to a cluster.")]
ReadTimeout = Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="To wait for data.")]
Helm = Annotated[bool, typer.Option("--helm", help="Render Helm charts with the helm program.")]
HelmValues = Annotated[
    list[str] | None,
    typer.Option("--helm-values", metavar="FILE", help="Values for --helm; may be repeated."),
]
Kustomize = Annotated[bool, typer.Option("--kustomize", help="Build kustomize: folders.")]
ImagePath = Annotated[
    list[str] | None,
    typer.Option("--image-path", metavar="FOLDER", help="The folder of an image that has the manifests."),
]
Redact = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact",
        help="Hide values of objects (default: where others read).",
    ),
]
AnyOrder = Annotated[bool, typer.Option("--any-order", help="Accept an OLD that is newer than NEW.")]


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

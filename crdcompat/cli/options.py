"""Options that several commands share: each is declared once, and those that belong together are a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import typer
from msgspec import Struct
from typer.models import OptionInfo

from crdcompat.cli.choices import Colour, DirectionChoice, known_refs, known_rules
from crdcompat.errors import UsageError
from crdcompat.vocabulary import FailOn, Owner
from crdcompat.vocabulary.installers import Installer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.apiserver.server_versions import Server
    from crdcompat.vocabulary.filters import Filters


#: The headings of options in a help, beside the heading of the group; other options have none.
FILTERS, OUTPUT, SOURCES = "Filters", "Output", "Sources"

Old = Annotated[
    str,
    typer.Argument(
        metavar="OLD", help="Older release: ref, folder, image, … (docs/sources.md).", autocompletion=known_refs
    ),
]
New = Annotated[str, typer.Argument(metavar="NEW", help="Newer release, in the same forms.", autocompletion=known_refs)]
Repo = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Git repository of the refs (default: this one).", rich_help_panel=SOURCES),
]
FailOnChoice = Annotated[
    FailOn | None,
    typer.Option(
        "--fail-on", metavar="LEVEL", help="error (default), warning, info, undecided or never.", rich_help_panel=OUTPUT
    ),
]
AllowUnknown = Annotated[bool, typer.Option("--allow-unknown", help="UNKNOWN does not fail; the report says so.")]
Include = Annotated[
    list[str] | None, typer.Option("--include", metavar="GLOB", help="Only these files, in place of `include`.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="GLOB", help="Not these files, nor those of `exclude`.")
]
ConfigFile = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", help="Configuration (default: nearest .crdcompat.yaml).", rich_help_panel=SOURCES
    ),
]


def recordings(text: str) -> OptionInfo:
    """The option ``--objects`` with the help of a command: each uses recordings in its own way."""
    option: OptionInfo = typer.Option("--objects", metavar="PATH", help=text, rich_help_panel=SOURCES)
    return option


Objects = Annotated[list[str] | None, recordings("Recorded objects as evidence; may be repeated.")]
ColourOption = Annotated[
    Colour, typer.Option("--color", metavar="WHEN", help="auto, always or never.", rich_help_panel=OUTPUT)
]
NoProgress = Annotated[
    bool, typer.Option("--no-progress", help="Show no progress on a terminal.", rich_help_panel=OUTPUT)
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Judge all anew: neither read nor write the cache.", rich_help_panel=SOURCES)
]
Crds = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this CRD (metadata.name); may be repeated.", rich_help_panel=FILTERS),
]
ClusterContext = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The context of the cluster, if CRDs have variants.", rich_help_panel=FILTERS),
]


Branches = Annotated[
    list[str] | None,
    typer.Option("--branches", metavar="GLOB", help="Each matching branch, e.g. 'release-4.1*'; repeatable."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tags", metavar="GLOB", help="Of the matching tags, the newest patch of each minor."),
]
InstallerOption = Annotated[
    Installer | None,
    typer.Option("--installer", metavar="NAME", help="Who installs CRDs (docs/installers.md)."),
]
AnyOrder = Annotated[bool, typer.Option("--any-order", help="Accept an OLD that is newer than NEW.")]


class Selection(Struct, frozen=True):
    """What a comparison keeps."""

    HEADING: ClassVar = FILTERS

    direction: Annotated[DirectionChoice, typer.Option(metavar="WAY", help="rollback, upgrade or both.")] = (
        DirectionChoice.BOTH
    )
    owner: Annotated[
        list[Owner] | None,
        typer.Option("--owner", metavar="OWNER", help="Fields written by status, spec, metadata, other or crd."),
    ] = None
    crd: Crds = None
    context: Annotated[
        list[str] | None,
        typer.Option("--context", metavar="NAME", help="Only this context; OLD=NEW compares two with two names."),
    ] = None
    select: Annotated[
        list[str] | None,
        typer.Option("--select", metavar="RULE", help="Only findings of this rule.", autocompletion=known_rules),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="RULE", help="No findings of this rule.", autocompletion=known_rules),
    ] = None

    def filters(self, contexts: Sequence[str] = (), paths: Sequence[str] | None = None) -> Filters:
        """The filters; ``contexts`` hold where none is named. Raises UsageError for an unknown rule."""
        from crdcompat.vocabulary.filters import Filters

        for name in (*(self.select or ()), *(self.ignore or ())):
            from crdcompat.findings.rules import find_rule

            find_rule(name)
        return Filters(
            directions=self.direction.directions,
            owners=self.owner or (),
            crds=self.crd or (),
            paths=paths or (),
            contexts=self.context or contexts,
            select=self.select or (),
            ignore=self.ignore or (),
        )


class Output(Struct, frozen=True, kw_only=True):
    """How much is shown, and how."""

    HEADING: ClassVar = OUTPUT

    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that was found.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show errors and the summary only.")] = False
    redact: Annotated[
        bool | None, typer.Option("--redact/--no-redact", help="Hide values of objects (default: where others read).")
    ] = None
    color: ColourOption = Colour.auto
    no_progress: NoProgress = False

    @property
    def verbosity(self) -> int:
        """-1 quiet, 0 default, 1 verbose."""
        return int(self.verbose) - int(self.quiet)

    @property
    def has_bars(self) -> bool:
        """Whether progress is shown on a terminal."""
        return not (self.no_progress or self.quiet)


class Charts(Struct, frozen=True):
    """The programs that may make manifests, and the folders of images that hold them."""

    HEADING: ClassVar = SOURCES

    helm: Annotated[bool, typer.Option("--helm", help="Render Helm charts with the helm program.")] = False
    helm_values: Annotated[
        list[str] | None, typer.Option("--helm-values", metavar="FILE", help="Values for --helm; may be repeated.")
    ] = None
    kustomize: Annotated[bool, typer.Option("--kustomize", help="Build kustomize: folders.")] = False
    image_path: Annotated[
        list[str] | None,
        typer.Option("--image-path", metavar="FOLDER", help="The folder of an image that has the manifests."),
    ] = None

    def apply(self, kubernetes: str = "") -> None:
        """Let sources use them from now on; ``kubernetes`` is the server's version for templates."""
        from crdcompat.sources.source_options import render_sources

        render_sources(
            helm=self.helm,
            helm_values=self.helm_values,
            kustomize=self.kustomize,
            image_paths=self.image_path,
            kubernetes=kubernetes,
        )


class Requests(Struct, frozen=True):
    """How long to wait for clusters and other servers."""

    HEADING: ClassVar = SOURCES

    connect_timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="To connect to a cluster.")] = 10
    read_timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="To wait for data.")] = 30

    def apply(self) -> None:
        """Begin a run: limit its requests."""
        from crdcompat.sources.source_options import limit_requests

        limit_requests(self.connect_timeout, self.read_timeout)


class Servers(Struct, frozen=True):
    """The API server that judges."""

    kube_version: Annotated[
        str | None, typer.Option(metavar="1.N", help="Version of the API server (default: the release's).")
    ] = None
    openshift_version: Annotated[str | None, typer.Option(metavar="4.N", help="Its version as one of OpenShift.")] = (
        None
    )

    def chosen(self) -> Server | None:
        """The server; None if none is named. Raises UsageError if two are."""
        from crdcompat.apiserver.server_versions import kubernetes_server, openshift_server

        if self.kube_version and self.openshift_version:
            raise UsageError("--kube-version and --openshift-version exclude each other")
        if self.openshift_version:
            return openshift_server(self.openshift_version)
        return kubernetes_server(self.kube_version) if self.kube_version else None

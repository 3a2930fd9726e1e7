"""The kinds of sources, and the prefixes that name them; `detect` finds the kind of a name without a prefix."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from crdcompat.errors import UsageError
from crdcompat.sources.urls import is_remote, public_name


class Kind(StrEnum):
    """The kinds of sources; the value is the prefix that names the kind. `ANY` is a name without a prefix."""

    ANY = ""
    GIT = "git"
    INDEX = "index"
    WORKTREE = "worktree"
    EMPTY = "empty"
    PATH = "path"
    RECORDING = "recording"
    CLUSTER = "cluster"
    ARCHIVE = "archive"
    HELM = "helm"
    KUSTOMIZE = "kustomize"
    BUNDLE = "bundle"
    CATALOG = "catalog"
    OCI = "oci"


_WITHOUT_NAME = (Kind.INDEX, Kind.WORKTREE, Kind.EMPTY)
#: Kinds with a mandatory name, and an example of it. A cluster needs none: the default is the current context.
_EXAMPLES = {
    Kind.GIT: "release-4.13",
    Kind.PATH: "config",
    Kind.RECORDING: "must-gather.tar.gz",
    Kind.ARCHIVE: "release-1.15.zip",
    Kind.HELM: "chart-1.15.tgz",
    Kind.KUSTOMIZE: "config/default",
    Kind.BUNDLE: "bundle",
    Kind.CATALOG: "catalog.yaml#widgets@1.15.0",
    Kind.OCI: "image.tar",
}


class Source(Struct, frozen=True):
    """A source as the user named it: its kind, and ``rest``, the text after the prefix.

    ``name`` is the whole text without credentials, for messages.
    """

    kind: Kind
    rest: str
    name: str

    @property
    def path(self) -> str:
        """The path or URL, without the part after ``#``."""
        return self.rest.partition("#")[0]

    @property
    def part(self) -> str:
        """The part of a catalog or an image that is named after ``#``."""
        return self.rest.partition("#")[2]

    @property
    def is_remote(self) -> bool:
        """Whether the source is a URL."""
        return is_remote(self.rest)

    @property
    def can_be_ref(self) -> bool:
        """Whether the source can be a git ref by its form: it has the prefix for refs, or it is a bare word."""
        is_path = self.rest in ("-", ".", "..") or self.rest.startswith(("/", "./", "../"))
        return self.kind is Kind.GIT or (self.kind is Kind.ANY and not self.is_remote and not is_path)


def named_source(text: str) -> Source:
    """The source that a text names. Raises UsageError for an empty text, or a prefix without its mandatory name."""
    if not text:
        raise UsageError("an empty source: name a git ref, a directory, a file or a URL")
    prefix, colon, rest = text.partition(":")
    if not colon or prefix not in _PREFIXES or is_remote(text):
        return Source(Kind.ANY, text, public_name(text))
    kind = Kind(prefix)
    if kind in _WITHOUT_NAME and rest:
        raise UsageError(f"{text}: {kind}: takes nothing after the colon")
    if kind in _EXAMPLES and not rest:
        raise UsageError(f"{text}: a name is missing, as in {kind}:{_EXAMPLES[kind]}")
    return Source(kind, rest, public_name(text))


def unknown_prefix(text: str) -> str:
    """A hint for a name with an unknown prefix; "" for other names."""
    prefix, colon, _ = text.partition(":")
    if not colon or not prefix.isalpha():
        return ""
    known = ", ".join(f"{kind}:" for kind in sorted(_PREFIXES))
    return f"; {prefix}: is no known prefix: these are {known}, and URLs such as https://"


_PREFIXES = frozenset(kind.value for kind in Kind if kind.value)

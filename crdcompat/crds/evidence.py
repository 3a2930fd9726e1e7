"""What a tree itself says about which of its files clusters get: the evidence, in the order in which it counts.

Kustomizations, charts, bundles of OLM, the project file of kubebuilder, the calls of controller-gen, the files that
CI adds to a release, and those that a Go program carries. A description in a folder of tests or examples is no
evidence.
"""

from __future__ import annotations

import posixpath
import re
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.kustomizations import is_kustomization_name
from crdcompat.prefilter.candidates import excluded, is_packed_chart
from crdcompat.sources.helm import CHART
from crdcompat.sources.naming import KUSTOMIZATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crdcompat.crds.kustomizations import Kustomized
    from crdcompat.sources.tree import Tree

_BUNDLE, _PROJECT = "bundle.Dockerfile", "PROJECT"
_COPY = re.compile(
    rb"^[ \t]*(?:COPY|ADD)[ \t]+(?:--\S+[ \t]+)*(\S+)[ \t]+/manifests/?[ \t\r]*$", re.MULTILINE | re.IGNORECASE
)
_IS_PROJECT = re.compile(rb"^(?:layout|domain|repo|projectName):", re.MULTILINE)
_OUTPUT = re.compile(rb"output:crd:(?:[\w:]+)=([^\s\"';&|\\]+)")
_BUILT = re.compile(rb"kustomize[)}]?[ \t]+build[ \t]+([^\s>|;&]+)[ \t]*>[ \t]*([^\s>|;&]+)", re.IGNORECASE)
_ASSIGNED = re.compile(rb"^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[:?]*=[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(rb"\$[({](\w+)[)}]")
_OF_RELEASES = re.compile(r"\.github/workflows/[^/]*release[^/]*\.ya?ml|\.goreleaser\.ya?ml")
_EMBEDS = re.compile(rb"^[ \t]*//go:embed[ \t]+(.+)", re.MULTILINE)
_NAMED_FILE = re.compile(rb"[\w./*-]{1,200}\.(?:ya?ml|json)\b")


class Kind(IntEnum):
    """The kinds of evidence: one with a lower number counts before the others.

    A chart and a bundle are packages for the users of different installers: both ship.
    """

    INSTALLED, LISTED, PACKAGE, BUILT, PROJECT, GENERATED, RELEASED, EMBEDDED, PATCHED, ADAPTED = range(10)


#: The kinds of evidence that a kustomization gives, which lists files.
OF_KUSTOMIZATIONS = frozenset({Kind.INSTALLED, Kind.LISTED, Kind.PATCHED, Kind.ADAPTED})


class Evidence(Struct, frozen=True):
    """A file that says which files and folders of its tree ship.

    ``conversions`` are texts of the patches by which a kustomization gives CRDs in these files a conversion.
    """

    kind: Kind
    source: str
    files: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    conversions: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Whether the evidence says that a file ships."""
        return path in self.files or any(path.startswith(f"{folder}/") for folder in self.folders)


def read_evidence(tree: Tree, kustomized: Callable[[Tree], Kustomized], crds: Collection[str]) -> tuple[Evidence, ...]:
    """All evidence of a tree about the files with ``crds``, in its order. Raises SourceError."""
    entries = {entry.path: entry for entry in tree.entries()}
    known = kustomized(tree)
    found = [*_kustomizations(known, entries, crds)]
    texts = [entry for path, entry in entries.items() if _counts(path) and _reader(path) is not None]
    above = {folder for crd in crds for folder in _above(crd)}
    programs = [entry for path, entry in entries.items() if _is_program(path, above) and _counts(path)]
    for entry, data in tree.read([*texts, *programs]):
        read = _reader(entry.path) or _program
        found += read(entry.path, data, crds)
        if read is _makefile:
            found += _built(entry.path, data, known)
    return tuple(sorted((each for each in found if any(map(each.covers, crds))), key=lambda each: each.kind))


def _counts(path: str) -> bool:
    return not excluded(path) and place_of(path) == Place.ORDINARY


def _kustomizations(kustomized: Kustomized, files: Collection[str], crds: Collection[str]) -> Iterator[Evidence]:
    """The kustomizations, the smallest first: it lists the files itself.

    One that installs other manifests, too, says more than one that lists CRDs alone: a flavour that nobody uses has
    one, too. A file that a kustomization patches in its versions says least: no cluster gets it as it is. If clusters
    get it patched, with other manifests, it is adapted.
    """
    counting = {path: reached for path, reached in kustomized.reached.items() if _counts(path)}
    installed, patched = set[str](), set[str]()
    for reached in counting.values():
        if not reached.isdisjoint(kustomized.reshaping):
            patched.update(reached)
        if any(path in files and path not in crds and not is_kustomization_name(path) for path in reached):
            installed.update(reached)
    for path, reached in sorted(counting.items(), key=lambda item: (len(item[1]), item[0])):
        whole = reached - patched
        for kind, listed in (
            (Kind.INSTALLED, whole & installed),
            (Kind.LISTED, whole),
            (Kind.PATCHED, reached & patched),
            (Kind.ADAPTED, reached & patched & installed),
        ):
            conversions = tuple(sorted(reached & kustomized.converting.keys()))
            yield Evidence(kind, path, listed & frozenset(crds), conversions=conversions)


def _reader(path: str) -> Callable[[str, bytes, Collection[str]], Iterable[Evidence]] | None:
    """The function that reads the evidence in a file; None for most files."""
    name = path[path.rfind("/") + 1 :]
    if name in (CHART, _BUNDLE, _PROJECT):
        return {CHART: _chart, _BUNDLE: _bundle, _PROJECT: _project}[name]
    if name in ("Makefile", "GNUmakefile") or name.endswith(".mk"):
        return _makefile
    return _releases if _OF_RELEASES.fullmatch(path) else None


def _chart(path: str, data: bytes, crds: Collection[str]) -> Iterator[Evidence]:
    packed = (crd for crd in crds if is_packed_chart(crd) and posixpath.dirname(crd) == _beside(path, "charts"))
    folders = tuple(_beside(path, name) for name in ("crds", "templates"))
    yield Evidence(Kind.PACKAGE, path, frozenset(packed), folders)


def _bundle(path: str, data: bytes, crds: Collection[str]) -> Iterator[Evidence]:
    """The manifests of a bundle; the folder may start at the file or at the top, where images are built."""
    for match in _COPY.finditer(data):
        named = posixpath.normpath(match[1].decode(errors="replace"))
        yield Evidence(Kind.PACKAGE, path, folders=(_beside(path, named), named))


def _project(path: str, data: bytes, crds: Collection[str]) -> Iterator[Evidence]:
    if _IS_PROJECT.search(data):
        yield Evidence(Kind.PROJECT, path, folders=(_beside(path, "config/crd/bases"),))


def _makefile(path: str, data: bytes, crds: Collection[str]) -> Iterator[Evidence]:
    values = _assigned(data)
    for match in _OUTPUT.finditer(data):
        if "$" not in (folder := _valued(match[1], values)):
            yield Evidence(Kind.GENERATED, path, folders=(_beside(path, folder),))


def _built(path: str, data: bytes, kustomized: Kustomized) -> Iterator[Evidence]:
    """The files that kustomize writes, where it changes the versions of CRDs: no base has all that clusters get."""
    values = _assigned(data)
    for match in _BUILT.finditer(data):
        folder, file = (_beside(path, _valued(each, values)) for each in match.groups())
        reached = [kustomized.reached.get(f"{folder}/{name}", frozenset()) for name in KUSTOMIZATIONS]
        if not kustomized.reshaping.isdisjoint(frozenset().union(*reached)):
            yield Evidence(Kind.BUILT, path, frozenset({file}))


def _assigned(data: bytes) -> dict[bytes, bytes]:
    return dict(_ASSIGNED.findall(data))


def _valued(text: bytes, values: dict[bytes, bytes]) -> str:
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text).decode(errors="replace")


def _releases(path: str, data: bytes, crds: Collection[str]) -> Iterator[Evidence]:
    named = {posixpath.normpath(each.decode(errors="replace")) for each in _NAMED_FILE.findall(data)}
    files = frozenset(crd for crd in crds if any(fnmatchcase(crd, each) for each in named))
    yield Evidence(Kind.RELEASED, path, files)


def _above(path: str) -> Iterator[str]:
    """The folders around a file; the top is the empty one."""
    while path:
        path = posixpath.dirname(path)
        yield path


def _is_program(path: str, folders: Collection[str]) -> bool:
    """Whether a file is Go source that can embed a file below itself, in one of ``folders``."""
    return path.endswith(".go") and not path.endswith("_test.go") and posixpath.dirname(path) in folders


def _program(path: str, data: bytes, crds: Collection[str]) -> Iterator[Evidence]:
    """The files that a Go program carries; a pattern that matches a folder embeds all that is in it."""
    folder = posixpath.dirname(path)
    words = (each for match in _EMBEDS.finditer(data) for each in match[1].decode(errors="replace").split())
    patterns = [posixpath.join(folder, each.strip('`"').removeprefix("all:")).split("/") for each in words]
    files = frozenset(crd for crd in crds if any(_embeds(each, crd.split("/")) for each in patterns))
    yield Evidence(Kind.EMBEDDED, path, files)


def _embeds(pattern: list[str], path: list[str]) -> bool:
    return len(pattern) <= len(path) and all(map(fnmatchcase, path, pattern))


def _beside(path: str, named: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), named))

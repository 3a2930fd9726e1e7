"""The pins of manifests: Chart.yaml, Flux, Argo CD, kustomize."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct

from crdcompat.crds.kustomizations import is_kustomization_name
from crdcompat.sources.descriptions import list_of, object_of, objects_of
from crdcompat.sources.helm import CHART
from crdcompat.sources.naming import is_manifest_name
from crdcompat.yaml.documents import Document, read_documents

Json = Mapping[str, Any]

_OCI = "oci://"
_REQUIREMENTS = "requirements.yaml"
#: What a file says that may name a version; others are not parsed.
_WORDS = (b"HelmRelease", b"OCIRepository", b"GitRepository", b"Application")
HELM_REPOSITORY = b"HelmRepository"


def may_pin(path: str) -> bool:
    """Whether a file can name versions of others, by its name."""
    return path.rpartition("/")[2] == "go.mod" or is_manifest_name(path) or is_kustomization_name(path)


def pins_of(path: str, data: bytes) -> Iterator[Pin | str]:
    """The pins of a file; a text is the reason why a document was not read."""
    name = path.rpartition("/")[2]
    if name == "go.mod":
        yield from go_pins(data)
        return
    is_listed = name in (CHART, _REQUIREMENTS) or is_kustomization_name(path)
    if not is_listed and not any(word in data for word in _WORDS):
        return
    for item in read_documents(data, path):
        if not isinstance(item, Document):
            yield f"line {item.line}: {item.message}"
        elif not isinstance(item.data, dict):
            continue
        elif name in (CHART, _REQUIREMENTS):
            yield from _dependencies(item.data)
        elif is_kustomization_name(path):
            yield from _kustomization(item.data)
        elif (read := _READERS.get((_group(item.data), str(item.data.get("kind"))))) is not None:
            yield from read(object_of(item.data.get("spec")), _identity(item.data))


def repositories_of(path: str, data: bytes) -> Iterator[tuple[tuple[str, str], str]]:
    """The addresses of the HelmRepositories in a file, by namespace and name."""
    for item in read_documents(data, path):
        if isinstance(item, Document) and isinstance(item.data, dict) and item.data.get("kind") == "HelmRepository":
            _, namespace, name = _identity(item.data)
            yield (namespace, name), _text(object_of(item.data.get("spec")).get("url"))


def placed(pin: Pin, place: str) -> Pin:
    """The pin of a HelmRelease with the address of its repository."""
    return _chart(place, pin.name, pin.version, pin.at)


def _group(data: Json) -> str:
    return _text(data.get("apiVersion")).partition("/")[0]


def _identity(data: Json) -> tuple[str, str, str]:
    meta = object_of(data.get("metadata"))
    return _text(data.get("kind")), _text(meta.get("namespace")), _text(meta.get("name"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _dependencies(data: Json) -> Iterator[Pin]:
    for each in objects_of(data.get("dependencies")):
        place, name = _text(each.get("repository")), _text(each.get("name"))
        if place and not place.startswith("file:"):
            yield _chart(place, name, each.get("version"), ("dependency", _text(each.get("alias")) or name))


def _chart(place: str, name: str, version: Any, at: tuple[str, ...]) -> Pin:
    if place.startswith(_OCI):
        return Pin(Kind.OCI, f"{place.rstrip('/')}/{name}", "", _text(version), at)
    return Pin(Kind.HELM, place, name, _text(version), at)


def _release(spec: Json, at: tuple[str, str, str]) -> Iterator[Pin]:
    """A HelmRelease of Flux: its repository is another object."""
    chart = object_of(object_of(spec.get("chart")).get("spec"))
    source = object_of(chart.get("sourceRef"))
    if source.get("kind") == "HelmRepository":
        named = _text(source.get("namespace")) or at[1], _text(source.get("name"))
        yield Pin(Kind.HELM, "", _text(chart.get("chart")), _text(chart.get("version")), at, named)


def _oci_repository(spec: Json, at: tuple[str, str, str]) -> Iterator[Pin]:
    if tag := _text(object_of(spec.get("ref")).get("tag")):
        yield Pin(Kind.OCI, _text(spec.get("url")), "", tag, at)


def _git_repository(spec: Json, at: tuple[str, str, str]) -> Iterator[Pin]:
    ref = object_of(spec.get("ref"))
    if version := _text(ref.get("commit")) or _text(ref.get("tag")):
        yield Pin(Kind.GIT, _text(spec.get("url")).removesuffix(".git"), "", version, at)


def _application(spec: Json, at: tuple[str, ...]) -> Iterator[Pin]:
    """The sources of an Application of Argo CD; a chart in a registry has an address without a scheme."""
    sources = [object_of(spec.get("source")), *objects_of(spec.get("sources"))]
    for index, each in enumerate(sources):
        place, name = _text(each.get("repoURL")), _text(each.get("chart"))
        version, here = each.get("targetRevision"), (*at, str(index))
        if name:
            yield _chart(place if "://" in place else f"{_OCI}{place}", name, version, here)
        elif place and version:
            folder = _text(each.get("path")).strip("./")
            yield Pin(Kind.GIT, place.removesuffix(".git"), folder, _text(version), here)


def _application_set(spec: Json, at: tuple[str, str, str]) -> Iterator[Pin]:
    return _application(object_of(object_of(spec.get("template")).get("spec")), at)


def _kustomization(data: Json) -> Iterator[Pin]:
    for key in ("resources", "bases", "crds", "components"):
        for each in list_of(data.get(key)):
            if isinstance(each, str) and (found := remote_pin(each)) is not None:
                yield found
    for each in objects_of(data.get("helmCharts")):
        name = _text(each.get("name"))
        if place := _text(each.get("repo")):
            yield _chart(place, name, each.get("version"), ("chart", _text(each.get("releaseName")), name))


_READERS: Mapping[tuple[str, str], Callable[[Json, tuple[str, str, str]], Iterator[Pin]]] = {
    ("helm.toolkit.fluxcd.io", "HelmRelease"): _release,
    ("source.toolkit.fluxcd.io", "OCIRepository"): _oci_repository,
    ("source.toolkit.fluxcd.io", "GitRepository"): _git_repository,
    ("argoproj.io", "Application"): _application,
    ("argoproj.io", "ApplicationSet"): _application_set,
}


# The versions of others that a repository names: charts, manifests in git, files behind URLs, Go modules.
#
# Renovate and Dependabot change these lines. Every value is the text of a stranger: `unsafe` says what may not be
# used.


class Kind(StrEnum):
    """The kind of a pin: where the version is, and how to get it."""

    HELM = "helm"
    """A chart of a repository: ``helm pull NAME --repo PLACE --version VERSION``."""
    OCI = "oci"
    """A chart or manifests in a registry: ``PLACE:VERSION``."""
    GIT = "git"
    """A folder of a git repository: NAME at VERSION of PLACE."""
    GO = "go"
    """A Go module: ``NAME@VERSION``."""
    URL = "url"
    """A file: VERSION is its whole URL."""


class Pin(Struct, frozen=True):
    """A version that a file names, of ``name`` at ``place``; ``at`` says where, so that both commits have it.

    ``source``: a HelmRepository (namespace, name) has the place; another file describes it.
    """

    kind: Kind
    place: str
    name: str
    version: str
    at: tuple[str, ...]
    source: tuple[str, str] | None = None


#: No user, no password, no query: a job would hand them on. No ``..``, and nothing that a shell reads.
_PLACE = re.compile(
    r"(?:https?|oci)://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:/[A-Za-z0-9_~%+-][A-Za-z0-9._~%+-]*)*/?"
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(?:/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")
_EXACT = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.+-]+)?")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*(?:[./][A-Za-z0-9_+-]+)*")
_FILE = re.compile(_PLACE.pattern.replace("oci", "https"))
_MAX = 300
#: A part of a URL that differs between releases of one file.
_RELEASE = re.compile(r"v?\d+(?:\.\d+)+(?:[-+][A-Za-z0-9.+-]+)?")
_REMOTE = re.compile(r"(?:git::)?(?:https://)?(?P<host>[A-Za-z0-9.-]+\.[A-Za-z]+)/(?P<path>[^?]+)\?(?P<query>.+)")
_REQUIRED = re.compile(
    rb"^[ \t]*(?:require[ \t]+)?([^\s()/.]+\.[^\s()]+)[ \t]+(v\d\S*)[ \t]*(?://[^\n]*)?\r?$", re.MULTILINE
)
_REPLACED = re.compile(
    rb"^[ \t]*(?:replace[ \t]+)?(\S+)(?:[ \t]+v\S+)?[ \t]*=>[ \t]*(\S+)(?:[ \t]+(v\d\S*))?", re.MULTILINE
)


def unsafe(pin: Pin) -> str:
    """Why a pin is not handed on; "" if it may be."""
    version = {Kind.HELM: _EXACT, Kind.OCI: _REF, Kind.GIT: _REF, Kind.GO: _EXACT, Kind.URL: _FILE}[pin.kind]
    if pin.kind in (Kind.HELM, Kind.OCI, Kind.GIT) and not _fits(_PLACE, pin.place):
        return "only http, https and oci addresses without user, password and query are listed"
    if pin.name and not _fits(_NAME, pin.name):
        return "the name has characters that names do not have"
    if not _fits(version, pin.version):
        return "the version is a range, or has characters that versions do not have"
    return ""


def _fits(pattern: re.Pattern[str], text: str) -> bool:
    return len(text) <= _MAX and pattern.fullmatch(text) is not None


def remote_pin(text: str) -> Pin | None:
    """The pin of a resource of a kustomization; None for a file of the repository, or what names no version."""
    if (found := _REMOTE.fullmatch(text)) is not None:
        asked = parse_qs(found["query"])
        ref = (asked.get("ref") or asked.get("version") or [""])[0]
        before, double, below = found["path"].partition("//")
        parts = before.removesuffix(".git").split("/")
        owned, folder = parts[:2], [*parts[2:], *filter(None, [below])]
        if double:
            owned, folder = parts, [below]
        place = f"https://{found['host']}/{'/'.join(owned)}"
        name = "/".join(folder).strip("/")
        return Pin(Kind.GIT, place, name, ref, ("resource", place, name)) if ref else None
    if text.startswith(("https://", "http://")):
        masked = "/".join("*" if _RELEASE.fullmatch(part) else part for part in text.split("/"))
        return Pin(Kind.URL, "", "", text, ("resource", masked)) if masked != text else None
    return None


def go_pins(data: bytes) -> list[Pin]:
    """The pins of a ``go.mod``; a module that a folder replaces has none."""
    named = {module: (module, version) for module, version in _texts(_REQUIRED, data)}
    named |= {module: (other, version) for module, other, version in _texts(_REPLACED, data) if module in named}
    return [Pin(Kind.GO, "", name, version, ("module", at)) for at, (name, version) in named.items() if version]


def _texts(pattern: re.Pattern[bytes], data: bytes) -> list[tuple[str, ...]]:
    return [tuple(part.decode("utf-8", "replace") for part in found) for found in pattern.findall(data)]

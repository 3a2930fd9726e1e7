"""The pins of manifests: Chart.yaml, Flux, Argo CD, kustomize."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from crdcompat.crds.kustomizations import is_kustomization_name
from crdcompat.features.updates.pins import Kind, Pin, go_pins, remote_pin
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

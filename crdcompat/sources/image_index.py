"""Chooses the image of a layout or archive, and its layers: from ``index.json`` (OCI) or ``manifest.json`` (docker)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from crdcompat.errors import SourceError
from crdcompat.sources.descriptions import list_of, object_of, objects_of
from crdcompat.vocabulary.texts import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_JSON = 4 << 20
"""Bytes of an index or a manifest, which registries limit to 4 MiB."""

_PLATFORM = "linux/amd64"
_NO_PLATFORM = "unknown/unknown"  # of attestations
_MAX_DEPTH = 4
_MAX_LAYERS = 1000
_MAX_NAMED = 8  # images that a note names
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
#: The files that are called after the digest of their content: blobs, and the configuration in `docker save`.
_NAMED = re.compile(r"(?:^|/)(?:blobs/sha256/([0-9a-f]{64})|([0-9a-f]{64})\.json)$")
#: The media types of a chart: of today, and of the first releases of Helm 3. Other layers, as signatures, do not match.
_CHART = re.compile(r"application/(?:vnd\.cncf\.helm\.chart\.content\.v1\.tar\+gzip|tar\+gzip)")
_CHART_CONFIG = "application/vnd.cncf.helm.config.v1+json"
_NAMES = ("org.opencontainers.image.ref.name", "io.containerd.image.name")
_EXPECTED = "an index.json (OCI) or manifest.json (docker save) is expected at its top"


class ChosenImage(Struct, frozen=True):
    """The files of the layers in order, and their SHA-256 and size by file if known. ``notes`` name the chosen image.

    ``is_chart``: the image is an artifact, and its only layer is a Helm chart.
    """

    layers: tuple[str, ...]
    digests: Mapping[str, str] = {}
    sizes: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    is_chart: bool = False


class _Candidate(Struct, frozen=True):
    """An image of an index: its digest, its names and its platform."""

    digest: str
    names: tuple[str, ...]
    platform: str


def choose_image(name: str, files: Mapping[str, bytes], selector: str) -> ChosenImage:
    """The image that ``selector`` names: a tag or a platform, or "" for the only image.

    Of an image for several platforms, that for linux/amd64 is chosen, and a note names the others. Raises SourceError
    if no image matches, or several do, or a description contradicts its size.
    """
    if "index.json" in files:
        return _of_index(name, files, selector)
    if "manifest.json" in files:
        return _of_docker(name, files, selector)
    raise SourceError(f"{name}: no image: {_EXPECTED}")


def _of_index(name: str, files: Mapping[str, bytes], selector: str) -> ChosenImage:
    candidates = list(_candidates(name, files, _mapping(name, "index.json", files["index.json"]), (), 0))
    chosen = _chosen(name, candidates, selector)
    path = f"blobs/sha256/{chosen.digest}"
    if path not in files:
        raise SourceError(f"{name}: the manifest {path} is not in it: damaged, or not copied as a whole")
    manifest = _mapping(name, path, files[path])
    _check_size(name, manifest.get("config"), files)
    layers = list_of(manifest.get("layers"))
    is_chart = object_of(manifest.get("config")).get("mediaType") == _CHART_CONFIG
    if is_chart:
        layers = [each for each in layers if _CHART.fullmatch(str(object_of(each).get("mediaType")))][:1]
    digests = [_digest(name, layer) for layer in layers]
    sizes = {
        f"blobs/sha256/{_digest(name, layer)}": size for layer in layers if (size := _size(name, layer)) is not None
    }
    if not digests or len(digests) > _MAX_LAYERS:
        wanted = "a chart has 1" if is_chart else f"an image has 1 to {_MAX_LAYERS}"
        raise SourceError(f"{name}: the manifest {path} has {len(digests)} layers: {wanted}")
    return ChosenImage(
        tuple(f"blobs/sha256/{digest}" for digest in digests),
        {f"blobs/sha256/{digest}": digest for digest in digests},
        sizes,
        tuple(_named_note(name, "chart" if is_chart else "image", chosen, candidates)),
        is_chart,
    )


def _named_note(name: str, kind: str, chosen: _Candidate, candidates: Sequence[_Candidate]) -> Iterator[str]:
    """The note that names the chosen one of several images, and those of other platforms, whose CRDs may differ."""
    shown = ", ".join(filter(None, (*chosen.names[:1], chosen.platform)))
    if len(candidates) < 2 or not shown:
        return
    others = [each for each in candidates if each.names == chosen.names and each.digest != chosen.digest]
    named = [each.platform or each.digest[:12] for each in others]
    left = f"; not read, and not compared: {some(named, _MAX_NAMED)}" if named else ""
    yield f"{name}: {kind} {shown} of {len(candidates)}{left}"


def check_digest(name: str, file: str, found: str, wanted: str = "") -> None:
    """Raises SourceError if a file has another digest than the ``wanted`` one, or than the one in its own name."""
    named = _NAMED.search(file)
    for each in filter(None, (wanted, (named[1] or named[2]) if named else "")):
        if found != each:
            raise SourceError(f"{name}: {file} is damaged: its content does not match its digest")


def check_size(name: str, file: str, found: int, wanted: int | None) -> None:
    """Raises SourceError if a file has another size than the one that its descriptor names."""
    if wanted is not None and found != wanted:
        raise SourceError(f"{name}: {file} is damaged: it has {found} bytes, and its descriptor says {wanted}")


def _check_size(name: str, descriptor: Any, files: Mapping[str, bytes]) -> None:
    """Raises SourceError if a description contradicts its descriptor. Files that are not there are not used."""
    if isinstance(descriptor, dict):
        path = f"blobs/sha256/{_digest(name, descriptor)}"
        if path in files:
            check_size(name, path, len(files[path]), _size(name, descriptor))


def _size(name: str, descriptor: Any) -> int | None:
    """The size in a descriptor; None if it has none. Raises SourceError for one that is no size."""
    found = object_of(descriptor).get("size")
    if found is None or (isinstance(found, int) and not isinstance(found, bool) and found >= 0):
        return found
    raise SourceError(f"{name}: a descriptor with a size that is none: damaged")


def _candidates(
    name: str, files: Mapping[str, bytes], index: Mapping[str, Any], names: tuple[str, ...], depth: int
) -> Iterator[_Candidate]:
    """The images of an index and of nested indexes. Attestations are left out."""
    if depth > _MAX_DEPTH:
        raise SourceError(f"{name}: more than {_MAX_DEPTH} indexes in each other: not read")
    for each in map(object_of, list_of(index.get("manifests"))):
        digest = _digest(name, each)
        _check_size(name, each, files)
        annotations = object_of(each.get("annotations"))
        own = tuple(str(annotations[key]) for key in _NAMES if key in annotations) or names
        platform = object_of(each.get("platform"))
        shown = "/".join(str(platform[key]) for key in ("os", "architecture", "variant") if platform.get(key))
        if shown == _NO_PLATFORM or (not shown and "vnd.docker.reference.type" in annotations):
            continue
        data = files.get(f"blobs/sha256/{digest}", b"")
        inner = _mapping(name, f"blobs/sha256/{digest}", data) if data else {}
        if isinstance(inner.get("manifests"), list):
            yield from _candidates(name, files, inner, own, depth + 1)
        else:
            yield _Candidate(digest, own, shown)


def _chosen(name: str, candidates: Sequence[_Candidate], selector: str) -> _Candidate:
    """The candidate that matches; of several platforms of one image that for linux/amd64. Raises SourceError."""
    found = [each for each in candidates if not selector or selector == each.platform or _has_tag(each.names, selector)]
    if not found:
        there = ", ".join(sorted({shown for each in candidates for shown in (*each.names, each.platform) if shown}))
        raise SourceError(f"{name}: no image {selector or 'in its index'}{f': there are {there}' if there else ''}")
    if len({each.digest for each in found}) > 1:
        if len({each.names for each in found}) > 1 or len({each.platform for each in found}) < len(found):
            names = sorted({shown for each in found for shown in each.names})
            raise SourceError(
                f"{name}: several images ({', '.join(names)}): name one, as {name}#{(names or ['TAG'])[0]}"
            )
        return next((each for each in found if each.platform == _PLATFORM), found[0])
    return found[0]


def _of_docker(name: str, files: Mapping[str, bytes], selector: str) -> ChosenImage:
    images = objects_of(_json(name, "manifest.json", files["manifest.json"]))
    tags = [tuple(map(str, each.get("RepoTags") or ())) for each in images]
    found = [each for each, names in zip(images, tags, strict=True) if not selector or _has_tag(names, selector)]
    there = ", ".join(tag for names in tags for tag in names)
    if len(found) != 1:
        what = f"{len(found) or 'no'} image{'s' if len(found) > 1 else ''}"
        raise SourceError(f"{name}: {what} ({there or 'without tags'}): name one, as {name}#TAG")
    paths = [each for each in list_of(found[0].get("Layers")) if isinstance(each, str)]
    if not paths or len(paths) > _MAX_LAYERS or any(".." in path or path.startswith("/") for path in paths):
        raise SourceError(f"{name}: manifest.json has no list of layers: {_EXPECTED}")
    return ChosenImage(tuple(paths))


def _has_tag(names: Sequence[str], selector: str) -> bool:
    return any(selector == each or each.endswith((f":{selector}", f"/{selector}")) for each in names)


def _digest(name: str, descriptor: Any) -> str:
    found = _DIGEST.fullmatch(str(object_of(descriptor).get("digest")))
    if found is None:
        raise SourceError(f"{name}: a digest that is not sha256 and 64 hexadecimal digits: damaged")
    return found[1]


def _mapping(name: str, path: str, data: bytes) -> Mapping[str, Any]:
    found = _json(name, path, data)
    if not isinstance(found, dict):
        raise SourceError(f"{name}: {path} is no JSON object: damaged")
    return found


def _json(name: str, path: str, data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SourceError(f"{name}: {path} cannot be read: {error}") from None

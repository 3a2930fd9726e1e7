"""Detects the kind of a path or a URL by its content: a chart, a bundle, a catalog, an image, or manifests."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.sources.archive import starts_archive
from crdcompat.sources.bundle import ANNOTATIONS, is_bundle_mark
from crdcompat.sources.files import open_file
from crdcompat.sources.kinds import Kind
from crdcompat.sources.remote import is_remote_folder
from crdcompat.sources.tar import Tar
from crdcompat.sources.unpack import Unpacked, UnpackError
from crdcompat.sources.zip import begins_zip

if TYPE_CHECKING:
    from crdcompat.sources.kinds import Source

_START = 1 << 16  # bytes at the start of a file in which a catalog is recognized
#: The first file of an archive: helm writes Chart.yaml first; images begin with a description in JSON, or a layer.
_FIRST_OF_CHART = re.compile(r"[^/]+/Chart\.yaml")
_FIRST_OF_IMAGE = re.compile(r"(?:oci-layout|index\.json|manifest\.json|repositories)$|blobs/|[0-9a-f]{64}(?:[./]|$)")
_CATALOG = re.compile(rb"""(?:^|[{,\s])["']?schema["']?:[ \t]*["']?olm\.(?:package|channel|bundle)\b""")


def kind_of(source: Source) -> Kind:
    """The kind of a path or URL; `PATH` for manifests, and for a path that does not exist. Raises SourceError."""
    path = source.path if source.part and not Path(source.rest).exists() else source.rest
    try:
        if path == "-" or (source.is_remote and is_remote_folder(path)):
            return Kind.PATH
        if not source.is_remote and not Path(path).is_file():
            return _kind_of_folder(path)
    except (OSError, ValueError):
        return Kind.PATH  # opening it reports the error
    with open_file(source.name, path) as file:
        return _kind_of_file(file, source.part)


def _kind_of_folder(path: str) -> Kind:
    folder = Path(path)
    if (folder / "Chart.yaml").is_file():
        return Kind.HELM
    if (folder / "index.json").is_file() and (folder / "oci-layout").is_file():
        return Kind.OCI
    annotations = folder / ANNOTATIONS
    return Kind.BUNDLE if annotations.is_file() and is_bundle_mark(annotations.read_bytes()) else Kind.PATH


def _kind_of_file(file: io.BufferedReader, part: str) -> Kind:
    start = file.peek(_START)
    if begins_zip(start):
        return Kind.ARCHIVE
    if not starts_archive(io.BytesIO(start)):
        return Kind.CATALOG if part or _CATALOG.search(start) else Kind.PATH
    try:
        member = next(iter(Tar(Unpacked(file))), None)
    except UnpackError:
        return Kind.ARCHIVE
    first = member.name.removeprefix("./") if member is not None else ""
    if _FIRST_OF_CHART.fullmatch(first):
        return Kind.HELM
    return Kind.OCI if part or _FIRST_OF_IMAGE.match(first) else Kind.ARCHIVE

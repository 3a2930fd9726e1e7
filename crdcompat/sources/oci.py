"""Container images as trees: OCI layouts (folders or archives), and archives of ``docker save`` and skopeo.

Only manifests below the named folders of the image are kept. Layers are read as streams and applied in order, with
their whiteouts. An artifact with a Helm chart has the chart as its layer.
"""

from __future__ import annotations

import hashlib
import io
import re
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from msgspec import Struct, field

from crdcompat.errors import Problem, SourceError
from crdcompat.sources.archive import ArchiveTree, inside
from crdcompat.sources.files import open_file
from crdcompat.sources.helm import chart_tree
from crdcompat.sources.image_index import MAX_JSON, ChosenImage, check_digest, check_size, choose_image
from crdcompat.sources.memory import MAX_HELD_BYTES, MemoryTree
from crdcompat.sources.naming import is_manifest_name
from crdcompat.sources.source_options import current_options
from crdcompat.sources.tar import DIRECTORY, FILE, HARD_LINK, Member, Tar
from crdcompat.sources.unpack import PartReader, Unpacked, UnpackError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


_EXPECTED = "an OCI layout (folder or .tar) or an archive of docker save or skopeo is expected"
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_MAX_FOLDERS = 8  # folders with YAML that an error names
_JSON = re.compile(r"(?:^|/)(?:index\.json|manifest\.json|[0-9a-f]{64}\.json|blobs/sha256/[0-9a-f]{64})$")


class _Layer(Struct):
    """The changes of one layer to the named folders.

    ``gone`` are removed or replaced paths, ``emptied`` folders without the content of lower layers, ``elsewhere`` other
    folders with YAML."""

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)


def image_tree(name: str, path: str, selector: str) -> MemoryTree:
    """The manifests of the image at ``path``; ``selector`` is a tag or a platform, "" if there is one image.

    Raises SourceError if it is not an image, is damaged, or has no manifests in the folders of the options.
    """
    folders = tuple(f"{folder.strip('/')}/" for folder in current_options().image_paths)
    with _described(name):
        image = choose_image(name, dict(_small_files(name, path)), selector)
        if image.is_chart:
            return _chart(name, path, image)
        layers: dict[str, _Layer] = {}
        reader = _LayerReader(name, folders)
        for layer, stream in _streams(name, path, set(image.layers)):
            layers[layer] = reader.read(layer, stream, image)
    _check_complete(name, image, layers)
    files = _applied([layers[layer] for layer in image.layers], reader.problems)
    if not files and not reader.problems:
        shown = " or ".join(f"/{folder.rstrip('/')}" for folder in folders)
        found = sorted({folder for layer in layers.values() for folder in layer.elsewhere})[:_MAX_FOLDERS]
        where = f"; there is YAML in {', '.join(f'/{folder}' for folder in found)}" if found else ""
        raise SourceError(
            f"{name}: the image has no manifests in {shown}{where}: name the folder, --image-path /FOLDER"
        )
    return MemoryTree(name, files, reader.problems, notes=image.notes)


def _chart(name: str, path: str, image: ChosenImage) -> MemoryTree:
    """The manifests of an artifact's chart. Raises SourceError, UsageError."""
    found = {layer: stream.read(MAX_HELD_BYTES + 1) for layer, stream in _streams(name, path, set(image.layers))}
    _check_complete(name, image, found)
    ((layer, data),) = found.items()
    if len(data) > MAX_HELD_BYTES:
        raise SourceError(f"{name}: {layer} has more than {MAX_HELD_BYTES} bytes: not read")
    check_digest(name, layer, hashlib.sha256(data).hexdigest(), image.digests[layer])
    check_size(name, layer, len(data), image.sizes.get(layer))
    archive = ArchiveTree(name, layer, file=io.BufferedReader(io.BytesIO(data)))  # type: ignore[type-var, unused-ignore]
    archive.notes = image.notes
    return chart_tree(name, data, archive)


def _check_complete(name: str, image: ChosenImage, found: Collection[str]) -> None:
    """Raises SourceError if a layer of the image was not found."""
    if missing := [layer for layer in image.layers if layer not in found]:
        raise SourceError(f"{name}: the layer {missing[0]} is missing: the file is damaged, or not copied as a whole")


@contextmanager
def _described(name: str) -> Iterator[None]:
    try:
        yield
    except UnpackError as error:
        raise SourceError(f"{name}: {error}: {_EXPECTED}") from None


def _small_files(name: str, path: str) -> Iterator[tuple[str, bytes]]:
    """The JSON files that describe the images: path and content."""
    held = 0
    for file, stream in _streams(name, path, None):
        data = stream.read(MAX_JSON + 1)
        if len(data) <= MAX_JSON:
            check_digest(name, file, hashlib.sha256(data).hexdigest())
        if len(data) <= MAX_JSON and data.lstrip()[:1] in (b"{", b"["):
            held += len(data)
            if held > MAX_HELD_BYTES // 8:
                raise SourceError(f"{name}: more than {MAX_HELD_BYTES // 8} bytes of descriptions: not read")
            yield file, data


def _streams(name: str, path: str, wanted: set[str] | None) -> Iterator[tuple[str, IO[bytes]]]:
    """The wanted files of the layout or archive as streams, in its order; for None, files that may be descriptions."""

    def wants(file: str) -> bool:
        return _JSON.search(file) is not None if wanted is None else file in wanted

    if path == "-":
        raise SourceError(f"{name}: an image is read twice: save standard input to a file")
    if Path(path).is_dir():
        for found in sorted(Path(path).rglob("*")):
            file = found.relative_to(path).as_posix()
            if wants(file) and found.is_file():
                with open_file(name, str(found)) as stream:
                    yield file, stream
        return
    archive = ArchiveTree(name, path)
    yield from archive.streams(wants)
    for problem in archive.problems:
        raise SourceError(f"{name}: {problem.message}: {_EXPECTED}")


class _LayerReader:
    """Reads layers. The limit for bytes applies to all layers together."""

    def __init__(self, name: str, folders: tuple[str, ...]) -> None:
        self._name = name
        self._folders = folders
        self._left = MAX_HELD_BYTES
        self.problems: list[Problem] = []

    def read(self, file: str, stream: IO[bytes], image: ChosenImage) -> _Layer:
        """One layer. Raises UnpackError if it is damaged, SourceError if it contradicts its digest or its size."""
        hashed = _Hashed(stream)
        tar = Tar(Unpacked(hashed))  # type: ignore[arg-type, unused-ignore]
        layer = _Layer()
        for member in tar:
            path = inside(member.name)
            if path is None:
                self.problems.append(Problem(file, None, "a member leads out of the image: not read"))
            else:
                self._add(layer, path, member, tar)
        while hashed.read(1 << 20):
            pass
        check_digest(self._name, file, hashed.hexdigest(), image.digests.get(file, ""))
        check_size(self._name, file, hashed.count, image.sizes.get(file))
        return layer

    def _add(self, layer: _Layer, path: str, member: Member, tar: Tar) -> None:
        """Record the effect of a member on the named folders: a whiteout, a removed path, or a file."""
        folder, _, base = path.rpartition("/")
        below = path.startswith(self._folders)
        if base == _OPAQUE:
            if self._matters(folder):
                layer.emptied.add(folder)
        elif base.startswith(_WHITEOUT):
            hidden = f"{folder}/{base.removeprefix(_WHITEOUT)}".lstrip("/")
            if self._matters(hidden):
                layer.gone.add(hidden)
        elif member.kind != DIRECTORY and self._matters(path):
            layer.gone.add(path)  # a file or a folder of a lower layer
            if not below or is_manifest_name(path):
                self._keep(layer, path, member, tar)
        elif member.kind == FILE and is_manifest_name(path) and len(layer.elsewhere) < _MAX_FOLDERS:
            layer.elsewhere.add(folder)

    def _keep(self, layer: _Layer, path: str, member: Member, tar: Tar) -> None:
        if member.kind == FILE:
            self._left -= member.size
            if self._left < 0:
                raise SourceError(f"{self._name}: more than {MAX_HELD_BYTES} bytes of manifests: not read")
            layer.files[path] = tar.content()
        elif member.kind == HARD_LINK and (target := inside(member.link)) is not None:
            layer.links[path] = target
        else:
            reason = f"{member.kind}{f' to {member.link}' if member.link else ''}: not followed"
            self.problems.append(Problem(path, None, f"{reason}; name the folder itself, --image-path"))

    def _matters(self, path: str) -> bool:
        """Whether a file or a whiteout at this path can change the content of the named folders."""
        return path.startswith(self._folders) or any(folder.startswith(f"{path}/") for folder in self._folders)


def _applied(layers: Iterable[_Layer], problems: list[Problem]) -> dict[str, bytes]:
    """The files of the image: each layer removes files of lower layers, then adds its own files."""
    files: dict[str, bytes] = {}
    for layer in layers:
        hidden = (*layer.gone, *(f"{folder}/" for folder in layer.emptied))
        for path in [path for path in files if any(_is_below(path, each) for each in hidden)]:
            del files[path]
        files.update(layer.files)
        for path, target in layer.links.items():
            if target in files:
                files[path] = files[target]
            else:
                problems.append(Problem(path, None, f"hard link to {target}, which is not read"))
    return files


def _is_below(path: str, hidden: str) -> bool:
    return path == hidden or path.startswith(f"{hidden.rstrip('/')}/")


class _Hashed(PartReader):
    """A stream that counts the bytes read from it, and computes their SHA-256."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.count = 0

    def read_part(self, size: int) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        self.count += len(data)
        return data

    def hexdigest(self) -> str:
        return self._digest.hexdigest()

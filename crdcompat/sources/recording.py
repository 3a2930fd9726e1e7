"""The CRDs in a recording of a cluster, as a tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.errors import Problem
from crdcompat.sources.encoding import legible
from crdcompat.sources.files import MAX_FILE_BYTES
from crdcompat.sources.tree import Entry, Listed, Tree
from crdcompat.sources.unpack import UnpackError, gunzip, is_gzip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: File name extensions of recorded objects.
OBJECT_EXTENSIONS = (".yaml", ".yml", ".json", ".ndjson", ".jsonl")
_EXTENSIONS = (".yaml", ".yml", ".json")
_PACKED = ".gz"
_MARKS = (b"CustomResourceDefinition", b"openAPIV3Schema")
# must-gather, `oc adm inspect` and a cluster store resources by group: there, only the CRDs' folder is read.
_BY_GROUP = re.compile(r"(?:^|/)(?:cluster-scoped-resources|namespaces)/.")
_CRDS = re.compile(r"(?:^|/)((?:cluster-scoped-resources/)?apiextensions\.k8s\.io/customresourcedefinitions(?:/|\.).*)")
_INSIGHTS_CRDS = re.compile(r"(?:^|/)config/crd/")


class CrdTree(Listed):
    """The files with CRDs among the ``wanted`` files of a recording, read in one pass and kept in memory.

    The files are unpacked, and their paths do not end in ``.gz``. The path of a CRD in a must-gather starts at
    ``cluster-scoped-resources/``: the folder above is named after the image that gathered it. ``server_version``
    is the version of a live cluster's server, "" if unknown.
    """

    def __init__(self, recording: Tree, wanted: Callable[[str], bool], server_version: str = "") -> None:
        self._recording = recording
        self._wanted = wanted
        self.server_version = server_version
        self._files: dict[str, bytes] | None = None
        self.name = recording.name
        self.commit = recording.commit
        self.notes = recording.notes
        self.problems = recording.problems
        self.skipped = recording.skipped

    def entries(self) -> list[Entry]:
        """List the files with CRDs; the first call reads the recording."""
        return [Entry(path) for path in sorted(self._read_all())]

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """The content of these files, from memory."""
        files = self._read_all()
        return ((entry, files[entry.path]) for entry in entries)

    def _read_all(self) -> dict[str, bytes]:
        if self._files is None:
            self._files = {}
            for entry, packed in self._recording.stream(self._wanted):
                if (data := self._unpacked(entry.path, packed)) is None:
                    continue
                text = legible(data)
                if any(mark in text for mark in _MARKS):
                    own = entry.path[: -len(_PACKED)] if entry.path.lower().endswith(_PACKED) else entry.path
                    found = _CRDS.search(own)
                    path = found[1] if found else own
                    clashes = self._files.get(path, data) != data  # two images that gathered at different times
                    self._files[own if clashes else path] = data
        return self._files

    def _unpacked(self, path: str, data: bytes) -> bytes | None:
        """The content of a file; None, and a Problem, if it is damaged gzip data."""
        try:
            return gunzip(data, MAX_FILE_BYTES) if is_gzip(data) else data
        except UnpackError as error:
            problem = Problem(path, None, str(error))
            if problem not in self.problems:
                self.problems.append(problem)
            return None


def may_hold_crds(path: str) -> bool:
    """Whether a file of a recording may contain CRDs, by its path."""
    return path.lower().removesuffix(_PACKED).endswith(_EXTENSIONS) and (
        holds_crds(path) or _BY_GROUP.search(path) is None
    )


def holds_crds(path: str) -> bool:
    """Whether a file of a recording is in a folder of CRDs, by its path."""
    return _CRDS.search(path) is not None or _INSIGHTS_CRDS.search(path) is not None

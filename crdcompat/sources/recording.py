"""The CRDs in a recording of a cluster, as a tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.sources.encoding import legible
from crdcompat.sources.tree import Entry, Listed, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: File name extensions of recorded objects.
OBJECT_EXTENSIONS = (".yaml", ".yml", ".json", ".ndjson", ".jsonl")
_EXTENSIONS = (".yaml", ".yml", ".json")
_MARKS = (b"CustomResourceDefinition", b"openAPIV3Schema")
# must-gather, `oc adm inspect` and a cluster store resources by group: there, only the CRDs' folder is read.
_BY_GROUP = re.compile(r"(?:^|/)(?:cluster-scoped-resources|namespaces)/.")
_CRDS = re.compile(r"(?:^|/)((?:cluster-scoped-resources/)?apiextensions\.k8s\.io/customresourcedefinitions(?:/|\.).*)")
_INSIGHTS_CRDS = re.compile(r"(?:^|/)config/crd/")


class CrdTree(Listed):
    """The files with CRDs among the ``wanted`` files of a recording, read in one pass and kept in memory.

    The path of a CRD in a must-gather starts at ``cluster-scoped-resources/``: the folder above is named after the
    image that gathered it. ``server_version`` is that of a live cluster, "" if unknown.
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
            for entry, data in self._recording.stream(self._wanted):
                text = legible(data)
                if any(mark in text for mark in _MARKS):
                    found = _CRDS.search(entry.path)
                    path = found[1] if found else entry.path
                    clashes = self._files.get(path, data) != data  # two images that gathered at different times
                    self._files[entry.path if clashes else path] = data
        return self._files


def may_hold_crds(path: str) -> bool:
    """Whether a file of a recording may contain CRDs, by its path."""
    return path.lower().endswith(_EXTENSIONS) and (holds_crds(path) or _BY_GROUP.search(path) is None)


def holds_crds(path: str) -> bool:
    """Whether a file of a recording is in a folder of CRDs, by its path."""
    return _CRDS.search(path) is not None or _INSIGHTS_CRDS.search(path) is not None

"""The kinds that a preflight has read to the end, in a file, so that a run that broke off goes on from there.

The first line of JSON says which run it is: program, release, cluster, options. Each kind has a line at its beginning,
one for each of its objects that an answer shows, and one at its end, with the number of the others, the CRD as it was,
and a digest of the kind's lines. Lines are only appended; a kind without its last line is read again. The file holds
objects of the cluster, so only its owner can read it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from msgspec import Struct

from crdcompat.atomic_write import refuse_links
from crdcompat.errors import UsageError
from crdcompat.recordings.recorded_objects import EmptyList, ObjectItem, Recorded
from crdcompat.sources.naming import failing_as
from crdcompat.vocabulary.texts import some

_FORMAT = "crdcompat-preflight 1"
_MAX_HEAD_BYTES = 1 << 16


class _Finished(Struct, frozen=True):
    """A kind in the file: where the lines of its objects begin, and the number of the objects without a line."""

    offset: int
    plain: int


class Kept:
    """An open file of finished kinds. ``resumed`` are the kinds that were taken from it, ``refused`` the damaged ones.

    ``crds`` are the installed CRDs by name, each with what changes with it.
    """

    def __init__(self, path: str, run: Mapping[str, str], crds: Mapping[str, str]) -> None:
        """Open or create the file of a ``run``. Raises UsageError if it is of another run, or no such file."""
        self._path, self._crds = path, crds
        self._head = {"preflight": _FORMAT, **run}
        self._finished: dict[str, _Finished] = {}
        self._kind, self._plain, self._whole = "", 0, False
        self._digest = blake2b()
        self.resumed: list[str] = []
        self.refused: list[str] = []
        with failing_as(UsageError, f"--resume: {self._path}"):
            refuse_links(Path(path))
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
            try:
                self._begin(self._file)
            except BaseException:
                self._file.close()
                raise

    def plain(self, crd: str) -> int:
        """The number of the objects of a finished kind that no answer shows; 0 if it is not finished."""
        return self._finished[crd].plain if crd in self._finished else 0

    def known(self, crd: str) -> Iterator[tuple[str, bytes]] | None:
        """The objects of a finished kind by their paths; None if it has to be read, which begins now."""
        if crd in self._finished:
            self._kind = ""
            self.resumed.append(crd)
            return self._objects(self._finished[crd].offset)
        self._kind, self._plain, self._whole = crd, 0, True
        self._digest = self._new_digest(crd)
        self._write({"begin": crd}, sealed=False)
        return None

    def add(self, item: ObjectItem, *, shown: bool) -> None:
        """Note an object of the kind that is being read; ``shown``: an answer may show it."""
        if not self._kind or isinstance(item, EmptyList):
            return
        if not isinstance(item, Recorded) or (shown and (item.identity is None or not _is_exact(item.data))):
            self._whole = False
        elif shown:
            self._write({"path": _path(self._kind, item.data), "object": item.data})
        else:
            self._plain += 1

    def finished(self, crd: str) -> None:
        """Note that all objects of the kind were read."""
        if self._kind == crd and self._whole:
            end = {"end": crd, "plain": self._plain, "crd": self._crds[crd]}
            self._write({**end, "digest": self._sealed(end)}, sealed=False)
            with failing_as(UsageError, f"--resume: {self._path}"):
                self._file.flush()
        self._kind = ""

    def notes(self) -> Iterator[str]:
        """What a report must say about the kinds that were kept, and those that were not."""
        if self.resumed:
            yield f"kept from an earlier run, as they were then: {some(self.resumed)} ({self._path})"
        if self.refused:
            yield f"read again, because {self._path} is damaged or the CRD was changed: {some(self.refused)}"

    def close(self, *, done: bool) -> None:
        """Close the file. If the run is ``done``, delete it."""
        with failing_as(UsageError, f"--resume: {self._path}"):
            self._file.close()
            if done:
                Path(self._path).unlink(missing_ok=True)

    def _begin(self, file: BinaryIO) -> None:
        """Find the finished kinds, and cut off what follows the last of them."""
        first = file.readline(_MAX_HEAD_BYTES)
        if not first:
            file.write(orjson.dumps(self._head) + b"\n")
            return
        begun = _line(first)
        if begun.get("preflight") != _FORMAT:
            raise UsageError(f"--resume: {self._path} is no file of preflight --resume: it is left as it is")
        if begun != self._head:
            keys = [key for key in self._head if begun.get(key) != self._head[key]]
            differences = "; ".join(f"{key}: {begun.get(key)} then, {self._head[key]} now" for key in keys)
            raise UsageError(f"--resume: {self._path} is of another run ({differences}): name another file")
        end, crd, offset = file.tell(), "", 0
        while line := file.readline():
            entry = _line(line)
            if "begin" in entry:
                crd, offset = str(entry["begin"]), file.tell()
                self._digest = self._new_digest(crd)
            elif "end" in entry:
                facts = {key: entry.get(key) for key in ("end", "plain", "crd")}
                is_whole = entry["end"] == crd and entry.get("digest") == self._sealed(facts)
                if is_whole and self._crds.get(crd) == entry.get("crd"):
                    self._finished[crd] = _Finished(offset, int(entry["plain"]))
                elif crd in self._crds:
                    self.refused.append(crd)
                end = file.tell()
            else:
                self._digest.update(line)
        file.truncate(end)
        file.seek(end)

    def _objects(self, offset: int) -> Iterator[tuple[str, bytes]]:
        with Path(self._path).open("rb") as file:
            file.seek(offset)
            while "path" in (entry := _line(file.readline())):
                yield str(entry["path"]), orjson.dumps(entry["object"])

    def _new_digest(self, crd: str) -> Any:
        return blake2b(orjson.dumps([self._head, crd]), digest_size=16)

    def _sealed(self, facts: Mapping[str, Any]) -> str:
        digest = self._digest.copy()
        digest.update(orjson.dumps(facts))
        return str(digest.hexdigest())

    def _write(self, entry: Mapping[str, Any], *, sealed: bool = True) -> None:
        line = orjson.dumps(entry) + b"\n"
        if sealed:
            self._digest.update(line)
        with failing_as(UsageError, f"--resume: {self._path}"):
            self._file.write(line)


def _line(line: bytes) -> dict[str, Any]:
    """The parsed line; {} if it is none."""
    with suppress(orjson.JSONDecodeError):
        entry = orjson.loads(line)
        return entry if isinstance(entry, dict) else {}
    return {}


def _is_exact(data: Any) -> bool:
    """Whether the JSON library gives the same object back: it has no integers of more than 64 bits."""
    try:
        return bool(orjson.loads(orjson.dumps(data)) == data)
    except (TypeError, RecursionError):
        return False


def _path(crd: str, data: Any) -> str:
    """The path of an object in the tree of its cluster."""
    plural, _, group = crd.partition(".")
    meta = data["metadata"]
    return "/".join(filter(None, (group, plural, meta.get("namespace"), meta["name"]))) + ".json"

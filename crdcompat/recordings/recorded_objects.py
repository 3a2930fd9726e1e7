"""Read recorded objects: from recordings, and from files and folders of YAML and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.model import is_crd
from crdcompat.crds.resolving import Resolved
from crdcompat.crds.unseen import is_kustomization
from crdcompat.errors import Problem, Skipped
from crdcompat.recordings.bodies import reducer
from crdcompat.recordings.capture import facts_of
from crdcompat.recordings.layouts import (
    A_CRD,
    Hint,
    complete,
    hint_of,
    hint_of_list,
    holds_data,
    holds_objects,
    is_json,
    shown_path,
    why_left_out,
    with_metadata,
)
from crdcompat.sources.files import MAX_FILE_BYTES
from crdcompat.sources.tree import Tree
from crdcompat.sources.unpack import CutShortError, UnpackError, gunzip, is_gzip
from crdcompat.vocabulary import Side
from crdcompat.yaml.documents import Document, is_empty_list, read_documents
from crdcompat.yaml.json_streams import has_too_many_values
from crdcompat.yaml.streams import Reducer

_EMPTY = "not recorded: empty"
_CUT_SHORT = "not recorded: cut short"
#: Reasons why a file that may have objects was skipped.
NOT_WHOLE = frozenset({_EMPTY, _CUT_SHORT})
_NO_ITEMS = "a list without items"
#: It reads to the end of one JSON value, and makes none: a quarter of the work.
_SKIPPED = msgspec.json.Decoder(msgspec.Raw)


class Recorded(Struct, frozen=True):
    """One recorded object; ``source`` is its recording, file and place inside the file.

    ``hint`` is the type by the path, for an object without apiVersion or kind.
    """

    data: Any
    source: str
    hint: Hint | None = None

    @property
    def identity(self) -> tuple[str, ...] | None:
        """apiVersion, kind, namespace, name and uid: equal for two records of one object; None if incomplete.

        The uid distinguishes clusters: many have a ClusterVersion called "version". Where a recording lacks the uid, a
        digest of the content replaces it.
        """
        named = self._named()
        if named is None:
            return None
        meta = self.data.get("metadata")
        uid = meta.get("uid") if isinstance(meta, dict) else None
        return (*named, uid if isinstance(uid, str) else self._digest())

    @property
    def name_in_cluster(self) -> tuple[str, ...] | None:
        """Group, kind, namespace and name: the identity within one cluster; None if incomplete."""
        named = self._named()
        if named is None:
            return None
        api_version, *rest = named
        return (api_version.rpartition("/")[0], *rest)

    @property
    def label(self) -> str:
        """``ClusterVersion/version`` or ``Machine/namespace/name``, without the parts that the object lacks."""
        data = self.data if isinstance(self.data, dict) else {}
        meta = data.get("metadata")
        meta = meta if isinstance(meta, dict) else {}
        parts = (data.get("kind"), meta.get("namespace"), meta.get("name"))
        return "/".join(part for part in parts if isinstance(part, str) and part)

    def completed(self, *known: Mapping[tuple[str, str], Resolved]) -> Recorded:
        """The object with the apiVersion and kind of its hint, if one of ``known``, by (group, kind), matches it."""
        data = complete(self.data, self.hint, *known) if self.hint is not None else None
        return self if data is None else replace(self, data=data, hint=None)

    def _named(self) -> tuple[str, ...] | None:
        """apiVersion, kind, namespace and name; None if apiVersion, kind or name is missing."""
        if not isinstance(self.data, dict):
            return None
        meta = self.data.get("metadata")
        meta = meta if isinstance(meta, dict) else {}
        found = (
            self.data.get("apiVersion"),
            self.data.get("kind"),
            meta.get("namespace", ""),
            meta.get("name"),
        )
        if not all(isinstance(part, str) for part in found) or not (found[0] and found[1] and found[3]):
            return None
        return tuple(part for part in found if isinstance(part, str))

    def _digest(self) -> str:
        try:
            content = json.dumps(self.data, sort_keys=True)  # integers of any size, unlike the faster libraries
        except RecursionError:
            content = self.source  # too deep to serialize, and so to judge: its source identifies it
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


class EmptyList(Skipped, frozen=True, kw_only=True):
    """A recorded list without items: the cluster has no object of the type ``hint``, as far as was recorded."""

    hint: Hint


#: What reading objects yields: an object, or why there is none.
ObjectItem = Recorded | Problem | Skipped


def read_objects(
    tree: Tree, on_file: Callable[[], object] | None = None, *, kinds: Collection[tuple[str, str]] | None = None
) -> Iterator[ObjectItem]:
    """The objects of a tree of recordings, with one file in memory at a time; calls ``on_file`` for each file.

    ``kinds`` are the (group, kind) that the caller judges: objects of other kinds may have nothing but apiVersion,
    kind, name, namespace and uid. None: all objects are whole.

    A document that cannot be read is a Problem and does not hide the others. In a recording, an empty or truncated JSON
    file is the result of a failed `oc get`: it is Skipped. In a file that the user named, it is a Problem.
    """
    label, is_recording = tree.label, not tree.is_one_file
    left_out: list[Skipped] = []
    reduce = reducer(kinds) if kinds is not None else None

    def wanted(path: str) -> bool:
        if not is_recording or holds_objects(path):
            return True
        if reason := why_left_out(path):
            left_out.append(Skipped(path, reason))
        return False

    for entry, data in tree.stream(wanted):
        if on_file is not None:
            on_file()
        for item in _objects(entry.path, data, reduce, is_recording=is_recording):
            yield _placed(item, label)
    yield from (_placed(skipped, label) for skipped in (*left_out, *tree.skipped))
    yield from (_placed(problem, label) for problem in tree.problems)


def _objects(
    path: str, data: bytes, reduce: Reducer | None, *, is_recording: bool
) -> Iterator[Document | Problem | Skipped]:
    try:
        text = gunzip(data, MAX_FILE_BYTES) if is_gzip(data) else data
    except CutShortError as error:
        yield Skipped(path, _CUT_SHORT) if is_recording else Problem(path, None, str(error))
        return
    except UnpackError as error:
        yield Problem(path, None, str(error))
        return
    if not text.strip():
        yield Skipped(path, _EMPTY)
        return
    if is_recording and is_json(path) and (whole := _whole_values(text)) is not text:
        yield Skipped(path, _CUT_SHORT)
        text = whole
    for item in read_documents(text, path, empty_lists=True, reduce=reduce):
        if isinstance(item, Problem):
            yield item
        elif is_empty_list(item.data):
            if (hint := hint_of_list(path, item.data)) is not None:
                yield EmptyList(path, _NO_ITEMS, hint=hint)
        elif (facts := facts_of(path, item.data)) is not None:
            yield from (EmptyList(path, _NO_ITEMS, hint=hint) for hint in facts.kinds)
            yield facts
        elif is_crd(item.data):
            yield Skipped(path, A_CRD)
        elif is_kustomization(item.data, path) and "kind" not in item.data:  # Flux has objects of this kind
            yield Skipped(path, "kustomization, no object")
        elif is_recording and not (isinstance(item.data, dict) and "kind" in item.data) and holds_data(path):
            yield Skipped(path, "data of the gatherer, no object")
        else:
            yield item


def _whole_values(text: bytes) -> bytes:
    """A JSON file without its last value if that is truncated; ``text`` itself if it is not."""
    last = max(text.rfind(b"\n{"), text.rfind(b"\n["))
    if last > 0 and _ends_early(text) is None:  # several values: the last one starts a line
        return text[:last] if _ends_early(text[last:]) else text
    return b"" if _ends_early(text) else text


def _ends_early(text: bytes) -> bool | None:
    """Whether the text of a JSON value is truncated; None for several values, too many values and other text."""
    if has_too_many_values(text):
        return None
    with suppress(msgspec.DecodeError, RecursionError):
        _SKIPPED.decode(text)
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return True if error.msg == "unexpected end of data" else None
    return False


def _placed(item: Document | Problem | Skipped, label: str) -> ObjectItem:
    """The item with ``label``, the name of its recording, in front of its path."""
    if isinstance(item, Document):
        place = "".join(f"[{step}]" if isinstance(step, int) else f" {step}" for step in item.pointer)
        shown = f"{label}: {shown_path(item.file)}" if label else item.file
        data = with_metadata(item.file, item.data) if isinstance(item.data, dict) else item.data
        untyped = isinstance(data, dict) and not (data.get("apiVersion") and data.get("kind"))
        return Recorded(data, f"{shown}{place}", hint_of(item.file) if untyped else None)
    file = item.file if not label or item.file == label else f"{label}: {item.file}"
    if isinstance(item, Problem):
        return Problem(file, item.line, item.message, Side.OBJECTS)
    return replace(item, file=file, side=Side.OBJECTS)

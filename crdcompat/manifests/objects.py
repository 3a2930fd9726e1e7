"""Recorded objects: files and folders of YAML and JSON, single objects, Lists and streams (design, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import orjson

from crdcompat.manifests.documents import read_documents
from crdcompat.problems import Problem, Skipped
from crdcompat.sources.tree import Tree

_EXTENSIONS = frozenset({".yaml", ".yml", ".json", ".ndjson", ".jsonl", ""})


@dataclass(frozen=True, slots=True)
class Recorded:
    """One object as it was recorded, and where: ``source`` is file, or file and place inside it."""

    data: Any
    source: str

    @property
    def identity(self) -> tuple[str, ...] | None:
        """What makes two records the same object; None for what is no complete object.

        apiVersion, kind, namespace, name and uid: many clusters have a ClusterVersion called "version". Where
        the uid was cut from a recording, the content stands in for it.
        """
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
        uid = meta.get("uid")
        content = orjson.dumps(self.data, option=orjson.OPT_SORT_KEYS).decode() if not isinstance(uid, str) else uid
        return (*(part for part in found if isinstance(part, str)), content)


def read_objects(tree: Tree) -> Iterator[Recorded | Problem | Skipped]:
    """Everything that a tree of recordings holds; what cannot be read is a problem and hides nothing else."""
    entries = [entry for entry in tree.entries() if PurePosixPath(entry.path).suffix.lower() in _EXTENSIONS]
    for entry, data in tree.read(entries):
        if not data.strip():
            yield Skipped(entry.path, "not recorded: empty", "objects")
            continue
        for item in read_documents(data, entry.path):
            if isinstance(item, Problem):
                yield Problem(item.file, item.line, item.message, "objects")
            else:
                place = "".join(f"[{step}]" if isinstance(step, int) else f" {step}" for step in item.pointer)
                yield Recorded(item.data, f"{entry.path}{place}")
    yield from (Problem(item.file, item.line, item.message, "objects") for item in tree.problems)
    yield from (Skipped(item.file, item.reason, "objects") for item in tree.skipped)

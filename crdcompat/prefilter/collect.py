"""Collect the facts of the files of commits: from the cache, else with ``git grep`` or by reading the files."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.atomic_write import write_file
from crdcompat.prefilter.candidates import EXCLUDED_FOLDERS, is_candidate
from crdcompat.prefilter.facts import FORMAT, WORDS, FileFacts, facts_of, relevant_lines
from crdcompat.sources.blobs import read_blobs
from crdcompat.sources.git import GitTree, grep
from crdcompat.sources.tree import Entry, Tree
from crdcompat.user_cache import cache_file, is_trusted, make_folder, tidy
from crdcompat.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

#: Up to this number, files without cached facts are read one by one; beyond, git searches the whole commit.
_MAX_READ = 8

#: Facts by blob id.
FactsByBlob = dict[str | None, FileFacts]
#: Waits for a search in the background. Raises SourceError if git could not search a file.
PendingFacts = Callable[[], FactsByBlob]


def collect_facts(
    parts: Iterable[tuple[Tree, Iterable[Entry]]], annotations: tuple[str, ...], *, use_cache: bool
) -> PendingFacts:
    """Start to collect the facts of the candidates among these files of some trees.

    ``annotations`` are the keys that distinguish variants. git searches while the caller continues. ``use_cache``: read
    and extend the facts of earlier runs. Only files of commits have facts. Raises SourceError.
    """
    wanted = [
        (tree, [entry for entry in entries if is_candidate(entry.path)])
        for tree, entries in parts
        if isinstance(tree, GitTree)
    ]
    oids = dict.fromkeys(entry.oid for _, entries in wanted for entry in entries)
    question = repr((FORMAT, *annotations))
    use_cache = use_cache and 0 < len(oids) <= MAX_BLOBS
    known = _cached(question) if use_cache else {}
    searches, asked = [], {*known}
    for tree, entries in wanted:
        unknown = [entry for entry in entries if entry.oid not in asked]
        asked.update(entry.oid for entry in unknown)
        look_up = _search if len(unknown) > min(len(known), _MAX_READ) else _read
        searches.append(look_up(tree, unknown, annotations))

    def found() -> FactsByBlob:
        fresh = {oid: facts for search in searches for oid, facts in search().items()}
        facts = {oid: known.get(oid) or fresh.get(oid) for oid in oids}
        if use_cache and fresh:
            remember(question, {oid: _row(each) for oid, each in facts.items() if oid and each})
        return {oid: each or FileFacts(may_hold_any=True) for oid, each in facts.items()}

    return found


def _cached(question: str) -> FactsByBlob:
    rows = recall(question)
    return {oid: facts for oid, row in rows.items() if (facts := _from_row(row)) is not None}


def _row(facts: FileFacts) -> list[Any]:
    return [facts.plurals, facts.annotation_lines, facts.may_hold_any]


def _from_row(row: Any) -> FileFacts | None:
    """The facts in one row of the cache; None for an invalid row."""
    match row:
        case [list() as plurals, list() as annotation_lines, bool() as may_hold_any]:
            with suppress(TypeError):  # an item that is not a string
                "".join(plurals + annotation_lines)
                return FileFacts(plurals, annotation_lines, may_hold_any)
    return None


def _read(tree: GitTree, entries: Sequence[Entry], annotations: tuple[str, ...]) -> PendingFacts:
    """Read each file; git searches those that are too large to read."""

    def found() -> FactsByBlob:
        read = read_blobs(tree.repo, entries, [])  # without problems: the comparison reports those of files it reads
        facts: FactsByBlob = {
            entry.oid: facts_of(relevant_lines(data, annotations), annotations) for entry, data in read
        }
        large = [entry for entry in entries if entry.oid not in facts and _is_plain(entry.path)]
        return facts | (_search(tree, large, annotations)() if large else {})

    return found


def _search(tree: GitTree, entries: Sequence[Entry], annotations: tuple[str, ...]) -> PendingFacts:
    """Let git search the commit; read files behind links, and those whose paths git does not print unchanged."""
    oids = {entry.path: entry.oid for entry in entries if _is_plain(entry.path) and entry.path not in tree.linked}
    search = grep(tree, (*WORDS, *annotations), excluded_folders=EXCLUDED_FOLDERS)
    others = _read(tree, [entry for entry in entries if entry.path not in oids], annotations)

    def found() -> FactsByBlob:
        lines: dict[str | None, list[str]] = {oid: [] for oid in oids.values()}
        for path, line in search():
            if path in oids:
                lines[oids[path]].append(line)
        return {oid: facts_of(each, annotations) for oid, each in lines.items()} | others()

    return found


def _is_plain(path: str) -> bool:
    """Whether the output of git shows this path unchanged: without a line break or an escape."""
    return "\n" not in path and "\\" not in path


# Best-effort cache of facts about blobs, in the user's cache directory.
#
# The key is the blob id, so an entry never becomes stale. There is one JSON file for each version of the program and
# each question. Without the cache, a run is slower and has the same result.


#: Blobs in the cache for each question: about 4 MB.
MAX_BLOBS = 1 << 15
_MAX_BYTES = 1 << 25


def recall(question: str) -> dict[str, Any]:
    """The cached answers to ``question``, by blob id; none if the cache cannot be read."""
    file = _file(question)
    try:
        if file is None or not is_trusted(file, _MAX_BYTES):
            return {}
        cached = orjson.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(cached, dict) or cached.get("question") != _key(question):
        return {}
    blobs = cached.get("blobs")
    return blobs if isinstance(blobs, dict) else {}


def remember(question: str, answers: Mapping[str, Any]) -> None:
    """Add these answers, by blob id, to the cache; beyond ``MAX_BLOBS`` the oldest are dropped.

    Files are replaced atomically: when two processes write at once, one loses its additions.
    """
    file = _file(question)
    if file is None:
        return
    known = recall(question)
    for oid, answer in answers.items():
        known.pop(oid, None)
        known[oid] = answer
    cached = dict(list(known.items())[-MAX_BLOBS:])
    with suppress(OSError):
        if make_folder(file.parent):
            write_file(file, orjson.dumps({"question": _key(question), "blobs": cached}))
            tidy(file.parent)


def _key(question: str) -> str:
    return f"{__version__} {question}"


def _file(question: str) -> Path | None:
    return cache_file(f"blobs-{zlib.crc32(_key(question).encode()):08x}.json")

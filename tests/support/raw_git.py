"""Git objects written byte by byte: trees that git itself would not make."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

#: The mode, the name and the object id of one entry of a tree, as they stand in it.
Entry = tuple[bytes, bytes, bytes]


def store(repo: Path, kind: str, data: bytes) -> bytes:
    """Write an object; returns its id, 20 bytes."""
    whole = f"{kind} {len(data)}\0".encode() + data
    digest = hashlib.sha1(whole, usedforsecurity=False)
    name = digest.hexdigest()
    path = repo / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_bytes(zlib.compress(whole, 1))
    return digest.digest()


def tree(repo: Path, entries: Iterable[Entry]) -> bytes:
    """Write a tree of these entries in this order; returns its id."""
    return store(repo, "tree", b"".join(mode + b" " + name + b"\0" + found for mode, name, found in entries))


def commit(repo: Path, top: bytes, branch: str, parent: bytes | None = None) -> bytes:
    """Write a commit of a tree, and the branch that names it; returns its id."""
    who = b"A <a@example.com> 1700000000 +0000"
    parents = b"parent %s\n" % parent.hex().encode() if parent else b""
    text = b"tree %s\n%sauthor %s\ncommitter %s\n\nchange\n" % (top.hex().encode(), parents, who, who)
    made = store(repo, "commit", text)
    ref = repo / ".git/refs/heads" / branch
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{made.hex()}\n")
    return made

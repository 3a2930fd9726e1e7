"""Which files a comparison of some paths needs: those below the paths, and others that name a CRD found there.

A CRD can lie elsewhere on the other side, and variants of it elsewhere on the same side. All other files are not
parsed, so that what is wrong with them does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from crdcompat.prefilter.candidates import is_candidate, may_have

if TYPE_CHECKING:
    from crdcompat.crds.reader import CrdReader
    from crdcompat.sources.tree import Tree


def is_below(file: str, paths: Iterable[str]) -> bool:
    """Whether a file is one of ``paths`` or below one."""
    prefixes = ("" if (plain := path.strip("/")) == "." else plain.removeprefix("./") for path in paths)
    return any(not prefix or file == prefix or file.startswith(f"{prefix}/") for prefix in prefixes)


def needed_below(
    trees: Sequence[Tree], reader: CrdReader, wants: Callable[[str], bool], paths: Sequence[str]
) -> tuple[Callable[[str], bool], ...]:
    """For each tree whether a comparison of ``paths`` needs a file; ``wants`` leaves out others. Raises SourceError.

    A single file and standard input are read as a whole.
    """
    listed = [[entry for entry in tree.entries() if is_candidate(entry.path) and wants(entry.path)] for tree in trees]
    inside = [[entry for entry in entries if is_below(entry.path, paths)] for entries in listed]
    names = {
        document.crd.name.encode()
        for tree, entries in zip(trees, inside, strict=True)
        for document in reader.documents(tree, entries if not tree.is_one_file else ())
    }
    needed = []
    for tree, entries, kept in zip(trees, listed, inside, strict=True):
        if tree.is_one_file:
            needed.append(wants)
            continue
        found = {entry.path for entry in kept}
        others = [entry for entry in entries if entry.path not in found]
        found.update(entry.path for entry, data in tree.read(others) if may_have(data, names))
        needed.append(found.__contains__)
    return tuple(needed)

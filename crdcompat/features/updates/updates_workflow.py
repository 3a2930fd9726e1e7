"""updates: the versions of others that a change moves, each as a pair to compare.

What a change may choose is the version alone. Where it is got from is what the merge base names: else a stranger's pull
request would send the job of its reviewers to any address. Nothing is fetched here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from crdcompat.features.updates.manifests import HELM_REPOSITORY, Pin, may_pin, pins_of, placed, repositories_of, unsafe
from crdcompat.sources.git import GitTree, grep
from crdcompat.sources.refs import merge_base, resolve
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Entry


class Update(Struct, frozen=True):
    """A version that a file of the change moves from ``old`` to ``new``."""

    file: str
    old: Pin
    new: Pin


class Updates(Struct, frozen=True):
    """The updates of a change, and each version that moved and is not handed on, as ``file: reason``."""

    found: tuple[Update, ...]
    left: tuple[str, ...]


def updates(base: str, head: str, repo: str | None = None) -> Updates:
    """The updates between the merge base of two refs and ``head``. Raises RefNotFoundError, SourceError."""
    repository = Repository(repo)
    commits = merge_base(repository, base, head), resolve(repository, head).commit
    sides = [_Side(GitTree(repository, commit, commit)) for commit in commits]
    found: list[Update] = []
    left: list[str] = []
    for file in _changed(*(side.files for side in sides)):
        before, after = (side.pins(file, left) for side in sides)
        for at in before.keys() & after.keys():
            old, new = before[at], after[at]
            if old == new:
                continue
            reason = unsafe(old) or unsafe(new) or ("" if _is_same_place(old, new) else _ELSEWHERE)
            if reason:
                left.append(f"{file}: {' '.join(filter(None, new.at))}: {reason}")
            else:
                found.append(Update(file, old, new))
    return Updates(tuple(sorted(found, key=lambda each: (each.file, each.old.at))), tuple(sorted(dict.fromkeys(left))))


_ELSEWHERE = "the change names another address or chart than the base: compare them by hand"


def _is_same_place(old: Pin, new: Pin) -> bool:
    return (old.kind, old.place, old.name) == (new.kind, new.place, new.name)


def _changed(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> Iterator[str]:
    return (path for path in old.keys() & new.keys() if may_pin(path) and old[path].oid != new[path].oid)


class _Side:
    """A commit with its pins."""

    def __init__(self, tree: GitTree) -> None:
        self._tree = tree
        self.files = {entry.path: entry for entry in tree.entries()}

    def pins(self, file: str, left: list[str]) -> dict[tuple[str, ...], Pin]:
        """The pins of a file by their places; what was not read is added to ``left``. Equal places are numbered."""
        found: dict[tuple[str, ...], Pin] = {}
        times = Counter[tuple[str, ...]]()
        for _, data in self._tree.read([self.files[file]]):
            for each in pins_of(file, data):
                if isinstance(each, str):
                    left.append(f"{file}: {each}")
                else:
                    times[each.at] += 1
                    found[*each.at, str(times[each.at])] = self._placed(each)
        return found

    def _placed(self, pin: Pin) -> Pin:
        if pin.source is None:
            return pin
        return placed(pin, self._repositories.get(pin.source, ""))

    @cached_property
    def _repositories(self) -> dict[tuple[str, str], str]:
        """The addresses of all HelmRepositories of the commit."""
        files = dict.fromkeys(path for path, _ in grep(self._tree, [HELM_REPOSITORY.decode()])())
        entries = [self.files[path] for path in files if path in self.files]
        return dict(_all(repositories_of(entry.path, data) for entry, data in self._tree.read(entries)))


def _all(found: Iterable[Iterable[tuple[tuple[str, str], str]]]) -> Iterator[tuple[tuple[str, str], str]]:
    for each in found:
        yield from each

"""The kustomizations and charts of a change: a build can read any file, whatever its name.

Whether one of them names a file is decided by a search for the word; only then is a kustomization parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.prefilter.spelling import deciphered
from crdcompat.sources.naming import KUSTOMIZATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from crdcompat.sources.tree import Tree

_CHART = "Chart.yaml"
_TEMPLATES = "templates/"
_READS_FILES = b".Files"


class Builders(Struct, frozen=True):
    """What is said in the ``kustomizations``, None if a search does not tell; and the templates of each chart.

    ``charts`` has the folder of each chart, "" or with a slash at its end, and the templates in it that read files.
    """

    kustomizations: bytes | None = b""
    charts: dict[str, bytes] = {}

    def names(self, path: str) -> bool:
        """Whether a kustomization may name a file, or is it."""
        name = path[path.rfind("/") + 1 :]
        is_named = self.kustomizations is None or name.encode("utf-8", "surrogateescape") in self.kustomizations
        return name in KUSTOMIZATIONS or (bool(self.kustomizations != b"") and is_named)

    def loads(self, path: str) -> bool:
        """Whether a file is a template of a chart, or a template may read it by its name or the name of its folder."""
        for folder, templates in self.charts.items():
            below = path.removeprefix(folder)
            if not path.startswith(folder):
                continue
            parts = below.encode("utf-8", "surrogateescape").split(b"/")
            words = (parts[-1], *(part + b"/" for part in parts[:-1][:1]))
            if below.startswith(_TEMPLATES) or any(word in templates for word in words):
                return True
        return False

    def may_use(self, path: str) -> bool:
        """Whether a build may read a file."""
        return self.names(path) or self.loads(path)


def find_builders(trees: Iterable[Tree], changed: Collection[str]) -> Builders:
    """Read the kustomizations, and the templates of the charts around ``changed`` files. Raises SourceError."""
    said: list[bytes | None] = []
    charts: dict[str, bytes] = {}
    for tree in trees:
        entries = list(tree.entries())
        said += (deciphered(data) for _, data in tree.read([e for e in entries if _is(e.path, *KUSTOMIZATIONS)]))
        for folder in {each.path.removesuffix(_CHART) for each in entries if _is(each.path, _CHART)}:
            if not any(path.startswith(folder) for path in changed):
                continue
            templates = [each for each in entries if each.path.startswith(f"{folder}{_TEMPLATES}")]
            reading = (data for _, data in tree.read(templates) if _READS_FILES in data)
            charts[folder] = b"\n".join((charts.get(folder, b""), *reading))
    return Builders(None if None in said else b"\n".join(filter(None, said)), charts)


def _is(path: str, *names: str) -> bool:
    return path[path.rfind("/") + 1 :] in names

"""The patch that makes OLD tolerant: it widens the schema by exactly what the rollback findings need.

crdcompat shows the patch and never applies it. Controllers of OLD write the same values as before; the widened schema
only accepts what NEW has stored (docs/first-check.md#fix-it-on-a-stuck-cluster; the API
conventions call it "accept in N, write in N+1"). The facet
of a change defines what to widen.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.compare.facet import Widening
from crdcompat.compare.registry import facet_of
from crdcompat.schema.structural import ABSENT
from crdcompat.sources.encoding import is_wide, legible
from crdcompat.vocabulary import Direction, Effect, Side
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.edit import Setting, apply_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.compare.result import Judged
    from crdcompat.crds.reader import CrdSet
    from crdcompat.crds.resolving import Chosen
    from crdcompat.schema.paths import Pointer


class Planned(Struct, frozen=True, eq=False):
    """One setting for a file of OLD: the document, the widening, and the change that needs it."""

    file: str
    index: int
    widening: Widening
    judged: Judged


class Patched(Struct, frozen=True):
    """A unified diff of OLD's files, and their contents after it."""

    text: str
    files: dict[str, bytes]


def is_of_schema(item: Judged) -> bool:
    """Whether a schema of OLD can make up for a result: a write that it refuses after a rollback."""
    return not item.change.of_crd and item.direction == Direction.ROLLBACK and item.effect == Effect.WRITE_REJECTED


def planned(judged: Iterable[Judged]) -> list[Planned]:
    """What the results of a rollback need: a setting for each of them in each copy of a CRD."""
    found = []
    for item in judged:
        sides = ((each.at(Side.OLD), each.at(Side.NEW)[0]) for each in item.occurrences)
        for chosen, newer in ((chosen, newer) for olds, newer in sides for chosen in olds):
            document = chosen.document
            found += [Planned(document.file, document.index, each, item) for each in _widenings(item, chosen, newer)]
    return found


def patched(plans: Iterable[Planned], old: CrdSet) -> Patched:
    """The patch for OLD; files that cannot be edited have a line that says so."""
    wanted: dict[str, dict[tuple[int, Pointer, str], Widening]] = {}
    for plan in plans:
        key = (plan.index, plan.widening.pointer, plan.widening.keyword)
        widenings = wanted.setdefault(plan.file, {})
        widenings[key] = _joined(widenings[key], plan.widening) if key in widenings else plan.widening
    texts, files = [], {}
    for file, data in old.read(sorted(wanted)):
        text = legible(data)
        if not any(isinstance(item, Document) for item in read_documents(text, file)):
            texts.append(f"# {file} is a template: widen it by hand\n")
            continue
        settings = [
            Setting(index, pointer, keyword, widening.value)
            for (index, pointer, keyword), widening in wanted[file].items()
        ]
        try:
            after = apply_settings(text, settings)
        except LookupError:  # a pointer leads into a text, or a List is written in an odd way
            texts.append(f"# {file} holds the CRD in a text or a List: widen it by hand\n")
            continue
        files[file] = after
        before, now = (side.decode("utf-8").splitlines(keepends=True) for side in (text, after))
        texts += [f"# {file} is not in UTF-8: this is for its text, git apply does not take it\n"] * is_wide(data)
        made = difflib.unified_diff(before, now, fromfile=f"a/{file}", tofile=f"b/{file}")
        texts += (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in made)
    return Patched("".join(texts), files)


def _widenings(item: Judged, chosen: Chosen, newer: Chosen) -> Iterator[Widening]:
    """The settings for the document of ``chosen``."""
    change, root = item.change, (*chosen.document.pointer, *chosen.version.schema_pointer)
    values = item.labels or change.added
    for widening in facet_of(change.kind).widen(change, values, chosen.version.node, newer.version.node):
        yield replace(widening, pointer=(*root, *widening.pointer))


def _joined(first: Widening, second: Widening) -> Widening:
    """The combination of two findings that widen the same keyword."""
    if ABSENT in (first.value, second.value):
        return replace(first, value=ABSENT)
    return replace(first, value=first.join(first.value, second.value))

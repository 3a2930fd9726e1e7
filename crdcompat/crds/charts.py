"""What a change does to Helm charts with templates of CRDs that only helm can tell.

Templates of CRDs are read with their conditions taken as true, and without what they insert beside schemas. Which of
them a cluster gets follows from values and named templates: where a change touches one that such a template uses, the
effect is not seen. A chart without templates of CRDs has nothing to say.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.crds.templates import beside_schemas_removed
from crdcompat.prefilter.candidates import has_crd_line
from crdcompat.sources.descriptions import YAML_ERRORS, load_yaml, object_of, objects_of
from crdcompat.sources.helm import CHART

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crdcompat.sources.tree import Entry, Tree

_HELM = "only helm renders it: compare the chart with --helm"
_ACTION = re.compile(rb"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_VALUE = re.compile(rb"\.Values((?:\.[A-Za-z_]\w*)*)")
_INDEXED = re.compile(rb'index\s+\$?\.Values((?:\s+"[^"]+")+)')
_INCLUDE = re.compile(rb'(?:include|template)\s+"([^"]+)"')
_DEFINE = re.compile(rb'\{\{-?\s*define\s+"([^"]+)"')

#: The path of a value: its keys.
_Path = tuple[str, ...]


class Chart(Struct, frozen=True):
    """The parts of a chart on which its CRDs depend.

    ``templates``: the actions in each template with CRDs, outside of metadata. ``defines``: the bodies of named
    templates. ``values`` and ``dependencies`` are those of the chart, ``packed`` the names of charts in ``charts/``.
    """

    templates: Mapping[str, tuple[bytes, ...]] = {}
    defines: Mapping[bytes, bytes] = {}
    values: Mapping[str, Any] = {}
    dependencies: Sequence[Mapping[str, Any]] = ()
    packed: frozenset[str] = frozenset()

    def used(self) -> tuple[set[_Path], set[bytes]]:
        """The values and the named templates on which the templates with CRDs depend."""
        names, values = set[bytes](), set[_Path]()
        pending = [b" ".join(actions) for actions in self.templates.values()]
        while pending:
            text = pending.pop()
            values.update(tuple(found.decode("utf-8", "replace").split(".")[1:]) for found in _VALUE.findall(text))
            values.update(tuple(found.decode("utf-8", "replace").split('"')[1::2]) for found in _INDEXED.findall(text))
            fresh = {name for name in _INCLUDE.findall(text) if name in self.defines} - names
            names |= fresh
            pending += (self.defines[name] for name in fresh)
        return {path for path in values if path}, names


def charts_around(paths: Iterable[str], tree: Tree) -> set[str]:
    """The folders of the outermost charts around these files, "" for the top."""
    charts = {posixpath.dirname(entry.path) for entry in tree.entries() if posixpath.basename(entry.path) == CHART}
    found = set()
    for path in paths:
        around = [chart for chart in charts if not chart or path.startswith(f"{chart}/")]
        found.update(sorted(around, key=len)[:1])
    return found


def read_chart(tree: Tree, folder: str) -> Chart:
    """Read what counts of the chart in a folder, its charts in ``charts/`` included. Raises SourceError."""
    below = f"{folder}/" if folder else ""
    entries = [entry for entry in tree.entries() if entry.path.startswith(below)]
    wanted = [entry for entry in entries if _is_of_chart(entry, below)]
    texts = {entry.path: data for entry, data in tree.read(wanted)}
    templates: dict[str, tuple[bytes, ...]] = {}
    defines: dict[bytes, bytes] = {}
    for path, data in texts.items():
        if "/templates/" in f"/{path}" and b"{{" in data:
            defines.update(_defines(data))
            if has_crd_line(data):
                templates[path] = tuple(_ACTION.findall(beside_schemas_removed(data)))
        elif "/templates/" in f"/{path}" and has_crd_line(data):
            templates[path] = ()
    facts = _yaml(texts.get(f"{below}{CHART}", b""))
    start = len(f"{below}charts/")
    inside = (entry.path[start:] for entry in entries if entry.path.startswith(f"{below}charts/"))
    return Chart(
        templates,
        defines,
        _yaml(texts.get(f"{below}values.yaml", b"")),
        objects_of(facts.get("dependencies")),
        frozenset(path.partition("/")[0] for path in inside),
    )


def unrendered(folder: str, before: Chart, after: Chart) -> Iterator[tuple[str, str]]:
    """The files of a chart that changed what its CRDs may be, with the reasons."""
    below = f"{folder}/" if folder else ""
    for path in sorted(before.templates.keys() & after.templates.keys()):
        if before.templates[path] != after.templates[path]:
            yield path, f"what its template inserts, or on which condition, changed: {_HELM}"
    (values_before, names_before), (values_after, names_after) = before.used(), after.used()
    for name in sorted(names_before & names_after):
        if before.defines[name] != after.defines[name]:
            shown = name.decode("utf-8", "replace")
            yield f"{below}templates", f"templates of CRDs use {shown}, which changed: {_HELM}"
    used = values_before & values_after
    packed = {name for name in (*before.packed, *after.packed) if "." not in name}
    for changed in sorted(_differing(before.values, after.values)):
        inner = changed[1:] if changed[0] in packed else changed
        if any(_overlap(path, each) for path in used for each in (changed, inner)):
            yield f"{below}values.yaml", f"templates of CRDs depend on {'.'.join(changed)}, which changed: {_HELM}"
    yield from _of_dependencies(below, before, after)


def _of_dependencies(below: str, before: Chart, after: Chart) -> Iterator[tuple[str, str]]:
    """The reasons of dependencies that are not in ``charts/``: another version, or values that decide on CRDs."""
    sides = [
        {str(each.get("alias") or each.get("name")): each for each in side.dependencies if _is_absent(each, after)}
        for side in (before, after)
    ]
    for name in sorted(sides[0].keys() | sides[1].keys()):
        if sides[0].get(name) != sides[1].get(name):
            yield f"{below}{CHART}", f"the chart {name} is not in charts/, so its CRDs are not seen: {_HELM}"
    changed = _differing(before.values, after.values)
    for name in sorted(sides[0].keys() & sides[1].keys()):
        condition = tuple(str(sides[1][name].get("condition", "")).split("."))
        paths = [path for path in changed if path == condition or (path[0] == name and "crd" in path[-1].lower())]
        for path in sorted(paths):
            yield f"{below}values.yaml", f"{'.'.join(path)} decides on CRDs of {name}, which are not seen: {_HELM}"


def _is_absent(dependency: Mapping[str, Any], chart: Chart) -> bool:
    name, place = str(dependency.get("name")), str(dependency.get("repository", ""))
    is_packed = any(each == name or each.startswith(f"{name}-") for each in chart.packed)
    return not is_packed and not place.startswith(("file:", "alias:"))


def _is_of_chart(entry: Entry, below: str) -> bool:
    path = entry.path
    return "/templates/" in f"/{path}" or path in (f"{below}{CHART}", f"{below}values.yaml")


def _defines(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The named templates of a file, each with the text up to the next one."""
    starts = [*_DEFINE.finditer(data)]
    ends = [*(found.start() for found in starts), len(data)][1:]
    return ((found[1], data[found.start() : end]) for found, end in zip(starts, ends, strict=True))


def _yaml(data: bytes) -> Mapping[str, Any]:
    try:
        return object_of(load_yaml(data))
    except YAML_ERRORS:
        return {}


def _differing(before: Any, after: Any, at: _Path = ()) -> set[_Path]:
    """The paths of the values that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = {*before, *after}
        return {path for key in keys for path in _differing(before.get(key), after.get(key), (*at, str(key)))}
    return {at} if before != after and at else set()


def _overlap(one: _Path, other: _Path) -> bool:
    shorter = min(len(one), len(other))
    return shorter > 0 and one[:shorter] == other[:shorter]

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

from crdcompat.crds.file import read_file
from crdcompat.crds.templates import beside_schemas_removed
from crdcompat.prefilter.candidates import has_crd_line, is_candidate, is_packed_chart
from crdcompat.sources.descriptions import list_of, load_object, objects_of
from crdcompat.sources.helm import CHART
from crdcompat.sources.naming import is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crdcompat.sources.tree import Entry, Tree

_IGNORE, _REQUIREMENTS = ".helmignore", "requirements.yaml"
_HELM = "only helm renders it: compare the chart with --helm"
_ACTION = re.compile(rb"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_VALUE = re.compile(rb"\.Values\b((?:\.[A-Za-z_]\w*)*)")
_INDEXED = re.compile(rb'index\s+\$?\.Values((?:\s+"[^"]+")+)')
_INCLUDE = re.compile(rb'(?:include|template)\s+(?:["`]([^"`]+)["`]|\$\w)')
_DEFINE = re.compile(rb'\{\{-?\s*define\s+["`]([^"`]+)["`]')
_READS_FILES = b".Files"
#: What decides whether a chart in ``charts/`` is part of a release, and where a chart of a folder is.
_SWITCHES, _OF_FOLDER = ("condition", "tags"), ("condition", "tags", "repository")

#: The path of a value: its keys.
_Path = tuple[str, ...]


class Chart(Struct, frozen=True):
    """The parts of a chart on which its CRDs depend.

    ``templates``: the actions in each template with CRDs, outside of metadata. ``defines``: the bodies of named
    templates. ``values`` are those of each file of values, ``dependencies`` those of the chart, ``packed`` the names of
    charts in ``charts/``, and ``holding`` those with CRDs. ``decides`` is the text of what decides on all CRDs of it:
    ``.helmignore`` and the type of the chart; "" without CRDs.
    """

    templates: Mapping[str, tuple[bytes, ...]] = {}
    defines: Mapping[bytes, bytes] = {}
    values: Mapping[str, Mapping[str, Any]] = {}
    dependencies: Sequence[Mapping[str, Any]] = ()
    packed: frozenset[str] = frozenset()
    holding: frozenset[str] = frozenset()
    decides: str = ""

    def used(self) -> tuple[set[_Path], set[bytes]]:
        """The values and the named templates on which the templates with CRDs depend."""
        names, values = set[bytes](), set[_Path]()
        pending = [b" ".join(actions) for actions in self.templates.values()]
        while pending:
            text = pending.pop()
            values.update(tuple(found.decode("utf-8", "replace").split('"')[1::2]) for found in _INDEXED.findall(text))
            text = _INDEXED.sub(b"", text)
            values.update(tuple(found.decode("utf-8", "replace").split(".")[1:]) for found in _VALUE.findall(text))
            called = set(_INCLUDE.findall(text))  # "" for a name in a variable: any
            fresh = (set(self.defines) if b"" in called else called & self.defines.keys()) - names
            names |= fresh
            pending += (self.defines[name] for name in fresh)
        return values, names


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
    of_templates = {path: data for path, data in texts.items() if "/templates/" in f"/{path}"}
    others = [each for each in entries if each.path not in of_templates and is_candidate(each.path)]
    packed = [each for each in entries if is_packed_chart(each.path)]
    held = {entry.path for entry, data in tree.read(others) if has_crd_line(data)}
    held |= {entry.path for entry, data in tree.read(packed) if read_file(data, entry).documents}
    loaded = any(not path.removeprefix(below).startswith(("crds/", "charts/")) for path in held)
    for path, data in of_templates.items():
        if b"{{" in data:
            defines.update(_defines(data))
            if has_crd_line(data) or (loaded and _READS_FILES in data):
                templates[path] = tuple(_ACTION.findall(beside_schemas_removed(data)))
        elif has_crd_line(data):
            templates[path] = ()
    facts = load_object(texts.get(f"{below}{CHART}", b""))
    listed = facts.get("dependencies") or load_object(texts.get(f"{below}{_REQUIREMENTS}", b"")).get("dependencies")
    charts = f"{below}charts/"
    inner = {path.removeprefix(charts).partition("/")[0] for path in (*held, *templates) if path.startswith(charts)}
    own = any(not path.startswith(charts) for path in (*held, *templates))
    return Chart(
        templates,
        defines,
        {path: load_object(data) for path, data in texts.items() if _is_values(path, below)},
        objects_of(listed),
        frozenset(each.path.removeprefix(charts).partition("/")[0] for each in entries if each.path.startswith(charts)),
        frozenset(inner),
        f"{facts.get('type')} {texts.get(f'{below}{_IGNORE}', b'')!r}" if own or inner else "",
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
    if before.decides and after.decides and before.decides != after.decides:
        yield f"{below}{_IGNORE}", f"it decides, with the type of the chart, which CRDs are part of it: {_HELM}"
    used = values_before & values_after
    packed = {name for name in (*before.packed, *after.packed) if "." not in name}
    for file in sorted(before.values.keys() | after.values.keys()):
        for changed in sorted(_differing(before.values.get(file, {}), after.values.get(file, {}))):
            inner = changed[1:] if changed[0] in packed else changed
            if any(_overlap(path, each) for path in used for each in (changed, inner)):
                yield file, f"templates of CRDs depend on {'.'.join(changed)}, which changed: {_HELM}"
            for dependency in sorted(_switched(changed, after)):
                yield file, f"{'.'.join(changed)} decides on CRDs of {dependency}, which are not seen: {_HELM}"
    yield from _of_dependencies(below, before, after)


def _of_dependencies(below: str, before: Chart, after: Chart) -> Iterator[tuple[str, str]]:
    """The reasons of dependencies: another version of one that is not in ``charts/``, other switches of any."""
    sides = [{_name(each): each for each in side.dependencies} for side in (before, after)]
    for name in sorted(sides[0].keys() | sides[1].keys()):
        both = [side.get(name) for side in sides]
        known = both[1] or both[0] or {}
        if _is_absent(known, after):
            if both[0] != both[1]:
                yield f"{below}{CHART}", f"the chart {name} is not in charts/, so its CRDs are not seen: {_HELM}"
        elif _holds(known, after) and None not in both:
            of_folder = str(known.get("repository", "")).startswith("file:")
            keys = _OF_FOLDER if of_folder else _SWITCHES
            if any((both[0] or {}).get(key) != (both[1] or {}).get(key) for key in keys):
                yield f"{below}{CHART}", f"whether the CRDs of the chart {name} are installed changed: {_HELM}"


def _switched(changed: _Path, chart: Chart) -> Iterator[str]:
    """The dependencies of a chart whose CRDs a value decides on."""
    for each in chart.dependencies:
        conditions = {tuple(path.strip().split(".")) for path in str(each.get("condition", "")).split(",")}
        tags = {("tags", str(tag)) for tag in list_of(each.get("tags"))}
        is_switch = changed in conditions | tags
        is_absent = _is_absent(each, chart)
        if (is_switch and (is_absent or _holds(each, chart))) or (
            is_absent and changed[0] == _name(each) and "crd" in changed[-1].lower()
        ):
            yield _name(each)


def _name(dependency: Mapping[str, Any]) -> str:
    return str(dependency.get("alias") or dependency.get("name"))


def _holds(dependency: Mapping[str, Any], chart: Chart) -> bool:
    """Whether a chart in ``charts/`` has CRDs; one in another folder may."""
    name, place = str(dependency.get("name")), str(dependency.get("repository", ""))
    return place.startswith("file:") or any(each == name or each.startswith(f"{name}-") for each in chart.holding)


def _is_absent(dependency: Mapping[str, Any], chart: Chart) -> bool:
    name, place = str(dependency.get("name")), str(dependency.get("repository", ""))
    is_packed = any(each == name or each.startswith(f"{name}-") for each in chart.packed)
    return not is_packed and not place.startswith(("file:", "alias:"))


def _is_of_chart(entry: Entry, below: str) -> bool:
    path = entry.path
    names = (CHART, _IGNORE, _REQUIREMENTS)
    return "/templates/" in f"/{path}" or _is_values(path, below) or path in [f"{below}{name}" for name in names]


def _is_values(path: str, below: str) -> bool:
    """Whether a file at the top of a chart has values: the defaults, or those of an environment."""
    name = path.removeprefix(below)
    return path.startswith(below) and "/" not in name and name.startswith("values") and is_manifest_name(name)


def _defines(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The named templates of a file, each with the text up to the next one."""
    starts = [*_DEFINE.finditer(data)]
    ends = [*(found.start() for found in starts), len(data)][1:]
    return ((found[1], data[found.start() : end]) for found, end in zip(starts, ends, strict=True))


def _differing(before: Any, after: Any, at: _Path = ()) -> set[_Path]:
    """The paths of the values that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = {*before, *after}
        return {path for key in keys for path in _differing(before.get(key), after.get(key), (*at, str(key)))}
    return {at} if before != after and at else set()


def _overlap(one: _Path, other: _Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]

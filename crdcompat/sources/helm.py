"""Helm charts as trees: their files as they are, or the output of ``helm template`` if the user asks for it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from crdcompat.errors import Problem, SourceError
from crdcompat.sources.archive import ArchiveTree
from crdcompat.sources.build import helm_template
from crdcompat.sources.descriptions import YAML_ERRORS, load_yaml, objects_of
from crdcompat.sources.memory import MemoryTree, held_files, only_folder
from crdcompat.sources.naming import is_manifest_name
from crdcompat.sources.source_options import current_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.sources.tree import Tree

CHART = "Chart.yaml"
_EXPECTED = "the folder of a Helm chart, or its .tgz, is expected, with Chart.yaml at its top"
_MAX_DEPTH = 3  # levels of charts in charts
PACKED = (".tgz", ".tar.gz")
_HELPERS = (".tpl", ".txt")
_CRD_LINE = re.compile(rb"^\s*kind:\s*[\"']?CustomResourceDefinition\b", re.MULTILINE)
_ASKS_SERVER = b".Capabilities."
_IN_HELPER = "a named template with a CRD, which only helm renders: give --helm (or --helm-values FILE)"


def chart_tree(name: str, chart: str | bytes, tree: Tree) -> MemoryTree:
    """The manifests of the chart in ``tree``. ``chart`` is the path of the tree, or the content of the packed chart.

    Raises SourceError if it is no chart or helm fails, UsageError if helm shall run and is not installed.
    """
    options = current_options()
    files = held_files(tree, _is_of_chart)
    top = _top(name, tree, files)
    problems = list(tree.problems)
    of_chart = {below.removeprefix(top): data for below, data in files.items() if below.startswith(top)}
    facts = _chart_yaml(name, of_chart[CHART])
    notes = [*tree.notes, f"{name}: Helm chart {facts['name']} {facts.get('version', 'without a version')}"]
    if options.helm:
        rendered = helm_template(name, chart, options.helm_values, options.kubernetes)
        server = f"Kubernetes {options.kubernetes}" if options.kubernetes else "helm's own version of Kubernetes"
        how = f"{name}: rendered by helm template for {server}"
        if any(_ASKS_SERVER in data for data in of_chart.values()):
            how += " alone: its templates ask for .Capabilities, and other servers may get other CRDs"
        charts = {file: data for file, data in unpacked_charts(of_chart, []) if file.endswith(CHART)}
        return MemoryTree(name, rendered | charts, problems, tree.skipped, (*notes, how))
    unpacked = dict(unpacked_charts(of_chart, problems))
    problems += (
        Problem(file, None, _IN_HELPER)
        for file, data in sorted(unpacked.items())
        if file.endswith(_HELPERS) and _CRD_LINE.search(data)
    )
    present = {file.split("/")[1] for file in unpacked if file.startswith("charts/") and file.count("/") > 1}
    if missing := [each for each in _dependencies(facts) if each not in present]:
        notes.append(f"{name}: the charts {', '.join(missing)} are not in charts/: their CRDs are not seen")
    manifests = {file: data for file, data in unpacked.items() if is_manifest_name(file)}
    return MemoryTree(name, manifests, problems, tree.skipped, notes)


def _top(name: str, tree: Tree, files: Iterable[str]) -> str:
    """The folder of the outermost chart: "", or a path that ends with a slash. Raises SourceError."""
    charts = {found.removesuffix(CHART) for found in files if found.endswith(f"/{CHART}") or found == CHART}
    tops = [top for top in charts if not any(top != other and top.startswith(other) for other in charts)]
    return only_folder(name, tree, tops, "Helm chart", _EXPECTED)


def _is_of_chart(path: str) -> bool:
    return is_manifest_name(path) or path.endswith((*PACKED, *_HELPERS))


def unpacked_charts(files: Mapping[str, bytes], problems: list[Problem], depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """The files of a chart and of the packed charts in its folder ``charts``."""
    for path, data in files.items():
        if not path.endswith(PACKED):
            yield path, data
        elif not path.startswith("charts/") or "/" in path.removeprefix("charts/"):
            continue
        elif depth == _MAX_DEPTH:
            problems.append(Problem(path, None, f"a chart in {_MAX_DEPTH} others: not read"))
        else:
            inner = ArchiveTree(path, path, file=io.BufferedReader(io.BytesIO(data)))  # type: ignore[type-var, unused-ignore]
            found = held_files(inner, _is_of_chart)
            problems += (Problem(f"{path}: {each.file}", None, each.message) for each in inner.problems)
            nested = {each.partition("/")[2]: content for each, content in found.items()}
            for below, content in unpacked_charts(nested, problems, depth + 1):
                yield f"charts/{next(iter(found)).partition('/')[0]}/{below}", content


def _chart_yaml(name: str, chart: bytes) -> dict[str, Any]:
    try:
        facts = load_yaml(chart)
    except YAML_ERRORS as error:
        raise SourceError(f"{name}: Chart.yaml cannot be read: {str(error).splitlines()[0]}") from None
    if not isinstance(facts, dict) or not isinstance(facts.get("name"), str):
        raise SourceError(f"{name}: Chart.yaml has no name: {_EXPECTED}")
    return facts


def _dependencies(facts: Mapping[str, Any]) -> list[str]:
    return [each["name"] for each in objects_of(facts.get("dependencies")) if isinstance(each.get("name"), str)]

"""Charts in a chart that its values turn off: helm installs their CRDs only for those who turn them on.

A dependency in ``Chart.yaml`` names values as its ``condition``, of which the first that is there decides, else as
``tags``, of which one has to be true (Helm's documentation, "Dependencies: tags and condition fields").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crdcompat.crds.reader import CrdSet
from crdcompat.sources.descriptions import list_of, load_object, object_of, objects_of
from crdcompat.sources.helm import CHART

_FOLDER = "charts/"


def turned_on_by(crds: CrdSet, file: str) -> str:
    """The value that turns on the chart of a file in ``charts/`` of another chart, if it is off; else ""."""
    below, _, inside = f"/{file}".rpartition(f"/{_FOLDER}")
    above = f"{below[1:]}/" if below else ""
    if not inside or above not in crds.installers.charts:
        return ""
    chart, defaults = f"{above}{CHART}", f"{above}values.yaml"
    read = dict(crds.read((chart, defaults)))
    values, name = load_object(read.get(defaults, b"")), inside.partition("/")[0]
    for each in objects_of(load_object(read.get(chart, b"")).get("dependencies")):
        own = str(each.get("name"))
        if name == own or name.startswith(f"{own}-"):
            return _off(each, values)
    return ""


def _off(dependency: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """The first value that turns a dependency off; "" if none does."""
    for path in str(dependency.get("condition") or "").split(","):
        value: Any = values
        for key in filter(None, path.strip().split(".")):
            value = object_of(value).get(key)
        if isinstance(value, bool):
            return "" if value else path.strip()
    tags = [str(tag) for tag in list_of(dependency.get("tags"))]
    said = object_of(values.get("tags"))
    is_off = any(said.get(tag) is False for tag in tags) and not any(said.get(tag) is True for tag in tags)
    return f"tags.{tags[0]}" if is_off else ""

"""Which installer puts a manifest into a cluster, by what surrounds it in its tree.

A chart is a folder with ``Chart.yaml``: Helm installs its ``crds/`` once, and manages what its ``templates/`` make. A
bundle of OLM has ``metadata/annotations.yaml`` beside ``manifests/``. The cluster-version operator applies manifests by
the run level in their names. All else is applied as it is: ``kubectl``, kustomize, Argo CD, Flux.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.crds.run_level import run_level
from crdcompat.vocabulary.installers import Installer

if TYPE_CHECKING:
    from crdcompat.crds.model import Crd

_CHART, _BUNDLE = "Chart.yaml", "metadata/annotations.yaml"
_POLICY, _KEEP = "helm.sh/resource-policy", "keep"
#: The metadata of a manifest, in block or flow style, and its labels, which often are inserted as a whole.
_METADATA = re.compile(
    rb"^[\"']?metadata[\"']?:[ \t]*(?:\r?\n((?:(?:[ \t]|\{\{)[^\n]*\n|[ \t]*\r?\n)*)|(\{[^\n]*\n(?:[ \t}][^\n]*\n)*))",
    re.MULTILINE,
)
_LABELS = re.compile(
    rb"^([ ]+)[\"']?labels[\"']?:[^\n]*\n(?:\1[ ]+[^\n]*\n|[ ]*\{\{[^\n]*\n)*"
    rb"|(?<=[{, ])[\"']?labels[\"']?:[ \t]*\{(?:[^{}]|\{\{[^{}]*\}\})*\}",
    re.MULTILINE,
)
_NAME = re.compile(
    rb"^[ ]+[\"']?name[\"']?:[ \t]*[\"']?([^\s\"',]*)[^\n]*\n"
    rb"|(?<=[{, ])[\"']?name[\"']?:[ \t]*[\"']?([^\s\"',{}]+)[\"']?",
    re.MULTILINE,
)
#: Actions that insert nothing: conditions, which are taken as true, their ends, and comments.
_CONTROLS = re.compile(rb"\{\{-?\s*(?:if|else|end|/\*)[^{}]*\}\}")
_STATED = re.compile(rb"helm\.sh/resource-policy[\"']?[ \t]*:[ \t]*([^\n,]*)")


#: The folders of a chart.
_OF_HELM = {"templates": Installer.HELM_TEMPLATES, "crds": Installer.HELM_CRDS}


class Installers(Struct, frozen=True):
    """The installers of the manifests of a tree.

    ``named``: the user names the installer of all of them. ``charts`` and ``bundles`` are folders with a slash at the
    end, "" for the top.
    """

    named: Installer | None = None
    charts: frozenset[str] = frozenset()
    bundles: frozenset[str] = frozenset()

    def of(self, file: str, inside: str = "") -> Installer:
        """The installer of a manifest, of one in a packed chart by its path ``inside``."""
        if self.named is not None:
            return self.named
        if run_level([file]) is not None:
            return Installer.CVO
        if inside:
            return _in_packed(inside)
        parts = file.split("/")
        for end, part in enumerate(parts[:-1]):
            above = "".join(f"{each}/" for each in parts[:end])
            if above in self.charts and part in _OF_HELM:
                return _OF_HELM[part]
            if above in self.bundles and part == "manifests":
                return Installer.OLM_V0
        return Installer.APPLY

    @property
    def has_chart(self) -> bool:
        """Whether Helm can install the tree."""
        return bool(self.charts) if self.named is None else self.named is Installer.HELM_TEMPLATES


def _in_packed(path: str) -> Installer:
    """The installer of a manifest in a packed chart: ``charts/NAME/crds/…``, or deeper ``charts/``."""
    parts = path.split("/")
    while len(parts) > 2 and parts[0] == "charts":
        parts = parts[2:]
    return _OF_HELM.get(parts[0], Installer.APPLY)


def installers_in(paths: Iterable[str], named: Installer | None) -> Installers:
    """The installers of a tree with these files."""
    charts, bundles = set(), set()
    for path in paths:
        if path == _CHART or path.endswith(f"/{_CHART}"):
            charts.add(path.removesuffix(_CHART))
        elif path == _BUNDLE or path.endswith(f"/{_BUNDLE}"):
            bundles.add(path.removesuffix(_BUNDLE))
    return Installers(named, frozenset(charts), frozenset(bundles))


def metadata_in(template: bytes) -> dict[str, bytes]:
    """The metadata of each manifest in a template, by its name; that of an only one also by "", whatever its name.

    A template that inserts nothing is a manifest, of which a CRD says all: its metadata is not looked for.
    """
    if b"{{" not in template:
        return {"": b""}
    found = [each[1] or each[2] or b"" for each in _METADATA.finditer(template + b"\n")]
    names = {(block or flow).decode("utf-8", "replace"): text for text in found for block, flow in _NAME.findall(text)}
    return names | ({"": found[0]} if len(found) == 1 else {})


def keeps(crd: Crd, metadata: Mapping[str, bytes]) -> bool | None:
    """Whether Helm keeps a CRD of ``templates/`` that a release no longer has; None if only rendering can tell.

    ``metadata`` is the metadata in its template. Conditions in it count as true, as for the CRD itself.
    """
    read = crd.raw.get("metadata")
    annotations = read.get("annotations") if isinstance(read, dict) else None
    if isinstance(annotations, dict) and annotations.get(_POLICY) == _KEEP:
        return True
    text = metadata.get(crd.name, metadata.get(""))
    if text is None:
        return None
    if (stated := _STATED.search(text)) is not None:
        return True if _KEEP.encode() in stated[1] else None
    rest = _CONTROLS.sub(b"", _NAME.sub(b"", _LABELS.sub(b"", text)))
    return None if b"{{" in rest else False

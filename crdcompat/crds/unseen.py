"""Notes on CRDs outside of the manifests of a source: patches for kustomize, Go that makes or generates CRDs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.context import CHANNEL, FEATURE_SET, GATE, PROFILE
from crdcompat.crds.templates import TEMPLATE
from crdcompat.prefilter.candidates import is_go, is_go_of_crds
from crdcompat.sources.naming import KUSTOMIZATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crdcompat.errors import Skipped
    from crdcompat.sources.tree import Entry, Tree

#: The reasons to skip a document that only patches a CRD, and a kustomization with patches.
FRAGMENT, KUSTOMIZE = (
    "fragment of a CRD: no names or versions",
    "kustomization: only kustomize build applies its patches",
)
#: The reason to skip a patch that changes nothing of what a CRD accepts, nor where clusters get it.
METADATA = "patch of a CRD's labels and annotations"
#: The reasons why an object cannot be judged: a program that is not run makes or changes CRDs by it.
MADE = "a schema of which a controller makes a CRD: only the controller tells which"
PATCH = "a patch of CRDs in another object: only its controller tells what comes of it"
PARAMETER = "a parameter of the template is part of a CRD: process the template and compare the result"
#: The reasons why the effect of a file on CRDs is not seen.
UNSEEN = (FRAGMENT, TEMPLATE, MADE, PATCH, PARAMETER)
_DECIDING = (FEATURE_SET, PROFILE, GATE, CHANNEL)
#: A CRD written as a Go value or as YAML in a Go string, and the markers of types from which one is generated.
_GO_VALUE = re.compile(
    rb"CustomResourceDefinition\{\s*(?:TypeMeta|ObjectMeta|Spec)\b|^\s*kind: CustomResourceDefinition\b", re.MULTILINE
)
_GO_TYPE = re.compile(rb"\+kubebuilder:(?:resource\b|object:root=true|subresource:)")


def unseen(
    tree: Tree,
    entries: Iterable[Entry],
    skipped: Iterable[Skipped],
    may_patch: Callable[[str, str], bool],
    *,
    has_crds: bool,
) -> Iterator[str]:
    """The notes on one source, which ``has_crds`` in its manifests.

    ``may_patch`` says of a file, and the reason to skip it, whether a kustomization may change CRDs by it; most patch
    objects of other kinds. What is in a folder of tests patches nothing that ships. Where there are CRDs, only Go files
    whose path names CRDs or manifests are read; where there are none, all Go files are. Raises SourceError.
    """
    reasons = {(item.file, item.reason) for item in skipped if place_of(item.file) < Place.NEVER}
    patches = {file for file, reason in reasons if reason in (FRAGMENT, KUSTOMIZE) and may_patch(file, reason)}
    if patches:
        yield f"{_files(sorted(patches))} CRDs, and the result is not seen: kustomize build shows it"
    is_source = is_go_of_crds if has_crds else is_go
    sources = [entry for entry in entries if is_source(entry.path) and place_of(entry.path) < Place.NEVER]
    values, types = [], []
    for entry, data in tree.read(sources) if sources else ():
        if _GO_VALUE.search(data):
            values.append(entry.path)
        elif not has_crds and _GO_TYPE.search(data):
            types.append(entry.path)
    if values:
        makers = _files(values, "make", "makes")
        yield f"{makers} CRDs in Go, and these are not seen: write them as YAML and compare the result"
    if types:
        holders = _files(types, "have", "has")
        yield f"{holders} types to generate CRDs from, and no manifest is there: run the generator first"


def is_kustomization(data: object, path: str) -> bool:
    """Whether a document is a kustomization: by its kind, or by the name of its file, for the kind may be left out.

    Flux has objects of this kind, too, in a group of its own.
    """
    if not isinstance(data, dict):
        return False
    kind, version = data.get("kind", ""), str(data.get("apiVersion") or "")
    is_own = kind == "Kustomization" and (not version or version.startswith("kustomize.config.k8s.io/"))
    return is_own or (kind == "" and path.rpartition("/")[2] in KUSTOMIZATIONS)


def fragment_reason(data: Mapping[str, Any]) -> str:
    """The reason to skip a fragment of a CRD."""
    metadata = data.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    decides = any(str(key).startswith(_DECIDING) for key in annotations or ())
    return FRAGMENT if decides or data.keys() - {"apiVersion", "kind", "metadata", "status"} else METADATA


def _files(paths: Sequence[str], several: str = "patch", one: str = "patches") -> str:
    """``a.yaml patches``, ``a.yaml and 2 more files patch``."""
    rest = len(paths) - 1
    return f"{paths[0]} and {rest} more file{'' if rest == 1 else 's'} {several}" if rest else f"{paths[0]} {one}"

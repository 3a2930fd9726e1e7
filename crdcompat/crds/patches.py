"""Which parts of a kustomization may make CRDs or change what they accept: patches, replacements, charts, plugins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdcompat.crds.model import KIND
from crdcompat.crds.unseen import METADATA, fragment_reason
from crdcompat.prefilter.candidates import names_crds
from crdcompat.sources.descriptions import YAML_ERRORS, load_documents, load_yaml, object_of, objects_of
from crdcompat.sources.kustomize import PATCHES, selects_crds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Fields of a CRD that decide about no schema.
_BESIDE_SCHEMAS = ("metadata.", "spec.conversion.")
_CONVERSION = re.compile(rb"\bconversion\b")
_OF_FRAGMENT = frozenset({"apiVersion", "kind", "metadata", "spec"})
#: Fields of metadata that decide about no schema; a name identifies the object, unless an option makes it a new name.
_OF_METADATA = frozenset({"name", "labels", "annotations", "creationTimestamp"})
_OF_VERSIONS = re.compile(rb"openAPIV3Schema|spec[/.]versions\b")


def changes_versions(patch: Any, text: bytes) -> bool:
    """Whether what may change CRDs names their versions: what it makes accepts other objects than its base."""
    return _OF_VERSIONS.search(repr(patch).encode() + text) is not None


def gives_conversion(patch: Any, text: bytes) -> bool:
    """Whether what may change CRDs names their conversion."""
    return _CONVERSION.search(repr(patch).encode() + text) is not None


def converted_crd(patch: Any, text: bytes) -> str:
    """The name of the CRD of which a patch gives nothing but the conversion and metadata; "" for any other patch.

    ``text`` is that of its file, if it has one.
    """
    if changes_versions(patch, text) or not gives_conversion(patch, text):
        return ""
    value = _value(text or _inner(patch))
    target = object_of(object_of(patch).get("target"))
    if isinstance(value, list):
        paths = (str(object_of(each).get("path")) for each in value)
        named = target.get("name") if all(f"{path}/".startswith("/spec/conversion/") for path in paths) else ""
    else:
        fragment = object_of(value)
        is_whole = fragment.keys() <= _OF_FRAGMENT and object_of(fragment.get("spec")).keys() == {"conversion"}
        named = target.get("name") if target else object_of(fragment.get("metadata")).get("name")
        named = named if is_whole else ""
    return named if isinstance(named, str) else ""


def may_change_crds(key: str, patch: Any, text: bytes) -> bool:
    """Whether an item of a kustomization's ``key`` may make or change CRDs; ``text`` is the text of its files.

    What selects its objects by a target or by its kind is judged by that, a plugin or a chart by its words.
    """
    if key == "replacements":
        items = [*objects_of(_value(text)), object_of(patch)] if text else [object_of(patch)]
        return any(map(_replaces, items))
    targets = [*_targets(patch), *_targets(_value(text))]
    if key in PATCHES and _leaves_crds(patch, text, bool(targets)):
        return False
    if targets:
        return any(map(selects_crds, targets))
    shown = repr(patch).encode() + text
    if key in PATCHES:
        return b"kind" not in shown or names_crds(shown)
    return b"crd" in shown.lower() or names_crds(shown)


def _leaves_crds(patch: Any, text: bytes, has_target: bool) -> bool:
    """Whether each document of a patch is for objects of another kind, or gives CRDs nothing but labels and the like.

    A target takes the place of the kind.
    """
    fragments = _fragments(text or _inner(patch))
    if not fragments or "options" in object_of(patch):
        return False
    kinds = [fragment.get("kind") for fragment in fragments]
    others = [not has_target and isinstance(kind, str) and kind != KIND for kind in kinds]
    return all(other or _is_of_labels(fragment) for other, fragment in zip(others, fragments, strict=True))


def _is_of_labels(fragment: Mapping[str, Any]) -> bool:
    metadata = object_of(fragment.get("metadata"))
    return bool(metadata) and metadata.keys() <= _OF_METADATA and fragment_reason(fragment) == METADATA


def _fragments(text: bytes) -> list[Mapping[str, Any]]:
    """The documents of a patch; [] if one of them is no object."""
    try:
        documents = [each for each in load_documents(text) if each is not None]
    except YAML_ERRORS:
        return []
    return documents if len(objects_of(documents)) == len(documents) else []


def _inner(patch: Any) -> bytes:
    """The text of a patch that stands in the kustomization."""
    inner = object_of(patch).get("patch", patch)
    return inner.encode() if isinstance(inner, str) else b""


def _targets(value: Any) -> Iterator[Mapping[str, Any]]:
    target = object_of(value).get("target")
    if isinstance(target, dict):
        yield target


def _replaces(item: Mapping[str, Any]) -> bool:
    for target in objects_of(item.get("targets")):
        fields = target.get("fieldPaths")
        is_beside = isinstance(fields, list) and all(
            str(each).lstrip(".").startswith(_BESIDE_SCHEMAS) for each in fields
        )
        if not is_beside and selects_crds(object_of(target.get("select"))):
            return True
    return False


def _value(text: bytes) -> Any:
    try:
        return load_yaml(text)
    except YAML_ERRORS:
        return None

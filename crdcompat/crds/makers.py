"""Objects of which a controller makes CRDs, or changes them: only that controller can tell which.

Crossplane and Gatekeeper make CRDs of schemas in objects of their own, Flux and Argo CD apply patches of kustomize, and
OpenShift puts parameters into the CRDs of a Template.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.crds.unseen import MADE, PARAMETER, PATCH
from crdcompat.errors import Skipped
from crdcompat.sources.descriptions import objects_of
from crdcompat.sources.kustomize import selects_crds

if TYPE_CHECKING:
    from collections.abc import Mapping

_USED = re.compile(r"\$\{\{?(\w+)\}")
#: What decides about no schema: parameters there are as good as values.
_BESIDE_SCHEMAS = ("conversion",)


def made_by(value: Mapping[str, Any]) -> Skipped | None:
    """Why an object that is no CRD makes or changes CRDs; None if it does not. The file is left open."""
    if isinstance(value.get("openAPIV3Schema"), dict):
        return _skipped(MADE, value)
    target = value.get("target")
    if "patch" in value and isinstance(target, dict) and selects_crds(target):
        return _skipped(PATCH, value)
    return None


def parameterized(crd: Mapping[str, Any], parents: tuple[Any, ...]) -> Skipped | None:
    """Whether a parameter of a Template among ``parents`` is in the spec of a CRD. The file is left open."""
    declared = {
        str(each.get("name")): each
        for parent in parents
        if isinstance(parent, dict) and parent.get("kind") == "Template"
        for each in objects_of(parent.get("parameters"))
    }
    spec = crd.get("spec")
    if not declared or not isinstance(spec, dict):
        return None
    text = orjson.dumps({key: value for key, value in spec.items() if key not in _BESIDE_SCHEMAS}).decode()
    used = sorted(declared.keys() & set(_USED.findall(text)))
    return _skipped(PARAMETER, [text, *(declared[name] for name in used)]) if used else None


def content_of(value: Any) -> str:
    """A text that is equal for equal values."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return blake2b(text, digest_size=20).hexdigest()


def _skipped(reason: str, content: Any) -> Skipped:
    return Skipped("", reason, content=content_of(content))

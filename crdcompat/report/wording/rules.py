"""The words for effects, and a rule's example as YAML."""

from __future__ import annotations

from typing import Any


def side_yaml(schema: dict[str, Any], spec: dict[str, Any] | None) -> str:
    """The schema, and where the CRD itself differs, the parts of its ``spec`` that do; empty for a plain CRD."""
    shown = [part for part in (schema, None if spec is None else {"spec": spec}) if part]
    return "\n".join(map(_yaml, shown))


def _yaml(data: Any) -> str:
    import yaml

    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100).rstrip()


EFFECTS = {
    "crd-rejected": "the CRD itself is refused",
    "write-rejected": "writes of an object are refused (422)",
    "request-failed": "requests fail (400, 404 or 500)",
    "value-pruned": "a value is erased",
    "value-defaulted": "a value is set by default",
}

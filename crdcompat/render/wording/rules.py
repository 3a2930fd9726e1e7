"""The words for effects, and a rule's example as YAML."""

from __future__ import annotations

from typing import Any

from crdcompat.vocabulary import Effect


def side_yaml(schema: dict[str, Any], spec: dict[str, Any] | None) -> str:
    """The schema, then the parts of the CRD's ``spec`` that differ from a plain CRD; empty for a plain CRD."""
    shown = [part for part in (schema, None if spec is None else {"spec": spec}) if part]
    return "\n".join(map(_yaml, shown))


def _yaml(data: Any) -> str:
    import yaml

    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100).rstrip()


EFFECTS = {
    Effect.CRD_REJECTED: "the CRD itself is refused",
    Effect.WRITE_REJECTED: "writes of an object are refused (422)",
    Effect.REQUEST_FAILED: "requests fail (400, 404 or 500)",
    Effect.VALUE_PRUNED: "a value is erased",
    Effect.VALUE_DEFAULTED: "a value is set by default",
}

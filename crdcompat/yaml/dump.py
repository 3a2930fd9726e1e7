"""Write YAML for Kubernetes: strings that Go's or Python's YAML reader would read as another type are quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from crdcompat.yaml.loader import implied_tag

if TYPE_CHECKING:
    from yaml import CSafeDumper as _Dumper
    from yaml.nodes import Node
else:
    _Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_STRING = "tag:yaml.org,2002:str"


class _GoDumper(_Dumper):
    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        tag = implied_tag(kind, value, implicit)
        return tag if tag != _STRING else str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]

    def ignore_aliases(self, data: Any) -> bool:
        return True


def to_yaml(data: Any, *, ascii_only: bool = True, flow: bool = False) -> str:
    """A JSON value as YAML with a final newline; keys keep their order. ``flow``: in brackets and braces."""
    return yaml.dump(
        data,
        Dumper=_GoDumper,
        sort_keys=False,
        default_flow_style=flow,
        allow_unicode=not ascii_only,
        width=1_000_000,
    )

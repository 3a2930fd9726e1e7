"""YAML that Kubernetes reads as it was meant: a string that Go or Python would take for something else is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from crdcompat.yaml.loader import GoLoader

if TYPE_CHECKING:
    from yaml import CSafeDumper as _Dumper
    from yaml.nodes import Node
else:
    _Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_STRING = "tag:yaml.org,2002:str"


class _GoDumper(_Dumper):
    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        # Neither looks at anything but its arguments.
        told = GoLoader.resolve(self, kind, value, implicit)  # type: ignore[arg-type]
        return told if told != _STRING else str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]

    def ignore_aliases(self, data: Any) -> bool:
        return True


def to_yaml(data: Any, *, ascii_only: bool = True, flow: bool = False) -> str:
    """A JSON value as YAML, in the order of its keys; ends with a newline. ``flow``: in brackets and braces."""
    return yaml.dump(
        data,
        Dumper=_GoDumper,
        sort_keys=False,
        default_flow_style=flow,
        allow_unicode=not ascii_only,
        width=1_000_000,
    )

"""Widgets of two releases, for tests with a cluster: the newer release knows more values and one more field."""

from __future__ import annotations

from helpers import Json, array, obj, string

WIDGETS = "/apis/example.com/v1/widgets"
OLD = obj(spec=obj(mode=string("a", "b")), status=obj(phase=string("Ready"), seen=array(string())))
NEW = obj(
    spec=obj(mode=string("a", "b", "c"), size={"type": "integer"}),
    status=obj(phase=string("Ready", "Paused"), seen=array(string())),
)
GADGET = obj(spec=obj(mode=string("a")))


def widget(name: str, manager: str = "", **parts: Json) -> Json:
    """A stored Widget; ``manager`` wrote each member of its parts."""
    metadata: Json = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "7"}
    if manager:
        fields: Json = {f"f:{part}": {f"f:{key}": {} for key in value} for part, value in parts.items()}
        metadata["managedFields"] = [{"manager": manager, "operation": "Update", "fieldsV1": fields}]
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **parts}

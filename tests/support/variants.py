"""Variants of one CRD in a tree, told apart by annotations: feature set, cluster profile, channel."""

from __future__ import annotations

from pathlib import Path

from helpers import Json, crd, obj, root, string, write

SET, PROFILE = "release.openshift.io/feature-set", "include.release.openshift.io/"
CHANNEL = "gateway.networking.k8s.io/channel"


def variant(*enum: str, **annotations: str) -> Json:
    """A CRD with an enum in status; annotations by short name."""
    named = {"set": SET, "channel": CHANNEL}
    notes = {named.get(key, PROFILE + key.replace("_", "-")): value for key, value in annotations.items()}
    return crd(root(spec=obj(a=string()), status=obj(phase=string(*enum))), annotations=notes)


def tree(folder: Path, **files: Json) -> Path:
    """Documents by path below ``folder``, with ``__`` for the slash."""
    for name, data in files.items():
        write(folder / f"{name.replace('__', '/')}.yaml", data)
    return folder


def default_and_preview(folder: Path, default: str, preview: str) -> Path:
    """Two documents: the enum of the set Default, and that of the sets that no release can leave."""
    return tree(
        folder,
        default=variant(*default, set="Default", ha="true"),
        preview=variant(*preview, set="TechPreviewNoUpgrade,CustomNoUpgrade", ha="true"),
    )

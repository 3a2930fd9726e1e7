"""simulate: the context whose CRDs judge the objects, and the feature set of the recorded cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, simulate, string, write

_PREVIEW = "TechPreviewNoUpgrade"
_WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "n", "uid": "w"}}


def _gate(feature_set: str) -> Json:
    spec = {"featureSet": feature_set} if feature_set else {}
    metadata = {"name": "cluster", "uid": feature_set}
    return {"apiVersion": "config.openshift.io/v1", "kind": "FeatureGate", "metadata": metadata, "spec": spec}


def _warnings(tmp_path: Path, variants: tuple[str, ...], *args: str) -> list[str]:
    """The warnings of a replay of `o.yaml` on CRDs for these feature sets ("": for all)."""
    for side in ("old", "new"):
        for name in variants:
            notes = {"release.openshift.io/feature-set": name} if name else {}
            schema = root(spec=obj(mode=string()))
            write(tmp_path / side / f"w{name}.yaml", crd(schema, annotations=notes))
    report = simulate("old", "new", "--objects", "o.yaml", *args, cwd=tmp_path)
    return [note for note in report["notes"] if note.startswith("warning")]


@pytest.mark.parametrize(
    ("shown", "named"),
    [
        pytest.param((), "", id="no feature set is shown"),
        pytest.param(("",), "", id="that of the context"),
        pytest.param((_PREVIEW,), _PREVIEW, id="another one"),
        pytest.param((_PREVIEW, ""), "", id="of two clusters"),
    ],
)
def test_the_cluster_has_another_feature_set(tmp_path: Path, shown: tuple[str, ...], named: str) -> None:
    write(tmp_path / "o.yaml", _WIDGET, *map(_gate, shown))
    said = (
        f"warning: the cluster has the feature set {named}, and the CRDs of context Default/default judge its objects: "
        "choose another context with --context"
    )
    assert _warnings(tmp_path, ("Default", _PREVIEW)) == ([said] if named else [])


def test_a_chosen_context_needs_no_warning(tmp_path: Path) -> None:
    write(tmp_path / "o.yaml", _WIDGET, _gate(_PREVIEW))
    assert _warnings(tmp_path, ("Default", _PREVIEW), "--context", "Default/default") == []


def test_crds_without_variants_need_no_warning(tmp_path: Path) -> None:
    write(tmp_path / "o.yaml", _WIDGET, _gate(_PREVIEW))
    assert _warnings(tmp_path, ("",)) == []

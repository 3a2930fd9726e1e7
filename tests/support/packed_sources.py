"""Charts, bundles, catalogs and images of one CRD, as the programs that make them write them."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Files = Mapping[str, bytes]
WIDGETS = "widgets.example.com"


def widgets(*phases: str) -> bytes:
    """A CRD whose status.phase is one of these."""
    return f"""apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {WIDGETS}}}
spec:
  group: example.com
  names: {{kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {{type: object, properties: {{phase: {{type: string, enum: [{", ".join(phases)}]}}}}}}
""".encode()


OLD, NEW = widgets("Pending", "Ready"), widgets("Pending", "Ready", "Failed")


def tar(files: Files, mode: str = "w", links: Mapping[str, str] | None = None) -> bytes:
    """A tar archive of these files, in their order, and of symbolic links."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return packed.getvalue()


def zipped(files: Files) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def chart(crd: bytes, version: str = "1.0.0") -> dict[str, bytes]:
    """The files of a chart, as ``helm package`` orders them."""
    facts = f"apiVersion: v2\nname: widgets\nversion: {version}\n".encode()
    templates = {"widgets/templates/rbac.yaml": b"{{ if .Values.rbac }}\nkind: Role\n{{ end }}\n"}
    return {
        "widgets/Chart.yaml": facts,
        "widgets/values.yaml": b"rbac: true\n",
        "widgets/crds/w.yaml": crd,
        **templates,
    }


def bundle(crd: bytes) -> dict[str, bytes]:
    """The files of an OLM bundle."""
    mark = "operators.operatorframework.io.bundle"
    annotations = f"annotations:\n  {mark}.package.v1: widgets\n  {mark}.manifests.v1: manifests/\n"
    csv = b"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: widgets.v1}\n"
    return {"metadata/annotations.yaml": annotations.encode(), "manifests/csv.yaml": csv, "manifests/w.yaml": crd}


def catalog(releases: Mapping[str, bytes], edges: Mapping[str, Mapping[str, Any]] | None = None) -> bytes:
    """A catalog of the package ``widgets`` as JSON documents, with its CRDs in base64."""
    entries = [{"name": f"widgets.v{version}", **(edges or {}).get(version, {})} for version in releases]
    documents: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "widgets", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "widgets", "name": "stable", "entries": entries},
    ]
    for version, crd in releases.items():
        facts = {"type": "olm.package", "value": {"packageName": "widgets", "version": version}}
        data = {"type": "olm.bundle.object", "value": {"data": base64.b64encode(crd).decode()}}
        named = {"name": f"widgets.v{version}", "package": "widgets", "image": f"quay.example/widgets:{version}"}
        documents.append({"schema": "olm.bundle", **named, "properties": [facts, data]})
    return "\n".join(map(json.dumps, documents)).encode()


CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_SIGNATURE = "application/vnd.cncf.helm.chart.provenance.v1.prov"


def layout(*layers: bytes, platforms: Iterable[str] = (), chart: str = "") -> dict[str, bytes]:
    """An OCI layout of one image with these layers, or of one for each platform.

    With ``chart``, the media type of its content, it is the artifact of a signed Helm chart, as ``helm push`` makes it.
    """
    blobs: dict[str, bytes] = {}

    def stored(data: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"digest": f"sha256:{digest}", "size": len(data)}

    manifest: dict[str, Any] = {"schemaVersion": 2, "layers": [stored(layer) for layer in layers]}
    if chart:
        config = {"mediaType": "application/vnd.cncf.helm.config.v1+json", **stored(b'{"name": "widgets"}')}
        content = [{"mediaType": chart, **each} for each in manifest["layers"]]
        manifest |= {"config": config, "layers": [{"mediaType": _SIGNATURE, **stored(b"signed")}, *content]}
    found = []
    for platform in tuple(platforms) or ("",):
        system, _, machine = platform.partition("/")
        data = json.dumps({**manifest, "annotations": {"for": platform}}).encode()
        found.append({**stored(data), **({"platform": {"os": system, "architecture": machine}} if platform else {})})
    index = {"schemaVersion": 2, "manifests": found}
    if platforms:
        index = {"schemaVersion": 2, "manifests": [stored(json.dumps(index).encode())]}
    return {**blobs, "index.json": json.dumps(index).encode(), "oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}


def docker(*layers: bytes) -> dict[str, bytes]:
    """What ``docker save`` writes for one image."""
    named = {f"{hashlib.sha256(layer).hexdigest()}/layer.tar": layer for layer in layers}
    manifest = [{"Config": "c.json", "RepoTags": ["widgets:1.0"], "Layers": list(named)}]
    return {**named, "manifest.json": json.dumps(manifest).encode()}


def folder(top: Path, files: Files) -> Path:
    """Write files below a folder."""
    for name, data in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    top.mkdir(parents=True, exist_ok=True)
    return top

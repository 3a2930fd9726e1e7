"""Images that contradict their digests or sizes are refused; images of other platforms are named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, Run, run
from packed_sources import CHART_LAYER, NEW, OLD, chart, docker, folder, layout, tar

Blobs = dict[str, bytes]
_PLATFORMS = ("linux/arm64", "linux/amd64", "linux/s390x")


def _path(descriptor: Any) -> str:
    return f"blobs/sha256/{descriptor['digest'].removeprefix('sha256:')}"


def _index(files: Blobs) -> Any:
    """The inner index of an image for several platforms."""
    return json.loads(files[_path(json.loads(files["index.json"])["manifests"][0])])


def _manifest(files: Blobs, at: int = 1) -> str:
    return _path(_index(files)["manifests"][at])


def _stored(files: Blobs, data: Any) -> dict[str, Any]:
    """Store a description under its digest; returns its descriptor."""
    text = json.dumps(data).encode()
    digest = hashlib.sha256(text).hexdigest()
    files[f"blobs/sha256/{digest}"] = text
    return {"digest": f"sha256:{digest}", "size": len(text)}


def _again(files: Blobs, manifest: Any, **entry: Any) -> None:
    """The image with another manifest, whose digests and sizes are right but for those of ``entry``."""
    files["index.json"] = json.dumps({"manifests": [{**_stored(files, manifest), **entry}]}).encode()


def _other_manifest(files: Blobs) -> str:
    path = _manifest(files)
    files[path] = json.dumps({**json.loads(files[path]), "annotations": {"for": "me"}}).encode()
    return f"{path} is damaged: its content does not match its digest"


def _manifest_of_another_platform(files: Blobs) -> str:
    path = _manifest(files, 2)
    files[path] += b" "
    return f"{path} is damaged: its content does not match its digest"


def _other_index(files: Blobs) -> str:
    path = _path(json.loads(files["index.json"])["manifests"][0])
    files[path] += b"\n"
    return f"{path} is damaged: its content does not match its digest"


def _blob_that_is_no_description(files: Blobs) -> str:
    path = f"blobs/sha256/{'0' * 64}"
    files[path] = b"signed"
    return f"{path} is damaged: its content does not match its digest"


def _other_layer(files: Blobs) -> str:
    path = _path(json.loads(files[_manifest(files)])["layers"][0])
    files[path] = tar({"manifests/w.yaml": NEW})
    return f"{path} is damaged: its content does not match its digest"


def _size_of_the_manifest(files: Blobs) -> str:
    path = _manifest(files)
    manifest = json.loads(files[path])
    _again(files, manifest, size=1)
    entry = json.loads(files["index.json"])["manifests"][0]
    return f"{_path(entry)} is damaged: it has {len(files[_path(entry)])} bytes, and its descriptor says 1"


def _size_of_a_layer(files: Blobs) -> str:
    manifest = json.loads(files[_manifest(files)])
    layer = manifest["layers"][0]
    said = layer["size"] - 1
    _again(files, {**manifest, "layers": [{**layer, "size": said}]})
    return f"{_path(layer)} is damaged: it has {layer['size']} bytes, and its descriptor says {said}"


def _size_of_the_config(files: Blobs) -> str:
    manifest = json.loads(files[_manifest(files)])
    config = _stored(files, {"architecture": "amd64"})
    _again(files, {**manifest, "config": {**config, "size": 0}})
    return f"{_path(config)} is damaged: it has {config['size']} bytes, and its descriptor says 0"


def _no_size(files: Blobs) -> str:
    _again(files, json.loads(files[_manifest(files)]), size="9")
    return "a descriptor with a size that is none: damaged"


def _config_of_docker(files: Blobs) -> str:
    files.clear()
    files.update(docker(tar({"manifests/w.yaml": OLD})))
    path = f"{'1' * 64}.json"
    files[path] = b"{}"
    return f"{path} is damaged: its content does not match its digest"


def _layer_of_a_chart(files: Blobs) -> str:
    files.clear()
    files.update(layout(tar(chart(OLD), "w:gz"), chart=CHART_LAYER))
    manifest = json.loads(files[_path(json.loads(files["index.json"])["manifests"][0])])
    layer = manifest["layers"][1]
    _again(files, {**manifest, "layers": [{**layer, "size": 7}]})
    return f"{_path(layer)} is damaged: it has {layer['size']} bytes, and its descriptor says 7"


def _diff(name: Path) -> Run:
    return run("diff", "empty:", f"oci:{name}", "--format", "json")


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize(
    "damage",
    [
        _other_manifest, _manifest_of_another_platform, _other_index, _blob_that_is_no_description, _other_layer,
        _size_of_the_manifest, _size_of_a_layer, _size_of_the_config, _no_size, _config_of_docker, _layer_of_a_chart,
    ],
)  # fmt: skip
def test_a_contradiction_is_refused(tmp_path: Path, damage: Callable[[Blobs], str], packed: bool) -> None:
    files = layout(tar({"manifests/w.yaml": OLD}), platforms=_PLATFORMS)
    said = damage(files)
    name = tmp_path / "image"
    if packed:
        name.write_bytes(tar(files))
    else:
        folder(name, files)
    ran = _diff(name)
    assert (ran.code, ran.out, ran.err) == (2, "", f"crdcompat: oci:{name}: {said}\n")


def test_images_of_other_platforms_are_named(tmp_path: Path) -> None:
    name = folder(tmp_path / "image", layout(tar({"manifests/w.yaml": OLD}), platforms=_PLATFORMS))
    ran = _diff(name)
    left = "not read, and not compared: linux/arm64, linux/s390x"
    assert ran.report["new"]["notes"] == [f"oci:{name}: image linux/amd64 of 3; {left}"]


@pytest.mark.parametrize("entry", [{"annotations": {"vnd.docker.reference.type": "a"}}, {"os": "unknownix"}])
def test_an_image_of_a_platform_is_no_attestation(tmp_path: Path, entry: Json) -> None:
    files = layout(tar({"manifests/w.yaml": OLD}), platforms=_PLATFORMS)
    index = _index(files)
    if "os" in entry:
        index["manifests"][0]["platform"] |= entry
    else:
        index["manifests"][0] |= entry
    files["index.json"] = json.dumps({"manifests": [_stored(files, index)]}).encode()
    (note,) = _diff(folder(tmp_path / "image", files)).report["new"]["notes"]
    assert note.endswith(f"not compared: {'unknownix' if 'os' in entry else 'linux'}/arm64, linux/s390x")


def test_sizes_may_be_left_out(tmp_path: Path) -> None:
    files = layout(tar({"manifests/w.yaml": OLD}))
    index = json.loads(files["index.json"])
    del index["manifests"][0]["size"]
    files["index.json"] = json.dumps(index).encode()
    assert _diff(folder(tmp_path / "image", files)).report["summary"]["crds"]["new"] == 1

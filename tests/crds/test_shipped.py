"""The payload of a tree overrides the source manifests of the CRDs in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, commit, crd, git, obj, run, string, version, write

from crdcompat.crds.reader import CrdReader
from crdcompat.sources.files import PathTree

SOURCE, PAYLOAD = "foo/v1/zz_generated.crd-manifests/widgets.yaml", "payload-manifests/crds/widgets.crd.yaml"


def _schema(*enum: str) -> Json:
    return obj(status=obj(phase=string(*enum)))


def _tree(folder: Path, files: dict[str, Any]) -> Path:
    for name, document in files.items():
        write(folder / name, document)
    return folder


def _read(folder: Path, **options: Any) -> tuple[list[str], list[tuple[str, str]]]:
    found = CrdReader(**options).read(PathTree("tree", str(folder)))
    return [item.file for item in found.documents], [(item.file, item.reason) for item in found.skipped]


def test_the_payload_overrides_sources_of_its_crds_alone(tmp_path: Path) -> None:
    other = "bar/v1/gadgets.yaml"
    tree = _tree(
        tmp_path, {SOURCE: crd(_schema("A")), PAYLOAD: crd(_schema("A")), other: crd(_schema("A"), kind="Gadget")}
    )
    assert _read(tree) == ([other, PAYLOAD], [(SOURCE, "source of a CRD that the payload contains")])


def test_configured_globs_replace_the_default(tmp_path: Path) -> None:
    tree = _tree(tmp_path, {SOURCE: crd(_schema("A")), PAYLOAD: crd(_schema("A"))})
    assert _read(tree, ships=()) == ([SOURCE, PAYLOAD], [])
    assert _read(tree, ships=("foo/*",)) == (
        [SOURCE],
        [(PAYLOAD, "source of a CRD that the payload contains")],
    )


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose payload has one of two versions of the sources."""
    git(tmp_path, "init", "-q", "-b", "main")
    sources = {f"foo/{name}/widgets.yaml": crd(versions=[version(_schema("A"), name)]) for name in ("v1", "v1alpha1")}
    commit(tmp_path, {**sources, PAYLOAD: crd(versions=[version(_schema("A"), "v1")])})
    return tmp_path


def _check(repo: Path) -> tuple[int, list[tuple[str, str, str]]]:
    import json

    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--repo", repo, "--format", "json")
    findings = [item for section in json.loads(ran.out)["sections"] for item in section["findings"]]
    return ran.code, [(item["direction"], item["rule"], item["locations"][0]["file"]) for item in findings]


def _message(repo: Path) -> str:
    """The message of the only finding."""
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--repo", repo, "--format", "json")
    (finding,) = ran.report["sections"][0]["findings"]
    return str(finding["message"])


def _remark(side: str) -> str:
    return f"(unless another component ships it: {side} has its sources, outside of the payload)"


def test_a_source_that_does_not_ship_gives_no_finding(repo: Path) -> None:
    commit(repo, {"foo/v1alpha1/widgets.yaml": None})
    assert _check(repo) == (0, [])


def test_a_change_of_the_payload_is_found_there(repo: Path) -> None:
    commit(repo, {PAYLOAD: crd(versions=[version(_schema("A", "B"), "v1")])})
    code, findings = _check(repo)
    assert (code, {rule for _, rule, _ in findings}) == (1, {"enum-value-added"})
    assert {file for *_, file in findings} == {PAYLOAD}


def test_a_crd_that_enters_the_payload_is_compared_with_the_sources_that_ship(repo: Path) -> None:
    gadgets = {
        f"bar/{name}/gadgets.yaml": crd(kind="Gadget", versions=[version(_schema("A"), name)]) for name in ("v1", "v2")
    }
    commit(repo, gadgets)
    commit(repo, {"payload-manifests/crds/gadgets.crd.yaml": gadgets["bar/v2/gadgets.yaml"]})
    assert _check(repo) == (0, [("rollback", "crd-added", "payload-manifests/crds/gadgets.crd.yaml")])
    assert _remark("the API before this change") in _message(repo)


def test_a_crd_that_enters_the_payload_in_more_feature_sets_is_new_there(repo: Path) -> None:
    annotated = {"annotations": {"release.openshift.io/feature-set": "TechPreviewNoUpgrade"}}
    gadgets, gizmos = (crd(kind=kind, versions=[version(_schema("A"))]) for kind in ("Gadget", "Gizmo"))
    preview = [{**each, "metadata": {**each["metadata"], **annotated}} for each in (gadgets, gizmos)]
    commit(repo, {"bar/v1/gadgets.yaml": preview[0], "bar/v1/gizmos.yaml": preview[1]})
    commit(repo, {"payload-manifests/crds/gadgets.crd.yaml": gadgets})
    assert _check(repo) == (0, [("rollback", "crd-added", "payload-manifests/crds/gadgets.crd.yaml")])
    assert "another component" not in _message(repo)  # in Default


def test_a_crd_that_leaves_the_payload_is_removed_though_its_sources_stay(repo: Path) -> None:
    other = {"payload-manifests/crds/gadgets.crd.yaml": crd(_schema("A"), kind="Gadget")}
    commit(repo, other)
    commit(repo, {PAYLOAD: None})
    assert _check(repo) == (1, [("upgrade", "crd-removed", PAYLOAD)])
    assert _remark("this change") in _message(repo)

"""What makes the verdict on a change unknown, exit code 2, and what ordinary changes are not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from changes import repository, widget
from helpers import Json, Run, commit, crd, git, obj, root, run, string

Files = Mapping[str, Any]

_WIDGET, _GADGET = widget("A"), crd(root(spec=obj(a=string())), kind="Gadget")
_WIDER = crd(root(spec=obj(a=string(), b=string()), status=obj(p=string("A"))))
_ODD = crd(root(spec=obj(a=string(**{"x-odd": 1})), status=obj(p=string("A"))))
_GONE = "this change leaves no CRD, or only where none is looked for (vendor/, `include`, `exclude`)"


def _changed(at: Path, base: Files, head: Files, target: Files | None = None, config: Json | None = None) -> Path:
    """A repository whose last commit turns the files ``base`` into ``head``; the branch ``old`` has ``target``."""
    repo, before = repository(at), dict[str, Any]()
    if config is not None:
        base = {**base, ".crdcompat.yaml": json.dumps(config)}
    for name, files in (("old", target), ("", base), ("", head)):
        if files is None:
            continue
        gone = {file: None for file in before if file not in files and file != ".crdcompat.yaml"}
        commit(repo, {**files, **gone, "README": f"{len(before)} {name} {sorted(files)}"})
        before = dict(files)
        if name:
            git(repo, "branch", name)
    return repo


def _checked(repo: Path, *args: str) -> Run:
    return run("check", "--base", "HEAD~1", "--head", "HEAD", *args, cwd=repo)


@pytest.mark.parametrize(
    ("base", "head", "why"),
    [
        ({"w.yaml": _WIDGET}, {"w.yaml": _ODD}, "widgets.example.com/v1 spec.a: x-odd: no rule of this version judges"),
        ({"w.yaml": _WIDGET}, {}, _GONE),
        ({"w.yaml": _WIDGET}, {"vendor/w.yaml": _WIDGET}, _GONE),
        (
            {"w.yaml": _WIDGET},
            {"w.yaml": _WIDGET, "kustomization.yaml": {"patches": [{"target": {"kind": "CustomResourceDefinition"}}]}},
            "kustomization.yaml: patches: only kustomize build tells what it makes of CRDs",
        ),
    ],
    ids=["an undecided difference", "the only CRD removed", "moved to vendor/", "a patch"],
)
def test_what_is_unknown(tmp_path: Path, base: Files, head: Files, why: str) -> None:
    """Also where nobody minds the removal of a CRD."""
    repo = _changed(tmp_path, base, head)
    ran = _checked(repo, "--ignore", "crd-removed")
    assert (ran.code, f"This change: UNKNOWN (not judged: {why}" in ran.out.replace("\n  ", " ")) == (2, True), ran.out
    allowed = _checked(repo, "--ignore", "crd-removed", "--allow-unknown", "--format", "json")
    assert (allowed.code, allowed.report["verdict"], allowed.report["allowed_by"]) == (0, "unknown", "--allow-unknown")
    assert _checked(repo).code in (1, 2)
    assert _checked(repo, "--fail-on", "never").code == 0


@pytest.mark.parametrize("target", [{"x": "y"}, {"x.yaml": "a: 1"}], ids=["no manifest", "other manifests"])
def test_a_target_without_crds_is_unknown(tmp_path: Path, target: Files) -> None:
    ran = _checked(_changed(tmp_path, {"w.yaml": _WIDGET}, {"w.yaml": _WIDER}, target), "--target", "old")
    assert (ran.code, "This change: UNKNOWN (not judged: no CRD in old)\n" in ran.out) == (2, True)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, (0, "clean")),
        ({"rollback_targets": ["v0.1.0"]}, (2, "unknown")),
        ({"exclude": ["other/*"]}, (2, "unknown")),
    ],
    ids=["found", "configured", "found, and files are left out"],
)
def test_a_release_from_before_the_first_crd_is_unknown_only_where_somebody_named_it(
    tmp_path: Path, config: Json, expected: tuple[int, str]
) -> None:
    """A repository has the tag v0.1.0 without a CRD, then CRDs, then a change that gives them a field."""
    repo = _changed(tmp_path, {"w.yaml": _WIDGET}, {"w.yaml": _WIDER}, {"x": "y"}, config)
    git(repo, "tag", "v0.1.0", "old")
    ran = _checked(repo, "--format", "json")
    assert [each["old"]["name"] for each in ran.report["sections"]][1:] == ["v0.1.0"]
    assert (ran.code, ran.report["verdict"]) == expected


@pytest.mark.parametrize(
    ("base", "head", "target", "verdict"),
    [
        ({}, {"w.yaml": _WIDGET}, None, "clean"),
        ({}, {"w.yaml": _WIDGET}, {"x": "y"}, "clean"),
        ({"g.yaml": _GADGET}, {"g.yaml": _GADGET, "w.yaml": _WIDGET}, {"g.yaml": _GADGET}, "clean"),
        ({"w.yaml": _WIDGET}, {"w.yaml": _WIDER}, {"g.yaml": _GADGET}, "clean"),
        ({"w.yaml": _WIDGET, "x.yaml": "a: 1"}, {"w.yaml": _WIDGET}, {"w.yaml": _WIDGET}, "clean"),
        ({"w.yaml": _WIDGET, "vendor/g.yaml": _GADGET}, {"w.yaml": _WIDGET}, None, "clean"),
    ],
    ids=[
        "the first CRD", "the first CRD, and none in the target", "a second CRD", "a target without this CRD",
        "an unrelated file removed", "a CRD that does not ship removed",
    ],
)  # fmt: skip
def test_what_ordinary_changes_are(
    tmp_path: Path, base: Files, head: Files, target: Files | None, verdict: str
) -> None:
    repo = _changed(tmp_path, base, head, target)
    ran = _checked(repo, *(("--target", "old") if target is not None else ()), "--format", "json")
    assert (ran.code, ran.report["verdict"]) == (0, verdict)


@pytest.mark.parametrize("target", [None, {"w.yaml": _WIDGET, "g.yaml": _GADGET}])
def test_one_of_several_crds_removed_is_a_finding(tmp_path: Path, target: Files | None) -> None:
    """Where the others are not read, too."""
    repo = _changed(tmp_path, {"w.yaml": _WIDGET, "g.yaml": _GADGET}, {"g.yaml": _GADGET}, target)
    report = _checked(repo, *(("--target", "old") if target is not None else ()), "--format", "json").report
    assert {each["rule"] for section in report["sections"] for each in section["findings"]} == {"crd-removed"}
    assert report["verdict"] != "unknown"


# -- what the configuration and the waivers name ---------------------------------------------


@pytest.mark.parametrize(
    ("config", "leave"),
    [
        ({"include": ["crds/*"]}, "`include` of {} leaves"),
        ({"exclude": ["*.yaml"]}, "`exclude` of {} leaves"),
        ({"include": ["crds/*"], "exclude": ["x/*"]}, "`include` and `exclude` of {} leave"),
    ],
)
def test_globs_that_leave_no_crd(tmp_path: Path, config: Json, leave: str) -> None:
    repo = _changed(tmp_path, {"w.yaml": _WIDGET}, {"w.yaml": _WIDER}, config=config)
    ran = _checked(repo, "--format", "json")
    said = f"not judged: {leave.format(repo / '.crdcompat.yaml')} none of the CRDs in this change"
    assert (ran.code, ran.report["verdict"], ran.report["sections"]) == (2, "unknown", [])
    text = _checked(repo).out
    assert f"This change: UNKNOWN ({said})\n" in text
    for form in ("markdown", "html", "junit"):
        assert said.partition("/")[0] in _checked(repo, "--format", form).out, form


@pytest.mark.parametrize(
    ("files", "config"),
    [
        ({"w.yaml": _WIDER, "g.yaml": _GADGET}, {"exclude": ["w.yaml"]}),
        ({"w.yaml": _WIDGET, "x.yaml": "a: 1"}, {"include": ["crds/*"]}),
    ],
    ids=["another CRD is left", "no CRD changed"],
)
def test_globs_that_leave_what_counts(tmp_path: Path, files: Files, config: Json) -> None:
    before = {"w.yaml": _WIDGET, **({"g.yaml": _GADGET} if "g.yaml" in files else {})}
    ran = _checked(_changed(tmp_path, before, files, config=config), "--format", "json")
    assert (ran.code, ran.report["verdict"]) == (0, "clean")


def test_a_file_that_is_left_out_may_be_missing(tmp_path: Path) -> None:
    """A partial clone lacks files; crdcompat does not read one that does not count."""
    before, after = {"w.yaml": _WIDGET, "x/g.yaml": _GADGET}, {"w.yaml": _WIDER, "x/g.yaml": _ODD, "x/new.tpl": [_ODD]}
    repo = _changed(tmp_path, before, after, config={"exclude": ["x/*"]})
    whole = _checked(repo, "--format", "json").report
    for name in ("HEAD:x/g.yaml", "HEAD~1:x/g.yaml", "HEAD:x/new.tpl"):
        oid = git(repo, "rev-parse", name)
        (repo / ".git/objects" / oid[:2] / oid[2:]).unlink()
    ran = _checked(repo, "--format", "json")
    assert (ran.code, ran.report["files"]) == (0, whole["files"]), ran.err
    assert [(each["file"], each["reason"]) for each in ran.report["files"] if each["reason"]] == [
        ("x/g.yaml", "left out by `include` or `exclude`")
    ]


def test_a_key_that_is_no_branch_is_said(tmp_path: Path) -> None:
    config = {"rollback_targets": {"mian": ["old"], "old": []}}
    repo = _changed(tmp_path, {"w.yaml": _WIDGET}, {"w.yaml": _WIDER}, {"w.yaml": _WIDGET}, config)
    report = _checked(repo, "--format", "json").report
    said = [note for note in report["notes"] if "is no branch" in note]
    assert said == ["rollback_targets: 'mian' is no branch of this repository (or it is not fetched)"]
    assert report["verdict"] == "clean"  # the change itself is judged


def test_a_waiver_that_names_no_crd_is_said(tmp_path: Path) -> None:
    """That of a CRD whose file no comparison needs is not."""
    entry = {"rule": "property-added", "version": "v1", "direction": "rollback", "path": "spec.b", "reason": "a"}
    names = ("widgets", "gadgets", "wigdets")
    waivers = {"waivers": [{**entry, "crd": f"{name}.example.com"} for name in names]}
    files = {"g.yaml": _GADGET, ".crdcompat-waivers.yaml": json.dumps(waivers)}
    repo = _changed(tmp_path, {"w.yaml": _WIDGET, **files}, {"w.yaml": _WIDER, **files}, {"w.yaml": _WIDGET})
    ran = _checked(repo, "--target", "old", "--format", "json")
    (said,) = ran.report["waivers"]
    assert said.startswith("nothing: .crdcompat-waivers.yaml:1: ")
    assert said.endswith(": no CRD has the name wigdets.example.com: correct it, or take the waiver out")
    assert ran.code == 0


# -- a base that is worse than the release ---------------------------------------------


def test_a_change_that_mends_the_base_is_judged_by_the_release(tmp_path: Path) -> None:
    """The base refuses a value that the release has, and the change takes it again."""
    base, mended = widget("A"), widget("A", "B")
    repo = _changed(tmp_path, {"w.yaml": base}, {"w.yaml": mended}, {"w.yaml": mended})
    report = _checked(repo, "--target", "old", "--format", "json").report
    assert {each["status"] for each in report["sections"][0]["findings"]} == {"unreleased"}
    assert (report["sections"][1]["findings"], report["verdict"]) == ([], "clean")
    assert _checked(repo).code == 1  # without the release, the base is all there is


_SCAFFOLDED: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}},
}
_AT_CRDS = {"target": {"kind": "CustomResourceDefinition", "name": "widgets.example.com"}}
_ADDS = '[{"op": "add", "path": "/spec/conversion", "value": {"strategy": "Webhook"}}]'
_LISTS: Json = {"resources": ["w.yaml"]}


def _of_versions(*names: str) -> Json:
    made = crd(root(spec=obj(a=string())))
    (only,) = made["spec"]["versions"]
    made["spec"]["versions"] = [{**only, "name": name, "storage": name == names[0]} for name in names]
    return made


@pytest.mark.parametrize(
    ("versions", "patches", "fragment", "why"),
    [
        (["v1"], [{"path": "p.yaml"}], _SCAFFOLDED, ""),
        (["v1"], [], _SCAFFOLDED, ""),
        (["v1"], [{**_AT_CRDS, "patch": _ADDS}], None, ""),
        (["v1"], [{"path": "p.yaml", **_AT_CRDS}], {**_SCAFFOLDED, "metadata": {"name": "any"}}, "p.yaml: fragment"),
        (["v1", "v2"], [], _SCAFFOLDED, "p.yaml: fragment"),
        (["v1", "v2"], [{**_AT_CRDS, "patch": _ADDS}], None, "kustomization.yaml: patches"),
        (["v1"], [{**_AT_CRDS, "patch": _ADDS.replace("conversion", "conversions")}], None, "kustomization.yaml"),
        (["v1"], [{"target": {"kind": "CustomResourceDefinition"}, "patch": _ADDS}], None, "kustomization.yaml"),
        (["v1"], [], {**_SCAFFOLDED, "metadata": {"name": "gadgets.example.com"}}, "p.yaml: fragment"),
        (["v1"], [], {**_SCAFFOLDED, "spec": {**_SCAFFOLDED["spec"], "scope": "Cluster"}}, "p.yaml: fragment"),
    ],
    ids=[
        "a scaffolded patch", "one that nothing lists", "a patch in JSON", "a patch of another name",
        "two versions", "two versions, in JSON", "another field", "each CRD", "another CRD", "more than a conversion",
    ],
)  # fmt: skip
def test_a_conversion_of_a_single_version(
    tmp_path: Path, versions: list[str], patches: list[Json], fragment: Json | None, why: str
) -> None:
    """A server never converts the objects of a CRD with one version. The patch comes, and goes again."""
    base: Files = {"w.yaml": _of_versions(*versions), "kustomization.yaml": _LISTS}
    head = {**base, "kustomization.yaml": {**_LISTS, "patches": patches}, **({"p.yaml": fragment} if fragment else {})}
    for index, sides in enumerate([(base, head), (head, base)]):
        (folder := tmp_path / str(index)).mkdir()
        ran = _checked(_changed(folder, *sides))
        assert (ran.code, f"UNKNOWN (not judged: {why}" in ran.out) == ((2, True) if why else (0, False)), ran.out


@pytest.mark.parametrize(("also", "code"), [({}, 0), ({"all/kustomization.yaml": {"resources": ["../test/e2e"]}}, 2)])
def test_what_only_a_test_installs_is_not_unknown(tmp_path: Path, also: Files, code: int) -> None:
    """The e2e tests of metal3 install a release of another operator from its URL."""
    of_test = {"resources": ["https://example.com/v1/install.yaml"]}
    base = {"w.yaml": _WIDGET, **also}
    repo = _changed(tmp_path, base, {**base, "test/e2e/kustomization.yaml": of_test})
    assert _checked(repo).code == code

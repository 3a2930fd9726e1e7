"""Copies of one CRD that differ: each is compared with its counterpart, by folder, by content, by what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, commit, crd, git, obj, root, run, string, version, write

from crdcompat import load_crds
from crdcompat.crds import model
from crdcompat.crds.pairing import pair
from crdcompat.crds.without_texts import without_texts


def _copy(values: str) -> Json:
    """A CRD with an enum of letters in status; other letters are its description."""
    members = [letter for letter in values if letter.isupper()]
    text = {"description": values} if values != "".join(members) else {}
    return crd(root(status=obj(phase=string(*members, **text))))


def _sides(top: Path, old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Path, Path]:
    """Two trees with copies: top folder and letters."""
    for name, side in (("old", old), ("new", new)):
        for folder, values in side.items():
            write(top / name / folder / "widget.yaml", _copy(values))
    return top / "old", top / "new"


def _rollback(report: Json) -> list[tuple[str, str]]:
    """The errors in rollback: the values of OLD and those that NEW adds."""
    found = (each for each in report["findings"] if (each["direction"], each["severity"]) == ("rollback", "error"))
    return sorted(("".join(each["old"]), "".join(each["added"])) for each in found)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param({"config": "A", "bundle": "A"}, {"deploy": "AB", "bundle": "A"}, [("A", "B")], id="moved"),
        pytest.param({"config": "A"}, {"apart": "A", "deploy": "AB"}, [("A", "B")], id="moved and copied"),
        pytest.param({"config": "A", "bundle": "AB"}, {"deploy": "A", "bundle": "AB"}, [], id="moved as it is"),
        pytest.param(
            {"config": "A", "bundle": "AB"}, {"deploy": "AB", "bundle": "AB"}, [("A", "B")], id="moved, as another copy"
        ),
        pytest.param(
            {"config": "A", "bundle": "C"}, {"deploy": "AB", "charts": "C"}, [("A", "B")], id="two moved, one as it is"
        ),
        pytest.param(
            {"config": "A", "bundle": "A"}, {"config": "AB", "bundle": "A", "deploy": "AC"}, [("A", "B")], id="changed"
        ),
        pytest.param(
            {"config": "A", "bundle": "C"},
            {"config": "AB", "bundle": "C", "deploy": "AB"},
            [("A", "B")],
            id="added as a copy",
        ),
        pytest.param(
            {"pkg/crds/basic": "A", "pkg/crds/full": "C"},
            {"pkg/imports/crds/basic/v1": "AB", "pkg/imports/crds/full/v1": "CD"},
            [("A", "B"), ("C", "D")],
            id="two flavours that move and change",
        ),
        pytest.param(
            {"pkg/crds/basic": "A", "pkg/crds/full": "A"},
            {"pkg/imports/crds/basic/v1": "A", "pkg/imports/crds/full/v1": "AB"},
            [("A", "B")],
            id="two equal flavours that move, one of which changes",
        ),
        pytest.param({"config": "A"}, {"deploy": "AB", "charts": "AC"}, [("A", "B"), ("A", "C")], id="split"),
        pytest.param({"config": "A", "bundle": "C"}, {"deploy": "ABC"}, [("A", "BC"), ("C", "AB")], id="united"),
        pytest.param(
            {"config/a": "A", "config/b": "C"},
            {"config/a": "A", "config/b": "CD"},
            [("C", "D")],
            id="the second copy in a folder",
        ),
        pytest.param(
            {"config/a": "A", "config/b": "A"},
            {"config/a": "A", "config/b": "AB"},
            [("A", "B")],
            id="one of equal copies in a folder",
        ),
        pytest.param(
            {"a": "A", "config/a": "A", "config/b": "C"},
            {"a": "A", "deploy/a": "A", "deploy/b": "CD"},
            [("C", "D")],
            id="the second copy in a folder that moved",
        ),
        pytest.param({"a": "A", "b/b": "C"}, {"a": "A", "b": "CD"}, [("C", "D")], id="a level higher"),
        pytest.param(
            {"config/b/c": "C", "config/b/d": "E", "config/a": "A"},
            {"config/b/c": "C", "config/b/d": "EF", "config/a": "A"},
            [("E", "F")],
            id="three levels",
        ),
    ],
)
def test_copies_that_belong_together(
    tmp_path: Path, old: Mapping[str, str], new: Mapping[str, str], found: list[tuple[str, str]]
) -> None:
    ran = run("diff", *_sides(tmp_path, old, new), "--format", "json")
    assert (_rollback(ran.report), ran.code) == (found, 1 if found else 0)
    assert ran.report["summary"]["crds"]["unmatched"] == []
    verdict = run("matrix", "./old", "./new", "--format", "json", cwd=tmp_path).report["cells"]
    assert [each["verdict"] for each in verdict if each["direction"] == "rollback"] == ["blocked" if found else "clean"]


_TWO_MOVED = {"config": "A", "bundle": "C"}, {"deploy": "AB", "charts": "CD"}


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        pytest.param(*_TWO_MOVED, (["bundle", "config"], ["charts", "deploy"]), id="two moved"),
        pytest.param(
            {"config": "A", "bundle": "C", "docs": "E"},
            {"deploy": "AB", "docs": "E", "charts": "CD"},
            (["bundle", "config"], ["charts", "deploy"]),
            id="two moved, beside one that both sides have",
        ),
    ],
)
def test_copies_with_several_counterparts_are_not_compared(
    tmp_path: Path, old: Mapping[str, str], new: Mapping[str, str], left: tuple[list[str], list[str]]
) -> None:
    sides = _sides(tmp_path, old, new)
    ran = run("diff", *sides, "--format", "json")
    files = [[f"{folder}/widget.yaml" for folder in folders] for folders in left]
    assert ran.report["summary"]["crds"]["unmatched"] == [
        {"crd": "widgets.example.com", "old": files[0], "new": files[1]}
    ]
    assert (_rollback(ran.report), ran.code) == ([], 2)
    says = f"widgets.example.com: its copies differ, and nothing says which belong together: {', '.join(files[0])} in "
    assert says in ran.err
    assert says in run("diff", *sides, "-v").out.replace("\n    ", " ")
    cells = run("matrix", "./old", "./new", "--format", "json", cwd=tmp_path).report["cells"]
    assert {each["verdict"] for each in cells} == {"unknown"}


def _with(side: Path, **documents: tuple[Json, ...]) -> Path:
    for name, inside in documents.items():
        write(side / f"{name}.yaml", *inside)
    return side


def _annotated(values: str, **notes: str) -> Json:
    made = _copy(values)
    made["metadata"]["annotations"] = {"include.release.openshift.io/ha": "true", **notes}
    return made


_FEATURE_SET = {"release.openshift.io/feature-set": "Default"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            {"a": (_copy("A"),), "b": (_copy("C"),)},
            {"a": (_copy("A"),), "b": (_copy("CD"),)},
            id="beside each other",
        ),
        pytest.param({"a": (_copy("A"), _copy("C"))}, {"a": (_copy("A"), _copy("CD"))}, id="in one file"),
        pytest.param(
            {"a": (_annotated("A"),), "b": (_annotated("C"),)},
            {"a": (_annotated("A"),), "b": (_annotated("CD"),)},
            id="with one profile",
        ),
        pytest.param(
            {"a": (_annotated("A", **_FEATURE_SET),), "b": (_annotated("C"),)},
            {"a": (_annotated("A", **_FEATURE_SET),), "b": (_annotated("CD"),)},
            id="gives way everywhere",
        ),
    ],
)
def test_the_change_of_a_copy_that_loses_is_seen(
    tmp_path: Path, old: dict[str, tuple[Json, ...]], new: dict[str, tuple[Json, ...]]
) -> None:
    ran = run("diff", _with(tmp_path / "old", **old), _with(tmp_path / "new", **new), "--format", "json")
    assert (_rollback(ran.report), ran.code) == ([("C", "D")], 1)


_OBJECT = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"phase": "B"}}


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param(("AB", "A"), ("AB", "AB"), "rejected", id="another copy rejects"),
        pytest.param(("A", "AB"), ("AB", "AB"), "rejected", id="the first copy rejects"),
        pytest.param(("A", "A"), ("A", "AB"), "rejected", id="one copy of the writer accepts"),
        pytest.param(("AB", "ABC"), ("AB", "AB"), "accepted", id="all accept"),
        pytest.param(("A", "ABC"), ("A", "ABCD"), "accepted", id="each copy accepts what its own form wrote"),
    ],
)
def test_simulate_judges_by_each_copy(tmp_path: Path, old: tuple[str, str], new: tuple[str, str], verdict: str) -> None:
    sides = _sides(tmp_path, dict(zip("ab", old, strict=True)), dict(zip("ab", new, strict=True)))
    recorded = write(tmp_path / "objects.json", _OBJECT)
    ran = run("simulate", *sides, "--objects", recorded, "--format", "json")
    (item,) = ran.report["objects"]
    write_verdict = item["writes"]["status-update-touching"]
    assert (write_verdict["verdict"], ran.code) == (verdict, 1 if verdict == "rejected" else 0)
    told = run("diff", *sides, "--objects", recorded, "--direction", "rollback", "--format", "json")
    met = [each["severity"] for each in told.report["findings"] if each["evidence"]["recorded_objects"]]
    assert met == ["error"] * (verdict == "rejected")
    disagree = "copies of the CRD disagree (a/widget.yaml, b/widget.yaml)"
    assert (disagree in write_verdict["note"]) is (verdict == "rejected")


def test_copies_with_other_versions(tmp_path: Path) -> None:
    both = crd(versions=[version(root()), version(root(), "v2", storage=False)])
    one = crd(versions=[version(root())])
    old, new = _with(tmp_path / "old", a=(both,), b=(both,)), _with(tmp_path / "new", a=(both,), b=(one,))
    found = run("diff", old, new, "--format", "json").report["findings"]
    assert [(each["direction"], each["rule"], each["version"]) for each in found] == [
        ("upgrade", "version-removed", "v2")
    ]


def test_copies_that_differ_only_in_what_is_served(tmp_path: Path) -> None:
    served, hidden = (
        crd(versions=[version(root()), version(root(), "v2", storage=False, served=served)]) for served in (True, False)
    )
    old = _with(tmp_path / "old", a=(served,), b=(served,))
    new = _with(tmp_path / "new", a=(served,), b=(hidden,))
    found = run("diff", old, new, "--format", "json").report["findings"]
    assert [(each["direction"], each["rule"], each["version"]) for each in found] == [
        ("upgrade", "version-served-changed", "v2")
    ]


@pytest.mark.parametrize(
    ("old", "new", "alone"),
    [
        pytest.param({"config": "A"}, {"config": "A", "bundle": "AB"}, ["bundle"], id="added"),
        pytest.param({"config": "AB", "bundle": "A"}, {"config": "AB"}, ["bundle"], id="removed"),
        pytest.param(
            {"config": "Atext", "bundle": "A"},
            {"config": "Atext", "bundle": "A", "deploy": "AB"},
            ["deploy"],
            id="added beside copies that differ in texts",
        ),
        pytest.param({"config/a": "A"}, {"config/a": "A", "config/b": "AB"}, ["config/b"], id="added beside another"),
        pytest.param(
            {"config": "AB", "deploy/older": "AC", "deploy/oldest": "C", "deploy": "AB"},
            {"config": "AB", "deploy": "AB"},
            ["deploy/older", "deploy/oldest"],
            id="older forms removed",
        ),
    ],
)
def test_a_copy_that_one_side_alone_has_is_named_and_not_compared(
    tmp_path: Path, old: Mapping[str, str], new: Mapping[str, str], alone: list[str]
) -> None:
    """grafana-operator 5.21: a stale bundle goes; vertical-pod-autoscaler 1.8: four generations, and one stays."""
    ran = run("diff", *_sides(tmp_path, old, new), "--format", "json")
    assert (ran.report["findings"], ran.report["undecided"], ran.code) == ([], [], 0)
    assert [each["file"] for each in ran.report["summary"]["superseded"]] == [f"{each}/widget.yaml" for each in alone]


def test_what_comes_and_goes_in_an_archive_of_old_releases_has_not_moved(tmp_path: Path) -> None:
    """cloudnative-pg keeps the manifest of each release; a candidate gives way to the release."""
    archive = {"r1": (_copy("A"),), "r2": (_copy("AB"),)}
    old = _with(tmp_path / "old", **archive, rc3=(_copy("ABC"),))
    new = _with(tmp_path / "new", **archive, r3=(_copy("ABCD"),))
    write(old / "config" / "widget.yaml", _copy("C"))
    write(new / "deploy" / "widget.yaml", _copy("CE"))
    ran = run("diff", old, new, "--format", "json")
    assert (_rollback(ran.report), ran.code) == ([("C", "E")], 1)
    assert [each["file"] for each in ran.report["summary"]["superseded"]] == ["r3.yaml", "rc3.yaml"]


def test_a_copy_with_a_version_of_its_own_is_compared(tmp_path: Path) -> None:
    """A version may have a file of its own: the file is the only source of what clusters get then."""
    one, two = (crd(versions=[version(root(phase=string()), name)]) for name in ("v1", "v2"))
    old, new = _with(tmp_path / "old", a=(one,)), _with(tmp_path / "new", a=(one,), b=(two,))
    found = run("diff", old, new, "--format", "json").report["findings"]
    assert [(each["rule"], each["version"]) for each in found] == [("version-added", "v2")]


def _converted(made: Json) -> Json:
    webhook = {"clientConfig": {"url": "https://example.com"}, "conversionReviewVersions": ["v1"]}
    return {**made, "spec": {**made["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({"base": False, "built": True}, {"base": False, "built": True}, (0, 0), id="equal"),
        pytest.param({"base": False, "built": True}, {"base": False, "built": True, "other": True}, (0, 0), id="added"),
        pytest.param({"base": False, "built": True}, {"base": False, "built": False}, (0, 1), id="changed"),
        pytest.param({"base": False}, {"base": True}, (1, 0), id="one copy"),
    ],
)
def test_copies_that_differ_in_their_conversion(
    tmp_path: Path, old: dict[str, bool], new: dict[str, bool], expected: tuple[int, int]
) -> None:
    """metallb: config/crd has no conversion, and the manifests that kustomize makes of it have one."""
    for side, files in (("old", old), ("new", new)):
        for name, converts in files.items():
            made = crd(versions=[version(root()), version(root(), "v2", storage=False)])
            write(tmp_path / side / "config" / name / "widget.yaml", _converted(made) if converts else made)
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    changed = [each for each in report["findings"] if each["direction"] == "rollback"]
    assert (len(changed), len(report["undecided"])) == expected


@pytest.mark.parametrize(
    ("stored", "conversions", "found"),
    [
        ("v1", (False, True, True), []),
        ("v1", (False, False, True), []),
        ("v2", (False, False, True), [("rollback", "conversion-changed")]),
        ("v1", (True, True, False), []),
    ],
    ids=["copies", "the same version is stored", "the other version is stored", "a webhook that never ran"],
)
def test_the_conversion_of_a_single_version(
    tmp_path: Path, stored: str, conversions: tuple[bool, bool, bool], found: list[tuple[str, str]]
) -> None:
    """kueue 0.14 -> 0.15: OLD's chart has a webhook, config/crd has none, and there is nothing to convert."""
    one = crd(versions=[version(root())])
    both = crd(versions=[version(root(), name, storage=name == stored) for name in ("v1", "v2")])
    files = ("old/config", one), ("old/chart", one), ("new/config", both)
    for (folder, made), converts in zip(files, conversions, strict=True):
        write(tmp_path / folder / "widget.yaml", _converted(made) if converts else made)
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    about = [(each["direction"], each["rule"]) for each in report["findings"] if "conversion" in each["rule"]]
    assert (about, report["undecided"]) == (found, [])


_ADDS = "resources: [bases/widget.yaml]\npatches: [{path: webhook.yaml}]\n"


@pytest.mark.parametrize(
    ("kustomization", "named", "found"),
    [
        pytest.param(_ADDS, "widgets.example.com", (0, ["config/bases/widget.yaml"]), id="added"),
        pytest.param(_ADDS, "gadgets.example.com", (1, []), id="to another CRD"),
        pytest.param("resources: [bases/widget.yaml]\n", "widgets.example.com", (1, []), id="not patched"),
    ],
)
def test_a_base_gives_way_to_the_copy_with_the_conversion_that_kustomize_adds(
    tmp_path: Path, kustomization: str, named: str, found: tuple[int, list[str]]
) -> None:
    """OpenTelemetry's operator: NEW's bundle has the conversion, its config/crd/bases never does."""
    made = crd(versions=[version(root()), version(root(), "v2", storage=False)])
    patch = {"apiVersion": made["apiVersion"], "kind": made["kind"], "metadata": {"name": named}}
    for side, built in (("old", made), ("new", _converted(made))):
        write(tmp_path / side / "config/bases/widget.yaml", made)
        write(tmp_path / side / "bundle/widget.yaml", built)
        (tmp_path / side / "config/kustomization.yaml").write_text(kustomization)
        write(tmp_path / side / "config/webhook.yaml", {**patch, "spec": {"conversion": {"strategy": "Webhook"}}})
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    assert {each["rule"] for each in report["findings"]} == {"conversion-changed"}
    assert (len(report["undecided"]), [each["file"] for each in report["summary"]["superseded"]]) == found


def test_another_copy_of_the_base_does_not_dispute_the_conversion(tmp_path: Path) -> None:
    """Kernel Module Management: controller-gen writes all CRDs into a second flavour, too, which does not list them."""
    made = crd(versions=[version(root()), version(root(), "v2", storage=False)])
    patch = {"apiVersion": made["apiVersion"], "kind": made["kind"], "metadata": {"name": made["metadata"]["name"]}}
    for side, built in (("old", made), ("new", _converted(made))):
        for folder in ("config/crd/bases", "config/hub/bases"):
            write(tmp_path / side / folder / "widget.yaml", made)
        write(tmp_path / side / "bundle/widget.yaml", built)
        write(tmp_path / side / "config/crd/webhook.yaml", {**patch, "spec": {"conversion": {"strategy": "Webhook"}}})
        adds = side == "new"
        listed = f"resources: [bases/widget.yaml]\npatches: [{'{path: webhook.yaml}' if adds else ''}]\n"
        (tmp_path / side / "config/crd/kustomization.yaml").write_text(listed)
        (tmp_path / side / "config/hub/kustomization.yaml").write_text("resources: []\n")
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    assert ({each["rule"] for each in report["findings"]}, report["undecided"]) == ({"conversion-changed"}, [])


@pytest.mark.parametrize(("built", "used"), [("test/e2e/all.yaml", "bases"), ("bundle/all.yaml", "bundle")])
def test_what_a_test_expects_of_kustomize_does_not_ship(tmp_path: Path, built: str, used: str) -> None:
    """Cluster API Operator: tests compare the rendered chart with a file that has the conversion."""
    for values in ("A", "AB"):
        made = _copy(values)
        patch = {"apiVersion": made["apiVersion"], "kind": made["kind"], "metadata": {"name": made["metadata"]["name"]}}
        write(tmp_path / values / "bases/widget.yaml", made)
        write(tmp_path / values / built, _converted(made))
        write(tmp_path / values / "webhook.yaml", {**patch, "spec": {"conversion": {"strategy": "Webhook"}}})
        listed = "resources: [bases/widget.yaml]\npatches: [{path: webhook.yaml}]\n"
        (tmp_path / values / "kustomization.yaml").write_text(listed)
    report = run("diff", tmp_path / "A", tmp_path / "AB", "--direction", "rollback", "--format", "json").report
    (found,) = report["findings"]
    assert (found["rule"], {each["file"].split("/")[0] for each in found["locations"]}) == ("enum-value-added", {used})


def _check(repo: Path, files: Mapping[str, str], code: int) -> list[tuple[str, str]]:
    git(repo, "rm", "-rqf", "--ignore-unmatch", ".")
    commit(repo, {f"{folder}/widget.yaml": _copy(values) for folder, values in files.items()})
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=repo)
    assert ran.code == code, ran.err
    return [each for section in ran.report["sections"] for each in _rollback(section)]


def test_check_sees_copies_that_move(tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "main")
    commit(tmp_path, {f"{folder}/widget.yaml": _copy("A") for folder in ("config", "bundle")})
    assert _check(tmp_path, {"deploy": "AB", "bundle": "A"}, 1) == [("A", "B")]
    assert _check(tmp_path, {"deploy": "ABC", "bundle": "A", "charts": "ABCD"}, 1) == [("AB", "C")]
    assert _check(tmp_path, {"deploy": "ABC", "bundle": "A", "charts": "ABCD", "copy": "A"}, 0) == []


def test_the_content_of_a_schema_is_all_but_its_texts() -> None:
    schema = {
        "description": "a text",
        "default": {"description": "a value"},
        "properties": {
            "description": {"type": "string", "description": "a text"},
            "default": {"description": "a text"},
        },
        "items": [{"description": {"is": "no text"}}],
    }
    assert without_texts(schema) == {
        "default": {"description": "a value"},
        "properties": {"description": {"type": "string"}, "default": {}},
        "items": [{"description": {"is": "no text"}}],
    }


def test_each_copy_is_read_without_its_texts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Splunk's operator keeps some forty copies of each CRD in packed charts, half a megabyte each."""
    old, new = _sides(
        tmp_path, {f"a{letter}": letter for letter in "ABCDE"}, {f"b{letter}": letter for letter in "ABCDE"}
    )
    sides = load_crds(f"path:{old}"), load_crds(f"path:{new}")
    read: list[Any] = []
    monkeypatch.setattr(model, "without_texts", lambda schema: read.append(schema) or without_texts(schema))
    assert len(pair(*sides).pairs) == 5
    assert len(read) == len({id(each) for each in read})


def test_a_crd_with_two_versions_of_one_name_is_a_remark(tmp_path: Path) -> None:
    """Nothing tells the two apart, however far the path is followed. The server refuses both sides."""

    def twice(*enums: str) -> Json:
        schemas = (root(status=obj(phase=string(*enum))) for enum in enums)
        return crd(versions=[version(schema, storage=not at) for at, schema in enumerate(schemas)])

    write(tmp_path / "old/config/widget.yaml", twice("A", "B"))
    write(tmp_path / "new/config/widget.yaml", twice("A", "C"))
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert (ran.code, ran.report["findings"]) == (0, [])
    assert "the API server refuses this CRD: " in ran.report["summary"]["remarks"][0]["message"]


def test_documents_that_differ_outside_of_their_versions_on_both_sides_alike(tmp_path: Path) -> None:
    """velero keeps a proof of concept with another version and without a scope: no release changes that."""
    other = crd(versions=[version(root(), "v1beta1")])
    other["spec"]["scope"] = "Cluster"
    old = _with(tmp_path / "old", design=(other,), widget=(_copy("A"),))
    new = _with(tmp_path / "new", design=(other,), widget=(_copy("AB"),))
    ran = run("diff", old, new, "--format", "json")
    assert (_rollback(ran.report), ran.report["undecided"], ran.code) == ([("A", "B")], [], 1)
    other["spec"]["scope"] = "Namespaced"
    moved = _with(tmp_path / "moved", design=(other,), widget=(_copy("A"),))
    undecided = run("diff", old, moved, "--format", "json").report["undecided"]
    assert [(each["keyword"], each["reason"]) for each in undecided] == [
        ("scope", "design.yaml and widget.yaml of OLD disagree on it")
    ]

"""Files that are alike on all sides: check says the same whether it reads them or not, and reads few of them."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, commit, crd, git, load_yaml, obj, root, run, string, write
from twice import Check

from crdcompat.crds.context import CHANNEL, FEATURE_SET, GATE, PROFILE
from crdcompat.yaml.dump import to_yaml


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    git(made, "init", "--quiet", "--initial-branch=main")
    return made


def widget(*phases: str, kind: str = "Widget", **annotations: str) -> Json:
    schema = root(spec=obj(a=string()), status=obj(p=string(*phases)))
    return crd(schema, kind=kind, annotations={_KEYS.get(name, name): value for name, value in annotations.items()})


_KEYS = {"sets": FEATURE_SET, "channel": CHANNEL, "hosted": f"{PROFILE}hosted", "alone": f"{PROFILE}alone"}
OTHERS: Mapping[str, Any] = {f"others/{name}.yaml": widget("A", kind=f"Other{name}") for name in "abcdefghijkl"}


def stage(repo: Path, files: Mapping[str, Any]) -> None:
    commit(repo, files)
    git(repo, "reset", "--quiet", "--soft", "HEAD~1")


def test_what_nothing_needs_is_not_read(repo: Path, check_twice: Check) -> None:
    commit(repo, {**OTHERS, "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    narrow, whole = check_twice(repo)
    assert narrow["sections"][0]["findings"]
    assert [r["sections"][0]["summary"]["unread"] for r in (narrow, whole)] == [len(OTHERS), 0]
    assert [r["sections"][0]["summary"]["crds"]["compared"] for r in (narrow, whole)] == [1, 1 + len(OTHERS)]
    assert f"{len(OTHERS)} files not read: no result depends on them." in run("check", "--base", "HEAD", cwd=repo).out


def test_every_crd_has_its_case(repo: Path) -> None:
    """JUnit names the CRDs that pass: for it all are read."""
    commit(repo, {**OTHERS, "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    ran = run("check", "--base", "HEAD", "--format", "junit", cwd=repo)
    assert ran.out.count("<testcase ") == 1 + len(OTHERS)


def test_another_variant_somewhere_else(repo: Path, check_twice: Check) -> None:
    """A file that leaves a feature set to another one, which did not change, makes a difference there."""
    elsewhere = {"x/tech.yaml": widget("A", "C", sets="TechPreviewNoUpgrade")}
    commit(repo, {**OTHERS, **elsewhere, "w.yaml": widget("A", sets="Default,CustomNoUpgrade,TechPreviewNoUpgrade")})
    stage(repo, {"w.yaml": widget("A", "B", sets="Default,CustomNoUpgrade")})
    narrow, _ = check_twice(repo)
    found = {(tuple(f["added"]), tuple(f["contexts"])) for f in narrow["sections"][0]["findings"]}
    assert (("C",), ("TechPreviewNoUpgrade/default",)) in found
    assert narrow["sections"][0]["summary"]["unread"] == len(OTHERS)


@pytest.mark.parametrize("many", [False, True], ids=["few names", "many names"])
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_many_crds_that_differ(repo: Path, check_twice: Check, suffix: str, *, many: bool) -> None:
    """In YAML, and in JSON of one line."""
    kinds = [f"Thing{name}" for name in ("abcdefghijkl" if many else "ab")]
    variants = {
        f"deep/{kind}.{suffix}": widget("A", "C", kind=kind, sets="TechPreviewNoUpgrade") for kind in (*kinds, "Still")
    }
    commit(repo, {**OTHERS, **variants, **{f"{kind}.yaml": widget("A", kind=kind, sets="Default") for kind in kinds}})
    stage(repo, {f"{kind}.yaml": widget("A", "B", kind=kind) for kind in kinds})  # now of every set
    narrow, _ = check_twice(repo)
    summary = narrow["sections"][0]["summary"]
    assert summary["contexts"] == ["Default/default", "TechPreviewNoUpgrade/default"]
    # JSON of one line may say anything of contexts: it is read.
    assert summary["unread"] == len(OTHERS) + (0 if suffix == "json" else 1)


def test_contexts_that_only_other_crds_name(repo: Path, check_twice: Check) -> None:
    """A line of a description or of an unreadable file can look like an annotation, but is none."""
    talk = crd(
        root(spec={**obj(), "description": f"x\n{FEATURE_SET}: Imaginary\n{PROFILE}alone: 'true'\n"}), kind="Talk"
    )
    others = {
        "a/talk.yaml": talk,
        "b/broken.yaml": f"kind: CustomResourceDefinition\n{PROFILE}alone: 'true'\n: [",
        "c/alone.yaml": widget("A", kind="Alone", alone="true"),
        "d/hosted.yaml": widget("A", kind="Hosted", hosted="true", sets="TechPreviewNoUpgrade"),
        "e/hosted.yaml": widget("A", kind="Again", hosted="true", sets="TechPreviewNoUpgrade"),
        "f/never.yaml": widget("A", kind="Never", **{f"{PROFILE}never": "false"}),
    }
    commit(repo, {**OTHERS, **others, "w.yaml": widget("A")})
    del others["b/broken.yaml"]
    commit(repo, {"b/broken.yaml": None})
    stage(repo, {"w.yaml": widget("A", "B")})
    narrow, _ = check_twice(repo)
    summary = narrow["sections"][0]["summary"]
    assert summary["contexts"] == [
        f"{name}/{profile}" for name in ("Default", "TechPreviewNoUpgrade") for profile in ("alone", "hosted")
    ]
    assert summary["unread"] >= len(OTHERS)


def test_channels_and_annotations_of_ones_own(repo: Path, check_twice: Check) -> None:
    commit(repo, {**OTHERS, "c.yaml": widget("A", kind="C", channel="standard"), "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    assert check_twice(repo)[0]["sections"][0]["summary"]["contexts"] == ["standard"]
    git(repo, "reset", "--quiet", "--hard")
    (repo / ".crdcompat.yaml").write_text("variant_annotations: [example.com/flavour]\n")
    commit(repo, {"c.yaml": None, "d.yaml": widget("A", kind="D", **{"example.com/flavour": "sour"})})
    stage(repo, {"w.yaml": widget("A", "B")})
    assert check_twice(repo)[0]["sections"][0]["summary"]["contexts"] == ["sour"]


def test_what_differs_from_a_rollback_target_is_read(repo: Path, check_twice: Check) -> None:
    commit(repo, {**OTHERS, "old.yaml": widget("A", kind="Old"), "w.yaml": widget("A")})
    git(repo, "branch", "target")
    commit(repo, {"old.yaml": widget("A", "B", kind="Old")})
    stage(repo, {"w.yaml": widget("A", "B")})
    narrow, _ = check_twice(repo, "--target", "target")
    base, target = narrow["sections"]
    assert sorted(f["status"] for f in target["findings"] if f["severity"] == "error") == ["existing", "new"]
    assert base["summary"]["unread"] == target["summary"]["unread"] == len(OTHERS)


def test_of_a_target_only_what_the_change_touches_is_read(repo: Path, check_twice: Check) -> None:
    """The target differs in every CRD; the only one with its context is read, too."""
    tellers = [widget("A", kind=kind, sets="TechPreviewNoUpgrade") for kind in ("Before", "After")]
    commit(
        repo,
        {**{path: widget("B", kind=f"Other{path[7]}") for path in OTHERS}, "t.yaml": tellers[0], "w.yaml": widget("Z")},
    )
    git(repo, "branch", "target")
    commit(repo, {**OTHERS, "t.yaml": tellers[1], "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    check_twice(repo, "--target", "target")
    base, target = run("check", "--base", "HEAD", "--target", "target", "--format", "json", cwd=repo).report["sections"]
    assert base["summary"]["unread"] == target["summary"]["unread"] == len(OTHERS)
    assert target["summary"]["contexts"] == ["Default/default", "TechPreviewNoUpgrade/default"]
    assert [target["summary"]["crds"][side] for side in ("only_old", "only_new")] == [[], []]  # others were not read
    assert {(f["crd"], *f["added"], f["status"]) for f in target["findings"] if f["direction"] == "rollback"} == {
        ("widgets.example.com", "A", "existing"),
        ("widgets.example.com", "B", "new"),
    }


@pytest.mark.parametrize("enters", [True, False])
def test_what_a_target_has_under_another_name(repo: Path, check_twice: Check, *, enters: bool) -> None:
    """The change adds the successor of a CRD that was removed before, or removes what has a successor already."""
    old, new = widget("A"), widget("A")
    new["metadata"]["name"], new["spec"]["names"]["plural"] = "gadgets.example.com", "gadgets"
    commit(repo, {**OTHERS, "w.yaml": old})
    git(repo, "branch", "target")
    commit(repo, {"w.yaml": None} if enters else {"x/g.yaml": new})
    stage(repo, {"x/g.yaml": new} if enters else {"w.yaml": None})
    check_twice(repo, "--target", "target")
    report = run("check", "--base", "HEAD", "--target", "target", "--format", "json", cwd=repo).report
    assert {f["rule"] for f in report["sections"][1]["findings"]} == {"crd-renamed"}


def test_gates_of_a_target(repo: Path, check_twice: Check) -> None:
    """Any CRD with a gate shows the contexts of the gate lists: one is read, not one for each gate."""
    gates = {f"others/{name}.yaml": widget("A", kind=f"Other{name}", **{GATE: f"Gate{name}"}) for name in "abcdef"}
    lists = {
        f"payload-manifests/featuregates/{name}.yaml": {
            "kind": "FeatureGate",
            "metadata": {"annotations": {f"{PROFILE}hosted": "true"}},
            "spec": {"featureSet": name},
            "status": {"featureGates": [{"enabled": [{"name": "Gatea"}]}]},
        }
        for name in ("Default", "TechPreviewNoUpgrade")
    }
    commit(repo, {**gates, **lists, "w.yaml": widget("A", hosted="true")})
    git(repo, "branch", "target")
    commit(repo, {**OTHERS, "w.yaml": widget("A", "B", hosted="true"), **gates})
    stage(repo, {"w.yaml": widget("A", "B", "C", hosted="true")})
    narrow, _ = check_twice(repo, "--target", "target")
    assert narrow["sections"][0]["summary"]["contexts"] == ["Default/hosted", "TechPreviewNoUpgrade/hosted"]
    report = run("check", "--base", "HEAD", "--target", "target", "--format", "json", cwd=repo).report
    assert [section["summary"]["unread"] for section in report["sections"]] == [13, 13]


def test_a_crd_that_is_asked_for_by_name(repo: Path, check_twice: Check) -> None:
    commit(repo, {**OTHERS, "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    narrow, _ = check_twice(repo, "--crd", "otheras.example.com")
    assert narrow["sections"][0]["findings"] == []
    assert run("check", "--base", "HEAD", "--crd", "nothing.example.com", cwd=repo).code == 2


def test_objects_are_held_against_every_crd(repo: Path) -> None:
    commit(repo, {**OTHERS, "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    recorded = repo.parent / "o.json"
    recorded.write_text(json.dumps({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}))
    report = run("check", "--base", "HEAD", "--objects", recorded, "--format", "json", cwd=repo).report
    assert report["sections"][0]["summary"]["unread"] == 0


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ({"channel": "standard"}, {"channel": "standard-next"}),
        ({"sets": "Default"}, {"sets": "Default,TechPreviewNoUpgrade"}),
        ({"alone": "true", "sets": ""}, {"alone": "true", "sets": "TechPreviewNoUpgrade"}),
    ],
)
def test_a_part_of_an_annotation_does_not_match(
    repo: Path, check_twice: Check, mine: dict[str, str], other: dict[str, str]
) -> None:
    commit(
        repo,
        {**OTHERS, "o.yaml": widget("A", kind="O", **other), "w.yaml": widget("A", **mine), "v.yaml": widget("A", "B")},
    )
    stage(repo, {"w.yaml": widget("A", "Z", **mine), "v.yaml": widget("A", "B", "C")})
    narrow, whole = check_twice(repo)
    assert narrow["sections"][0]["summary"]["contexts"] == whole["sections"][0]["summary"]["contexts"]


def test_a_search_that_fails_leaves_nothing_out(repo: Path) -> None:
    """A variant whose blob is gone from the clone is missed by the search, and met by reading."""
    commit(repo, {"w.yaml": widget("A", sets="Default"), "v.yaml": widget("A", sets="TechPreviewNoUpgrade")})
    blob = git(repo, "rev-parse", "HEAD:v.yaml")
    stage(repo, {"w.yaml": widget("A", "B", sets="Default")})
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    ran = run("check", "--base", "HEAD", cwd=repo)
    assert (ran.code, blob in ran.err) == (2, True)


@pytest.mark.parametrize("manner", ["LITERAL", "GLOB", "NOGLOB", "ICASE"])
def test_how_paths_are_meant_is_not_the_environments_to_say(
    repo: Path, check_twice: Check, monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    commit(repo, {"w.yaml": widget("A"), "deep/v.yaml": widget("A", "C", sets="TechPreviewNoUpgrade")})
    stage(repo, {"w.yaml": widget("A", "B")})
    monkeypatch.setenv(f"GIT_{manner}_PATHSPECS", "1")
    assert len(check_twice(repo)[0]["sections"][0]["summary"]["contexts"]) == 2


def test_a_context_that_one_side_alone_names(repo: Path, check_twice: Check) -> None:
    """A context of a file that differs must come from another file now: each side has its own contexts."""
    other = {"other.yaml": widget("A", kind="Other", sets="TechPreviewNoUpgrade")}
    commit(repo, {**OTHERS, **other, "w.yaml": widget("A", sets="TechPreviewNoUpgrade")})
    stage(repo, {"w.yaml": widget("A", "B")})
    assert check_twice(repo)[0]["sections"][0]["findings"]


# -- how a CRD may be written -----------------------------------------------------------------


_WRITTEN = {
    "as it is": lambda text: text,
    "another group in a comment, one's own anchored": lambda text: re.sub(
        r"(?m)^(  group:) (.*)", r"  # group: old.com\n\1 &g \2", text
    ),
    "a key without its colon": lambda text: re.sub(r"(?m)^    plural: (.*)", r"    ? plural\n    : \1", text),
    "tagged": lambda text: text.replace("plural: ", "plural: !!str "),
    "on the next line": lambda text: re.sub(r"(?m)^    plural: (.*)", r"    plural:\n      \1", text),
    "quoted": lambda text: re.sub(r"(?m)^( *)(plural|group|name): (.*)", r'\1"\2": "\3"', text),
    "an escape": lambda text: text.replace("    plural:", '    "pl\\u0075ral":'),
    "an anchor elsewhere": lambda text: f"x-plural: &p widgets\n{text.replace('plural: widgets', 'plural: *p')}",
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "in UTF-16": lambda text: text.encode("utf-16"),
    "JSON": lambda text: json.dumps(load_yaml(text)),
    "pretty JSON": lambda text: json.dumps(load_yaml(text), indent=2),
    "JSON that names a group": lambda text: json.dumps(load_yaml(text) | {"description": "group: core"}, indent=2),
    "a list": lambda text: json.dumps({"apiVersion": "v1", "kind": "List", "items": [load_yaml(text)]}),
    "a typed list": lambda text: json.dumps(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinitionList",
            "items": [{"metadata": (crd := load_yaml(text))["metadata"], "spec": crd["spec"]}],
        }
    ),
    "behind another document": lambda text: f"kind: Other\nspec: {{group: other.com, plural: others}}\n---\n{text}",
}


@pytest.mark.parametrize("how", _WRITTEN)
def test_a_variant_is_found_however_it_is_written(repo: Path, check_twice: Check, how: str) -> None:
    """The change drops a profile: there the unchanged variant, which has a value more, is what is left."""
    both = {"alone": "true", "hosted": "true"}
    variant = to_yaml(widget("A", "C", hosted="true"))
    others = {"o.yaml": widget("A", kind="Other", **both), "x/v.yaml": _WRITTEN[how](variant)}
    commit(repo, {**OTHERS, **others, "w.yaml": widget("A", **both)})
    stage(repo, {"w.yaml": widget("A", alone="true")})
    found = check_twice(repo)[0]["sections"][0]["findings"]
    assert [(each["added"], each["contexts"]) for each in found if each["direction"] == "rollback"] == [
        (["C"], ["Default/hosted"])
    ]


@pytest.mark.parametrize("how", ["as it is", "JSON", "in UTF-16", "a typed list"])
def test_a_context_is_found_however_it_is_written(repo: Path, check_twice: Check, how: str) -> None:
    teller = widget("A", kind="Teller", sets="TechPreviewNoUpgrade")
    teller["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "long " * 200
    commit(repo, {**OTHERS, "x/t.yaml": _WRITTEN[how](to_yaml(teller)), "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    contexts = check_twice(repo)[0]["sections"][0]["summary"]["contexts"]
    assert contexts == ["Default/default", "TechPreviewNoUpgrade/default"]


def test_a_flavour_goes_over_a_channel(repo: Path, check_twice: Check) -> None:
    """The only CRD of channel experimental makes it a context; a CRD that has a flavour, too, does not."""
    flavour = "example.com/flavour"
    files = {
        ".crdcompat.yaml": f"variant_annotations: [{flavour}]\n",
        "a.yaml": widget("A", kind="Aa", channel="experimental", **{flavour: "sour"}),
        "v.yaml": widget("A", "C", **{flavour: "sour"}),
        "z.yaml": widget("A", kind="Zz", channel="experimental"),
    }
    commit(repo, {**files, "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "C")})
    narrow, whole = check_twice(repo)
    assert narrow["sections"][0]["findings"]
    assert narrow["sections"][0]["summary"]["contexts"] == whole["sections"][0]["summary"]["contexts"]


def test_a_variant_that_cannot_be_read_is_said(repo: Path, check_twice: Check) -> None:
    broken = to_yaml(widget("A", "C", sets="TechPreviewNoUpgrade")).replace("    plural: widgets\n", "")
    commit(repo, {**OTHERS, "x/v.yaml": broken, "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    assert [each["file"] for each in check_twice(repo)[0]["summary"]["problems"]] == ["x/v.yaml", "x/v.yaml"]


@pytest.mark.parametrize("name", ["a\nb.yaml", "a\\x41.yaml", "a b.yaml", 'a"b.yaml', "\u00e4.yaml"])
def test_odd_paths_are_compared(repo: Path, check_twice: Check, name: str) -> None:
    """The facts of a blob count at any path: a path that a search cannot name must not spoil them."""
    both = {"alone": "true", "hosted": "true"}
    variant = widget("A", "C", hosted="true")
    others = {"o.yaml": widget("A", kind="Other", **both), f"x/{name}": variant}
    commit(repo, {**OTHERS, **others, "w.yaml": widget("A", **both)})
    stage(repo, {"w.yaml": widget("A", alone="true")})
    assert check_twice(repo)[0]["summary"]["findings"]["error"] == 1
    git(repo, "reset", "--quiet", "--hard")
    commit(repo, {f"x/{name}": None, "x/v.yaml": variant})
    stage(repo, {"w.yaml": widget("A", alone="true")})
    assert check_twice(repo)[0]["summary"]["findings"]["error"] == 1


def test_a_replaced_blob_is_what_its_id_says(repo: Path, check_twice: Check) -> None:
    both = {"alone": "true", "hosted": "true"}
    others = {"o.yaml": widget("A", kind="Other", **both), "x/v.yaml": widget("A", "C", hosted="true")}
    commit(repo, {**OTHERS, **others, "w.yaml": widget("A", **both), "n.txt": "nothing"})
    git(repo, "replace", *git(repo, "rev-parse", "HEAD:x/v.yaml", "HEAD:n.txt").split())
    stage(repo, {"w.yaml": widget("A", alone="true")})
    assert check_twice(repo)[0]["summary"]["findings"]["error"] == 1


def test_what_the_change_did_not_touch_is_not_its_doing(repo: Path, check_twice: Check) -> None:
    """Documents of a CRD that disagree: undecided where the CRD changes, not where a file happens to be read."""
    twice = [widget("A", kind="Twice", sets="TechPreviewNoUpgrade") for _ in "ab"]
    twice[1]["spec"]["scope"] = "Cluster"
    commit(repo, {**OTHERS, "t.yaml": "---\n".join(map(to_yaml, twice)), "w.yaml": widget("A")})
    stage(repo, {"w.yaml": widget("A", "B")})
    narrow, whole = check_twice(repo, "--target", "HEAD~0")
    assert [section["undecided"] for section in (*narrow["sections"], *whole["sections"])] == [[]] * 4


def test_what_is_not_known_to_be_alike_stays_undecided(repo: Path, tmp_path: Path) -> None:
    """Files of an archive and files that changed on disk have no ids: one name on both sides says nothing."""
    undecided = widget("A")
    undecided["spec"]["unheardOf"] = "a"
    commit(repo, {"w.yaml": widget("A")})
    with tarfile.open(tmp_path / "older.tar", "w") as archive:
        archive.add(write(tmp_path / "w.yaml", undecided), "w.yaml")
    write(repo / "w.yaml", widget("A", "B"))
    args = ("--base", "HEAD", "--head", "worktree:", "--target", f"path:{tmp_path / 'older.tar'}")
    report = run("check", *args, "--format", "json", cwd=repo).report
    assert [each["keyword"] for each in report["sections"][1]["undecided"]] == ["unheardOf"]

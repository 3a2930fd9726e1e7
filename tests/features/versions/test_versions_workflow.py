"""versions: the life of each version over releases, the jumps that lose stored objects, and the exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers import Json, commit, git, run, write
from version_lines import ask, jumps, widget

#: By release: the versions with their flags, as ``widget`` takes them.
LINE = {
    "release-1.0": {"v1beta1": "s+"},
    "release-1.1": {"v1beta1": "sd+", "v1": "s"},
    "release-1.2": {"v1beta1": "d", "v1": "s+"},
    "release-1.3": {"v1": "s+"},
}


_TEMPLATE = "kind: CustomResourceDefinition\nmetadata: {{ metadata }}\n"


def release(repo: Path, name: str, files: dict[str, Json | None]) -> None:
    """A commit with these files, and a branch at it."""
    commit(repo, files, name)
    git(repo, "branch", name)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with the releases of ``LINE``, and a CRD beside that stays as it is."""
    git(tmp_path, "init", "-q", "-b", "main")
    for name, flags in LINE.items():
        release(tmp_path, name, {"crds/w.json": widget(flags), "crds/g.json": widget({"v1": "s+"}, "Gadget")})
    return tmp_path


TEXT = """\
6 jumps over 4 releases: BLOCKED (3 blocked, 3 clean)
  widgets.example.com  release-1.0 and release-1.1 store objects as v1beta1
    BLOCKED: release-1.0 to release-1.2 -> release-1.3
    Way out: migrate stored objects in release-1.2 (both versions are there).

                             served since  served until  deprecated since  stored since  stored until  removed in
widgets.example.com/v1beta1  release-1.0   release-1.1   release-1.1       release-1.0   release-1.1   release-1.3
widgets.example.com/v1       release-1.1   -             -                 release-1.2   -             -
1 CRD has one version, which is served and stored throughout (-v lists them).
release-1.0 is the oldest of these releases: what is listed since release-1.0 may be older.
"""


def test_text(repo: Path) -> None:
    ran = run("versions", "--branches", "release-*", cwd=repo)
    assert (ran.code, ran.out) == (1, TEXT)


def test_a_quiet_report_has_the_verdict_alone(repo: Path) -> None:
    ran = run("versions", "--branches", "release-*", "-q", cwd=repo)
    assert (ran.code, ran.out) == (1, "".join(TEXT.partition("\n\n")[:1]) + "\n")


def test_all_versions_with_v(repo: Path) -> None:
    ran = run("versions", "release-1.2", "release-1.3", "-v", cwd=repo)
    assert [line.split()[0] for line in ran.out.splitlines() if ".example.com/" in line] == [
        "gadgets.example.com/v1",
        "widgets.example.com/v1beta1",
        "widgets.example.com/v1",
    ]


def test_json(repo: Path) -> None:
    report = ask(repo, "--branches", "release-*", "--crd", "widgets.example.com", code=1)
    assert (report["old"]["name"], report["new"]["name"]) == ("release-1.0", "release-1.3")
    assert (report["verdict"], report["context"], report["cluster"]) == ("blocked", "default", None)
    assert report["versions"] == [
        {
            "crd": "widgets.example.com",
            "kind": "Widget",
            "version": "v1beta1",
            "present": ["release-1.0", "release-1.1", "release-1.2"],
            "served": ["release-1.0", "release-1.1"],
            "deprecated": ["release-1.1", "release-1.2"],
            "stored": ["release-1.0", "release-1.1"],
            "removed_in": "release-1.3",
            "removed_with_crd": False,
        },
        {
            "crd": "widgets.example.com",
            "kind": "Widget",
            "version": "v1",
            "present": ["release-1.1", "release-1.2", "release-1.3"],
            "served": ["release-1.1", "release-1.2", "release-1.3"],
            "deprecated": [],
            "stored": ["release-1.2", "release-1.3"],
            "removed_in": None,
            "removed_with_crd": False,
        },
    ]
    assert [(each["from"], each["to"], each["lost"]) for each in report["jumps"]] == [
        ("release-1.0", "release-1.1", []),
        ("release-1.0", "release-1.2", []),
        ("release-1.0", "release-1.3", [_lost("release-1.0")]),
        ("release-1.1", "release-1.2", []),
        ("release-1.1", "release-1.3", [_lost("release-1.0", "release-1.1")]),
        ("release-1.2", "release-1.3", [_lost("release-1.0", "release-1.1")]),
    ]


def _lost(*stored: str) -> Json:
    facts = {"crd": "widgets.example.com", "kind": "Widget", "version": "v1beta1", "certain": True}
    return {**facts, "stored": [*stored], "migrate": ["release-1.2"]}


def test_csv(repo: Path) -> None:
    ran = run("versions", "--branches", "release-*", "--format", "csv", cwd=repo)
    assert ran.out.splitlines() == [
        "crd,kind,version,served since,served until,deprecated since,stored since,stored until,removed in",
        "gadgets.example.com,Gadget,v1,release-1.0,,,release-1.0,,",
        "widgets.example.com,Widget,v1beta1,release-1.0,release-1.1,release-1.1,release-1.0,release-1.1,release-1.3",
        "widgets.example.com,Widget,v1,release-1.1,,,release-1.2,,",
    ]


def test_markdown(repo: Path) -> None:
    ran = run("versions", "--branches", "release-*", "--format", "markdown", cwd=repo)
    rows = [
        ["`widgets.example.com/v1beta1`", *(f"`release-1.{minor}`" for minor in (0, 1, 1, 0, 1, 3))],
        ["`widgets.example.com/v1`", "`release-1.1`", "", "", "`release-1.2`", "", ""],
    ]
    assert ran.out.splitlines() == [
        "## crdcompat: `6 jumps over 4 releases: BLOCKED (3 blocked, 3 clean)`",
        "",
        "```text",
        "  widgets.example.com  release-1.0 and release-1.1 store objects as v1beta1",
        "    BLOCKED: release-1.0 to release-1.2 -> release-1.3",
        "    Way out: migrate stored objects in release-1.2 (both versions are there).",
        "```",
        "",
        "|  | served since | served until | deprecated since | stored since | stored until | removed in |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        "`1 CRD has one version, which is served and stored throughout (-v lists them).`",
        "",
        "`release-1.0 is the oldest of these releases: what is listed since release-1.0 may be older.`",
    ]


@pytest.mark.parametrize("name", ["github", "html", "sarif"])
def test_formats_that_cannot_show_it(repo: Path, name: str) -> None:
    ran = run("versions", "release-1.0", "--format", name, cwd=repo)
    assert (ran.code, ran.out) == (2, "")
    assert "what can: csv, json, markdown, text" in ran.err


def test_without_releases_the_rollback_targets_and_this_commit(repo: Path) -> None:
    report = ask(repo, code=1)
    assert [each["name"] for each in report["releases"]] == ["release-1.1", "release-1.2", "HEAD"]
    assert jumps(report) == {
        ("release-1.1", "release-1.2", "clean"),
        ("release-1.1", "HEAD", "blocked"),
        ("release-1.2", "HEAD", "blocked"),
    }


def test_without_releases_the_configured_targets(repo: Path) -> None:
    write(repo / ".crdcompat.yaml", {"rollback_targets": ["release-1.0"]})
    report = ask(repo, code=1)
    assert [each["name"] for each in report["releases"]] == ["release-1.0", "HEAD"]


def test_a_repository_without_releases(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"w.json": widget({"v1": "s+"})})
    ran = run("versions", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "name the releases, oldest first: no release was found before the commit" in ran.err


# -- what is lost, and what is not ---------------------------------------------


def _two(tmp_path: Path, *lines: dict[str, str]) -> tuple[str, ...]:
    """A folder for each release with one CRD."""
    for number, flags in enumerate(lines):
        write(tmp_path / f"v1.{number}" / "w.json", widget(flags))
    return tuple(f"path:v1.{number}" for number in range(len(lines)))


@pytest.mark.parametrize(
    ("lines", "verdicts"),
    [
        pytest.param(({"v1beta1": "s+"}, {"v1": "s+"}), {"0-1": "blocked"}, id="stored and gone at once"),
        pytest.param(({"v1": "s+", "v2": "s"}, {"v1": "s+"}), {"0-1": "clean"}, id="served only, later than stored"),
        pytest.param(({"v1": "s", "v2": "s+"}, {"v2": "s+"}), {"0-1": "at risk"}, id="older than the stored one"),
        pytest.param(({"v2": "", "v1": "s+"}, {"v1": "s+"}), {"0-1": "at risk"}, id="kept, and not served"),
        pytest.param(({"v1": "s+"}, {"v1": "", "v2": "s+"}), {"0-1": "clean"}, id="stored, and no longer served"),
        pytest.param(
            ({"v1": "s+"}, {"v1": "s", "v2": "s+"}, {"v2": "s+"}),
            {"0-1": "clean", "0-2": "blocked", "1-2": "blocked"},
            id="stored by an earlier release",
        ),
        pytest.param(
            ({"v1": "s+"}, {"v2": "s+"}, {"v1": "s", "v2": "s+"}),
            {"0-1": "blocked", "0-2": "clean", "1-2": "clean"},
            id="comes back",
        ),
    ],
)
def test_what_a_jump_loses(tmp_path: Path, lines: Sequence[dict[str, str]], verdicts: dict[str, str]) -> None:
    names = _two(tmp_path, *lines)
    report = ask(tmp_path, *names, code=int("blocked" in verdicts.values()))
    found = {f"{names.index(each['from'])}-{names.index(each['to'])}": each["verdict"] for each in report["jumps"]}
    assert found == verdicts


def test_a_jump_over_the_only_release_that_can_migrate(tmp_path: Path) -> None:
    names = _two(tmp_path, {"v1": "s+"}, {"v1": "s", "v2": "s+"}, {"v2": "s+"})
    over = run("versions", names[0], names[2], cwd=tmp_path)
    assert "    None of these releases has both this version and the one that follows it: none can migrate" in over.out
    whole = run("versions", *names, cwd=tmp_path)
    assert "    Way out: migrate stored objects in path:v1.1 (both versions are there)." in whole.out.splitlines()


def test_what_may_be_stored_is_at_risk(tmp_path: Path) -> None:
    names = _two(tmp_path, {"v1alpha1": "", "v1": "s+"}, {"v1": "s+"})
    ran = run("versions", *names, cwd=tmp_path)
    assert (ran.code, ran.out.splitlines()[:4]) == (
        0,
        [
            "1 jump over 2 releases: AT RISK (1 at risk)",
            "  widgets.example.com  none of these releases stores objects as v1alpha1, but an earlier one may have",
            "    AT RISK: path:v1.0 -> path:v1.1",
            "    Way out: migrate stored objects in path:v1.0 (both versions are there).",
        ],
    )
    assert run("versions", *names, "--fail-on", "warning", cwd=tmp_path).code == 1


def test_a_crd_that_goes_loses_no_version(tmp_path: Path) -> None:
    names = _two(tmp_path, {"v1": "s+"}, {"v1": "s+"})
    write(tmp_path / "v1.0/g.json", widget({"v1": "s+"}, "Gadget"))
    report = ask(tmp_path, *names, code=0)
    assert [(each["crd"], each["removed_in"], each["removed_with_crd"]) for each in report["versions"]] == [
        ("gadgets.example.com", "path:v1.1", True),
        ("widgets.example.com", None, False),
    ]
    assert "path:v1.1 (with the CRD)" in run("versions", *names, cwd=tmp_path).out


# -- copies and contexts ---------------------------------------------


def test_copies_that_each_release_has_decide(repo: Path) -> None:
    """A stale bundle that one release alone has says nothing."""
    release(repo, "release-1.4", {"bundle/w.json": widget({"v1beta1": "s+"})})
    report = ask(repo, "release-1.1", "release-1.3", "release-1.4", code=1)
    assert jumps(report) == {
        ("release-1.1", "release-1.3", "blocked"),
        ("release-1.1", "release-1.4", "blocked"),
        ("release-1.3", "release-1.4", "clean"),
    }


DISPUTE = "copies disagree on the versions (exclude the one that does not ship)"


def test_files_that_do_not_ship_decide_nothing(tmp_path: Path) -> None:
    """Fleet: a template in e2e/ that cannot be read made each answer unknown."""
    git(tmp_path, "init", "-q", "-b", "main")
    chart = {"charts/w/Chart.yaml": "name: w", "e2e/w.json": widget({"v1": "s+"}), "e2e/x.yaml": _TEMPLATE}
    for name, flags in LINE.items():
        release(tmp_path, name, {**chart, "charts/w/crds/w.json": widget(flags)})
    report = ask(tmp_path, "--branches", "release-*", code=1)
    assert report["verdict"] == "blocked"
    assert {life["version"] for life in report["versions"]} == {"v1beta1", "v1"}


def test_copies_that_disagree_are_not_judged(tmp_path: Path) -> None:
    names = _two(tmp_path, {"v1": "s+"}, {"v1": "s+"})
    for number in range(2):
        write(tmp_path / f"v1.{number}/copy/w.json", widget({"v1": "s", "v2": "s+"}))
    ran = run("versions", *names, cwd=tmp_path)
    assert (ran.code, ran.out.splitlines()[:4]) == (
        2,
        [
            "1 jump over 2 releases: UNKNOWN (1 unknown)",
            "",
            "What was not judged",
            f"  widgets.example.com: in path:v1.0, {DISPUTE}: copy/w.json, w.json",
        ],
    )
    assert run("versions", *names, "--allow-unknown", cwd=tmp_path).code == 0
    alone = ask(tmp_path, names[0], code=2)
    assert alone["unjudged"] == [f"widgets.example.com: in path:v1.0, {DISPUTE}: copy/w.json, w.json"]
    write(tmp_path / ".crdcompat.yaml", {"exclude": ["copy/*"]})
    assert run("versions", *names, cwd=tmp_path).code == 0


def _variant(flags: dict[str, str], feature_set: str) -> Json:
    made = widget(flags)
    made["metadata"]["annotations"] = {"release.openshift.io/feature-set": feature_set}
    return made


def test_one_context(tmp_path: Path) -> None:
    for name, preview in (("v1.0", {"v1": "s", "v2": "s+"}), ("v1.1", {"v1": "s+"})):
        write(tmp_path / name / "a.json", _variant({"v1": "s+"}, "Default"))
        write(tmp_path / name / "b.json", _variant(preview, "TechPreviewNoUpgrade"))
    names = ("path:v1.0", "path:v1.1")
    assert jumps(ask(tmp_path, *names, code=0)) == {(*names, "clean")}
    preview = ask(tmp_path, *names, "--context", "TechPreviewNoUpgrade/default", code=1)
    assert (jumps(preview), preview["context"]) == ({(*names, "blocked")}, "TechPreviewNoUpgrade/default")
    ran = run("versions", *names, "--context", "Nothing/default", cwd=tmp_path)
    assert (ran.code, "no context Nothing/default in path:v1.0" in ran.err) == (2, True)


def test_an_older_release_without_variants_is_the_same_in_each_context(tmp_path: Path) -> None:
    write(tmp_path / "v1.0/a.json", widget({"v1": "s", "v2": "s+"}))
    write(tmp_path / "v1.1/a.json", _variant({"v1": "s+"}, "Default"))
    names = ("path:v1.0", "path:v1.1")
    assert jumps(ask(tmp_path, *names, code=1)) == {(*names, "blocked")}


def test_versions_in_documents_of_their_own(tmp_path: Path) -> None:
    """Variants of OpenShift can have one version each: all count, if one of them is stored."""
    for name, stored in (("v1.0", "v1"), ("v1.1", "v2")):
        for each in ("v1", "v2"):
            flags = {each: "s+" if each == stored else "s"}
            write(tmp_path / name / f"{each}.json", _variant(flags, "Default"))
    report = ask(tmp_path, "path:v1.0", "path:v1.1", code=0)
    assert [(each["version"], each["stored"]) for each in report["versions"]] == [
        ("v1", ["path:v1.0"]),
        ("v2", ["path:v1.1"]),
    ]


# -- what cannot be done ---------------------------------------------


def test_an_unknown_crd(repo: Path) -> None:
    ran = run("versions", "release-1.0", "--crd", "widget.example.com", cwd=repo)
    assert (ran.code, ran.out) == (2, "")
    assert "no CRD is named widget.example.com; did you mean widgets.example.com?" in ran.err


def test_no_crd(tmp_path: Path) -> None:
    write(tmp_path / "v1.0/a.txt", "nothing")
    ran = run("versions", "path:v1.0", cwd=tmp_path)
    assert (ran.code, "no CRD in path:v1.0" in ran.err) == (2, True)


def _broken() -> Json:
    made = widget({"v1": "s+"}, "Other")
    return {**made, "spec": {**made["spec"], "versions": "v1"}}


def test_a_crd_that_cannot_be_read(repo: Path) -> None:
    release(repo, "release-1.4", {"crds/broken.json": _broken()})
    ran = run("versions", "release-1.3", "release-1.4", cwd=repo)
    assert ran.code == 2
    assert "crds/broken.json" in ran.out

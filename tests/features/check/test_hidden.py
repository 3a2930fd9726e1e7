"""A change cannot hide a CRD: behind links, templates, pointers or spellings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from changes import check, repository, widget
from helpers import commit, git, run

FINDING = ("rollback", "enum-value-added", "status.p")
_TEXT = json.dumps(widget("A", "B"))
_SPELLINGS = {
    "json": _TEXT.replace("Custom", "C\\u0075stom").replace("apiextensions", "\\u0061piextensions"),
    "yaml": _TEXT.replace("Custom", "C\\x75stom").replace("apiextensions", "\\x61piextensions"),
    "long": _TEXT.replace("Custom", "C\\U00000075stom").replace("apiextensions", "\\U00000061piextensions"),
    "broken": _TEXT.replace("CustomRes", "Custom\\\n  Res").replace("apiext", "api\\\n  ext"),
    "binary": _TEXT.replace('"CustomResourceDefinition"', "!!binary Q3VzdG9tUmVzb3VyY2VEZWZpbml0aW9u"),
}


def _checked(repo: Path, code: int) -> tuple[list[tuple[str, ...]], list[tuple[str, str]]]:
    """The (rollback errors, problems as (file, first words)) of the last commit of ``repo``."""
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=repo)
    assert ran.code == code, ran.err
    sections = ran.report["sections"]
    found = [finding for section in sections for finding in section["findings"] if finding["severity"] == "error"]
    problems = ran.report["summary"]["problems"]
    return [(each["direction"], each["rule"], each["path"]) for each in found], [
        (each["file"], each["message"].partition(":")[0]) for each in problems
    ]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = repository(tmp_path)
    commit(made, {"w.yaml": widget("A"), "other.yaml": "a: 1\n"})
    return made


@pytest.mark.parametrize("spelling", [name for name in _SPELLINGS if name != "json"])
def test_spellings_in_yaml(repo: Path, spelling: str) -> None:
    text = _SPELLINGS[spelling].replace("openAPIV3Schema", "openAPIV3Sch\\x65ma")
    commit(repo, {"w.yaml": f"---\n{text}\n"})
    assert _checked(repo, 1) == ([FINDING], [])


@pytest.mark.parametrize("name", ["w.txt", "w.yaml.tmpl", ".yaml"])
@pytest.mark.parametrize("key", ["kind: *k", "? &a kind\n: &b CustomResourceDefinition"])
def test_an_alias_of_the_kind(repo: Path, name: str, key: str) -> None:
    git(repo, "rm", "-q", "w.yaml")
    for phases in (("A",), ("A", "B")):
        text = yaml.safe_dump(widget(*phases)).replace("kind: CustomResourceDefinition", key)
        commit(repo, {name: f"x: &k CustomResourceDefinition\n{text}"})
    assert _checked(repo, 1) == ([FINDING], [])


def test_spellings_in_json(repo: Path) -> None:
    git(repo, "mv", "w.yaml", "w.json")
    commit(repo, {"w.json": _SPELLINGS["json"].replace("Schema", "Sch\\u0065ma")})
    assert _checked(repo, 1) == ([FINDING], [])


def test_a_spelling_on_both_sides(repo: Path) -> None:
    for phases in (("A",), ("A", "B")):
        text = json.dumps(widget(*phases)).replace("Custom", "C\\x75stom").replace('"plural"', '"plu\\x72al"')
        commit(repo, {"w.yaml": f"---\n{text}\n"})
    assert _checked(repo, 1) == ([FINDING], [])


def _renamed(*phases: str) -> str:
    """A CRD whose name, group and plural are spelled with escapes, everywhere."""
    text = json.dumps(widget(*phases)).replace("example.com", "ex\\x61mple.com").replace('"name"', '"n\\x61me"')
    return "---\n" + text.replace('"plural"', '"plu\\x72al"').replace("widgets", "widg\\u0065ts")


@pytest.mark.parametrize("moved", ["w.yaml", "deploy/w.yaml"])
@pytest.mark.parametrize("before", ["plain", "escaped"])
def test_a_spelling_of_the_name(repo: Path, before: str, moved: str) -> None:
    if before == "escaped":
        commit(repo, {"w.yaml": _renamed("A")})
    git(repo, "rm", "-q", "w.yaml")
    commit(repo, {moved: _renamed("A", "B")})
    assert _checked(repo, 1) == ([FINDING], [])


_BINARY = "!!binary d2lkZ2V0cw=="
_NAMES = {
    "binary": {'"widgets"': _BINARY, '"widgets.example.com"': "!!binary d2lkZ2V0cy5leGFtcGxlLmNvbQ=="},
    "tag": {'"widgets"': f"!<tag:yaml.org,2002:binary> {_BINARY.removeprefix('!!binary ')}"},
    "broken string": {'"widgets"': '"wid\\\n  gets"', '"widgets.example.com"': '"widgets.\\\n  example.com"'},
    "escape": {'"widgets"': '"wid\\x67ets"', '"widgets.example.com"': '"wid\\x67ets.example.com"'},
    "anchor": {'"widgets"': "&n widgets"},
}


@pytest.mark.parametrize("names", _NAMES.values(), ids=_NAMES)
def test_a_spelling_of_the_names_of_an_unchanged_variant(repo: Path, names: dict[str, str]) -> None:
    annotation = "release.openshift.io/feature-set"
    text = json.dumps(widget("A", "B")).replace(
        '"metadata": {', f'"metadata": {{"annotations": {{"{annotation}": "X"}}, '
    )
    for name, spelled in names.items():
        assert name in text
        text = text.replace(name, spelled)
    commit(repo, {"v.yaml": f"---\n{text}\n"})
    commit(repo, {"w.yaml": widget("A", "B")})
    for args in ((), ("--no-cache",)):
        ran = run("check", "--base", "HEAD~1", "--format", "json", *args, cwd=repo)
        (section,) = ran.report["sections"]
        assert section["summary"]["contexts"] == ["Default/default", "X/default"]


@pytest.mark.parametrize("plural", ["!!binary %%%", '!!binary "%%%"', '"widgets'])
def test_broken_names_of_an_unchanged_variant_are_a_problem(repo: Path, plural: str) -> None:
    commit(repo, {"v.yaml": "---\n" + json.dumps(widget("A")).replace('"widgets"', plural)})
    commit(repo, {"w.yaml": widget("A", "B")})
    found, problems = _checked(repo, 2)
    assert (found, {file for file, _ in problems}) == ([FINDING], {"v.yaml"})


def test_a_template_with_a_legible_crd_is_a_problem(repo: Path) -> None:
    text = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: {{ .Values.spec }}\n"
    commit(repo, {"w.yaml": text})
    problem = "a map or list cannot be a key (a template with a CRD"
    assert _checked(repo, 2) == ([], [("w.yaml", problem)])


@pytest.mark.parametrize(
    "kind",
    [
        "kind: !!str CustomResourceDefinition",
        'kind: &k "CustomResourceDefinition"',
        "kind: >-\n  CustomResourceDefinition",
        "? kind\n: # here\n  CustomResourceDefinition",
        'kind: "CustomRes\\\n  ourceDefinition"',
        "kind: CustomResourceDefinitionList",
    ],
    ids=["tag", "anchor", "block", "key on its own line", "broken string", "list"],
)
def test_a_spelling_of_the_kind_in_a_template(repo: Path, kind: str) -> None:
    commit(repo, {"w.yaml": f"{kind}\nspec: {{{{ .Values.spec }}}}: b\n"})
    found, problems = _checked(repo, 2)
    assert (found, [file for file, _ in problems]) == ([], ["w.yaml"])


def test_a_template_without_a_crd_is_skipped(repo: Path) -> None:
    text = "# of a CustomResourceDefinition\nkind: {{ .Values.kind }}\n"
    commit(repo, {"t.yaml": text, "w.yaml": widget("A", "B")})
    assert _checked(repo, 1) == ([FINDING], [])


@pytest.mark.parametrize(
    "version", ["https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1", "http://git-media.io/v/2"]
)
def test_a_pointer_of_lfs_is_a_problem(repo: Path, version: str) -> None:
    """Git LFS reads the two older names of its format, too."""
    commit(repo, {"w.yaml": f"version {version}\noid sha256:00\nsize 1\n"})
    assert _checked(repo, 2) == ([], [("w.yaml", "a pointer of Git LFS, not the file")])


def test_a_crd_that_moves_behind_a_link(repo: Path) -> None:
    git(repo, "rm", "-q", "w.yaml")
    (repo / "w.yaml").symlink_to("vendor/example/w.txt")
    commit(repo, {"vendor/example/w.txt": json.dumps(widget("A", "B"))})
    assert _checked(repo, 1) == ([FINDING], [])


def test_a_crd_behind_a_link_that_changes(repo: Path) -> None:
    (repo / "crds").symlink_to("vendor/crds")
    git(repo, "rm", "-q", "w.yaml")
    commit(repo, {"vendor/crds/w.yaml": widget("A")})
    commit(repo, {"vendor/crds/w.yaml": widget("A", "B")})
    assert _checked(repo, 1) == ([FINDING], [])


def test_a_crd_that_moves_out_behind_a_link(repo: Path, tmp_path: Path) -> None:
    git(repo, "rm", "-q", "w.yaml")
    (tmp_path / "w.yaml").write_text(_TEXT)
    (repo / "w.yaml").symlink_to(tmp_path / "w.yaml")
    commit(repo, {"other.yaml": "a: 2\n"})
    assert _checked(repo, 2) == ([], [("w.yaml", "symbolic link out of the source")])


def test_a_link_that_only_the_base_has(repo: Path) -> None:
    """No changed file has the name of a manifest: the link to the folder is removed, and with it the CRD."""
    (repo / "crds").symlink_to("vendor/crds")
    git(repo, "rm", "-q", "w.yaml")
    commit(repo, {"vendor/crds/w.yaml": widget("A")})
    git(repo, "rm", "-q", "crds")
    commit(repo, {"notes.txt": "text"})
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    (section,) = ran.report["sections"]
    assert {finding["rule"] for finding in section["findings"]} == {"crd-removed"}


@pytest.mark.parametrize("head", ["index:", "HEAD", "worktree:"])
def test_a_name_that_is_no_text_hides_no_file(tmp_path: Path, head: str) -> None:
    """Reports show the byte 0xff as an escape, which can be the name of another file."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    commit(repo, {"w.yaml": None, "crds/w\\xff.yaml": widget("A", "B")})
    Path(os.fsdecode(os.fsencode(repo) + b"/crds/w\xff.yaml")).write_text(json.dumps(widget("A")))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a")
    report = check(repo, "--base", "HEAD~2", "--head", head, code=2)
    assert [each["file"] for each in report["sections"][0]["summary"]["problems"]] == ["crds/w\\xff.yaml"]

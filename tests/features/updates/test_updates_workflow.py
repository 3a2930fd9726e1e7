"""The versions that a change moves, in each kind of manifest; and what a hostile change can make of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from changes import repository
from helpers import Json, Run, commit, run

REPO = "https://charts.example.com"
OCI = "oci://registry.example.com/charts"


def _flux(kind: str, spec: Json, name: str = "a", group: str = "source.toolkit.fluxcd.io/v1") -> Json:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "flux"}, "spec": spec}


def _release(version: str) -> Json:
    chart = {"chart": "widgets", "version": version, "sourceRef": {"kind": "HelmRepository", "name": "r"}}
    return _flux("HelmRelease", {"chart": {"spec": chart}}, group="helm.toolkit.fluxcd.io/v2")


def _argo(**source: str) -> Json:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "a"},
        "spec": {"source": source},
    }


def _chart(place: str, version: str, name: str = "widgets") -> str:
    return f"name: a\ndependencies:\n- {{name: {name}, repository: {place!r}, version: {version!r}}}\n"


def _go(version: str, more: str = "") -> str:
    return f"module example.com/a\n\ngo 1.25\n\nrequire (\n\texample.com/api {version} // indirect\n)\n{more}"


def _updated(tmp_path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> Run:
    repo = repository(tmp_path)
    base = commit(repo, old)
    commit(repo, {**new, "README": "changed"})
    return run("updates", base, cwd=repo)


#: By name: the file, its content by version, both versions, and the line without versions and file.
CASES: Mapping[str, tuple[str, Any, str, str]] = {
    "dependency": ("c/Chart.yaml", lambda v: _chart(REPO, v), f"helm {REPO} widgets", "c/Chart.yaml"),
    "dependency in a registry": ("Chart.yaml", lambda v: _chart(OCI, v), f"oci {OCI}/widgets -", "Chart.yaml"),
    "requirements": ("requirements.yaml", lambda v: _chart(REPO, v), f"helm {REPO} widgets", "requirements.yaml"),
    "HelmRelease": ("r.yaml", _release, f"helm {REPO} widgets", "r.yaml"),
    "OCIRepository": (
        "o.yaml",
        lambda v: _flux("OCIRepository", {"url": f"{OCI}/w", "ref": {"tag": v}}),
        f"oci {OCI}/w -",
        "o.yaml",
    ),
    "GitRepository": (
        "g.yaml",
        lambda v: _flux("GitRepository", {"url": "https://git.example.com/a/b.git", "ref": {"tag": v}}),
        "git https://git.example.com/a/b -",
        "g.yaml",
    ),
    "Application with a chart": (
        "a.yaml",
        lambda v: _argo(repoURL=REPO, chart="widgets", targetRevision=v),
        f"helm {REPO} widgets",
        "a.yaml",
    ),
    "Application with a chart in a registry": (
        "a.yaml",
        lambda v: _argo(repoURL="registry.example.com/charts", chart="widgets", targetRevision=v),
        f"oci {OCI}/widgets -",
        "a.yaml",
    ),
    "Application with a folder": (
        "a.yaml",
        lambda v: _argo(repoURL="https://git.example.com/a/b", path="./config/crd/", targetRevision=v),
        "git https://git.example.com/a/b config/crd",
        "a.yaml",
    ),
    "remote base": (
        "kustomization.yaml",
        lambda v: {"resources": [f"github.com/a/b/config/crd?ref={v}", "local.yaml"]},
        "git https://github.com/a/b config/crd",
        "kustomization.yaml",
    ),
    "remote base of any host": (
        "kustomization.yaml",
        lambda v: {"resources": [f"https://git.example.com/x/a/b.git//config?timeout=120&ref={v}"]},
        "git https://git.example.com/x/a/b config",
        "kustomization.yaml",
    ),
    "chart of a kustomization": (
        "kustomization.yaml",
        lambda v: {"helmCharts": [{"name": "widgets", "repo": REPO, "version": v}]},
        f"helm {REPO} widgets",
        "kustomization.yaml",
    ),
}
_REPOSITORY = {"repositories.yaml": _flux("HelmRepository", {"url": REPO}, "r")}


@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_manifest(tmp_path: Path, name: str) -> None:
    file, made, words, shown = CASES[name]
    ran = _updated(tmp_path, {file: made("1.4.0"), **_REPOSITORY}, {file: made("v1.5.0-rc.1")})
    assert (ran.code, ran.out, ran.err) == (0, f"{words} 1.4.0 v1.5.0-rc.1 {shown}\n", "")


def test_a_repository_of_a_release_in_a_registry(tmp_path: Path) -> None:
    repositories = {"repositories.yaml": _flux("HelmRepository", {"url": OCI, "type": "oci"}, "r")}
    ran = _updated(tmp_path, {"r.yaml": _release("1.4.0"), **repositories}, {"r.yaml": _release("1.5.0")})
    assert ran.out == f"oci {OCI}/widgets - 1.4.0 1.5.0 r.yaml\n"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("", "go - example.com/api v1.4.0 v1.5.0"),
        ("replace example.com/api => example.org/fork v1.9.0\n", ""),
        ("replace example.com/api => ../api\n", ""),
    ],
)
def test_a_go_module(tmp_path: Path, more: str, words: str) -> None:
    ran = _updated(tmp_path, {"go.mod": _go("v1.4.0", more)}, {"go.mod": _go("v1.5.0", more)})
    assert (ran.code, ran.out) == (0, f"{words} go.mod\n" if words else "")


def test_a_file_behind_a_url(tmp_path: Path) -> None:
    old, new = (f"https://example.com/releases/v{version}/crds.yaml" for version in ("1.4.0", "1.5.0"))
    files = ({"kustomization.yaml": {"resources": [url]}} for url in (old, new))
    assert _updated(tmp_path, *files).out == f"url - - {old} {new} kustomization.yaml\n"


def test_two_of_one_name(tmp_path: Path) -> None:
    """The second one moves; the first one stands for nothing but itself."""
    both = (
        (_chart(REPO, "1.4.0") + _chart(REPO, second).partition("\n")[2].partition("\n")[2])
        for second in ("1.0.0", "2.0.0")
    )
    ran = _updated(tmp_path, *({"Chart.yaml": text} for text in both))
    assert ran.out == f"helm {REPO} widgets 1.0.0 2.0.0 Chart.yaml\n"


def test_what_moves_no_version(tmp_path: Path) -> None:
    """A new dependency has no older version; a folder of the repository is no update of others."""
    old = {"Chart.yaml": "name: a\n", "c/Chart.yaml": _chart("file://../a", "1.0.0"), "w.yaml": {"kind": "ConfigMap"}}
    new = {"Chart.yaml": _chart(REPO, "1.0.0"), "c/Chart.yaml": _chart("file://../a", "2.0.0"), "w.yaml": {"kind": "X"}}
    ran = _updated(tmp_path, old, new)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


_GOOD = (REPO, "1.4.0", "widgets")
_ELSEWHERE = "the change names another address or chart than the base: compare them by hand"
_ADDRESS = "only http, https and oci addresses without user, password and query are listed"
_RANGE = "the version is a range, or has characters that versions do not have"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (_GOOD, ("http://169.254.169.254", "1.5.0", "widgets"), _ELSEWHERE),
        (_GOOD, ("https://charts.example.com.evil.example", "1.5.0", "widgets"), _ELSEWHERE),
        (_GOOD, (OCI, "1.5.0", "widgets"), _ELSEWHERE),
        (_GOOD, ("https://user:secret@charts.example.com", "1.5.0", "widgets"), _ADDRESS),
        (_GOOD, ("https://charts.example.com/?token=secret", "1.5.0", "widgets"), _ADDRESS),
        (_GOOD, ("https://charts.example.com/../x", "1.5.0", "widgets"), _ADDRESS),
        (_GOOD, ("--repo=x", "1.5.0", "widgets"), _ADDRESS),
        (_GOOD, ("/etc", "1.5.0", "widgets"), _ADDRESS),
        (_GOOD, ("ssh://git@example.com/x", "1.5.0", "widgets"), _ADDRESS),
        *((_GOOD, (REPO, version, "widgets"), _RANGE) for version in (
            "--post-renderer=x", "1.5.0 --x", "$(id)", "1.5.0;id", "../../x", "^1.5.0", "1.x", ">=1.5.0", "", "9" * 400
        )),
        (("https://a:b@charts.example.com", "1.4.0", "widgets"),) * 2 + (None,),
    ],
)  # fmt: skip
def test_a_hostile_dependency(
    tmp_path: Path, old: tuple[str, str, str], new: tuple[str, str, str], reason: str | None
) -> None:
    """The change chooses the version alone, and that is a plain one; nothing of a refused one is printed."""
    ran = _updated(tmp_path, {"Chart.yaml": _chart(*old)}, {"Chart.yaml": _chart(*new)})
    said = f"crdcompat: not listed: Chart.yaml: dependency widgets: {reason}\n" if reason else ""
    assert (ran.code, ran.out, ran.err) == (2 if reason else 0, "", said)


@pytest.mark.parametrize("ref", ["--upload-pack=x", "v1..v2", "HEAD~1", "a b", "x\x1b[31m"])
def test_a_hostile_base_of_a_kustomization(tmp_path: Path, ref: str) -> None:
    files = ({"kustomization.yaml": {"resources": [f"github.com/a/b/config?ref={each}"]}} for each in ("v1.0.0", ref))
    ran = _updated(tmp_path, *files)
    assert (ran.code, ran.out) == (2, "")
    assert _RANGE in ran.err and "\x1b" not in ran.err


def test_a_repository_that_the_change_moves(tmp_path: Path) -> None:
    """The address of a HelmRelease is in another file."""
    moved = {"repositories.yaml": _flux("HelmRepository", {"url": "http://10.0.0.1"}, "r")}
    ran = _updated(tmp_path, {"r.yaml": _release("1.4.0"), **_REPOSITORY}, {"r.yaml": _release("1.5.0"), **moved})
    assert (ran.code, ran.out) == (2, "")
    assert _ELSEWHERE in ran.err


def test_a_manifest_that_cannot_be_read(tmp_path: Path) -> None:
    ran = _updated(tmp_path, {"a.yaml": "kind: HelmRelease\n"}, {"a.yaml": "kind: HelmRelease\na: [\n"})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("crdcompat: not listed: a.yaml: line ")

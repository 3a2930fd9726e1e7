"""--include and --exclude, the note on CRDs that they leave out, and what ``init`` finds out about copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, commit, crd, git, obj, root, run, string, version, write


def _copy(values: str, kind: str = "Widget") -> Json:
    return crd(root(status=obj(phase=string(*values))), kind=kind)


def _sides(top: Path) -> tuple[str, str]:
    """Widgets in a/, Gadgets in b/: both gain a value."""
    for side, values in (("old", "A"), ("new", "AB")):
        write(top / side / "a/w.yaml", _copy(values))
        write(top / side / "b/g.yaml", _copy(values, "Gadget"))
    return "./old", "./new"


_WIDGETS, _GADGETS = "widgets.example.com", "gadgets.example.com"


def _left(key: str, name: str) -> list[str]:
    return [f"{key} leaves out 1 of 2 CRDs: {name}"]


@pytest.mark.parametrize(
    ("config", "options", "found", "note"),
    [
        pytest.param("", [], {_WIDGETS, _GADGETS}, [], id="all"),
        pytest.param("", ["--include", "a/*"], {_WIDGETS}, _left("include", _GADGETS), id="include"),
        pytest.param("", ["--exclude", "a/*"], {_GADGETS}, _left("exclude", _WIDGETS), id="exclude"),
        pytest.param(
            'include: ["a/*"]',
            ["--include", "b/*"],
            {_GADGETS},
            _left("include", _WIDGETS),
            id="include replaces",
        ),
        pytest.param(
            'exclude: ["a/*"]',
            ["--exclude", "c/*"],
            {_GADGETS},
            _left("exclude", _WIDGETS),
            id="exclude adds",
        ),
        pytest.param("", ["--include", "a/*", "--include", "b/*"], {_WIDGETS, _GADGETS}, [], id="two"),
    ],
)
def test_options_override_or_add(
    tmp_path: Path, config: str, options: list[str], found: set[str], note: list[str]
) -> None:
    sides = _sides(tmp_path)
    (tmp_path / ".crdcompat.yaml").write_text(f"{config}\nbase: main\n")
    ran = run("diff", *sides, *options, "--format", "json", cwd=tmp_path)
    assert ({each["crd"] for each in ran.report["findings"]}, ran.code) == (found, 1)
    assert [each for each in ran.report["new"]["notes"] if "leave" in each] == note
    cells = run("matrix", *sides, *options, "--format", "json", cwd=tmp_path).report["cells"]
    blocked = {blocker["crd"] for cell in cells if cell["direction"] == "rollback" for blocker in cell["blockers"]}
    assert blocked == found


def test_simulate_and_check_take_the_options(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    told = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"phase": "B"}}
    recorded = write(tmp_path / "o.json", told)
    codes = [
        run("simulate", *sides, "--objects", recorded, "--exclude", glob, cwd=tmp_path).code for glob in ("b/*", "a/*")
    ]
    assert codes == [1, 2]
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-qb", "main")
    commit(repo, {"a/w.yaml": _copy("A"), "b/w.yaml": "a: 1"})
    commit(repo, {"a/w.yaml": _copy("AB")})
    codes = [run("check", "--base", "HEAD~1", "--exclude", glob, cwd=repo).code for glob in ("b/*", "a/*")]
    assert codes == [1, 2]
    said = run("check", "--base", "HEAD~1", "--exclude", "a/*", cwd=repo)
    assert "`exclude` of the command line leaves none of the CRDs in this change" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("bundle", "said"),
    [
        pytest.param(
            "C",
            [
                "# CRDs of config/crd, from config/crd/kustomization.yaml",
                "# Copies elsewhere differ from these.",
                'ships: ["config/crd/*"]',
            ],
            id="they differ",
        ),
        pytest.param(
            "A",
            ["# CRDs of config/crd, from config/crd/kustomization.yaml", '# ships: ["config/crd/*"]'],
            id="they agree",
        ),
    ],
)
def test_init_writes_what_ships_and_why(tmp_path: Path, bundle: str, said: list[str]) -> None:
    git(tmp_path, "init", "-qb", "main")
    commit(
        tmp_path,
        {
            "config/crd/kustomization.yaml": "resources: [w.yaml]\n",
            "config/crd/w.yaml": _copy("A"),
            "bundle/w.yaml": _copy(bundle),
        },
    )
    run("init", cwd=tmp_path)
    lines = (tmp_path / ".crdcompat.yaml").read_text().splitlines()
    at = lines.index("# The manifests that clusters get; they override other documents of the same CRDs.")
    assert lines[at + 1 : at + 1 + len(said)] == said
    assert lines[at + 1 + len(said)] == ""
    assert run("config", cwd=tmp_path).code == 0


@pytest.mark.parametrize(("stale", "comment"), [("C", ""), ("A", "# ")], ids=["another copy differs", "all agree"])
def test_init_writes_charts_and_bundles_alike(tmp_path: Path, stale: str, comment: str) -> None:
    """NetObserv has users of both: either alone would leave the other's CRDs out."""
    git(tmp_path, "init", "-qb", "main")
    said = {"op/Chart.yaml": "name: op\n", "bundle.Dockerfile": "COPY bundle/manifests /manifests/\n"}
    copies = {"op/crds/w.yaml": "A", "bundle/manifests/w.yaml": "A", "config/w.yaml": stale}
    commit(tmp_path, {**said, **{path: _copy(values) for path, values in copies.items()}})
    run("init", cwd=tmp_path)
    text = (tmp_path / ".crdcompat.yaml").read_text()
    assert f'\n{comment}ships: ["bundle/manifests/*", "op/crds/*"]\n' in text


@pytest.mark.parametrize("omitted", [True, False])
def test_init_writes_files_where_a_kustomization_leaves_out_a_copy(tmp_path: Path, omitted: bool) -> None:
    """multiclusterhub-operator: an old copy in config/crd/bases would override the one that ships."""
    git(tmp_path, "init", "-qb", "main")
    listed = "resources: [w.yaml]\n" if omitted else "resources: [w.yaml, g.yaml]\n"
    widgets = {"crd/w.yaml": _copy("A"), "bundle/w.yaml": _copy("C")}
    gadgets = {"crd/g.yaml": _copy("A", "Gadget"), "pkg/g.yaml": _copy("AB" if omitted else "A", "Gadget")}
    commit(tmp_path, {"crd/kustomization.yaml": listed, **widgets, **gadgets})
    run("init", cwd=tmp_path)
    ships = "crd/w.yaml" if omitted else "crd/*"
    assert f'\nships: ["{ships}"]\n' in (tmp_path / ".crdcompat.yaml").read_text()


def test_init_leaves_out_an_archive_of_what_kustomize_adds_a_conversion_to(tmp_path: Path) -> None:
    """argocd-operator: config/crd/bases has no conversion; the bundle and the folder of a release have it."""
    git(tmp_path, "init", "-qb", "main")
    made = crd(versions=[version(root()), version(root(), "v2", storage=False)])
    webhook = {"clientConfig": {"url": "https://example.com"}, "conversionReviewVersions": ["v1"]}
    built = {**made, "spec": {**made["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}
    files = {
        "crd/kustomization.yaml": "resources: [w.yaml]\npatches: [{path: p.yaml}]\n",
        "crd/p.yaml": {
            **{key: made[key] for key in ("apiVersion", "kind")},
            "metadata": {"name": made["metadata"]["name"]},
            "spec": {"conversion": {"strategy": "Webhook"}},
        },
        "crd/w.yaml": made,
        "bundle.Dockerfile": "COPY bundle/manifests /manifests/\n",
    }
    commit(tmp_path, {**files, "bundle/manifests/w.yaml": built, "catalog/1.1.0/w.yaml": built})
    run("init", cwd=tmp_path)
    assert '\nships: ["bundle/manifests/*"]\n' in (tmp_path / ".crdcompat.yaml").read_text()


def test_init_leaves_out_no_copy_that_ships_beside_others(tmp_path: Path) -> None:
    """Tigera's operator: the CRDs of both products ship; a copy elsewhere differs from one of the first product."""
    git(tmp_path, "init", "-qb", "main")
    copies = {"crds/big/v1/w.yaml": _copy("A"), "crds/small/w.yaml": _copy("AC")}
    gadgets = {"crds/big/g.yaml": _copy("A", "Gadget"), "deploy/g.yaml": _copy("C", "Gadget")}
    commit(tmp_path, {**copies, **gadgets, "crds/crds.go": "package crds\n\n//go:embed big small\n"})
    run("init", cwd=tmp_path)
    assert '\nships: ["crds/big/*", "crds/small/*"]\n' in (tmp_path / ".crdcompat.yaml").read_text()


def test_a_file_that_is_left_out_need_not_be_there(tmp_path: Path) -> None:
    """A clone can lack what is large (``--filter=blob:limit=…``)."""
    git(tmp_path, "init", "-q", "-b", "main", ".")
    commit(tmp_path, {"a/w.yaml": _copy("A"), "b/g.yaml": _copy("A", "Gadget")})
    oid = git(tmp_path, "rev-parse", "HEAD:b/g.yaml")
    commit(tmp_path, {"a/w.yaml": _copy("AB")})
    (tmp_path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    refs = "diff", "HEAD~", "HEAD", "--format", "json"
    assert run(*refs, cwd=tmp_path).code == 2
    ran = run(*refs, "--exclude", "b/*", cwd=tmp_path)
    assert ({each["crd"] for each in ran.report["findings"]}, ran.code) == ({_WIDGETS}, 1)
    (note,) = ran.report["new"]["notes"]
    assert note.startswith(f"exclude leaves out files whose CRDs are not known: b/g.yaml: git object {oid} is missing")

"""Which document of a context defines a version of a CRD."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, only, root, run, string, version
from variants import tree, variant

from crdcompat import load_crds
from crdcompat.crds.resolving import Chosen, disagree, resolve, resolve_all, usual_context
from crdcompat.errors import UsageError


def _files(chosen: Iterable[Chosen]) -> list[str]:
    return [each.document.file for each in chosen]


def _with_text(made: Json, text: str) -> Json:
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = text
    return made


# -- one version, several documents ---------------------------------------------


def test_what_gives_way_is_named(tmp_path: Path) -> None:
    """Two documents of one context say different things about one version: its own folder's counts."""
    v1, wrong = variant("A", ha="true"), variant("Z", ha="true")
    old = tree(tmp_path / "old", other__w=wrong, v1__w=v1)
    new = tree(tmp_path / "new", other__w=wrong, v1__w=variant("A", "B", ha="true"))
    report = diff(old, new)
    finding = only(report)
    assert (finding["old"], finding["new"]) == (["A"], ["A", "B"])
    assert {tuple(entry.values()) for entry in report["summary"]["superseded"]} == {
        ("widgets.example.com", "other/w.yaml", "v1/w.yaml")
    }
    text = run("diff", old, new, "-v").out
    assert "other/w.yaml is ignored, v1/w.yaml is used" in text
    assert "1 duplicate CRD document ignored (-v names them)" in run("diff", old, new).out


@pytest.mark.parametrize(
    ("used", "ignored"),
    [
        pytest.param("v1__w", "a", id="the folder of the version before the path"),
        pytest.param("v1__w", "a__w", id="the folder of the version before another folder"),
        pytest.param("a", "b", id="the first path"),
    ],
)
def test_the_first_by_rank_defines_a_version(tmp_path: Path, used: str, ignored: str) -> None:
    crds = load_crds(f"path:{tree(tmp_path, **{ignored: variant('Z'), used: variant('A')})}")
    found = resolve(crds.documents[::-1])
    files = [f"{name.replace('__', '/')}.yaml" for name in (used, ignored)]
    assert _files([found.versions["v1"]]) == files[:1]
    assert found.crd is found.versions["v1"].document.crd
    assert [document.file for document in found.documents] == files
    assert found.ignored_duplicates == (("widgets.example.com", files[1], files[0]),)


def test_an_explicit_set_wins_over_none(tmp_path: Path) -> None:
    crds = load_crds(f"path:{tree(tmp_path, a=variant('Z'), b=variant('A', set='Default'))}")
    found = resolve(crds.documents)
    assert _files([found.versions["v1"]]) == ["b.yaml"]
    assert found.ignored_duplicates == (("widgets.example.com", "a.yaml", "b.yaml"),)


def test_equal_schemas_are_copies_and_what_only_paths_order_are_rivals(tmp_path: Path) -> None:
    folder = tree(
        tmp_path,
        a=variant("A", set="Default"),
        b=variant("A", set="Default"),
        c=variant("C", set="Default"),
        d=_with_text(variant("A", set="Default"), "in other words"),
        e=variant("E"),
    )
    found = resolve(load_crds(f"path:{folder}").documents)
    first = found.versions["v1"]
    assert _files(first.everywhere()) == ["a.yaml", "b.yaml"]
    assert _files(first.rivals) == ["c.yaml"]
    assert [ignored for _, ignored, _ in found.ignored_duplicates] == ["c.yaml", "d.yaml", "e.yaml"]


# -- whether documents disagree ---------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "has_variants", "found"),
    [
        pytest.param(variant("A"), variant("A"), False, False, id="equal"),
        pytest.param(variant("A"), variant("B"), False, True, id="different"),
        pytest.param(variant("A"), variant("B"), True, True, id="different variants of one rank"),
        pytest.param(variant("A", set="Default"), variant("B"), True, False, id="variants of two ranks"),
        pytest.param(variant("A", set="Default"), variant("B"), False, True, id="no variants, no rank"),
        pytest.param(_with_text(variant("A"), "in other words"), variant("A"), False, True, id="in texts"),
    ],
)
def test_documents_that_disagree(tmp_path: Path, a: Json, b: Json, has_variants: bool, found: bool) -> None:
    crds = load_crds(f"path:{tree(tmp_path, a=a, b=b)}")
    assert disagree(crds.documents, has_variants) is found


def test_documents_with_other_versions_disagree_unless_they_are_variants(tmp_path: Path) -> None:
    schema = root(status=obj(phase=string("A")))
    one = crd(versions=[version(schema, "v1")])
    two = crd(versions=[version(schema, "v1"), version(schema, "v2", storage=False)])
    documents = load_crds(f"path:{tree(tmp_path, a=one, b=two)}").documents
    assert (disagree(documents, False), disagree(documents, True)) == (True, False)


# -- all CRDs of a context ---------------------------------------------


def test_every_crd_of_a_context(tmp_path: Path) -> None:
    folder = tree(tmp_path, both=variant("A", a="true", b="true"), gadget=_gadget(a="true"))
    crds = load_crds(f"path:{folder}")
    widget, gadget = ("example.com", "Widget"), ("example.com", "Gadget")
    name, of_a = resolve_all(crds, crds)
    assert (name, of_a.keys()) == ("Default/a", {widget, gadget})
    name, of_b = resolve_all(crds, crds, "Default/b")
    assert (name, of_b.keys()) == ("Default/b", {widget})
    with pytest.raises(UsageError, match=r"no context Default/c in .*; there are: Default/a, Default/b"):
        resolve_all(crds, crds, "Default/c")


def test_a_tree_without_variants_has_the_contexts_of_the_other_one(tmp_path: Path) -> None:
    plain = load_crds(f"path:{tree(tmp_path / 'plain', w=variant('A'))}")
    other = load_crds(f"path:{tree(tmp_path / 'other', w=variant('A', ha='true'))}")
    assert resolve_all(plain, other)[0] == "Default/ha"
    assert resolve_all(plain, plain)[0] == "default"


@pytest.mark.parametrize(
    ("profiles", "found"),
    [
        (("aws", "self-managed-high-availability", "default"), "Default/self-managed-high-availability"),
        (("aws", "default"), "Default/default"),
        (("zoned", "aws"), "Default/aws"),
    ],
)
def test_the_usual_context(tmp_path: Path, profiles: tuple[str, ...], found: str) -> None:
    tree(tmp_path, w=variant("A", **dict.fromkeys((name.replace("-", "_") for name in profiles), "true")))
    crds = load_crds(f"path:{tmp_path}")
    assert usual_context(crds, crds) == found


def _gadget(**annotations: str) -> Json:
    return crd(kind="Gadget", annotations=variant("A", **annotations)["metadata"]["annotations"])

"""Which document of OLD goes with which of NEW: by name and context, never by path."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, brief, crd, diff, obj, only, root, run, select, string, version, write
from variants import default_and_preview, tree, variant

from crdcompat import load_crds
from crdcompat.crds.pairing import pair


def test_context_chooses(tmp_path: Path) -> None:
    old, new = default_and_preview(tmp_path / "old", "A", "A"), default_and_preview(tmp_path / "new", "A", "AB")
    assert diff(old, new, "--context", "Default/ha")["findings"] == []
    assert only(diff(old, new, "--context", "CustomNoUpgrade/ha"))["contexts"] == ["CustomNoUpgrade/ha"]


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("Defualt/ha", "no context Defualt/ha on both sides; there are: {}; did you mean Default/ha?"),
        ("Nothing", "no context Nothing on both sides; there are: {}"),
        (
            "Default/ha=customNoUpgrade/ha",
            "no context customNoUpgrade/ha in {new}; there are: {}; did you mean {custom}?",
        ),
        ("Nothing=CustomNoUpgrade/ha", "no context Nothing in {old}; there are: {}"),
    ],
)
def test_an_unknown_context_is_named_with_the_nearest(tmp_path: Path, context: str, message: str) -> None:
    old, new = default_and_preview(tmp_path / "old", "A", "A"), default_and_preview(tmp_path / "new", "A", "AB")
    ran = run("diff", old, new, "--context", context)
    expected = message.format(
        "CustomNoUpgrade/ha, Default/ha, TechPreviewNoUpgrade/ha", old=old, new=new, custom="CustomNoUpgrade/ha"
    )
    assert (ran.code, ran.out, ran.err) == (2, "", f"crdcompat: {expected}\n")


def test_an_unknown_context_beside_known_ones(tmp_path: Path) -> None:
    """A name that only one release has is no mistake."""
    old, new = default_and_preview(tmp_path / "old", "A", "A"), default_and_preview(tmp_path / "new", "A", "AB")
    known = ("--context", "CustomNoUpgrade/ha", "--context")
    for wrong in ("Defualt/ha", "Defualt/ha=Default/ha"):
        commands = [("diff", old, new), ("matrix", old, new)]
        for ran in (run(*command, *known, wrong) for command in commands):
            assert (ran.code, ran.out) == (2, "")
            assert ran.err.startswith("crdcompat: no context Defualt/ha ") and "did you mean Default/ha?" in ran.err
    one_sided = tree(tmp_path / "one-sided", a=variant("A", ha="true"))
    assert run("diff", one_sided, new, *known, "Default/ha").code == 0


def test_a_pair_of_contexts_can_be_forced(tmp_path: Path) -> None:
    old, new = default_and_preview(tmp_path / "old", "A", "A"), default_and_preview(tmp_path / "new", "A", "AB")
    report = diff(old, new, "--context", "Default/ha=CustomNoUpgrade/ha")
    assert only(report)["contexts"] == ["Default/ha=CustomNoUpgrade/ha"]
    ran = run("diff", old, new, "--context", "Default/ha=Nothing")
    assert ran.code == 2


def test_copies_in_several_folders_are_compared_folder_by_folder(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", config__w=variant("A"), bundle__w=variant("A", "B"))
    new = tree(tmp_path / "new", config__w=variant("A", "B"), bundle__w=variant("A", "B", "C"))
    report = diff(old, new)
    assert sorted((f["old"], f["added"]) for f in report["findings"]) == [(["A"], ["B"]), (["A", "B"], ["C"])]


def test_equal_copies_are_one(tmp_path: Path) -> None:
    places = ("config__w", "bundle__w", "charts__x__w", "deploy__all")
    old = tree(tmp_path / "old", **{place: variant("A") for place in places})
    new = tree(tmp_path / "new", **{place: variant("A", "B") for place in places[:3]}, elsewhere=variant("A", "B"))
    report = diff(old, new)
    assert only(report)["added"] == ["B"]
    assert report["summary"]["crds"] == {
        "old": 1, "new": 1, "compared": 1, "changed": 1, "only_old": [], "only_new": [], "apart": [],
        "unmatched": [],
    }  # fmt: skip


def test_versions_that_only_one_side_has(tmp_path: Path) -> None:
    schema = root(spec=obj(a=string("A")))
    old = write(tmp_path / "old.yaml", crd(versions=[version(schema, "v1beta1")]))
    new = write(tmp_path / "new.yaml", crd(versions=[version(schema, "v1beta1", storage=False), version(schema, "v1")]))
    report = diff(old, new)
    assert [(f["rule"], f["direction"], f["version"]) for f in report["findings"]] == [
        ("version-storage-moved", "rollback", "v1")
    ]
    assert report["undecided"] == []


def test_every_version_is_compared(tmp_path: Path) -> None:
    def made(*members: str) -> Json:
        narrow, wide = root(status=obj(p=string("A"))), root(status=obj(p=string(*members)))
        return crd(versions=[version(narrow, "v1"), version(wide, "v2", storage=False)])

    finding = only(diff(write(tmp_path / "a.yaml", made("A")), write(tmp_path / "b.yaml", made("A", "B"))))
    assert finding["version"] == "v2"
    assert finding["witness"]["object"]["apiVersion"] == "example.com/v2"


def test_same_change_brief(tmp_path: Path) -> None:
    """Two CRDs with the same change are two findings."""
    for side, members in (("old", ["A"]), ("new", ["A", "B"])):
        for kind in ("Widget", "Gadget"):
            write(tmp_path / side / f"{kind}.yaml", crd(root(status=obj(p=string(*members))), kind=kind))
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [brief(f)[3] for f in report["findings"]] == ["gadgets.example.com", "widgets.example.com"]
    assert len({f["id"] for f in report["findings"]}) == 2
    assert len(select(report, crd="gadgets.example.com")) == 1
    assert len(diff(tmp_path / "old", tmp_path / "new", "--crd", "gadgets.example.com")["findings"]) == 1


# -- what has no counterpart ---------------------------------------------


def test_a_forced_pair_is_terminal_if_either_context_is(tmp_path: Path) -> None:
    old, new = (load_crds(f"path:{default_and_preview(tmp_path / side, 'A', 'AB')}") for side in ("old", "new"))
    forced = [("Default/ha", "CustomNoUpgrade/ha"), ("CustomNoUpgrade/ha", "Default/ha"), ("Default/ha", "Default/ha")]
    pairs = pair(old, new, forced).pairs
    assert [(each.context, each.terminal) for each in pairs] == [
        ("Default/ha=CustomNoUpgrade/ha", True),
        ("CustomNoUpgrade/ha=Default/ha", True),
        ("Default/ha", False),
    ]


def test_a_crd_of_both_sets_without_a_common_context(tmp_path: Path) -> None:
    beside = {"beside": crd(kind="Gadget")}
    old = load_crds(f"path:{tree(tmp_path / 'old', w=variant('A', set='Default', ha='true'), **beside)}")
    new = load_crds(f"path:{tree(tmp_path / 'new', w=variant('A', set='DevPreviewNoUpgrade', ha='true'), **beside)}")
    assert pair(old, new).without_common_context == ("widgets.example.com",)
    assert pair(old, new, only=["Default/ha"]).without_common_context == ()


def test_the_only_channels_of_both_sides_are_a_pair(tmp_path: Path) -> None:
    """kgateway ships the CRDs of the Gateway API: 1.17 those of standard, 1.18 those of experimental."""
    beside = {"beside": crd(kind="Gadget")}
    old = tree(tmp_path / "old", w=variant("A", channel="standard"), **beside)
    new = tree(tmp_path / "new", w=variant("A", "B", channel="experimental"), **beside)
    found = pair(load_crds(f"path:{old}"), load_crds(f"path:{new}"))
    assert [each.new.name for each in found.pairs] == ["gadgets.example.com", "widgets.example.com"]
    assert (found.only_old_contexts, found.only_new_contexts, found.without_common_context) == ((), (), ())
    assert only(diff(old, new))["contexts"] == ["standard=experimental"]
    both = tree(tmp_path / "both", w=variant("A", channel="alpha"), v=variant("A", channel="beta"), **beside)
    assert pair(load_crds(f"path:{old}"), load_crds(f"path:{both}")).pairs == ()


def test_a_crd_with_copies_that_cannot_be_paired_has_a_common_context(tmp_path: Path) -> None:
    old = load_crds(f"path:{tree(tmp_path / 'old', a__w=variant('A'), b__w=variant('B'))}")
    new = load_crds(f"path:{tree(tmp_path / 'new', c__w=variant('C'), d__w=variant('D'))}")
    found = pair(old, new)
    assert ([each.name for each in found.unmatched], found.pairs) == (["widgets.example.com"], ())
    assert found.without_common_context == ()


def test_pairs_are_in_the_order_of_the_names_of_their_crds(tmp_path: Path) -> None:
    """The budget of a comparison is spent in this order: it must not depend on hashes of names."""
    kinds = [f"Kind{letter}" for letter in "qwertyuiop"]
    for side in ("old", "new"):
        for kind in kinds:
            write(tmp_path / side / f"{kind}.yaml", crd(root(spec=obj()), kind=kind))
    pairs = pair(load_crds(f"path:{tmp_path / 'old'}"), load_crds(f"path:{tmp_path / 'new'}")).pairs
    assert [each.new.crd.kind for each in pairs] == sorted(kinds)

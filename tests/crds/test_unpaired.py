"""CRDs that only one side ships: added, removed, renamed, per context, and where nothing can be known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, brief, commit, crd, diff, git, obj, run, string, write
from msgspec.structs import replace

import crdcompat
from crdcompat.crds.templates import TEMPLATE

_FEATURE_SET, _PROFILE = "release.openshift.io/feature-set", "include.release.openshift.io/ha"
_WIDGET, _GADGET = "widgets.example.com", "gadgets.example.com"


def _crd(kind: str = "Widget", sets: str = "", **more: Any) -> Json:
    notes = {_PROFILE: "true", **({_FEATURE_SET: sets} if sets else {})}
    return crd(obj(spec=obj(size=string(), mode=string())), kind=kind, annotations=notes, **more)


def _both(tmp_path: Path, old: list[Json], new: list[Json]) -> tuple[Path, Path]:
    """Two folders, each with a file per CRD, and a CRD that both have."""
    for side, documents in (("old", old), ("new", new)):
        for number, document in enumerate([crd(obj(), kind="Anchor"), *documents]):
            write(tmp_path / side / f"{number}.yaml", document)
    return tmp_path / "old", tmp_path / "new"


def _found(old: Path, new: Path, *options: str) -> list[tuple[str, ...]]:
    return [(*brief(finding)[:4], *finding["contexts"]) for finding in diff(old, new, *options)["findings"]]


def test_one_that_enters_is_an_info_and_one_that_leaves_an_error(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd("Widget")], [_crd("Gadget")])
    assert _found(old, new) == [
        ("rollback", "info", "crd-added", _GADGET, "Default/ha"),
        ("upgrade", "error", "crd-removed", _WIDGET, "Default/ha"),
    ]
    added, removed = diff(old, new)["findings"]
    assert (added["old"], added["new"], removed["old"], removed["new"]) == (None, _GADGET, _WIDGET, None)
    assert [(place["side"], place["file"], place["line"]) for place in added["locations"]] == [("new", "1.yaml", 4)]
    assert [(place["side"], place["file"], place["line"]) for place in removed["locations"]] == [("old", "1.yaml", 4)]


def test_one_that_leaves_one_feature_set_is_said_to_leave_that_alone(tmp_path: Path) -> None:
    sets = "Default,TechPreviewNoUpgrade"
    old, new = _both(tmp_path, [_crd(sets=sets), _crd("Other", sets)], [_crd(sets="Default"), _crd("Other", sets)])
    (left,) = diff(old, new)["findings"]
    assert brief(left)[:4] == ("upgrade", "warning", "crd-removed", _WIDGET)
    assert left["contexts"] == ["TechPreviewNoUpgrade/ha"]
    assert left["message"].startswith("TechPreviewNoUpgrade loses Widget (others keep it): new does not ship Widget ")
    (entered,) = diff(new, old)["findings"]
    assert brief(entered)[:4] == ("rollback", "info", "crd-added", _WIDGET)
    assert entered["message"].startswith("TechPreviewNoUpgrade loses Widget (others keep it): old ships Widget ")


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ({"kind": "Widget"}, {"kind": "Widget", "group": "new.example.com"}, "widgets.new.example.com"),
        ({"kind": "Widget"}, {"kind": "Widget", "plural": "widgetz"}, "widgetz.example.com"),
    ],
)
def test_the_same_kind_under_another_name_is_one_rename(
    tmp_path: Path, old: dict[str, str], new: dict[str, str], names: str
) -> None:
    def made(kind: str, group: str = "example.com", plural: str = "widgets") -> Json:
        document = _crd(kind, group=group)
        document["metadata"]["name"] = f"{plural}.{group}"
        document["spec"]["names"]["plural"] = plural
        return document

    findings = diff(*_both(tmp_path, [made(**old)], [made(**new)]))["findings"]
    assert [(*brief(finding)[:4], finding["old"], finding["new"]) for finding in findings] == [
        (direction, "error", "crd-renamed", _WIDGET, _WIDGET, names) for direction in ("rollback", "upgrade")
    ]
    assert {place["side"] for place in findings[0]["locations"]} == {"old", "new"}


def test_kinds_of_one_name_in_unrelated_groups_are_no_rename(tmp_path: Path) -> None:
    other = crd(obj(spec=obj(address=string()), status=obj(ready=string())), group="other.example.com")
    old, new = _both(tmp_path, [crd(obj(spec=obj(size=string(), mode=string())))], [other])
    assert {rule for _, _, rule, *_ in _found(old, new)} == {"crd-added", "crd-removed"}


def test_two_candidates_are_no_rename(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd()], [_crd(group="a.example.com"), _crd(group="b.example.com")])
    assert sorted(rule for _, _, rule, *_ in _found(old, new)) == ["crd-added", "crd-added", "crd-removed"]


def test_filters_choose_among_them(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd()], [_crd("Gadget"), _crd("Gizmo")])
    assert [crd for *_, crd, _ in _found(old, new, "--crd", _GADGET)] == [_GADGET]
    assert [crd for *_, crd, _ in _found(old, new, "--direction", "upgrade")] == [_WIDGET]
    ran = run("diff", old, new, "2.yaml", "--format", "json")
    assert (ran.code, [finding["crd"] for finding in ran.report["findings"]]) == (0, ["gizmos.example.com"])
    assert run("diff", old, new, "--crd", "nothing.example.com").code == 2


def test_infos_share_one_line(tmp_path: Path) -> None:
    kinds = [f"Kind{letter}" for letter in "ABCDEFGH"]
    old, new = _both(tmp_path, [], [_crd(kind) for kind in kinds])
    lines = [line for line in run("diff", old, new).out.splitlines() if "kind" in line]
    shown = ", ".join(f"kind{letter}s.example.com" for letter in "abcdef")
    assert lines == [f"info CRD added: {shown} and 2 more [crd-added]"]


def test_a_file_that_cannot_be_read_may_still_hold_it(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd()], [])
    assert [rule for _, _, rule, *_ in _found(old, new)] == ["crd-removed"]
    broken = f"{(old / '1.yaml').read_text()}\n{{{{ if .Values.crds }}}}\n"
    write(new / "1.yaml", broken)
    ran = run("diff", old, new, "--format", "json")
    assert (ran.code, ran.report["findings"]) == (2, [])


def test_clusters_and_single_files_do_not_show_what_ships(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd()], [_crd("Gadget")])
    alone = write(tmp_path / "anchor.yaml", crd(obj(), kind="Anchor"))
    assert _found(old, alone) == _found(alone, new) == []
    other = write(tmp_path / "both.yaml", crd(obj(), kind="Anchor"), _crd())
    assert [rule for _, _, rule, *_ in _found(other, alone)] == ["crd-removed"]
    installed = _crd("Installed")
    installed["metadata"]["uid"] = "73c0f9e2-58f9-4d4c-b4b5-2a3a1a1c7e1f"
    write(old / "installed.yaml", installed)
    assert _found(old, new) == []


def test_check_finds_what_a_change_removes_and_a_target_has(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"a.yaml": crd(obj(), kind="Anchor"), "w.yaml": _crd()})
    git(tmp_path, "branch", "release-1.0")
    commit(tmp_path, {"g.yaml": _crd("Gadget")})
    commit(tmp_path, {"w.yaml": None, "g.yaml": None})
    ran = run(
        "check", "--base", "HEAD~1", "--head", "HEAD", "--target", "release-1.0", "--repo", tmp_path, "--format", "json"
    )
    found = [
        (section["against"], finding["rule"], finding["crd"], finding["status"])
        for section in ran.report["sections"]
        for finding in section["findings"]
    ]
    assert found == [
        ("base", "crd-removed", _GADGET, "unreleased"),
        ("base", "crd-removed", _WIDGET, "new"),
        ("target", "crd-removed", _WIDGET, "new"),
    ]


def test_two_that_leave_for_one_successor_are_no_rename(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd(group="a.example.com"), _crd(group="b.example.com")], [_crd()])
    assert sorted(rule for _, _, rule, *_ in _found(old, new)) == ["crd-added", "crd-removed", "crd-removed"]


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        (("size", "mode", "more"), {"crd-renamed"}),
        (("size", "other"), {"crd-added", "crd-removed"}),
    ],
)
def test_a_successor_of_another_group_has_most_of_the_fields(
    tmp_path: Path, fields: tuple[str, ...], rules: set[str]
) -> None:
    after = crd(obj(spec=obj(**{name: string() for name in fields})), group="other.example.com")
    old, new = _both(tmp_path, [crd(obj(spec=obj(size=string(), mode=string())))], [after])
    assert {rule for _, _, rule, *_ in _found(old, new)} == rules


def test_a_file_of_old_that_cannot_be_read_may_have_had_what_new_has(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd()], [_crd(), _crd("Gadget")])
    write(old / "2.yaml", f"{(new / '2.yaml').read_text()}\n{{{{ if .Values.crds }}}}\n")
    ran = run("diff", old, new, "--format", "json")
    assert (ran.code, ran.report["findings"]) == (2, [])


def test_a_template_may_still_hold_what_it_held_before(tmp_path: Path) -> None:
    old, new = _both(tmp_path, [_crd()], [])
    text = "{{ range .Values.kinds }}\n# makes a CustomResourceDefinition\nkind: {{ . }}\n{{ end }}\n"
    write(new / "1.yaml", text)
    report = diff(old, new)
    assert {item["file"]: item["reason"] for item in report["summary"]["skipped"]} == {"1.yaml": TEMPLATE}
    assert report["findings"] == []
    (new / "1.yaml").rename(new / "2.yaml")
    assert [rule for _, _, rule, *_ in _found(old, new)] == ["crd-removed"]


def test_a_release_before_its_first_crd(tmp_path: Path) -> None:
    """A release whose manifests all were left out had CRDs: the others are new in it. An empty folder is no release."""
    new = write(tmp_path / "new/w.yaml", _crd()).parent
    old = tmp_path / "old"
    old.mkdir()
    sides = [crdcompat.load(f"path:{side}") for side in (old, new)]
    assert [each.rule for each in crdcompat.diff(*sides).findings] == []
    for more in ({"unread": {"w.yaml": ()}}, {"is_partial": True}):
        assert [each.rule for each in crdcompat.diff(replace(sides[0], **more), sides[1]).findings] == ["crd-added"]

"""Blocks of siblings, the verdict of a report, and the width of the default text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from changes import repository
from helpers import Json, array, both, commit, crd, obj, root, run, string, version, write
from report_samples import OLD as SAME
from report_samples import compared, sample, unreadable

from crdcompat.findings.entries import entries
from crdcompat.models.diff import DiffReport
from crdcompat.render.escape import _BREAK, Style, shortened
from crdcompat.render.pages.diff import page, verdict
from crdcompat.render.text.text_page import answers_text, page_text
from crdcompat.render.wording.joined_entries import blocks, fold
from crdcompat.vocabulary import Direction


@pytest.mark.parametrize(
    ("paths", "folded"),
    [
        (["spec.a"], "spec.a"),
        (["spec.a", "spec.b"], "spec.{a,b}"),
        (["status.enabledItems[*]", "status.knownItems[*]"], "status.{enabled,known}Items[*]"),
        (["spec.a[*].x", "spec.b[*].x"], "spec.{a,b}[*].x"),
        (["spec.Items", "spec.knownItems"], "spec.{Items,knownItems}"),
        (["spec.p", "spec.q[*]"], "spec.{p,q[*]}"),
        ([f"spec.f{number}" for number in range(8)], "spec.{f0,f1,f2,f3,f4,f5,2 more}"),
        (["spec.a", "status.b"], "spec.a"),
        (["spec.a", "spec.a.b"], "spec.a"),
    ],
)
def test_paths_that_differ_in_one_step_fold(paths: list[str], folded: str) -> None:
    assert fold(paths) == folded


def test_siblings_with_one_sentence_share_a_block(tmp_path: Path) -> None:
    """Another value, another parent or another severity makes another block."""

    def schema(*values: str) -> Json:
        text = string(*values)
        return root(spec=obj(a=text), status=obj(p=text, q=array(text), r=obj(u=text, v=text)))

    report = compared(tmp_path, schema("A"), schema("A", "B"))
    assert {block.path for block in blocks(entries(report))} == {
        "spec.a", "status.{p,q[*]}", "status.r.{u,v}",
    }  # fmt: skip


def test_a_long_rule_is_cut_inside_its_quotes() -> None:
    rule = " || ".join(f"self == 'a{number}'" for number in range(40))
    reader, writer = "release-4.14-of-ours", "release-4.15-of-ours"
    end = f'" in {writer}: after a rollback, {reader} rejects every write of a Widget that breaks it.'
    text = f'is free of the rule "{rule}{end}'
    lines = Style().clip(text, lines=3)
    shown = " ".join(line.strip() for line in lines.split(_BREAK))
    assert shown.startswith("is free of the rule \"self == 'a0' || self")
    assert shown.endswith(end)
    assert (lines.count(_BREAK), shown.count(" … ")) == (2, 1)


def test_words_are_cut_only_where_more_lines_do_not_help() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    assert " … " in Style().clip(text, lines=3)
    assert " … " in Style().clip(text, lines=2, spare=1)
    whole = Style().clip(text, lines=3, spare=2)
    assert whole.replace(_BREAK, "").split() == text.split()
    assert whole.count(_BREAK) == 3


def test_long_rules_are_all_cut_inside_their_quotes() -> None:
    """Two rules that became three others: what happens to objects stays."""
    rules = [" && ".join(f"has(self.{name}{number})" for number in range(9)) for name in "abc"]
    before, after = '"has(self.claim)"', '", "'.join(rules)
    end = ": after a rollback, release-4.14 rejects every write of a Widget that breaks its rules (only on create)."
    lines = Style().clip(f'has other rules ({before} -> "{after}"){end}', lines=3)
    shown = " ".join(line.strip() for line in lines.split(_BREAK))
    assert shown.startswith(f'has other rules ({before} -> "has(self.a0)')
    assert shown.endswith(f'has(self.c8)"){end}')
    assert (lines.count(_BREAK), shown.count(" … ")) == (2, 3)


def test_a_removed_version_is_shown_as_old_has_it(tmp_path: Path) -> None:
    """And the server's whole answer: it is long from 1.33 on."""
    old, new = (tmp_path / f"release-4.{minor}" for minor in (21, 22))
    for folder, name in ((old, "v1alpha1"), (new, "v1")):
        write(folder / "w.yaml", crd(versions=[version(root(spec=obj(a=string())), name)]))
    text = run("diff", old, new, "--direction", "upgrade").out
    assert "\n  old: w.yaml:14:5\n      14 - - name: v1alpha1\n  Widget has no version v1alpha1" in text
    whole = "no data remains persisted in v1alpha1 and removes v1alpha1 from status.storedVersions Compared 1 CRD"
    assert whole in " ".join(text.split())


def test_mirrors_are_named_by_what_differs(tmp_path: Path) -> None:
    """Another version, another CRD, or another path of the same one."""

    def sides(*values: str) -> list[Json]:
        schema = root(spec=obj(a=string(*values)))
        return [
            crd(versions=[version(schema, "v1"), version(schema, "v1beta1", storage=False)]),
            crd(schema, kind="Gadget"),
        ]

    for name, found in (("old", sides("A")), ("new", sides("A", "B"))):
        for each in found:
            write(tmp_path / name / f"{each['metadata']['name']}.yaml", each)
    text = run("diff", tmp_path / "old", tmp_path / "new", "--direction", "rollback").out
    assert "same change in 2 more places: widgets.example.com/v1, widgets.example.com/v1beta1" in text


def test_siblings_of_two_kinds_are_one_answer_and_one_more_place(tmp_path: Path) -> None:
    """The verdict names every kind that is blocked; the siblings have their other place in common."""
    for name, values in (("old", ["A"]), ("new", ["A", "B"])):
        schema = root(status=obj(p=string(*values), q=string(*values)))
        for kind in ("Gadget", "Widget"):
            write(tmp_path / name / f"{kind}.yaml", crd(schema, kind=kind))
    text = run("diff", tmp_path / "old", tmp_path / "new", "--direction", "rollback").out
    assert "\n  Gadget, Widget  status.{p,q}\n" in text
    assert "\n  same change in 1 more place: widgets.example.com/v1\n" in text


@pytest.mark.parametrize("limit", [10, 11, 80])
def test_long_text_is_cut_in_the_middle(limit: int) -> None:
    text = "^(" + "abc|" * 40 + "xyz)$"
    short = shortened(text, limit)
    assert len(short) <= limit
    assert text.startswith(short.split(" … ")[0]) and text.endswith(short.split(" … ")[1])
    assert shortened(text, len(text)) == text


def test_text_is_cut_between_words() -> None:
    text = " ".join(f"{letter}word" for letter in "abcdefghijklmnopqrstuvwxyz")
    for limit in range(20, len(text)):
        short = shortened(text, limit)
        assert len(short) <= limit
        assert {*short.split()} <= {*text.split(), "…"}


def _answers(report: DiffReport) -> Iterator[str]:
    return answers_text(verdict(report, entries(report), Style()), Style())


def _text(report: DiffReport, style: Style) -> Iterator[str]:
    return page_text(page(report, style), style)


def test_the_verdict_says_what_it_rests_on(tmp_path: Path) -> None:
    def verdict(report: object) -> str:
        return next(iter(_answers(report)))

    blocked = sample(tmp_path / "blocked")
    assert [*_answers(blocked)] == [
        "r2 -> r1: BLOCKED",
        "  Widget  status.p",
        '    r1 rejects "B": the controller cannot write status',
        "rollback: 1 error, 1 warning, 1 info; upgrade: 0 errors, 0 warnings, 0 info; 0 undecided.",
    ]
    warned = compared(tmp_path / "risk", root(spec=obj(a=string("A"))), root(spec=obj(a=string("A", "B"))))
    assert verdict(warned) == "r2 -> r1: AT RISK (no error, 1 warning)"
    same = compared(tmp_path / "clean", SAME, SAME)
    assert verdict(same) == "r2 -> r1: CLEAN (no error and no warning in 1 CRD)"
    assert verdict(unreadable(same)) == "r2 -> r1: UNKNOWN (not judged: 1 problem)"


def test_a_filter_limits_the_verdict(tmp_path: Path) -> None:
    sides = both(tmp_path, SAME, SAME)
    text = run("diff", *sides, "--owner", "status").out
    assert text.splitlines()[-2].endswith(": CLEAN (no error and no warning in 1 CRD, as far as the filters go)")
    upgrade = run("diff", *sides, "--direction", "upgrade").out.splitlines()
    assert upgrade[-2] == "old -> new: CLEAN (no error and no warning in 1 CRD)"
    assert upgrade[-1].startswith("upgrade: ") and "rollback" not in upgrade[-1], "only this direction was judged"


def test_an_upgrade_is_a_line_unless_it_fails(tmp_path: Path) -> None:
    narrowed = both(tmp_path / "narrowed", root(spec=obj(p=string("A", "B"))), root(spec=obj(p=string("A"))))
    text = run("diff", *narrowed).out
    assert "Upgrading" not in text and "upgrade: 0 errors, 1 warning, 0 info (--direction upgrade)" in text
    assert "Upgrading" in run("diff", *narrowed, "--direction", "upgrade").out
    assert "Upgrading" in run("diff", *narrowed, "-v").out
    strict = run("diff", *narrowed, "--profile", "strict")
    assert strict.code == 1 and "Upgrading" in strict.out
    assert "old -> new: BLOCKED" in strict.out


def test_a_long_report_begins_with_its_verdict(tmp_path: Path) -> None:
    def fields(*values: str) -> Json:
        return root(status=obj(**{f"f{n}": string("A", *(f"{value}{n}" for value in values)) for n in range(9)}))

    report = compared(tmp_path, fields(), fields("B"))
    lines = [*_text(report, Style(height=20))]
    verdict = lines[: lines.index("")]
    assert verdict[0] == "r2 -> r1: BLOCKED" and lines[-len(verdict) :] == verdict
    assert next(iter(_text(report, Style(height=1000)))) == "r1 -> r2"
    assert report.directions == tuple(Direction)


def test_a_check_shows_both_directions(tmp_path: Path) -> None:
    """A change is small, and its reviewer decides about upgrades, too."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": crd(root(spec=obj(p=string("A", "B"))))})
    commit(repo, {"w.yaml": crd(root(spec=obj(p=string("A"))))})
    text = run("check", "--base", "HEAD~1", cwd=repo).out
    assert "warning[enum-value-removed] widgets.example.com/v1 spec.p" in text
    markdown = run("check", "--base", "HEAD~1", "--format", "markdown", cwd=repo).out
    assert "| warning | `widgets.example.com/v1 spec.p` |" in markdown

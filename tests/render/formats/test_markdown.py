"""Markdown: read by a CommonMark parser, so that what is code is known to be code."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from helpers import obj, root, string
from markdown_it import MarkdownIt
from msgspec.structs import replace
from report_samples import (
    HOSTILE,
    LIMIT,
    check,
    compared,
    empty_check,
    hostile,
    hostile_check,
    rendered,
    replayed,
    sample,
    unreadable,
    widget,
)
from report_samples import OLD as SAME

from crdcompat.errors import Problem
from crdcompat.models.check import Section
from crdcompat.models.diff import Unexplained
from crdcompat.render.markdown.markup import block, bullets, cell, code, span
from crdcompat.vocabulary import Against


class _Page(HTMLParser):
    """What a reader gets: tags, the text outside of code, and each piece of code."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.plain = ""
        self.codes: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert dict(attrs) in ({}, {"class": "language-text"})
        self.tags.append(tag)
        if tag == "code":
            self._inside += 1
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag == "code"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.codes[-1] += data
        else:
            self.plain += data


def _page(text: str) -> _Page:
    page = _Page()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    page.close()
    return page


def test_counts_first_then_findings(tmp_path: Path) -> None:
    report = sample(tmp_path)
    text = rendered(report, "markdown")
    lines = text.split("\n")
    assert lines[0] == "## crdcompat: 1 error, 1 warning, 1 info"
    assert lines[2:5] == ["```text", "r2 -> r1: BLOCKED", "  Widget  status.p"]
    counts = "- `r1 -> r2`: 1 error, 1 warning, 1 info; 0 existing, 0 waived, 0 undecided"
    assert lines.index(counts) < lines.index("| severity | field | what changed |")
    rows = [line for line in lines if line.startswith("| ") and "`" in line]
    assert [row.split(" | ")[0] for row in rows] == ["| error", "| warning"]
    assert "| `widgets.example.com/v1 status.p` |" in rows[0]
    assert lines[lines.index(counts) + 1].startswith(
        "  `Compared 1 CRD in 1 context: 1 changed, 0 only in r1, 0 only in r2; "
    )
    assert [line for line in lines if line.startswith(("#", "<summary>"))][1:] == [
        "### 1 error",
        "<summary>enum-value-added (rollback) <code>widgets.example.com/v1 status.p</code></summary>",
        "### 1 warning",
        "<summary>enum-value-added (rollback) <code>widgets.example.com/v1 spec.a</code></summary>",
        "<summary>1 info</summary>",
    ]
    page = _page(text)
    error = next(code for code in page.codes if code.startswith("error["))
    assert error.startswith(f"error[enum-value-added] widgets.example.com/v1 status.p  {report.findings[0].id}\n")
    assert '\n  API server: status.p: Unsupported value: "B": supported values: "A"\n' in error
    assert "against:" not in error
    assert page.codes[-1] == "widgets.example.com/v1 spec.n: value-pruned [property-added (rollback)]\n"


def test_a_check_lists_a_finding_once_and_against_what(tmp_path: Path) -> None:
    text = rendered(check(tmp_path), "markdown")
    assert text.startswith("## crdcompat: 1 error, 1 warning, 1 info\n")
    assert [line for line in text.split("\n") if line.startswith("- ")] == [
        "- `base: r1 -> r2`: 1 error, 1 warning, 1 info; 0 existing, 0 waived, 0 undecided",
        "- `target r0: r0 -> r2`: 0 errors, 0 warnings, 1 info; 1 existing, 1 waived, 0 undecided",
        "- `target r9: r9 -> r2`: 1 error, 1 warning, 1 info; 0 existing, 0 waived, 0 undecided",
        "- `the base is r1`",
        "- `waiver w1 has expired`",
    ]
    assert text.count("<summary>enum-value-added (rollback) <code>widgets.example.com/v1 status.p<") == 1
    assert text.count("  against: base, target r9\n") == 2, "in r0 neither counts"


def test_nothing(tmp_path: Path) -> None:
    assert rendered(empty_check(), "markdown") == (
        "## crdcompat: there was nothing to check\n\nNothing to act on.\n\n- `no CRD was touched`\n"
    )
    text = rendered(compared(tmp_path, SAME, SAME), "markdown")
    assert text.startswith("## crdcompat: 0 errors, 0 warnings, 0 info\n")
    assert text.endswith("\n\nNothing to act on.\n")


def test_problems(tmp_path: Path) -> None:
    text = rendered(replace(unreadable(sample(tmp_path)), findings=()), "markdown")
    assert "**Could not be read:**\n\n- `bad.yaml:7: not YAML`\n" in text
    assert "Nothing to act on" not in text


def test_undecided_and_unexplained_are_folded(tmp_path: Path) -> None:
    fields = [{"type": "object", "properties": {"a": string(**{"x-kubernetes-new": value})}} for value in (1, 2)]
    met = Unexplained("Widget/n/x", "o.yaml", "a: Invalid value")
    text = rendered(replace(compared(tmp_path, *fields), unexplained=(met,)), "markdown")
    undecided = "Undecided: differences that this version does not judge"
    assert (
        f"<summary><code>{undecided}</code></summary>\n\n```text\n  widgets.example.com/v1 a: x-kubernetes-new: "
        in text
    )
    unexplained = "Recorded objects are rejected in ways that no finding explains"
    said = "  Widget/n/x in o.yaml: a: Invalid value\n"
    assert f"<summary><code>{unexplained}</code></summary>\n\n```text\n{said}```" in text


def test_a_simulation(tmp_path: Path) -> None:
    stray = {**widget("x"), "kind": "Stray"}
    text = rendered(replayed(tmp_path, widget("good"), widget("one", "B"), stray), "markdown")
    lines = text.split("\n")
    assert lines[0] == "## crdcompat: `r2 -> r1` BLOCKED"
    assert lines[3] == "r2 -> r1: BLOCKED (1 of 2 recorded objects)"
    assert [line for line in lines if line.startswith(("<summary>", "`")) and "```" not in line] == [
        "<summary><code>rejected widgets.example.com: 1 of 2 objects (n/one)</code></summary>",
        "`accepted 1 object of 1 kind`",
        "`Left out: 1 object of kinds that neither release defines.`",
    ]
    assert '\n  status.p holds "B".\n' in text
    clean = rendered(replayed(tmp_path, widget("good")), "markdown")
    assert clean.startswith("## crdcompat: `r2 -> r1` CLEAN\n")
    assert clean.endswith("\n`accepted 1 object of 1 kind`\n")


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    names = [f"f{number:03}" for number in range(120)]
    old, new = (root(status=obj(**{name: string(*members) for name in names})) for members in ("A", "AB"))
    report = compared(tmp_path, old, new)
    assert len(report.findings) == 120
    text = rendered(report, "markdown")
    assert LIMIT - 3_000 < len(text) < LIMIT
    shown = text.count("<details>")
    assert shown == text.count("</details>")
    assert f"\n\n**{120 - shown} more left out here**: a comment holds no more." in text


def test_what_is_long_is_cut(tmp_path: Path) -> None:
    long = "`x@user|" * 20_000
    text = rendered(hostile_check(tmp_path, long[:200]), "markdown")
    assert len(text) < LIMIT
    huge = compared(tmp_path, root(status=obj(p=string("A"))), root(status=obj(p=string("A", long))))
    many = replace(huge, findings=huge.findings * 50, unexplained=(Unexplained(long, long, long),) * 50)
    text = rendered(many, "markdown")
    assert len(text) < LIMIT
    assert "… (cut)" in text
    assert "user" not in _page(text).plain


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stands_in_code_only(tmp_path: Path, text: str) -> None:
    for report in (hostile(tmp_path, text), hostile_check(tmp_path, text)):
        out = rendered(report, "markdown")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066]", out)
        page = _page(out)
        table = {"table", "thead", "tbody", "tr", "th", "td"}
        assert set(page.tags) <= {"h2", "h3", "ul", "li", "p", "code", "pre", "details", "summary", "strong"} | table
        assert page.tags.count("td") == 3 * (page.tags.count("tr") - 1), "no text adds a cell or a row"
        assert page.tags.count("details") == out.count("\n</details>")
        for bad in (
            "@",
            "#",
            "[",
            "http",
            "script",
            "img",
            "alert",
            "error ",
            "]]",
            "|",
            "~",
            "heading",
            "{",
            "%",
            "\\x",
        ):
            assert bad not in page.plain, (bad, page.plain)
        # Shown, not lost: as it is, or with what a terminal would obey written out.
        assert any(text in each for each in page.codes) or not text.isprintable() or "`" in text


@pytest.mark.parametrize(
    "text", ["", " ", "a", "`", "``", "a`b", "`a", "a`", "```", " a ", "a\nb", "|", "<b>", "&amp;", "\\"]
)
def test_spans_say_what_they_hold(text: str) -> None:
    (shown,) = _page(f"- {span(text)}").codes
    assert shown.strip() == text.replace("\n", "\\x0a").strip()
    (shown,) = _page(f"<summary>{code(text)}</summary>").codes
    assert shown == text.replace("\n", "\\x0a")


@pytest.mark.parametrize("text", ["", "a", "```", "~~~", "a\n````\nb", "</details>", "    x", "`" * 10])
def test_blocks_say_what_they_hold(text: str) -> None:
    assert _page(block(text)).codes == [f"{text}\n"]


def test_long_runs_of_marks_do_not_grow() -> None:
    assert _page(block("`" * 9_000)).codes == ["`" * 10 + "…\n"]
    assert span(f"a{'`' * 11}b") == f"{'`' * 11}a{'`' * 10}…b{'`' * 11}"


@pytest.mark.parametrize("text", ["`" * 1_000, "` " * 1_000, "\u202e" * 1_000])
def test_no_text_makes_it_too_long(tmp_path: Path, text: str) -> None:
    report = hostile_check(tmp_path, "x")
    diff = report.sections[0].report
    release = replace(diff.new, name=text)
    problems = tuple(Problem(f"{number}{text}", 1, text) for number in range(50))
    met = (Unexplained(text, text, text),) * 200
    findings = tuple(replace(f, id=str(n), path=text) for n in range(99) for f in diff.findings)
    worst = replace(diff, old=release, new=release, problems=problems, unexplained=met, findings=findings)
    sections = tuple(Section(Against.TARGET, worst) for _ in range(40))
    out = rendered(replace(report, sections=sections, notes=(text,) * 50), "markdown")
    assert len(out.encode()) < LIMIT
    assert "\n- and 20 more targets\n" in out
    assert f"**{len(findings)} more left out" not in out, "room is left for findings"


@pytest.mark.parametrize("letter", ["a", "語"])
def test_thousands_of_findings_stay_under_the_limit_in_bytes(tmp_path: Path, letter: str) -> None:
    report = sample(tmp_path)
    findings = tuple(
        replace(finding, id=f"{number:012}", path=f"{finding.path}.{letter * 9}{number}", message=letter * 200)
        for number in range(700)
        for finding in report.findings
    )
    out = rendered(replace(report, findings=findings), "markdown")
    assert out.startswith("## crdcompat: 700 errors, 700 warnings, 700 info")
    assert 50_000 < len(out.encode()) < 60_000
    assert "more left out here" in out


def test_lists_are_bounded() -> None:
    assert bullets(["a", "b"]) == "- `a`\n- `b`"
    assert bullets(["a", "b", "c"], most=2) == "- `a`\n- `b`\n- and 1 more"


@pytest.mark.parametrize("text", ["^(a|b)$", r"^(a\|b)$", r"a\\|b", "|", "`|`", "||"])
def test_a_pipe_ends_no_cell(text: str) -> None:
    page = _page(f"| a | b |\n|---|---|\n| {cell(text)} | {cell('x')} |\n")
    assert page.tags.count("td") == 2
    assert page.codes[0].replace(" ", "") == text.replace(" ", "")

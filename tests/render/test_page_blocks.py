"""A page of blocks in text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from html_page import Page as HtmlPage
from html_page import confined, said
from report_samples import HOSTILE

from crdcompat.models.release import Release
from crdcompat.render.escape import Style, finish
from crdcompat.render.html.html_blocks import page_html
from crdcompat.render.markdown.markdown_page import page_markdown
from crdcompat.render.pages.blocks import (
    Block,
    Cell,
    Code,
    Entries,
    Entry,
    Fold,
    Line,
    Listing,
    Notes,
    Said,
    Section,
    Table,
)
from crdcompat.render.pages.page import Answer, Page
from crdcompat.render.text.text_page import page_text

WIDE = Table("Servers", ("", "1.30", "1.31"), ((Cell("a"), Cell("ok", "accepted"), Cell("refused", "refused")),))


def page(*body: Block) -> Page:
    return Page(
        "servers", (Answer("May it?", "blocked", "NO", "It may not."),), body, sides=(("", Release("r1", None, None)),)
    )


def text(*body: Block, style: Style = Style()) -> list[str]:  # noqa: B008 - it is frozen
    """The lines below the answer."""
    lines = [*finish(page_text(page(*body), style))]
    assert lines[:2] == ["May it?  NO", "  It may not."]
    return lines[2:]


def test_a_list_shows_some_entries_and_counts_the_others() -> None:
    section = Section("Lost", (Listing(tuple(map(Line, "abc")), most=2),), about="for good")
    assert text(section) == ["", "Lost (for good)", "  a", "  b", "  and 1 more (-v shows all)"]
    assert text(section, style=Style(verbosity=1)) == ["", "Lost (for good)", "  a", "  b", "  c"]


def test_steps_are_numbered_and_show_some_commands() -> None:
    steps = Listing((Line("Do it:", commands=("one", "two")),), ordered=True, most_commands=1)
    assert text(steps) == ["  1. Do it:", "     one", "     and 1 more command (-v or --format json)"]
    assert text(steps, style=Style(verbosity=1)) == ["  1. Do it:", "     one", "     two"]


def test_lines_fold_as_they_ask_for() -> None:
    long = "word " * 30 + "end"
    assert len(text(Line(long))) == len(text(Line(long, fold=Fold.NEVER))) == 1
    assert len(text(Line(long, fold=Fold.ALWAYS))) == 2
    narrow = Style(width=80, height=1000)
    assert len(text(Line(long), style=narrow)) == 3
    assert len(text(Line(long, fold=Fold.NEVER), style=narrow)) == 1


def test_a_wide_table_comes_in_pieces() -> None:
    assert text(WIDE) == ["", "   1.30  1.31", "a  ok    refused"]
    assert text(WIDE, style=Style(width=11, height=1000)) == ["", "   1.30", "a  ok", "", "   1.31", "a  refused"]


def test_a_long_page_repeats_the_answer() -> None:
    lines = text(Listing(tuple(map(Line, "abc"))), style=Style(height=4))
    assert lines == ["  a", "  b", "  c", "", "May it?  NO", "  It may not."]


def _comment(shown: Page) -> Iterator[str]:
    made = page_markdown(shown)
    return chain(made.head, (make() for _, make in made.entries), made.tail)


def test_markdown_folds_sections() -> None:
    made = [*_comment(page(Notes(("n",)), Section("Lost", (Listing((Line("a"),)),)), WIDE, Line("legend")))]
    assert made == [
        "## crdcompat: `May it?` NO",
        "```text\nMay it?  NO\n  It may not.\nnote: n\n```",
        "<details>\n<summary><code>Lost</code></summary>\n\n```text\n  a\n```\n\n</details>",
        "|  | `1.30` | `1.31` |\n| --- | --- | --- |\n| `a` | `ok` | `refused` |",
        "`legend`",
    ]


def test_html_has_contents_for_each_section_and_notes_at_its_end() -> None:
    section = Section(
        "Lost", (Listing((Line("a", commands=("one",)),), ordered=True), Code("Rules", ("x",))), anchor="lost"
    )
    shown = HtmlPage("".join(page_html(page(Line("beside"), Notes(("n",)), section, WIDE))))
    links = [(each.get("href"), said(each)) for each in shown.one("nav", "contents").iter("a")]
    assert links[:2] == [("#lost", "Lost"), ("#table", "Servers")]
    assert said(shown.one("h1")) == "May it? NO It may not."
    assert said(shown.one("p", "others")) == "beside"
    assert [said(each) for each in shown.one("ul", "notes").iter("li")] == ["n"]
    assert [each.get("class") for each in shown.one("table", "grid").iter("td")] == [None, "accepted", "refused"]


def test_hostile_text_stays_text_in_every_block() -> None:
    for value in HOSTILE:
        cells = Table(value, ("", value), ((Cell(value), Cell(value, "refused")),), more=(value,))
        line = Line(value, value, below=(Line(value, depth=2),), commands=(value,))
        made = page(
            line, Section(value, (Listing((line,)), Code(value, (value,))), value, anchor="a"), cells, Notes((value,))
        )
        confined(HtmlPage("".join(page_html(made))))
        assert "\x1b" not in "".join(finish(page_text(made, Style())))


def test_entries_are_on_html_pages_and_brief_elsewhere() -> None:
    table = Table("Writes", ("write", "verdict"), ((Cell("update"), Cell("rejected", "rejected")),))
    made = Entry("Widget/a", "rejected", ("widgets/v1",), "It fails.", (table, Said(("no",))), "o-1", {"crd": "w"})
    block = Entries("1 object", 1, lambda: iter((made,)), (Section("1 of 1", (Line("a"),)),), anchor="rejected")
    assert text(block) == ["", "1 of 1", "  a"]
    assert "<summary><code>1 of 1</code></summary>" in "\n".join(_comment(page(block)))
    shown = HtmlPage("".join(page_html(page(block))))
    (item,) = shown.all("details", "item")
    assert said(next(item.iter("summary"))) == "rejected Widget/a It fails. widgets/v1"
    assert [said(each) for each in item.iter("td")] == ["rejected"]
    assert [said(each) for each in item.iter("blockquote")] == ["no"]


def test_a_long_answer_of_a_server_is_folded_behind_its_beginning() -> None:
    answer = "spec.a is invalid, " * 100
    made = Entry("Widget/a", "rejected", (), "It fails.", (Said(("no", answer)),), "o-1", {})
    shown = HtmlPage("".join(page_html(page(Entries("1 object", 1, lambda: iter((made,)))))))
    (fold,) = shown.all("details", "fold")
    assert [said(each) for each in fold.iter("summary")] == ["all 1900 characters"]
    short, long = (said(each) for each in shown.one("figure", "server").iter("blockquote"))
    assert (short, long.startswith("2 spec.a is invalid, "), long.count("spec.a") < 115) == ("1 no", True, True)

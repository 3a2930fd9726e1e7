"""The HTML page: valid, self-contained, complete without a script, and nothing in it is what a manifest made it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from helpers import both, run, string
from helpers import root as schema
from html_page import Page, confined, said
from msgspec.structs import replace
from report_samples import (
    HOSTILE,
    NEW,
    OLD,
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
    with_findings,
)

from crdcompat.models.diff import Unexplained
from crdcompat.models.finding import Acceptance, Evidence, IntroducedBy
from crdcompat.models.report import Report
from crdcompat.render import html
from crdcompat.render.html.html_page import as_data
from crdcompat.render.wording.simulation import repair_command
from crdcompat.yaml.documents import Document, read_documents

TEMPLATES = Path(html.__file__).parent / "templates"


def page(report: Report) -> Page:
    return Page(rendered(report, "html"))


def tally(shown: Page) -> list[str]:
    return [said(each) for each in shown.one("ul", "tally")]


# -- what is shown ---------------------------------------------


def test_counts_then_findings_by_direction_and_severity(tmp_path: Path) -> None:
    report = sample(tmp_path)
    shown = page(report)
    assert said(shown.one("h1")) == "r2 → r1 BLOCKED"
    assert tally(shown) == ["1 error block it", "1 warning may block it", "1 info lose or set values"]
    assert said(shown.one("ul", "blocked-by")) == 'Widget status.p r1 rejects "B": the controller cannot write status'
    headings = [said(each) for each in shown.elements() if each.tag in ("h2", "h3")]
    assert headings[:6] == ["By CRD", "Findings", "Rolling back r2 → r1", "1 error", "1 warning", "1 info"]
    items = shown.all("details", "item")
    assert [each.get("id") for each in items] == [f"f-{finding.id}" for finding in report.findings]
    assert [said(each.find("summary")) for each in items if each.find("summary") is not None] == [
        f'error Widget {report.findings[0].message}. widgets.example.com/v1 enum-value-added',
        f'warning Widget {report.findings[1].message}. widgets.example.com/v1 enum-value-added',
        "info Widget spec.n widgets.example.com/v1 property-added",
    ]  # fmt: skip


def facts(item: Element) -> dict[str, list[str]]:
    (table,) = [each for each in item.iter("dl") if each.get("class") == "facts"]
    return {said(row[0]): [said(each) for each in row[1:]] for row in table}


def test_a_finding_shows_everything(tmp_path: Path) -> None:
    reported = IntroducedBy("c" * 40, "2024-01-02", "B is new", "r2")
    changes = {
        "introduced_by": reported, "places": ("status.q",),
        "evidence": Evidence(2, ("Widget/a in x", "Widget/b in y")),
        "waiver": Acceptance("known", "me"),
    }  # fmt: skip
    report = with_findings(sample(tmp_path), error=changes)
    item = next(each for each in page(report).all("details", "item") if "error" in each.get("class", ""))
    finding = report.findings[0]
    assert [said(each) for each in item.iter("blockquote")] == list(finding.witness.errors)
    (witness,) = item.iter("pre")
    (document,) = read_documents("".join(witness.itertext()).encode(), "w")
    assert isinstance(document, Document)
    assert document.data == finding.witness.object
    shown = facts(item)
    file = finding.locations[0].file
    assert shown == {
        "Effect": ["write-rejected: writes of an object are refused (422)"],
        "Written by": ["status"],
        "Added": ['"B"'],
        "Severity because": ["status, named by the enum"],
        "Rejected writes": ["status-update-touching"],
        "Met by": ["2 recorded objects: Widget/a in x, Widget/b in y"],
        "Introduced by": ["cccccccccccc 2024-01-02 B is new (since r2)"],
        "Also at": ["status.q"],
        "Contexts": ["default"],
        "Mixed versions": ["OLD's CRD, NEW's writers: write-rejected", "NEW's CRD, OLD's writers: none"],
        "Places": [f"{each.side}: {file}:{each.line}:{each.column}" for each in finding.locations],
        "Waived": ["reason: known", "owner: me", "baseline: False"],
        "Id": [finding.id],
    }
    links = {each.get("href") for each in item.iter("a")}
    assert links == {"#rule-enum-value-added", f"#f-{finding.id}"}


def test_marks_by_crd_lead_to_the_findings(tmp_path: Path) -> None:
    shown = page(sample(tmp_path))
    (row,) = shown.one("ul", "rows")
    assert said(row) == "Widget 1 error, 1 warning, 1 info"
    marks = [each for each in row.iter("a") if "mark" in each.get("class", "").split()]
    items = [each.get("id") for each in shown.all("details", "item")]
    assert [each.get("href") for each in marks] == [f"#{items[0]}", f"#{items[1]}"]
    assert [each.get("class") for each in marks] == ["mark error", "mark warning"]
    assert [each.get("title") for each in marks] == ["status.p: enum-value-added", "spec.a: enum-value-added"]


def test_many_findings_have_bounded_rows_and_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.render.pages.page._MAX_MARKS", 1)
    shown = page(sample(tmp_path))
    (row,) = shown.one("ul", "rows")
    assert said(row) == "Widget +1 1 error, 1 warning, 1 info"
    monkeypatch.setattr("crdcompat.render.html.html_blocks._MAX_ROWS", 1)
    shown = page(with_findings(sample(tmp_path), warning={"crd": "gears.example.com", "kind": "Gear"}))
    assert [said(each) for each in shown.all("ul", "rows")] == ["Widget 1 error, 1 info", "Gear 1 warning"]
    (folded,) = [each for each in shown.all("details", "fold") if said(each[0]) == "1 more CRD"]
    assert "Gear 1 warning" in said(folded)


def test_contents_lead_to_every_group(tmp_path: Path) -> None:
    links = page(sample(tmp_path)).one("nav", "contents").iter("a")
    assert [(said(each), each.get("href")) for each in links] == [
        ("Rollback", "#rollback"), ("1 error", "#rollback-error"), ("1 warning", "#rollback-warning"),
        ("1 info", "#rollback-info"), ("What was compared", "#scope-1"), ("Rules: why, and fixes", "#rules"),
        ("What this page rests on", "#basis"),
    ]  # fmt: skip


def test_the_waiver_command_is_there_to_copy(tmp_path: Path) -> None:
    report = sample(tmp_path / "a")
    error, warning, info = page(report).all("details", "item")
    commands = [said(each) for item in (error, warning) for each in item.iter("pre") if "waive" in said(each)]
    ids = [finding.id for finding in report.findings]
    assert commands == [f'crdcompat waive {each} --report report.json --reason "…"' for each in ids[:2]]
    assert not [each for each in info.iter("pre") if "waive" in said(each)]
    shown = page(check(tmp_path / "b")).all("details", "item")
    assert [said(each) for item in shown[:1] for each in item.iter("pre")][-1].startswith("crdcompat waive ")
    assert "--report" not in said(shown[0])
    waived = next(item for item in shown if facts(item).get("Waived"))
    assert not [each for each in waived.iter("pre") if "waive" in said(each)]


def test_rules_are_explained_once(tmp_path: Path) -> None:
    shown = page(sample(tmp_path))
    assert [each.get("id") for each in shown.all("details", "rule")] == ["rule-enum-value-added", "rule-property-added"]
    rule = shown.all("details", "rule")[0]
    assert [said(each) for each in rule.iter("h3")] == ["Why it matters", "What to do", "See also"]
    assert "Or widen OLD" in said(rule)
    assert len([each for each in rule.iter("li") if said(each).startswith("Accept in release N")]) == 1


def test_a_check_has_a_part_for_each_comparison(tmp_path: Path) -> None:
    shown = page(check(tmp_path))
    rows = [[said(cell) for cell in row] for row in shown.one("table", "parts").iter("tr")]
    assert rows == [
        ["compared with", "error", "warning", "info", "existing", "waived"],
        ["base", "1", "1", "1", "0", "0"],
        ["target r0", "0", "0", "1", "1", "1"],
        ["target r9", "1", "1", "1", "0", "0"],
    ]
    assert [said(each) for each in shown.all("h2")] == [
        "By CRD",
        "What this change does",
        "Against the rollback target r0",
        "Against the rollback target r9",
        "Rules: why they matter, and what to do",
        "What this page rests on",
        "Keys",
    ]
    assert said(shown.one("p", "others")) == "1 error, 1 warning, 1 info."
    aside = shown.all("details", "aside")
    assert [said(next(each.iter("summary"))) for each in aside] == ["1 finding from before this change", "1 waived"]
    assert [len([i for i in each.iter("details") if "item" in i.get("class", "")]) for each in aside] == [1, 1]
    assert [said(each) for each in shown.one("ul", "notes")] == ["the base is r1", "waiver w1 has expired"]


def test_what_was_not_judged_is_shown(tmp_path: Path) -> None:
    report = replace(unreadable(sample(tmp_path)), unexplained=(Unexplained("Widget/w", "x.tar", "no"),))
    shown = page(report)
    assert said(shown.one("section", "problems")) == (
        "Could not be read or compared: this report is not complete bad.yaml:7 (new): not YAML"
    )
    assert "Recorded objects are rejected in ways that no finding explains Widget/w in x.tar: no" in said(shown.root)
    assert "there was nothing to check".capitalize() in said(page(empty_check()).root)
    assert "Nothing to act on." in said(page(compared(tmp_path / "same", OLD, OLD)).root)


def test_a_simulation_by_object(tmp_path: Path) -> None:
    report = replayed(tmp_path, widget("one", "B"), widget("two"))
    shown = page(report)
    assert said(shown.one("h1")) == "r2 → r1 BLOCKED (1 of 2 recorded objects)"
    assert tally(shown) == [
        "1 rejected a write fails", "0 lose data the next write erases fields", "1 accepted work as before",
    ]  # fmt: skip
    assert [said(each) for each in shown.one("ul", "rows")] == ["Widget 1 rejected, 1 accepted"]
    first, last = shown.all("details", "item")
    assert said(next(first.iter("summary"))).startswith("rejected Widget/n/one Widget.example.com ")
    assert "accepted" in last.get("class", "")
    rows = [[said(cell) for cell in row] for row in next(first.iter("tbody"))]
    assert {row[0]: row[1] for row in rows} == {k: w.verdict for k, w in report.objects[0].writes.items()}
    messages = dict.fromkeys(w.message for w in report.objects[0].writes.values() if w.message)
    assert [said(each).lstrip("123456789 ") for each in first.iter("blockquote")] == list(messages)
    command, patch = ("".join(each.itertext()) for each in first.iter("pre"))
    assert json.loads(patch) == report.objects[0].repair.patch
    assert command == repair_command(report.objects[0])
    (mark,) = [each for each in shown.one("ul", "rows").iter("a") if each.get("class") == "mark rejected"]
    assert mark.get("href") == f"#{first.get('id')}"
    assert "1 of 2 Widget: status.p holds" in said(shown.one("section", "blocking"))


def test_undecided_is_an_item(tmp_path: Path) -> None:
    from crdcompat.models.diff import UndecidedEntry

    entry = UndecidedEntry("c.x", "v1", ("default",), "spec.a", "pattern", "^a", "^b", "too large", ())
    shown = page(replace(sample(tmp_path), undecided=(entry,)))
    item = shown.all("details", "item")[-1]
    assert said(next(item.iter("summary"))) == "undecided spec.a pattern: too large. pattern c.x/v1"
    assert facts(item) == {"OLD": ['"^a"'], "NEW": ['"^b"'], "Contexts": ["default"]}


def test_a_report_too_large_for_a_page_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.render.pages.findings._MAX_ITEMS", 2)
    shown = page(sample(tmp_path))
    assert [each.split()[0] for each in tally(shown)] == ["1", "1", "1"]
    assert len(shown.all("details", "item")) == len(shown.script()) == 2
    assert "This page has no room for 1 more" in said(shown.one("main"))


# -- filters ---------------------------------------------


def test_a_screen_reader_lists_no_two_parts_by_one_name(tmp_path: Path) -> None:
    shown = page(check(tmp_path))
    texts = {each.get("id", ""): said(each) for each in shown.elements() if each.get("id")}
    names = [" ".join(map(texts.__getitem__, each.get("aria-labelledby", "").split())) for each in shown.all("section")]
    assert "What was compared What this change does" in names
    assert sorted(filter(None, names)) == sorted({*filter(None, names)})


def test_every_item_has_a_row_of_numbers(tmp_path: Path) -> None:
    shown = page(check(tmp_path))
    rows, items = shown.script(), shown.all("details", "item")
    facets = [each for each in shown.elements() if each.get("data-facet")]
    assert [each.get("data-facet") for each in facets] == ["severity", "owner", "status", "section", "rule"]
    names = [
        [each.get("value", "") for each in facet.iter("input" if facet.tag == "fieldset" else "option")][
            facet.tag == "select" :
        ]
        for facet in facets
    ]
    assert names[2] == ["new", "existing", "waived"]
    assert names[3] == ["base", "target r0", "target r9"]
    assert len(rows) == len(items) == 5, "what several comparisons meet is one item"
    for (size, *row), item in zip(rows, items, strict=True):
        found = row[0] if isinstance(row[0], list) else [row[0]]
        assert len(found) == size
        assert names[0][found[0]] in item.get("class", "").split()
    assert [names[2][row[3]] for row in rows if isinstance(row[3], int)].count("waived") == 1


# -- self-contained, inert, valid ---------------------------------------------


def reports(top: Path) -> dict[str, Report]:
    return {
        "sample": sample(top / "a"), "check": check(top / "b"), "empty": empty_check(),
        "unreadable": unreadable(sample(top / "c")), "replay": replayed(top / "d", widget("one", "B"), widget("two")),
        "none": compared(top / "e", OLD, OLD),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["sample", "check", "empty", "unreadable", "replay", "none"])
def test_valid_and_self_contained(tmp_path: Path, name: str) -> None:
    shown = page(reports(tmp_path)[name])
    confined(shown)
    policy = next(each.get("content", "") for each in shown.all("meta") if each.get("http-equiv"))
    style, (script,) = shown.one("style"), [each for each in shown.all("script") if each.get("type") is None]
    hashes = [
        base64.b64encode(hashlib.sha256((each.text or "").encode()).digest()).decode() for each in (style, script)
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert not re.search(r"url\(|@import|https?://|innerHTML|eval\(", (style.text or "") + (script.text or ""))


@pytest.mark.parametrize("name", ["sample", "check", "unreadable", "replay"])
def test_accessible(tmp_path: Path, name: str) -> None:
    shown = page(reports(tmp_path)[name])
    assert shown.one("html").get("lang") == "en"
    for landmark in ("header", "main", "footer", "h1"):
        assert len(shown.all(landmark)) == 1
    levels = [int(each.tag[1]) for each in shown.elements() if re.fullmatch("h[1-6]", each.tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(each.get("scope") in ("col", "row") for each in shown.all("th"))
    labels = {each.get("for") for each in shown.all("label")}
    inside = {id(control) for label in shown.all("label") for control in label.iter("input")}
    for control in (*shown.all("input"), *shown.all("select")):
        assert control.get("id") in labels or id(control) in inside
    assert all(said(next(each.iter("legend"))) for each in shown.all("fieldset"))
    unseen = {id(each) for part in shown.elements() if part.get("aria-hidden") for each in part.iter("a")}
    links = [each for each in shown.all("a") if id(each) not in unseen]
    assert all(said(each) for each in (*shown.all("button"), *links, *shown.all("summary")))
    assert all(each.get("tabindex") == "-1" for each in shown.all("a") if id(each) in unseen)
    assert shown.text.index('class="skip"') < shown.text.index("<header>")
    live = [each for each in shown.elements() if each.get("aria-live") == "polite"]
    assert {each.get("id"): each.get("role") for each in live} == {"shown": "status", "said": "status"}


@pytest.mark.parametrize("text", [*HOSTILE, "</script><!--", "-->", "x" * 100_000, "\"'`onload=x"])
def test_hostile_text_stays_text(tmp_path: Path, text: str) -> None:
    for made in (hostile(tmp_path / "d", text[:200]), hostile_check(tmp_path / "c", text[:200])):
        shown = page(made)
        confined(shown)
        assert len(shown.all("script")) == 2
    reported = with_findings(sample(tmp_path / "e"), error={"message": text, "path": text, "places": (text,)})
    shown = page(reported)
    confined(shown)
    assert len(shown.text) < len(page(sample(tmp_path / "f")).text) + 40_000


def test_hostile_objects_stay_text(tmp_path: Path) -> None:
    for number, text in enumerate(HOSTILE):
        shown = page(replayed(tmp_path / str(number), widget("one", text), value=text))
        confined(shown)


def test_data_cannot_end_its_script() -> None:
    odd = {"</script>": ["<!--", "&amp;", "\u2028\u2029", "\ud800", 1]}
    text = str(as_data(odd))
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == odd


# -- colours ---------------------------------------------


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css))


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_the_standard_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_contrast_of_every_pair(theme: str) -> None:
    css = (TEMPLATES / "page.css").read_text("utf-8")
    start = {"light": 0, "dark": css.index("prefers-color-scheme: dark"), "print": css.index("@media print")}[theme]
    colours = _colours(css[start : css.index("}", start)])
    grounds = ["page", "panel", "quote", "old", "new"]
    assert set(grounds) < colours.keys()
    for tone in ("error", "warning", "info", "good", "unknown", "muted", "link", "ink"):
        for ground in ("page", "panel"):
            assert contrast(colours[tone], colours[ground]) >= 4.5, (tone, ground)
    for ground in grounds:
        assert contrast(colours["ink"], colours[ground]) >= 7, ground
    assert contrast(colours["muted"], colours["quote"]) >= 4.5
    shades = {name: colour for name, colour in colours.items() if name[-2:] in ("-a", "-b", "-c")}
    assert len(shades) == 8
    tones = {"blocked": "error", "risk": "warning", "clean": "good", "unknown": "unknown"}
    for name, shade in shades.items():  # words in a cell are in ink, its sign in the verdict's colour
        assert contrast(colours["ink"], shade) >= 7, name
        assert contrast(colours[tones[name[:-2]]], shade) >= 3, name
    for ground in ("page", "panel"):
        if theme != "print":
            assert contrast(colours["edge"], colours[ground]) >= 3, ground
            assert contrast(colours["focus"], colours[ground]) >= 3, ground


# -- the command ---------------------------------------------


def test_excerpts_are_gathered_for_this_format_only(tmp_path: Path) -> None:
    sides = both(tmp_path, OLD, NEW)
    file = tmp_path / "out.html"
    assert run("diff", *sides, "--format", f"html={file}").code == 1
    shown = Page(file.read_text("utf-8"))
    assert len(shown.all("figure", "excerpt")) == 6


def test_jinja_is_imported_for_this_format_only(tmp_path: Path) -> None:
    sides = both(tmp_path, schema(spec=string()), schema(spec=string("A")))
    for name, wanted in (("json", False), ("html", True)):
        command = (sys.executable, "-X", "importtime", "-m", "crdcompat", "diff", *map(str, sides), "--format", name)
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert ("jinja2" in done.stderr) is wanted

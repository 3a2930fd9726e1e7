"""The matrix as a page: the heat map, what blocks since when, the cluster, and the findings of every way."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from helpers import Json, crd, obj, root, run, string, write
from html_page import Page, confined, said
from report_samples import HOSTILE

NAMES = ["./r-1.1", "./r-1.2", "./r-1.3"]


def status(*values: str, **more: Json) -> Json:
    return root(status=obj(phase=string(*values)), **more)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Releases of which each knows a value more; the last has a field more, too."""
    for name, schema in zip(NAMES, (status("A"), status("A", "B"), status("A", "B", "C", n=string())), strict=True):
        write(tmp_path / name / "widget.yaml", crd(schema))
    return tmp_path


def matrix(top: Path, *args: str | Path) -> Page:
    ran = run("matrix", *NAMES, *args, "--format", "html", cwd=top)
    assert ran.code in (0, 1, 2), ran.err
    shown = Page(ran.out)
    confined(shown)
    return shown


def test_heat_map(three: Path) -> None:
    shown = matrix(three)
    assert grid(shown) == [
        ["", "to r-1.1", "to r-1.2", "to r-1.3", "goes back to"],
        ["from r-1.1", SELF, "clean", "clean", "the oldest"],
        ["from r-1.2", "blocked 1 error", SELF, "clean", "none"],
        ["from r-1.3", "blocked 1 error", "blocked 1 error", SELF, "none"],
    ]
    assert said(shown.one("h1")) == "3 of 3 rollbacks BLOCKED"
    reasons = [said(each) for each in shown.all("span", "why")]
    assert reasons[0] == "./r-1.1 → ./r-1.2 CLEAN no error and no warning"
    assert reasons[4] == "./r-1.3 → ./r-1.1 BLOCKED by Widget status.phase"
    assert [said(each) for each in shown.all("li", "reach")] == [
        "./r-1.3 BLOCKED to ./r-1.2 by Widget status.phase",
        "./r-1.2 BLOCKED to ./r-1.1 by Widget status.phase",
    ]


def test_how_far_back_names_the_releases_within_reach(tmp_path: Path) -> None:
    schemas = (status("A"), status("A", "B"), status("A", "B"))
    for name, schema in zip(NAMES, schemas, strict=True):
        write(tmp_path / name / "widget.yaml", crd(schema))
    shown = matrix(tmp_path)
    assert [row[-1] for row in grid(shown)] == ["goes back to", "the oldest", "none", "1.2"]
    assert said(shown.all("li", "reach")[0]).startswith("./r-1.3 back to ./r-1.2; BLOCKED to ./r-1.1 by Widget")


SELF = "the same release"


def grid(shown: Page) -> list[list[str]]:
    """The cells of the picture without what they say when a reader points at them."""
    rows = list(shown.one("table", "grid").iter("tr"))
    return [[_without_reason(cell) for cell in row] for row in rows]


def _without_reason(cell: Element) -> str:
    reasons = [said(each) for each in cell.iter("span") if each.get("class") == "why"]
    return said(cell).removesuffix("".join(reasons)).strip()


def ways(shown: Page) -> dict[str, Element]:
    """What the page says of each way, by its place on it."""
    return {each[1].get("id", ""): each for each in shown.all("details", "way")}


def facts(item: Element, name: str) -> list[str]:
    return [said(text) for row in item.iter("div") if len(row) and said(row[0]) == name for text in row[1:]]


def test_a_cell_leads_to_its_findings(three: Path) -> None:
    shown = matrix(three)
    places = [each.get("href", "")[1:] for each in shown.one("table", "grid").iter("a")]
    reported = ways(shown)
    assert list(reported) == places
    assert [said(next(reported[each].iter("summary"))) for each in places] == [
        "clean ./r-1.1 → ./r-1.2 0 errors, 0 warnings, 0 info",
        "clean ./r-1.1 → ./r-1.3 0 errors, 0 warnings, 0 info",
        "blocked ./r-1.2 → ./r-1.1 1 error, 0 warnings, 0 info",
        "clean ./r-1.2 → ./r-1.3 0 errors, 0 warnings, 0 info",
        "blocked ./r-1.3 → ./r-1.1 1 error, 0 warnings, 1 info",
        "blocked ./r-1.3 → ./r-1.2 1 error, 0 warnings, 1 info",
    ]
    last = reported[places[4]]
    error, info = (each for each in last.iter("details") if "item" in each.get("class", ""))
    assert said(next(error.iter("summary"))).startswith("error Widget status.phase gained ")
    assert said(next(info.iter("summary"))).startswith("info Widget n widgets.example.com/v1 ")
    assert facts(error, "Blocks") == ['since ./r-1.2: "B"', 'since ./r-1.3: "C"']
    assert "Blocked by widgets.example.com." in said(last)
    excerpts = [[each for each in item.iter("figure") if "excerpt" in each.get("class", "")] for item in (error, info)]
    assert [len(each) for each in excerpts] == [2, 0]


def test_what_blocks_and_since_when(three: Path) -> None:
    section = matrix(three).all("section", "blocking")[-1]
    assert said(next(section.iter("h2"))).startswith("What blocks a rollback")
    place, *since = section.iter("li")
    assert said(place).startswith("widgets.example.com/v1 enum-value-added, write-rejected status.phase ")
    assert [said(each) for each in since] == ["status.phase", 'since ./r-1.2: "B"', 'since ./r-1.3: "C"']


def test_what_was_not_judged_is_shown(three: Path) -> None:
    write(three / "r-1.2" / "broken.yaml", "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\na: [")
    shown = matrix(three)
    assert "broken.yaml" in said(shown.one("section", "problems"))
    reported = [said(each) for each in shown.all("section", "blocking")]
    assert any(text.startswith("What was not judged") and "broken.yaml" in text for text in reported)
    doubtful = "blocked 1 error and not all was judged"
    assert grid(shown)[2:] == [
        ["from r-1.2", doubtful, SELF, "unknown", "none"],
        ["from r-1.3", "blocked 1 error", doubtful, SELF, "none"],
    ]


def test_the_cluster(three: Path) -> None:
    head = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "n"}}
    objects = write(three / "objects.json", {**head, "status": {"phase": "C"}})
    shown = matrix(three, "--objects", objects, "--from", "./r-1.3")
    reach, *_, cluster = shown.all("section", "blocking")
    assert "It cannot go back to ./r-1.2, ./r-1.1." in said(reach)
    assert said(cluster).endswith(
        " ".join(
            f'to {name}: blocked (objects by their worst write: 1 rejected) Widget/n/a: status.phase: "C"'
            for name in ("./r-1.2", "./r-1.1")
        )
    )


def test_a_matrix_too_large_for_a_page_says_what_it_leaves_out(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.render.pages.findings._MAX_ITEMS", 4)
    shown = matrix(three)
    assert not shown.all("details", "info")
    assert len(shown.all("details", "error")) == 3
    assert said(shown.root).count("This page has no room for 1 more. The JSON report has them all.") == 2


def test_in_a_large_matrix_each_finding_has_its_details_once(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = matrix(three)
    monkeypatch.setattr("crdcompat.render.pages.matrix._MAX_WHOLE", 1)
    shown = matrix(three)
    of_all, of_once = ({each.get("id") for each in page.all("details", "item")} for page in (whole, shown))
    links = [link.get("href") for each in shown.all("p", "link") for link in each.iter("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= of_once <= of_all
    assert len(of_once) + len(links) == len(of_all)
    assert {said(each) for each in shown.all("p", "link")} == {"info Widget n property-added"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(tmp_path: Path, text: str) -> None:
    name = text.replace("/", "").replace("\x00", "")
    for number, values in enumerate((["A"], ["A", text]), 1):
        write(tmp_path / f"{name}-1.{number}" / "widget.json", crd(status(*values)))
    names = [f"./{name}-1.{number}" for number in (1, 2)]
    ran = run("matrix", *names, "--format", "html", cwd=tmp_path)
    confined(Page(ran.out))
    assert ran.code == 1

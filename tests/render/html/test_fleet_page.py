"""Many clusters as a page: how far back they can go, what blocks how many, and each cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleets import MODES, cluster_version, gather, releases, uuid, widget
from helpers import run, write
from html_page import Page, confined, said
from report_samples import HOSTILE


@pytest.fixture
def crds(tmp_path: Path) -> dict[str, Path]:
    return releases(tmp_path / "crds")


def shown(crds: dict[str, Path], fleet: Path) -> Page:
    old, *targets, new = (f"path:{crds[name]}" for name in MODES)
    named = [part for target in targets for part in ("--target", target)]
    ran = run("simulate", old, new, *named, "--fleet", fleet, "--jobs", "1", "--format", "html")
    assert ran.code in (0, 1, 2), ran.err
    page = Page(ran.out)
    confined(page)
    return page


def test_a_fleet(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    gather(fleet / "stuck.tar.gz", widget("w", "B"), cluster_version(uuid(1), "4.16.9"))
    gather(fleet / "free.tar.gz", widget("w", "A"), cluster_version(uuid(2)))
    write(fleet / "broken.tar.gz", "not an archive")
    page = shown(crds, fleet)
    assert said(page.one("h1")) == f"2 of 2 clusters can go to path:{crds['release-4.15']}"
    (problem,) = page.one("section", "problems").iter("li")
    assert "broken.tar.gz: " in said(problem)
    bars = [each for each in page.elements() if each.get("role") == "img"]
    labels = [each.get("aria-label", "").rpartition(": ")[2] for each in bars]
    assert labels == ["2 clean", "2 clean", "1 blocked, 1 clean"]
    parts = [[(part.get("class"), part.get("x"), part.get("width")) for part in bar] for bar in bars]
    assert parts[2] == [("blocked", "0.0", "500.0"), ("clean", "500.0", "500.0")]
    stuck, free = page.all("details", "item")
    assert ("stuck.tar.gz" in said(stuck), "free.tar.gz" in said(free)) == (True, True)
    table = [[said(cell) for cell in row] for row in next(stuck.iter("tbody"))]
    assert [row[1] for row in table] == ["clean", "clean", "blocked"]
    assert table[2][2:] == ["1 rejected", "widgets.example.com status.modes[*]"]
    (link,) = next(stuck.iter("table")).iter("a")
    place = next(each for each in page.elements() if each.get("id") == link.get("href", "")[1:])
    assert said(place).startswith("1 of 2 clusters: widgets.")
    assert len(page.script()) == 2


def test_hostile_text_stays_text(crds: dict[str, Path], tmp_path: Path) -> None:
    for number, value in enumerate(HOSTILE):
        write(tmp_path / "f" / f"{number:02}.json", widget("w", value), {**widget(value, "A"), "kind": value})
    write(tmp_path / "f" / "\x1b[31m`<b>.json", widget("w", "A"))
    page = shown(crds, tmp_path / "f")
    assert len(page.all("details", "item")) == len(HOSTILE) + 1

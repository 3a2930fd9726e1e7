"""The site of the documentation: a page for each rule, links that lead somewhere, nothing loaded from elsewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from browser import Browser, chromium
from offline import PROJECT

from crdcompat.findings.rules import catalogue

_LOADS = re.compile(r"""(?:<script[^>]*\bsrc|<img[^>]*\bsrc|<link[^>]*\bhref)=["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site_pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", PROJECT / "docs/site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_rule_has_a_page(site_pages: ModuleType) -> None:
    pages = site_pages.generated()
    assert set(pages) == {"index.md", "CONTRIBUTING.md", *(f"rules/{name}.md" for name in catalogue())}
    page = pages["rules/enum-value-added.md"]
    assert page.startswith("# enum-value-added\n")
    assert "[enum-value-removed](enum-value-removed.md)" in page


def test_links_of_all_pages_lead_to_pages(site_pages: ModuleType) -> None:
    own = {page.name: site_pages.on_page_markdown(page.read_text("utf-8"), _page(page.name))
           for page in (PROJECT / "docs").glob("*.md")}  # fmt: skip
    pages = {**own, **site_pages.generated()}
    broken = [
        (name, link)
        for name, text in pages.items()
        for link in re.findall(r"\]\(([^)\s]+)\)", text)
        if "://" not in link and not link.startswith("#") and not _leads_somewhere(name, link, pages)
    ]
    assert broken == []
    assert pages["rules.md"].count("](rules/") == len(catalogue())


def _page(name: str) -> object:
    file = type("File", (), {"src_uri": name})
    return type("Page", (), {"file": file, "meta": {}})


def _leads_somewhere(name: str, link: str, pages: dict[str, str]) -> bool:
    target = (Path(name).parent / link.partition("#")[0]).as_posix()
    return target in pages or (PROJECT / "docs" / target).is_file()


def test_the_navigation_has_every_page() -> None:
    listed = re.findall(r": ([\w-]+\.md)$", (PROJECT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = {page.name for page in (PROJECT / "docs").glob("*.md")}
    assert sorted(listed) == sorted({*pages, "index.md", "CONTRIBUTING.md"})


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="MkDocs is not installed: make site installs it")
    command = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site"))
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(catalogue())
    assert [page.name for page in pages if _LOADS.search(page.read_text("utf-8"))] == []
    fences = re.compile(r"<code>(?:console|yaml|python|sh)\n")  # a block of code that is shown as words of a sentence
    assert [page.name for page in pages if fences.search(page.read_text("utf-8"))] == []
    index = (tmp_path / "site/search/search_index.json").read_text("utf-8")
    assert all(f"rules/{name}.html" in index for name in catalogue())
    with chromium(tmp_path / "profile") as browser:
        browser.open(tmp_path / "site/index.html")
        for name in ("enum-value-added", "crd-deleted"):
            found = _search(browser, name)
            assert (found[0], found.count(f"rules/{name}.html")) == (f"rules/{name}.html", 1)
            assert "site/rules.html" not in found
        assert browser.complaints() == []


def _search(browser: Browser, text: str) -> list[str]:
    """The pages that the search of the page finds, the best first."""
    browser.js(
        "const box = document.querySelector('.md-search__input'); box.focus(); box.value = arguments[0];"
        "for (const [Kind, name] of [[Event, 'input'], [KeyboardEvent, 'keyup']])"
        "  box.dispatchEvent(new Kind(name, {bubbles: true}))",
        text,
    )
    first = "document.querySelector('.md-search-result__link')?.href"
    for _ in range(300):  # it answers in another frame
        if f"/{text}.html" in (browser.js(f"return {first}") or ""):
            break
        browser.pause()
    links = browser.js(
        "return [...document.querySelectorAll('.md-search-result__item')].map((page) => page.querySelector('a').href)"
    )
    return ["/".join(link.partition("?")[0].split("/")[-2:]) for link in links]

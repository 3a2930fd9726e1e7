"""The pages of docs/: each console block prints the lines that it shows, each link leads to a file and a heading."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from helpers import run
from markdown_it import MarkdownIt
from offline import PROJECT
from pages import anchors

PAGES = sorted((PROJECT / "docs").glob("*.md"))
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *PAGES, *sorted(PROJECT.glob("contrib/*/*.md"))]
_SNIPPET = re.compile(r"^```(?:yaml|sh|make)?\n.*?^```$", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = re.compile(r"<[a-z][a-z ]+>")
BLOCKS = [
    block.content.splitlines()
    for page in PAGES
    for block in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    if block.type == "fence" and block.info == "console"
]


@pytest.mark.parametrize("block", BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_page_shows_what_is_printed(block: list[str]) -> None:
    """``[…]`` is any number of lines, ``…`` at the end of a line the rest of that line."""
    command, *shown = block
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "crdcompat")
    ran = run(*arguments, cwd=PROJECT / "fixtures/demo")
    assert ran.code in (0, 1), ran.err
    assert re.fullmatch("".join(map(_pattern, shown)), ran.out), f"{ran.out}\n{shown}"


def test_every_part_is_shown() -> None:
    commands = [shlex.split(block[0])[2] for block in BLOCKS]
    assert set(commands) >= {"diff", "simulate", "matrix"}


@pytest.mark.parametrize("page", DOCUMENTS, ids=[str(page.relative_to(PROJECT)) for page in DOCUMENTS])
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_leads_to_every_page() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"docs/{page.name}" not in readme] == []


def test_each_placeholder_is_explained() -> None:
    """Whoever reads ``<…>`` finds what to put there."""
    texts = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
    used = {path: {found for text in _SNIPPET.findall(text) for found in _PLACEHOLDER.findall(text)}
            for path, text in texts.items()}  # fmt: skip
    explained = set(re.findall(r"^\| `(<[^>]+>)` \|", texts[PROJECT / "docs/ci.md"], re.MULTILINE))
    assert set().union(*used.values()) == explained
    unexplained = {path.name for path, found in used.items() if found and "ci.md#placeholders" not in texts[path]}
    assert unexplained == {"ci.md"}
    manifests = (path.read_text(encoding="utf-8") for path in (PROJECT / "contrib").rglob("*.yaml"))
    assert {found for text in manifests for found in _PLACEHOLDER.findall(text)} <= explained


def _pattern(line: str) -> str:
    if line.strip() == "[…]":
        return "(?:.*\n)*"
    return re.escape(line.removesuffix("…")) + (".*\n" if line.endswith("…") else "\n")

"""Pages of the site that are not files of docs/: the README as its first page, CONTRIBUTING, a page for each rule.

MkDocs calls the functions that begin with ``on_`` (``hooks`` in mkdocs.yml).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.findings.rules import catalogue
from crdcompat.render.rules import rule_section

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_PROJECT = Path(__file__).resolve().parents[1]
#: Beginnings of links between the top of the project and docs/. On the site both are one folder.
_MOVED = {
    "](docs/": "](",
    "](README.md": "](index.md",
    "](../README.md": "](index.md",
    "](../CONTRIBUTING.md": "](CONTRIBUTING.md",
}


def generated() -> Mapping[str, str]:
    """The generated pages: name -> Markdown."""
    readme, contributing = ((_PROJECT / name).read_text("utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    rules = {f"rules/{rule.id}.md": "\n".join(_rule_page(rule_section(rule))) for rule in catalogue().values()}
    return {"index.md": relinked(readme), "CONTRIBUTING.md": relinked(contributing), **rules}


def relinked(text: str) -> str:
    """A page with the links that lead to its targets on the site."""
    for before, after in _MOVED.items():
        text = text.replace(before, after)
    return text


def with_rule_links(text: str) -> str:
    """docs/rules.md: the contents lead to the page of each rule."""
    return re.sub(r"^- \[([a-z-]+)\]\(#\1\)", r"- [\1](rules/\1.md)", text, flags=re.MULTILINE)


def _rule_page(lines: Iterator[str]) -> Iterator[str]:
    """The section of a rule as a page: headings one level up, links to other rules lead to their pages."""
    for line in lines:
        yield re.sub(r"\]\(#([a-z-]+)\)", r"](\1.md)", re.sub(r"^#(#+ )", r"\1", line))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for name, text in generated().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Mend the links of a page of docs/. The search finds each rule once: not also in the list of all rules."""
    if page.file.src_uri != "rules.md":
        return relinked(markdown)
    page.meta["search"] = {"exclude": True}
    return with_rule_links(relinked(markdown))


#: Where the theme takes the stand-in for a worker from: the site has its own.
_FETCHED = "https://unpkg.com/iframe-worker/shim"
_OWN = "assets/javascripts/iframe-worker.js"


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Let the search work from file:// without the network."""
    return output.replace(_FETCHED, "../" * page.url.count("/") + _OWN)


def on_post_template(output: str, **_: object) -> str:
    """The page for what is not found, of which a server shows the files from its top."""
    return output.replace(_FETCHED, f"/{_OWN}")


def on_post_build(config: MkDocsConfig) -> None:
    """Add the script."""
    shutil.copy(Path(__file__).with_name("iframe-worker.js"), Path(config.site_dir) / _OWN)

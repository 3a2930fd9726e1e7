"""A page as a browser reads it: parsed strictly, with only allowed elements and attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib

#: What a page may consist of: nothing that loads, frames, embeds or sends.
ELEMENTS = {
    "a", "aside", "blockquote", "body", "button", "caption", "code", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "head", "header", "html", "input",
    "kbd", "label", "legend", "li", "main", "mark", "meta", "nav", "option", "p", "pre", "script", "section", "select",
    "span", "strong", "style", "summary", "table", "tbody", "td", "th", "thead", "title", "tr", "ul", "wbr",
    *(f"{{http://www.w3.org/2000/svg}}{name}" for name in ("svg", "rect", "title")),
}  # fmt: skip
ATTRIBUTES = {
    "aria-haspopup", "aria-hidden", "aria-keyshortcuts", "aria-label", "aria-labelledby", "aria-live", "autocomplete",
    "charset", "class", "content", "data-facet", "data-name", "for", "hidden", "href", "http-equiv", "id", "lang",
    "name", "role", "scope", "spellcheck", "tabindex", "title", "type", "value",
    "height", "preserveAspectRatio", "viewBox", "width", "x", "y",
}  # fmt: skip


class Page:
    """A page as a browser reads it; invalid HTML raises."""

    def __init__(self, text: str) -> None:
        self.text = text
        parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
        self.root: Element = parser.parse(text)

    def all(self, tag: str, name: str = "") -> list[Element]:
        return [each for each in self.root.iter(tag) if not name or name in each.get("class", "").split()]

    def one(self, tag: str, name: str = "") -> Element:
        (found,) = self.all(tag, name)
        return found

    def elements(self) -> Iterator[Element]:
        return (each for each in self.root.iter() if isinstance(each.tag, str))

    def script(self) -> list[list[int | list[int]]]:
        (data,) = [each for each in self.all("script") if each.get("type") == "application/json"]
        return json.loads(data.text or "")


def said(element: Element) -> str:
    """The text of an element, spaces and line breaks as one space."""
    return " ".join("".join(element.itertext()).split())


DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def confined(shown: Page) -> None:
    """Assert that the page has only allowed elements and attributes, and that its links lead to itself."""
    assert {each.tag for each in shown.elements()} <= ELEMENTS
    assert {name for each in shown.elements() for name in each.keys()} <= ATTRIBUTES  # noqa: SIM118
    ids = [each.get("id") for each in shown.elements() if each.get("id")]
    assert len(ids) == len(set(ids))
    for each in shown.elements():
        if each.get("href") is not None:
            assert each.get("href", "")[:1] == "#"
            assert each.get("href", "")[1:] in ids
        for name in ("for", "aria-labelledby"):
            assert set(each.get(name, "").split()) <= set(ids)
    assert not DANGEROUS.search(shown.text)

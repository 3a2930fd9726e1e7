"""docs/rules.md is what the program makes of the catalogue, and shows all of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import yaml
from helpers import run
from markdown_it import MarkdownIt
from markdown_it.token import Token
from offline import PROJECT

from crdcompat.findings.rules import Example, Rule, catalogue
from crdcompat.render.rules import rule_section, rules_markdown

RULES = catalogue()
_MARKDOWN = MarkdownIt("commonmark").enable("table")


def test_the_page_is_up_to_date() -> None:
    there = (PROJECT / "docs/rules.md").read_text(encoding="utf-8")
    assert there == rules_markdown(), "make it anew: crdcompat rules --format markdown > docs/rules.md"


def test_the_command_prints_the_page() -> None:
    ran = run("rules", "--format", "markdown")
    assert (ran.code, ran.out, ran.err) == (0, rules_markdown(), "")


def test_every_link_inside_the_page_leads_to_a_heading() -> None:
    tokens = _MARKDOWN.parse(rules_markdown())
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = [
        str(child.attrs["href"]) for token in tokens for child in token.children or () if child.type == "link_open"
    ]
    inside = {link.removeprefix("#") for link in links if link.startswith("#")}
    assert inside == set(RULES)
    assert inside <= anchors
    for rule in RULES:
        assert headings.count(rule) == 1


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_is_shown_word_for_word(rule: Rule) -> None:
    """Nothing in the prose is taken for markup, apart from lists and code."""
    shown = _words(_MARKDOWN.render("\n".join(rule_section(rule))))
    for text in (rule.title, rule.summary, rule.why, rule.fix, *rule.references):
        for paragraph in re.split(r"\n\n|^- ", text, flags=re.MULTILINE):
            assert " ".join(paragraph.replace("`", "").split()) in shown


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_examples_are_shown_whole(rule: Rule) -> None:
    tokens = _MARKDOWN.parse("\n".join(rule_section(rule)))
    blocks = [token for token in tokens if token.type == "fence"]
    assert [yaml.safe_load(block.content) for block in blocks if block.info == "yaml"] == [
        side for example in rule.examples for side in _sides(example)
    ]
    reported = [line for block in blocks if block.info == "text" for line in block.content.splitlines()]
    assert [line.partition(": ")[2] for line in reported] == [
        text
        for example in rule.examples
        for key in ("errors", "pruned", "defaulted")
        for text in _reported(example, key)
    ]
    findings = [token.content for token in tokens if token.type == "inline" and token.content.startswith("Finding: ")]
    assert len(findings) == len(rule.examples)
    for example, line in zip(rule.examples, findings, strict=True):
        assert f"**{example.finding['severity']}**" in line
        assert f"`{example.finding['effect']}`" in line


def test_hostile_text_stays_text() -> None:
    text = "a <script>alert(1)</script> *b* [c](d) _e_ \\ &amp; # f"
    example = Example("t <b>", "rollback", {"path": "", "severity": "info", "effect": "none", "errors": ["```\n# x"]})
    rule = Rule("r", "r.r", text, text, {}, text, text, (text,), examples=(example,))
    page = "\n".join(rule_section(rule))
    assert _words(_MARKDOWN.render(page)).count(text) == 5
    assert "<script" not in _MARKDOWN.render(page)
    kinds: list[Token] = [token for token in _MARKDOWN.parse(page) if token.type == "heading_open"]
    assert [token.tag for token in kinds] == ["h2", "h3", "h3", "h3", "h3"]


def _sides(example: Example) -> list[object]:
    shown: list[object] = []
    for schema, spec in ((example.old, example.old_crd), (example.new, example.new_crd)):
        whole = {**schema, **({} if spec is None else {"spec": spec})}
        shown += [whole] if whole else []
    return shown


def _reported(example: Example, key: str) -> list[str]:
    return list(example.finding.get(key, ()))


class _Text(HTMLParser):
    """What a reader of a page sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


def _words(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    parser.close()
    return " ".join("".join(parser.seen).split())

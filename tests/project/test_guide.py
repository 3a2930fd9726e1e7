"""docs/guide.md: each console block is run on the fixtures, and every line it shows is one that is printed."""

from __future__ import annotations

import re
import shlex

import pytest
from helpers import run
from markdown_it import MarkdownIt
from offline import PROJECT

PAGE = (PROJECT / "docs/guide.md").read_text(encoding="utf-8")
BLOCKS = [
    block.content.splitlines()
    for block in MarkdownIt("commonmark").parse(PAGE)
    if block.type == "fence" and block.info == "console"
]


@pytest.mark.parametrize("block", BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_page_shows_what_is_printed(block: list[str]) -> None:
    """``[…]`` stands for any lines, ``…`` at the end of a line for the rest of it."""
    command, *shown = block
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "crdcompat")
    ran = run(*arguments, cwd=PROJECT / "fixtures/demo")
    assert ran.code in (0, 1), ran.err
    assert re.fullmatch("".join(map(_pattern, shown)), ran.out), f"{ran.out}\n{shown}"


def test_every_part_is_shown() -> None:
    commands = [shlex.split(block[0])[2] for block in BLOCKS]
    assert set(commands) >= {"diff", "simulate"}


def _pattern(line: str) -> str:
    if line.strip() == "[…]":
        return "(?:.*\n)*"
    return re.escape(line.removesuffix("…")) + (".*\n" if line.endswith("…") else "\n")

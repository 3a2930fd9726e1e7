"""crdcompat rules and explain: the rule catalogue."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from crdcompat.cli.choices import known_rules


class Listing(StrEnum):
    """How to list the rules."""

    text = "text"
    json = "json"
    markdown = "markdown"


def _families(incomplete: str) -> list[str]:
    from crdcompat.findings.rules import members

    return sorted({member.family for member in members() if member.family.startswith(incomplete)})


def rules(
    family: Annotated[
        str, typer.Argument(metavar="[FAMILY]", help="Only its rules, e.g. enum.", autocompletion=_families)
    ] = "",
    output: Annotated[
        Listing, typer.Option("--format", help="markdown prints docs/rules.md: all rules in full.")
    ] = Listing.text,
    report_schema: Annotated[bool, typer.Option(help="Print the JSON Schema of JSON reports instead.")] = False,
) -> None:
    """List the rules by family, with their severities."""
    import sys

    import orjson
    from msgspec import to_builtins

    from crdcompat.findings.rules import catalogue, members
    from crdcompat.render.data.schema import schema_of_reports
    from crdcompat.render.escape import json_text, say
    from crdcompat.render.rules import rule_lines
    from crdcompat.render.write import print_lines, style_for

    if report_schema:
        say(json_text(schema_of_reports(), orjson.OPT_INDENT_2))
        return
    if output is Listing.markdown:
        from crdcompat.render.rules import rules_markdown

        say(rules_markdown(), end="")
        return
    if output is Listing.json:
        listed = to_builtins(list(catalogue().values()))
        say(json_text(listed, orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
        return
    style = style_for(sys.stdout, "auto", 0)
    print_lines(rule_lines(members(family), style, brief=bool(style.width) and not family))


def explain(
    rule: Annotated[
        list[str],
        typer.Argument(metavar="RULE…", help="Its id, e.g. enum-value-added.", autocompletion=known_rules),
    ],
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show all examples.")] = False,
) -> None:
    """Explain a rule: why it matters, the fix, an example."""
    import sys

    from crdcompat.findings.rules import find_rule
    from crdcompat.render.rules import rule_text
    from crdcompat.render.write import print_lines, style_for

    style = style_for(sys.stdout, "auto", 0)
    for number, found in enumerate([find_rule(name) for name in rule]):
        print_lines([""] if number else [])
        print_lines(rule_text(found, style, whole=verbose))

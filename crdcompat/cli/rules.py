"""crdcompat rules and explain: the rule catalogue."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Listing(StrEnum):
    """How to list the rules."""

    text = "text"
    json = "json"
    markdown = "markdown"


def rules(
    output: Annotated[
        Listing, typer.Option("--format", help="How to list; markdown is docs/rules.md, with everything.")
    ] = Listing.text,
    report_schema: Annotated[bool, typer.Option(help="Print the JSON Schema of the JSON reports instead.")] = False,
) -> None:
    """List the rules."""
    import orjson
    from msgspec import to_builtins

    from crdcompat.findings.rules import catalogue, rule_names
    from crdcompat.render.escape import json_text, say
    from crdcompat.render.report_schema import schema_text

    if report_schema:
        say(schema_text())
        return
    if output is Listing.markdown:
        from crdcompat.render.rules import rules_markdown

        say(rules_markdown(), end="")
        return
    if output is Listing.json:
        listed = to_builtins(list(catalogue().values()))
        say(json_text(listed, orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
        return
    width = max(map(len, rule_names()))
    for rule in catalogue().values():
        say(f"{rule.id:<{width}}  {rule.summary}")
    say("\ncrdcompat explain RULE says why it matters and what to do.")


def _beginning_with(incomplete: str) -> list[str]:
    from crdcompat.findings.rules import rule_names

    return [name for name in rule_names() if name.startswith(incomplete)]


def explain(
    rule: Annotated[
        str, typer.Argument(metavar="RULE", help="Its id, e.g. enum-value-added.", autocompletion=_beginning_with)
    ],
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show all examples.")] = False,
) -> None:
    """Explain one rule: why it matters, how to do it safely, an example."""
    from crdcompat.findings.rules import find_rule
    from crdcompat.render.escape import say
    from crdcompat.render.rules import rule_text

    say("\n".join(rule_text(find_rule(rule), whole=verbose)))

"""The page of all rules as Markdown: docs/rules.md is its output, and a test holds it to that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdcompat.policy.rules import Example, Rule, catalogue
from crdcompat.policy.severity import default_severity
from crdcompat.report.wording.rules import EFFECTS, side_yaml
from crdcompat.vocabulary import Direction, Owner

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTRO = """\
# Rules

<!-- Made by `crdcompat rules --format markdown > docs/rules.md` from the files in rules/: change those. -->

A rule is an opinion about one kind of change between two releases, OLD and NEW. A *rollback* goes from NEW to OLD:
objects written under NEW meet OLD's schema. An *upgrade* goes from OLD to NEW. Each rule says what it finds, why it
matters and what to do. The tests run every example: exactly this finding comes out.

`crdcompat explain RULE` prints one rule. `--select RULE` and `--ignore RULE` choose among them.
"""

_SEVERITY = """\
## Severity

What the API server does, and so how much a finding matters where its rule says nothing else:
"""

_AFTER_SEVERITY = """\
Four things change this. A default that the other release rejects is an error: every object that leaves the field
out holds it. Recorded objects that meet a finding (`--objects`) make a rejection an error and a loss a warning. What
only *may* be rejected, because no object was found that shows it, is at most a warning. A change only in feature sets
that can be neither upgraded nor rolled back (`*NoUpgrade`) is one step lower.
"""

_COLUMNS = {
    "rollback, status": (Direction.ROLLBACK, Owner.STATUS),
    "rollback, elsewhere": (Direction.ROLLBACK, Owner.SPEC),
    "upgrade": (Direction.UPGRADE, Owner.SPEC),
}
#: What Markdown would read as its own. An underscore inside a word is none of it.
_SPECIAL = re.compile(r"[\\<>*\[\]&]|\b_|_\b")


def rules_markdown() -> str:
    """The whole page: what severities are, a table of contents, and every rule."""
    rules = catalogue().values()
    contents = [f"- [{rule.id}](#{rule.id}): {_text(rule.summary)}" for rule in rules]
    head = [_INTRO, _SEVERITY, *_severities(), "", _AFTER_SEVERITY, "## Contents", "", *contents]
    return "\n".join([*head, *(line for rule in rules for line in ("", *rule_section(rule)))]) + "\n"


def rule_section(rule: Rule) -> Iterator[str]:
    """The lines of one rule; its id is the heading, so that links to it stay as they are."""
    yield f"## {rule.id}"
    yield ""
    yield f"**{_text(rule.title)}.** {_text(rule.summary)}"
    if rule.mirror:
        yield ""
        yield f"With OLD and NEW changed over: [{rule.mirror}](#{rule.mirror})."
    if rule.severity:
        yield ""
        yield f"Severity: {', '.join(f'{level} on {direction}' for direction, level in rule.severity.items())}."
    yield ""
    yield "### Why it matters"
    yield ""
    yield _text(rule.why.rstrip())
    yield ""
    yield "### What to do"
    yield ""
    yield _text(rule.fix.rstrip())
    for example in rule.examples:
        yield ""
        yield from _example(example)
    if rule.references:
        yield ""
        yield "### See also"
        yield ""
        yield from (f"- {_text(reference)}" for reference in rule.references)


def _severities() -> Iterator[str]:
    yield f"| effect | what happens | {' | '.join(_COLUMNS)} |"
    yield f"|{'---|' * (2 + len(_COLUMNS))}"
    for effect, told in EFFECTS.items():
        levels = " | ".join(default_severity(direction, effect, owner) for direction, owner in _COLUMNS.values())
        yield f"| `{effect}` | {told} | {levels} |"


def _example(example: Example) -> Iterator[str]:
    yield f"### Example: {_text(example.title)} ({example.direction})"
    for name in ("old", "new"):
        yield ""
        yield f"{name.upper()}:"
        yield ""
        yield from _side(getattr(example, name), getattr(example, f"{name}_crd"))
    finding = example.finding
    where = f" at `{finding['path']}`" if finding["path"] else ""
    yield ""
    yield f"Finding: **{finding['severity']}**, `{finding['effect']}`{where}."
    told = [
        *(f"API server: {error}" for error in finding.get("errors", ())),
        *(f"lost: {path}" for path in finding.get("pruned", ())),
        *(f"set by default: {path}" for path in finding.get("defaulted", ())),
    ]
    if told:
        yield ""
        yield from _block("text", "\n".join(told))


def _side(schema: dict[str, Any], spec: dict[str, Any] | None) -> Iterator[str]:
    text = side_yaml(schema, spec)
    if text:
        yield from _block("yaml", text)
    else:
        yield "a plain CRD with version v1."


def _block(language: str, text: str) -> Iterator[str]:
    """A fenced block; the fence is longer than any in the text."""
    fence = max(("```", *(f"{run}`" for run in re.findall("`+", text))), key=len)
    yield f"{fence}{language}"
    yield text
    yield fence


def _text(text: str) -> str:
    """Prose of a rule as Markdown: its lists and code spans stand, nothing else in it is markup."""
    parts = text.split("`")
    parts[::2] = (_SPECIAL.sub(r"\\\g<0>", part) for part in parts[::2])
    return "`".join(parts)

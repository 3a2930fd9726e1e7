"""A rule as text for ``explain``, and all rules as Markdown: docs/rules.md, which a test compares with this output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Any

from crdcompat.findings.rules import Example, Levels, Member, Rule, catalogue
from crdcompat.findings.severity import default_severity
from crdcompat.program import typed
from crdcompat.render.escape import Style
from crdcompat.vocabulary import Direction, Effect, Owner

#: The effects in words.
EFFECTS = {
    Effect.CRD_REJECTED: "the CRD itself is refused",
    Effect.WRITE_REJECTED: "writes of an object are refused (422)",
    Effect.REQUEST_FAILED: "requests fail (400, 404 or 500)",
    Effect.VALUE_PRUNED: "a value is erased",
    Effect.VALUE_DEFAULTED: "a value is set by default",
}


def rule_text(rule: Rule, style: Style | None = None, *, whole: bool = True) -> Iterator[str]:
    """The lines of ``crdcompat explain RULE``; the first of the examples, or the ``whole`` text."""
    style = style or Style()
    yield style.title(f"{rule.id}: {rule.title}")
    yield ""
    yield style.wrap(rule.summary, first="")
    yield ""
    yield style.title("Why it matters")
    yield from _indented(rule.why, style)
    yield ""
    yield style.title("What to do")
    yield from _indented(rule.fix, style)
    for example in rule.examples if whole else rule.examples[:1]:
        yield ""
        yield from _example(example, style, whole=whole)
    if (rest := len(rule.examples) - 1) > 0 and not whole:
        yield ""
        yield f"{rest} more {'example' if rest == 1 else 'examples'}: {typed()} explain {rule.id} -v"
    if rule.references:
        yield ""
        yield style.title("See also")
        yield from (style.wrap(reference, indent="    ", first="  ") for reference in rule.references)
    yield ""
    yield f"Documentation: docs/rules.md#{rule.id}"


def _example(example: Example, style: Style, *, whole: bool) -> Iterator[str]:
    """Both schemas if ``whole``, else the lines that differ."""
    yield style.title(f"Example: {example.title} ({example.direction})")
    old, new = [*_side(example.old, example.old_crd)], [*_side(example.new, example.new_crd)]
    if whole:
        yield from ("  OLD", *old, "  NEW", *new)
    else:
        changed = [
            line for line in unified_diff(old, new, lineterm="", n=2) if not line.startswith(("---", "+++", "@@"))
        ]
        yield from ("  OLD (-), NEW (+)", *(f"  {line}" for line in changed))
    finding = example.finding
    where = f" at {finding['path']}" if finding["path"] else ""
    yield style.wrap(f"-> {finding['severity']}, {finding['effect']}{where}", indent="     ", first="  ")
    for error in finding.get("errors", ()):
        yield style.wrap(f"API server: {error}", indent="       ", first="     ")
    for path in finding.get("pruned", ()):
        yield f"     lost: {path}"
    for path in finding.get("defaulted", ()):
        yield f"     set by default: {path}"


def _side(schema: dict[str, Any], spec: dict[str, Any] | None) -> Iterator[str]:
    text = _side_yaml(schema, spec) or "(a plain CRD with version v1)"
    yield from (f"    {line}" for line in text.splitlines())


def _indented(text: str, style: Style) -> Iterator[str]:
    """Paragraphs and items of a list as the file of the rule has them; on a terminal wrapped to its width."""
    if not style.width:
        yield from (f"  {line}".rstrip() for line in text.rstrip().splitlines())
        return
    for paragraph in re.split(r"\n\n|\n(?=- )", text.rstrip()):
        is_item = paragraph.startswith("- ")
        if not is_item and not text.startswith(paragraph):
            yield ""
        yield style.fill(" ".join(paragraph.split()), indent="    " if is_item else "  ", first="  ")


_INTRO = """\
# Rules

<!-- Made by `crdcompat rules --format markdown > docs/rules.md` from the files in rules/: change those. -->

A rule is an opinion about one kind of change between two releases, OLD and NEW. A *rollback* goes from NEW to OLD:
objects written under NEW meet OLD's schema. An *upgrade* goes from OLD to NEW. Each rule says what it finds, why it
matters and what to do. The tests run every example: exactly this finding comes out.

`crdcompat rules` lists all with their severities, `crdcompat explain RULE` prints one. `--select RULE` and
`--ignore RULE` choose among them.
"""

_SEVERITY = """\
## Severity

The effect in the API server decides the severity, unless the rule sets another one:
"""

_AFTER_SEVERITY = """\
This is the start. Harm decides: a value that nobody writes makes a warning, a status that rejects what its controllers
write makes an error in both directions, and so on. [How it judges](judging.md#severity) has the whole table. Recorded
objects that meet a finding (`--objects`) make a rejection an error and a loss a warning. A change only in feature sets
that can be neither upgraded nor rolled back (`*NoUpgrade`) is one step lower, and never an error. With the strict
profile (`--profile strict`, or `profile: strict` in the configuration) everything that an upgrade rejects or removes in
the feature set Default, or in any variant of other trees, is an error.
"""

_COLUMNS = {
    "rollback, status": (Direction.ROLLBACK, Owner.STATUS),
    "rollback, elsewhere": (Direction.ROLLBACK, Owner.SPEC),
    "upgrade, status": (Direction.UPGRADE, Owner.STATUS),
    "upgrade, elsewhere": (Direction.UPGRADE, Owner.SPEC),
}
#: Characters that Markdown reads as markup; an underscore inside a word is not.
_SPECIAL = re.compile(r"[\\<>*\[\]&]|\b_|_\b")


def rules_markdown() -> str:
    """The whole page: severities, a table of contents, every rule."""
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
        yield f"The opposite change: [{rule.mirror}](#{rule.mirror})."
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
        yield from _example_markdown(example)
    if rule.references:
        yield ""
        yield "### See also"
        yield ""
        yield from (f"- {_text(reference)}" for reference in rule.references)


def _severities() -> Iterator[str]:
    yield f"| effect | what happens | {' | '.join(_COLUMNS)} |"
    yield f"|{'---|' * (2 + len(_COLUMNS))}"
    for effect, meaning in EFFECTS.items():
        levels = " | ".join(default_severity(direction, effect, owner) for direction, owner in _COLUMNS.values())
        yield f"| `{effect}` | {meaning} | {levels} |"


def _example_markdown(example: Example) -> Iterator[str]:
    yield f"### Example: {_text(example.title)} ({example.direction})"
    for name in ("old", "new"):
        yield ""
        yield f"{name.upper()}:"
        yield ""
        yield from _side_markdown(getattr(example, name), getattr(example, f"{name}_crd"))
    finding = example.finding
    where = f" at `{finding['path']}`" if finding["path"] else ""
    yield ""
    yield f"Finding: **{finding['severity']}**, `{finding['effect']}`{where}."
    lines = [
        *(f"API server: {error}" for error in finding.get("errors", ())),
        *(f"lost: {path}" for path in finding.get("pruned", ())),
        *(f"set by default: {path}" for path in finding.get("defaulted", ())),
    ]
    if lines:
        yield ""
        yield from _block("text", "\n".join(lines))


def _side_markdown(schema: dict[str, Any], spec: dict[str, Any] | None) -> Iterator[str]:
    text = _side_yaml(schema, spec)
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
    """Prose of a rule as Markdown: keeps its lists and code spans, escapes everything else."""
    parts = text.split("`")
    parts[::2] = (_SPECIAL.sub(r"\\\g<0>", part) for part in parts[::2])
    return "`".join(parts)


def _side_yaml(schema: dict[str, Any], spec: dict[str, Any] | None) -> str:
    """The schema, then the parts of the CRD's ``spec`` that differ from a plain CRD; empty for a plain CRD."""
    shown = [part for part in (schema, None if spec is None else {"spec": spec}) if part]
    return "\n".join(map(_dumped, shown))


def _dumped(data: Any) -> str:
    import yaml

    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100).rstrip()


# The rules as a list, family by family, with the severity of each in both directions.


#: Characters of a column of severities, with the star; and the gap between columns.
_LEVEL, _GAP = 8, "  "
_LEGEND = (
    "Each severity is the worst that the rule gives on its own; docs/rules.md#severity lists what changes it.",
    "*: in status; elsewhere a warning.",
)
_FAMILY = "{typed} rules FAMILY says what each rule of a family finds, e.g. {typed} rules enum."
_EXPLAIN = "{typed} explain RULE says why it matters and what to do."


def rule_lines(found: Sequence[Member], style: Style, *, brief: bool) -> Iterator[str]:
    """Each rule with its summary; ``brief``: one line for each rule, in two columns if the page is wide enough."""
    width = max(len(member.rule.id) for member in found)
    head = f"{'rule':<{width}}{_GAP}" + _GAP.join(f"{direction:<{_LEVEL}}" for direction in Direction)
    rows = [_row(member, first, width, style) for first, member in _with_first(found)]
    if brief:
        columns = 2 if 2 * len(head) + len(_GAP) <= style.page else 1
        height = -(-len(rows) // columns)
        parts = [rows[at : at + height] for at in range(0, len(rows), height)]
        yield style.paint(_GAP.join([head] * columns).rstrip(), "dim")
        yield from (_GAP.join(line).rstrip() for line in zip_longest(*parts, fillvalue=""))
    else:
        yield style.paint(head.rstrip() if style.width else f"{head}{_GAP}finds", "dim")
        for row, member in zip(rows, found, strict=True):
            summary = member.rule.summary
            yield from (row.rstrip(), style.wrap(summary)) if style.width else (f"{row}{_GAP}{summary}",)
    yield ""
    for line in (*_LEGEND, *((_FAMILY,) if brief else ()), _EXPLAIN):
        yield style.wrap(line.replace("{typed}", typed()), first="")


def _with_first(found: Sequence[Member]) -> Iterator[tuple[bool, Member]]:
    """Each rule, and whether it is the first of its family."""
    for _, family in groupby(found, attrgetter("family")):
        yield from ((not at, member) for at, member in enumerate(family))


def _row(member: Member, first: bool, width: int, style: Style) -> str:
    """The id, with the family in bold for the first rule of a family, then a severity for each direction."""
    name, rest = member.rule.id, " " * (width - len(member.rule.id))
    if first:
        name = style.paint(member.family, "bold") + name.removeprefix(member.family)
    return _GAP.join((name + rest, *(_level(member.levels.get(direction), style) for direction in Direction)))


def _level(levels: Levels | None, style: Style) -> str:
    if levels is None:
        return f"{'-':<{_LEVEL}}"
    star = "" if levels.status == levels.elsewhere else "*"
    return style.paint(f"{levels.status}{star}", levels.status) + " " * (_LEVEL - len(levels.status) - len(star))

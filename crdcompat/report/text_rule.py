"""One rule as text: what, why, the way out, and an example that the tests run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.report.wording.rules import side_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.policy.rules import Example, Rule


def rule_text(rule: Rule) -> Iterator[str]:
    """All lines of ``crdcompat explain RULE``."""
    yield f"{rule.id}: {rule.title}"
    yield ""
    yield rule.summary
    yield ""
    yield "Why it matters"
    yield from _indented(rule.why)
    yield ""
    yield "What to do"
    yield from _indented(rule.fix)
    for example in rule.examples:
        yield ""
        yield from _example(example)
    if rule.references:
        yield ""
        yield "See also"
        yield from (f"  {reference}" for reference in rule.references)


def _example(example: Example) -> Iterator[str]:
    yield f"Example: {example.title} ({example.direction})"
    yield "  OLD"
    yield from _side(example.old, example.old_crd)
    yield "  NEW"
    yield from _side(example.new, example.new_crd)
    finding = example.finding
    where = f" at {finding['path']}" if finding["path"] else ""
    yield f"  -> {finding['severity']}, {finding['effect']}{where}"
    for error in finding.get("errors", ()):
        yield f"     API server: {error}"
    for path in finding.get("pruned", ()):
        yield f"     lost: {path}"
    for path in finding.get("defaulted", ()):
        yield f"     set by default: {path}"


def _side(schema: dict[str, Any], spec: dict[str, Any] | None) -> Iterator[str]:
    text = side_yaml(schema, spec) or "(a plain CRD with version v1)"
    yield from (f"    {line}" for line in text.splitlines())


def _indented(text: str) -> Iterator[str]:
    yield from (f"  {line}".rstrip() for line in text.rstrip().splitlines())

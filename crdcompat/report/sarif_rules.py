"""The rules of a SARIF report: those of the catalogue, and what is reported besides findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.policy.rules import rule as rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

UNDECIDED, REJECTED_VALUE, REJECTED_OBJECT = "undecided", "rejected-value", "rejected-object"

#: Title, summary, why, fix.
_OWN = {
    UNDECIDED: (
        "Difference that is not judged",
        "OLD and NEW differ in a keyword that this version does not judge.",
        "It may break a rollback or an upgrade, or nothing at all.",
        "Compare the two sides by hand.",
    ),
    REJECTED_VALUE: (
        "Recorded objects hold what is rejected",
        "Recorded objects hold, in one field, what the API server of the judging release rejects.",
        "Writes of these objects fail after the move: controllers stop, and users cannot edit them.",
        "Take the value out of the objects before the move, or widen the schema that rejects it.",
    ),
    REJECTED_OBJECT: (
        "Recorded object whose writes are rejected",
        "A recorded object was replayed, and the API server of the judging release rejects a write of it.",
        "Whoever writes this object next gets this error.",
        "Apply the repair that the report names before the move, or widen the schema that rejects it.",
    ),
}


def descriptor(rule: str, level: str) -> dict[str, Any]:
    """A rule as SARIF has it; ``level`` is the worst that it has in this run."""
    if rule in _OWN:
        heading, summary, why, fix = _OWN[rule]
        references: Sequence[str] = ()
    else:
        known = rule_of(rule)
        heading, summary, why, fix, references = known.title, known.summary, known.why, known.fix, known.references
    return {
        "id": rule,
        "name": "".join(part.capitalize() for part in rule.split("-")),
        "shortDescription": {"text": f"{heading}."},
        "fullDescription": {"text": summary},
        "help": {
            "text": _help(why, fix, references, "{}\n\n{}"),
            "markdown": _help(why, fix, references, "**{}**\n\n{}"),
        },
        "defaultConfiguration": {"level": level},
    }


def _help(why: str, fix: str, references: Sequence[str], form: str) -> str:
    parts = [("Why it matters", why.strip()), ("What to do", fix.strip())]
    if references:
        parts.append(("See also", "\n".join(f"- {reference}" for reference in references)))
    return "\n\n".join(form.format(heading, body) for heading, body in parts)

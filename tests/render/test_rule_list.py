"""``rules`` lists all rules by family, with severities that the examples of the rules keep to."""

from __future__ import annotations

import pytest
from helpers import run

from crdcompat.findings.rules import Member, catalogue, members, rule_names
from crdcompat.render.escape import Style, finish
from crdcompat.render.rules import rule_lines, rule_text
from crdcompat.vocabulary import Direction, Severity

_ENUM = """\
rule                rollback  upgrade   finds
enum-dropped        error*    -         NEW allows any value in a field; OLD allows only listed ones.
enum-introduced     -         error*    NEW allows only listed values in a field; OLD allows any.
enum-value-added    error*    -         NEW allows a value that OLD rejects.
enum-value-removed  -         error*    OLD allows a value that NEW rejects.

Each severity is the worst that the rule gives on its own; docs/rules.md#severity lists what changes it.
*: in status; elsewhere a warning.
crdcompat explain RULE says why it matters and what to do.
"""


def test_a_family_has_its_rules_with_severities_and_summaries() -> None:
    ran = run("rules", "enum")
    assert (ran.code, ran.out, ran.err) == (0, _ENUM, "")


def test_a_pipe_gets_a_line_for_each_rule() -> None:
    first = [line.split()[0] for line in run("rules").out.partition("\n\n")[0].splitlines()]
    assert first[0] == "rule"
    assert sorted(first[1:]) == [*rule_names()]
    assert first[1:] == [member.rule.id for member in members()]


@pytest.mark.parametrize(("width", "columns", "most"), [(120, 2, 45), (104, 2, 45), (80, 1, 86)])
def test_a_terminal_shows_all_rules_in_the_columns_that_fit(width: int, columns: int, most: int) -> None:
    lines = [*finish(rule_lines(members(), Style(width=width), brief=True))]
    assert lines[0].split() == ["rule", "rollback", "upgrade"] * columns
    assert max(map(len, lines)) <= width
    assert len(lines) <= most
    words = [word for line in lines for word in line.split()]
    assert [words.count(name) for name in rule_names()] == [1] * len(rule_names())


def test_a_family_begins_in_bold() -> None:
    lines = [*finish(rule_lines(members("enum"), Style(colour=True, width=60), brief=True))]
    bold = "\x1b[1menum\x1b[0m"
    assert [line.partition("-")[0] for line in lines[1:5]] == [bold, "enum", "enum", "enum"]


@pytest.mark.parametrize("member", members(), ids=lambda member: member.rule.id)
def test_no_example_is_worse_than_the_list_says(member: Member) -> None:
    for example in member.rule.examples:
        listed = member.levels[example.direction].status
        assert Severity(example.finding["severity"]).rank >= listed.rank, example.title


def test_a_star_is_an_error_in_status_and_a_warning_elsewhere() -> None:
    """The legend under the list says so."""
    apart = {
        (direction, levels.status, levels.elsewhere)
        for member in members()
        for direction, levels in member.levels.items()
        if levels.status != levels.elsewhere
    }
    assert apart == {(direction, Severity.ERROR, Severity.WARNING) for direction in Direction}


def test_an_explanation_ends_with_the_page_of_the_rule() -> None:
    for name, rule in catalogue().items():
        for whole in (False, True):
            assert [*rule_text(rule, whole=whole)][-1] == f"Documentation: docs/rules.md#{name}"

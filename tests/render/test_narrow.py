"""Texts on a narrow terminal: lines break between words, long paths at a dot, and the verdict stays in sight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import crd, obj, root, run, string
from msgspec.structs import replace
from report_samples import check, compared, replayed, sample

from crdcompat.findings.rules import catalogue
from crdcompat.models.release import Release
from crdcompat.models.report import Report
from crdcompat.render.escape import Style, finish, shortened
from crdcompat.render.formats.text import render
from crdcompat.render.rules import rule_text

REPORTS: dict[str, Callable[[Path], Report]] = {"diff": sample, "check": check, "simulation": replayed}
#: A release with a long name, as of a branch that is named after a ticket.
_LONG = "origin/release-of-a-branch-with-a-rather-long-name"


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("width", [60, 80])
def test_a_line_is_wider_than_the_terminal_only_if_it_cannot_break(kind: str, width: int, tmp_path: Path) -> None:
    """File names and commands are not broken: a terminal opens the one, and a shell takes the other."""
    report = _long_named(REPORTS[kind](tmp_path))
    lines = render(report, Style(width=width)).splitlines()
    wide = [line.strip() for line in lines if len(line) > width]
    assert [line for line in wide if not line.startswith(("-->", "kubectl patch "))] == []
    assert any(_LONG in line for line in lines)


def _long_named(report: Report) -> Report:
    release = Release(_LONG, "f" * 40, "1.31")
    if report.KIND == "check":
        sections = tuple(
            replace(each, report=replace(each.report, old=release, new=release)) for each in report.sections
        )
        return replace(report, sections=sections)
    return replace(report, old=release, new=release)


def test_lines_that_a_narrow_terminal_wraps_count_for_the_height_of_the_screen(tmp_path: Path) -> None:
    report = compared(tmp_path, root(spec=obj(a=string("A"))), root(spec=obj(a=string("A", *"BCDEFG"))))
    wide = render(report, Style(width=120)).splitlines()
    for width, begins in ((120, False), (40, True)):
        lines = render(report, Style(width=width, height=len(wide))).splitlines()
        assert lines[0].startswith("r2 -> r1: AT RISK") is begins


def test_a_long_path_is_cut_at_its_dots() -> None:
    path = "spec.defaultNetwork.ovnKubernetesConfig.gatewayConfig.ipv6.internalMasqueradeSubnet"
    assert shortened(path, 80) == "spec.defaultNetwork.ovnKubernetesConfig … internalMasqueradeSubnet"
    assert shortened("a" * 40, 20) == f"{'a' * 11} … {'a' * 6}"


def test_an_explanation_is_wrapped_to_the_terminal() -> None:
    for rule in catalogue().values():
        lines = [*finish(rule_text(rule, Style(width=60), whole=False))]
        text = lines[: next(number for number, line in enumerate(lines) if line.startswith("Example: "))]
        assert [line for line in text if len(line) > 60] == []
        assert " ".join(" ".join(text).split()) == " ".join(
            " ".join(
                [f"{rule.id}: {rule.title}", rule.summary, "Why it matters", rule.why, "What to do", rule.fix]
            ).split()
        )


def test_several_rules_are_explained_at_once() -> None:
    names = ("enum-dropped", "scope-changed")
    one, other = (run("explain", name).out for name in names)
    assert run("explain", *names).out == f"{one}\n{other}"
    assert run("explain", "enum-dropped", "nosuch").code == 2


def test_long_texts_of_an_example_object_are_cut(tmp_path: Path) -> None:
    """An object that breaks maxLength holds thousands of characters."""
    old, new = (root(spec=obj(a={"type": "string", "maxLength": most})) for most in (1000, 2000))
    report = compared(tmp_path, [crd(old)], [crd(new)])
    (line,) = [line for line in render(report, Style(verbosity=1)).splitlines() if line.startswith("  witness: ")]
    assert f"{'a' * 40}… (1,001 characters)" in line
    assert line.endswith(" (long texts are cut: --format json has them whole)")
    assert len(line) < 300

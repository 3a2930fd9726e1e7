"""The text of preflight: what is alike is one line."""

from __future__ import annotations

from msgspec.structs import replace

from crdcompat.models.preflight import FieldWriter, Missing, PreflightReport, WindowEffect
from crdcompat.models.release import Release
from crdcompat.models.simulation import RejectedCause
from crdcompat.render.escape import Style, finish
from crdcompat.render.pages.preflight import page, unlisted_text
from crdcompat.render.text.text_page import page_text
from crdcompat.vocabulary import Effect
from crdcompat.vocabulary.writes import Endpoint

CRD = "widgets.example.com"


def _report() -> PreflightReport:
    def cause(path: str, *values: str) -> RejectedCause:
        return RejectedCause(CRD, "Widget", path, "FieldValueNotSupported", values, 1, 2, Endpoint.STATUS, None, "w")

    def effect(path: str, old: Effect, new: Effect) -> WindowEffect:
        return WindowEffect("f", CRD, "Widget", path, old, new)

    rejected, pruned, none = Effect.WRITE_REJECTED, Effect.VALUE_PRUNED, Effect.NONE
    return PreflightReport(
        Release("r1", None, None),
        Release("r2", None, None),
        ("prod",),
        is_live=True,
        platform="",
        judge="",
        installed=1,
        causes=(cause("status.knownItems[*]", "B"), cause("status.newItems[*]", "B"), cause("spec.mode", "c")),
        writers=(FieldWriter("a", CRD, "Widget", "status.knownItems[*]", 1), FieldWriter("b", CRD, "Widget", "x", 1)),
        missing=(*(Missing(name, "not served") for name in ("a", "b", "c", "d", "e", "f")), Missing("g", "forbidden")),
        windows=(
            effect("spec.a.x", rejected, none),
            effect("spec.b.x", rejected, rejected),
            effect("spec.c.x", pruned, none),
            effect("", Effect.CRD_REJECTED, none),
        ),
    )


def _sections(verbosity: int = 0) -> dict[str, list[str]]:
    style = Style(verbosity=verbosity)
    text = "\n".join(finish(page_text(page(_report(), style), style)))
    parts = [part.splitlines() for part in text.split("\n\n")]
    return {title: lines for title, *lines in parts}


def test_gaps_with_one_reason_are_one_line() -> None:
    assert _sections()["What is missing"] == ["  not served: a, b, c, d and 2 more", "  g: forbidden"]
    assert _sections(verbosity=1)["What is missing"] == ["  not served: a, b, c, d, e, f", "  g: forbidden"]


def test_siblings_are_one_line() -> None:
    shown = _sections()
    assert shown["What r1 rejects"] == [
        '  1 of 2 Widget: status.{known,new}Items[*] holds "B" (written by a)',
        '  1 of 2 Widget: spec.mode holds "c"',
    ]
    (windows,) = (lines for title, lines in shown.items() if title.startswith("While CRDs and operator differ"))
    assert windows == [
        "  old CRDs, new operator",
        "    Widget spec.{a,b}.x: writes are rejected",
        "    Widget CRD: the server refuses the CRD",
        "    1 field can be lost or defaulted",
        "  new CRDs, old operator",
        "    Widget spec.b.x: writes are rejected",
    ]


def test_one_object_without_steps_needs_a_repair_and_two_need_one() -> None:
    report = _report()
    assert [unlisted_text(replace(report, unlisted=count)) for count in (0, 1, 2)] == [
        "",
        "1 more object needs a repair: repair these, then ask again.",
        "2 more objects need a repair: repair these, then ask again.",
    ]

"""A finding from a judged change: its severity, its sentence about ratcheting, and its place in the order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from variants import tree, variant

from crdcompat import load_crds
from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Occurrence
from crdcompat.compare.witness import Witness
from crdcompat.crds.resolving import Chosen
from crdcompat.findings.finding import group_copies, make_findings
from crdcompat.models.finding import Finding
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.writes import Spared


@pytest.fixture
def chosen(tmp_path: Path) -> Chosen:
    (document,) = load_crds(f"path:{tree(tmp_path, w=variant('A'))}").documents
    return Chosen(document, document.crd.versions[0])


def _judged(
    chosen: Chosen, path: str = "status.phase", *, terminal: tuple[bool, ...] = (False,), **more: Any
) -> Judged:
    kind = more.pop("kind", "enum.value-added")
    change = Change(kind, tuple(path.split(".")), ["A"], ["A", "B"], added=("B",))
    places = tuple(Occurrence(f"c{number}", each, chosen, chosen, change) for number, each in enumerate(terminal))
    facts = {"effect": Effect.WRITE_REJECTED, "direction": Direction.ROLLBACK, "witness": Witness({}), **more}
    return Judged(
        change=change, labels=(), windows=(facts["effect"], Effect.NONE), crd="widgets.example.com", kind="Widget",
        version="v1", occurrences=places, **facts,
    )  # fmt: skip


def _made(*judged: Judged) -> list[Finding]:
    return make_findings(judged, "r1", "r2", lambda _: ())


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        pytest.param({}, "error", id="a rejected status"),
        pytest.param({"path": "spec.phase"}, "warning", id="a rejected spec"),
        pytest.param({"path": "spec.phase", "writer_default": True}, "error", id="a default that is rejected"),
        pytest.param({"spared": Spared.VALUE}, "warning", id="updates keep the stored value"),
        pytest.param({"spared": Spared.LIST}, "error", id="updates that change the list are rejected"),
        pytest.param({"doubtful": True}, "warning", id="no proof"),
        pytest.param({"kind": "free-field.declared", "unlikely": True}, "info", id="no controller writes it"),
        pytest.param({"terminal": (True, True)}, "warning", id="only where nothing rolls back"),
        pytest.param({"terminal": (True, False)}, "error", id="also where something rolls back"),
        pytest.param({"terminal": (True,), "doubtful": True}, "info", id="no proof, and nothing rolls back"),
    ],
)
def test_the_severity(chosen: Chosen, facts: dict[str, Any], severity: str) -> None:
    (finding,) = _made(_judged(chosen, **facts))
    assert finding.severity == severity
    assert ("severity lowered" in finding.message) == (facts.get("terminal", (False,))[-1] is True)


def test_a_crd_that_upgrade_jobs_cannot_install_counts_in_full(chosen: Chosen) -> None:
    facts: dict[str, Any] = {"kind": "crd.refused", "effect": Effect.CRD_REJECTED, "terminal": (True,)}
    found = _made(*(_judged(chosen, direction=direction, **facts) for direction in Direction))
    assert [(each.direction, "severity lowered" in each.message) for each in found] == [
        ("rollback", True),
        ("upgrade", False),
    ]


@pytest.mark.parametrize(
    ("kind", "spared", "sentence"),
    [
        ("enum.value-added", Spared.VALUE, "only writes that set it:"),
        ("enum.value-added", Spared.LIST, "only writes that change the list:"),
        ("required.removed", Spared.VALUE, "only writes that change the object without it:"),
        ("required.removed", Spared.LIST, "only writes that change the list:"),
    ],
)
def test_the_writes_that_are_spared(chosen: Chosen, kind: str, spared: Spared, sentence: str) -> None:
    (finding,) = _made(_judged(chosen, kind=kind, spared=spared))
    assert f" ({sentence} " in finding.message


def test_the_order(chosen: Chosen) -> None:
    """Rollback first, then the severity, then who writes the field, then the place."""
    judged = [
        _judged(chosen, "status.b", direction=Direction.UPGRADE),
        _judged(chosen, "metadata.a"),
        _judged(chosen, "spec.b"),
        _judged(chosen, "spec.a"),
        _judged(chosen, "status.a", doubtful=True),
        _judged(chosen, "spec.c", writer_default=True),
        _judged(chosen, "status.y"),
    ]
    assert [(each.direction[0], each.severity, each.path) for each in _made(*judged)] == [
        ("r", "error", "status.y"),
        ("r", "error", "spec.c"),
        ("r", "warning", "status.a"),
        ("r", "warning", "spec.a"),
        ("r", "warning", "spec.b"),
        ("r", "warning", "metadata.a"),
        ("u", "warning", "status.b"),
    ]


def test_copies_are_merged_if_all_that_they_say_is_equal(chosen: Chosen) -> None:
    first, second = _made(_judged(chosen, "spec.a.mode"), _judged(chosen, "spec.b.mode"))
    (merged,) = group_copies([first, second])
    assert (merged.path, merged.places, merged.id) == ("spec.a.mode", ("spec.b.mode",), first.id)
    assert merged.message.endswith(" (and at 1 more place like it)")
    others = [
        replace(second, path="spec.b.other"),
        replace(second, path="spec.b.mode[*]"),
        replace(second, contexts=("c1",)),
        replace(second, spared=Spared.VALUE),
        replace(second, added=("C",)),
        replace(second, version="v2"),
    ]
    for other in others:
        assert group_copies([first, other]) == [first, other]
    items = [replace(each, path=f"spec.{name}[*].mode") for each, name in ((first, "a"), (second, "b"))]
    assert group_copies(items) == items, "items of lists with other names are of another type"

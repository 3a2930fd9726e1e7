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
from crdcompat.findings.rejected_writes import with_article
from crdcompat.models.finding import Finding
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.judging import Harm, Named
from crdcompat.vocabulary.writes import Spared


@pytest.fixture
def chosen(tmp_path: Path) -> Chosen:
    (document,) = load_crds(f"path:{tree(tmp_path, w=variant('A'))}").documents
    return Chosen(document, document.crd.versions[0])


def _judged(
    chosen: Chosen, path: str = "status.phase", *, terminal: tuple[bool, ...] = (False,), **more: Any
) -> Judged:
    kind = more.pop("kind", "enum.value-added")
    of_crd = more.pop("of_crd", False)
    change = Change(kind, () if of_crd else tuple(path.split(".")), ["A"], ["A", "B"], added=("B",), of_crd=of_crd)
    contexts = more.pop("contexts", None) or tuple(f"c{number}" for number in range(len(terminal)))
    flags = terminal if len(terminal) == len(contexts) else (False,) * len(contexts)
    places = tuple(Occurrence(*where, chosen, chosen, change) for where in zip(contexts, flags, strict=True))
    facts = {"effect": Effect.WRITE_REJECTED, "direction": Direction.ROLLBACK, "witness": Witness({}), **more}
    return Judged(
        change=change, labels=(), windows=(facts["effect"], Effect.NONE), kind="Widget", version="v1",
        occurrences=places, **{"crd": "widgets.example.com", **facts},
    )  # fmt: skip


#: A change that also a feature set with upgrades has, and one that only sets without upgrades have.
_TERMINAL = ((True, False), (True, True))


def _made(*judged: Judged) -> list[Finding]:
    return make_findings(judged, "r1", "r2", lambda _: ())


_SPEC = {"path": "spec.phase"}
_UP = {"direction": Direction.UPGRADE, "kind": "enum.value-removed"}
_LACK = {"kind": "required.removed"}
_RULED = {"direction": Direction.UPGRADE, "kind": "cel.transition-rule-added"}
_UNRULED = {"kind": "cel.transition-rule-removed"}


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
        pytest.param({"named": Named.ENUM}, "error", id="a status value of the enum"),
        pytest.param({"named": Named.CONSTANT}, "error", id="a status value of a constant"),
        pytest.param({"named": Named.SAMPLE, "spared": Spared.VALUE}, "warning", id="a sample that updates may keep"),
        pytest.param({"named": Named.NOBODY}, "warning", id="a status value that nothing names"),
        pytest.param(_LACK | {"named": Named.LEFT_OUT}, "error", id="a status field that Go may leave out"),
        pytest.param(_LACK | {"named": Named.WRITTEN}, "warning", id="a status field that Go always writes"),
        pytest.param(_LACK | {"named": Named.KEY}, "info", id="a key of items in status"),
        pytest.param(_UP, "error", id="upgrade: a rejected status"),
        pytest.param(_UP | {"named": Named.ENUM}, "error", id="upgrade: a status value of the enum"),
        pytest.param(_UP | {"named": Named.ZERO}, "error", id="upgrade: a status value that Go writes"),
        pytest.param(_UP | {"named": Named.NOBODY}, "warning", id="upgrade: a status value that nothing names"),
        pytest.param(_UP | {"named": Named.ENUM, "path": "spec.phase"}, "warning", id="upgrade: a value in spec"),
        pytest.param(_SPEC | {"harms": (Harm.NO_COMMON_VALUE,)}, "error", id="no common value in spec"),
        pytest.param(
            {"harms": (Harm.NO_COMMON_VALUE,), "named": Named.NOBODY, "spared": Spared.VALUE},
            "error",
            id="no common value, whoever writes it",
        ),
        pytest.param(_RULED | _SPEC | {"harms": (Harm.FROZEN,)}, "error", id="upgrade: frozen in spec"),
        pytest.param(_RULED | {"harms": (Harm.FROZEN,), "named": Named.NOBODY}, "error", id="upgrade: a frozen status"),
        pytest.param(_RULED | _SPEC, "warning", id="upgrade: a transition rule in spec"),
        pytest.param(_RULED | {"named": Named.ENUM}, "warning", id="upgrade: a transition rule in status"),
        pytest.param(_UNRULED | _SPEC | {"harms": (Harm.FROZEN,)}, "info", id="rollback: frozen in spec"),
        pytest.param(_UNRULED | {"harms": (Harm.FROZEN,)}, "info", id="rollback: frozen in status"),
        pytest.param({"crd": "widgets.example.openshift.io"}, "warning", id="an example API"),
        pytest.param({"crd": "widgets.example.com"}, "error", id="an API of the domain for examples"),
        pytest.param({"crd": "widgets.examples.openshift.io"}, "error", id="an API that only sounds like an example"),
    ],
)
def test_the_severity(chosen: Chosen, facts: dict[str, Any], severity: str) -> None:
    (finding,) = _made(_judged(chosen, **facts))
    assert finding.severity == severity
    assert ("severity lowered" in finding.message) == (facts.get("terminal", (False,))[-1] is True)


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "crd.refused", "effect": Effect.CRD_REJECTED},
        {"harms": (Harm.NO_COMMON_VALUE,)},
        {"named": Named.ENUM},
        {"writer_default": True},
    ],
    ids=["a refused CRD", "no common value", "a member of an enum", "a default"],
)
def test_nothing_of_feature_sets_without_upgrades_is_an_error(
    chosen: Chosen, facts: dict[str, Any], direction: Direction
) -> None:
    elsewhere, (finding,) = (_made(_judged(chosen, direction=direction, terminal=each, **facts)) for each in _TERMINAL)
    assert [each.severity for each in elsewhere] == ["error"]
    assert (finding.severity, "severity lowered" in finding.message) == ("warning", True)
    assert finding.because[-1] == "only in feature sets that can be neither upgraded nor rolled back"


_SPARED_REASON = "the server lets updates pass that leave the value as it is"


@pytest.mark.parametrize(
    ("facts", "because"),
    [
        ({"named": Named.ENUM}, ("status", "named by the enum")),
        ({"named": Named.NOBODY}, ("status", "nothing names the value")),
        ({**_SPEC, "named": None}, ("spec",)),
        ({**_SPEC, "writer_default": True, "named": Named.DEFAULT}, ("spec", "the writer's default")),
        ({"named": Named.CONSTANT, "spared": Spared.VALUE}, ("status", "a constant of the Go type", _SPARED_REASON)),
        ({"doubtful": True}, ("status", "no example object was found")),
        (_UP | {"named": Named.ENUM}, ("status", "named by the enum")),
        (_RULED | {"harms": (Harm.FROZEN,)}, ("status", "no value can be changed any more")),
        (_RULED | _SPEC, ("spec", "some changes still pass")),
        (_UNRULED | {"harms": (Harm.FROZEN,)}, ("status",)),
        (
            {"kind": "crd.refused", "effect": Effect.CRD_REJECTED, "of_crd": True, "early": True},
            ("the CRD itself", "applied before the API server is updated"),
        ),
        ({"contexts": ("Default/x", "TechPreviewNoUpgrade/x")}, ("status", "in Default")),
        ({"contexts": ("TechPreviewNoUpgrade/x",)}, ("status",)),
        (
            {"crd": "widgets.example.openshift.io", "named": Named.ENUM},
            ("status", "named by the enum", "an example API, which no cluster has"),
        ),
    ],
)
def test_what_decided(chosen: Chosen, facts: dict[str, Any], because: tuple[str, ...]) -> None:
    (finding,) = _made(_judged(chosen, **facts))
    assert finding.because == because


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("side", ["added", "removed"])
def test_the_number_of_rules(chosen: Chosen, side: str, number: int) -> None:
    item = _judged(chosen, kind=f"cel.rule-{side}")
    values = {"added": (), "removed": (), side: ("self.a", "self.b")[:number]}
    (finding,) = _made(replace(item, change=replace(item.change, **values)))
    assert f"{'has' if side == 'added' else 'loses'} {'a rule' if number == 1 else '2 rules'}" in finding.message


@pytest.mark.parametrize(
    ("kind", "spared", "sentence"),
    [
        (
            "enum.value-added",
            Spared.VALUE,
            " if they change the value; updates that leave a stored value alone pass",
        ),
        ("enum.value-added", Spared.LIST, " if they change the list; updates that leave a stored list alone pass"),
        (
            "required.removed",
            Spared.VALUE,
            " if they change the object around it; updates that leave a stored object alone pass",
        ),
        ("required.removed", Spared.LIST, " if they change the list; updates that leave a stored list alone pass"),
    ],
)
def test_the_writes_that_are_spared(chosen: Chosen, kind: str, spared: Spared, sentence: str) -> None:
    (finding,) = _made(_judged(chosen, kind=kind, spared=spared))
    assert sentence in finding.message and "every" not in finding.message


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
        ("u", "error", "status.b"),
    ]


def test_a_finding_names_the_values_that_have_its_effect(chosen: Chosen) -> None:
    item = _judged(chosen)
    both = replace(item.change, added=("B", "C"))
    assert [(each.added, each.removed) for each in _made(replace(item, change=both))] == [(("B", "C"), ())]
    assert [(each.added, each.removed) for each in _made(replace(item, change=both, labels=("C",)))] == [(("C",), ())]
    gone = replace(item.change, added=(), removed=("B", "C"))
    assert [(each.added, each.removed) for each in _made(replace(item, change=gone, labels=("C",)))] == [((), ("C",))]


_WORDS = ["an Ingress", "a Widget", "an APIServer", "an UpdateRequest", "a User", "a Unit"]
_ABBREVIATED = ["an LVMCluster", "an HTTPRoute", "an XBackend", "an SELinux", "a ROSAMachinePool", "a NATGateway"]


@pytest.mark.parametrize(
    "named", ["an Ingress", "a Widget", "an APIServer", "an UpdateRequest", "a User", "a Unit", *_ABBREVIATED]
)
def test_a_kind_has_its_article(named: str) -> None:
    assert with_article(named.split()[1]) == named


def test_copies_are_merged_if_all_that_they_say_is_equal(chosen: Chosen) -> None:
    first, second = _made(_judged(chosen, "spec.a.mode"), _judged(chosen, "spec.b.mode"))
    (merged,) = group_copies([first, second])
    assert (merged.path, merged.places, merged.id) == ("spec.a.mode", ("spec.b.mode",), first.id)
    assert merged.message.endswith(" (and at 1 more place like it)")
    (three,) = group_copies([first, second, replace(second, path="spec.c.mode")])
    assert three.message.endswith(" (and at 2 more places like it)")
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

"""diff --objects: an object is evidence only for findings in the context of its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd, diff, root, run, select, string, write
from helpers import obj as schema
from msgspec.structs import replace

import crdcompat
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.recordings.recorded_objects import Recorded

_SET, _PROFILE, _CHANNEL = (
    "release.openshift.io/feature-set",
    "include.release.openshift.io/",
    "gateway.networking.k8s.io/channel",
)
_HA, _HOSTED = "self-managed-high-availability", "ibm-cloud-managed"
_DEFAULT, _TECH = "Default/default", "TechPreviewNoUpgrade/default"

#: A variant's annotations, and the modes that OLD's and NEW's schema of it allow.
Variant = tuple[Json, tuple[str, ...], tuple[str, ...]]
_TWO_SETS: tuple[Variant, ...] = (
    ({_SET: "Default"}, ("A",), ("A", "B")),
    ({_SET: "TechPreviewNoUpgrade"}, ("A", "C"), ("A", "B", "C", "D")),
)
_TWO_CHANNELS: tuple[Variant, ...] = (
    ({_CHANNEL: "standard"}, ("A",), ("A", "B")),
    ({_CHANNEL: "experimental"}, ("A", "C"), ("A", "B", "C")),
)


def _profiles(feature_set: str = "Default") -> tuple[Variant, ...]:
    return (
        ({_SET: feature_set, _PROFILE + _HA: "true"}, ("A",), ("A", "B")),
        ({_SET: feature_set, _PROFILE + _HOSTED: "true"}, ("A", "C"), ("A", "B", "C")),
    )


def _sides(tmp_path: Path, variants: tuple[Variant, ...]) -> tuple[Path, Path]:
    for index, (notes, *modes) in enumerate(variants):
        for side, allowed in zip(("old", "new"), modes, strict=True):
            document = crd(root(spec=schema(mode=string(*allowed))), annotations=notes)
            write(tmp_path / side / f"{index}.yaml", document)
    return tmp_path / "old", tmp_path / "new"


def _widget(mode: str = "B") -> Json:
    metadata = {"name": "w", "namespace": "default", "uid": mode}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": {"mode": mode}}


def _gate(feature_set: str | None, *profiles: str) -> Json:
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "FeatureGate",
        "metadata": {"name": "cluster", "uid": "g", "annotations": {_PROFILE + name: "true" for name in profiles}},
        "spec": {} if feature_set is None else {"featureSet": feature_set},
    }


def _recording(path: Path, *objects: Json) -> Path:
    return write(path, {"apiVersion": "v1", "kind": "List", "items": list(objects)})


def _met(report: Json) -> dict[str, tuple[str, int, tuple[str, ...], bool]]:
    """The findings of the rollback by their contexts: severity, objects, the objects' contexts, whether assumed."""
    found = select(report, direction="rollback", rule="enum-value-added")
    made = {" ".join(item["contexts"]): item for item in found}
    assert len(made) == len(found)
    return {
        name: (item["severity"], evidence["recorded_objects"], tuple(evidence["contexts"]), evidence["assumed"])
        for name, item in made.items()
        for evidence in [item["evidence"]]
    }


_NONE: tuple[int, tuple[str, ...], bool] = (0, (), False)


@pytest.mark.parametrize(
    ("shown", "mode", "expected"),
    [
        pytest.param(
            None,
            "B",
            {_DEFAULT: ("error", 1, (_DEFAULT,), False), _TECH: ("info", *_NONE)},
            id="a cluster of Default proves nothing about TechPreviewNoUpgrade",
        ),
        pytest.param(
            "TechPreviewNoUpgrade",
            "B",
            {_DEFAULT: ("warning", *_NONE), _TECH: ("warning", 1, (_TECH,), False)},
            id="nor the other way; a feature set without upgrades stays one lower",
        ),
        pytest.param(
            "TechPreviewNoUpgrade",
            "D",
            {_DEFAULT: ("warning", *_NONE), _TECH: ("warning", 1, (_TECH,), False)},
            id="a value that Default never had",
        ),
        pytest.param(
            "CustomNoUpgrade",
            "B",
            {_DEFAULT: ("warning", *_NONE), _TECH: ("info", *_NONE)},
            id="a feature set without a schema",
        ),
        pytest.param(
            "xxxxxxx",
            "B",
            {_DEFAULT: ("error", 1, (_DEFAULT,), True), _TECH: ("info", *_NONE)},
            id="a hidden name says nothing",
        ),
        pytest.param(
            "TechPreviewNoUpgrade" * 4,
            "B",
            {_DEFAULT: ("error", 1, (_DEFAULT,), True), _TECH: ("info", *_NONE)},
            id="nor does a text that is no name",
        ),
    ],
)
def test_the_feature_set_of_the_cluster_counts(
    tmp_path: Path, shown: str | None, mode: str, expected: Mapping[str, Any]
) -> None:
    objects = _recording(tmp_path / "dump.json", _widget(mode), _gate(shown))
    report = diff(*_sides(tmp_path, _TWO_SETS), "--objects", objects)
    assert _met(report) == expected
    assert report["unexplained"] == []


def test_without_a_feature_gate_the_usual_context_is_assumed(tmp_path: Path) -> None:
    sides = _sides(tmp_path, _TWO_SETS)
    report = diff(*sides, "--objects", _recording(tmp_path / "dump.json", _widget("B")))
    assert _met(report) == {_DEFAULT: ("error", 1, (_DEFAULT,), True), _TECH: ("info", *_NONE)}
    # Only a cluster of TechPreviewNoUpgrade can hold this value, so nothing is assumed.
    report = diff(*sides, "--objects", _recording(tmp_path / "other.json", _widget("D")))
    assert _met(report) == {_DEFAULT: ("warning", *_NONE), _TECH: ("warning", 1, (_TECH,), False)}


def test_an_object_without_effect_in_the_usual_context_counts_there(tmp_path: Path) -> None:
    variants = (({_SET: "Default"}, ("A", "B"), ("A", "B")), _TWO_SETS[1])
    report = diff(*_sides(tmp_path, variants), "--objects", _recording(tmp_path / "dump.json", _widget()))
    assert _met(report) == {_TECH: ("info", *_NONE)}


def test_one_object_whose_context_is_shown_is_enough(tmp_path: Path) -> None:
    other = {**_widget(), "metadata": {"name": "other", "namespace": "default", "uid": "other"}}
    recordings = _recording(tmp_path / "a.json", _widget()), _recording(tmp_path / "b.json", other, _gate(None))
    options = [each for path in recordings for each in ("--objects", path)]
    report = diff(*_sides(tmp_path, _TWO_SETS), *options)
    assert _met(report) == {_DEFAULT: ("error", 2, (_DEFAULT,), False), _TECH: ("info", *_NONE)}


def test_an_unexplained_rejection_is_reported_once(tmp_path: Path) -> None:
    variants = (({_CHANNEL: "standard"}, ("A",), ("A", "B")), ({_CHANNEL: "experimental"}, ("A",), ("A", "B", "C")))
    old, new = (crdcompat.load(f"path:{side}") for side in _sides(tmp_path, variants))
    report = replace(crdcompat.diff(old, new), findings=())
    (said,) = with_evidence(report, old, new, [[Recorded(_widget(), "dump.json")]]).unexplained
    assert (said.object, said.source) == ("Widget/default/w", "dump.json")
    assert said.error.startswith('rollback: spec.mode: Unsupported value: "B"')


def test_a_finding_of_all_contexts_needs_no_assumption(tmp_path: Path) -> None:
    plain = (({}, ("A",), ("A", "B")),)
    other = crd(root(), kind="Gadget", annotations={_SET: "TechPreviewNoUpgrade"})
    sides = _sides(tmp_path, plain)
    for side in sides:
        write(side / "gadget.yaml", other)
    report = diff(*sides, "--objects", _recording(tmp_path / "dump.json", _widget()))
    assert _met(report) == {f"{_DEFAULT} {_TECH}": ("error", 1, (_DEFAULT,), False)}
    # A feature set that the CRDs do not name gets those for all.
    report = diff(*sides, "--objects", _recording(tmp_path / "custom.json", _widget(), _gate("CustomNoUpgrade")))
    assert _met(report) == {f"{_DEFAULT} {_TECH}": ("error", 1, ("CustomNoUpgrade/default",), False)}


def test_no_channel_is_the_usual_one(tmp_path: Path) -> None:
    """Objects do not show the channel of the CRDs; a FeatureGate has no channel."""
    objects = _recording(tmp_path / "dump.json", _widget(), _gate(None))
    report = diff(*_sides(tmp_path, _TWO_CHANNELS), "--objects", objects)
    assert _met(report) == {name: ("error", 1, (name,), True) for name in ("standard", "experimental")}


@pytest.mark.parametrize(
    ("profiles", "met", "assumed"),
    [
        pytest.param((), _HA, True, id="unknown: the usual one"),
        pytest.param((_HOSTED,), _HOSTED, False, id="shown"),
        pytest.param((_HA, "single-node-developer"), _HA, False, id="one of several"),
        pytest.param((_HA, _HOSTED), _HA, True, id="several: the usual one"),
    ],
)
def test_the_profile_of_the_cluster_counts(tmp_path: Path, profiles: tuple[str, ...], met: str, assumed: bool) -> None:
    objects = _recording(tmp_path / "dump.json", _gate(None, *profiles), _widget())
    other = _HOSTED if met == _HA else _HA
    assert _met(diff(*_sides(tmp_path, _profiles()), "--objects", objects)) == {
        f"Default/{met}": ("error", 1, (f"Default/{met}",), assumed),
        f"Default/{other}": ("warning", *_NONE),
    }


def test_each_recording_is_of_its_own_cluster(tmp_path: Path) -> None:
    sides = _sides(tmp_path, _TWO_SETS)
    tech = _recording(tmp_path / "tech.json", _gate("TechPreviewNoUpgrade"))
    default = _recording(tmp_path / "default.json", _widget(), _gate(""))
    expected = {_DEFAULT: ("error", 1, (_DEFAULT,), False), _TECH: ("info", *_NONE)}
    assert _met(diff(*sides, "--objects", tech, "--objects", default)) == expected
    # In a folder with the recordings of two clusters, the object may be of either.
    both = write(tmp_path / "both" / "tech.json", tech.read_bytes()).parent
    write(both / "default.json", default.read_bytes())
    expected = {_DEFAULT: ("error", 1, (_DEFAULT,), True), _TECH: ("info", *_NONE)}
    assert _met(diff(*sides, "--objects", both)) == expected


def test_another_object_of_the_kind_shows_no_feature_set(tmp_path: Path) -> None:
    other = {**_gate("TechPreviewNoUpgrade"), "metadata": {"name": "example"}}
    damaged = {**_gate(None), "spec": None}
    objects = _recording(tmp_path / "dump.json", _widget(), other, damaged)
    report = diff(*_sides(tmp_path, _TWO_SETS), "--objects", objects)
    assert _met(report) == {_DEFAULT: ("error", 1, (_DEFAULT,), True), _TECH: ("info", *_NONE)}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        pytest.param(None, ("info", *_NONE), id="another cluster"),
        pytest.param("TechPreviewNoUpgrade", ("warning", 1, (_TECH,), False), id="a cluster of it"),
        pytest.param("xx", ("warning", 1, (_TECH,), False), id="unknown: that of the comparison"),
    ],
)
def test_one_context(tmp_path: Path, shown: str | None, expected: tuple[Any, ...]) -> None:
    objects = _recording(tmp_path / "dump.json", _widget(), _gate(shown))
    report = diff(*_sides(tmp_path, _TWO_SETS), "--context", _TECH, "--objects", objects)
    assert _met(report) == {_TECH: expected}
    assert report["unexplained"] == []


@pytest.mark.parametrize(("shown", "count"), [("TechPreviewNoUpgrade", 1), ("Default", 0)])
def test_the_writer_has_the_context_of_the_cluster(tmp_path: Path, shown: str, count: int) -> None:
    pair = f"{_DEFAULT}={_TECH}"
    objects = _recording(tmp_path / "dump.json", _widget("C"), _gate(shown))
    report = diff(*_sides(tmp_path, _TWO_SETS), "--context", pair, "--objects", objects)
    assert {name: met[1] for name, met in _met(report).items()} == {pair: count}
    assert report["unexplained"] == []


def test_the_text_says_what_is_assumed(tmp_path: Path) -> None:
    sides = _sides(tmp_path, _TWO_SETS)
    for gate, said in (("xx", f" (if the cluster has context {_DEFAULT})"), ("", "")):
        objects = _recording(tmp_path / "dump.json", _widget(), _gate(gate))
        for option in ("-q", "-v"):
            printed = " ".join(run("diff", *sides, "--objects", objects, option).out.split())
            assert f"met by 1 recorded object{said}: Widget/default/w in dump.json" in printed, option

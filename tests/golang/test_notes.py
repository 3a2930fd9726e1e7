"""Markers of people in Go source: at which path each stands."""

from __future__ import annotations

import pytest

from crdcompat.golang.go_fields import GoTypes
from crdcompat.golang.notes import notes_at, notes_in, notes_of, strays_of
from crdcompat.schema.paths import steps_of

FILE = "api/v1/things_types.go"
SOURCE = """\
// +groupName=example.com
package v1

// +crdcompat:ignore=kind
type Thing struct {
	// +crdcompat:ignore=embedded
	Common `json:",inline"`
	// +crdcompat:ignore=spec,values={A;"B, C"},reason="a, b"
	Spec ThingSpec `json:"spec"`
}

type Common struct {
	// +crdcompat:ignore=common
	C string `json:"c"`
}

// +crdcompat:ignore=spec-type
type ThingSpec struct {
	// +crdcompat:ignore=list

	// Words.
	List []Item `json:"list"`
	// +crdcompat:ignore=map
	Map map[string]Item `json:"map"`
	// +crdcompat:ignore=foreign
	Meta metav1.ObjectMeta `json:"meta"`
	Plain string `json:"plain"` // +crdcompat:ignore=trailing
}

// +crdcompat:ignore=item
type Item string

func f() {
	// +crdcompat:ignore=inside
}

type Other struct {
	// +crdcompat:ignore=other
	// crdcompat:ignore=no-marker
	O string `json:"o"`
}
"""
TYPES = GoTypes([(FILE, SOURCE.encode())])
KIND = ("example.com", "v1", "Thing")


def _names(path: str) -> list[str]:
    return [note.marker.text.split("=")[1].split(",")[0] for note in notes_at(TYPES, *KIND, steps_of(path))]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("", ["kind"]),
        ("c", ["common"]),
        ("spec", ["spec", "spec-type"]),
        ("spec.plain", []),
        ("spec.list", ["list"]),
        ("spec.list[*]", ["list", "item"]),
        ("spec.map.*", ["map", "item"]),
        ("spec.meta.labels.*", ["foreign"]),
        ("spec.gone", ["spec", "spec-type"]),
        ("spec.gone.deeper[*]", ["spec", "spec-type"]),
        ("gone", ["kind"]),
    ],
)
def test_the_markers_of_a_path(path: str, names: list[str]) -> None:
    assert _names(path) == names


def test_the_arguments_of_a_marker() -> None:
    (note, _) = notes_at(TYPES, *KIND, ("spec",))
    assert list(note.marker.arguments()) == [
        ("", "spec", ("spec",)),
        ("values", '{A;"B, C"}', ("A", "B, C")),
        ("reason", "a, b", ("a, b",)),
    ]


def test_a_kind_has_the_markers_that_it_reaches() -> None:
    reached = {note.marker.text.split("=")[1].split(",")[0] for note in notes_of(TYPES, *KIND)}
    assert reached == {"kind", "embedded", "spec", "common", "spec-type", "list", "map", "foreign", "item"}
    in_file = {note.above for note in notes_in(FILE, SOURCE.encode())}
    assert in_file == {
        "Thing", "Thing.", "Thing.spec", "Common.c", "ThingSpec", "ThingSpec.list", "ThingSpec.map", "ThingSpec.meta",
        "Item", "Other.o",
    }  # fmt: skip


def test_markers_above_nothing_are_strays() -> None:
    lines = SOURCE.splitlines()
    assert all(is_well_written for *_, is_well_written in strays_of(TYPES, *KIND))
    assert [lines[line - 1].strip() for _, line, _ in strays_of(TYPES, *KIND)] == [
        'Plain string `json:"plain"` // +crdcompat:ignore=trailing',
        "// +crdcompat:ignore=inside",
    ]

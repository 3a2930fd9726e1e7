"""Go types: from a path in a CRD's schema to the marker or the field that people edit."""

from __future__ import annotations

import random

import pytest

from crdcompat.golang.go_fields import GoMember, GoPlace, GoTypes
from crdcompat.golang.packages import MAX_FILE_BYTES, is_go_types
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath

GROUP = "config.example.com"
DOC = "// +k8s:deepcopy-gen=package\n\n// Package v1 holds types.\n// +groupName=config.example.com\npackage v1\n"
FILE = "config/v1/types_widget.go"
GATED = "openshift:validation:FeatureGateAwareEnum"

WIDGET = """\
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

/* type Widget struct { Old string `json:"spec"` } */

// Widget is a "thing" with `quotes` in its comment.
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'cluster'",message="a; singleton, {only}"
// +kubebuilder:validation:XValidation:rule="has(self.spec)"
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is wanted.
	// +required
	Spec WidgetSpec `json:"spec"`
	// +optional
	Status *WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct { // +kubebuilder:validation:Enum=not;of;mode
	// mode is a mode.
	//
	// +kubebuilder:validation:Enum=Auto;"Manual; really";`Off`
	// +kubebuilder:default:="Auto"
	// +optional
	Mode string `json:"mode,omitempty" protobuf:"bytes,1,opt,name=mode"` // +kubebuilder:validation:Enum=trailing
	Plain string `protobuf:"x" json:"plain"`

	// +kubebuilder:validation:Enum:={None,
	//   "Some One", 3,
	//   All}
	Many int `json:"many"`

	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:MinLength:=1

	// A group of markers may stand apart from the text above the field.
	// +kubebuilder:validation:Pattern=^a{1,3}[";]$
	Name string "json:\\"name\\""

	Common   `json:",inline"`
	*Embedded
	Phases   []Phase            `json:"phases"`
	ByName   map[string]*Phase  `json:"byName"`
	Deep     map[string][]Phase `json:"deep"`
	Inner    struct {
		// +kubebuilder:validation:Minimum=1
		Count int32 `json:"count"`
		Two, Three string
	} `json:"inner"`
	// +kubebuilder:validation:items:Enum=ws;wss
	// +kubebuilder:validation:items:MaxLength=3
	// +kubebuilder:validation:MaxItems=2
	Protocols []string `json:"protocols"`
	Set PhaseSet `json:"set"`
	Foreign metav1.Duration `json:"foreign"`
	Generic Box[string, Phase] `json:"generic"`
	Func func(a, b int) (struct{ X int }, error) `json:"-"`
	Last string `json:"last"`
}

type (
	// Embedded has no tag where it is embedded.
	Embedded struct{ Depth int `json:"depth"` }

	// +kubebuilder:validation:Enum=Running;Done
	Phase string
	// +kubebuilder:validation:MaxItems=7
	PhaseSet []Alias
	Alias = Phase
)

type Box[K comparable, V any] struct { Value V `json:"value"` }

func (in *Widget) String() string {
	type Common struct { Hidden string `json:"hidden"` }
	return "}" + `{` + string('{')
}
"""

OTHER = """\
package v1

// Common is shared.
type Common struct {
	Shared Capability `json:"shared"`
	Node *Node `json:"node"`
}

type WidgetStatus struct {
	// +kubebuilder:validation:MaxItems=3
	// +openshift:validation:FeatureGateAwareMaxItems:featureGate=Big,maxItems=9
	Capabilities []Capability `json:"capabilities"`
}

// Capability is what ClusterVersionCapability is.
// +openshift:validation:FeatureGateAwareEnum:featureGate="",enum="";marketplace;Console
// +openshift:validation:FeatureGateAwareEnum:featureGate=Big;Small,enum="";marketplace;Console;"Build"
type Capability string

// Node holds itself.
type Node struct {
	*Node `json:",inline"`
	Children []Node `json:"children"`
	// +kubebuilder:validation:Enum=leaf
	Kind Loop `json:"kind"`
}

type Loop Pool
type Pool Loop
"""

FILES = {"config/v1/doc.go": DOC, FILE: WIDGET, "config/v1/types_other.go": OTHER}


def types(files: dict[str, str] = FILES) -> GoTypes:
    return GoTypes((path, text.encode()) for path, text in files.items())


def place(path: SchemaPath, keyword: str = "enum", value: object = None) -> GoPlace | None:
    return types().place(GROUP, "v1", "Widget", path, keyword, value)


def at(text: str, of: str, source: str = WIDGET, file: str = FILE) -> GoPlace:
    """The place of a text that stands once in a source; ``|`` in it marks the column."""
    before, _, after = text.partition("|") if "|" in text else ("", "", text)
    assert source.count(before + after) == 1, text
    offset = source.index(before + after) + len(before)
    return GoPlace(file, source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset), of)  # type: ignore[arg-type]


def other(text: str, of: str) -> GoPlace:
    return at(text, of, OTHER, "config/v1/types_other.go")


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        # on the field
        (("spec", "mode"), "Auto", at("Enum=|Auto;", "value")),
        (("spec", "mode"), "Manual; really", at('"Manual; really"', "value")),
        (("spec", "mode"), "Off", at("`Off`", "value")),
        (("spec", "mode"), "Gone", at("+kubebuilder:validation:Enum=Auto", "marker")),
        (("spec", "mode"), None, at("+kubebuilder:validation:Enum=Auto", "marker")),
        # what ends the line above belongs to that line
        (("spec", "plain"), "trailing", at("Plain string", "field")),
        # in braces, over several lines
        (("spec", "many"), "None", at("{|None,", "value")),
        (("spec", "many"), "Some One", at('"Some One"', "value")),
        (("spec", "many"), 3, at(" |3,\n", "value")),
        (("spec", "many"), "All", at("|All}", "value")),
        # on the named type, also of items and map values, and through aliases
        (("spec", "phases", ITEM), "Done", at("Running;|Done", "value")),
        (("spec", "byName", VALUE), "Running", at("|Running;Done", "value")),
        (("spec", "deep", VALUE, ITEM), "Running", at("|Running;Done", "value")),
        (("spec", "set", ITEM), "Done", at("Running;|Done", "value")),
        (("spec", "protocols", ITEM), "wss", at("items:Enum=ws;|wss", "value")),
        (("spec", "protocols"), "wss", at("Protocols []", "field")),
        # in another file of the package, for several gates
        (("spec", "shared"), "Console", other('featureGate="",enum="";marketplace;|Console', "value")),
        (("status", "capabilities", ITEM), "Build", other('"Build"', "value")),
        (("status", "capabilities", ITEM), "", other('featureGate="",enum=|"";', "value")),
        (("status", "capabilities", ITEM), "Big", other(f'+{GATED}:featureGate=""', "marker")),
        # types that hold themselves
        (("spec", "node", "children", ITEM, "children", ITEM, "kind"), "leaf", other("Enum=|leaf", "value")),
        (("spec", "node", "nothing"), None, other("Node *Node", "above")),
    ],
)  # fmt: skip
def test_enum(path: SchemaPath, value: object, expected: GoPlace) -> None:
    assert place(path, "enum", value) == expected


@pytest.mark.parametrize(
    ("path", "keyword", "expected"),
    [
        (("spec", "name"), "maxLength", at("+kubebuilder:validation:MaxLength=10", "marker")),
        (("spec", "name"), "minLength", at("+kubebuilder:validation:MinLength", "marker")),
        (("spec", "name"), "pattern", at("+kubebuilder:validation:Pattern", "marker")),
        (("spec", "mode"), "default", at("+kubebuilder:default", "marker")),
        (("spec", "mode"), "required", at("+optional\n\tMode", "marker")),
        (("spec", "mode"), "maxLength", at("Mode string", "field")),
        (("spec",), "required", at("+required", "marker")),
        (("spec", "inner", "count"), "minimum", at("+kubebuilder:validation:Minimum", "marker")),
        (("spec", "inner", "Three"), "type", at("Three string", "field")),
        (("spec", "protocols", ITEM), "maxLength", at("+kubebuilder:validation:items:MaxLength", "marker")),
        (("spec", "protocols"), "maxItems", at("+kubebuilder:validation:MaxItems=2", "marker")),
        (("spec", "protocols", ITEM), "maxItems", at("Protocols []", "field")),
        (("spec", "set"), "maxItems", at("+kubebuilder:validation:MaxItems=7", "marker")),
        (("status", "capabilities"), "maxItems", other("+kubebuilder:validation:MaxItems=3", "marker")),
        ((), "x-kubernetes-validations", at("+kubebuilder:validation:XValidation:rule=\"self", "marker")),
        ((), "type", at("type |Widget struct {\n", "field")),
        # embedded without a tag; what follows functions, generics and foreign types
        (("spec", "depth"), "type", at("Depth int", "field")),
        (("spec", "last"), "type", at("Last string", "field")),
        (("spec", "generic", "value"), "type", at("Value V", "field")),
        # as far as the types are known
        (("spec", "foreign", "seconds"), "type", at("Foreign metav1", "above")),
        (("metadata", "labels", VALUE), "maxLength", at("|metav1.ObjectMeta", "above")),
        (("spec", "hidden"), "type", at("Spec WidgetSpec", "above")),
        (("spec", "Func"), "type", at("Spec WidgetSpec", "above")),
        (("spec", "mode", ITEM), "enum", at("Mode string", "above")),
        (("other",), "type", at("type |Widget struct {\n", "above")),
    ],
)  # fmt: skip
def test_keyword(path: SchemaPath, keyword: str, expected: GoPlace) -> None:
    assert place(path, keyword) == expected


def test_a_rule_among_several() -> None:
    assert place((), "x-kubernetes-validations", "has(self.spec)") == at('"has(self.spec)"', "value")


def test_unknown_kinds() -> None:
    read = types()
    assert read.place(GROUP, "v1", "Gadget", ("spec",), "enum") is None
    assert read.place(GROUP, "v2", "Widget", ("spec",), "enum") is None
    assert read.place("example.com", "v1", "Widget", ("spec",), "enum") is None


# -- what a Go type says about values ---------------------------------------------


GADGET = """\
package v1

type Gadget struct {
	Phase Phase `json:"phase"`
	Optional Phase `json:"optional,omitempty"`
	Zero Alias `json:"zero,omitzero"`
	Pointer *Phase `json:"pointer"`
	Items []Phase `json:"items"`
	ByName map[string]Phase `json:"byName"`
	Plain string `json:"plain"`
	Left string `json:"left,omitempty"`
	Count int32 `json:"count"`
	Size Size `json:"size"`
	Inner struct{ Phase Phase `json:"phase"` } `json:"inner,omitempty"`
	Foreign metav1.Duration `json:"foreign"`
}

type Phase string
type Alias = Phase
type Size int32

const Running Phase = "Running"

// Not the constants of a type: a comment, an untyped one, one of a function.
// const Commented Phase = "Commented"
const Untyped = "Untyped"
const Plain string = "Plain"
const Big Size = 3

func names() { const Local Phase = "Local" }
"""

MORE = """\
package v1

const (
	Done = Phase("Done")
	Raw = Phase(`Raw "text"`)
	Twice Phase = "Done"
	Other Pool = "Other"
	Own Alias = "Own"
)

type Pool string
"""

_PHASES = ("Running", "Done", 'Raw "text"')


def member(path: SchemaPath, kind: str = "Gadget") -> GoMember | None:
    files = {"config/v1/doc.go": DOC, "config/v1/types_gadget.go": GADGET, "config/v1/types_more.go": MORE}
    return types(files).member(GROUP, "v1", kind, path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        # constants with a type and with a conversion, of all files, each value once
        (("phase",), GoMember(may_be_left_out=False, is_text=True, constants=_PHASES)),
        (("optional",), GoMember(may_be_left_out=True, is_text=True, constants=_PHASES)),
        # of an alias, too
        (("zero",), GoMember(may_be_left_out=True, is_text=True, constants=("Own", *_PHASES))),
        (("pointer",), GoMember(may_be_left_out=True, is_text=True, constants=_PHASES)),
        # nobody writes an item that is not set
        (("items",), GoMember(may_be_left_out=False, is_text=False, constants=())),
        (("items", ITEM), GoMember(may_be_left_out=True, is_text=True, constants=_PHASES)),
        (("byName", VALUE), GoMember(may_be_left_out=True, is_text=True, constants=_PHASES)),
        (("plain",), GoMember(may_be_left_out=False, is_text=True, constants=())),
        (("left",), GoMember(may_be_left_out=True, is_text=True, constants=())),
        (("count",), GoMember(may_be_left_out=False, is_text=False, constants=())),
        (("size",), GoMember(may_be_left_out=False, is_text=False, constants=())),
        (("inner", "phase"), GoMember(may_be_left_out=False, is_text=True, constants=_PHASES)),
        (("foreign",), GoMember(may_be_left_out=False, is_text=False, constants=())),
        # unknown paths
        (("nothing",), None),
        (("phase", "nothing"), None),
        (("phase", ITEM), None),
        (("foreign", "nothing"), None),
    ],
)
def test_what_a_go_type_says_about_values(path: SchemaPath, expected: GoMember | None) -> None:
    assert member(path) == expected


def test_members_of_unknown_kinds() -> None:
    assert member(("phase",), "Widget") is None
    assert types().member(GROUP, "v2", "Widget", ("spec",)) is None
    assert types().member("example.com", "v1", "Widget", ("spec",)) is None


def test_line_ends_of_windows_and_a_byte_order_mark() -> None:
    read = types({path: "\ufeff" + text.replace("\n", "\r\n") for path, text in FILES.items()})
    for path, value in ((("spec", "many"), "Some One"), (("spec", "mode"), "Off"), (("spec", "phases", ITEM), "Done")):
        assert read.place(GROUP, "v1", "Widget", path, "enum", value) == place(path, "enum", value)


TYPE = """\
package v1
type Widget struct {
	// +kubebuilder:validation:Enum=%s
	Mode string `json:"mode"`
}
"""


@pytest.mark.parametrize(
    ("folder", "files", "group", "version"),
    [
        ("api/v1", {"api/v1/register.go": 'const GroupName = "a.b"'}, "a.b", "v1"),
        ("api/v1", {"api/v1/register.go": 'var (\n\tGroupName string = "a.b"\n)'}, "a.b", "v1"),
        ("api/v1beta1", {"api/v1beta1/register.go": 'const Group    = "a.b"'}, "a.b", "v1beta1"),
        ("api/v1", {"api/v1/groupversion_info.go": 'schema.GroupVersion{Group: "a.b", Version: "v1"}'}, "a.b", "v1"),
        ("api", {"api/groupversion_info.go": 'schema.GroupVersion{Group: "a.b", Version: "v3"}'}, "a.b", "v3"),
        ("", {"doc.go": "//+groupName=a.b\n//+versionName=v4\npackage x"}, "a.b", "v4"),
        ("v1", {"v1/doc.go": '// +groupName="a.b"', "v1/register.go": 'GroupName = "c.d"'}, "a.b", "v1"),
        ("api/v1", {"api/register.go": 'const GroupName = "a.b"', "api/v1/register.go": "GroupName"}, "a.b", "v1"),
        ("api/v1", {"api/v1/more_types.go": "// +groupName=a.b"}, "a.b", "v1"),
    ],
)  # fmt: skip
def test_group_and_version(folder: str, files: dict[str, str], group: str, version: str) -> None:
    name = f"{folder}/widget_types.go".lstrip("/")
    found = types({**files, name: TYPE % "A;B"}).place(group, version, "Widget", ("mode",), "enum", "B")
    assert found == GoPlace(name, 3, 36, "value")


def test_own_types_before_vendored_ones() -> None:
    files = {
        f"{top}/v1/{name}": text
        for top in ("api", "vendor/a.b/api")
        for name, text in (("types.go", TYPE % "A"), ("doc.go", "// +groupName=a.b"))
    }
    found = types(files).place("a.b", "v1", "Widget", ("mode",), "enum", "A")
    assert found is not None
    assert found.file == "api/v1/types.go"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("config/v1/types.go", True),
        ("config/v1/types_cluster_version.go", True),
        ("api/v1/widget_types.go", True),
        ("api/v1/doc.go", True),
        ("register.go", True),
        ("api/v1/groupversion_info.go", True),
        ("api/v1/types_widget_test.go", False),
        ("api/v1/types_swagger_doc_generated.go", False),
        ("api/v1/zz_generated.deepcopy.go", False),
        ("types/main.go", False),
        ("config/v1/types.yaml", False),
        ("main.go", False),
    ],
)
def test_which_files_are_read(path: str, expected: bool) -> None:
    assert is_go_types(path) is expected


def test_large_files_are_left_out() -> None:
    large = {**FILES, FILE: WIDGET + "/" * MAX_FILE_BYTES}
    assert types(large).place(GROUP, "v1", "Widget", ("spec",), "enum") is None


@pytest.mark.parametrize("garbage", ["// +groupName=", "//          ", "GroupName ", "Group : ", "`", "{", '"\\'])
def test_garbage_in_one_file_hides_nothing_in_others(garbage: str) -> None:
    hostile = garbage * (100_000 // len(garbage))
    read = types({**FILES, "config/v1/register.go": hostile, "config/v1/types.go": hostile})
    assert read.place(GROUP, "v1", "Widget", ("spec", "mode"), "enum", "Off") == at("`Off`", "value")


@pytest.mark.parametrize("garbage", ['// +kubebuilder:validation:Enum="\\\n// a;\n', '// +a={"=\n//b\n', "// +a=;\n"])
def test_garbage_in_comments_hides_no_marker(garbage: str) -> None:
    marker = "// +kubebuilder:validation:MaxLength=10\n"
    hostile = garbage * (20_000 // len(garbage))
    read = types({**FILES, FILE: WIDGET.replace(marker, f"{marker}\n{hostile}")})
    assert read.place(GROUP, "v1", "Widget", ("spec", "name"), "enum") is not None
    assert read.place(GROUP, "v1", "Widget", ("spec", "mode"), "enum", "Off") == at("`Off`", "value")


def test_any_cut_and_any_noise_is_read() -> None:
    chance = random.Random(7)
    signs = ["{", "}", "(", ")", "[", "]", "`", '"', "'", "/*", "*/", "//", "\n", ",", ";", "type", "struct", "\0", "é"]
    for _ in range(300):
        cut = chance.randrange(len(WIDGET))
        text = (
            WIDGET[:cut] + "".join(chance.choices(signs, k=chance.randrange(5))) + WIDGET[cut + chance.randrange(9) :]
        )
        read = types({**FILES, FILE: text})
        for path in (("spec", "mode"), ("spec", "last"), ("spec", "set", ITEM)):
            read.place(GROUP, "v1", "Widget", path, "enum", "Done")


def test_a_bracket_never_closed_hides_no_later_type() -> None:
    files = {**FILES, FILE: WIDGET.replace(")\n\n/*", ")\n\nfunc broken() {\n\tif {\n\n\n/*", 1)}
    found = types(files).place(GROUP, "v1", "Widget", ("spec", "mode"), "enum", "Off")
    expected = at("`Off`", "value")
    assert found == GoPlace(FILE, expected.line + 4, expected.column, "value")

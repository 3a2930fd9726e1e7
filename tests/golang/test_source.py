"""Go source: the types, fields and comments that the parser finds, also in odd, broken and hostile files."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tree_sitter

from crdcompat.golang import source as golang
from crdcompat.golang.source import GoDeclaration, GoType, read_declarations


def outline(type_: GoType) -> str:
    """``Name``, ``pkg.Name``, ``[]element``, ``map element``, ``{json type; …}``; ``?`` for any other type."""
    if type_.fields:
        return "{" + "; ".join(f"{field.json or '*'} {outline(field.type)}" for field in type_.fields) + "}"
    if type_.list_of:
        return f"[]{outline(type_.list_of)}"
    if type_.map_of:
        return f"map {outline(type_.map_of)}"
    return type_.name or "?"


def declared(source: str) -> list[str]:
    return [f"{each.name} {outline(each.type)}" for each in read_declarations(f"package v1\n{source}\n")]


def markers(declaration: GoDeclaration) -> dict[str, list[str]]:
    """The texts of the comments of a declaration and of its fields, by name; block comments are empty."""
    of_fields = {field.json: field.comments for field in declaration.type.fields}
    found = {declaration.name: declaration.comments, **of_fields}
    return {name: [comment.text.strip() for comment in comments] for name, comments in found.items()}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # strings that look like code
        ("var a = `type A struct {`\ntype B string", ["B string"]),
        ('var a = "type A struct { \\" {"\ntype B string', ["B string"]),
        ("var a = '{'\nvar b = '\\''\ntype B string", ["B string"]),
        ("const a = `\n// +x\n/*\n`\ntype B string", ["B string"]),
        # comments in comments
        ("// /*\ntype B string\n// */", ["B string"]),
        ("/* // */ type B string", ["B string"]),
        ("/* /* */\ntype B string", ["B string"]),
        ("/*\n#include <a.h>\ntype A struct {}\n*/\nimport \"C\"\n\ntype B C.int", ["B C.int"]),
        ("type /* a */ B /* b */ string // c", ["B string"]),
        ("type B struct { /* { */ A /* } */ []/* x */string /* } */ }", ["B {A []string}"]),
        # generics
        ("type B[T any] struct { A T `json:\"a\"` }", ["B {a T}"]),
        ("type B[K comparable, V ~int | []string] map[K]V", ["B map V"]),
        ("type B[T interface{ ~int }] []T", ["B []T"]),
        ("type B struct { A C[D, []E] `json:\"a\"`\nF f.G[H] }", ["B {a C; F f.G}"]),
        # arrays look like type parameters
        ("type B [4]string\ntype C [n]string\ntype D [2 * n]string", ["B []string", "C []string", "D []string"]),
        ("type B [len(`]`)]string", ["B []string"]),
        # embedded structs
        ("type B struct { C; *D; e.F; *e.G; H[I] }", ["B {* C; * D; * e.F; * e.G; * H}"]),
        ("type B struct { C `json:\"c\"`; *D `json:\",inline\"`; E F `json:\",inline\"` }", ["B {c C; * D; * F}"]),
        # aliases and groups
        ("type B = string\ntype C = d.E\ntype F[T any] = []T", ["B string", "C d.E", "F []T"]),
        ("type (\n\tB string\n\tC = B; D struct{ E int }\n)\ntype ()", ["B string", "C B", "D {E int}"]),
        # tags
        ('type B struct { A int "json:\\"a,omitempty\\"" }', ["B {a int}"]),
        ("type B struct { A int `x:\"x\" json:\"a\"`; C int `json:\"-\"`; D int `xjson:\"d\"` }", ["B {a int; D int}"]),
        ("type B struct {\n\tA int `json:\"a\"\nyaml:\"x\"`\n\tC int }", ["B {a int; C int}"]),
        ("type B struct { A, C int; D, E string `json:\"d\"` }", ["B {A int; C int; d string}"]),
        # other types
        ("type B interface { A() string; C }\ntype D func(a struct{ E int })\ntype F chan G", ["B ?", "D ?", "F ?"]),
        ("type B struct { A func() struct { C int } `json:\"a\"`; D any }", ["B {a ?; D any}"]),
        ("type B struct { A (*(C)); D **[]*map[string]*E }", ["B {A C; D []map E}"]),
        ("type B struct { A struct { C struct { D int } `json:\"c\"` } }", ["B {A {c {D int}}}"]),
        ("type B struct{}\ntype C int", ["B ?", "C int"]),
        ("type Größe struct { 値 string `json:\"größe\"` }", ["Größe {größe string}"]),
        # types inside functions
        ("func f() {\n\ttype A int\n\tvar g = func() { type C int }\n}\ntype B string", ["B string"]),
        ("var f = func() {\n\ttype (\n\t\tA int\n\t)\n}\ntype B string", ["B string"]),
    ],
)  # fmt: skip
def test_types(source: str, expected: list[str]) -> None:
    assert declared(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("type A struct {\n\tB int\n<<<<<<< HEAD\n\tC int\n>>>>>>> x\n}\ntype D int", ["A", "D"]),
        ("func f() {\n\tif {\n\ntype A int\n\tvar x = 1\ntype B int", ["A", "B"]),
        ("type A struct {\n\tB int `json:\"b\n}\ntype C int", []),
        ("var a = (\n\ntype A struct {\n\tB func() (\n}\n\nvar b = func() {\ntype C int\n", ["A", "C"]),
        ("type A int }\n\ntype B int", ["A", "B"]),
        ("type A [}int\n\ntype B int", ["B"]),
        ("type A int\n\0\ntype B int", ["A", "B"]),
        ("type A int\n/* \0 never closed", ["A"]),
        ("type", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_syntax_error_hides_only_what_is_around_it(source: str, expected: list[str]) -> None:
    assert {line.partition(" ")[0] for line in declared(source)} == set(expected)


def test_comments_are_those_that_controller_gen_reads() -> None:
    source = """\
//go:build linux

// not of the package
package v1 // +ends-a-line

// +too-far

// +apart
// text

// Widget has text.
// +touches
type Widget struct { // +ends-a-line
	/* +block */ // +after-block
	A int `json:"a"` // +ends-a-line
	B int `json:"b"`
	// +apart

	C int `json:"c"`

	// +too-far

	// +apart

	/* touches */
	D, E int
	// +after
}

// +of-the-group
type (
	// +grouped
	Gadget struct { F int }
	Other int // +ends-a-line
)
"""
    widget, gadget, other = read_declarations(source)
    assert markers(widget) == {
        "Widget": ["+apart", "text", "Widget has text.", "+touches"],
        "a": ["", "+after-block"],
        "b": [],
        "c": ["+apart"],
        "D": ["+apart", ""],
        "E": ["+apart", ""],
    }
    assert markers(gadget) == {"Gadget": ["+grouped"], "F": []}
    assert markers(other) == {"Other": []}


def test_places_count_characters() -> None:
    (found,) = read_declarations("package v1\r\n/* größe 😀 */ type Größe struct {\r\n\t*Two; Three int // é\r\n}")
    assert found.place == (2, 20)
    assert [field.place for field in found.type.fields] == [(3, 2), (3, 8)]


def parser_work(monkeypatch: pytest.MonkeyPatch, source: str) -> int:
    """How often the parser asks for text, or whether to go on (every 100 steps)."""
    asked = 0

    class Parser:
        def __init__(self, language: tree_sitter.Language) -> None:
            self._parser = tree_sitter.Parser(language)

        def parse(
            self, read: Callable[[int, tree_sitter.Point], memoryview], *, progress_callback: Callable[..., bool]
        ) -> tree_sitter.Tree:
            def reads(offset: int, point: tree_sitter.Point) -> memoryview:
                nonlocal asked
                asked += 1
                return read(offset, point)

            def checks(offset: int, error: bool) -> bool:
                nonlocal asked
                asked += 1
                return progress_callback(offset, error)

            return self._parser.parse(reads, progress_callback=checks)

    monkeypatch.setattr(golang, "Parser", Parser)
    list(read_declarations(source))
    return asked


GARBAGE = [
    "`", "/*", "/* ", '"\\', "'", "//\n", "{", "}", "(", "[", "\0", "é", "[a", "a[", "A, ", "type ", '"/*', "'/*",
    "type A struct {", "type A struct {\nB struct {\n", "type A [](", "type A []", "type A *", "type (", "type (\n}\n",
    "type A B;", "// +kubebuilder:validation:Enum={\n", "type A struct {\n// +kubebuilder:validation:Enum=A;\n",
]  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE)
def test_work_grows_with_the_file_and_no_faster(monkeypatch: pytest.MonkeyPatch, garbage: str) -> None:
    small, large = (
        parser_work(monkeypatch, "package v1\ntype X struct {\n" + garbage * (length // len(garbage)))
        for length in (10_000, 40_000)
    )
    assert large <= min(4 * small + 40, golang.MAX_PARSE_CHECKS)


@pytest.mark.parametrize(
    ("before", "repeated", "after"),
    [
        ("type A ", "[]", "int"),
        ("type A ", "*", "int"),
        ("type A ", "struct{A ", "int" + "}" * 20_000),
        ("type A ", "B[", "int" + "]" * 20_000),
        ("var a = ", "(", "1" + ")" * 20_000),
        ("func f() {", "{", "}" * 20_001),
    ],
)
def test_nesting_of_any_depth_is_read(before: str, repeated: str, after: str) -> None:
    assert declared(before + repeated * 20_000 + after + "\n\ntype Last int")[-1] == "Last int"


def test_a_file_that_costs_too_much_has_no_types(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "package v1\ntype A int\nvar a = " + "[a" * 1_000_000
    assert golang.MAX_PARSE_CHECKS < parser_work(monkeypatch, source) < golang.MAX_PARSE_CHECKS + 10
    assert list(read_declarations(source)) == []

"""A CRD that no server takes: an error where only one side has the fault, else a remark; with words and place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from helpers import Json, array, both, commit, crd, diff, git, obj, remarks, root, run, string, version, write

from crdcompat.apiserver.cel.static import compile as compiling
from crdcompat.apiserver.cel.static.checker import Checker
from crdcompat.apiserver.cel.static.types import Type
from crdcompat.apiserver.supported.causes import Cause, CauseKind
from crdcompat.apiserver.supported.ranges import servers_of
from crdcompat.cel.syntax import Expr
from crdcompat.features.diff.refused_crds import _of_minors

_REFUSES = "the API server refuses this CRD: "
_HANDLED = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
_MISFIT = (
    f"{_HANDLED}json: cannot unmarshal string into Go struct field "
    "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.maximum of type float64"
)
_A = "spec.validation.openAPIV3Schema.properties[spec].properties[a]"
_TYPELESS = f"{_A}.type: Required value: must not be empty for specified object fields"


def _number(maximum: object, *phases: str) -> Json:
    return root(spec=obj(a={"type": "integer", "maximum": maximum}), status=obj(p=string(*phases)))


def _line(file: Path, text: str) -> int:
    (found,) = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    return found


def _refused(report: Json, side: str = "new") -> list[tuple[str, str, list[str], list[tuple[str, int]]]]:
    """Severity, path, the server's words and the places of the findings about refused CRDs of one side."""
    return [
        (found["severity"], found["path"], found["witness"]["errors"], _places(found, side))
        for found in report["findings"]
        if found["rule"] == "crd-refused"
    ]


def _places(finding: Json, side: str = "new") -> list[tuple[str, int]]:
    assert {place["side"] for place in finding["locations"]} == {side}
    return [(place["file"], place["line"]) for place in finding["locations"]]


def test_diff_says_what_the_server_says_and_goes_on(tmp_path: Path) -> None:
    old, new = both(tmp_path, _number(5, "A"), _number("ten", "A", "B"))
    report = diff(old, new)
    line = _line(new / "widget.yaml", ": ten")
    assert _refused(report) == [("error", "spec.a", [_MISFIT], [("widget.yaml", line)])]
    assert remarks(report) == []
    assert "enum-value-added" in {finding["rule"] for finding in report["findings"]}
    assert report["summary"]["problems"] == []
    ran = run("diff", old, new, "--select", "crd-refused", "-v")
    assert ran.code == 1
    assert f"widget.yaml:{line}:" in ran.out
    assert _MISFIT in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("wrong", "path", "said"),
    [
        (
            {"type": "integer", "default": "five"},
            "spec.a",
            f'{_A}.default: Invalid value: "string":  in body must be of type integer: "string"',
        ),
        (
            {"type": "array", "items": {"type": "string", "pattern": "("}},
            "spec.a[*]",
            (
                f'{_A}.items.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
                "error parsing regexp: missing closing ): `(`"
            ),
        ),
        (
            {"type": "array", "items": {"description": "no type"}},
            "spec.a[*]",
            f"{_A}.items.type: Required value: must not be empty for specified array items",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, "properties": {"b": {"type": "string"}}},
            "spec.a",
            f"{_A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            {"type": "string", "anyOf": [{"default": "x"}]},
            "spec.a",
            f"{_A}.anyOf[0].default: Forbidden: must be undefined to be structural",
        ),
    ],
)
def test_the_place_is_that_of_the_value(tmp_path: Path, wrong: Json, path: str, said: str) -> None:
    report = diff(*both(tmp_path, root(spec=obj(b=string())), root(spec=obj(b=string(), a=wrong))))
    assert [(severity, place, words) for severity, place, words, _ in _refused(report)] == [("error", path, [said])]


def test_versions_with_schemas_of_their_own(tmp_path: Path) -> None:
    second = version(root(spec=obj(a={})), "v2", storage=False)
    new = crd(versions=[version(root(spec=obj())), second])
    report = diff(write(tmp_path / "old.yaml", crd(root(spec=obj()))), write(tmp_path / "new.yaml", new))
    said = _TYPELESS.replace("spec.validation.", "spec.versions[1].schema.")
    assert [(path, words) for _, path, words, _ in _refused(report)] == [("spec.a", [said])]


def test_faults_of_the_crd_itself(tmp_path: Path) -> None:
    bad = crd(versions=[version(root(spec=obj())), version(root(spec=obj()), "v2")])
    report = diff(write(tmp_path / "old.yaml", crd(root(spec=obj()))), write(tmp_path / "new.yaml", bad))
    ((_, path, words, _),) = _refused(report)
    assert (path, [word.rpartition(": ")[2] for word in words]) == (
        "",
        ["must have exactly one version marked as storage version", "must have the storage version v2"],
    )


def test_judge_and_simulate_refuse_the_same(tmp_path: Path) -> None:
    file = write(tmp_path / "w.yaml", crd(_number("ten")))
    held = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    ran = run("judge", file, write(tmp_path / "object.yaml", held))
    assert (ran.code, f"{_REFUSES}{_MISFIT}" in ran.err) == (2, True)


def test_a_fault_of_both_sides_is_a_remark(tmp_path: Path) -> None:
    same = root(spec=obj(a={}))
    unchanged = diff(*both(tmp_path, same, same))
    assert remarks(unchanged) == unchanged["findings"] == []
    old, new = both(tmp_path / "changed", same, root(spec=obj(a={}, b=string())))
    report = diff(old, new)
    # What stands behind a `type` that is missing is the map that lacks it.
    line = _line(new / "widget.yaml", " a: ")
    assert remarks(report) == [("widget.yaml", line, "new", f"{_REFUSES}{_TYPELESS}")]
    assert _refused(report) == []


def test_a_mended_crd_cannot_go_back(tmp_path: Path) -> None:
    """The server that refuses OLD's CRD keeps NEW's after a rollback."""
    old, new = both(tmp_path, _number("ten"), _number(5))
    report = diff(old, new)
    assert [(each["direction"], each["rule"]) for each in report["findings"]] == [
        ("rollback", "crd-refused"),
        ("upgrade", "bounds-tightened"),
    ]
    line = _line(old / "widget.yaml", ": ten")
    assert _refused(report, "old") == [("error", "spec.a", [_MISFIT], [("widget.yaml", line)])]
    assert remarks(report) == []
    assert run("diff", old, new).code == 1


def test_every_copy_and_item_of_a_list_has_its_line(tmp_path: Path) -> None:
    for name, maximum in (("old", 5), ("new", "ten")):
        bad = crd(_number(maximum), kind="Gadget")
        write(tmp_path / name / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": [crd(_number(1)), bad]})
        write(tmp_path / name / "copy.yaml", bad)
    new = tmp_path / "new"
    places = [(name, _line(new / name, ": ten")) for name in ("copy.yaml", "list.yaml")]
    assert _refused(diff(tmp_path / "old", new)) == [("error", "spec.a", [_MISFIT], places)]


def test_only_what_is_compared(tmp_path: Path) -> None:
    for name, maximum in (("old", 5), ("new", "ten")):
        write(tmp_path / name / "w.yaml", crd(_number(maximum)))
        write(tmp_path / name / "g.yaml", crd(_number(maximum), kind="Gadget"))
    report = diff(tmp_path / "old", tmp_path / "new", "--crd", "gadgets.example.com")
    assert [places[0][0] for *_, places in _refused(report)] == ["g.yaml"]
    kept = diff(tmp_path / "old", tmp_path / "new", "--owner", "spec")
    assert _refused(kept) == []


def test_check_fails_for_what_the_change_touches(tmp_path: Path) -> None:
    """A CRD that differs from a rollback target alone was not touched: a remark."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    other = crd(root(spec=obj(a={})), kind="Other")
    commit(tmp_path, {"w.yaml": crd(_number(5)), "other.yaml": other})
    git(tmp_path, "branch", "release-1")
    other = crd(root(spec=obj(a={}, b=string())), kind="Other")
    commit(tmp_path, {"w.yaml": crd(_number(6)), "other.yaml": other})
    write(tmp_path / "w.yaml", crd(_number("ten")))
    git(tmp_path, "add", "-A")
    ran = run("check", "--base", "HEAD", "--target", "release-1", "--format", "json", cwd=tmp_path)
    assert ran.code == 1
    base, target = ran.report["sections"]
    line = _line(tmp_path / "w.yaml", ": ten")
    assert _refused(base) == [("error", "spec.a", [_MISFIT], [("w.yaml", line)])]
    assert remarks(base) == []
    assert _refused(target) == []
    assert remarks(target) == [("w.yaml", line, "new", f"{_REFUSES}{_MISFIT}")]


def test_check_fails_for_a_crd_that_the_change_adds(tmp_path: Path) -> None:
    """The first CRD of a repository, one more, and one that gets another name."""
    git(tmp_path, "init", "-qb", "main")
    commit(tmp_path, {"other.txt": "text"})
    bad = root(spec=obj(a={}))
    names = {"kind": "Gadget", "plural": "machines", "singular": "machine", "listKind": "GadgetList"}
    gadget = crd(bad, kind="Gadget")
    renamed = {**gadget, "metadata": {"name": "machines.example.com"}, "spec": {**gadget["spec"], "names": names}}
    for file, made in (("w.yaml", crd(bad)), ("g.yaml", gadget), ("g.yaml", renamed)):
        commit(tmp_path, {file: made})
        ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=tmp_path)
        line = _line(tmp_path / file, " a: ")
        (section,) = ran.report["sections"]
        assert _refused(section) == [("error", "spec.a", [_TYPELESS], [(file, line)])]
        assert ran.code == 1


@pytest.mark.parametrize(
    ("name", "group", "plural", "fields"),
    [
        ("widgets.example.com", "example.com", "gadgets", ["metadata.name"]),
        ("widgets.example.com", "example.org", "widgets", ["metadata.name"]),
        ("Widgets.example.com", "example.com", "Widgets", ["metadata.name", "spec.names.plural"]),
        ("widgets.Example.com", "Example.com", "widgets", ["metadata.name", "spec.group"]),
    ],
    ids=["another plural", "another group", "a plural in upper case", "a group in upper case"],
)
def test_check_fails_for_names_that_no_server_takes(
    tmp_path: Path, name: str, group: str, plural: str, fields: list[str]
) -> None:
    git(tmp_path, "init", "-qb", "main")
    made = crd(root(spec=obj()))
    commit(tmp_path, {"w.yaml": made})
    names = {**made["spec"]["names"], "plural": plural}
    commit(
        tmp_path,
        {"w.yaml": {**made, "metadata": {"name": name}, "spec": {**made["spec"], "group": group, "names": names}}},
    )
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=tmp_path)
    (section,) = ran.report["sections"]
    said = [error for _, _, errors, _ in _refused(section) for error in errors]
    assert ([error.partition(":")[0] for error in said], ran.code) == (fields, 1)


def test_check_fails_for_metadata_that_no_server_takes(tmp_path: Path) -> None:
    """Also where the schemas are those of before."""
    git(tmp_path, "init", "-qb", "main")
    made = crd(root(spec=obj()))
    commit(tmp_path, {"w.yaml": made})
    commit(tmp_path, {"w.yaml": {**made, "metadata": {**made["metadata"], "labels": {"app": "a b", "tier": "x"}}}})
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=tmp_path)
    (section,) = ran.report["sections"]
    said = [error for _, _, errors, _ in _refused(section) for error in errors]
    assert ([error.partition(":")[0] for error in said], ran.code) == (["metadata.labels"], 1)


@pytest.mark.parametrize("metadata", [{}, {"name": ""}, {"name": None}])
def test_check_fails_for_a_crd_without_a_name(tmp_path: Path, metadata: Json) -> None:
    """As Kubernetes 1.28 and 1.36 answer."""
    git(tmp_path, "init", "-qb", "main")
    made = crd(root(spec=obj()))
    commit(tmp_path, {"w.yaml": made})
    commit(tmp_path, {"w.yaml": {**made, "metadata": metadata}})
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=tmp_path)
    (section,) = ran.report["sections"]
    said = [error for _, _, errors, _ in _refused(section) for error in errors]
    assert said == ["metadata.name: Required value: name or generateName is required"]
    assert ran.code == 1
    asked = run("servers", "w.yaml", "--kubernetes", "1.28-1.36", "--format", "json", cwd=tmp_path)
    assert {answer["answer"] for each in asked.report["crds"] for answer in each["answers"]} == {"refused"}


def test_of_one_file_only_its_crds(tmp_path: Path) -> None:
    write(tmp_path / "new" / "g.yaml", crd(root(spec=obj(a={})), kind="Gadget"))
    write(tmp_path / "new" / "w.yaml", crd(root(spec=obj())))
    old = write(tmp_path / "old.yaml", crd(root(spec=obj())))
    assert _refused(diff(old, tmp_path / "new")) == []


# -- CEL rules ---------------------------------------------


def _ruled(*rules: str) -> Json:
    texts = [{"rule": rule} for rule in rules]
    return root(spec=obj(b=string(), a=array(string(), maxItems=100, **{"x-kubernetes-validations": texts})))


_PLAIN = root(spec=obj(b=string()))
_EXPENSIVE, _UNKNOWN = "self.all(x, x.matches('^a+$'))", "self.nothing()"


def _rules(report: Json) -> list[tuple[list[str], str, int]]:
    """The rule, the server's words in the message, and the line of each finding about a rule."""
    return sorted(
        (found["added"], found["message"].partition("gets the kind: ")[2], found["locations"][0]["line"])
        for found in report["findings"]
        if found["rule"] == "crd-refused"
    )


def test_each_rule_has_its_line_and_words(tmp_path: Path) -> None:
    old, new = both(tmp_path, _PLAIN, _ruled(_EXPENSIVE, _UNKNOWN, "self.size()", "self.all(x, x != '')"))
    lines = {rule: _line(new / "widget.yaml", rule) for rule in (_EXPENSIVE, _UNKNOWN, "self.size()")}
    unknown = "compilation failed: ERROR: <input>:1:13: undeclared reference to 'nothing' (in container '')"
    advice = (
        "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings"
    )
    assert _rules(diff(old, new)) == [
        (
            [_EXPENSIVE],
            f"estimated rule cost exceeds budget by factor of 3.1x {advice} are declared)",
            lines[_EXPENSIVE],
        ),
        ([_UNKNOWN], unknown, lines[_UNKNOWN]),
        (["self.size()"], "cel expression must evaluate to a bool", lines["self.size()"]),
    ]
    shown = run("diff", old, new, "--select", "crd-refused").out
    assert f"widget.yaml:{lines[_UNKNOWN]}:" in shown
    assert "undeclared reference to 'nothing'" in " ".join(shown.split())


_BOUNDED = "self.all(a, self.all(b, self.all(c, a != b)))"


def _cubed(*most: int) -> Json:
    rules = {"x-kubernetes-validations": [{"rule": _BOUNDED}]}
    lists = {f"l{index}": array({"type": "integer"}, maxItems=each, **rules) for index, each in enumerate(most)}
    return root(spec=obj(**lists))


@pytest.mark.parametrize(
    ("most", "paths"),
    [((150,), ["spec.l0"]), ((500,), ["spec.l0"]), ((500, 120), ["spec.l0"])],
    ids=["its limit", "and that of all rules", "beside another rule"],
)
def test_a_rule_that_costs_too_much_is_one_finding(tmp_path: Path, most: tuple[int, ...], paths: list[str]) -> None:
    old, new = both(tmp_path, _cubed(*(2 for _ in most)), _cubed(*most))
    found = [finding["path"] for finding in diff(old, new)["findings"] if finding["rule"] == "crd-refused"]
    assert found == paths


def test_rules_that_cost_too_much_together_are_one_finding_that_names_them(tmp_path: Path) -> None:
    old, new = both(tmp_path, _cubed(*[2] * 13), _cubed(*[120] * 13))
    (found,) = (finding for finding in diff(old, new)["findings"] if finding["rule"] == "crd-refused")
    assert found["path"] == ""
    assert found["message"].endswith(
        "never gets the kind: its rules cost too much together, most of it at spec.l0, spec.l1, spec.l2, spec.l3"
    )
    total, *rules = found["witness"]["errors"]
    assert "estimated rule cost total" in total
    assert [rule.partition(".x-kubernetes")[0][-3:] for rule in rules] == ["l0]", "l1]", "l2]", "l3]"]


def test_a_remark_on_a_rule_is_one_line(tmp_path: Path) -> None:
    """openshift/api: a rule about a field behind a feature gate; the server repeats the rule for each name in it."""
    ruled = _ruled("self.nothing() && self.none()")
    spec = ruled["properties"]["spec"]["properties"]
    old, new = both(tmp_path, ruled, root(spec=obj(**spec, c=string())))
    line = _line(new / "widget.yaml", "self.nothing()")
    said = "compilation failed: ERROR: <input>:1:13: undeclared reference to 'nothing' (in container '')"
    assert remarks(diff(old, new)) == [("widget.yaml", line, "new", f"{_REFUSES}{said}")]


@pytest.mark.parametrize(
    ("refusing", "said"),
    [
        ("1.28", "Kubernetes 1.28 refuses this CRD because of the CEL cost"),
        ("1.26-1.28", "Kubernetes 1.26 to 1.28 refuse this CRD: the CEL cost needs Kubernetes 1.29 or later"),
        ("1.29-1.30", "Kubernetes 1.29 to 1.30 refuse this CRD: the CEL cost needs Kubernetes 1.28 or earlier"),
    ],
)
def test_a_remark_names_the_refusing_servers_once(refusing: str, said: str) -> None:
    asked, refused = servers_of("1.26-1.30"), servers_of(refusing)
    others = tuple(each for each in asked if each not in refused)
    cause = Cause(CauseKind.COST, "cost", (), "self", dict.fromkeys(refused, "too much"), others)
    assert _of_minors(cause, asked).one_line == said


def test_the_verdict_names_a_field_with_several_such_rules_once(tmp_path: Path) -> None:
    old, new = both(tmp_path, _PLAIN, _ruled("self.nothing()", "self.none()"))
    assert len(_rules(diff(old, new))) == 2
    reaction = "the API server refuses new's CRD of Widget: the upgrade stops, and new clusters never get the kind"
    verdict = f"old -> new: BLOCKED\n  Widget  spec.a\n    {reaction}\nrollback: "
    assert run("diff", old, new).out.count(verdict) == 1


def test_a_function_counts_by_the_server_of_the_release(tmp_path: Path) -> None:
    """quantity() is there from Kubernetes 1.28 on, in rules that are not stored from 1.29 on."""
    old = write(tmp_path / "old/w.yaml", crd(_PLAIN)).parent
    found = []
    for release in ("release-4.15", "release-4.16"):
        new = write(tmp_path / release / "w.yaml", crd(_ruled("self.all(x, isQuantity('1'))"))).parent
        found.append([rule for rule, *_ in _rules(diff(old, new))])
    assert found == [[["self.all(x, isQuantity('1'))"]], []]


def test_without_a_known_server_only_what_the_newest_refuses_too(tmp_path: Path) -> None:
    """Nothing says on which Kubernetes a release runs: isSemver() is there from 1.34 on."""
    old, new = both(tmp_path, _PLAIN, _ruled("self.all(x, isSemver('1.0.0'))", _UNKNOWN))
    assert [rule for rule, *_ in _rules(diff(old, new))] == [[_UNKNOWN]]
    shown = run("judge", new / "widget.yaml", "--kube-version", "1.31", "-v").out
    assert "undeclared reference to 'isSemver'" in shown


def test_equal_rules_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all versions and copies of a CRD, and of equal values in one schema, for one server."""
    made: list[object] = []

    class Counted(Checker):
        def check(self, root: Expr) -> Type:
            made.append(root)
            return super().check(root)

    monkeypatch.setattr(compiling, "Checker", Counted)
    compiling._compiled.cache_clear()
    each = array(string(), maxItems=9, **{"x-kubernetes-validations": [{"rule": "self.size() != 7"}]})
    schema = root(spec=obj(a=each, b=each), status=obj(c=each))
    other = root(spec=obj(a=each), status=obj(c=each, d=string()))
    versions = [version(schema), version(other, "v2", storage=False)]
    for name in ("one", "two"):
        write(tmp_path / "old" / f"{name}.yaml", crd(_PLAIN, kind=name.title()))
        write(tmp_path / "new" / f"{name}.yaml", crd(versions=versions, kind=name.title()))
    config = write(tmp_path / "config.yaml", {"kubernetes": ["1.31"]})
    assert _rules(diff(tmp_path / "old", tmp_path / "new", "--config", config)) == []
    assert len(made) == 1


def test_objects_of_an_installed_crd_are_judged(tmp_path: Path) -> None:
    """A server compiles the rules of an installed CRD when an object is written, and does not mind their cost."""
    held = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    file = write(tmp_path / "object.yaml", {**held, "spec": {"a": ["a"]}})
    codes = []
    for name, rule in (("expensive", _EXPENSIVE), ("unknown", _UNKNOWN)):
        ran = run("judge", write(tmp_path / f"{name}.yaml", crd(_ruled(rule))), file, "--kube-version", "1.31")
        codes.append(ran.code)
        assert _REFUSES not in ran.err
    assert codes == [0, 2]


@pytest.mark.parametrize(("fields", "lines"), [("abc", 3), ("abcd", 1)])
def test_many_faults_of_both_sides_are_one_line(tmp_path: Path, fields: str, lines: int) -> None:
    """The full CRDs of argo-workflows have 22 faults: each has a line of 300 characters with -v."""
    typeless = {name: {"minimum": 1} for name in fields}
    old, new = (crd(root(spec=obj(**typeless), status=obj(p=string(*values)))) for values in ("A", "AB"))
    sides = both(tmp_path, old, new)
    shown = [line for line in run("diff", *sides).out.splitlines() if "refuses this CRD" in line]
    assert len(shown) == lines
    assert ("the API server refuses this CRD (-v says why): " in shown[0]) is (lines == 1)
    listed = run("diff", *sides, "-v").out.splitlines()
    assert len([line for line in listed if _REFUSES in line]) == len(fields)

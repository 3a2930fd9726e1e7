"""Waivers in the Go source: what ``// +crdcompat:ignore=…`` covers, when it counts, and what a check says of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from changes import repository, widget
from helpers import Json, commit, git, run, spawn

GO, CRD = "api/v1/widget_types.go", "config/crd/widgets.yaml"
_DOC = "// +groupName=example.com\npackage v1\n"
_LINE = 'reason="nothing writes it, yet",owner=team-a'
RULE = "enum-value-added"
MARKER = f"// +crdcompat:ignore={RULE},{_LINE}"


def types(*above_phase: str, above_kind: str = "// A widget.", above_status: str = "") -> str:
    """A Go file; the first marker above the phase is in line 16."""
    above = "".join(f"\t{line}\n" for line in above_phase)
    return f"""\
package v1

{above_kind}
type Widget struct {{
	Spec   WidgetSpec   `json:"spec,omitempty"`
	Status WidgetStatus `json:"status,omitempty"`
}}

type WidgetSpec struct {{
	A string `json:"a,omitempty"`
}}

{above_status or "// WidgetStatus is what controllers write."}
type WidgetStatus struct {{
	// The phase.
{above}	P Phase `json:"p,omitempty"`
}}

type Phase string
"""


PLACE = f"{GO}:16"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A change on the branch ``pr`` beside main."""
    made = repository(tmp_path)
    commit(made, {CRD: widget("A"), GO: types(), "api/v1/doc.go": _DOC})
    git(made, "checkout", "-q", "-b", "pr")
    return made


def _change(repo: Path, *above: str, phases: tuple[str, ...] = ("A", "B"), **more: str) -> None:
    commit(repo, {CRD: widget(*phases), GO: types(*above, **more)})


def _check(repo: Path, code: int, *args: str) -> Json:
    ran = run("check", "--base", "main", *args, "--format", "json", cwd=repo)
    assert ran.code == code, ran.err or ran.out
    return ran.report


def _on_main(repo: Path, files: Json) -> None:
    git(repo, "checkout", "-q", "main")
    commit(repo, files)
    git(repo, "checkout", "-q", "-B", "pr")


def test_a_marker_of_the_change_counts_and_stands_first(repo: Path) -> None:
    _change(repo, MARKER)
    report = _check(repo, 0)
    (accepted,) = report["accepted_by_change"]
    named = ("severity", "rule", "crd", "path", "reason", "owner", "marker")
    assert [accepted[key] for key in named] == [
        "error", RULE, "widgets.example.com", "status.p", "nothing writes it, yet", "team-a", PLACE,
    ]  # fmt: skip
    assert (report["rules"], report["waivers"]) == ([], [])
    for name in ("text", "concise", "markdown", "github", "gitlab", "junit", "sarif", "html"):
        out = run("check", "--base", "main", "--format", name, cwd=repo).out
        count, entry = out.lower().find("accepted by this change: 1 error"), out.find(RULE)
        assert count >= 0, name
        assert name == "sarif" or count < entry, name
        assert "nothing writes it, yet" in out, name
        assert PLACE in out.replace("%3A", ":"), name
    assert run("check", "--base", "main", "-q", cwd=repo).out.startswith("accepted by this change: 1 error\n")


@pytest.mark.parametrize(
    "above",
    [{"above_kind": MARKER}, {"above_status": MARKER}],
    ids=["the kind", "the type that holds the field"],
)
def test_a_marker_elsewhere_covers_nothing(repo: Path, above: dict[str, str]) -> None:
    _change(repo, **above)
    report = _check(repo, 1)
    assert report["accepted_by_change"] == []
    (line,) = report["rules"]
    assert line.startswith(f"this change adds a waiver that none of its findings needs: {GO}:")


def test_a_marker_above_the_type_of_the_field_counts(repo: Path) -> None:
    commit(repo, {CRD: widget("A", "B"), GO: types().replace("type Phase", f"{MARKER}\ntype Phase")})
    (accepted,) = _check(repo, 0)["accepted_by_change"]
    assert accepted["marker"] == f"{GO}:19"


_OTHERS = {
    "another rule": f"// +crdcompat:ignore=enum-value-removed,{_LINE}",
    "another value": f"{MARKER},values=C",
    "a lower severity": f"{MARKER},severity=warning",
    "another direction": f"{MARKER},direction=upgrade",
    "an end in the past": f"{MARKER},until=2020-01-31",
}


@pytest.mark.parametrize("how", sorted(_OTHERS))
def test_a_marker_covers_what_it_names_alone(repo: Path, how: str) -> None:
    _change(repo, _OTHERS[how])
    report = _check(repo, 1)
    assert (report["accepted_by_change"], report["summary"]["findings"]["error"]) == ([], 1)


def test_a_value_that_is_not_named_counts(repo: Path) -> None:
    _change(repo, f"{MARKER},values={{B;D}},severity=error,direction=rollback", phases=("A", "B", "C", "D"))
    report = _check(repo, 1)
    found = [f for f in report["sections"][0]["findings"] if f["rule"] == RULE and f["direction"] == "rollback"]
    assert sorted((f["added"], f["waiver"] is not None) for f in found) == [(["B", "D"], True), (["C"], False)]


_QUOTES = """a text with a comma stands in quotes, reason="…\""""
_KEYS = "there are values, severity, direction, reason, owner, until"
_WRITE = "write // +crdcompat:ignore=RULE,reason=…"
_BROKEN = {
    f"// +crdcompat:ignore=enum-value-aded,{_LINE}": (
        "there is no rule 'enum-value-aded'; did you mean enum-value-added? (crdcompat rules lists them)"
    ),
    f"// +crdcompat:ignore={RULE}": 'the reason is missing: add ,reason="…"',
    f"// +crdcompat:ignore={RULE},reason=-": "reason: '-' is not a reason in words",
    f"// +crdcompat:ignore={RULE},reason=nothing writes it, yet": f"'yet' is no KEY=VALUE: {_QUOTES}",
    f"{MARKER},until=2027-02-30": "until: there is no day 2027-02-30",
    f"{MARKER},until=soon": "until: 'soon' is neither a day (2027-01-31) nor a release (4.17)",
    f"{MARKER},severity=bad": "severity: 'bad' is none of error, warning, info",
    f"{MARKER},directions=rollback": f"there is no key 'directions'; did you mean direction? ({_KEYS})",
    f"{MARKER},reason=again": "reason is named twice",
    f"// +crdcompat:ignore=property-added,values=3,{_LINE}": "values: property-added has none",
    "// +crdcompat:ignore": f"it names no rule: {_WRITE}",
    f"// +crdcompat:ignore={_LINE}": f"it names no rule: {_WRITE}",
    f"// +crdcompat:ignore=reason={RULE},{_LINE}": f"it names no rule: {_WRITE}",
    "// +crdcompat:ignored=x": f"there is no marker +crdcompat:ignored: {_WRITE}",
    f"// +crdcompat ignore={RULE},{_LINE}": f"there is no marker +crdcompat: {_WRITE}",
    f"// +CRDCompat:ignore={RULE},{_LINE}": f"there is no marker +CRDCompat:ignore: {_WRITE}",
    f"// + crdcompat:ignore={RULE},{_LINE}": f"it is no marker: {_WRITE}",
    f"/* +crdcompat:ignore={RULE},{_LINE} */": f"it is no marker: {_WRITE}",
    f"/* * +crdcompat:ignore={RULE},{_LINE} */": f"it is no marker: {_WRITE}",
}


@pytest.mark.parametrize("marker", sorted(_BROKEN))
def test_a_broken_marker_is_named_and_covers_nothing(repo: Path, marker: str) -> None:
    _change(repo, marker)
    report = _check(repo, 1)
    assert report["accepted_by_change"] == []
    assert f"broken: {PLACE}: {_BROKEN[marker]}; it accepts nothing" in report["waivers"]


def test_a_marker_above_nothing_is_named(repo: Path) -> None:
    commit(repo, {CRD: widget("A", "B"), GO: types() + f"\n{MARKER}\n\nfunc f() {{}}\n"})
    report = _check(repo, 1)
    assert report["waivers"] == [
        f"broken: {GO}:21: it stands directly above no field and no type; it accepts nothing",
    ]


def test_an_expired_marker_is_named(repo: Path) -> None:
    _on_main(repo, {GO: types(f"{MARKER},until=2020-01-31")})
    _change(repo, f"{MARKER},until=2020-01-31")
    ran = run("check", "--base", "main", cwd=repo)
    assert ran.code == 1
    assert f"expired: {PLACE}: +crdcompat:ignore={RULE}: until 2020-01-31, no longer counts" in ran.out
    (finding,) = (f for f in _check(repo, 1)["sections"][0]["findings"] if f["severity"] == "error")
    assert finding["ended_waiver"] == f"{PLACE}: until 2020-01-31"


def test_an_expired_marker_of_the_change_is_said_to_have_expired_once(repo: Path) -> None:
    _change(repo, f"{MARKER},until=2020-01-31")
    report = _check(repo, 1)
    assert [line.partition(f": +crdcompat:ignore={RULE}")[0] for line in report["rules"]] == [
        f"this change adds a waiver that has expired (until 2020-01-31): {PLACE}"
    ]
    assert report["waivers"] == []


def test_an_unused_marker_is_stale(repo: Path) -> None:
    """As a waiver of the file: where the targets are compared, too."""
    git(repo, "branch", "release-1", "main")
    _on_main(repo, {GO: types(MARKER)})
    commit(repo, {CRD: {**widget("A"), "metadata": {"name": "widgets.example.com", "labels": {"a": "b"}}}})
    report = _check(repo, 0, "--target", "release-1")
    assert report["waivers"] == [f"stale: {PLACE}: +crdcompat:ignore={RULE}: nothing matches it, take it out"]
    assert report["rules"] == []


def test_a_marker_of_another_kind_of_the_package_is_not_stale(repo: Path) -> None:
    """The other CRD is not compared: nothing is known about its findings."""
    other = "type Gadget struct {\n\t" + MARKER + '\n\tQ string `json:"q"`\n}\n'
    gadget = {**widget("A"), "metadata": {"name": "gadgets.example.com"}}
    gadget["spec"] = {**gadget["spec"], "names": {"kind": "Gadget", "plural": "gadgets"}}
    git(repo, "branch", "release-1", "main")
    _on_main(repo, {"api/v1/gadget_types.go": "package v1\n\n" + other, "config/crd/gadgets.yaml": gadget})
    _change(repo, MARKER)
    assert _check(repo, 0, "--target", "release-1")["waivers"] == []


def test_what_was_accepted_before_is_not_of_the_change(repo: Path) -> None:
    _on_main(repo, {GO: types(MARKER)})
    _change(repo, "// More words.", MARKER)
    report = _check(repo, 0)
    assert (report["accepted_by_change"], report["rules"]) == ([], [])
    (finding,) = (f for f in report["sections"][0]["findings"] if f["rule"] == RULE and f["waiver"])
    assert finding["waiver"]["marker"] == f"{GO}:17"


def test_a_base_that_trusts_itself_alone_counts_markers_once_they_are_merged(repo: Path) -> None:
    _on_main(repo, {".crdcompat.yaml": "trust: base\n"})
    _change(repo, MARKER)
    report = _check(repo, 1)
    assert report["accepted_by_change"] == []
    assert report["waivers"] == [
        f"{PLACE}: +crdcompat:ignore={RULE}: counts once it is merged (`trust: base` in the configuration)"
    ]
    _on_main(repo, {GO: types(MARKER)})
    _change(repo, MARKER)
    assert (_check(repo, 0)["accepted_by_change"], _check(repo, 0)["waivers"]) == ([], [])


@pytest.mark.parametrize("phases", [("A",), ("A", "B")], ids=["no CRD changed", "another CRD changed"])
def test_a_marker_ahead_of_its_change_is_shown(repo: Path, phases: tuple[str, ...]) -> None:
    ahead = f"// +crdcompat:ignore=type-changed,{_LINE}"
    _change(repo, *[MARKER][: len(phases) - 1], ahead, phases=phases)
    ran = run("check", "--base", "main", cwd=repo)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == (
        f"this change adds a waiver that none of its findings needs: {GO}:{15 + len(phases)}: "
        "+crdcompat:ignore=type-changed: nothing writes it, yet (team-a)"
    )


def test_a_copy_of_a_marker_at_another_field_is_shown(repo: Path) -> None:
    _on_main(repo, {GO: types(MARKER)})
    _change(repo, MARKER, above_kind=MARKER, phases=("A",))
    (line,) = _check(repo, 0)["rules"]
    assert f"{GO}:3" in line


def test_the_installed_command_takes_the_staged_marker(repo: Path) -> None:
    """As the hook of pre-commit: what is staged is judged."""
    (repo / GO).write_text(types(MARKER))
    (repo / CRD).write_text(json.dumps(widget("A", "B")))
    git(repo, "add", CRD)
    assert spawn("check", "--base", "main", cwd=repo).code == 1
    git(repo, "add", GO)
    ran = spawn("check", "--base", "main", cwd=repo)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "accepted by this change: 1 error")


def test_diff_takes_the_markers_of_new(repo: Path) -> None:
    _change(repo, MARKER)
    ran = run("diff", "main", "pr", "--format", "json", cwd=repo)
    assert ran.code == 0
    assert {f["rule"]: f["waiver"]["marker"] for f in ran.report["findings"] if f["waiver"]} == {RULE: PLACE}
    assert run("diff", "pr", "main", cwd=repo).code == 1  # OLD's markers accept nothing


def test_diff_names_a_broken_marker(repo: Path) -> None:
    _change(repo, f"// +crdcompat:ignore={RULE}")
    ran = run("diff", "main", "pr", "--format", "json", cwd=repo)
    assert ran.code == 1
    assert [(each["file"], each["line"]) for each in ran.report["summary"]["remarks"]] == [(GO, 16)]


def test_a_field_that_is_gone_is_covered_by_its_type(repo: Path) -> None:
    rule = "property-removed"
    without = types(above_status=f"// +crdcompat:ignore={rule},{_LINE}").replace('\tP Phase `json:"p,omitempty"`\n', "")
    gone = widget("A")
    del gone["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["p"]
    commit(repo, {CRD: gone, GO: without})
    found = [f for f in _check(repo, 0)["sections"][0]["findings"] if f["rule"] == rule]
    assert [(f["path"], f["waiver"] and f["waiver"]["marker"]) for f in found] == [("status.p", f"{GO}:13")]


def test_what_an_old_marker_of_a_type_covers_anew_is_accepted_by_the_change(repo: Path) -> None:
    """The field is the base's: the marker of its type did not cover it there."""
    above = f"// +crdcompat:ignore=property-removed,{_LINE}"
    _on_main(repo, {GO: types(above_status=above)})
    gone = widget("A")
    del gone["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["p"]
    commit(repo, {CRD: gone, GO: types(above_status=above).replace('\tP Phase `json:"p,omitempty"`\n', "")})
    assert {each["path"] for each in _check(repo, 0)["accepted_by_change"]} == {"status.p"}


@pytest.mark.parametrize(("trust", "is_copied"), [("all", False), ("all", True), ("base", False), ("base", True)])
def test_a_marker_above_a_field_covers_no_new_field_inside_of_it(repo: Path, trust: str, is_copied: bool) -> None:
    """The base's marker is about the field below it; an equal one of the change at a new field is one of the change."""
    marker = f"// +crdcompat:ignore=property-added,{_LINE}"
    field = "\tStatus WidgetStatus"
    before = types().replace(field, f"\t{marker}\n{field}")
    config = "severities: [{rule: property-added, severity: error}]\n" + ("trust: base\n" if trust == "base" else "")
    _on_main(repo, {GO: before, ".crdcompat.yaml": config})
    fresh = (f"\t{marker}\n" if is_copied else "") + '\tFresh string `json:"fresh,omitempty"`\n'
    after = before.replace("\tP Phase", f"{fresh}\tP Phase")
    status = {**widget("A")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]}
    made = widget("A")
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = {
        **status, "properties": {**status["properties"], "fresh": {"type": "string"}}
    }  # fmt: skip
    commit(repo, {CRD: made, GO: after})
    counts = trust == "all" and is_copied
    report = _check(repo, 0 if counts else 1)
    assert [each["rule"] for each in report["accepted_by_change"]] == ["property-added"] * counts
    said = run("check", "--base", "main", "--statistics", cwd=repo).out
    assert said.startswith("accepted by this change: 1 error") == counts

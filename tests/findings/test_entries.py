"""Entries: one cause is one entry, in its places and against every release; what only looks alike stays apart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from changes import repository
from helpers import Json, commit, crd, git, obj, root, run, string, write
from msgspec.structs import replace
from report_samples import compared, rendered
from sarif import one_run
from variants import SET

import crdcompat
from crdcompat import load_crds
from crdcompat.findings.entries import Entry, entries, group_ids, group_key
from crdcompat.models.check import CheckReport, Section
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Acceptance, Location
from crdcompat.render.wording.entry_sentences import mirror_lines
from crdcompat.schema.structural import RULES
from crdcompat.vocabulary import Against, Effect, FindingStatus, Severity, Side


def _mirrored(*values: str) -> list[Json]:
    """A Widget, and a Config that holds a Widget in its spec."""
    widget = obj(spec=obj(), status=obj(phase=string(*values)))
    return [crd(root(**widget["properties"])), crd(root(spec=obj(widget=widget)), kind="Config")]


def _places(report: DiffReport | CheckReport) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return [
        (each.finding.crd, each.finding.path, [(mirror.crd, mirror.path) for mirror in each.mirrors])
        for each in entries(report)
    ]


def test_a_type_that_another_crd_holds_is_one_entry(tmp_path: Path) -> None:
    report = compared(tmp_path, _mirrored("A"), _mirrored("A", "B"))
    (entry,) = entries(report)
    assert (entry.finding.crd, entry.finding.path) == ("widgets.example.com", "status.phase")
    assert entry.finding.severity == "error"
    assert [(m.crd, m.path, m.severity) for m in entry.mirrors] == [
        ("configs.example.com", "spec.widget.status.phase", "warning")
    ]
    assert group_ids(report) == {group_key(each): entry.finding.id for each in report.findings}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (string(), string(minLength=2)),
        (string(minLength=2), string()),
        (string("A"), string()),
        (obj(), obj(a=obj())),
    ],
    ids=["new alone", "old alone", "values gone", "a member"],
)
def test_any_change_of_the_type_is_one_entry(tmp_path: Path, old: Json, new: Json) -> None:
    widgets = (obj(spec=obj(), status=obj(v=each)) for each in (old, new))
    sides = ([crd(root(**each["properties"])), crd(root(spec=obj(widget=each)), kind="Config")] for each in widgets)
    report = compared(tmp_path, *sides)
    assert report.findings
    for entry in entries(report):
        assert [(each.crd, each.path) for each in entry.mirrors] == [
            ("configs.example.com", f"spec.widget.{entry.finding.path}")
        ]


def test_every_format_has_one_entry_with_the_places(tmp_path: Path) -> None:
    report = compared(tmp_path, _mirrored("A"), _mirrored("A", "B"))
    (entry,) = entries(report)
    (mirror,) = entry.mirrors
    where = f"configs.example.com/v1 spec.widget.status.phase (warning, {mirror.id})"
    for name in ("markdown", "html", "sarif", "junit", "github", "gitlab"):
        text = " ".join(rendered(report, name).split())
        assert where in text, name
        twice = ("junit", "markdown")  # a case, and its message; a row of the table, and the finding
        assert text.count("rejects writes of a Widget") == (2 if name in twice else 1), name
        assert "writes of a Config" not in text, name
    assert rendered(report, "github").count("\n::") == 0, "one annotation, the first line"
    assert len(json.loads(rendered(report, "gitlab"))) == 1
    (result,) = one_run(report)["results"]
    assert [each["message"]["text"] for each in result["relatedLocations"]] == [
        "the older side",
        "same change: configs.example.com/v1 spec.widget.status.phase",
    ]
    data = json.loads(rendered(report, "json"))
    assert {finding["group"] for finding in data["findings"]} == {entry.finding.id}
    assert data["summary"]["findings"]["error"] == data["summary"]["findings"]["warning"] == 1


def test_all_outputs_count_findings(tmp_path: Path) -> None:
    """An entry with an error and a less severe mirror is one error and one warning in each output."""
    report = compared(tmp_path, _mirrored("A"), _mirrored("A", "B"))
    for name in ("text", "markdown", "github"):
        assert "1 error, 1 warning, 0 info" in rendered(report, name), name
        assert not re.search(r"\d+ cause", rendered(report, name)), name
    page = rendered(report, "html")
    assert re.findall(r"<strong>(\d+)</strong> (\w+)", page) == [("1", "error"), ("1", "warning"), ("0", "info")]
    assert re.findall(r'<p id="shown"[^>]*>(\d+ findings)', page) == ["2 findings"]
    marks = re.findall(r'class="mark (\w+)" href="[^"]*" tabindex="-1" title="([^"]+)"', page)
    assert "<span>same change in 1 more place</span>" in page
    assert marks == [
        ("error", "status.phase: enum-value-added"),
        ("warning", "spec.widget.status.phase: enum-value-added"),
    ]


def test_the_answer_of_the_server_is_the_one_about_the_finding(tmp_path: Path) -> None:
    """A server adds that it did not check the rules, if an enum rejects the object."""
    sides = ("A",), ("A", "B")
    ruled = {"x-kubernetes-validations": [{"rule": "has(self.phase)"}]}
    report = compared(tmp_path, *([crd(root(status=obj(phase=string(*each)) | ruled))] for each in sides))
    (finding,) = report.findings
    assert len(finding.witness.errors) == 2
    for name in ("text", "markdown", "junit"):
        text = rendered(report, name)
        assert (text.count("API server: "), text.count("API server: status.phase: Unsupported")) == (1, 1), name


def test_versions_of_a_crd_are_one_entry(tmp_path: Path) -> None:
    def made(*values: str) -> list[Json]:
        schema = {"schema": {"openAPIV3Schema": root(status=obj(phase=string(*values)))}, "served": True}
        definition = crd(root())
        definition["spec"]["versions"] = [
            {"name": name, "storage": name == "v1", **schema} for name in ("v1", "v1beta1")
        ]
        return [definition]

    report = compared(tmp_path, made("A"), made("A", "B"))
    assert [finding.version for finding in report.findings] == ["v1", "v1beta1"]
    (entry,) = entries(report)
    assert (entry.finding.version, [mirror.version for mirror in entry.mirrors]) == ("v1", ["v1beta1"])
    assert "\n### 2 errors\n" in rendered(report, "markdown"), "headings count findings, as the title does"


def test_what_only_looks_alike_stays_apart(tmp_path: Path) -> None:
    """Other values, other halves of the object, and top-level fields."""

    def made(*values: str) -> list[Json]:
        both = [crd(root(status=obj(phase=string(*values)))), crd(root(spec=obj(phase=string(*values))), kind="Other")]
        third = crd(root(status=obj(phase=string("X", *values))), kind="Third")
        return [*both, third, *(crd(root(phase=string(*values)), kind=kind) for kind in ("Top", "Tip"))]

    report = compared(tmp_path, made("A"), made("A", "B"))
    assert sorted(_places(report)) == [
        ("others.example.com", "spec.phase", []),
        ("thirds.example.com", "status.phase", []),
        ("tips.example.com", "phase", []),
        ("tops.example.com", "phase", []),
        ("widgets.example.com", "status.phase", []),
    ]


def test_a_version_that_several_crds_lose_is_one_entry(tmp_path: Path) -> None:
    def with_versions(*names: str, others: tuple[str, ...]) -> list[Json]:
        found = []
        for kind, own in (("Widget", names), ("Config", names), ("Other", others)):
            definition = crd(root(), kind=kind)
            (version,) = definition["spec"]["versions"]
            definition["spec"]["versions"] = [{**version, "name": n, "storage": n == "v1"} for n in own]
            found.append(definition)
        return found

    old = with_versions("v1", "v2", others=("v1", "v3"))
    report = compared(tmp_path, old, with_versions("v1", others=("v1",)))
    removed = [entry for entry in entries(report) if entry.finding.rule == "version-removed"]
    assert [(each.finding.crd, [mirror.crd for mirror in each.mirrors]) for each in removed] == [
        ("configs.example.com", ["widgets.example.com"]),
        ("others.example.com", []),
    ]


def test_crds_that_leave_a_folder_are_one_entry(tmp_path: Path) -> None:
    """The chart of Traefik had 24 CRDs of others until version 40."""
    kept = {"crds/kept.yaml": crd(kind="Kept")}
    gone = {"of-others/a.yaml": crd(), "of-others/b.yaml": crd(kind="Config"), "crds/other.yaml": crd(kind="Other")}
    for side, files in (("old", {**kept, **gone}), ("new", kept)):
        for name, content in files.items():
            write(tmp_path / side / name, content)
    report = crdcompat.diff(*(load_crds(f"path:{tmp_path / side}") for side in ("old", "new")))
    assert [
        (each.finding.rule, each.finding.crd, [mirror.crd for mirror in each.mirrors]) for each in entries(report)
    ] == [
        ("crd-removed", "configs.example.com", ["widgets.example.com"]),
        ("crd-removed", "others.example.com", []),
    ]


def test_a_verdict_names_the_kinds_that_lose_a_version(tmp_path: Path) -> None:
    def stored_as(name: str) -> list[Json]:
        found = [crd(root(), kind=kind) for kind in ("Widget", "Config")]
        for definition in found:
            definition["spec"]["versions"][0]["name"] = name
        return found

    report = compared(tmp_path, stored_as("v1"), stored_as("v2"))
    assert "  Config, Widget  the CRD" in rendered(report, "text").splitlines()


def _check(*reports: DiffReport) -> CheckReport:
    against = [Against.BASE, *[Against.TARGET] * (len(reports) - 1)]
    parts = tuple(Section(kind, report) for kind, report in zip(against, reports, strict=True))
    return CheckReport(reports[0].new, parts)


def test_the_worst_against_any_release_stands_for_all(tmp_path: Path) -> None:
    base = compared(tmp_path, _mirrored("A"), _mirrored("A", "B"))
    target = replace(base, findings=tuple(replace(f, severity=Severity.ERROR, message="worse") for f in base.findings))
    milder = replace(base, findings=tuple(replace(f, severity=Severity.WARNING) for f in base.findings))
    (entry,) = entries(_check(milder, target))
    assert (entry.finding.message, entry.home.report, len(entry.met)) == ("worse", target, 2)


def test_waived_and_existing_findings_stand_apart(tmp_path: Path) -> None:
    base = compared(tmp_path, _mirrored("A"), _mirrored("A", "B"))
    first, second = base.findings
    waived = replace(base, findings=(first, replace(second, waiver=Acceptance("so"))))
    assert [(each.finding.id, each.mirrors) for each in entries(waived)] == [(first.id, ()), (second.id, ())]
    assert set(group_ids(waived).values()) == {first.id, second.id}
    there = replace(base, findings=tuple(replace(f, status=FindingStatus.EXISTING) for f in base.findings))
    assert [entry.finding.status for entry in entries(_check(base, there))] == ["new", "existing"]


@pytest.mark.parametrize("touched", ["w.json", "c.json"])
def test_it_points_into_files_that_the_change_touched(tmp_path: Path, touched: str) -> None:
    report = compared(tmp_path, _mirrored("A"), _mirrored("A", "A2"))
    files = ("w.json", "c.json")

    def at(index: int) -> tuple[Location, ...]:
        file = files[index]
        return (
            Location(Side.NEW, "t.go", 1, None, "go", False),
            Location(Side.NEW, file, 3, 1, "yaml", file == touched),
        )

    found = tuple(replace(f, severity=Severity.WARNING, locations=at(n)) for n, f in enumerate(report.findings))
    changed = replace(report, findings=found)
    (result,) = one_run(changed)["results"]
    shown: list[Any] = [result["locations"][0], *result.get("relatedLocations", ())]
    assert [each["physicalLocation"]["artifactLocation"]["uri"] for each in shown] == [touched]
    assert f"file={touched}," in rendered(changed, "github").splitlines()[0]
    assert "t.go" not in rendered(changed, "text")


def test_a_check_lists_a_cause_once_and_default_first(tmp_path: Path) -> None:
    """Two feature sets and a mirror, against the base and a release: the base's Default manifest is shown."""
    repo = repository(tmp_path)

    def files(*values: str) -> dict[str, Json]:
        made = {}
        for name in ("CustomNoUpgrade", "Default"):
            notes = {"release.openshift.io/feature-set": name}
            schemas = _mirrored("A", *values)
            for definition in schemas:
                definition["metadata"]["annotations"] = notes
                made[f"{definition['spec']['names']['plural']}-{name}.yaml"] = definition
        return made

    commit(repo, files())
    git(repo, "branch", "release-1")
    commit(repo, files("B"))
    ran = run("check", "--base", "HEAD~1", "--target", "release-1", cwd=repo)
    blocks = [line for line in ran.out.splitlines() if line.startswith(("error[", "warning["))]
    assert len(blocks) == 1 and "widgets.example.com/v1 status.phase" in blocks[0]
    assert "  --> widgets-Default.yaml" in ran.out
    assert "  against: base, target release-1" in ran.out
    assert "Listed above: 2 findings of this comparison." in ran.out
    report = run("check", "--base", "HEAD~1", "--target", "release-1", "--format", "json", cwd=repo).report
    found = [finding for section in report["sections"] for finding in section["findings"]]
    assert len(found) == 4 and len({finding["group"] for finding in found}) == 1
    assert next(place["file"] for place in found[0]["locations"] if place["side"] == "new") == "widgets-Default.yaml"


def test_a_check_that_fails_says_what_to_do_next(tmp_path: Path) -> None:
    """The fix, and the command that accepts the whole entry: pasted, it lets the check pass."""
    repo = repository(tmp_path)
    for values in (("A",), ("A", "B")):
        commit(repo, {f"{made['spec']['names']['plural']}.yaml": made for made in _mirrored(*values)})
    git(repo, "branch", "release-1.1", "HEAD~1")
    ran = run("check", "--base", "release-1.1", cwd=repo)
    *_, first, second, accept = ran.out.splitlines()
    fix = f"{first} {second.strip()}"
    assert fix.startswith("To fix it: let nothing write it before the next release, and declare that: crdcompat waive ")
    assert fix.endswith('--growth --reason "…" (crdcompat explain enum-value-added)')
    reported = accept.partition(": crdcompat ")[2].partition(" --reason ")[0].split()
    assert reported[0] == "waive" and len(reported) == 3
    assert accept.startswith("To accept it, then git add the waiver file: ")
    markdown = run("check", "--base", "release-1.1", "--format", "markdown", cwd=repo).out
    assert fix in markdown and accept in markdown
    assert run(*reported, "--base", "HEAD~1", "--reason", "known", cwd=repo).code == 0
    after = run("check", "--base", "HEAD~1", cwd=repo)
    assert after.code == 0 and "To accept" not in after.out


# -- contexts ---------------------------------------------


def _in_contexts(top: Path, *rules: str) -> CheckReport:
    """A check of an enum with a new value in contexts whose specs have these rules; no rule is the first context."""
    contexts = {"Default": {}, **{f"Set{number}": {RULES: [{"rule": rule}]} for number, rule in enumerate(rules)}}
    sides = [
        [
            crd(root(spec={**obj(phase=string(*values), n={"type": "integer"}), **more}), annotations={SET: name})
            for name, more in contexts.items()
        ]
        for values in ("A", "AB")
    ]
    report = compared(top, *sides)
    return CheckReport(report.new, (Section(Against.BASE, report),))


#: No search finds the number of the first rule; the second one needs another object than a spec without rules.
_HARD, _OTHER = (f"!has(self.phase) || (has(self.n) && self.n {text})" for text in ("* 7919 % 104729 == 5", "== 2"))


def test_contexts_without_a_proof_are_not_said_to_have_one(tmp_path: Path) -> None:
    report = _in_contexts(tmp_path, _HARD)
    (entry,) = (each for each in entries(report) if each.finding.direction == "rollback")
    assert (entry.finding.contexts, entry.finding.witness.object is not None) == (("Default/default",), True)
    assert [(each.contexts, each.witness.object) for each in entry.otherwise] == [(("Set0/default",), None)]
    sentence = "in Set0 (warning): spec.phase gained"
    for name in ("markdown", "junit", "html"):
        text = " ".join(rendered(report, name).split())
        assert text.count(sentence) == 1, name
        assert "may reject every write of a Widget" in text.partition(sentence)[2], name


def test_contexts_with_a_proof_of_their_own_are_listed_together(tmp_path: Path) -> None:
    report = _in_contexts(tmp_path, _OTHER, _OTHER.replace("2", "1"))
    found = [each for each in report.findings if each.direction == "rollback"]
    assert [(len(each.contexts), each.witness.object is not None) for each in found] == [(2, True), (1, True)]
    (entry,) = (each for each in entries(report) if each.finding.direction == "rollback")
    assert set(entry.finding.contexts) == {"Default/default", "Set0/default", "Set1/default"}
    assert entry.otherwise == ()


def test_contexts_with_another_effect_are_listed_apart(tmp_path: Path) -> None:
    report = compared(tmp_path, [_variant("Default", "A")], [_variant("Default", "AB")])
    (finding,) = report.findings
    pruned = replace(finding, effect=Effect.VALUE_PRUNED, severity=Severity.INFO, contexts=("Set0/default",))
    (entry,) = entries(replace(report, findings=(finding, pruned)))
    assert (entry.finding.contexts, entry.otherwise) == (("Default/default",), (pruned,))


def test_the_contexts_are_those_of_the_comparison_that_is_shown(tmp_path: Path) -> None:
    report = compared(tmp_path, [_variant("Default", "A")], [_variant("Default", "AB")])
    (finding,) = report.findings
    target = replace(report, findings=(replace(finding, contexts=("Set0/default",)),))
    (entry,) = entries(CheckReport(report.new, (Section(Against.BASE, report), Section(Against.TARGET, target))))
    assert (entry.finding.contexts, len(entry.met)) == (("Default/default",), 2)


def test_the_worst_finding_of_an_id_counts(tmp_path: Path) -> None:
    """In the contexts of other feature sets the same change can be less severe."""
    report = compared(
        tmp_path,
        [_variant("Default", "A"), _variant("TechPreviewNoUpgrade", "AB")],
        [_variant("Default", "AC"), _variant("TechPreviewNoUpgrade", "ABC")],
    )
    assert [finding.severity for finding in report.findings] == ["error", "warning"]
    assert len({finding.id for finding in report.findings}) == 1
    assert CheckReport(report.new, (Section(Against.BASE, report),)).by_severity() == {
        Severity.ERROR: 1,
        Severity.WARNING: 0,
        Severity.INFO: 0,
    }


def _variant(feature_set: str, values: str) -> Json:
    return crd(root(status=obj(phase=string(*values))), annotations={SET: feature_set})


def test_the_lines_of_mirrors(tmp_path: Path) -> None:
    """At most so many places, the number of the others, and the comparisons if there are several."""
    report = compared(tmp_path, [_variant("Default", "A")], [_variant("Default", "AB")])
    (finding,) = report.findings
    mirrors = tuple(replace(finding, id=f"{number:012}", path=f"status.p{number}") for number in range(4))
    home, target = Section(Against.BASE, report), Section(Against.TARGET, report)
    lines = [*mirror_lines(Entry(finding, mirrors, home, (home,)), 2)]
    assert [line.split(" (")[0] for line in lines] == [
        "same change: widgets.example.com/v1 status.p0",
        "same change: widgets.example.com/v1 status.p1",
        "same change: in 2 more places of 1 CRD",
    ]
    assert [*mirror_lines(Entry(finding, (), home, (home, target)))] == ["against: base, target r1"]

"""What existed before a change, on the way back to a rollback target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from changes import check, of_sets, repository, widget
from helpers import Json, commit, crd, git, obj, root, run, string
from msgspec.structs import replace
from report_samples import compared

from crdcompat.features.check.existing import mark_existing
from crdcompat.findings.split import FindingSplitter
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding


def test_all_shows_what_stood_before(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "branch", "base")
    commit(repo, {"v.yaml": crd(root(spec=obj(a=string())), kind="Gadget")})
    plain = run("check", "--base", "base", "--target", "old", cwd=repo)
    shown = run("check", "--base", "base", "--target", "old", "--all", cwd=repo)
    assert (plain.code, shown.code) == (0, 0)
    assert "error[enum-value-added]" not in plain.out
    full = run("check", "--base", "base", "--target", "old", "-v", cwd=repo)
    assert "only CRDs that the change touches are compared with targets (--all compares all)" in full.out
    described = widget("A", "B") | {"metadata": {**widget()["metadata"], "annotations": {"note": "touched"}}}
    commit(repo, {"w.yaml": described})
    plain = run("check", "--base", "base", "--target", "old", cwd=repo)
    assert "Not listed: 3 notes (-v), 1 from before this change (--all).\n" in plain.out
    assert "error[enum-value-added]" in shown.out
    pages = [
        run("check", "--base", "base", "--target", "old", *more, "--format", "html", cwd=repo).out
        for more in ((), ("--all",))
    ]
    assert ["group aside held" in page for page in pages] == [True, False]


def test_existing_by_place_and_by_size(tmp_path: Path) -> None:
    """A copy that joins the others is new, and so is a bound that goes on being loosened."""
    repo = repository(tmp_path)

    def made(a: str, b: str, most: int) -> Json:
        return crd(root(spec=obj(a=obj(m=string(*a)), b=obj(m=string(*b)), s=string(maxLength=most))))

    commit(repo, {"w.yaml": made("A", "A", 5)})
    git(repo, "branch", "target")
    commit(repo, {"w.yaml": made("AB", "A", 10)})
    git(repo, "branch", "base")
    commit(repo, {"w.yaml": made("AB", "A", 50)})
    report = check(repo, "--base", "base", "--target", "target", code=0)
    reported = {(f["path"], f["status"]) for f in report["sections"][1]["findings"] if f["direction"] == "rollback"}
    assert reported == {("spec.a.m", "existing"), ("spec.s", "new")}
    commit(repo, {"w.yaml": made("AB", "AB", 10)})
    report = check(repo, "--base", "base", "--target", "target", code=0)
    reported = {(f["path"], f["status"]) for f in report["sections"][1]["findings"] if f["direction"] == "rollback"}
    assert reported == {("spec.a.m", "new"), ("spec.s", "existing")}


def test_a_difference_between_servers_that_existed(tmp_path: Path) -> None:
    """Findings that compare supported servers exist before a change like all others."""

    def made(most: int, *values: str) -> Json:
        return crd(root(spec=obj(a=string(*values), s=string(maxLength=most))))

    repo = repository(tmp_path)
    commit(repo, {".crdcompat.yaml": {"kubernetes": {"min": "1.28", "max": "1.33"}}, "w.yaml": made(5, "A", "B")})
    git(repo, "branch", "target")
    commit(repo, {"w.yaml": made(5, "A")})
    git(repo, "branch", "base")
    commit(repo, {"w.yaml": made(10, "A")})
    report = check(repo, "--base", "base", "--target", "target", code=0)
    reported = {(f["rule"], f["path"], f["status"]) for f in report["sections"][1]["findings"]}
    assert reported == {
        ("enum-value-removed", "spec.a", "existing"),
        ("server-looser-on", "spec.a", "existing"),
        ("length-loosened", "spec.s", "new"),
        ("server-looser-on", "spec.s", "new"),
    }


def test_what_becomes_everybodys_is_new(tmp_path: Path) -> None:
    """A value of a feature set that nobody can roll back was there; that it comes to Default is this change's doing."""
    repo = repository(tmp_path)
    commit(repo, of_sets("A", "A"))
    git(repo, "branch", "target")
    commit(repo, of_sets("A", "ABC"))
    git(repo, "branch", "base")
    commit(repo, of_sets("AB", "ABC"))
    report = check(repo, "--base", "base", "--target", "target", code=1)
    reported = {(f["status"], f["severity"], *f["added"]) for f in report["sections"][1]["findings"]}
    assert reported == {("new", "error", "B"), ("existing", "warning", "B", "C")} or reported == {
        ("new", "error", "B"),
        ("existing", "warning", "C"),
    }


def test_the_same_path_with_other_values_elsewhere_is_another_finding(tmp_path: Path) -> None:
    """Two feature sets have changes of one kind at one path: each was there, whichever comes last."""
    repo = repository(tmp_path)
    free = crd(root(spec=obj(a=string())))
    key = "release.openshift.io/feature-set"
    sets = ("Default", "TechPreviewNoUpgrade")

    def state(*more: str) -> Json:
        files = {name: crd(root(spec=obj(a=string(name, "x"))), annotations={key: name}) for name in sets}
        return {**{f"{name}.yaml": made for name, made in files.items()}, "other.yaml": gadget(*more)}

    def gadget(*more: str) -> Json:
        return crd(root(spec=obj(a=string("A", *more))), kind="Gadget")

    commit(repo, {f"{name}.yaml": {**free, "metadata": {**free["metadata"], "annotations": {key: name}}}
                  for name in sets} | {"other.yaml": gadget()})  # fmt: skip
    git(repo, "branch", "target")
    commit(repo, state())
    git(repo, "branch", "base")
    commit(repo, state("B"))
    report = check(repo, "--base", "base", "--target", "target", "--all", code=0)
    found = [f for f in report["sections"][1]["findings"] if f["rule"] == "enum-introduced"]
    assert len(found) == 2 and {f["status"] for f in found} == {"existing"}


# -- single findings ---------------------------------------------


class _Splits:
    """A splitter that remembers the values of the part that existed."""

    def __init__(self) -> None:
        self.inside: list[Any] = []

    def split(self, finding: Finding, inside: Sequence[Any]) -> tuple[Finding | None, Finding | None]:
        self.inside += inside
        return None, finding


def _in_two_contexts(top: Path, old: Json, new: Json) -> tuple[DiffReport, Finding]:
    report = compared(top, root(spec=obj(a=old)), root(spec=obj(a=new)))
    (finding,) = report.findings
    finding = replace(finding, contexts=("a", "b"))
    return replace(report, findings=(finding,)), finding


def _status(report: DiffReport, *of_base: Finding) -> list[str]:
    marked = mark_existing(report, replace(report, findings=of_base), cast("FindingSplitter", _Splits()))
    return [finding.status for finding in marked.findings]


def test_a_finding_existed_if_the_base_has_it_in_each_context(tmp_path: Path) -> None:
    report, finding = _in_two_contexts(tmp_path, string(maxLength=5), string(maxLength=10))
    in_a, in_b = (replace(finding, contexts=(name,)) for name in ("a", "b"))
    assert _status(report, in_a) == ["new"]
    assert _status(report, in_a, in_b) == ["existing"]
    assert _status(report, in_a, replace(in_b, new=7)) == ["new"], "another limit in one of them"


def test_a_value_existed_if_the_base_has_it_in_each_context(tmp_path: Path) -> None:
    report, finding = _in_two_contexts(tmp_path, string("A"), string("A", "B", "C"))
    of_base = replace(finding, contexts=("a",)), replace(finding, contexts=("b",), added=("B",))
    splits = _Splits()
    mark_existing(report, replace(report, findings=of_base), cast("FindingSplitter", splits))
    assert splits.inside == ["B"]


def test_a_part_of_the_values_beside_variants_that_do_not_ship(tmp_path: Path) -> None:
    """A target with channels in folders of examples alone: its CRDs that ship have no variants."""
    repo = repository(tmp_path)
    channel = crd(root(spec=obj()), kind="Route")
    channel["metadata"]["annotations"] = {"gateway.networking.k8s.io/channel": "experimental"}
    listed = {"config/crd/kustomization.yaml": {"resources": ["w.yaml"]}}
    commit(repo, {"config/crd/w.yaml": widget("A"), "examples/channel.yaml": channel, **listed})
    git(repo, "branch", "target")
    git(repo, "rm", "-q", "examples/channel.yaml")
    commit(repo, {"config/crd/w.yaml": widget("A", "B")})
    git(repo, "branch", "base")
    commit(repo, {"config/crd/w.yaml": widget("A", "B", "C")})
    report = check(repo, "--base", "base", "--target", "target", code=1)
    assert report["sections"][1]["old"]["name"] == "target"
    found = {(f["status"], *f["added"], *f["contexts"]) for f in report["sections"][1]["findings"]}
    assert found == {("existing", "B", "default"), ("new", "C", "default")}
    assert all(f["witness"]["object"] for f in report["sections"][1]["findings"])

"""matrix: the order of releases, the verdict of each way, since when something blocks, and how it is shown."""

from __future__ import annotations

import contextlib
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, Run, array, commit, crd, git, obj, root, run, string, version, write
from markdown_it import MarkdownIt

from crdcompat.config.configuration import Config
from crdcompat.config.releases import choose, version_of
from crdcompat.errors import UsageError
from crdcompat.features.matrix.matrix_workflow import MatrixOptions
from crdcompat.features.matrix.matrix_workflow import matrix as run_matrix
from crdcompat.findings.waiver_file import Accepted
from crdcompat.models.matrix import MatrixReport
from crdcompat.models.release import Release
from crdcompat.render.escape import Style, finish
from crdcompat.render.pages import page_of
from crdcompat.render.text.text_page import blocks_text, page_text
from crdcompat.render.wording.matrix import labels


def status(*values: str, **more: Json) -> Json:
    """A CRD with an enum in status."""
    return root(status=obj(phase=string(*values)), **more)


def folders(top: Path, **schemas: Json | str) -> list[str]:
    """A release in a folder of its own for each schema, ``r_4_9`` called ``./r-4.9``; text is written as it is."""
    names = [name.replace("_", "-", 1).replace("_", ".") for name in schemas]
    for name, schema in zip(names, schemas.values(), strict=True):
        write(top / name / "widget.yaml", schema if isinstance(schema, str) else crd(schema))
    return [f"./{name}" for name in names]


def matrix(top: Path, *args: str, codes: tuple[int, ...] = (0, 1)) -> Json:
    """The JSON report of a run that ended with one of these exit codes."""
    ran = run("matrix", *args, "--format", "json", cwd=top)
    assert ran.code in codes, ran.err or ran.out
    return ran.report


def verdicts(report: Json) -> dict[tuple[str, str], str]:
    """The verdict of each way, by the last parts of the names."""
    return {(_last(cell["from"]), _last(cell["to"])): cell["verdict"] for cell in report["cells"]}


def cell(report: Json, origin: str, target: str) -> Json:
    (found,) = [each for each in report["cells"] if (_last(each["from"]), _last(each["to"])) == (origin, target)]
    return found  # type: ignore[no-any-return]


def whole(report: Json, cell: Json) -> Json:
    """A cell with what it names in the tables of the report."""
    parts = {"finding": "findings", "message": "messages", "locations": "locations"}
    rows = [{part: report[table][each[part]] for part, table in parts.items()} for each in cell["findings"]]
    skipped = [report["skipped"][at] for at in cell["summary"]["skipped"]]
    return {
        **cell,
        "summary": {**cell["summary"], "skipped": skipped},
        "without_effect": [report["without_effect"][at] for at in cell["without_effect"]],
        "findings": [{**row.pop("finding"), **row} for row in rows],
    }


def _last(name: str) -> str:
    return name.rpartition("-")[2]


# -- which releases, in which order ---------------------------------------------


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["r-4.10", "r-4.9"], ["r-4.9", "r-4.10"]),
        (["v1.2.0", "v1.2.0-rc.1", "v1.2.0-rc.10", "v1.1.9"], ["v1.1.9", "v1.2.0-rc.1", "v1.2.0-rc.10", "v1.2.0"]),
        (["path:crds/4.2", "origin/release-4.1"], ["origin/release-4.1", "path:crds/4.2"]),
        (["main", "release-4.1"], ["main", "release-4.1"]),
        (["recording:a/mg-4.18.tar.gz", "release-4.9"], ["release-4.9", "recording:a/mg-4.18.tar.gz"]),
    ],
)
def test_order(names: list[str], order: list[str]) -> None:
    assert list(choose(names, (), None).names) == order


def test_the_order_given_is_shown() -> None:
    assert choose(["r-4.2", "main", "r-4.1"], (), None).notes == (
        "the releases are in the order given, oldest first: main names no version",
    )
    assert choose(["r-4.2", "r-4.1"], (), None).notes == ()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("1.2-dev-20260712", "1.2-alpha.1"),
        ("1.2-alpha.1", "1.2-ea.2"),
        ("1.2-ea.2", "1.2-beta.1"),
        ("1.2-beta.1", "1.2-rc.1"),
        ("1.2-rc.1", "1.2"),
        ("1.2.3", "1.10"),
        ("v1.2.0-2023.03.14", "v1.2.1"),
        ("v0.9.0-1.30", "v0.10.0-1.28"),
        ("4.9", "4.10"),
    ],
)
def test_versions(first: str, then: str) -> None:
    before, after = version_of(first), version_of(then)
    assert before is not None
    assert after is not None
    assert before < after


def test_one_version_in_two_spellings() -> None:
    assert version_of("v1.2") == version_of("release-1.2.0")
    assert version_of("HEAD~2") is None
    assert version_of("crds-4.2/manifests") is None


@pytest.mark.parametrize("names", [(), ("a",)])
def test_two_releases_are_needed(names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="two releases or more"):
        choose(names, (), None)


def test_no_release_twice() -> None:
    with pytest.raises(UsageError, match="b is named twice"):
        choose(["a", "b", "b"], (), None)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with a local branch release-4.9, and release-4.10, release-4.11 and main of its remote alone."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    for name, values in (("4.9", "A"), ("4.10", "AB"), ("4.11", "ABC")):
        commit(origin, {"crds/widget.yaml": crd(status(*values))})
        git(origin, "branch", f"release-{name}")
    git(origin, "branch", "release-next")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    git(tmp_path / "clone", "branch", "release-4.9", "origin/release-4.9")
    return tmp_path / "clone"


def test_branches_of_both_kinds(clone: Path) -> None:
    report = matrix(clone, "--branches", "release-4.*")
    assert [release["name"] for release in report["releases"]] == ["release-4.9", "release-4.10", "release-4.11"]
    assert [len(release["notes"]) for release in report["releases"]] == [0, 1, 1]  # read as those of origin
    assert (report["old"]["name"], report["new"]["name"]) == ("release-4.9", "release-4.11")


def test_branches_and_refs_together(clone: Path) -> None:
    report = matrix(clone, "origin/main", "--branches", "release-4.1*")
    assert [release["name"] for release in report["releases"]] == ["release-4.10", "release-4.11", "origin/main"]
    assert report["notes"] == ["the releases are in the order given, oldest first: origin/main names no version"]


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("origin/release-4.*", ["origin/release-4.9", "origin/release-4.10", "origin/release-4.11"]),
        ("remotes/origin/release-4.1*", ["origin/release-4.10", "origin/release-4.11"]),
        ("refs/remotes/*/release-4.1*", ["origin/release-4.10", "origin/release-4.11"]),
        ("refs/heads/release-4.*", ["release-4.9", "release-4.10", "release-4.11"]),
        ("*release-4.1*", ["release-4.10", "release-4.11"]),  # not once more with the remote's name
    ],
)
def test_globs_match_names_as_they_are_written(clone: Path, glob: str, names: list[str]) -> None:
    assert list(choose((), (glob,), str(clone)).names) == names


def test_branches_of_two_remotes(clone: Path) -> None:
    git(clone, "remote", "add", "team/up", str(clone.parent / "origin"))
    git(clone, "fetch", "-q", "team/up")
    assert list(choose((), ("team/up/release-4.1*",), str(clone)).names) == [
        "team/up/release-4.10",
        "team/up/release-4.11",
    ]
    assert list(choose((), ("*/release-4.10",), str(clone)).names) == ["origin/release-4.10", "team/up/release-4.10"]


def test_a_repository_without_branches(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(UsageError, match=r"no branch matches 'r\*'; the repository has no branch"):
        choose((), ("r*",), str(tmp_path))


@pytest.mark.parametrize(
    ("glob", "said"),
    [
        ("relaese-4.1*", "no branch matches 'relaese-4.1*'; there are release-4.1"),
        ("upstream/relaese-4.1*", "'upstream/relaese-4.1*'; there are release-4.1"),
        ("orign/release-4.1*", "'orign/release-4.1*'; there are origin/release-4.1"),
        ("zzz*", "'zzz*'; there are main, release-4.10, release-4.11, release-4.9 and 1 more"),
        ("release-*", "release-next matches 'release-*' and names no version"),
    ],
)
def test_globs_that_do_not_do(clone: Path, glob: str, said: str) -> None:
    ran = run("matrix", "--branches", glob, cwd=clone)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


# -- verdicts ---------------------------------------------


def test_every_verdict(tmp_path: Path) -> None:
    spec = root(spec=obj(mode=string("A", "B")), status=obj(phase=string("A")))
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A"), r_1_3=status("A", "B"), r_1_4=spec)
    report = matrix(tmp_path, *names)
    assert verdicts(report) == {
        ("1.1", "1.2"): "clean", ("1.1", "1.3"): "clean", ("1.1", "1.4"): "clean",
        ("1.2", "1.1"): "clean", ("1.2", "1.3"): "clean", ("1.2", "1.4"): "clean",
        ("1.3", "1.1"): "blocked", ("1.3", "1.2"): "blocked", ("1.3", "1.4"): "blocked",
        ("1.4", "1.1"): "clean", ("1.4", "1.2"): "clean", ("1.4", "1.3"): "clean",
    }  # fmt: skip
    assert report["summary"]["verdicts"] == {"blocked": 3, "unknown": 0, "at risk": 0, "clean": 9}
    blocked = cell(report, "1.3", "1.1")
    assert blocked["direction"] == "rollback"
    assert blocked["by_owner"] == {"status": {"error": 1, "warning": 0, "info": 0}}
    assert blocked["blocking_crds"] == ["widgets.example.com"]
    assert cell(report, "1.3", "1.4")["direction"] == "upgrade"


def test_a_skipped_release_is_no_sum_of_steps(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", "B"), r_1_3=status("A"))
    found = verdicts(matrix(tmp_path, *names, "--direction", "rollback"))
    assert found == {("1.2", "1.1"): "blocked", ("1.3", "1.1"): "clean", ("1.3", "1.2"): "clean"}


def test_since_counts_without_a_break(tmp_path: Path) -> None:
    values = {"r_1_1": "A", "r_1_2": "AB", "r_1_3": "AC", "r_1_4": "ABC", "r_1_5": "ABCD"}
    names = folders(tmp_path, **{name: status(*text) for name, text in values.items()})
    report = matrix(tmp_path, *names)

    def since(origin: str, target: str) -> dict[str, str]:
        (blocker,) = cell(report, origin, target)["blockers"]
        return {each["value"]: _last(each["since"]) for each in blocker["values"]}

    assert since("1.5", "1.1") == {"B": "1.4", "C": "1.3", "D": "1.5"}  # B went in 1.3: from there one could go back
    assert since("1.4", "1.1") == {"B": "1.4", "C": "1.3"}
    assert since("1.2", "1.1") == {"B": "1.2"}
    assert since("1.5", "1.2") == {"C": "1.3", "D": "1.5"}
    assert [_last(blocker["since"]) for blocker in cell(report, "1.5", "1.1")["blockers"]] == ["1.3"]


def test_since_of_what_is_about_no_value(tmp_path: Path) -> None:
    plain, cluster = crd(status("A")), crd(status("A"), scope="Cluster")
    for name, document in (("r-1.1", plain), ("r-1.2", cluster), ("r-1.3", cluster)):
        write(tmp_path / name / "widget.yaml", document)
    report = matrix(tmp_path, "./r-1.1", "./r-1.2", "./r-1.3")
    assert [_last(each["since"]) for each in cell(report, "1.3", "1.1")["blockers"]] == ["1.2"]
    assert [each["values"] for each in cell(report, "1.3", "1.1")["blockers"]] == [[]]
    assert cell(report, "1.1", "1.3")["verdict"] == "blocked"  # an upgrade that is refused, traced back as well
    assert [_last(each["since"]) for each in cell(report, "1.1", "1.3")["blockers"]] == ["1.2"]


BROKEN = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec: {group: example.com, names: {kind: Gadget, plural: gadgets}, scope: Cluster, versions: oops}
"""


def test_what_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A"), r_1_3=status("A", "B"))
    write(tmp_path / "r-1.2" / "gadget.yaml", BROKEN)
    ran = run("matrix", *names, "--format", "json", cwd=tmp_path)
    assert ran.code == 2
    assert verdicts(ran.report) == {
        ("1.1", "1.2"): "unknown", ("1.2", "1.1"): "unknown", ("1.2", "1.3"): "unknown",
        ("1.3", "1.2"): "blocked", ("1.3", "1.1"): "blocked", ("1.1", "1.3"): "clean",
    }  # fmt: skip
    (why,) = cell(ran.report, "1.3", "1.2")["unjudged"]  # blocked, and the rest is not judged
    assert why.startswith("./r-1.2: gadget.yaml:4: not a readable CRD")
    assert cell(ran.report, "1.3", "1.1")["unjudged"] == []
    assert [problem["file"] for problem in ran.report["summary"]["problems"]] == ["gadget.yaml"]
    text = run("matrix", *names, cwd=tmp_path).out
    assert "blocked 1/0?" in text
    assert "What was not judged\n  ./r-1.2: gadget.yaml:4: not a readable CRD" in text


def test_the_same_obstacle_in_two_releases_is_listed_for_both(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A"))
    for name in names:
        write(tmp_path / name / "gadget.yaml", BROKEN)
    report = run("matrix", *names, "--format", "json", cwd=tmp_path).report
    assert sorted(why.partition(":")[0] for why in cell(report, "1.2", "1.1")["unjudged"]) == names


def test_what_is_undecided_is_unknown(tmp_path: Path) -> None:
    odd = root(status=obj(phase=string("A", **{"x-odd": 1})))
    report = matrix(tmp_path, *folders(tmp_path, r_1_1=status("A"), r_1_2=odd), codes=(2,))
    assert set(verdicts(report).values()) == {"unknown"}
    (why,) = cell(report, "1.2", "1.1")["unjudged"]
    assert why.startswith("widgets.example.com/v1 status.phase: x-odd: ")


def test_nothing_in_common_is_unknown(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A"))
    write(tmp_path / "r-1.3" / "gadget.yaml", crd(status("A"), kind="Gadget"))
    write(tmp_path / "r-1.4" / "readme.yaml", "a: 1")
    ran = run("matrix", *names, "./r-1.3", "./r-1.4", "--direction", "rollback", "--format", "json", cwd=tmp_path)
    assert ran.code == 2
    assert "nothing to compare between ./r-1.1 and ./r-1.3" in ran.err
    assert verdicts(ran.report) == {
        ("1.2", "1.1"): "clean", ("1.3", "1.1"): "unknown", ("1.3", "1.2"): "unknown",
        ("1.4", "1.1"): "unknown", ("1.4", "1.2"): "unknown", ("1.4", "1.3"): "unknown",
    }  # fmt: skip
    assert cell(ran.report, "1.3", "1.1")["unjudged"] == ["./r-1.1 and ./r-1.3 have no CRD in common"]
    assert cell(ran.report, "1.4", "1.1")["unjudged"] == ["no CRD in ./r-1.4"]


# -- options, configuration, waivers ---------------------------------------------


@pytest.fixture
def three(tmp_path: Path) -> list[str]:
    """Three releases, each with a value more in status."""
    return folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", "B"), r_1_3=status("A", "B", "C"))


@pytest.mark.parametrize(
    ("args", "code"),
    [((), 1), (("--fail-on", "never"), 0), (("--direction", "upgrade"), 0), (("--owner", "spec"), 0),
     (("--ignore", "enum-value-added"), 0), (("--select", "enum-value-added"), 1)],
)  # fmt: skip
def test_exit_code(three: list[str], tmp_path: Path, args: tuple[str, ...], code: int) -> None:
    assert run("matrix", *three, *args, cwd=tmp_path).code == code


def test_a_blocked_kind_is_named_once_for_all_its_versions(tmp_path: Path) -> None:
    """Gatekeeper: two versions of a provider gained a status. A CRD that one release lacks is one."""
    for name, more in (("1.0", {"subresources": {}}), ("1.1", {"subresources": {"status": {}}})):
        sides = [version(root(status=obj(p=string())), each, storage=each == "v1") for each in ("v1", "v2")]
        write(tmp_path / name / "w.yaml", crd(versions=[{**each, **more} for each in sides]))
    write(tmp_path / "1.0" / "g.yaml", crd(root(), kind="Gadget"))
    out = run("matrix", "1.0", "1.1", cwd=tmp_path).out
    assert "1.1: BLOCKED to 1.0 by Widget\n" in out
    assert "up to 1 CRD of a pair is in one release only" in " ".join(out.split())


def test_a_cell_is_what_diff_reports(three: list[str], tmp_path: Path) -> None:
    write(tmp_path / "r-1.2" / "chart.yaml", "kind: {{ .Kind }}")
    write(tmp_path / "r-1.3" / "gadget.yaml", crd(status("A"), kind="Gadget"))
    report = matrix(tmp_path, *three)
    for older, newer in combinations(three, 2):
        for direction, ways in (("rollback", (newer, older)), ("upgrade", (older, newer))):
            alone = run("diff", older, newer, "--direction", direction, "--format", "json", cwd=tmp_path).report
            found = whole(report, cell(report, *map(_last, ways)))
            same = set(alone) - {"format", "tool", "command"}
            assert {name: found[name] for name in same} == {name: alone[name] for name in same}
    rows = [*report["findings"], *report["locations"], *report["without_effect"], *report["skipped"]]
    assert len({json.dumps(row) for row in rows}) == len(rows) > 5


def test_configured_severity_and_waivers(three: list[str], tmp_path: Path) -> None:
    waiver = {
        "crd": "widgets.example.com", "version": "v1", "path": "status.phase", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "reason": "nobody writes it",
    }  # fmt: skip
    write(tmp_path / ".crdcompat-waivers.yaml", {"waivers": [waiver]})
    config = write(tmp_path / ".crdcompat.yaml", {"fail_on": "error"})
    report = matrix(tmp_path, *three, "--config", str(config))
    assert cell(report, "1.2", "1.1")["verdict"] == "clean"
    (blocker,) = cell(report, "1.3", "1.1")["blockers"]
    assert [(each["value"], _last(each["since"])) for each in blocker["values"]] == [("C", "1.3")]
    assert cell(report, "1.3", "1.1")["summary"]["findings"]["waived"] == 1
    write(config, {"severities": [{"rule": "enum-value-added", "severity": "warning"}]})
    write(tmp_path / ".crdcompat-waivers.yaml", {"waivers": []})
    assert set(verdicts(matrix(tmp_path, *three, "--config", str(config))).values()) == {"at risk", "clean"}


def test_a_crd_that_some_releases_lack(three: list[str], tmp_path: Path) -> None:
    write(tmp_path / "r-1.2" / "gadget.yaml", crd(status("A"), kind="Gadget"))
    write(tmp_path / "r-1.3" / "gadget.yaml", crd(status("A"), kind="Gadget"))
    ran = run("matrix", *three, "--crd", "gadgets.example.com", "--format", "json", cwd=tmp_path)
    assert ran.code == 0
    assert verdicts(ran.report)["1.3", "1.2"] == verdicts(ran.report)["1.1", "1.3"] == "clean"
    (added,) = whole(ran.report, cell(ran.report, "1.3", "1.1"))["findings"]
    assert (added["rule"], added["severity"], added["crd"]) == ("crd-added", "info", "gadgets.example.com")
    nowhere = run("matrix", *three, "--crd", "nowhere.example.com", cwd=tmp_path)
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "no CRD of both sides is named nowhere.example.com" in nowhere.err


@pytest.mark.parametrize("name", ["sarif", "junit", "gitlab"])
def test_formats_that_cannot_show_it(name: str) -> None:
    ran = run("matrix", "no-such", "nor-this", "--format", f"{name}=out")
    assert ran.code == 2
    assert f"{name} cannot show a matrix of releases; what can: github, " in ran.err
    assert "markdown, text" in ran.err


# -- the cluster of a recording ---------------------------------------------


def widget(name: str, phase: str, **more: Any) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": "n", "uid": name},
            "status": {"phase": phase}, **more}  # fmt: skip


def cluster_version(version: str) -> Json:
    return {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
            "status": {"desired": {"version": version}}}  # fmt: skip


def replayed(top: Path, names: list[str], objects: list[Json], *args: str, code: int | None = None) -> Json:
    recorded = write(top / "objects.json", *objects) if len(objects) > 1 else write(top / "objects.yaml", *objects)
    ran = run("matrix", *names, "--direction", "upgrade", "--objects", recorded, *args, "--format", "json", cwd=top)
    assert code is None or ran.code == code
    return ran.report["cluster"]  # type: ignore[no-any-return]


def towards(cluster: Json) -> dict[str, str]:
    return {_last(target["to"]): target["verdict"] for target in cluster["targets"]}


def test_how_far_back_a_cluster_can_go(three: list[str], tmp_path: Path) -> None:
    cluster = replayed(tmp_path, three, [widget("a", "A"), widget("b", "B")], code=1)
    assert towards(cluster) == {"1.2": "clean", "1.1": "blocked"}
    assert (cluster["version"], cluster["from"]) == (None, "./r-1.3")
    assert cluster["notes"] == [
        "the cluster is taken to run ./r-1.3: no ClusterVersion names its release (--from names another)"
    ]
    (cause,) = cluster["targets"][1]["summary"]["causes"]
    assert (cause["path"], cause["values"]) == ("status.phase", ["B"])
    assert [item["object"]["name"] for item in cluster["targets"][1]["objects"]] == ["b"]  # a is accepted everywhere
    text = run("matrix", *three, "--objects", tmp_path / "objects.json", cwd=tmp_path).out
    assert "This cluster can go back to ./r-1.2; it cannot go back to ./r-1.1." in text
    assert '\n    Widget/n/b: status.phase: "B"\n' in text


def test_a_cluster_older_than_all_releases(tmp_path: Path) -> None:
    names = folders(tmp_path, release_4_13=status("A"), release_4_14=status("A", "B"))
    write(tmp_path / "o.yaml", cluster_version("4.12.16"), widget("a", "A"))
    reported = "None of the releases is older: there is none to go back to."
    for form in ("text", "markdown", "html", "json"):
        ran = run("matrix", *names, "--objects", tmp_path / "o.yaml", "--format", form, cwd=tmp_path)
        assert ran.code == 1 and not ran.err
        assert form == "json" or reported in ran.out


def test_a_crd_that_no_common_context_has_is_not_judged(tmp_path: Path) -> None:
    key = "release.openshift.io/feature-set"
    for name, mine in (("r-1.1", "Default"), ("r-1.2", "TechPreviewNoUpgrade")):
        write(tmp_path / name / "widget.yaml", crd(status("A"), annotations={key: mine}))
        for each in ("Default", "TechPreviewNoUpgrade"):
            write(tmp_path / name / f"{each}.yaml", crd(status("A"), kind="Gadget", annotations={key: each}))
    report = matrix(tmp_path, "./r-1.1", "./r-1.2", codes=(2,))
    assert verdicts(report) == {("1.1", "1.2"): "blocked", ("1.2", "1.1"): "unknown"}
    assert {reason for each in report["cells"] for reason in each["unjudged"]} == {
        "widgets.example.com: no context has it on both sides"
    }
    ran = run("diff", "./r-1.1", "./r-1.2", cwd=tmp_path)
    assert ran.code == 2
    assert ran.err == "crdcompat: not compared: widgets.example.com: no context has it on both sides\n"
    assert "not compared: widgets.example.com: no context has it on both sides" in ran.out
    assert "The schemas are the same" not in ran.out


def test_channels_that_differ_name_the_option_that_compares_them(tmp_path: Path) -> None:
    for name, channel, kind in (
        ("old", "standard", "Widget"),
        ("new", "experimental", "Widget"),
        ("new", "trial", "Gadget"),
    ):
        notes = {"gateway.networking.k8s.io/channel": channel}
        write(tmp_path / name / f"{kind}.yaml", crd(status("A"), kind=kind, annotations=notes))
    hint = "--context standard=experimental"
    ran = run("diff", "./old", "./new", cwd=tmp_path)
    told = f"crdcompat: not compared: widgets.example.com: no context has it on both sides ({hint} compares two)\n"
    assert (ran.code, ran.err) == (2, told)
    assert run("diff", "./old", "./new", *hint.split(), cwd=tmp_path).code == 0


def test_a_cluster_is_judged_by_what_it_runs(tmp_path: Path) -> None:
    """Its ClusterVersion comes last: what it runs, and so what wrote its objects, is known only then."""
    names = folders(tmp_path, release_4_13=status("A"), release_4_14=status("A"), release_4_16=status("A"))
    write(tmp_path / "release-4.14" / "gadget.yaml", crd(status("A"), kind="Gadget"))
    gadget = {**widget("g", "A"), "kind": "Gadget"}
    recorded = [widget("a", "A"), gadget, cluster_version("4.14.3")]
    write(tmp_path / "o.json", *recorded)
    reported = [
        run("matrix", *names, "--objects", "o.json", *more, "--format", "json", cwd=tmp_path).report["cluster"]
        for more in ((), ("--from", "./release-4.14"))
    ]
    assert reported[0] == reported[1]
    assert towards(reported[0]) == {"4.13": "unknown"}
    ran = run("matrix", *names, "--objects", "-", cwd=tmp_path, stdin=(tmp_path / "o.json").read_bytes())
    assert (ran.code, "--from ./release-4.14" in ran.err) == (2, True)


def test_waived_findings_are_counted(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", "B"))
    waiver = {"crd": "widgets.example.com", "version": "v1", "path": "status.phase", "rule": "enum-value-added",
              "direction": "rollback", "values": ["B"], "reason": "x"}  # fmt: skip
    (tmp_path / ".crdcompat-waivers.yaml").write_text(json.dumps({"waivers": [waiver]}))
    out = run("matrix", *names, cwd=tmp_path).out
    assert "2 releases: 1 rollback (1 clean), 1 upgrade (1 clean); 1 finding waived, and not counted.\n" in out


def test_what_is_lost_is_a_risk(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", spec=obj(n=string())))
    assert towards(replayed(tmp_path, names, [widget("a", "A", spec={"n": "x"})], code=0)) == {"1.1": "at risk"}


def test_what_is_lost_is_named(tmp_path: Path) -> None:
    """By field, of all objects that lose it; what is accepted as it is, or never accepted, loses none."""
    more = obj(tags=array(obj(key=string(), value=string())), n=string())
    names = folders(
        tmp_path, r_1_1=status("A", spec=obj(tags=array(obj(key=string())))), r_1_2=status("A", "B", spec=more)
    )
    tags = [{"key": "k", "value": "v"}, {"key": "k", "value": "w"}]
    objects = [
        widget("a", "A", spec={"n": "x", "tags": tags}),
        widget("b", "A", spec={"tags": tags}),
        widget("c", "A", spec={"tags": [{"key": "k"}]}),
        widget("d", "A", spec={"n": "x", "tags": "no list"}),
    ]
    (target,) = replayed(tmp_path, names, objects)["targets"]
    assert [(loss["kind"], loss["path"], loss["objects"], loss["example"]) for loss in target["lost"]] == [
        ("Widget", "spec.tags[*].value", 2, "Widget/n/a"),
        ("Widget", "spec.n", 1, "Widget/n/a"),
    ]
    for form in ("text", "markdown", "html"):
        out = run("matrix", *names, "--objects", tmp_path / "objects.json", "--format", form, cwd=tmp_path).out
        for line in ("2 Widgets lose spec.tags[*].value", "Widget/n/a loses spec.n"):
            assert f"{line}<" in out if form == "html" else f"  {line}\n" in out, form


def test_losses_of_kinds_with_one_name_are_listed_apart(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", spec=obj(n=string())))
    for name, more in (("r-1.1", {}), ("r-1.2", {"spec": obj(n=string())})):
        write(tmp_path / name / "other.yaml", crd(status("A", **more), group="example.org"))
    item = widget("a", "A", spec={"n": "x"})
    write(tmp_path / "o.json", item, {**item, "apiVersion": "example.org/v1"})
    out = run("matrix", *names, "--objects", tmp_path / "o.json", cwd=tmp_path).out
    assert "    Widget/n/a loses spec (of widgets.example.com)\n" in out
    assert "    Widget/n/a loses spec (of widgets.example.org)\n" in out


def test_what_was_not_replayed_makes_it_unknown(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", "Z"))
    write(tmp_path / "r-1.2" / "gadget.yaml", crd(status("A"), kind="Gadget"))
    gadget = {**widget("g", "A"), "kind": "Gadget"}
    cluster = replayed(tmp_path, names, [widget("a", "A"), gadget], code=2)
    assert towards(cluster) == {"1.1": "unknown"}
    assert cluster["targets"][0]["unjudged"] == ["./r-1.1 has no CRD for it: its API answers 404 there (Gadget/n/g)"]
    # With something rejected as well it is blocked; what neither release defines is outside the question.
    assert towards(replayed(tmp_path, names, [widget("a", "Z"), gadget], code=1)) == {"1.1": "blocked"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "p"}}
    assert towards(replayed(tmp_path, names, [widget("a", "A"), pod], code=0)) == {"1.1": "clean"}
    alone = replayed(tmp_path, names, [pod])
    assert towards(alone) == {"1.1": "unknown"}
    assert alone["targets"][0]["unjudged"] == [
        "nothing was recorded of 1 kind with findings: Widget",
        "no object of a kind that it defines was recorded",
    ]


@pytest.mark.parametrize(
    ("version", "origin", "targets"),
    [
        ("4.3.7", None, ["4.2", "4.1"]),
        ("4.2.0-rc.1", "./r-4.2", ["4.1"]),
        ("4.2.5", "./r-4.2", ["4.1"]),
        ("4.1.1", "./r-4.1", []),
        ("4.0.9", None, []),
    ],
)
def test_what_a_cluster_runs(tmp_path: Path, version: str, origin: str | None, targets: list[str]) -> None:
    names = folders(tmp_path, r_4_1=status("A"), r_4_2=status("A"))
    cluster = replayed(tmp_path, names, [widget("a", "A"), cluster_version(version)])
    assert (cluster["version"], cluster["from"], list(towards(cluster))) == (version, origin, targets)
    assert bool(cluster["notes"]) is not bool(targets)


def test_the_release_of_a_cluster_can_be_given(three: list[str], tmp_path: Path) -> None:
    cluster = replayed(tmp_path, three, [widget("a", "A")], "--from", "./r-1.2")
    assert (cluster["from"], list(towards(cluster)), cluster["notes"]) == ("./r-1.2", ["1.1"], [])
    ran = run("matrix", *three, "--objects", tmp_path / "objects.yaml", "--from", "v9", cwd=tmp_path)
    assert ran.code == 2
    assert "v9 is none of the releases: ./r-1.1, ./r-1.2, ./r-1.3" in ran.err


def test_no_objects_at_all(three: list[str], tmp_path: Path) -> None:
    ran = run("matrix", *three, "--objects", write(tmp_path / "none.yaml", "# nothing\n"), cwd=tmp_path)
    assert ran.code == 2
    assert "no objects in " in ran.err


# -- how it is shown ---------------------------------------------

TEXT = """\
from \\ to  ./r-1.1      ./r-1.2      ./r-1.3
./r-1.1    -            clean        clean
./r-1.2    blocked 1/0  -            clean
./r-1.3    blocked 1/0  blocked 1/0  -
From the row to the column: errors/warnings.

What blocks a rollback, worst first
Since R: each rollback from R or newer to a release before R.
widgets.example.com/v1  enum-value-added, write-rejected
  status.phase
    since ./r-1.2: "B"
    since ./r-1.3: "C"

./r-1.3: BLOCKED to ./r-1.2 by Widget status.phase
./r-1.2: BLOCKED to ./r-1.1 by Widget status.phase
3 releases: 3 rollbacks (3 blocked), 3 upgrades (3 clean).
Each pair is compared in the CRDs that both releases have (1).
"""


def test_text(three: list[str], tmp_path: Path) -> None:
    assert run("matrix", *reversed(three), cwd=tmp_path).out == TEXT


def test_long_paths_are_cut_to_where_they_differ(tmp_path: Path) -> None:
    """In the grid of every format, whose columns they would widen; elsewhere they are whole."""
    long = [f"path:{tmp_path}/somewhere-far-away/{case}/crds" for case in ("r-1.1", "r-1.2")]
    for name, values in zip((*long, "./r-1.3"), ("A", "AB", "AB"), strict=True):
        write(tmp_path / name.removeprefix("path:") / "widget.yaml", crd(status(*values)))
    outputs = {
        form: run("matrix", *long, "./r-1.3", "--format", form, cwd=tmp_path).out
        for form in ("text", "markdown", "html")
    }
    assert outputs["text"].splitlines()[:4] == [
        "from \\ to   r-1.1/crds   r-1.2/crds  ./r-1.3",
        "r-1.1/crds  -            clean       clean",
        "r-1.2/crds  blocked 1/0  -           clean",
        "./r-1.3     blocked 1/0  clean       -",
    ]
    assert f'    since {long[1]}: "B"\n' in outputs["text"]
    head = next(line for line in outputs["markdown"].splitlines() if line.startswith("| from"))
    assert re.findall("`(.*?)`", head) == ["r-1.1/crds", "r-1.2/crds", "./r-1.3"]
    heads = re.findall(r'<th scope="col">(.*?)</th>', outputs["html"])
    assert [re.sub("<.*?>", "", each) for each in heads] == ["to r-1.1/crds", "to r-1.2/crds", "to ./r-1.3"]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["recording:a-long-way/off/mg.tar.gz", "release-4.1"], ["mg.tar.gz", "release-4.1"]),
        (["recording:a-long-way/off/mg.tar.gz", "recording:mg.tar.gz"], ["off/mg.tar.gz", "recording:mg.tar.gz"]),
        (["path:/a-long-way/off/release-4.1/", "release-4.1"], ["off/release-4.1", "release-4.1"]),
        (["path:a-long-way/off/r-4.1", "recording:a-long-way/off/r-4.1"], None),
        (["release-of-a-name-that-is-no-path", "release-4.1"], None),
    ],
)
def test_labels(names: list[str], shown: list[str] | None) -> None:
    report = MatrixReport(tuple(Release(name, None, None) for name in names), ())
    assert list(labels(report).values()) == (shown or names)


def test_text_quiet_and_verbose(three: list[str], tmp_path: Path) -> None:
    write(tmp_path / "r-1.2" / "gadget.yaml", BROKEN)
    usual, quiet = (run("matrix", *three, *more, cwd=tmp_path).out for more in ((), ("-q",)))
    assert "\nWhat was not judged\n" in usual
    assert "\nWhat was not judged\n" not in quiet
    (tmp_path / "r-1.2" / "gadget.yaml").unlink()
    assert run("matrix", *three, "-q", cwd=tmp_path).out == TEXT  # what blocks are errors: they stay
    more = run("matrix", *three, "-v", cwd=tmp_path).out
    assert "./r-1.3 -> ./r-1.1: blocked, 1 error, 0 warnings, 0 info" in more


def test_how_far_back_each_release_can_go(tmp_path: Path) -> None:
    """The rollbacks that work, nearest first, then the first that does not; siblings are folded."""

    def made(values: str, far: str) -> Json:
        return root(status=obj(phase=string(*values), known=string(*values), far=obj(off=string(*far))))

    names = folders(tmp_path, r_1_1=made("A", "A"), r_1_2=made("AB", "A"), r_1_3=made("AB", "A"), r_1_4=made("A", "AC"))
    lines = run("matrix", *names, cwd=tmp_path).out.splitlines()
    assert lines[-5:-2] == [
        f"{names[3]}: BLOCKED to {names[2]} by Widget status.far.off",
        f"{names[2]}: back to {names[1]}; BLOCKED to {names[0]} by Widget status.{{known,phase}}",
        f"{names[1]}: BLOCKED to {names[0]} by Widget status.{{known,phase}}",
    ]
    upgrades = run("matrix", *names, "--direction", "upgrade", cwd=tmp_path).out
    assert "BLOCKED to" not in upgrades


def test_a_long_matrix_begins_with_its_verdict(three: list[str], tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        report = run_matrix(choose(three, (), None), Config(), Accepted(), MatrixOptions())
    page = page_of(report, Style())
    lines = list(page_text(page, Style(height=5)))
    assert lines[:4] == lines[-4:] and lines[4] == ""
    assert lines[5:] == list(page_text(page, Style()))


def test_ways_that_are_not_all_over_a_release_are_named(tmp_path: Path) -> None:
    names = folders(tmp_path, r_1_1=status("A"), r_1_2=status("A", "B"), r_1_3=status("A"))
    assert '    since ./r-1.2: "B" (only ./r-1.2 -> ./r-1.1)\n' in run("matrix", *names, cwd=tmp_path).out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_grid_keeps_to_the_width(tmp_path: Path, width: int) -> None:
    names = [f"path:{tmp_path}/release-1.{number}" for number in range(12)]
    for number, name in enumerate(names):
        write(Path(name.removeprefix("path:")) / "w.yaml", crd(status(*"ABCDEFGHIJKLMN"[: number + 1])))
    report = run_matrix(choose(names, (), None), Config(), Accepted(), MatrixOptions())
    style = Style(width=width)
    lines = list(finish(blocks_text(page_of(report, style).body[:1], style)))
    assert max(map(len, lines)) <= width
    assert sum(line.count("1/0") for line in lines) == 66  # every pair's rollback is there, in however many pieces


def test_markdown_and_json_hold_hostile_names(tmp_path: Path) -> None:
    odd = "a|b<script>`\x1b[2J"
    for name, values in ((f"{odd}-1.1", "A"), (f"{odd}-1.2", ["A", "</code>|\x1b]"])):
        write(tmp_path / name / "w.yaml", crd(status(*values)))
    names = [f"./{odd}-1.{number}" for number in (1, 2)]
    outputs = {name: run("matrix", *names, "--format", name, cwd=tmp_path).out for name in ("text", "markdown", "json")}
    assert "\x1b" not in "".join(outputs.values())
    tokens = MarkdownIt().enable("table").parse(outputs["markdown"])
    inline = [child for token in tokens for child in token.children or ()]
    assert not any("<script>" in each.content for each in (*tokens, *inline) if each.type.startswith(("html", "text")))
    table = [line for line in outputs["markdown"].splitlines() if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table] == [4, 4, 4, 4]
    assert [item["name"] for item in json.loads(outputs["json"])["releases"]] == names


def test_under_github_actions(three: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    ran: Run = run("matrix", *three, cwd=tmp_path)
    assert ran.code == 1
    (error,) = [line for line in ran.out.splitlines() if line.startswith("::error")]
    assert "title=enum-value-added (rollback) blocks 3 ways::" in error
    assert 'since ./r-1.2: "B"%0Asince ./r-1.3: "C"' in error
    assert (
        "## crdcompat: `3 releases: 3 rollbacks (3 blocked), 3 upgrades (3 clean)`"
        in (tmp_path / "summary").read_text()
    )


def test_the_same_twice(three: list[str], tmp_path: Path) -> None:
    first, second = (run("matrix", *three, "--format", "json", cwd=tmp_path).out for _ in range(2))
    assert first == second


def test_equal_crds_without_a_schema_are_clean(tmp_path: Path) -> None:
    """An example CRD without a schema, the same in all releases, leaves no cell unknown."""
    bare = crd(versions=[version(None)], kind="Example")
    for name in ("r-4.9", "r-4.10"):
        write(tmp_path / name / "widget.yaml", crd(status("A")))
        write(tmp_path / name / "example.yaml", bare)
    assert set(verdicts(matrix(tmp_path, "./r-4.9", "./r-4.10")).values()) == {"clean"}

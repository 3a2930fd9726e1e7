"""How much work is done, counted: what must not grow with the tree, and what is to be done once. Never by the clock."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, commit, crd, git, obj, root, run, string, write
from operations import as_new_process


def done(work: Counter[str], *names: str) -> dict[str, int]:
    """What was done of these since the last time anybody asked."""
    found = {name: work[name] for name in names}
    work.clear()
    return found


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    git(made, "init", "--quiet", "--initial-branch=main")
    return made


def widget(*phases: str, kind: str = "Widget", text: str = "", **more: Json) -> Json:
    schema = root(spec=obj(a=string(), **more), status=obj(p=string(*phases)))
    return crd({**schema, "description": text}, kind=kind)


def others(count: int) -> Mapping[str, Any]:
    return {f"others/{number}.yaml": widget("A", kind=f"Other{'x' * number}") for number in range(1, count + 1)}


# -- check ------------------------------------------------------------------------------------


def _staged(repo: Path, size: int) -> None:
    commit(repo, {**others(size), "w.yaml": widget("A")})
    write(repo / "w.yaml", widget("A", "B"))
    git(repo, "add", "--all")


def test_a_check_of_one_crd_does_the_same_in_a_tree_of_any_size(repo: Path, work: Counter[str]) -> None:
    counts = []
    for size in (2, 40):
        _staged(repo, size)
        as_new_process()
        work.clear()
        assert run("check", "--base", "HEAD", cwd=repo).code == 1
        counts.append(dict(work))
        git(repo, "commit", "--quiet", "--message", "back", "--all")
    assert counts[0] == counts[1]
    assert counts[0]["streams parsed"] == 2  # the file before and after
    assert counts[0]["blobs read"] <= 7
    assert counts[0]["git processes"] <= 15


def test_a_target_costs_what_the_change_touches(repo: Path, work: Counter[str]) -> None:
    """However much else differs from the target."""
    counts = []
    for size in (2, 40):
        git(repo, "checkout", "--quiet", "-B", f"target{size}")
        changed = {path: {**made, "x-target": f"{size}"} for path, made in others(size).items()}
        commit(repo, {**changed, "w.yaml": widget("Z")})
        git(repo, "checkout", "--quiet", "-B", f"main{size}")
        _staged(repo, size)
        as_new_process()
        work.clear()
        assert run("check", "--base", "HEAD", cwd=repo).code == 1
        names = "streams parsed", "blobs read", "schemas compared", "nodes compared", "changes proved", "CRDs validated"
        without = done(work, *names)
        assert run("check", "--base", "HEAD", "--target", f"target{size}", cwd=repo).code == 1
        one = done(work, *without)
        git(repo, "commit", "--quiet", "--message", "back", "--all")
        counts.append({name: one[name] - without[name] for name in without})
    assert counts[0] == counts[1]
    assert counts[0]["streams parsed"] == 1  # the target's file of the touched CRD
    assert counts[0]["CRDs validated"] <= 2  # the target's, and the head's on its server: the others are known


def test_what_is_known_is_not_searched_again(repo: Path, work: Counter[str]) -> None:
    """The second time git searches nothing, however much there is; and what came since is read by itself."""
    _staged(repo, 40)
    found = []
    for _ in range(3):
        as_new_process()
        work.clear()
        assert run("check", "--base", "HEAD", cwd=repo).code == 1
        found.append(done(work, "blobs read", "git processes"))
    cold, warm, again = found
    assert again == warm == {**cold, "git processes": cold["git processes"] - 1}
    git(repo, "commit", "--quiet", "--message", "one more")
    write(repo / "others/1.yaml", widget("A", "B", kind="Otherx"))
    git(repo, "add", "--all")
    for more in (1, 0):  # the file of the last commit has become one that does not differ
        as_new_process()
        work.clear()
        assert run("check", "--base", "HEAD", cwd=repo).code == 1
        assert done(work, "blobs read", "git processes") == {**warm, "blobs read": warm["blobs read"] + more}


def test_a_check_that_touches_no_crd_parses_nothing(repo: Path, work: Counter[str]) -> None:
    commit(repo, {**others(20), "README": "a"})
    write(repo / "README", "b")
    git(repo, "add", "--all")
    work.clear()
    assert run("check", "--base", "HEAD", cwd=repo).code == 0
    processes = work.pop("git processes")
    assert not +work
    # What its base names, whether it is staged, where it left its base, which files and submodules it changes, the
    # index and its place, and links in the base.
    assert processes == 7


def test_reading_grows_with_what_differs(repo: Path, work: Counter[str]) -> None:
    found = []
    commit(repo, others(20))
    for changed in (2, 4, 8):
        for number in range(1, changed + 1):
            write(repo / f"others/{number}.yaml", widget("A", f"B{number}", kind=f"Other{'x' * number}"))
        git(repo, "add", "--all")
        work.clear()
        run("check", "--base", "HEAD", cwd=repo)
        found.append(done(work, "schemas compared", "nodes compared", "changes proved"))
        git(repo, "reset", "--quiet", "--hard")
    for name in found[0]:
        assert [counts[name] for counts in found] == [found[0][name] * factor for factor in (1, 2, 4)], name


# -- diff -------------------------------------------------------------------------------------


def test_equal_files_are_read_and_parsed_once(repo: Path, work: Counter[str]) -> None:
    commit(repo, {**others(5), "copy/of.yaml": widget("A"), "w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    work.clear()
    run("diff", "old", "main", cwd=repo)
    assert done(work, "blobs read", "streams parsed", "schemas compared") == {
        "blobs read": 5 + 1 + 1 + 2,  # the copy is w.yaml's blob, too; both sides again, for the lines of the error
        "streams parsed": 5 + 1 + 1,
        "schemas compared": 1,
    }


def test_equal_subtrees_are_not_entered(tmp_path: Path, work: Counter[str]) -> None:
    deep = {f"m{number}": obj(**{f"n{n}": string() for n in range(20)}) for number in range(20)}
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", widget(*phases, **deep))
    run("diff", tmp_path / "old", tmp_path / "new")
    assert work["nodes compared"] == 1 + 5 + 1  # the root, its members, and status.p


def test_variants_that_differ_in_their_metadata_alone_are_compared_and_proved_once(
    tmp_path: Path, work: Counter[str]
) -> None:
    counts = []
    for variants in (1, 6):
        for side, phases in (("old", "A"), ("new", "AB")):
            for number in range(variants):
                sets = {"release.openshift.io/feature-set": f"Set{number}"}
                made = widget(*phases)
                made["metadata"]["annotations"] = sets
                write(tmp_path / f"{variants}" / side / f"w{number}.yaml", made)
        work.clear()
        sides = (tmp_path / f"{variants}" / side for side in ("old", "new"))
        report = run("diff", *sides, "--format", "json", "--no-cache").report
        assert {len(finding["contexts"]) for finding in report["findings"]} == {variants}
        names = ("schemas compared", "nodes compared", "changes proved", "objects judged", "streams parsed")
        counts.append(done(work, *names))
    assert counts[0].pop("streams parsed") * 6 == counts[1].pop("streams parsed")
    assert counts[0] == counts[1]


def test_lines_are_found_without_reading_again(tmp_path: Path, work: Counter[str]) -> None:
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", widget(*phases))
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    assert all(place["line"] for finding in report["findings"] for place in finding["locations"])
    assert work["streams parsed"] == 2


def test_a_pair_of_patterns_is_compared_once_either_way(tmp_path: Path, work: Counter[str]) -> None:
    for side, pattern in (("old", "^(Aa|Bb)$"), ("new", "^(Aa|Bb|Cc)$")):
        many = {f"f{number}": {"type": "string", "pattern": pattern} for number in range(8)}
        write(tmp_path / side / "w.yaml", widget("A", **many))
    run("diff", tmp_path / "old", tmp_path / "new")
    assert work["patterns compared"] <= 4


def test_a_rule_is_compiled_once_wherever_it_stands(tmp_path: Path, work: Counter[str]) -> None:
    judged = {"rule": "self.size() < 77 && self != 'compiled once'", "message": "no"}
    for side, length in (("old", 20), ("new", 10)):
        many = {
            f"f{number}": {"type": "string", "maxLength": length, "x-kubernetes-validations": [judged]}
            for number in range(8)
        }
        write(tmp_path / side / "w.yaml", widget("A", **many))
    run("diff", tmp_path / "old", tmp_path / "new")
    assert work["rules compiled"] == 1


def test_only_rules_that_are_needed_are_read(tmp_path: Path, work: Counter[str]) -> None:
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", widget(*phases))
    run("diff", tmp_path / "old", tmp_path / "new")
    assert work["files of rules read"] == 1


# -- what is imported ---------------------------------------------------------------------------

_HEAVY = {"yaml", "git", "jsonschema", "deepdiff", "rich", "jinja2", "kubernetes", "cel_expr_python", "re2"}
_TELL = """
import atexit, sys
atexit.register(lambda: print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr))
from crdcompat.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("args", "changed", "heavy"),
    [
        (("--version",), {}, set()),
        (("check", "--base", "HEAD"), {"README": "b"}, set()),
        (("check", "--base", "HEAD"), {"w.yaml": {**widget("A"), "status": {}}}, {"yaml"}),
        (("check", "--base", "HEAD"), {"w.yaml": widget("A", "B")}, {"yaml", "git"}),
        (("diff", "HEAD", "index:"), {"w.yaml": widget("A", "B")}, {"yaml"}),
    ],
    ids=["version", "no CRD changed", "no finding", "a finding, whose line is blamed", "diff"],
)
def test_nothing_is_imported_that_is_not_used(
    repo: Path, args: tuple[str, ...], changed: Mapping[str, Any], heavy: set[str]
) -> None:
    commit(repo, {**others(2), "w.yaml": widget("A")})
    for name, data in changed.items():
        write(repo / name, data)
    git(repo, "add", "--all")
    ran = subprocess.run([sys.executable, "-c", _TELL, *args], cwd=repo, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    assert {*ran.stderr.splitlines()[-1].split()} & _HEAVY == heavy


# -- recorded objects -------------------------------------------------------------------------


def test_objects_of_crds_that_nobody_asks_about_are_not_judged(tmp_path: Path, work: Counter[str]) -> None:
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.json", widget(*phases))
        write(tmp_path / side / "o.json", widget(*phases, kind="Other"))
    held = [
        {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": f"{number}", "namespace": "n"},
         "status": {"p": "B"}}
        for kind in ("Widget", "Other") for number in range(20)
    ]  # fmt: skip
    write(tmp_path / "objects.json", {"apiVersion": "v1", "kind": "List", "items": held})
    command = ("simulate", "old", "new", "--objects", "objects.json", "--no-cache", "--format", "json")
    judged = []
    for asked in ((), ("--crd", "others.example.com")):
        work.clear()
        report = run(*command, *asked, cwd=tmp_path).report
        judged.append((len(report["objects"]), work["objects replayed"]))
    (every, of_every), (asked_for, of_asked) = judged
    assert (every, asked_for) == (40, 20)
    assert 0 < of_asked == of_every / 2

"""What the program finds out about releases and servers in a repository, in each layout that clones have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from changes import check, widget
from helpers import Json, commit, crd, git, load_yaml, obj, root, run, string, write

from crdcompat.config.configuration import Config
from crdcompat.config.configuration_file import read_config
from crdcompat.config.found import server_of, with_found
from crdcompat.config.release_lines import Line
from crdcompat.crds.context import FEATURE_SET
from crdcompat.sources.branches import is_release_branch

_CI = ("PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PULL_BASE_SHA", "PULL_BASE_REF", "GITHUB_BASE_REF")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_CI, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


def manifest(*phases: str, openshift: bool = True) -> Json:
    made = crd(root(spec=obj(a=string()), status=obj(p=string(*phases))))
    if openshift:
        made["metadata"]["annotations"] = {FEATURE_SET: "Default"}
    return made


class History:
    """A repository whose main branch was left by two releases; a commit is known by the phase that it adds."""

    def __init__(
        self, folder: Path, main: str = "master", releases: tuple[str, str] = ("release-4.14", "release-4.15"),
        *, openshift: bool = True,
    ) -> None:  # fmt: skip
        self.path, self.main, self.phases, self.openshift = folder, main, ["A"], openshift
        folder.mkdir()
        git(folder, "init", "--quiet", f"--initial-branch={main}")
        git(folder, "config", "user.email", "a@example.com")
        git(folder, "config", "user.name", "A")
        for number, release in enumerate(releases):
            self.grow()
            git(folder, "checkout", "--quiet", "-b", release)
            commit(folder, {f"of-{number}.txt": "a commit of its own"})
            git(folder, "checkout", "--quiet", main)
        self.grow()

    def grow(self, **files: str) -> str:
        self.phases.append(chr(ord(self.phases[-1]) + 1))
        made = manifest(*self.phases, openshift=self.openshift)
        return commit(self.path, {"w.yaml": made, **files})

    def git(self, *args: str) -> str:
        return git(self.path, *args)

    def found(self, at: str = "HEAD", branch: str = "", **values: object) -> tuple[str, object, object]:
        """Branch, targets and server for a change based on a commit."""
        plain = Config()
        given = Config({**plain.values, **values}, {**plain.origins, **dict.fromkeys(values, "a file")})
        done = with_found(given, str(self.path), self.git("rev-parse", f"{at}^{{commit}}"), branch)
        return done.branch, done.config.targets(done.branch), done.config.runs(done.branch)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "upstream")


# -- layouts ---------------------------------------------------------------------------------


def _clone(*options: str) -> Callable[[History], Path]:
    def made(history: History) -> Path:
        folder = history.path.parent / "clone"
        git(history.path, "clone", "--quiet", *options, str(history.path), str(folder))
        return folder

    return made


def _detached(history: History) -> Path:
    """As actions/checkout leaves it: all branches of the remote, a detached HEAD, and no default branch."""
    folder = _clone()(history)
    git(folder, "remote", "set-head", "origin", "--delete")
    git(folder, "checkout", "--quiet", "--detach")
    git(folder, "branch", "--quiet", "-D", history.main)
    return folder


def _single(history: History) -> Path:
    """As clonerefs leaves it: no remote; the base branch is checked out, and the releases were fetched as branches."""
    folder = history.path.parent / "single"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=temporary")
    git(folder, "fetch", "--quiet", str(history.path), "refs/heads/*:refs/heads/*")
    git(folder, "checkout", "--quiet", history.main)
    return folder


LAYOUTS = {
    "a clone": _clone(),
    "local branches": lambda history: history.path,
    "bare": _clone("--bare"),
    "a remote of another name": _clone("--origin=upstream"),
    "detached": _detached,
    "without a remote": _single,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("main", ["master", "main"])
def test_every_layout_gives_the_same_releases(tmp_path: Path, layout: str, main: str) -> None:
    folder = LAYOUTS[layout](History(tmp_path / "upstream", main))
    assert run("init", cwd=folder).code == 0
    written = load_yaml((folder / ".crdcompat.yaml").read_text())
    assert written == {
        "base": main,
        "rollback_targets": {
            main: ["release-4.15", "release-4.14"],
            "release-4.15": ["release-4.14"],
            "release-4.14": [],
        },
        "releases": {main: "openshift-4.16"},
    }
    tip = git(folder, "rev-parse", "HEAD")
    for _ in ("with the file of init", "without a configuration"):
        report = check(folder, "--base", f"{tip}^1", "--head", tip, code=1)
        assert [
            (each["against"], each["old"]["name"], each["old"]["kubernetes"], each["new"]["kubernetes"])
            for each in report["sections"]
        ] == [
            ("base", main, "1.29", "1.29"),
            ("target", "release-4.15", "1.28", "1.29"),
            ("target", "release-4.14", "1.27", "1.29"),
        ]
        (folder / ".crdcompat.yaml").unlink(missing_ok=True)
    assert report["notes"][2:-1] == [
        f"rollback targets release-4.15, release-4.14: the newest branches that left {main} before this change",
        f"{main}: OpenShift 4.16 (Kubernetes 1.29), the release after release-4.15",
        "release-4.15: Kubernetes 1.28, from its name",
        "release-4.14: Kubernetes 1.27, from its name",
    ]


def test_a_branch_of_several_remotes_is_no_target(history: History) -> None:
    folder = _clone()(history)
    history.git("branch", "release-4.16", "release-4.15")
    git(folder, "remote", "add", "fork", str(history.path))
    git(folder, "fetch", "--quiet", "--all")
    git(folder, "branch", "release-4.14", "origin/release-4.14")
    notes = check(folder, "--base", "HEAD~1", "--head", "HEAD", code=1)["notes"]
    where = "(configuration: rollback_targets)"
    assert notes[2:4] == [
        "rollback target release-4.14: the newest branch that left master before this change",
        f"release-4.16, release-4.15: no rollback target, since several remotes have it {where}",
    ]


# -- releases before a change ----------------------------------------------------------------------


def test_a_release_that_left_later_is_no_target(history: History) -> None:
    """Nor does it say what the main branch was at that time."""
    both = ("release-4.15", "release-4.14")
    assert history.found("master") == ("master", both, "openshift-4.16")
    assert history.found("master~1") == ("master", both, "openshift-4.16")  # where 4.15 left
    assert history.found("master~2") == ("master", ("release-4.14",), "openshift-4.15")
    history.git("branch", "release-4.16", "master")
    assert history.found("master") == ("master", both, "openshift-4.16")  # it is this branch: it has not left yet
    history.grow()
    assert history.found("master~1") == ("master", ("release-4.16", "release-4.15"), "openshift-4.17")
    history.git("branch", "release-4.17", "master")
    history.git("branch", "release-4.18", "master")  # follows the main branch, which 4.17 has left
    assert history.found("master") == ("master", ("release-4.17", "release-4.16"), "openshift-4.18")


def test_the_targets_of_a_release_are_those_before_it(history: History) -> None:
    assert history.found("release-4.15") == ("release-4.15", ("release-4.14",), "openshift-4.15")
    assert history.found("release-4.14") == ("release-4.14", (), "openshift-4.14")
    # What the change is said to be for counts more than where the commit is.
    assert history.found("master~2", "release-4.15") == ("release-4.15", ("release-4.14",), "openshift-4.15")


def test_a_branch_that_nothing_mentions_is_of_the_one_that_it_grew_from(history: History) -> None:
    for start, expected in (
        ("release-4.14", ("release-4.14", (), "openshift-4.14")),
        ("master~2", ("master", ("release-4.14",), "openshift-4.15")),
    ):
        history.git("checkout", "--quiet", "-B", "feature", start)
        commit(history.path, {"more.txt": start})
        for name in ("feature", "HEAD~1", "origin/feature", ""):
            assert history.found("feature", name) == expected, name
    listed = {"releases": {"feature": "openshift-4.12"}}
    assert history.found("feature", "feature", **listed) == ("feature", ("release-4.14",), "openshift-4.12")


def test_histories_without_a_common_commit(history: History) -> None:
    """As in a shallow clone: where a release left is not known, so it may be a target."""
    history.git("checkout", "--quiet", "--orphan", "release-4.13")
    history.git("commit", "--quiet", "--message", "other")
    history.git("checkout", "--quiet", "master")
    assert history.found("master~2") == ("master", ("release-4.14", "release-4.13"), "openshift-4.15")
    assert history.found("release-4.13") == ("release-4.13", (), "openshift-4.13")


def test_the_configured_base_is_the_main_branch(history: History) -> None:
    history.git("checkout", "--quiet", "-b", "develop")
    history.git("checkout", "--quiet", "master")
    commit(history.path, {"x.txt": "x"})
    both = ("release-4.15", "release-4.14")
    assert history.found("develop", base="develop") == ("develop", both, "openshift-4.16")


@pytest.mark.parametrize(
    ("newest", "after"),
    [("release-4.22", "openshift-4.23"), ("release-4.23", "openshift-5.0"), ("release-5.2", None), ("v4.14", None)],
)
def test_the_release_after(newest: str, after: str | None) -> None:
    found = server_of(Line("main", (newest,)), "main")
    assert (found and f"openshift-{'.'.join(map(str, found.server.openshift or ()))}") == after


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("release-4.15", True), ("release-v0.40", True), ("release-0.40.x", True), ("release/v2.1", True),
        ("stable-1.2", True), ("openshift-4.1", True), ("enterprise-3.6", True), ("releases/1.2.3", True),
        ("v1.2.x", True), ("1.2.x", True), ("v1.2", False), ("v1.2.3", False), ("fix-v1.2.x", False),
        ("release-4.15-fix", False), ("release-notes", False), ("my-release-1.2", False), ("stable", False),
    ],
)  # fmt: skip
def test_names_of_release_branches(name: str, expected: bool) -> None:
    assert is_release_branch(name) is expected


# -- tags ---------------------------------------------------------------------------------------


@pytest.fixture
def tagged(tmp_path: Path) -> History:
    """The main branch with releases as tags, and a maintenance branch of the second one."""
    made = History(tmp_path / "tagged", "main", ("old", "older"), openshift=False)
    for name in ("old", "older"):
        made.git("branch", "--quiet", "-D", name)
    for tag in (
        "v1.0.0",
        "v1.1.0",
        "v1.2.0",
        "api/v9.0.0",
        "chart-9.0.0",
        "v1.3.0-rc.1",
        "v1.3.1-ea.2",
        "v1.4.0-dev-20260712",
        "v1.4.1-edge",
        "v2.0.0-main",
    ):
        made.grow()
        made.git("tag", "--annotate", "--message", tag, tag)
    made.git("checkout", "--quiet", "-b", "v1.1-fixes", "v1.1.0")
    commit(made.path, {"fix.txt": "fix"})
    made.git("tag", "v1.1.1")
    made.git("checkout", "--quiet", "main")
    return made


def test_tags_are_targets(tagged: History) -> None:
    newest = ("v1.2.0", "v1.1.1", "v1.0.0")
    assert tagged.found("main") == ("main", newest, "")
    assert tagged.found("v1.2.0") == ("main", newest, "")  # the change comes after the release
    assert tagged.found("v1.2.0~1") == ("main", ("v1.1.0", "v1.0.0"), "")  # 1.1.1 left after it
    assert tagged.found("v1.1-fixes") == ("main", ("v1.1.1", "v1.0.0"), "")
    (section, *targets) = check(tagged.path, "--base", "HEAD~1", "--head", "HEAD", code=1)["sections"]
    assert [each["old"]["name"] for each in targets] == list(newest)
    assert section["old"]["kubernetes"] is None


@pytest.mark.parametrize("tag", ["v1.1.0-2023.03.14.1", "v1.1.0-SURE-6125.5", "v1.2.0-fips", "v1.2.0-1.30"])
def test_what_follows_the_version_of_a_tag_is_no_version(tagged: History, tag: str) -> None:
    """Builds of a day in Datadog's operator, for a ticket in Fleet, of other flavours in TiDB's."""
    targets = tagged.found("main")
    tagged.git("tag", tag, "v1.2.0~1")
    assert tagged.found("main") == targets


@pytest.mark.parametrize(
    ("of_branches", "files", "is_module"),
    [
        ([], ["operator/w.yaml"], True),
        (["w.yaml"], ["operator/w.yaml"], False),
        ([], ["operator/w.yaml", "pkg/w.yaml"], False),
        ([], ["w.yaml"], False),
    ],
    ids=["a module has the CRDs", "the branches have CRDs", "two modules have CRDs", "no module has CRDs"],
)
def test_tags_of_a_module_are_releases_of_its_crds(
    tmp_path: Path, of_branches: list[str], files: list[str], is_module: bool
) -> None:
    """Loki has release-3.7.x, which leave out its operator, and tags operator/v0.9.0 of that."""
    made = History(tmp_path / "r", "main", ("release-3.6", "release-3.7"), openshift=False)
    for name in ("release-3.6", "release-3.7", "main"):
        made.git("checkout", "--quiet", name)
        made.git("rm", "--quiet", "w.yaml")
        kept = files if name == "main" else of_branches
        commit(made.path, {"a.txt": name, **{file: manifest("A", openshift=False) for file in kept}})
    for minor in range(2):
        commit(made.path, {"b.txt": str(minor)})
        for tag in (f"operator/v0.{minor}.0", f"pkg/v9.{minor}.0", "operator/v0.3.0-rc.1"):
            made.git("tag", "--force", tag)
    newest = ("operator/v0.1.0", "operator/v0.0.0") if is_module else ("release-3.7", "release-3.6")
    assert made.found("main") == ("main", newest, "")
    assert made.found("release-3.7", "release-3.7") == ("release-3.7", ("release-3.6",), "")
    run("init", cwd=made.path)
    shown = f"rollback_targets: [{', '.join(newest)}]\n"
    assert (shown in (made.path / ".crdcompat.yaml").read_text()) == is_module


def test_a_partial_clone_tells_nothing_of_modules(tmp_path: Path) -> None:
    made = History(tmp_path / "r", "main", ("release-3.6", "release-3.7"), openshift=False)
    made.git("tag", "operator/v0.1.0")
    made.git("config", "uploadpack.allowFilter", "true")
    made.path = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{tmp_path / 'r'}", str(made.path))
    assert made.found("main") == ("main", ("release-3.7", "release-3.6"), "")


@pytest.mark.parametrize(("at", "counts"), [("v1.0.0", False), ("main", True)])
def test_a_tag_whose_major_leaps_counts_if_it_is_the_newest(tagged: History, at: str, counts: bool) -> None:
    """nmstate's operator has one tag 608.3, of the time of v0.30.0, beside v0.1.0 to v0.86.0."""
    tagged.git("tag", "608.3", at)
    newest = ("v1.2.0", "v1.1.1", "v1.0.0")
    assert tagged.found("main") == ("main", ("608.3", *newest[:2]) if counts else newest, "")


def test_tags_of_other_numbers_than_the_branches_are_no_releases(tmp_path: Path) -> None:
    """A fork keeps the tags of its origin, and makes its own releases as branches."""
    made = History(tmp_path / "r", "main", ("release-4.17", "release-4.18"), openshift=False)
    for tag in ("v10.1.0", "v11.0.0"):
        made.git("tag", tag)
    made.grow()
    assert made.found("main") == ("main", ("release-4.18", "release-4.17"), "")


@pytest.mark.parametrize(("minors", "counts"), [(4, False), (5, True)])
def test_tags_of_other_numbers_go_on_from_the_branches(tmp_path: Path, minors: int, counts: bool) -> None:
    """The operator for SR-IOV had release-4.7 and release-4.8, and has made v1.0.0 to v1.6.0 since."""
    made = History(tmp_path / "r", "main", ("release-4.7", "release-4.8"), openshift=False)
    made.grow()
    _grown(made, *(f"v1.{minor}.0" for minor in range(minors)), tags=True)
    newest = tuple(f"v1.{minor}.0" for minor in (4, 3, 2)) if counts else ("release-4.8", "release-4.7")
    assert made.found("main") == ("main", newest, "")


def test_a_release_without_a_branch_has_its_tag(tmp_path: Path) -> None:
    """KEDA has release/v2.18, the tag v2.19.0 and release/v2.20."""
    made = History(tmp_path / "r", "main", ("release-1.1", "release-1.3"), openshift=False)
    for at, tag in (("main~1", "v1.2.0-rc.1"), ("main~1", "v1.2.0"), ("release-1.3", "v1.3.0")):
        made.git("tag", tag, at)
    assert made.found("main") == ("main", ("release-1.3", "v1.2.0"), "")
    assert made.found("release-1.3", "release-1.3") == ("release-1.3", ("v1.2.0", "release-1.1"), "")
    assert made.found("main~1") == ("main", ("release-1.3", "v1.2.0"), "")  # the change comes after both
    assert made.found("main~2") == ("main", ("release-1.1",), "")
    note = "rollback targets release-1.3, v1.2.0: the newest releases that left main before this change"
    assert note in check(made.path, "--base", "HEAD~1", "--head", "HEAD", code=1)["notes"]
    targets = '{"main":["release-1.3","v1.2.0"],"release-1.3":["v1.2.0","release-1.1"],"release-1.1":[]}'
    assert f"rollback_targets: {targets}  # found" in run("config", "--show", cwd=made.path).out.splitlines()


def test_the_branch_of_a_minor_counts_before_those_of_its_patches(tmp_path: Path) -> None:
    """Istio has release-1.29.1 beside release-1.29, Karpenter release-v1.14.1 beside release-v1.14.x."""
    branches = ("release-1.1", "release-1.1.1", "release-1.2.x", "release-1.2.3", "release-1.999")  # the last is CDI's
    made = History(tmp_path / "r", "main", branches, openshift=False)
    assert made.found("main") == ("main", ("release-1.2.x", "release-1.1"), "")


def test_branches_that_ended_before_the_newest_release_are_no_targets(tmp_path: Path) -> None:
    """The project made branches for its first releases, and has tagged the main branch since."""
    made = History(tmp_path / "r", "main", ("release-1.0", "release-1.1"), openshift=False)
    for tag in ("v1.1.5", "v1.2.0", "v1.3.0"):
        before = made.found("main")[1]
        made.grow()
        made.git("tag", tag)
        if tag == "v1.1.5":
            assert (before, made.found("main")[1]) == (("release-1.1", "release-1.0"),) * 2
    made.grow()
    assert made.found("main") == ("main", ("v1.3.0", "v1.2.0", "v1.1.5"), "")


# -- several schemes of names ---------------------------------------------------------------------


def _grown(made: History, *names: str, tags: bool = False) -> None:
    """The main branch grows, and after each step another branch or tag leaves it, with a commit of its own."""
    for name in names:
        made.grow()
        made.git("checkout", "--quiet", "--detach")
        commit(made.path, {"own.txt": name})
        made.git(*(("tag",) if tags else ("branch", "--quiet")), name)
        made.git("checkout", "--quiet", made.main)
    made.grow()


def test_branches_of_a_platform_that_ended_are_no_releases(tmp_path: Path) -> None:
    """NetObserv had release-4.18, named after OpenShift, two years before release-1.11."""
    made = History(tmp_path / "r", "main", ("release-4.16", "release-4.17"))
    _grown(made, "release-4.18", "release-1.1", "release-1.2")
    assert made.found("main") == ("main", ("release-1.2", "release-1.1"), "")  # the server is unknown
    assert made.found("release-4.18") == ("release-4.18", ("release-4.17", "release-4.16"), "openshift-4.18")
    assert made.found("main", "release-4.18")[:2] == ("release-4.18", ("release-4.17", "release-4.16"))
    _grown(made, "release-4.19")
    assert made.found("main") == ("main", ("release-4.19", "release-4.18"), "openshift-4.20")


def test_a_release_that_is_maintained_left_no_later(tmp_path: Path) -> None:
    made = History(tmp_path / "r", "main", ("release-1.9", "release-2.0"), openshift=False)
    made.git("checkout", "--quiet", "release-1.9")
    commit(made.path, {"fix.txt": "fix"})
    made.git("checkout", "--quiet", "main")
    assert made.found("main") == ("main", ("release-2.0", "release-1.9"), "")


def test_branches_with_a_name_of_their_own_go_on_from_the_releases(tmp_path: Path) -> None:
    """The operator for cert-manager had release-4.15, and has cert-manager-1.20; that of backplane a tag v2.0.0-MCE."""
    made = History(tmp_path / "r", "main", ("release-4.14", "release-4.15"))
    made.git("tag", "v2.0.0-MCE")
    _grown(made, "own-2.9", "own-2.10")
    before = ("release-4.15", "release-4.14")
    assert made.found("main") == ("main", before, "openshift-4.16")  # two can be topics
    _grown(made, "own-5.0")
    assert made.found("main") == ("main", ("own-5.0", "own-2.10"), "")
    assert made.found("main", "own-2.10") == ("own-2.10", ("own-2.9",), "")
    _grown(made, "fix-the-linter-2.1.1", "fix-the-linter-2.2.1", "fix-the-linter-2.3.1")
    assert made.found("main")[1] == ("own-5.0", "own-2.10")
    _grown(made, "release-4.16")
    assert made.found("main") == ("main", ("release-4.16", "release-4.15"), "openshift-4.17")


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("feature", False),
        ("bump-go", False),
        ("kubernetes", False),
        ("k8s", False),
        ("kubernetes-nmstate", True),
        ("support", True),
    ],
)
def test_branches_of_topics_are_no_releases(tmp_path: Path, name: str, counts: bool) -> None:
    """They are newer than the last release, as many as releases, and differ in the version alone."""
    made = History(tmp_path / "r", "main", ("release-1.9", "release-1.10"), openshift=False)
    _grown(made, f"{name}-2.7", f"{name}-2.8", f"{name}-2.9")
    found = (f"{name}-2.9", f"{name}-2.8") if counts else ("release-1.10", "release-1.9")
    assert made.found("main")[1] == found
    made.git("checkout", "--quiet", f"{name}-2.9")
    assert made.found("main", f"{name}-2.9")[0] == (f"{name}-2.9" if counts else "main")


@pytest.mark.parametrize(("name", "counts"), [("runner", True), ("helm-chart", False)])
def test_tags_of_another_name_go_on_from_the_releases(tmp_path: Path, name: str, counts: bool) -> None:
    """Actions Runner Controller had v0.27.6, and has gha-runner-scale-set-0.14.2."""
    made = History(tmp_path / "r", "main", ("old", "older"), openshift=False)
    _grown(made, "v0.26.0", "v0.27.0", "v0.28.0", tags=True)
    usual = ("v0.28.0", "v0.27.0", "v0.26.0")
    _grown(made, *(f"{name}-0.{minor}.0" for minor in range(1, 5)), tags=True)
    assert made.found("main") == ("main", usual, "")
    _grown(made, f"{name}-0.5.0", tags=True)
    assert made.found("main")[1] == (tuple(f"{name}-0.{minor}.0" for minor in (5, 4, 3)) if counts else usual)


def test_a_tag_that_a_branch_has_the_name_of(tagged: History) -> None:
    """MinIO's operator has a branch v5.0.17 with work after the tag v5.0.17."""
    tagged.git("branch", "v1.1.1", "v1.0.0")
    tagged.git("branch", "v1.0.0", "v1.0.0^{commit}")  # the same commit: either may be meant
    newest = ("v1.2.0", "refs/tags/v1.1.1", "v1.0.0")
    assert tagged.found("main") == ("main", newest, "")
    (_, *targets) = check(tagged.path, "--base", "HEAD~1", "--head", "HEAD", code=1)["sections"]
    assert [each["old"]["name"] for each in targets] == list(newest)
    assert "rollback_targets: [v1.2.0, refs/tags/v1.1.1, v1.0.0]\n" in _head(tagged.path)


# -- OpenShift or not ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("releases", "openshift", "preset", "expected"),
    [
        (("release-1.11", "release-1.12"), True, None, ("", None)),
        (("release-0.39.x", "release-0.40.x"), True, None, ("", None)),
        (("release-4.14", "release-4.15"), False, None, ("", None)),
        (("release-4.14", "release-4.15"), False, "openshift", ("openshift-4.16", "1.28")),
        (("release-4.14", "release-4.15"), True, "plain", ("", None)),
        (("release-4.14", "release-4.15"), True, None, ("openshift-4.16", "1.28")),
        (("openshift-4.14", "enterprise-4.15"), True, None, ("openshift-4.16", "1.28")),
    ],
)
def test_only_releases_of_openshift_name_a_server(
    tmp_path: Path, releases: tuple[str, str], openshift: bool, preset: str | None, expected: tuple[str, str | None]
) -> None:
    made = History(tmp_path / "r", releases=releases, openshift=openshift)
    if preset is not None:
        write(made.path / ".crdcompat.yaml", {"preset": preset})
    _, target, _ = check(made.path, "--base", "HEAD~1", "--head", "HEAD", code=1)["sections"]
    server, kubernetes = expected
    assert target["old"]["name"] == releases[1]
    assert target["old"]["kubernetes"] == kubernetes
    shown = run("config", "--show", cwd=made.path).out
    assert ('releases: {"master":"openshift-4.16"}  # found' in shown) is bool(server)


def test_annotations_of_test_data_are_none_of_the_tree(tmp_path: Path) -> None:
    made = History(tmp_path / "r", openshift=False)
    commit(made.path, {"testdata/w.yaml": manifest("A"), "vendor/w.yaml": manifest("A")})
    assert made.found("master")[2] == ""
    commit(made.path, {"deploy/w.yaml": manifest("A")})
    assert made.found("master")[2] == "openshift-4.16"


@pytest.mark.parametrize(
    ("library", "more"),
    [
        ("v0.28.2", "; go.mod has libraries of 1.28, which do not decide"),
        ("v0.30.0", "; go.mod has libraries of 1.30, which do not decide"),
        ("v0.29.1", ""),
    ],
)
def test_go_mod_does_not_decide(history: History, library: str, more: str) -> None:
    text = f"module x\n\nrequire (\n\tk8s.io/api {library}\n\tk8s.io/klog/v2 v2.130.1\n)\n"
    base = commit(history.path, {"go.mod": text})
    history.grow()
    notes = check(history.path, "--base", base, "--head", "HEAD", code=1)["notes"]
    assert f"master: OpenShift 4.16 (Kubernetes 1.29), the release after release-4.15{more}" in notes


# -- the configuration has precedence -----------------------------------------------------------

_OUT_OF_DATE = "releases: master is openshift-4.15; by the branches it is openshift-4.16"


@pytest.mark.parametrize(
    ("text", "sections", "servers"),
    [
        ("rollback_targets: []\n", [], "1.29"),
        ("rollback_targets: {master: [release-4.14]}\n", ["release-4.14"], "1.29"),  # as older versions wrote it
        ("rollback_targets: {release-4.15: []}\n", [], "1.29"),
        ("releases: {master: openshift-4.18}\n", ["release-4.15", "release-4.14"], "1.31"),
        ('releases: {release-4.15: "1.30"}\n', ["release-4.15", "release-4.14"], "1.29"),
        ("releases: {}\n", ["release-4.15", "release-4.14"], None),
    ],
)
def test_keys_of_the_configuration_count(history: History, text: str, sections: list[str], servers: str | None) -> None:
    (history.path / ".crdcompat.yaml").write_text(text)
    report = check(history.path, "--base", "HEAD~1", "--head", "HEAD", code=1)
    base, *targets = report["sections"]
    assert [each["old"]["name"] for each in targets] == sections
    assert [base["old"]["kubernetes"], base["new"]["kubernetes"]] == [servers, servers]


def test_named_targets_are_the_only_ones(history: History) -> None:
    report = check(history.path, "--base", "HEAD~1", "--head", "HEAD", "--target", "release-4.14", code=1)
    assert [each["old"]["name"] for each in report["sections"]] == ["master", "release-4.14"]
    assert not [note for note in report["notes"] if note.startswith("rollback target")]


def test_show_names_what_was_found(history: History) -> None:
    (history.path / ".crdcompat.yaml").write_text("rollback_targets: []\n")
    lines = run("config", "--show", cwd=history.path).out.splitlines()
    assert 'base: "master"  # found' in lines
    assert 'releases: {"master":"openshift-4.16"}  # found' in lines
    assert f"rollback_targets: []  # {history.path / '.crdcompat.yaml'}" in lines


@pytest.mark.parametrize(
    ("server", "notes"),
    [
        ("openshift-4.15", [f"{_OUT_OF_DATE}, the release after release-4.15"]),
        ("openshift-4.16", []),
    ],
)
def test_a_server_of_the_main_branch_that_is_out_of_date_is_noted(
    history: History, server: str, notes: list[str]
) -> None:
    write(history.path / ".crdcompat.yaml", {"releases": {"master": server}})
    lines = run("config", cwd=history.path).out.splitlines()
    assert [line.removeprefix("note: ") for line in lines[2:]] == notes


def test_a_base_that_is_head_has_targets_too(history: History) -> None:
    """Where no remote names a base, what is staged is compared with HEAD."""
    write(history.path / "w.yaml", manifest(*history.phases, "Z"))
    git(history.path, "add", "--all")
    sections = check(history.path, code=1)["sections"]
    assert [each["old"]["name"] for each in sections] == ["master", "release-4.15", "release-4.14"]


# -- other commands --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kubernetes", "note"),
    [
        ("master", "1.29", "master: OpenShift 4.16 (Kubernetes 1.29), the release after release-4.15"),
        ("HEAD~2", "1.28", "HEAD~2: OpenShift 4.15 (Kubernetes 1.28), the release after release-4.14"),
        ("worktree:", "1.29", "worktree:: OpenShift 4.16 (Kubernetes 1.29), the release after release-4.15"),
        ("release-4.15~0", "1.28", "release-4.15~0: Kubernetes 1.28, as release-4.15"),
        ("release-4.15", "1.28", None),
    ],
)
def test_diff_finds_the_server_of_a_commit(history: History, name: str, kubernetes: str, note: str | None) -> None:
    report = run("diff", "release-4.14", name, "--format", "json", cwd=history.path).report
    assert (report["new"]["kubernetes"], report["new"]["notes"]) == (kubernetes, [note] if note else [])
    (history.path / ".crdcompat.yaml").write_text("releases: {master: openshift-4.20}\n")
    report = run("diff", "release-4.14", name, "--format", "json", cwd=history.path).report
    expected = "1.33" if name in ("master", "worktree:") else kubernetes
    assert report["new"]["kubernetes"] == expected


def test_a_matrix_finds_the_server_of_the_main_branch(history: History) -> None:
    report = run("matrix", "release-4.14", "release-4.15", "master", "--format", "json", cwd=history.path).report
    assert [each["kubernetes"] for each in report["releases"]] == ["1.27", "1.28", "1.29"]


def test_folders_have_no_server(tmp_path: Path, history: History) -> None:
    for name in ("old", "new"):
        write(tmp_path / name / "w.yaml", widget("A"))
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json", cwd=history.path).report
    assert (report["new"]["kubernetes"], report["new"]["notes"]) == (None, [])


# -- init ------------------------------------------------------------------------------------------


def _head(folder: Path) -> str:
    """What init writes, up to the presets."""
    assert run("init", cwd=folder).code == 0
    read_config(folder / ".crdcompat.yaml")
    return (folder / ".crdcompat.yaml").read_text().partition("\n# The annotations that")[0]


_TARGETS = """
# Releases that a rollback may go to, by the branch a change is made for. A release that is not named here
# may not be rolled back; [] is for none. Names with a number only belong in quotes: "4.10".
"""
_START = """\
# Configuration of crdcompat; every key is optional. crdcompat config --show prints the effective one.

# What a change is compared with, where neither an option nor CI says so.
"""


def test_the_text_of_init_for_openshift(history: History) -> None:
    commit(history.path, {"go.mod": "module x\nrequire k8s.io/api v0.28.2\n"})
    assert _head(_clone()(history)) == (
        f"{_START}base: master  # the default branch of origin\n{_TARGETS}"
        "# These are the newest branches that left master:\n"
        "rollback_targets:\n"
        "  master: [release-4.15, release-4.14]\n"
        "  release-4.15: [release-4.14]\n"
        "  release-4.14: []\n"
        "\n"
        '# The server that runs beside a release: a minor of Kubernetes ("1.31"), or openshift-4.18.\n'
        "# A release of OpenShift has it by its name: release-4.18 runs on openshift-4.18.\n"
        "# master is the release after release-4.15, the newest branch that left it.\n"
        "# go.mod has libraries of Kubernetes 1.28: they do not decide, and often follow later.\n"
        "releases: {master: openshift-4.16}\n"
    )


def test_the_text_of_init_for_others(tagged: History) -> None:
    commit(tagged.path, {"go.mod": "module x\nrequire (\n\tk8s.io/client-go v0.31.0\n\tk8s.io/api v0.30.2\n)\n"})
    assert _head(tagged.path) == (
        f"{_START}base: main  # the branch that is checked out\n{_TARGETS}"
        "# These are the newest tags:\n"
        "rollback_targets: [v1.2.0, v1.1.1, v1.0.0]\n"
        "\n"
        '# The server that runs beside a release: a minor of Kubernetes ("1.31"), or openshift-4.18.\n'
        "# go.mod has libraries of Kubernetes 1.31, which are not the servers of the users.\n"
        '# releases: {main: "1.31"}\n'
        "\n"
        "# The servers on which the CRDs have to work.\n"
        '# kubernetes: {min: "1.28", max: "1.36"}\n'
    )

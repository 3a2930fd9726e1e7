"""servers: the verdict, the table, the reasons and their lines, in text, JSON and HTML, and the exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, checked, commit, crd, git, obj, root, run, string, write
from html_page import Page, confined, said

RULES = "x-kubernetes-validations"


def _crd(*rules: str, kind: str = "Widget", **more: Any) -> Json:
    listed = [{"rule": rule, **more} for rule in rules]
    return crd(root(spec=obj(a={**string(maxLength=60), **({RULES: listed} if rules else {})})), kind=kind)


def _verdict(top: Path, *args: str, code: int) -> str:
    ran = run("servers", "crds", *args, cwd=top)
    assert ran.code == code, ran.out + ran.err
    first: str = ran.out.splitlines()[0]
    return first


def _report(top: Path, *args: str) -> Json:
    return checked(run("servers", "crds", *args, "--format", "json", cwd=top).report)


@pytest.fixture
def crds(tmp_path: Path) -> Path:
    """A CRD that needs 1.31, and one that all servers take."""
    write(tmp_path / "crds/networks.yaml", _crd("isCIDR(self)", kind="Network"))
    write(tmp_path / "crds/plain.yaml", _crd("self != ''"))
    return tmp_path


@pytest.mark.parametrize(
    ("globs", "found"),
    [
        ((), ["networks", "widgets"]),
        (("--exclude", "*networks*"), ["widgets"]),
        (("--include", "*networks*"), ["networks"]),
    ],
)
def test_files_are_left_out(crds: Path, globs: tuple[str, ...], found: list[str]) -> None:
    ran = run("servers", "crds", *globs, "--format", "json", cwd=crds)
    assert [each["crd"] for each in ran.report["crds"]] == [f"{name}.example.com" for name in found]


@pytest.mark.parametrize(
    ("asked", "code", "sentence"),
    [
        ("1.26-1.36", 1, "Your CRDs need Kubernetes 1.31 or later because of `isCIDR` at networks.yaml:34."),
        ("1.31-1.36", 0, "All 2 CRDs install on Kubernetes 1.31 to 1.36."),
        ("1.31,1.33", 0, "All 2 CRDs install on Kubernetes 1.31 and 1.33."),
        (
            "1.28,1.30",
            1,
            (
                "None of Kubernetes 1.28 and 1.30 takes your CRDs because of `isCIDR` at networks.yaml:34."
                " It needs Kubernetes 1.31 or later."
            ),
        ),
        (
            "1.30,1.31,openshift-4.13-4.15",
            1,
            (
                "Your CRDs install only on Kubernetes 1.31 and OpenShift 4.14 to 4.15 because of"
                " `isCIDR` at networks.yaml:34."
            ),
        ),
    ],
)
def test_verdict(crds: Path, asked: str, code: int, sentence: str) -> None:
    assert _verdict(crds, "--kubernetes", asked, code=code) == sentence


def test_all_known_servers_are_asked_by_default(crds: Path) -> None:
    report = _report(crds)
    assert report["servers"] == [f"1.{minor}" for minor in range(26, 37)]
    assert report["summary"]["accepting"] == [f"1.{minor}" for minor in range(31, 37)]
    assert report["summary"]["crds"] == {"refused": 1, "warned": 0, "accepted": 1}


def test_newer_servers_refuse(tmp_path: Path) -> None:
    write(tmp_path / "crds/a.yaml", _crd("self != ''", fieldPath=".nowhere"))
    sentence = "Your CRD needs Kubernetes 1.27 or earlier because of `fieldPath` at a.yaml:35."
    assert _verdict(tmp_path, code=1) == sentence


def test_every_server_refuses(tmp_path: Path) -> None:
    write(tmp_path / "crds/a.yaml", crd(root(spec=obj(l={"type": "array"}))))
    ran = run("servers", "crds", "--kubernetes", "1.30-1.31", cwd=tmp_path)
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "None of Kubernetes 1.30 to 1.31 takes your CRD because of `items` at a.yaml:30."
    assert "`items` is refused by every Kubernetes" in ran.out


def test_the_need_has_its_place(crds: Path) -> None:
    (network, plain) = _report(crds, "--kubernetes", "1.30-1.31")["crds"]
    assert (network["crd"], network["files"]) == ("networks.example.com", ["networks.yaml"])
    assert [(each["server"], each["answer"]) for each in network["answers"]] == [
        ("1.30", "refused"),
        ("1.31", "accepted"),
    ]
    (need,) = network["needs"]
    known = ("kind", "what", "version", "path", "rule", "file", "line", "since", "until")
    expected = ("expression", "isCIDR", "v1", "spec.a", "isCIDR(self)", "networks.yaml", 34, "1.31", None)
    assert tuple(need[key] for key in known) == expected
    lines = (crds / "crds/networks.yaml").read_text().splitlines()
    assert "isCIDR(self)" in lines[need["line"] - 1]
    assert plain["needs"] == []


def test_a_git_ref_and_names(crds: Path) -> None:
    git(crds, "init", "-q")
    commit(crds, {"other.yaml": _crd(kind="Other")})
    ran = run("servers", "HEAD", "crds", "--crd", "others.example.com", "--format", "json", cwd=crds)
    assert (ran.code, [row["crd"] for row in checked(ran.report)["crds"]]) == (0, ["others.example.com"])
    ran = run("servers", "crds", "--crd", "nothing.example.com", cwd=crds)
    assert ran.code == 2
    assert "no CRD is named nothing.example.com" in ran.err


def test_equal_copies_are_asked_once(crds: Path) -> None:
    write(crds / "crds/copy.yaml", _crd("isCIDR(self)", kind="Network"))
    rows = {row["crd"]: row["files"] for row in _report(crds)["crds"]}
    assert rows["networks.example.com"] == ["copy.yaml", "networks.yaml"]


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_an_ignored_part_is_a_warning(tmp_path: Path, fail_on: str, code: int) -> None:
    write(tmp_path / "crds/a.yaml", _crd("self != ''", reason="FieldValueInvalid"))
    ran = run("servers", "crds", "--kubernetes", "1.27-1.28", "--fail-on", fail_on, cwd=tmp_path)
    assert ran.code == code
    assert ran.out.splitlines()[0] == "The CRD installs on Kubernetes 1.27 to 1.28; some ignore a part of 1 CRD."
    assert 'widgets.example.com: Kubernetes 1.27 warns: unknown field "spec.versions[0]' in ran.out


def test_what_cannot_be_read(crds: Path) -> None:
    (crds / "crds/bad.yaml").write_text(
        "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: [\n"
    )
    assert run("servers", "crds", "--kubernetes", "1.31", cwd=crds).code == 2
    write(crds / "none/config.yaml", {"a": 1})
    ran = run("servers", "none", cwd=crds)
    assert (ran.code, "no CRD in none" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--kubernetes", "1.36-1.28"), "1.36 is newer than 1.28"),
        (("--kubernetes", "new"), "Kubernetes version 'new'"),
        (("--format", "sarif"), "sarif cannot show which servers take CRDs; what can: html, json, text"),
    ],
)
def test_wrong_usage(crds: Path, args: tuple[str, ...], message: str) -> None:
    ran = run("servers", "crds", *args, cwd=crds)
    assert (ran.code, message in ran.err) == (2, True)


def test_table(crds: Path) -> None:
    ran = run("servers", "crds", "--kubernetes", "1.30-1.31", cwd=crds)
    assert ran.out.splitlines()[-5:] == [
        "                      1.30     1.31",
        "networks.example.com  refused  ok",
        "widgets.example.com   ok       ok",
        "ok: accepted; warned: accepted, but a part of the CRD is ignored; refused: the CRD cannot be installed.",
        "2 CRDs: 1 refused by at least one server, 0 accepted with warnings, 1 accepted by all.",
    ]
    assert len(run("servers", "crds", "-q", cwd=crds).out.splitlines()) == 1


def test_page(crds: Path) -> None:
    ran = run("servers", "crds", "--kubernetes", "1.30-1.31", "--format", "html", cwd=crds)
    shown = Page(ran.out)
    confined(shown)
    rows = [[said(cell) for cell in row] for row in shown.one("table", "grid").iter("tr")]
    assert rows == [
        ["", "1.30", "1.31"],
        ["networks.example.com", "refused", "ok"],
        ["widgets.example.com", "ok", "ok"],
    ]
    assert "<code>isCIDR</code> needs Kubernetes 1.31 or later" in ran.out


def test_no_crd_that_can_be_read(tmp_path: Path) -> None:
    """A server that has judged no CRD accepts none."""
    write(tmp_path / "crds/w.yaml", {**_crd(), "spec": 5})
    ran = run("servers", "crds", "--format", "json", cwd=tmp_path)
    assert (ran.code, ran.report["summary"]["accepting"]) == (2, [])
    assert len(ran.report["summary"]["problems"]) == 1
    assert _verdict(tmp_path, code=2) == "No CRD was read."


def _expensive(most: int) -> Json:
    """Two rules that cost too much from some 1,000 and 100 items on; the first one costs less from 1.29 on."""
    rules = "self.all(a, self.all(b, a != b))", "self.all(a, self.all(b, self.all(c, a != b)))"
    names, numbers = ([{"rule": rule}] for rule in rules)
    return root(
        spec=obj(
            names=array(string("A", "B"), maxItems=10 * most, **{RULES: names}),
            numbers=array({"type": "integer"}, maxItems=most, **{RULES: numbers}),
        )
    )


def test_rules_that_cost_too_much_together_are_one_cause(tmp_path: Path) -> None:
    """Each rule costs too much alone on 1.26 to 1.28; on these the total is too high as well."""
    text = "self.all(a, self.all(b, a != b))"
    fields = {
        f"f{number:02}": array(string("A", "B"), maxItems=1000, **{RULES: [{"rule": text}]}) for number in range(30)
    }
    write(tmp_path / "crds/costly.yaml", crd(root(spec=obj(**fields))))
    ran = run("servers", "crds", cwd=tmp_path)
    assert [line for line in ran.out.splitlines() if line.startswith(("the CEL cost", "  costly.yaml"))] == [
        "the CEL cost is refused by every Kubernetes",
        "  costly.yaml:18  widgets.example.com/v1",
        "the CEL cost needs Kubernetes 1.29 or later",
        "  costly.yaml:39  widgets.example.com/v1 spec.f00",
        "  costly.yaml:49  widgets.example.com/v1 spec.f01",
        "  costly.yaml:59  widgets.example.com/v1 spec.f02",
    ]


@pytest.mark.parametrize("most", [150, 250], ids=["of 1.26 to 1.28", "of all"])
def test_the_total_cost_is_no_cause_beside_the_rules_that_cost_too_much(tmp_path: Path, most: int) -> None:
    write(tmp_path / "crds/costly.yaml", crd(_expensive(most)))
    ran = run("servers", "crds", cwd=tmp_path)
    assert [line for line in ran.out.splitlines() if line.startswith(("the CEL cost", "  costly.yaml"))] == [
        "the CEL cost is refused by every Kubernetes",
        "  costly.yaml:39  widgets.example.com/v1 spec.names",
        "  costly.yaml:46  widgets.example.com/v1 spec.numbers",
    ]

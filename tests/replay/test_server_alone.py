"""A rollback of the API server alone: the CRDs stay, and the older server refuses what the newer one kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, run, simulate, string, widget, write

SCHEMA = root(spec=obj(a=string("A"), b={"type": "integer"}), status=obj(p=string("A"), n={"type": "integer"}))


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A release, and objects with a value that its enum no longer has: in spec, in status, nowhere."""
    write(tmp_path / "r/widget.yaml", crd(SCHEMA))
    write(
        tmp_path / "objects.yaml",
        widget({"spec": {"a": "C", "b": 1}, "status": {"p": "A"}}, "spec"),
        widget({"spec": {"a": "A", "b": 1}, "status": {"p": "Z", "n": 1}}, "status"),
        widget({"spec": {"a": "A"}}, "good"),
    )
    return tmp_path


def _rejected(report: Json, *, already: bool = False) -> set[str]:
    """The objects with an update that is rejected after the rollback alone, or ``already`` before it."""
    return {
        item["object"]["name"]
        for item in report["objects"]
        for write in (item["writes"][kind] for kind in ("status-update", "metadata-update"))
        if write["verdict"] == "rejected" and write.get("already", False) == already
    }


@pytest.mark.parametrize(
    ("args", "rejected", "note"),
    [
        (
            ("--kube-version", "1.29"),
            {"spec", "status"},
            (
                "from Kubernetes 1.36 to Kubernetes 1.29 (Kubernetes 1.36 is assumed: nothing names the server of"
                " path:r)"
            ),
        ),
        (("--kube-version", "1.30"), {"status"}, "from Kubernetes 1.36 to Kubernetes 1.30 (Kubernetes 1.36 is"),
        (("--kube-version", "1.36"), set(), "have the same CRDs and run on Kubernetes 1.36: nothing changes"),
    ],
)
def test_the_older_server_rejects(at: Path, args: tuple[str, ...], rejected: set[str], note: str) -> None:
    report = simulate("path:r", "path:r", "--objects", "objects.yaml", *args, cwd=at, code=bool(rejected))
    assert _rejected(report) == rejected
    assert note in report["notes"][0]


@pytest.mark.parametrize(
    ("config", "server", "already"),
    [
        ({"kubernetes": {"min": "1.29", "max": "1.33"}}, "1.29", {"spec", "status"}),
        ({"kubernetes": ["1.30", "1.33"]}, "1.30", {"status"}),
    ],
)
def test_both_sides_run_the_oldest_configured_server(at: Path, config: Json, server: str, already: set[str]) -> None:
    write(at / "c.yaml", config)
    report = simulate("path:r", "path:r", "--objects", "objects.yaml", "--config", "c.yaml", cwd=at)
    assert report["notes"][0] == (
        f"both sides have the same CRDs and run on Kubernetes {server}: nothing changes (--kube-version names another)"
    )
    assert (_rejected(report), _rejected(report, already=True)) == (set(), already)


def test_different_crds_have_no_such_note(at: Path) -> None:
    write(at / "s/widget.yaml", crd(root(spec=obj(a=string("A", "C"), b={"type": "integer"}), status=obj())))
    report = simulate("path:r", "path:s", "--objects", "objects.yaml", "--kube-version", "1.29", cwd=at)
    assert not any("same CRDs" in note for note in report["notes"])


def test_matrix_takes_the_servers_of_the_configuration(at: Path) -> None:
    """Both sides run on the oldest server, which refuses what a newer one would keep."""
    write(at / "v1.1/widget.yaml", crd(root(status=obj(p=string("A")))))
    write(at / "v1.2/widget.yaml", crd(root(status=obj(p=string("A", "B")))))
    for versions, expected in (
        (["1.30", "1.33"], [("enum-value-added", "error"), ("server-looser-on", "info")]),
        (["1.33", "1.34"], [("enum-value-added", "warning")]),
    ):
        write(at / "c.yaml", {"kubernetes": versions})
        ran = run("matrix", "path:v1.1", "path:v1.2", "--config", "c.yaml", "--format", "json", cwd=at)
        (cell,) = (each for each in ran.report["cells"] if each["direction"] == "rollback")
        assert (cell["old"]["kubernetes"], cell["new"]["kubernetes"]) == (versions[0], versions[0])
        found = [ran.report["findings"][each["finding"]] for each in cell["findings"]]
        assert [(each["rule"], each["severity"]) for each in found] == expected

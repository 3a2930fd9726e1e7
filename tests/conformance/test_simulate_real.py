"""The rollback of OpenShift 4.14 replayed on recorded objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import ERAS, REJECTED, Json, crd, load_yaml, obj, root, run, simulate, verdicts, write

RECORDED = "data/recorded/oc-adm-upgrade/4.14.1-degraded-cv.yaml"


SUPPORTED = (
    'supported values: "openshift-samples", "baremetal", "marketplace", "Console", "Insights", "Storage", '
    '"CSISnapshot", "NodeTuning"'
)


BAD = {0: "Build", 3: "DeploymentConfig", 4: "ImageRegistry", 6: "MachineAPI"}


MARKER = (
    '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; '
    "correct the existing errors to complete validation"
)


@pytest.fixture(scope="module")
def recorded(shared: Path) -> Path:
    path = shared / RECORDED
    if not path.is_file():
        pytest.skip("no recording")
    return path


def _story(clone: Path, recorded: Path, *options: str) -> Json:
    report = simulate("release-4.13", "release-4.14", "--objects", recorded, *options, "--allow-unknown", cwd=clone)
    (item,) = report["objects"]
    assert (item["object"]["kind"], item["object"]["name"]) == ("ClusterVersion", "version")
    return item


def _texts(prefix: str) -> set[str]:
    return {
        f'{prefix}capabilities.{name}[{index}]: Unsupported value: "{value}": {SUPPORTED}'
        for name in ("enabledCapabilities", "knownCapabilities")
        for index, value in BAD.items()
    }


@pytest.mark.parametrize("options", [(), ("--kube-version", "1.26"), ("--openshift-version", "4.13")])
def test_the_rollback_of_4_14_is_stuck(openshift_api: Path, recorded: Path, options: tuple[str, ...]) -> None:
    """Without an option the name of the release decides the server: 4.13 runs Kubernetes 1.26."""
    item = _story(openshift_api, recorded, *options)
    assert [name for name, reported in item["writes"].items() if reported["verdict"] == "rejected"] == [
        *REJECTED,
        "apply",
    ]
    for name in REJECTED:
        reported = item["writes"][name]
        texts = [error["text"] for error in reported["errors"]]
        expected = _texts("status.")
        if name == "status-update-touching":
            # A valid item of the list was taken out: the indices of the bad ones stay.
            assert "without its last valid item" in reported["note"]
        assert set(texts) == expected
        assert len(texts) == 8
        assert reported["message"] == f'ClusterVersion.config.openshift.io "version" is invalid: [{", ".join(texts)}]'
        assert {error["type"] for error in reported["errors"]} == {"FieldValueNotSupported"}
        assert {error["value"] for error in reported["errors"]} == set(BAD.values())
        assert {error["detail"] for error in reported["errors"]} == {SUPPORTED}
    assert item["writes"]["create"]["verdict"] == "accepted"
    assert item["repair"]["verdict"] == "status"
    patched = item["repair"]["patch"]["status"]["capabilities"]
    assert not set(patched["enabledCapabilities"] + patched["knownCapabilities"]) & set(BAD.values())
    assert len(patched["enabledCapabilities"]) == 8


def test_from_1_29_on_the_marker_is_added(openshift_api: Path, recorded: Path) -> None:
    """An enum error keeps the rules from being looked at; the CRD has some."""
    before = _story(openshift_api, recorded, "--kube-version", "1.28")["writes"]["metadata-update"]["errors"]
    since = _story(openshift_api, recorded, "--kube-version", "1.29")["writes"]["metadata-update"]["errors"]
    assert {error["text"] for error in before} == _texts("status.")
    assert {error["text"] for error in since} == {*_texts("status."), MARKER}


@pytest.mark.parametrize(
    ("kubernetes", "prefix", "marker"),
    [
        ("1.27", "status.", False),
        ("1.28", "", False),
        ("1.29", "", True),
        ("1.30", "", True),
        ("1.31", "status.", True),
    ],
)
def test_status_errors_by_minor(
    openshift_api: Path, recorded: Path, kubernetes: str, prefix: str, marker: bool
) -> None:
    reported = _story(openshift_api, recorded, "--kube-version", kubernetes)["writes"]["status-update"]
    assert {error["text"] for error in reported["errors"]} == _texts(prefix) | ({MARKER} if marker else set())


_STUCK = ("rejected",) * 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("status-update", ("rejected", "rejected", "rejected", "accepted")),
        ("status-update-touching", _STUCK),
        ("spec-update", ("rejected", "rejected", "accepted", "accepted")),
        ("metadata-update", ("rejected", "rejected", "accepted", "accepted")),
        ("finalizer-removal", ("rejected", "rejected", "accepted", "accepted")),
        ("apply", ("rejected", "rejected", "accepted", "accepted")),
        ("create", ("accepted",) * 4),
    ],
)
def test_the_story_by_era(openshift_api: Path, recorded: Path, name: str, expected: tuple[str, ...]) -> None:
    reported = tuple(_story(openshift_api, recorded, "--kube-version", era)["writes"][name]["verdict"] for era in ERAS)
    assert reported == expected


def test_openshift_carries_status_ratcheting_earlier(openshift_api: Path, recorded: Path) -> None:
    reported = {
        version: _story(openshift_api, recorded, *version.split())["writes"]["status-update"]["verdict"]
        for version in ("--kube-version 1.31", "--openshift-version 4.18", "--openshift-version 4.17")
    }
    assert list(reported.values()) == ["rejected", "accepted", "rejected"]


def test_the_way_back_up_is_harmless(openshift_api: Path, recorded: Path) -> None:
    item = _story(openshift_api, recorded, "--upgrade")
    assert set(verdicts(item).values()) == {"accepted"}


def test_every_form_of_the_same_objects(openshift_api: Path, recorded: Path, tmp_path: Path) -> None:
    listed = load_yaml(recorded.read_bytes())
    found = listed["items"][0] if listed["kind"].endswith("List") else listed
    forms = {
        "single.json": json.dumps(found),
        "list.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": [found]}),
        "typed.json": json.dumps({"apiVersion": found["apiVersion"], "kind": "ClusterVersionList", "items": [found]}),
        "two.yaml": f"---\n{json.dumps(found)}\n---\n{json.dumps({**found, 'metadata': {'name': 'other'}})}\n",
        "lines.ndjson": "\n".join([json.dumps(found)] * 3),
        "folder/a/b.yaml": recorded.read_text(),
    }
    expected = verdicts(_story(openshift_api, recorded))
    for name, text in forms.items():
        write(tmp_path / name, text)
        report = simulate("release-4.13", "release-4.14", "--objects", tmp_path / name.split("/")[0], cwd=openshift_api)
        assert [verdicts(item) for item in report["objects"]] == [expected] * (2 if name == "two.yaml" else 1), name
    report = simulate(
        "release-4.13", "release-4.14", "--objects", "-", cwd=openshift_api, stdin=json.dumps(found).encode()
    )
    assert [verdicts(item) for item in report["objects"]] == [expected]


def test_a_folder_of_recordings(openshift_api: Path, recorded: Path) -> None:
    report = simulate("release-4.13", "release-4.14", "--objects", recorded.parent, cwd=openshift_api, code=1)
    assert report["summary"]["problems"] == []
    sources = {item["source"].split()[0] for item in report["objects"]}
    assert {"4.14.1-degraded-cv.yaml", "4.16.0-compact-cv.yaml"} <= sources
    stuck = {item["source"].split()[0] for item in report["objects"] if "rejected" in verdicts(item).values()}
    assert {"4.14.1-degraded-cv.yaml", "4.14.1-paused-worker-pool-cv.yaml"} <= stuck
    assert not any(source.startswith("4.12") for source in stuck)
    assert len(report["objects"]) == report["summary"]["objects"]["simulated"]


def _of_cluster(*versions: str) -> list[Json]:
    """ClusterVersions, and an object of the CRD that is judged."""
    reported = [
        {
            "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": f"version{number}"},
            "spec": {}, "status": {"desired": {"version": reported}},
        }
        for number, reported in enumerate(versions)
    ]  # fmt: skip
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    return [*reported, widget]


def _warning(version: str, release: str) -> str:
    return (
        f"warning: a cluster of {version} is older than {release}: its objects are judged as if {release} had written "
        "them, and hold nothing of what only that writes"
    )


def _notes(*args: str | Path, cwd: Path) -> list[str]:
    """What stands below the first line of the text."""
    first, *lines = run("simulate", *args, "--kube-version", "1.26", cwd=cwd).out.partition("\n\n")[0].splitlines()
    assert first.startswith(("Rollback ", "Upgrade "))
    return [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("versions", "new", "older"),
    [
        (("4.18.4",), "release-4.18", ()),
        (("4.18.4",), "release-4.17", ()),
        (("4.18.4",), "release-4.19", ("4.18.4",)),
        (("4.9.4",), "release-4.18", ("4.9.4",)),
        (("4.18.4",), "4.18.9", ("4.18.4",)),
        (("4.18.9",), "4.18.4", ()),
        (("4.18.0-rc.1",), "release-4.18", ()),
        (("4.18.4",), "next", ()),
        (("so new",), "release-4.18", ()),
        ((), "release-4.18", ()),
        (("4.18.4", "4.17.1"), "release-4.18", ("4.17.1",)),
    ],
)
def test_what_the_recorded_cluster_runs_is_said(
    tmp_path: Path, versions: tuple[str, ...], new: str, older: tuple[str, ...]
) -> None:
    for name in ("release-4.8", new):
        write(tmp_path / name / "w.yaml", crd(root(spec=obj())))
    recorded = write(tmp_path / "objects.yaml", *_of_cluster(*versions))
    reported = {0: [], 1: [f"the recording is of a cluster of {versions[0]}" if versions else ""]}.get(
        len(versions), [f"the recordings are of clusters of {', '.join(versions)} (--fleet judges many)"]
    )
    said = _notes("./release-4.8", f"./{new}", "--objects", recorded, cwd=tmp_path)
    warnings, notes = said[: len(older)], said[len(older) :]
    assert warnings == [_warning(version, f"./{new}") for version in older]
    assert notes[1:] == [f"note: {note}" for note in reported]
    assert notes[0].startswith("note: both sides have the same CRDs")


def test_every_format_says_it(tmp_path: Path) -> None:
    for name in ("release-4.8", "release-4.19"):
        write(tmp_path / name / "w.yaml", crd(root(spec=obj())))
    recorded = write(tmp_path / "objects.yaml", *_of_cluster("4.18.4"))
    formats = ("text", "markdown=r.md", "html=r.html", "json=r.json")
    asked = ("--kube-version", "1.26", *(part for name in formats for part in ("--format", name)))
    ran = run("simulate", "release-4.8", "release-4.19", "--objects", recorded, *asked, cwd=tmp_path)
    warning = _warning("4.18.4", "release-4.19")
    lines = ran.out.splitlines()
    assert (lines[1], lines[3]) == (f"  {warning}", "  note: the recording is of a cluster of 4.18.4")
    page, comment = ((tmp_path / name).read_text() for name in ("r.html", "r.md"))
    for text in ("the recording is of a cluster of 4.18.4", warning):
        assert text in page
        assert text in " ".join(comment.split())
    notes = json.loads((tmp_path / "r.json").read_text())["notes"]
    assert notes[1:] == ["the recording is of a cluster of 4.18.4", warning]


def test_on_the_way_up_it_is_the_older_release_that_wrote(tmp_path: Path) -> None:
    for name in ("release-4.18", "release-4.19"):
        write(tmp_path / name / "w.yaml", crd(root(spec=obj())))
    recorded = write(tmp_path / "objects.yaml", *_of_cluster("4.18.4"))
    said = _notes("./release-4.18", "./release-4.19", "--objects", recorded, "--upgrade", cwd=tmp_path)
    assert said[1:] == ["note: the recording is of a cluster of 4.18.4"]

"""versions of a recorded or live cluster: what it has stored, which releases refuse that, and the commands to paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer, kubeconfig, serving
from helpers import Json, run, write
from version_lines import ask, jumps, widget

STORED = {"v1beta1": "s", "v1": "s+"}


@pytest.fixture(autouse=True)
def _releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, flags in (("v1.0", {"v1beta1": "s+"}), ("v1.1", STORED), ("v1.2", {"v1": "s+"})):
        write(tmp_path / name / "w.json", widget(flags))


def recorded(flags: dict[str, str], *stored: str, kind: str = "Widget", group: str = "example.com") -> Json:
    """A CRD as a cluster has it."""
    made = widget(flags, kind)
    metadata = {"name": f"{kind.lower()}s.{group}", "resourceVersion": "7"}
    return {
        **made,
        "metadata": metadata,
        "spec": {**made["spec"], "group": group},
        "status": {"storedVersions": [*stored]},
    }


def objects(*names: str, kind: str = "Widget") -> list[Json]:
    return [
        {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name, "namespace": "n", "uid": name}}
        for name in names
    ]


def record(*items: Json) -> None:
    write(Path("r.json"), {"apiVersion": "v1", "kind": "List", "items": [*items]})


FORGET = "kubectl patch crd widgets.example.com --subresource=status --type=merge -p "
COMMANDS = [
    "kubectl get widgets.example.com -A -o json | kubectl replace -f -",
    FORGET + """'{"status":{"storedVersions":["v1"]}}'""",
]


def test_text() -> None:
    record(recorded(STORED, "v1beta1", "v1"), *objects("a", "b", "a"))
    ran = run("versions", "path:v1.1", "path:v1.2", "--objects", "r.json")
    assert (ran.code, ran.out.splitlines()[:9]) == (
        1,
        [
            "r.json to 2 releases: BLOCKED (1 blocked, 1 clean), 1 CRD to migrate",
            "  widgets.example.com  status.storedVersions has v1beta1",
            "    BLOCKED: r.json -> path:v1.2",
            "",
            "widgets.example.com  status.storedVersions v1beta1, v1; stores v1 now; 2 objects",
            "  Write each object once, so that none is stored in v1beta1:",
            f"    {COMMANDS[0]}",
            "  Then remove v1beta1 from the stored versions:",
            f"    {COMMANDS[1]}",
        ],
    )


def test_json_and_a_cluster_alone() -> None:
    record(recorded(STORED, "v1beta1", "v1"), recorded({"v1": "s+"}, "v1", kind="Gadget"), *objects("a"))
    report = ask(Path(), "--objects", "r.json", code=0)
    assert (report["old"]["name"], report["releases"], report["versions"], report["jumps"]) == ("r.json", [], [], [])
    assert report["cluster"] == {
        "source": ["r.json"],
        "live": False,
        "migrator": False,
        "crds": [
            {
                "crd": "gadgets.example.com",
                "kind": "Gadget",
                "stored_versions": ["v1"],
                "storage": "v1",
                "due": False,
                "objects": None,
                "steps": [],
            },
            {
                "crd": "widgets.example.com",
                "kind": "Widget",
                "stored_versions": ["v1beta1", "v1"],
                "storage": "v1",
                "due": True,
                "objects": 1,
                "steps": [
                    {"what": "Write each object once, so that none is stored in v1beta1:", "commands": COMMANDS[:1]},
                    {"what": "Then remove v1beta1 from the stored versions:", "commands": COMMANDS[1:]},
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    ("stored", "verdicts"),
    [
        (("v1beta1",), {"path:v1.0": "clean", "path:v1.1": "clean", "path:v1.2": "blocked"}),
        (("v1",), {"path:v1.0": "blocked", "path:v1.1": "clean", "path:v1.2": "clean"}),
        (("v1beta1", "v1"), {"path:v1.0": "blocked", "path:v1.1": "clean", "path:v1.2": "blocked"}),
    ],
)
def test_what_is_stored_decides_and_not_what_releases_store(stored: tuple[str, ...], verdicts: dict[str, str]) -> None:
    record(recorded(STORED, *stored))
    report = ask(Path(), *verdicts, "--objects", "r.json", code=1)
    assert jumps(report) == {("r.json", to, verdict) for to, verdict in verdicts.items()}


def test_back_to_a_release_that_lacks_the_stored_version() -> None:
    """The goal is the version that the release stores: first the storage flag moves."""
    record(recorded(STORED, "v1"))
    (found,) = ask(Path(), "path:v1.0", "--objects", "r.json", code=1)["cluster"]["crds"]
    first, *rest = found["steps"]
    flags = [
        {"op": "replace", "path": "/spec/versions/0/storage", "value": True},
        {"op": "replace", "path": "/spec/versions/1/storage", "value": False},
    ]
    assert (first["what"], shlex.split(first["commands"][0])[-1]) == (
        "Store objects in v1beta1:",
        json.dumps(flags, separators=(",", ":")),
    )
    assert [each["what"] for each in rest] == [
        "Write each object once, so that none is stored in v1:",
        "Then remove v1 from the stored versions:",
    ]


def test_the_installed_crd_does_not_serve_the_goal() -> None:
    record(recorded({"v1beta1": "s+"}, "v1beta1"))
    (found,) = ask(Path(), "path:v1.2", "--objects", "r.json", code=1)["cluster"]["crds"]
    assert found["steps"] == [
        {"what": "The installed CRD does not serve v1: go through a release with both versions.", "commands": []}
    ]


def test_where_the_cluster_has_a_migrator_it_rewrites_the_objects() -> None:
    migrator = recorded({"v1alpha1": "s+"}, "v1alpha1", kind="StorageVersionMigration", group="migration.k8s.io")
    record(recorded(STORED, "v1beta1", "v1"), migrator)
    report = ask(Path(), "--objects", "r.json", "--crd", "widgets.example.com", code=0)
    assert report["cluster"]["migrator"] is True
    (found,) = report["cluster"]["crds"]
    echo, wait = found["steps"][0]["commands"]
    assert json.loads(shlex.split(echo)[1]) == {
        "apiVersion": "migration.k8s.io/v1alpha1",
        "kind": "StorageVersionMigration",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"resource": {"group": "example.com", "version": "v1", "resource": "widgets"}},
    }
    assert shlex.split(echo)[2:] == ["|", "kubectl", "create", "-f", "-"]
    name = "storageversionmigrations.migration.k8s.io/widgets.example.com"
    assert wait == f"kubectl wait --for=condition=Succeeded --timeout=1h {name}"


def test_names_of_a_recording_are_quoted() -> None:
    crd = recorded(STORED, "v1beta1", "v1")
    crd["metadata"]["name"] = "widgets.example.com; rm -rf ~"
    record(crd)
    (found,) = ask(Path(), "--objects", "r.json", code=0)["cluster"]["crds"]
    commands = [command for step in found["steps"] for command in step["commands"]]
    assert all("'widgets.example.com; rm -rf ~'" in command for command in commands)


# -- what was not recorded ---------------------------------------------


def test_a_crd_without_the_status_of_a_server() -> None:
    crd = recorded(STORED, "v1")
    del crd["metadata"]["resourceVersion"]
    record(crd)
    report = ask(Path(), "path:v1.1", "--objects", "r.json", code=2)
    assert report["unjudged"] == [
        "widgets.example.com: its CRD was recorded without the status.storedVersions of a server"
    ]


def test_objects_without_their_crd() -> None:
    record(recorded({"v1": "s+"}, "v1", kind="Gadget"), *objects("a"))
    report = ask(Path(), "path:v1.1", "--objects", "r.json", code=2)
    assert report["unjudged"] == ["widgets.example.com: objects of it were recorded, but not its CRD"]


def test_what_an_aggregated_server_serves_needs_no_crd() -> None:
    """Clusters of OpenShift have Routes, and no CRD of them."""
    write(Path("v1.1/r.json"), recorded({"v1": "s+"}, kind="Route", group="route.openshift.io"))
    route = {"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": "a", "namespace": "n"}}
    record(recorded({"v1": "s+"}, "v1", kind="Gadget"), route)
    ran = run("versions", "path:v1.1", "--objects", "r.json")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "r.json to 1 release: CLEAN (1 clean), nothing to migrate")


def test_a_recording_without_crds() -> None:
    record(*objects("a"))
    ran = run("versions", "path:v1.1", "--objects", "r.json")
    assert (ran.code, ran.out) == (2, "")
    assert "no CRD in r.json: only CRDs say which versions a cluster has stored" in ran.err


def test_recordings_of_two_clusters() -> None:
    ids = ("11111111-2222-3333-4444-555555555555", "21111111-2222-3333-4444-555555555555")
    record(
        recorded(STORED, "v1"),
        *(
            {
                "apiVersion": "config.openshift.io/v1",
                "kind": "ClusterVersion",
                "metadata": {"name": "version", "uid": each},
                "spec": {"clusterID": each},
            }
            for each in ids
        ),
    )
    ran = run("versions", "path:v1.1", "--objects", "r.json")
    assert (ran.code, "the recordings are of 2 clusters: name those of one" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--cluster", "c", "--objects", "r.json"), "--cluster and --objects exclude each other"),
        (("--objects", "-"), "a recording is read twice"),
    ],
)
def test_usage(args: tuple[str, ...], sentence: str) -> None:
    ran = run("versions", "path:v1.1", *args)
    assert (ran.code, sentence in ran.err) == (2, True)


# -- a live cluster ---------------------------------------------


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(ApiServer()) as found:
        found.install(recorded(STORED, "v1beta1", "v1"), recorded({"v1": "s+"}, "v1", kind="Gadget"))
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", found.server_port)))
        yield found


def test_a_live_cluster_lists_only_what_is_to_migrate(server: ApiServer) -> None:
    server.put("/apis/example.com/v1/widgets", objects("a", "b"), "WidgetList", "example.com/v1")
    report = ask(Path(), "path:v1.2", "--cluster", "prod", code=1)
    gadget, found = report["cluster"]["crds"]
    assert (gadget["due"], found["objects"]) == (False, 2)
    assert found["steps"][0]["commands"] == [
        "kubectl --context prod get widgets.example.com -A -o json | kubectl --context prod replace -f -"
    ]
    assert not any("gadgets" in path for path in server.asked)
    assert set(server.methods) == {"GET"}


def test_a_list_that_is_refused_leaves_the_number_open(server: ApiServer) -> None:
    server.refuse("/apis/example.com/v1/widgets", 403)
    report = ask(Path(), "path:v1.1", "--cluster", "prod", code=0)
    assert [(each["crd"], each["objects"]) for each in report["cluster"]["crds"] if each["due"]] == [
        ("widgets.example.com", None)
    ]

"""The plan of a preflight follows from its answer: each reason has its step, and only a yes leads to the rollback."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from helpers import Json, Run, crd, obj, run, string, version, write
from widgets import GADGET, NEW, OLD, widget

GADGETS = crd(obj(spec=obj(mode=string("a", "b"))), kind="Gadget")


@pytest.fixture(autouse=True)
def _two_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases with two kinds that differ, and no more."""
    monkeypatch.chdir(tmp_path)
    release("old", crd(OLD), crd(GADGET, kind="Gadget"))
    release("new", crd(NEW), GADGETS)


def release(name: str, *crds: Json) -> None:
    for number, each in enumerate(crds):
        write(Path(name, f"{number}.json"), each)


def recording(*items: Json, name: str = "recording.json") -> str:
    write(Path(name), {"apiVersion": "v1", "kind": "List", "items": list(items)})
    return name


def preflight(*args: str) -> Run:
    return run("preflight", *args)


def ask(*args: str) -> Json:
    """The JSON report; the plan must fit the answer, and have a step for each reason."""
    ran = preflight(*args, "--format", "json")
    found = ran.report
    steps = [step["step"] for step in found["steps"]]
    assert ran.code == found["exit_code"]
    if found["answer"] in ("no", "unknown"):
        assert steps[-1] == "check" and "roll-back" not in steps
    else:
        assert "check" not in steps
    done = {(step["step"], step["crd"]) for step in found["steps"]} | {
        ("check", gap["what"]) for gap in found["missing"]
    }
    assert {(gap["step"], gap["what"]) for gap in found["missing"]} <= done
    crds = {step["crd"] for step in found["steps"]}
    assert {each["crd"] for each in (*found["causes"], *found["refused"], *found["losses"])} <= crds
    return found


def steps_of(found: Json) -> list[tuple[str, str]]:
    return [(step["step"], step["crd"]) for step in found["steps"]]


MORE = "recorded-more/gadgets.example.com.json"
NO_GADGETS = {"apiVersion": "example.com/v1", "kind": "GadgetList", "items": []}
FINE = widget("w", spec={"mode": "a"})
A_GADGET = {**FINE, "kind": "Gadget"}
FROM = ("--from", "new", "--kube-version", "1.29")


def test_a_kind_that_was_not_recorded_has_the_command_that_records_it(tmp_path: Path) -> None:
    found = ask("old", "--objects", recording(FINE), *FROM)
    assert (found["answer"], found["exit_code"]) == ("unknown", 2)
    assert [(step["step"], step["crd"], step["command"]) for step in found["steps"]] == [
        (
            "record",
            "gadgets.example.com",
            f"mkdir -p recorded-more && kubectl get --raw /apis/example.com/v1/gadgets > {MORE}",
        ),
        (
            "check",
            "",
            "crdcompat preflight old --objects recording.json --from new --kube-version 1.29 --objects recorded-more",
        ),
    ]
    write(Path(MORE), A_GADGET)  # what the server answers where there are none
    again = shlex.split(found["steps"][-1]["command"])[2:]
    assert ask(*again)["answer"] == "yes"


def test_the_screen_ends_an_unknown_answer_with_another_run(tmp_path: Path) -> None:
    ran = preflight("old", "--objects", recording(FINE), *FROM)
    assert ran.code == 2
    assert (
        "What to do, in this order (--dry-run=server tries a kubectl command)\n"
        "  1. Record gadgets.example.com into the folder recorded-more, and name the folder with --objects, too:\n"
        f"     mkdir -p recorded-more && kubectl get --raw /apis/example.com/v1/gadgets > {MORE}\n"
        "  2. Run preflight again.\n"
        "     crdcompat preflight old --objects recording.json --from new --kube-version 1.29 --objects recorded-more\n"
        "\n"
    ) in ran.out
    assert "Roll back" not in ran.out and "--cluster" not in ran.out


def test_repairs_below_an_unknown_answer_come_after_the_gaps() -> None:
    found = ask("old", "--objects", recording(widget("w", spec={"mode": "c", "size": 3})), *FROM)
    assert found["answer"] == "unknown"
    assert steps_of(found) == [
        ("record", "gadgets.example.com"),
        ("save", "widgets.example.com"),
        ("scale-down", ""),
        ("patch", "widgets.example.com"),
        ("check", ""),
    ]


def test_losses_alone_lead_to_the_rollback() -> None:
    found = ask("old", "--objects", recording(widget("w", spec={"size": 3}), A_GADGET), *FROM)
    assert (found["answer"], steps_of(found)) == (
        "yes, with losses",
        [("save", "widgets.example.com"), ("roll-back", "")],
    )


def test_the_new_recording_is_the_one_to_ask_after_a_repair() -> None:
    ran = preflight("old", "--objects", recording(widget("w", spec={"mode": "c"}), A_GADGET), *FROM)
    assert ran.code == 1
    assert (
        "3. Record the cluster again, and run preflight again on the new recording: a running controller may have "
        "written new values. crdcompat preflight old --objects recording.json --from new --kube-version 1.29 "
    ) in " ".join(ran.out.split())
    assert "Roll back" not in ran.out


def test_an_object_that_only_old_accepts_is_a_decision_and_no_step_to_the_rollback() -> None:
    """The installed CRD requires the field that has to go."""
    release("new", crd(obj(spec={**obj(mode=string("a", "b", "c")), "required": ["mode"]})), GADGETS)
    release("old", crd(obj(spec=obj(mode=string("a", "b")))), crd(GADGET, kind="Gadget"))
    args = "old", "--objects", recording(widget("w", spec={"mode": "c"}), A_GADGET), *FROM
    found = ask(*args)
    assert (found["answer"], steps_of(found)) == (
        "no",
        [("scale-down", ""), ("patch-after", "widgets.example.com"), ("check", "")],
    )
    shown = " ".join(preflight(*args).out.split())
    assert (
        "2. No write repairs 1 object (widgets.example.com w) before a rollback, because only old accepts them without "
        "the rejected values: delete and recreate them, or widen the CRD of old. If you roll back nevertheless, run "
        "this at once afterwards: kubectl -n default patch widgets.example.com w --type=merge"
    ) in shown


def test_an_object_in_a_version_that_old_lacks_has_a_step() -> None:
    """The server takes OLD's CRD, because nothing is stored in that version; the object cannot be written as it is."""
    more = version(NEW, "v2", storage=False)
    release("new", crd(versions=[version(NEW, "v1", storage=True), more]), GADGETS)
    item = {**widget("w", spec={"mode": "a"}), "apiVersion": "example.com/v2"}
    found = ask("old", "--objects", recording(item, A_GADGET), *FROM)
    assert (found["answer"], found["refused"]) == ("no", [])
    assert steps_of(found) == [("scale-down", ""), ("widen", "widgets.example.com"), ("check", "")]


def test_a_crd_of_old_that_cannot_be_read_is_mended() -> None:
    write(
        Path("old/broken.yaml"),
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {names: {}, versions: 3}\n",
    )
    found = ask("old", "--objects", recording(FINE, A_GADGET), *FROM)
    assert steps_of(found) == [("mend", "old: broken.yaml"), ("check", "")]


def test_objects_without_their_crd_need_the_release_that_has_it() -> None:
    """Without the CRD of Gadgets, the recording would say that the cluster has none."""
    recorded = {**crd(NEW)}
    found = ask("old", "--objects", recording(recorded, FINE, A_GADGET), "--kube-version", "1.29")
    assert found["missing"] == [
        {
            "what": "gadgets.example.com",
            "reason": "its CRD was not recorded, but objects of it were",
            "rule": None,
            "step": "name-release",
        }
    ]
    assert steps_of(found) == [("name-release", "gadgets.example.com"), ("check", "")]


def test_an_answer_that_depends_on_the_server_asks_for_it() -> None:
    found = ask("old", "--objects", recording(widget("w", spec={"mode": "c"}), A_GADGET), "--from", "new")
    assert (found["answer"], steps_of(found)) == (
        "unknown",
        [("name-server", "widgets.example.com"), ("check", "")],
    )


def test_a_file_that_is_cut_short_is_recorded_anew() -> None:
    write(Path("dump/widgets.json"), '{"apiVersion": "v1", "kind": "List", "items": [{"kind"')
    write(Path("dump/fine.json"), json.dumps({"apiVersion": "v1", "kind": "List", "items": [FINE]}))
    write(Path("dump/gadgets.json"), json.dumps(NO_GADGETS))
    found = ask("old", "--objects", "dump", *FROM)
    assert steps_of(found) == [("record-anew", "widgets.json"), ("check", "")]


def test_commands_repeat_what_was_given_in_words_of_the_shell(tmp_path: Path) -> None:
    write(Path("old crds/widgets.json"), crd(OLD))
    write(Path("my config.yaml"), "{}\n")
    name = recording(widget("w", spec={"mode": "c"}), name="it's.json")
    found = ask(
        "path:old crds",
        "--objects",
        name,
        "--from",
        "new",
        "--openshift-version",
        "4.13",
        "--operator",
        "a/b",
        "--all",
        "--config",
        "my config.yaml",
    )
    assert found["answer"] == "no"
    assert found["steps"][-1]["command"] == (
        """crdcompat preflight 'path:old crds' --objects 'it'"'"'s.json' --from new --all --openshift-version 4.13"""
        " --operator a/b --config 'my config.yaml'"
    )
    assert found["steps"][0]["command"] == "kubectl -n a scale deployment/b --replicas=0"

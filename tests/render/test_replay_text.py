"""The text of a replay: what works and what does not by kind, the repair as a command, and the verdict."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from helpers import Json, array, crd, obj, root, run, string, write
from msgspec.structs import replace
from report_samples import replayed, widget

from crdcompat.models.simulation import Repair, SimulatedObject, SimulationReport, Unrecorded
from crdcompat.render.escape import Style, finish
from crdcompat.render.pages import page_of
from crdcompat.render.text.text_page import page_text
from crdcompat.render.wording.replay import replay_verdict, rests_on
from crdcompat.render.wording.simulation import WRITTEN_AGAIN, repair_command
from crdcompat.vocabulary.writes import RepairVerdict

ERA = ("--kube-version", "1.26")


def _lines(report: SimulationReport, **style: int) -> list[str]:
    return list(finish(page_text(page_of(report, Style(**style)), Style(**style))))


def _replay(top: Path, old: Json, new: Json, *objects: Json, options: tuple[str, ...] = ERA) -> list[str]:
    for side, data in (("r1", old), ("r2", new)):
        write(top / side / "w.json", json.dumps(crd(data)))
    write(top / "o.json", *objects)
    return run("simulate", "r1", "r2", "--objects", "o.json", *options, cwd=top).out.splitlines()


def test_kinds_are_shown_and_accepted_objects_counted(tmp_path: Path) -> None:
    old, new = (root(spec=obj(s=string()), status=obj(p=string(*v), q=string(*v))) for v in ("A", "AB"))
    bad = [{**widget(f"bad{number}"), "status": {"p": "B", "q": "B"}} for number in range(4)]
    lines = _replay(tmp_path, old, new, *bad, *(widget(f"good{number}") for number in range(3)))
    patch = '{"status":{"p":null,"q":null}}'
    shown = [re.sub(r":1:\d+$", ":1:N", line) for line in lines[lines.index("") + 1 :]]
    assert shown[5].startswith('  API server: Widget.example.com "bad0" is invalid: [status.p: Unsupported value: "B"')
    assert [*shown[:5], *shown[7:]] == [
        "rejected widgets.example.com: 4 of 7 objects (n/bad0, n/bad1, n/bad2 and 1 more)",
        '  status.{p,q} holds "B".',
        "  --> r1: w.json:1:N",
        "  --> r1: w.json:1:N",
        "  fails: every write",
        f"  repair: this write to /status is accepted. {WRITTEN_AGAIN}",
        f"    kubectl patch widgets.v1.example.com/bad0 -n n --subresource=status --type=merge -p '{patch}'",
        "    and 3 more objects likewise (-v shows each command)",
        "",
        "accepted 3 objects of 1 kind",
        "",
        "r2 -> r1: BLOCKED (4 of 7 recorded objects)",
        "  Widget  status.{p,q}",
        '    r1 rejects "B": every write fails',
        "Replayed 7 objects of 1 kind: 4 rejected, 3 accepted.",
    ]
    verbose = run("simulate", "r1", "r2", "--objects", "o.json", *ERA, "-v", cwd=tmp_path).out
    assert verbose.count("kubectl patch") == 4 and verbose.count("  status-update  ") == 4


def test_a_command_is_read_by_a_shell_as_it_is_meant() -> None:
    item = SimulatedObject(
        "example.com/v1", "Widget", "n s", "a'b", "o", "widgets.example.com", "v1", {},
        Repair(RepairVerdict.MAIN, {"spec": {"a": "it's $HOME `x` \u202e\x1b"}}), (), (),
    )  # fmt: skip
    command = repair_command(item)
    *words, patch = shlex.split(command)
    assert words == ["kubectl", "patch", "widgets.v1.example.com/a'b", "-n", "n s", "--type=merge", "-p"]
    assert json.loads(patch) == item.repair.patch
    assert "\u202e" not in command and "\x1b" not in command, "the command is the same after escaping"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "-o"}, "kubectl patch widgets.v1.example.com/-o"),
        ({"namespace": "--kubeconfig=x"}, "(--format json has the patch)"),
        ({"crd": "--kubeconfig=x.y"}, "(--format json has the patch)"),
        ({"crd": "widgets.config.openshift.io"}, "oc patch widgets.v1.config.openshift.io/a "),
        ({"repair": Repair(RepairVerdict.MAIN, {"spec": "x" * 5_000})}, "(--format json has the patch)"),
        ({"repair": Repair(RepairVerdict.MAIN, {"spec": "<hidden>"})}, "(values are hidden: --no-redact"),
    ],
)
def test_no_command_is_made_of_what_cannot_be_pasted(changes: dict[str, object], said: str) -> None:
    repair = Repair(RepairVerdict.MAIN, {"spec": None})
    item = SimulatedObject("", "Widget", "", "a", "o", "widgets.example.com", "v1", {}, repair, (), ())
    assert repair_command(replace(item, **changes)).startswith(said)


def test_the_verdict_names_what_it_rests_on(tmp_path: Path) -> None:
    blocked = replayed(tmp_path / "blocked")
    assert replay_verdict(blocked).sentence == "r2 -> r1: BLOCKED (1 of 1 recorded object)"
    clean = replayed(tmp_path / "clean", widget("a"))
    assert replay_verdict(clean).sentence == "r2 -> r1: CLEAN (1 recorded object accepted)"
    assert rests_on(clean) == "Replayed 1 object of 1 kind: 1 accepted."
    partly = replace(clean, unrecorded=(Unrecorded("gadgets.example.com", "Gadget", 2),))
    said = "nothing was recorded of 1 kind with findings: Gadget"
    assert replay_verdict(partly).sentence == f"r2 -> r1: UNKNOWN (not judged: {said})"
    assert rests_on(partly).endswith("1 accepted. Not recorded: 1 kind with findings.")
    assert "  not recorded: Gadget (2 findings)" in _lines(partly)
    namesake = Unrecorded("gadgets.other.example.com", "Gadget", 1)
    alike = _lines(replace(partly, unrecorded=(*partly.unrecorded, namesake)))
    assert "  not recorded: gadgets.example.com (2 findings), gadgets.other.example.com (1 finding)" in alike
    empty = replace(clean, objects=())
    assert replay_verdict(empty).tone == "unknown"


def test_a_restore_that_fails_is_no_rollback_that_fails(tmp_path: Path) -> None:
    old, new = (root(spec=obj(mode=string(*values), note=string())) for values in ("A", "AB"))
    stored = {**widget("a"), "spec": {"mode": "B", "note": "n"}}
    lines = _replay(tmp_path, old, new, stored, options=("--kube-version", "1.33"))
    assert lines[-2:] == [
        "r2 -> r1: CLEAN (1 recorded object accepted)",
        (
            "Replayed 1 object of 1 kind: 1 accepted. Rollback works; restoring from a backup fails for 1 object "
            "(Widget/n/a)."
        ),
    ]


def test_data_that_is_lost_is_named(tmp_path: Path) -> None:
    old, new = root(spec=obj()), root(spec=obj(n=string(), l=array(obj(m=string()))))
    held = {**widget("a"), "spec": {"n": "x", "l": [{"m": "y"}]}}
    lines = _replay(tmp_path, old, new, {**held, "status": {}})
    assert "loses data widgets.example.com: 1 of 1 object (n/a)" in lines
    assert "  the next accepted write erases spec.l, spec.n" in lines
    assert "r2 -> r1: AT RISK (1 of 1 recorded object loses data)" in lines


def test_a_long_report_begins_with_its_verdict(tmp_path: Path) -> None:
    report = replayed(tmp_path)
    long, short = _lines(report, height=5), _lines(report)
    end = long.index("")
    assert long[:end] == long[-end:] and long[0].startswith("r2 -> r1: BLOCKED")
    assert long[end + 1 :] == short

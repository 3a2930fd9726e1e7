"""preflight on a cluster on the loopback: the answer, what it rests on, and what makes it unknown."""

from __future__ import annotations

import html
import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from api_server import CRDS, VERSION, ApiServer
from helpers import Json, Run, array, crd, obj, run, string, version, write
from widgets import GADGET, NEW, OLD, WIDGETS, widget

pytest.importorskip("kubernetes")

#: What else decides on writes: the lists that a server does not have are asked for in an older version.
ADMISSION = [
    f"/apis/admissionregistration.k8s.io/{each}"
    for each in (
        "v1/validatingadmissionpolicies",
        "v1beta1/validatingadmissionpolicies",
        "v1/mutatingadmissionpolicies",
        "v1beta1/mutatingadmissionpolicies",
        "v1/validatingwebhookconfigurations",
        "v1/mutatingwebhookconfigurations",
    )
]
ADMISSION.append("/apis/apiextensions.openshift.io/v1alpha1/compatibilityrequirements")


def preflight(*more: str) -> Run:
    return run("preflight", "old", "--cluster", "prod", *more)


def report(*more: str) -> Json:
    return preflight("--format", "json", *more).report


def missing(found: Json) -> dict[str, str]:
    return {item["what"]: item["reason"] for item in found["missing"]}


def plan(found: Json) -> list[tuple[str, str]]:
    return [(step["step"], step["command"]) for step in found["steps"]]


def asked(server: ApiServer) -> list[str]:
    return [urlsplit(path).path for path in server.asked]


# -- the answers ---------------------------------------------


def test_yes(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "a"}, status={"phase": "Ready"})])
    ran = preflight()
    assert ran.code == 0, ran.out
    assert ran.out.startswith(
        "May prod go back to old?  YES\n"
        "  Every write is accepted, and nothing is lost (1 object of 1 kind judged).\n"
        "  The cluster runs Kubernetes v1.29.8. After the rollback, Kubernetes 1.29 judges.\n"
    )
    assert "What to do" not in ran.out


def test_only_lists_are_asked_for_and_only_of_kinds_that_can_matter(cluster: ApiServer) -> None:
    preflight()
    assert cluster.methods.keys() == {"GET"}
    assert asked(cluster) == [CRDS, VERSION, WIDGETS, CRDS, *ADMISSION]
    assert [path for path in cluster.accepted if "PartialObjectMetadataList" in path]


def test_all_kinds_on_request(cluster: ApiServer) -> None:
    preflight("--all")
    assert asked(cluster) == [CRDS, VERSION, "/apis/example.com/v1/gadgets", WIDGETS, CRDS, *ADMISSION]
    assert cluster.methods.keys() == {"GET"}


def test_yes_with_losses(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "a", "size": 3}), widget("v", spec={"size": 4})])
    found = report()
    assert (found["answer"], found["exit_code"]) == ("yes, with losses", 0)
    assert found["losses"] == [
        {
            "crd": "widgets.example.com",
            "kind": "Widget",
            "path": "spec.size",
            "objects": 2,
            "example": "Widget/default/w",
        }
    ]
    assert [(step["step"], step["command"]) for step in found["steps"]] == [
        ("save", "kubectl --context prod get widgets.example.com -A -o json > widgets.example.com.json"),
        ("roll-back", ""),
    ]
    assert preflight().code == 0


def test_a_rejected_object_loses_its_fields_after_the_repair(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c", "size": 3}), widget("v", spec={"mode": "c"})])
    found = report()
    assert (found["answer"], found["summary"]["rejected"], found["summary"]["losing"]) == ("no", 2, 1)
    assert [(each["path"], each["objects"]) for each in found["losses"]] == [("spec.size", 1)]
    assert [each["step"] for each in found["steps"]] == ["save", "scale-down", "patch", "patch", "check"]


def test_a_long_report_ends_with_the_answer(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c", "size": 3})])
    short = preflight().out
    verdict = "May prod go back to old?  NO\n  After the rollback 1 of 1 object cannot be written.\n"
    assert (short.startswith(verdict), short.count(verdict)) == (True, 1)
    cluster.put(WIDGETS, [widget(f"w{number}", spec={"mode": "c"}) for number in range(40)])
    long = preflight("-v").out
    verdict = verdict.replace("1 of 1 object", "40 of 40 objects")
    assert (long.startswith(verdict), long.endswith(f"\n\n{verdict}"), long.count(verdict)) == (True, True, 2)


def test_no_with_the_repair_in_its_order(cluster: ApiServer) -> None:
    bad = widget("w", "widget-operator", spec={"mode": "c"}, status={"phase": "Paused"})
    cluster.put(WIDGETS, [bad, widget("fine", spec={"mode": "a"})])
    found = report("--operator", "operators/widget-operator")
    assert (found["answer"], found["exit_code"]) == ("no", 1)
    assert found["summary"]["kinds"] == [
        {"crd": "widgets.example.com", "kind": "Widget", "findings": 3, "objects": 2, "rejected": 1, "losing": 0}
    ]
    assert [(each["path"], each["objects"], each["total"]) for each in found["causes"]] == [
        ("spec.mode", 1, 2),
        ("status.phase", 1, 2),
    ]
    assert sorted((each["manager"], each["path"]) for each in found["writers"]) == [
        ("widget-operator", "spec.mode"),
        ("widget-operator", "status.phase"),
    ]
    patch = "kubectl --context prod -n default patch widgets.example.com w"
    assert [(step["step"], step["command"]) for step in found["steps"]] == [
        ("scale-down", "kubectl --context prod -n operators scale deployment/widget-operator --replicas=0"),
        ("patch", f"""{patch} --type=merge -p '{{"spec":{{"mode":null}}}}'"""),
        ("patch", f"""{patch} --subresource=status --type=merge -p '{{"status":{{"phase":null}}}}'"""),
        ("check", "crdcompat preflight old --cluster prod --operator operators/widget-operator"),
    ]
    assert preflight().code == 1


def test_what_the_screen_says_when_the_answer_is_no(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", "widget-operator", spec={"mode": "c"})])
    assert preflight().out == (
        "May prod go back to old?  NO\n"
        "  After the rollback 1 of 1 object cannot be written.\n"
        "  The cluster runs Kubernetes v1.29.8. After the rollback, Kubernetes 1.29 judges.\n"
        "\n"
        "What old rejects\n"
        '  1 of 1 Widget: spec.mode holds "c" (written by widget-operator)\n'
        "\n"
        "What to do, in this order (--dry-run=server tries a kubectl command)\n"
        "  1. Scale the running operator down: widget-operator wrote the values, and may write them again (--operator\n"
        "     NAMESPACE/NAME fills in the command).\n"
        "     kubectl --context prod -n NAMESPACE scale deployment/NAME --replicas=0\n"
        "  2. Take the rejected values out now: the installed CRD accepts the objects without them:\n"
        "     kubectl --context prod -n default patch widgets.example.com w --type=merge"
        """ -p '{"spec":{"mode":null}}'\n"""
        "  3. Run preflight again: a running controller may have written new values.\n"
        "     crdcompat preflight old --cluster prod\n"
        "\n"
        "While CRDs and operator differ, this can fail (whatever is stored now)\n"
        "  old CRDs, new operator\n"
        "    Widget status.phase: writes are rejected\n"
        "    Widget spec.mode: writes are rejected\n"
        "    1 field can be lost or defaulted\n"
        "  new CRDs, old operator: nothing fails\n"
        "\n"
        "Judged: 1 Widget.\n"
    )


def test_values_that_a_newer_server_tolerates(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c"})])
    found = report("--kube-version", "1.33")
    assert (found["answer"], found["causes"], found["steps"]) == ("yes", [], [])
    assert [(each["path"], each["objects"]) for each in found["tolerated"]] == [("spec.mode", 1)]
    assert (
        "What old tolerates (as long as nobody changes it; it cannot be created anew)\n"
        '  1 of 1 Widget: spec.mode holds "c"\n'
    ) in preflight("--kube-version", "1.33").out


def test_nothing_to_roll_back(cluster: ApiServer) -> None:
    cluster.install(crd(NEW, group="other.io"))
    ran = preflight()
    assert ran.code == 0
    assert ran.out == (
        "May prod go back to old?  NOTHING TO ROLL BACK\n"
        "  The cluster has none of the CRDs of old: nothing to roll back here.\n"
        "  The cluster runs Kubernetes v1.29.8.\n"
    )
    assert asked(cluster) == [CRDS, VERSION, CRDS]


def test_a_release_without_crds_is_no_answer(cluster: ApiServer) -> None:
    write(Path("empty/x.yaml"), "kind: ConfigMap\n")
    ran = run("preflight", "empty", "--cluster", "prod")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("crdcompat: no CRD in empty\n")


def test_in_markdown_values_are_hidden(cluster: ApiServer) -> None:
    write(Path("old/widgets.json"), crd(obj(spec=obj(note=string(maxLength=3)))))
    cluster.install(crd(obj(spec=obj(note=string(), list=array(string())))))
    cluster.put(WIDGETS, [widget("w", spec={"note": "a secret", "list": ["another"]})])
    ran = preflight("--format", "markdown")
    assert ran.code == 1
    assert ran.out.startswith("## crdcompat: `May prod go back to old?` NO\n\n```text\n")
    assert "<summary><code>What to do, in this order" in ran.out
    assert "secret" not in ran.out and "another" not in ran.out


def test_a_page_has_the_answer_the_commands_and_the_kinds(cluster: ApiServer) -> None:
    write(Path("old/widgets.json"), crd(obj(spec=obj(note=string(maxLength=3)))))
    cluster.install(crd(obj(spec=obj(note=string(), size={"type": "integer"}))))
    cluster.put(WIDGETS, [widget("w", spec={"note": "<b>new</b>", "size": 3})])
    ran = preflight("--format", "html")
    assert ran.code == 1
    assert '<strong class="mark blocked">NO</strong>' in ran.out
    commands = [command for step in report()["steps"] if (command := step.get("command"))]
    assert commands
    for text in (*commands, "What old rejects", "What is lost", "While CRDs and operator differ"):
        assert html.escape(text, quote=False) in ran.out
    assert '<th scope="row">widgets.example.com</th>' in ran.out.replace("<wbr>", "")
    assert "<b>new" not in ran.out


def test_a_page_names_what_is_missing_and_the_rule_that_allows_it(cluster: ApiServer) -> None:
    cluster.refuse(WIDGETS, 403)
    ran = preflight("--format", "html")
    assert ran.code == 2
    assert '<strong class="mark unknown">UNKNOWN</strong>' in ran.out
    assert "- apiGroups: [example.com]\n  resources: [widgets]\n  verbs: [list]" in ran.out


# -- CRDs that the server refuses ---------------------------------------------


def _two(served: bool = True, **stored: str) -> Json:
    storage = stored.get("storage", "v2")
    return crd(
        versions=[
            version(OLD, "v1", storage=storage == "v1", served=served),
            version(NEW, "v2", storage=storage == "v2"),
        ]
    )


def test_a_stored_version_that_old_lacks(cluster: ApiServer) -> None:
    cluster.install({**_two(), "status": {"storedVersions": ["v1", "v2"]}})
    found = report()
    assert found["answer"] == "no"
    assert [each["crd"] for each in found["refused"]] == ["widgets.example.com"]
    assert "v2" in found["refused"][0]["message"]
    flags = (
        '[{"op":"replace","path":"/spec/versions/0/storage","value":true},'
        '{"op":"replace","path":"/spec/versions/1/storage","value":false}]'
    )
    name = "widgets.example.com"
    forget = '{"status":{"storedVersions":["v1"]}}'
    assert [(step["step"], step["command"]) for step in found["steps"]] == [
        ("scale-down", "kubectl --context prod -n NAMESPACE scale deployment/NAME --replicas=0"),
        ("move-storage", f"kubectl --context prod patch crd {name} --type=json -p '{flags}'"),
        ("rewrite", f"kubectl --context prod get {name} -A -o json | kubectl --context prod replace -f -"),
        (
            "forget-version",
            f"kubectl --context prod patch crd {name} --subresource=status --type=merge -p '{forget}'",
        ),
        ("check", "crdcompat preflight old --cluster prod"),
    ]


def test_objects_were_once_stored_in_a_version_that_old_lacks(cluster: ApiServer) -> None:
    cluster.install({**_two(storage="v1"), "status": {"storedVersions": ["v1", "v2"]}})
    found = report()
    assert found["answer"] == "no"
    steps = [step["step"] for step in found["steps"]]
    assert steps == ["scale-down", "rewrite", "forget-version", "check"]


def test_nobody_can_move_the_objects(cluster: ApiServer) -> None:
    cluster.install({**_two(served=False), "status": {"storedVersions": ["v2"]}})
    steps = [(step["step"], step["crd"]) for step in report()["steps"]]
    assert steps == [("scale-down", ""), ("widen", "widgets.example.com"), ("check", "")]


# -- what makes the answer unknown ---------------------------------------------


def test_a_kind_that_may_not_be_listed(cluster: ApiServer) -> None:
    cluster.refuse(WIDGETS, 403)
    found = report()
    assert (found["answer"], found["exit_code"]) == ("unknown", 2)
    (item,) = found["missing"]
    assert item["what"] == "widgets.example.com"
    assert item["reason"] == "cannot be listed: 403 refused with 403 (these credentials may not list it)"
    assert item["rule"] == {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["list"]}
    assert plan(found) == [("allow", ""), ("check", "crdcompat preflight old --cluster prod")]
    ran = preflight()
    assert (
        "  1. Let the user of this command list widgets.example.com: bind a ClusterRole with the rules above.\n"
        in ran.out
    )
    assert ran.code == 2
    assert (
        "May prod go back to old?  UNKNOWN\n  Not everything could be judged: 1 gap.\n" in ran.out
        and "    - apiGroups: [example.com]\n      resources: [widgets]\n      verbs: [list]\n" in ran.out
    )


def test_crds_that_may_not_be_listed(cluster: ApiServer) -> None:
    cluster.refuse(CRDS, 403)
    found = report()
    assert (found["answer"], found["exit_code"]) == ("unknown", 2)
    (item,) = found["missing"]
    assert "403" in item["reason"]
    assert item["rule"] == {
        "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["list"],
    }  # fmt: skip
    again = "crdcompat preflight old --cluster prod --all"
    assert plan(report("--all")) == [("allow", ""), ("check", again)]


@pytest.mark.parametrize("status", [401, 404, 410, 500, 503])
@pytest.mark.parametrize("path", [CRDS, WIDGETS])
def test_a_list_that_is_refused(cluster: ApiServer, path: str, status: int) -> None:
    cluster.refuse(path, status)
    found = report()
    assert (found["answer"], found["exit_code"]) == ("unknown", 2)
    (item,) = found["missing"]
    assert str(status) in item["reason"]
    assert item["rule"] is None
    again = "crdcompat preflight old --cluster prod"
    assert plan(found) == [("read", f"kubectl --context prod get --raw {path}"), ("check", again)]


@pytest.mark.parametrize("body", [b"", b"<html>login</html>", b'{"items": [', b"[]"])
@pytest.mark.parametrize("path", [CRDS, WIDGETS])
def test_answers_that_are_none(cluster: ApiServer, path: str, body: bytes) -> None:
    cluster.answers[path] = lambda _: (200, body)
    assert (report()["answer"], preflight().code) == ("unknown", 2)


def test_a_second_page_that_is_not_there(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget(f"w{n}", spec={"mode": "c"}) for n in range(501)])
    first = cluster.answers[WIDGETS]
    cluster.answers[WIDGETS] = lambda token: first(token) if not token else (503, b"busy")
    found = report()
    assert found["answer"] == "unknown"
    assert found["summary"]["rejected"] == 500
    assert "What was judged says no" in preflight().out


def test_a_list_that_expires_is_read_again(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget(f"w{n}", spec={"mode": "a"}) for n in range(1200)])
    cluster.forget(WIDGETS, "1000", 1)
    found = report()
    assert (found["answer"], found["summary"]["objects"]) == ("yes", 1200)
    assert asked(cluster).count(WIDGETS) == 6


@pytest.mark.parametrize("change", ["changed", "deleted", "created"])
def test_a_cluster_that_changes_while_it_is_read(cluster: ApiServer, change: str) -> None:
    before = cluster.answers[CRDS]
    if change == "created":
        cluster.install(crd(NEW))
        before = cluster.answers[CRDS]
        cluster.install(crd(NEW), crd(GADGET, kind="Gadget"))
    elif change == "deleted":
        cluster.install(crd(NEW))
    else:
        listed = json.loads(before("")[1])
        listed["items"][1]["metadata"]["resourceVersion"] = "77"
        cluster.answers[CRDS] = lambda _: (200, json.dumps(listed).encode())
    after = cluster.answers[CRDS]
    cluster.answers[CRDS] = lambda _: (before if asked(cluster).count(CRDS) == 1 else after)("")
    found = report()
    assert missing(found) == {
        "gadgets.example.com": f"the CRD was {change} while the cluster was read: run preflight again"
    }
    assert found["exit_code"] == 2
    assert plan(found) == [("check", "crdcompat preflight old --cluster prod")]


def test_crds_that_cannot_be_read_again(cluster: ApiServer) -> None:
    before = cluster.answers[CRDS]
    cluster.answers[CRDS] = lambda _: before("") if asked(cluster).count(CRDS) == 1 else (503, b"busy")
    found = report()
    assert found["answer"] == "unknown"
    assert list(missing(found)) == ["CRDs"]


def test_a_version_of_the_server_that_nobody_knows(cluster: ApiServer) -> None:
    build = json.loads(cluster.answers[VERSION]("")[1])
    cluster.answers[VERSION] = lambda _: (200, json.dumps({**build, "gitVersion": "v2.0.0"}).encode())
    found = report()
    assert list(missing(found)) == ["the server's version"]
    assert plan(found) == [("name-server", ""), ("check", "crdcompat preflight old --cluster prod")]
    assert report("--kube-version", "1.36")["answer"] == "yes"


def test_a_server_that_does_not_say_its_version(cluster: ApiServer) -> None:
    cluster.refuse(VERSION, 403)
    cluster.put(WIDGETS, [widget("w", status={"phase": "Paused"})])
    found = report()
    assert found["cluster"]["judge"] == ""
    assert [note for note in found["notes"] if "--kube-version" in note]
    assert report("--kube-version", "1.26")["answer"] == "no"


def test_a_crd_of_old_that_cannot_be_read(cluster: ApiServer) -> None:
    write(
        Path("old/broken.yaml"),
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {names: {}, versions: 3}\n",
    )
    found = report()
    assert found["answer"] == "unknown"
    assert [what for what in missing(found) if "broken.yaml" in what]


def test_a_kind_that_needs_a_conversion_webhook(cluster: ApiServer) -> None:
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com/convert"}}
    both = _two(storage="v1")
    both["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    write(Path("old/widgets.json"), both)
    one = json.loads(json.dumps(both))
    one["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {**NEW}
    cluster.install(one)
    cluster.put(WIDGETS, [widget("w", spec={"mode": "a"}), widget("v", spec={"mode": "a"})])
    found = report()
    assert found["answer"] == "unknown"
    assert "converts versions by a webhook" in missing(found)["widgets.example.com"]
    assert "(2 times)" in missing(found)["widgets.example.com"]
    assert plan(found) == [("try", ""), ("check", "crdcompat preflight old --cluster prod")]


# -- access, and wrong usage ---------------------------------------------


def test_the_smallest_role(cluster: ApiServer) -> None:
    ran = preflight("--print-rbac")
    assert ran.code == 0
    assert ran.out == (
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: ClusterRole\n"
        "metadata:\n"
        "  name: crdcompat-preflight\n"
        "rules:\n"
        "- apiGroups: [apiextensions.k8s.io]\n"
        "  resources: [customresourcedefinitions]\n"
        "  verbs: [list]\n"
        "- apiGroups: [example.com]\n"
        "  resources: [widgets]\n"
        "  verbs: [list]\n"
    )
    assert asked(cluster) == [CRDS, VERSION]
    assert "resources: [gadgets, widgets]\n" in preflight("--print-rbac", "--all").out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "name the cluster: --cluster CONTEXT"),
        (("--cluster", "prod", "--objects", "x"), "name the cluster"),
        (("--cluster", "prd"), "no context prd in the kubeconfig: there is prod"),
        (("--cluster", "prod", "--operator", "x"), "write it as NAMESPACE/NAME"),
        (("--cluster", "prod", "--from", "old"), "--from goes with --objects"),
        (("--cluster", "prod", "--format", "sarif"), "what can: html, json, "),
        (("--objects", "-"), "a recording is read twice"),
        (("--objects", "old"), "no such"),
    ],
)
def test_wrong_usage(cluster: ApiServer, args: tuple[str, ...], says: str) -> None:
    ran = run("preflight", "old", *args) if "old" not in args[1:2] else run("preflight", "old", "--objects", "missing")
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_writers_of_as_many_objects_come_by_name(cluster: ApiServer) -> None:
    fields = {f"k{number}": "x" for number in range(9)}
    write(Path("old/widgets.json"), crd(obj(spec=obj(**{name: string("a") for name in fields}))))
    cluster.install(crd(obj(spec=obj(**{name: string() for name in fields}))))
    cluster.put(WIDGETS, [widget("w", "m", spec=fields)])
    found = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    assert [each["path"] for each in found["writers"]] == [f"spec.k{number}" for number in range(9)]

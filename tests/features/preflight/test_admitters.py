"""Admission policies and webhooks of the judged kinds are named, and are no error where they cannot be listed."""

from __future__ import annotations

import pytest
import yaml
from api_server import ApiServer
from helpers import Json, run
from widgets import WIDGETS, widget

pytest.importorskip("kubernetes")

API = "/apis/admissionregistration.k8s.io"
REQUIREMENTS = "/apis/apiextensions.openshift.io/v1alpha1"
POLICIES = "validatingadmissionpolicies"
WEBHOOKS = "validatingwebhookconfigurations"


def notes(*more: str) -> list[str]:
    found = run("preflight", "old", "--cluster", "prod", "--format", "json", *more).report
    assert found["answer"] == "yes"
    return [note for note in found["notes"] if note.startswith("not judged")]


def rule(group: str = "example.com", resource: str = "widgets", operation: str = "UPDATE") -> Json:
    return {"apiGroups": [group], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}


def policy(name: str, *rules: Json) -> Json:
    return {"metadata": {"name": name}, "spec": {"matchConstraints": {"resourceRules": list(rules)}}}


def webhook(name: str, *rules: Json) -> Json:
    return {
        "metadata": {"name": name},
        "webhooks": [{"name": f"{name}.example.com", "rules": [each]} for each in rules],
    }


def test_a_cluster_without_them(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "a"})])
    assert notes() == []


def test_those_of_the_judged_kinds(cluster: ApiServer) -> None:
    cluster.put(f"{API}/v1/{POLICIES}", [policy("a", rule()), policy("b", rule("*", "*", "*")), policy("c", {})])
    cluster.put(f"{API}/v1/{WEBHOOKS}", [webhook("d", rule("other"), rule(resource="widgets/status"))])
    assert notes() == ["not judged: 2 policies and 1 webhook configuration on Widget (a, b, d)"]
    assert sorted(notes("--all")) == [
        "not judged: 1 policy and 1 webhook configuration on Widget (a, d)",
        "not judged: 1 policy on Widget, Gadget (b)",
    ]
    assert cluster.methods.keys() == {"GET"}
    report = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    empty: Json = {"requirements": [], "lists": [], "reason": ""}
    assert report["admission"] == [{"kinds": ["Widget"], "policies": ["a", "b"], "webhooks": ["d"], **empty}]


@pytest.mark.parametrize(
    "other",
    [
        rule("other.com"),
        rule(resource="gadgets"),
        rule(operation="DELETE"),
        rule(operation="CONNECT"),
        {},
        {"resources": 3},
    ],
)
def test_rules_on_other_things(cluster: ApiServer, other: Json) -> None:
    cluster.put(f"{API}/v1/{POLICIES}", [policy("a", other), policy("b"), {"metadata": {"name": "c"}}, {"spec": 1}])
    cluster.put(f"{API}/v1/mutatingwebhookconfigurations", [webhook("d", other), webhook("e")])
    assert notes() == []


def test_an_older_version_of_the_list(cluster: ApiServer) -> None:
    cluster.put(f"{API}/v1beta1/{POLICIES}", [policy("a", rule(operation="CREATE"))])
    cluster.put(f"{API}/v1beta1/mutatingadmissionpolicies", [policy("m", rule())])
    assert notes() == ["not judged: 2 policies on Widget (a, m)"]


def test_pages(cluster: ApiServer) -> None:
    cluster.put(f"{API}/v1/{POLICIES}", [policy(f"p{number:03}", rule()) for number in range(501)])
    (note,) = notes()
    assert note.startswith("not judged: 501 policies on Widget (p000, ")


def test_lists_that_are_forbidden_are_no_error(cluster: ApiServer) -> None:
    for plural in (POLICIES, "mutatingadmissionpolicies", WEBHOOKS):
        cluster.refuse(f"{API}/v1/{plural}", 403)
    why = "cannot be listed: 403 refused with 403 (these credentials may not list it)"
    lists = f"{POLICIES}, mutatingadmissionpolicies, {WEBHOOKS}"
    assert notes() == [f"not judged, and not known: {lists} on the judged kinds, if any ({why})"]


def test_a_cluster_where_nothing_is_judged_is_not_asked(cluster: ApiServer) -> None:
    run("preflight", "old/gadgets.json", "--cluster", "prod")
    assert [each for each in cluster.asked if each.startswith(API)] == []


def requirement(name: str, data: str) -> Json:
    schema = {"customResourceDefinition": {"type": "YAML", "data": data}}
    return {"metadata": {"name": name}, "spec": {"compatibilitySchema": schema}}


def test_the_requirements_that_state_a_judged_crd(cluster: ApiServer) -> None:
    """As ``crdcompat requirement`` writes them; others, and those that cannot be read, concern no judged kind."""
    data = yaml.safe_load(run("requirement", "old", "--crd", "widgets.example.com").out)
    cluster.put(
        f"{REQUIREMENTS}/compatibilityrequirements",
        [
            {"metadata": {"name": "stay"}, "spec": data["spec"]},
            requirement("other", "metadata: {name: others.example.com}"),
            requirement("broken", "{"),
            requirement("empty", ""),
            {"metadata": {"name": "bare"}, "spec": 3},
        ],
    )
    (note,) = notes()
    assert note == (
        "not judged: 1 CompatibilityRequirement on Widget (stay); crdcompat diff REQUIREMENT NEW says what it refuses"
    )
    report = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    assert [(each["kinds"], each["requirements"]) for each in report["admission"]] == [(["Widget"], ["stay"])]

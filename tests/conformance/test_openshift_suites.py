"""The judge against openshift/api's own API server suites, release by release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import suites
from helpers import Json, commit, crd, git, root, string, write
from helpers import obj as schema

from crdcompat.apiserver.server_versions import Server

#: Cases that there are in a release of the bundle, at least.
CASES = {"4.12": 141, "4.13": 190, "4.14": 461, "4.15": 638, "4.16": 1403}

#: Cases on which suite and judge differ, with why the suite is no witness against the judge.
#:
#: 4.15 runs Kubernetes 1.28, whose status writes print schema errors without ``status.`` in front
#: (docs/semantics.md#eras: recorded on 1.29 and 1.30). These texts are those of 1.27, which still prints it:
#: on that server the judge agrees with each of them, and the test proves that.
EXCEPTIONS = {
    "4.15": {
        (
            "config/v1/stable.infrastructure.testsuite.yaml",
            "PowerVS platform status's resourceGroup length should not exceed the max length set",
        ),
        (
            "config/v1/stable.infrastructure.testsuite.yaml",
            "PowerVS platform status's resourceGroup should match the regex configured",
        ),
        (
            "config/v1/stable.infrastructure.testsuite.yaml",
            "Should not allow setting the load balancer type to a wrong value",
        ),
        (
            "config/v1/stable.infrastructure.testsuite.yaml",
            "Should not be able to add invalid (Name) ServiceEndpoints to IBMCloud PlatformStatus",
        ),
        (
            "config/v1/techpreview.infrastructure.testsuite.yaml",
            "Status update cpuPartitioning should fail validation check",
        ),
        (
            "config/v1/techpreview.infrastructure.testsuite.yaml",
            "Should not allow setting the load balancer type to a wrong value",
        ),
        (
            "config/v1/techpreview.infrastructure.testsuite.yaml",
            "Should not accept non-IP address values for Load Balancer IPs",
        ),
        ("network/v1alpha1/custom.dnsnameresolver.testsuite.yaml", "Should not be able to add invalid IPv4 address"),
        ("network/v1alpha1/custom.dnsnameresolver.testsuite.yaml", "Should not be able to add invalid IPv6 address"),
        (
            "network/v1alpha1/techpreview.dnsnameresolver.testsuite.yaml",
            "Should not be able to add invalid IPv4 address",
        ),
        (
            "network/v1alpha1/techpreview.dnsnameresolver.testsuite.yaml",
            "Should not be able to add invalid IPv6 address",
        ),
    }
}
_MINORS = {"4.12": 25, "4.13": 26, "4.14": 27, "4.15": 28, "4.16": 29}


@pytest.mark.parametrize("release", CASES)
def test_every_case_agrees(openshift_api: Path, release: str) -> None:
    """Accepted or rejected, the stored object, and the words of the error, on that release's server."""
    found = list(suites.cases(openshift_api, release))
    assert not [text for text in found if isinstance(text, str)], "a suite without a CRD"
    cases = [case for case in found if isinstance(case, suites.Case)]
    assert len(cases) >= CASES[release]
    assert {case.server.minor for case in cases} == {_MINORS[release]}
    differing = [(case, said) for case in cases if (said := suites.run(case))]
    unexplained = {
        case.label: said for case, said in differing if (case.suite, case.name) not in EXCEPTIONS.get(release, ())
    }
    assert not unexplained, f"{len(unexplained)} of {len(cases)}; the first: {next(iter(unexplained.items()))}"
    assert {(case.suite, case.name) for case, _ in differing} == EXCEPTIONS.get(release, set())
    for case, said in differing:
        assert "status." in (case.spec.get("expectedStatusError") or ""), (case.label, said)
        assert suites.run(replace(case, server=Server(27))) == "", case.label


def test_the_exceptions_are_few() -> None:
    exceptions = sum(len(known) for known in EXCEPTIONS.values())
    assert exceptions == 11
    assert exceptions <= 0.005 * sum(CASES.values())


def test_both_kinds_of_cases_and_both_outcomes_occur(openshift_api: Path) -> None:
    """What would make the agreement worth nothing: a runner that skips all that is rejected, or all updates."""
    cases = [case for case in suites.cases(openshift_api, "4.16") if isinstance(case, suites.Case)]
    kinds = {
        (case.kind, bool(case.spec.get("expectedError")), bool(case.spec.get("expectedStatusError"))) for case in cases
    }
    assert kinds == {
        ("onCreate", False, False),
        ("onCreate", True, False),
        ("onUpdate", False, False),
        ("onUpdate", True, False),
        ("onUpdate", False, True),
    }


def test_a_wrong_expectation_is_noticed(openshift_api: Path) -> None:
    """The comparison bites: every case turned round disagrees."""
    for case in suites.cases(openshift_api, "4.13"):
        assert isinstance(case, suites.Case)
        turned = dict(case.spec)
        if turned.pop("expectedError", None) is None and turned.pop("expectedStatusError", None) is None:
            turned["expectedError"] = "no server says this"
        else:
            turned["expected"] = turned.get("expected") or turned["initial"]
        assert suites.run(replace(case, spec=turned)) != "", case.label


# -- initialCRDPatches: no suite of the bundle has them ---------------------------------------------------

_OBJECT = """\
apiVersion: example.com/v1
kind: Widget
spec:
  color: {color}
  size: {size}
"""

_FORBID_BLUE: list[Json] = [
    {"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/enum/1"},
    {
        "op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/enum/-",
        "value": "green",
    },
    {
        "op": "replace",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum",
        "value": 100,
    },
]


def _suite(**tests: list[Json]) -> Json:
    return {"apiVersion": "apiextensions.k8s.io/v1", "name": "[Stable] Widget", "crd": "widget.yaml", "tests": tests}


def _case(name: str, color: str, size: int, new_color: str, new_size: int, **expected: str) -> Json:
    return {
        "name": name,
        "initialCRDPatches": _FORBID_BLUE,
        "initial": _OBJECT.format(color=color, size=size),
        "updated": _OBJECT.format(color=new_color, size=new_size),
        **expected,
    }


@pytest.fixture
def patched(tmp_path: Path) -> Path:
    """A repository with one CRD and one suite, at the branches of a server that ratchets and one that does not."""
    spec = schema(color=string("red", "blue"), size={"type": "integer", "maximum": 10})
    bad_color = 'spec.color: Unsupported value: "green": supported values: "red", "blue"'
    cases = [
        _case("keeps a green one", "green", 1, "green", 2, expected=_OBJECT.format(color="green", size=2)),
        _case("turns another green", "red", 1, "green", 1, expectedError=bad_color),
        _case("heals a big one", "red", 50, "red", 10, expected=_OBJECT.format(color="red", size=10)),
        _case("grows a big one", "red", 50, "red", 51, expectedError="spec.size in body should be less than or equal"),
    ]
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    git(tmp_path, "init", "-q", "-b", "release-4.18", str(origin))
    commit(origin, {"v1/widget.yaml": crd(root(spec=spec)), "v1/widget.testsuite.yaml": _suite(onUpdate=cases)})
    git(origin, "branch", "release-4.15")
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    return clone


def test_patches_hold_while_the_initial_object_is_created(patched: Path) -> None:
    found = list(suites.cases(patched, "4.18"))
    assert [suites.run(case) for case in found if isinstance(case, suites.Case)] == ["", "", "", ""]


def test_without_ratcheting_what_the_patch_let_in_stays_out(patched: Path) -> None:
    said = [suites.run(case) for case in suites.cases(patched, "4.15") if isinstance(case, suites.Case)]
    assert [bool(text) for text in said] == [True, False, False, False]
    assert "spec.color: Unsupported value" in said[0]


def test_the_patch_counts_for_the_initial_object_alone(patched: Path) -> None:
    """Without the patch the initial object is refused; a value the patch takes away is refused with it."""
    first = next(case for case in suites.cases(patched, "4.18") if isinstance(case, suites.Case))
    bare = {key: value for key, value in first.spec.items() if key != "initialCRDPatches"}
    assert suites.run(replace(first, spec=bare)).startswith("the initial object is rejected")
    blue = {**first.spec, "initial": _OBJECT.format(color="blue", size=1)}
    assert suites.run(replace(first, spec=blue)).startswith("the initial object is rejected")


def test_json_patch() -> None:
    data = {"a": [1, 2], "b/c": {"~d": 0}}
    assert suites.json_patched(data, [{"op": "add", "path": "/a/1", "value": 9}]) == {**data, "a": [1, 9, 2]}
    assert suites.json_patched(data, [{"op": "add", "path": "/a/-", "value": 9}]) == {**data, "a": [1, 2, 9]}
    assert suites.json_patched(data, [{"op": "remove", "path": "/a/0"}]) == {**data, "a": [2]}
    assert suites.json_patched(data, [{"op": "replace", "path": "/b~1c/~0d", "value": 1}])["b/c"] == {"~d": 1}
    assert data == {"a": [1, 2], "b/c": {"~d": 0}}
    for wrong in (
        {"op": "test", "path": "/a/0", "value": 2},
        {"op": "replace", "path": "/a/2", "value": 2},
        {"op": "replace", "path": "/z", "value": 2},
        {"op": "move", "path": "/a"},
    ):
        with pytest.raises(AssertionError):
            suites.json_patched(data, [wrong])


def test_suites_are_read_from_files_as_they_are(tmp_path: Path) -> None:
    """A suite whose CRD is missing is reported, not passed over."""
    origin = tmp_path / "origin"
    git(tmp_path, "init", "-q", "-b", "release-4.15", str(origin))
    write(origin / "v1/other.testsuite.yaml", _suite(onCreate=[]))
    commit(origin, {"v1/other.yaml": crd(root(spec=schema()))})
    git(tmp_path, "clone", "-q", str(origin), str(tmp_path / "clone"))
    assert [case for case in suites.cases(tmp_path / "clone", "4.15") if isinstance(case, str)] == [
        "v1/other.testsuite.yaml: no CRD document for widget.yaml"
    ]

"""The rollback replayed on recorded objects: verdicts by kind of write and by era, in the API server's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, crd, load_yaml, obj, root, run, string, version, write

RECORDED = "data/recorded/oc-adm-upgrade/4.14.1-degraded-cv.yaml"
REJECTED = ("status-update", "status-update-touching", "spec-update", "metadata-update", "finalizer-removal")
SUPPORTED = (
    'supported values: "openshift-samples", "baremetal", "marketplace", "Console", "Insights", "Storage", '
    '"CSISnapshot", "NodeTuning"'
)
BAD = {0: "Build", 3: "DeploymentConfig", 4: "ImageRegistry", 6: "MachineAPI"}
MARKER = (
    '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; '
    "correct the existing errors to complete validation"
)


def simulate(*args: str | Path, code: int | None = None, cwd: Path | None = None, stdin: bytes = b"") -> Json:
    ran = run("simulate", *args, "--format", "json", cwd=cwd, stdin=stdin)
    assert ran.code in ((code,) if code is not None else (0, 1)), ran.err or ran.out
    return ran.report


def verdicts(item: Json) -> dict[str, str]:
    return {name: write["verdict"] for name, write in item["writes"].items()}


# -- the story of 4.14 -> 4.13 ---------------------------------------------


@pytest.fixture(scope="module")
def recorded(shared: Path) -> Path:
    path = shared / RECORDED
    if not path.is_file():
        pytest.skip("no recording")
    return path


def _story(clone: Path, recorded: Path, *options: str) -> Json:
    report = simulate("release-4.13", "release-4.14", "--objects", recorded, *options, cwd=clone)
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
    """Without an option the name of the release tells the server: 4.13 runs Kubernetes 1.26."""
    item = _story(openshift_api, recorded, *options)
    assert [name for name, told in item["writes"].items() if told["verdict"] == "rejected"] == [*REJECTED, "apply"]
    for name in REJECTED:
        told = item["writes"][name]
        texts = [error["text"] for error in told["errors"]]
        expected = _texts("status.")
        if name == "status-update-touching":
            # A valid item of the list was taken out: the indices of the bad ones stay.
            assert "without its last valid item" in told["note"]
        assert set(texts) == expected
        assert len(texts) == 8
        assert told["message"] == f'ClusterVersion.config.openshift.io "version" is invalid: [{", ".join(texts)}]'
        assert {error["type"] for error in told["errors"]} == {"FieldValueNotSupported"}
        assert {error["value"] for error in told["errors"]} == set(BAD.values())
        assert {error["detail"] for error in told["errors"]} == {SUPPORTED}
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
    told = _story(openshift_api, recorded, "--kube-version", kubernetes)["writes"]["status-update"]
    assert {error["text"] for error in told["errors"]} == _texts(prefix) | ({MARKER} if marker else set())


_STUCK = ("rejected",) * 4
ERAS = ("1.26", "1.29", "1.30", "1.33")


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
    told = tuple(_story(openshift_api, recorded, "--kube-version", era)["writes"][name]["verdict"] for era in ERAS)
    assert told == expected


def test_openshift_carries_status_ratcheting_earlier(openshift_api: Path, recorded: Path) -> None:
    told = {
        version: _story(openshift_api, recorded, *version.split())["writes"]["status-update"]["verdict"]
        for version in ("--kube-version 1.31", "--openshift-version 4.18", "--openshift-version 4.17")
    }
    assert list(told.values()) == ["rejected", "accepted", "rejected"]


def test_the_way_back_up_is_harmless(openshift_api: Path, recorded: Path) -> None:
    item = _story(openshift_api, recorded, "--upgrade")
    assert set(verdicts(item).values()) == {"accepted"}


# -- how objects come ---------------------------------------------


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


# -- small worlds ---------------------------------------------


def widget(body: Json, name: str = "a", **meta: Any) -> Json:
    metadata = {"name": name, "namespace": "default", **meta}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **body}


def replay(tmp_path: Path, old: Json, new: Json, *objects: Json, options: tuple[str, ...] = ()) -> Json:
    sides = both(tmp_path, old, new)
    recording = write(tmp_path / "objects.json", *objects)
    return simulate(*sides, "--objects", recording, *options)


def one(report: Json) -> Json:
    (item,) = report["objects"]
    found: Json = item
    return found


def by_era(tmp_path: Path, old: Json, new: Json, item: Json) -> dict[str, str]:
    """Each write's verdicts over the eras, as letters: X rejected, o accepted, l loses data."""
    letters = {"rejected": "X", "accepted": "o", "loses-data": "l", "unknown": "?"}
    reports = [replay(tmp_path, old, new, item, options=("--kube-version", era)) for era in ERAS]
    return {
        name: "".join(letters[one(report)["writes"][name]["verdict"]] for report in reports)
        for name in one(reports[0])["writes"]
    }


def schema(spec: Json | None = None, status: Json | None = None, **more: Any) -> Json:
    """A world with a note in spec and a counter in status to change beside the bad value."""
    return {
        **root(
            spec=obj(note=string(), **(spec or {})),
            status=obj(observedGeneration={"type": "integer"}, **(status or {})),
        ),
        **more,
    }


FINE = {"spec": {"note": "n"}, "status": {"observedGeneration": 1}}


def with_bad(spec: Any = None, status: Any = None) -> Json:
    body = {part: dict(value) for part, value in FINE.items()}
    if spec is not None:
        body["spec"]["v"] = spec
    if status is not None:
        body["status"]["v"] = status
    return widget(body)


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        (string("A"), string("A", "B"), "B"),
        (string(maxLength=1), string(), "BB"),
        (string(pattern="^A"), string(), "B"),
        (string(format="date"), string(), "B"),
        ({"type": "integer", "maximum": 1}, {"type": "integer"}, 2),
        (array(string(), maxItems=1), array(string()), ["a", "b"]),
        ({"type": "integer"}, string(), "B"),
        ({"type": "string", "anyOf": [{"enum": ["A"]}]}, string(), "B"),
        ({"type": "string", "not": {"enum": ["B"]}}, string(), "B"),
    ],
    ids=["enum", "maxLength", "pattern", "format", "maximum", "maxItems", "type", "anyOf", "not"],
)
def test_a_bad_value_in_spec_by_era(tmp_path: Path, old: Json, new: Json, value: Any) -> None:
    """rollback-truth, section 4, first line: A rejects status writes too, from 1.30 unchanged values pass."""
    told = by_era(tmp_path, schema({"v": old}), schema({"v": new}), with_bad(spec=value))
    told.pop("apply")  # a value of the wrong type fails it in every version
    assert told == {
        "status-update": "Xooo",
        "status-update-touching": "Xooo",
        "spec-update": "XXoo",
        "metadata-update": "XXoo",
        "finalizer-removal": "XXoo",
        "create": "XXXX",
    }


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        (string("A"), string("A", "B"), "B"),
        (string(maxLength=1), string(), "BB"),
        ({"type": "integer"}, string(), "B"),
    ],
    ids=["enum", "maxLength", "type"],
)
def test_a_bad_value_in_status_by_era(tmp_path: Path, old: Json, new: Json, value: Any) -> None:
    told = by_era(tmp_path, schema(status={"v": old}), schema(status={"v": new}), with_bad(status=value))
    told.pop("apply")
    told.pop("status-update-touching")
    assert told == {
        "status-update": "XXXo",
        "spec-update": "XXoo",
        "metadata-update": "XXoo",
        "finalizer-removal": "XXoo",
        "create": "oooo",  # a create drops status
    }


def test_a_bad_item_of_an_atomic_list_is_never_tolerated_once_the_list_changes(tmp_path: Path) -> None:
    old, new = (schema(status={"v": array(string(*members))}) for members in ("AC", "ABC"))
    told = by_era(tmp_path, old, new, with_bad(status=["A", "B", "C"]))
    assert told["status-update-touching"] == "XXXX"
    assert told["status-update"] == "XXXo"


def test_an_item_of_a_keyed_list_may_keep_its_bad_value_while_others_change(tmp_path: Path) -> None:
    def made(members: str) -> Json:
        item = {**obj(name=string(), phase=string(*members), text=string()), "required": ["name"]}
        keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
        return schema(status={"v": array(item, **keyed)})

    items = [{"name": "x", "phase": "A", "text": "t"}, {"name": "y", "phase": "B", "text": "t"}]
    told = by_era(tmp_path, made("A"), made("AB"), with_bad(status=items))
    assert told["status-update"] == "XXXo"
    assert told["metadata-update"] == "XXoo"


RULES = {
    "field": ({"x-kubernetes-validations": [{"rule": "self != 'B'"}]}, "XXXo", "XXoo", "XXoo"),
}


def test_a_rule_on_a_spec_field_by_era(tmp_path: Path) -> None:
    """Rules see the whole object: up to 1.32 a status write falls over a rule on spec."""
    rules, status, spec, label = RULES["field"]
    told = by_era(tmp_path, schema({"v": string(**rules)}), schema({"v": string()}), with_bad(spec="B"))
    assert (told["status-update"], told["spec-update"], told["metadata-update"]) == (status, spec, label)


@pytest.mark.parametrize(
    ("rule", "body", "repair"),
    [
        ("!has(self.spec.v) || self.spec.v != 'B'", {"spec": "B"}, "main"),
        ("!has(self.status) || !has(self.status.v) || self.status.v != 'B'", {"status": "B"}, "status"),
    ],
)
def test_a_rule_at_the_root_is_never_tolerated(tmp_path: Path, rule: str, body: Json, repair: str) -> None:
    rules = {"x-kubernetes-validations": [{"rule": rule, "message": "no B"}]}
    plain = schema({"v": string()}, {"v": string()})
    told = by_era(tmp_path, {**plain, **rules}, plain, with_bad(**body))
    assert {name: told[name] for name in told if name not in ("create", "apply")} == dict.fromkeys(REJECTED, "XXXX")
    report = replay(tmp_path, {**plain, **rules}, plain, with_bad(**body), options=("--kube-version", "1.33"))
    assert one(report)["repair"]["verdict"] == repair


def test_required_at_the_root_is_never_tolerated_by_main_writes(tmp_path: Path) -> None:
    old = {**schema(), "required": ["config"]}
    old["properties"]["config"] = string()
    new = schema()
    told = by_era(tmp_path, old, new, with_bad())
    assert told["metadata-update"] == told["finalizer-removal"] == told["spec-update"] == "XXXX"
    assert told["status-update"] == "Xooo"


def test_required_in_spec_is_tolerated_until_spec_changes(tmp_path: Path) -> None:
    old, new = schema({"v": string()}), schema({"v": string()})
    old["properties"]["spec"]["required"] = ["v"]
    told = by_era(tmp_path, old, new, with_bad())
    assert (told["metadata-update"], told["spec-update"], told["status-update"]) == ("XXoo", "XXXX", "Xooo")


def test_required_in_status(tmp_path: Path) -> None:
    old, new = schema(status={"v": string()}), schema(status={"v": string()})
    old["properties"]["status"]["required"] = ["v"]
    told = by_era(tmp_path, old, new, with_bad())
    assert (told["metadata-update"], told["spec-update"], told["status-update"]) == ("XXoo", "XXoo", "XXXX")


def test_bad_in_spec_and_in_status_is_a_deadlock_on_1_26(tmp_path: Path) -> None:
    old, new = (schema({"v": string(*m)}, {"v": string(*m)}) for m in ("A", "AB"))
    found = {}
    for era in ERAS:
        report = replay(tmp_path, old, new, with_bad("B", "B"), options=("--kube-version", era))
        found[era] = one(report)["repair"]["verdict"]
    assert found["1.26"] == "deadlock"
    assert "deadlock" not in {found[era] for era in ERAS[1:]}
    for era, expected in (("1.26", "deadlock"), ("1.27", "deadlock"), ("1.28", "no")):
        report = replay(tmp_path, old, new, with_bad("B", "B"), options=("--kube-version", era))
        assert (one(report)["repair"]["verdict"] == "deadlock") == (expected == "deadlock")
    ran = run("simulate", *both(tmp_path, old, new), "--objects", tmp_path / "objects.json", "--kube-version", "1.26")
    assert "no single write is accepted" in ran.out


def test_two_rules_at_the_root_are_a_deadlock_in_every_era(tmp_path: Path) -> None:
    rules = {
        "x-kubernetes-validations": [
            {"rule": "!has(self.spec.v) || self.spec.v != 'B'"},
            {"rule": "!has(self.status) || !has(self.status.v) || self.status.v != 'B'"},
        ]
    }
    plain = schema({"v": string()}, {"v": string()})
    for era in ERAS:
        report = replay(tmp_path, {**plain, **rules}, plain, with_bad("B", "B"), options=("--kube-version", era))
        assert one(report)["repair"]["verdict"] == "deadlock"


@pytest.mark.parametrize("era", ERAS)
def test_fields_that_old_lacks_are_lost_with_any_write(tmp_path: Path, era: str) -> None:
    old, new = schema(), schema({"v": string()}, {"v": string()})
    report = replay(tmp_path, old, new, with_bad("x", "y"), options=("--kube-version", era))
    item = one(report)
    assert set(verdicts(item).values()) == {"loses-data"}
    assert item["pruned"] == ["spec.v", "status.v"]
    assert report["summary"]["verdicts"] == {"rejected": 0, "unknown": 0, "loses-data": 1, "accepted": 0}


def test_lost_data_is_no_failure_unless_asked(tmp_path: Path) -> None:
    sides = both(tmp_path, schema(), schema({"v": string()}))
    objects = write(tmp_path / "o.json", with_bad("x"))
    command = ("simulate", *sides, "--objects", objects, "--kube-version", "1.30")
    assert [run(*command, "--fail-on", level).code for level in ("error", "warning", "info", "never")] == [0, 1, 1, 0]


def test_a_rejected_write_keeps_what_an_accepted_one_loses(tmp_path: Path) -> None:
    """rollback-truth, fact 7: on era A the 422 that blocks all writes also preserves the data."""
    old, new = schema({"v": string("A")}), schema({"v": string("A", "B"), "w": string()})
    body = with_bad("B")
    body["spec"]["w"] = "precious"
    told = by_era(tmp_path, old, new, body)
    assert told["metadata-update"] == "XXll"


def test_defaults_of_old_appear(tmp_path: Path) -> None:
    report = replay(
        tmp_path, schema({"v": string(default="d")}), schema(), with_bad(), options=("--kube-version", "1.30")
    )
    assert one(report)["defaulted"] == ["spec.v"]
    assert set(verdicts(one(report)).values()) == {"accepted"}


def test_a_default_that_old_rejects(tmp_path: Path) -> None:
    old, new = schema({"v": string("A")}), schema({"v": string("A", "B", default="B")})
    told = by_era(tmp_path, old, new, with_bad("B"))
    assert told["metadata-update"] == "XXoo"


def test_null_that_old_does_not_take_is_dropped(tmp_path: Path) -> None:
    body = with_bad()
    body["spec"]["v"] = None
    old, new = schema({"v": string()}), schema({"v": string(nullable=True)})
    assert set(by_era(tmp_path, old, new, body)["metadata-update"]) <= {"o", "l"}


# -- which server ---------------------------------------------


def test_an_unknown_era_is_unknown_and_says_what_to_give(tmp_path: Path) -> None:
    old, new = schema({"v": string("A")}), schema({"v": string("A", "B")})
    report = replay(tmp_path, old, new, with_bad("B"))
    item = one(report)
    assert item["writes"]["metadata-update"]["verdict"] == "unknown"
    for name in ("metadata-update", "spec-update", "status-update"):
        assert "--kube-version" in item["writes"][name]["note"]
        assert "--openshift-version" in item["writes"][name]["note"]
    # What all eras agree on is no question.
    assert item["writes"]["create"]["verdict"] == "rejected"
    assert report["old"]["kubernetes"] is None


def test_what_every_era_accepts_needs_no_version(tmp_path: Path) -> None:
    report = replay(tmp_path, schema(), schema(), with_bad())
    assert set(verdicts(one(report)).values()) == {"accepted"}
    assert run("simulate", *both(tmp_path, schema(), schema()), "--objects", tmp_path / "objects.json").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--kube-version", "1.99"), "1.99"),
        (("--kube-version", "banana"), "banana"),
        (("--openshift-version", "3.11"), "3.11"),
        (("--kube-version", "1.26", "--openshift-version", "4.13"), "exclude"),
    ],
)
def test_bad_versions(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    ran = run("simulate", *both(tmp_path, schema(), schema()), "--objects", tmp_path, *options)
    assert ran.code == 2
    assert told in ran.err


# -- what cannot be simulated ---------------------------------------------


def test_what_cannot_be_simulated_is_listed_with_its_reason(tmp_path: Path) -> None:
    objects = [
        with_bad(),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {}},
        {"apiVersion": "example.com/v9", "kind": "Widget", "metadata": {"name": "w9"}},
        {"metadata": {"name": "nothing"}},
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {}},
    ]
    report = replay(tmp_path, schema(), schema(), *objects)
    reasons = {item["object"]: item["reason"] for item in report["not_simulated"]}
    assert reasons["ConfigMap/cm"] == "its CRD is in neither release"
    assert "does not know version v9" in reasons["Widget/w9"]
    assert "no apiVersion and kind" in reasons["nothing"]
    assert "no metadata.name" in reasons["Widget"]
    assert report["summary"]["objects"] == {"simulated": 1, "not_simulated": 4}
    ran = run("simulate", tmp_path / "old", tmp_path / "new", "--objects", tmp_path / "objects.json")
    assert ran.code == 0
    assert "Not simulated: 4" in ran.out
    assert "its CRD is in neither release, e.g. ConfigMap/cm" in ran.out


def test_a_crd_that_old_lacks(tmp_path: Path) -> None:
    write(tmp_path / "old" / "other.yaml", crd(schema(), kind="Gadget"))
    write(tmp_path / "new" / "w.yaml", crd(schema()))
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", write(tmp_path / "o.json", with_bad()))
    (missed,) = report["not_simulated"]
    assert "404" in missed["reason"]


def test_a_conversion_webhook_cannot_be_asked(tmp_path: Path) -> None:
    made = crd(versions=[version(schema()), version(schema(), "v2", storage=False)])
    made["spec"]["conversion"] = {"strategy": "Webhook"}
    report = replay(tmp_path, made, made, with_bad())
    (missed,) = report["not_simulated"]
    assert "webhook" in missed["reason"]


def test_no_status_endpoint_in_old(tmp_path: Path) -> None:
    old = crd(versions=[{k: v for k, v in version(schema()).items() if k != "subresources"}])
    report = replay(tmp_path, old, crd(schema()), with_bad(), options=("--kube-version", "1.26"))
    told = one(report)["writes"]["status-update"]
    assert told["verdict"] == "rejected"
    assert told["message"] == 'widgets.example.com "a" not found'
    assert "no /status endpoint" in told["note"]


def test_the_same_object_twice_counts_once(tmp_path: Path) -> None:
    item = widget(FINE, uid="11111111-2222-3333-4444-555555555555")
    report = replay(tmp_path, schema(), schema(), item, item, {"kind": "List", "apiVersion": "v1", "items": [item]})
    assert report["summary"]["objects"]["simulated"] == 1


def test_an_empty_recording_is_not_recorded(tmp_path: Path) -> None:
    both(tmp_path, schema(), schema())
    folder = tmp_path / "recording"
    write(folder / "a.json", with_bad())
    write(folder / "empty.yaml", "")
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", folder)
    assert {"file": "empty.yaml", "reason": "not recorded: empty", "side": "objects"} in report["summary"]["skipped"]


def test_a_broken_recording_hides_nothing_and_exits_2(tmp_path: Path) -> None:
    both(tmp_path, schema(), schema())
    folder = tmp_path / "recording"
    write(folder / "a.json", with_bad())
    write(folder / "b.yaml", "kind: [\n")
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", folder, code=2)
    assert len(report["objects"]) == 1
    (problem,) = report["summary"]["problems"]
    assert (problem["file"], problem["side"]) == ("b.yaml", "objects")
    assert problem["line"]


def test_no_objects_at_all(tmp_path: Path) -> None:
    both(tmp_path, schema(), schema())
    (tmp_path / "nothing").mkdir()
    ran = run("simulate", tmp_path / "old", tmp_path / "new", "--objects", tmp_path / "nothing")
    assert ran.code == 2
    assert "no objects" in ran.err
    ran = run("simulate", tmp_path / "old", tmp_path / "new", "--objects", tmp_path / "not-there")
    assert ran.code == 2
    assert "not-there" in ran.err
    assert "Traceback" not in ran.err


def test_no_recording_is_changed(tmp_path: Path) -> None:
    both(tmp_path, schema(), schema({"v": string()}))
    path = write(tmp_path / "o.json", with_bad("x"))
    before = path.read_bytes()
    simulate(tmp_path / "old", tmp_path / "new", "--objects", path)
    assert path.read_bytes() == before


def test_an_object_s_own_finalizer_is_the_one_that_goes(tmp_path: Path) -> None:
    own = widget(FINE, finalizers=["example.com/hold"])
    report = replay(tmp_path, schema(), schema(), own, with_bad())
    notes = [item["writes"]["finalizer-removal"].get("note", "") for item in report["objects"]]
    assert sorted("hypothetical" in note for note in notes) == [False, True]


def test_what_cannot_be_judged_is_unknown_for_every_write(tmp_path: Path) -> None:
    """A rule that no server compiles here: nothing that it stands above is called accepted."""
    rules = {"x-kubernetes-validations": [{"rule": "nothing.knows(self)", "message": "?"}]}
    report = replay(tmp_path, schema({"v": string(**rules)}), schema({"v": string()}), with_bad(spec="B"))
    verdicts = {name: write["verdict"] for name, write in one(report)["writes"].items()}
    assert set(verdicts.values()) <= {"unknown", "rejected"}, verdicts


def test_a_sound_object_is_not_edited_against_a_rule_above_the_place(tmp_path: Path) -> None:
    """The rule on spec speaks of ``a``: the other field is the one that is changed."""
    made = schema({"a": string(), "z": string()})
    made["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.a == 'x'"}]
    stored = {**with_bad(spec="B"), "spec": {"a": "x", "z": "x"}}
    write = one(replay(tmp_path, made, made, stored))["writes"]["spec-update"]
    assert (write["verdict"], write["note"]) == ("accepted", "changes spec.z")


def test_a_sound_object_that_allows_no_other_edit_is_written_as_it_is(tmp_path: Path) -> None:
    made = schema({"a": string()})
    made["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.a == 'x'"}]
    stored = {**with_bad(spec="B"), "spec": {"a": "x"}}
    write = one(replay(tmp_path, made, made, stored))["writes"]["spec-update"]
    assert (write["verdict"], write["note"]) == ("accepted", "nothing else in spec can be changed: written as it is")


# -- the recording's own cluster ---------------------------------------------


def _of_cluster(*versions: str) -> list[Json]:
    """ClusterVersions, and an object of the CRD that is judged."""
    told = [
        {
            "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": f"version{number}"},
            "spec": {}, "status": {"desired": {"version": told}},
        }
        for number, told in enumerate(versions)
    ]  # fmt: skip
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    return [*told, widget]


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
    told = {0: [], 1: [f"the recording is of a cluster of {versions[0]}" if versions else ""]}.get(
        len(versions), [f"the recordings are of clusters of {', '.join(versions)} (--fleet judges many)"]
    )
    said = _notes("./release-4.8", f"./{new}", "--objects", recorded, cwd=tmp_path)
    assert said == [*(f"note: {note}" for note in told), *(_warning(version, f"./{new}") for version in older)]


def test_every_format_says_it(tmp_path: Path) -> None:
    for name in ("release-4.8", "release-4.19"):
        write(tmp_path / name / "w.yaml", crd(root(spec=obj())))
    recorded = write(tmp_path / "objects.yaml", *_of_cluster("4.18.4"))
    formats = ("text", "markdown=r.md", "html=r.html", "json=r.json")
    asked = ("--kube-version", "1.26", *(part for name in formats for part in ("--format", name)))
    ran = run("simulate", "release-4.8", "release-4.19", "--objects", recorded, *asked, cwd=tmp_path)
    warning = _warning("4.18.4", "release-4.19")
    assert ran.out.splitlines()[1:3] == ["  note: the recording is of a cluster of 4.18.4", f"  {warning}"]
    page, comment = ((tmp_path / name).read_text() for name in ("r.html", "r.md"))
    for text in ("the recording is of a cluster of 4.18.4", warning):
        assert f"<li>{text}</li>" in page
        assert text.replace("`", "") in comment
    notes = json.loads((tmp_path / "r.json").read_text())["notes"]
    assert notes == ["the recording is of a cluster of 4.18.4", warning]


def test_on_the_way_up_it_is_the_older_release_that_wrote(tmp_path: Path) -> None:
    for name in ("release-4.18", "release-4.19"):
        write(tmp_path / name / "w.yaml", crd(root(spec=obj())))
    recorded = write(tmp_path / "objects.yaml", *_of_cluster("4.18.4"))
    said = _notes("./release-4.18", "./release-4.19", "--objects", recorded, "--upgrade", cwd=tmp_path)
    assert said == ["note: the recording is of a cluster of 4.18.4"]

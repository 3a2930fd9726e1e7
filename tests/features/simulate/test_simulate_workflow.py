"""The rollback replayed on recorded objects: verdicts by kind of write and by era, in the API server's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import (
    ERAS,
    REJECTED,
    Json,
    array,
    both,
    crd,
    obj,
    root,
    run,
    simulate,
    string,
    verdicts,
    version,
    widget,
    write,
)

# -- the story of 4.14 -> 4.13 ---------------------------------------------


# -- how objects come ---------------------------------------------


# -- small worlds ---------------------------------------------


def replay(
    tmp_path: Path, old: Json, new: Json, *objects: Json, options: tuple[str, ...] = (), code: int | None = None
) -> Json:
    sides = both(tmp_path, old, new)
    recording = write(tmp_path / "objects.json", *objects)
    return simulate(*sides, "--objects", recording, *options, code=code)


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
    """A rejects status writes too, from 1.30 unchanged values pass (docs/semantics.md#eras)."""
    reported = by_era(tmp_path, schema({"v": old}), schema({"v": new}), with_bad(spec=value))
    reported.pop("apply")  # a value of the wrong type fails it in every version
    assert reported == {
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
    reported = by_era(tmp_path, schema(status={"v": old}), schema(status={"v": new}), with_bad(status=value))
    reported.pop("apply")
    reported.pop("status-update-touching")
    assert reported == {
        "status-update": "XXXo",
        "spec-update": "XXoo",
        "metadata-update": "XXoo",
        "finalizer-removal": "XXoo",
        "create": "oooo",  # a create drops status
    }


def test_a_bad_item_of_an_atomic_list_is_never_tolerated_once_the_list_changes(tmp_path: Path) -> None:
    old, new = (schema(status={"v": array(string(*members))}) for members in ("AC", "ABC"))
    reported = by_era(tmp_path, old, new, with_bad(status=["A", "B", "C"]))
    assert reported["status-update-touching"] == "XXXX"
    assert reported["status-update"] == "XXXo"


def test_an_item_of_a_keyed_list_may_keep_its_bad_value_while_others_change(tmp_path: Path) -> None:
    def made(members: str) -> Json:
        item = {**obj(name=string(), phase=string(*members), text=string()), "required": ["name"]}
        keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
        return schema(status={"v": array(item, **keyed)})

    items = [{"name": "x", "phase": "A", "text": "t"}, {"name": "y", "phase": "B", "text": "t"}]
    reported = by_era(tmp_path, made("A"), made("AB"), with_bad(status=items))
    assert reported["status-update"] == "XXXo"
    assert reported["metadata-update"] == "XXoo"


RULES = {
    "field": ({"x-kubernetes-validations": [{"rule": "self != 'B'"}]}, "XXXo", "XXoo", "XXoo"),
}


def test_a_rule_on_a_spec_field_by_era(tmp_path: Path) -> None:
    """Rules see the whole object: up to 1.32 a status write falls over a rule on spec."""
    rules, status, spec, label = RULES["field"]
    reported = by_era(tmp_path, schema({"v": string(**rules)}), schema({"v": string()}), with_bad(spec="B"))
    assert (reported["status-update"], reported["spec-update"], reported["metadata-update"]) == (status, spec, label)


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
    reported = by_era(tmp_path, {**plain, **rules}, plain, with_bad(**body))
    assert {name: reported[name] for name in reported if name not in ("create", "apply")} == dict.fromkeys(
        REJECTED, "XXXX"
    )
    report = replay(tmp_path, {**plain, **rules}, plain, with_bad(**body), options=("--kube-version", "1.33"))
    assert one(report)["repair"]["verdict"] == repair


def test_required_at_the_root_is_never_tolerated_by_main_writes(tmp_path: Path) -> None:
    old = {**schema(), "required": ["config"]}
    old["properties"]["config"] = string()
    new = schema()
    reported = by_era(tmp_path, old, new, with_bad())
    assert reported["metadata-update"] == reported["finalizer-removal"] == reported["spec-update"] == "XXXX"
    assert reported["status-update"] == "Xooo"


def test_required_in_spec_is_tolerated_until_spec_changes(tmp_path: Path) -> None:
    old, new = schema({"v": string()}), schema({"v": string()})
    old["properties"]["spec"]["required"] = ["v"]
    reported = by_era(tmp_path, old, new, with_bad())
    assert (reported["metadata-update"], reported["spec-update"], reported["status-update"]) == ("XXoo", "XXXX", "Xooo")


def test_required_in_status(tmp_path: Path) -> None:
    old, new = schema(status={"v": string()}), schema(status={"v": string()})
    old["properties"]["status"]["required"] = ["v"]
    reported = by_era(tmp_path, old, new, with_bad())
    assert (reported["metadata-update"], reported["spec-update"], reported["status-update"]) == ("XXoo", "XXoo", "XXXX")


@pytest.mark.parametrize("bounds", [{"minProperties": 2}, {"oneOf": [{"required": ["v"]}, {"required": ["w"]}]}])
@pytest.mark.parametrize("era", ERAS)
def test_a_status_that_goes_as_a_whole(tmp_path: Path, bounds: Json, era: str) -> None:
    """Without the bad value the status is refused as well: only the whole status can go."""
    old, new = schema(status={"v": string("A"), "w": string()}), schema(status={"v": string(), "w": string()})
    old["properties"]["status"].update(bounds)
    item = one(replay(tmp_path, old, new, with_bad(status="B"), options=("--kube-version", era)))
    reported = item["repair"]
    assert (reported["verdict"], reported["patch"]) == ("status", {"status": None})
    assert reported["note"] == "the whole status goes: its controller has to write it again"


def test_a_status_that_goes_as_a_whole_beside_a_bad_spec(tmp_path: Path) -> None:
    old, new = schema({"v": string("A")}, {"v": string("A")}), schema({"v": string()}, {"v": string()})
    old["properties"]["status"]["minProperties"] = 2
    found = {}
    for era in ERAS:
        item = one(replay(tmp_path, old, new, with_bad("B", "B"), options=("--kube-version", era)))
        found[era] = (item["repair"]["verdict"], item["repair"].get("note"))
    goes = "the whole status goes: its controller has to write it again"
    first = "then the rest of the object on the main endpoint"
    assert found == {
        "1.26": ("deadlock", None),
        "1.29": ("status", f"{goes}; {first}"),
        "1.30": ("status", f"{goes}; then the same for the rest of the object on the main endpoint"),
        "1.33": ("status", f"{goes}; then the same for the rest of the object on the main endpoint"),
    }


def test_a_missing_member_is_touched_with_its_object(tmp_path: Path) -> None:
    old, new = schema(status={"v": string()}), schema(status={"v": string()})
    old["properties"]["status"]["required"] = ["v"]
    assert by_era(tmp_path, old, new, with_bad())["status-update-touching"] == "XXXX"


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
    assert ran.out.count("no single write") == 1


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
        repair = one(report)["repair"]
        assert (repair["verdict"], repair["note"]) == ("deadlock", "rules on the whole object are broken")


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
    """On era A the 422 that blocks all writes also preserves the data (docs/semantics.md#after-a-rollback)."""
    old, new = schema({"v": string("A")}), schema({"v": string("A", "B"), "w": string()})
    body = with_bad("B")
    body["spec"]["w"] = "precious"
    reported = by_era(tmp_path, old, new, body)
    assert reported["metadata-update"] == "XXll"


def test_defaults_of_old_appear(tmp_path: Path) -> None:
    report = replay(
        tmp_path, schema({"v": string(default="d")}), schema(), with_bad(), options=("--kube-version", "1.30")
    )
    assert one(report)["defaulted"] == ["spec.v"]
    assert set(verdicts(one(report)).values()) == {"accepted"}


def test_a_default_that_old_rejects(tmp_path: Path) -> None:
    old, new = schema({"v": string("A")}), schema({"v": string("A", "B", default="B")})
    reported = by_era(tmp_path, old, new, with_bad("B"))
    assert reported["metadata-update"] == "XXoo"


def test_null_that_old_does_not_take_is_dropped(tmp_path: Path) -> None:
    body = with_bad()
    body["spec"]["v"] = None
    old, new = schema({"v": string()}), schema({"v": string(nullable=True)})
    assert by_era(tmp_path, old, new, body)["metadata-update"] == "oooo"


# -- which server ---------------------------------------------


def test_an_unknown_era_is_unknown_and_says_what_to_give(tmp_path: Path) -> None:
    old, new = schema({"v": string("A")}), schema({"v": string("A", "B")})
    report = replay(tmp_path, old, new, with_bad("B"), code=2)
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
    ("options", "expected"),
    [
        (("--kube-version", "1.99"), "1.99"),
        (("--kube-version", "banana"), "banana"),
        (("--openshift-version", "3.11"), "3.11"),
        (("--kube-version", "1.26", "--openshift-version", "4.13"), "exclude"),
    ],
)
def test_bad_versions(tmp_path: Path, options: tuple[str, ...], expected: str) -> None:
    ran = run("simulate", *both(tmp_path, schema(), schema()), "--objects", tmp_path, *options)
    assert ran.code == 2
    assert expected in ran.err


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
    # Nothing differs, so that they cannot change the answer.
    assert (ran.code, ": CLEAN (1 recorded object accepted)\n" in ran.out) == (0, True)
    assert "Not judged: 3 objects." in ran.out
    assert "Left out: 1 object of kinds that neither release defines." in ran.out


def test_a_crd_that_old_lacks(tmp_path: Path) -> None:
    write(tmp_path / "old" / "other.yaml", crd(schema(), kind="Gadget"))
    write(tmp_path / "new" / "w.yaml", crd(schema()))
    report = simulate(tmp_path / "old", tmp_path / "new", "--objects", write(tmp_path / "o.json", with_bad()), code=2)
    (missed,) = report["not_simulated"]
    assert "404" in missed["reason"]


@pytest.mark.parametrize(
    "document",
    [
        [with_bad()],
        {"type": "ADDED", "object": with_bad()},
        {k: v for k, v in with_bad().items() if k != "kind"},
        with_bad() | {"apiVersion": "v9"},
    ],
    ids=["a list at the top", "a watch event", "no kind", "a version that neither release has"],
)
def test_nothing_that_could_be_judged_is_exit_2(tmp_path: Path, document: Any) -> None:
    old, new = both(tmp_path, crd(schema()), crd(schema()))
    ran = run("simulate", old, new, "--objects", write(tmp_path / "o.json", json.dumps(document)))
    assert ran.code == 2
    assert ran.err == f"crdcompat: no object could be judged (the report gives the reasons) in {tmp_path / 'o.json'}\n"


def test_a_restore_from_a_backup_is_no_rollback(tmp_path: Path) -> None:
    """With ratcheting, a stored value that the older release does not know stops nothing but creating the object."""
    old, new = (crd(root(spec=obj(mode=string(*modes), note=string()))) for modes in ("A", ["A", "B"]))
    stored = widget({"spec": {"mode": "B", "note": "n"}})
    report = replay(tmp_path, old, new, stored, options=("--kube-version", "1.33"), code=0)
    assert {name for name, found in verdicts(one(report)).items() if found == "rejected"} == {"create"}
    assert report["summary"]["causes"] == []
    assert report["notes"] == ["not counted: 1 object cannot be restored from a backup (Widget/default/a)"]
    before = replay(tmp_path, old, new, stored, options=("--kube-version", "1.29"), code=1)
    assert [cause["path"] for cause in before["summary"]["causes"]] == ["spec.mode"]


def test_a_conversion_webhook_cannot_be_asked(tmp_path: Path) -> None:
    made = crd(versions=[version(schema()), version(schema(), "v2", storage=False)])
    made["spec"]["conversion"] = {"strategy": "Webhook"}
    report = replay(tmp_path, made, made, with_bad(), code=2)
    (missed,) = report["not_simulated"]
    assert "webhook" in missed["reason"]


def test_no_status_endpoint_in_old(tmp_path: Path) -> None:
    old = crd(versions=[{k: v for k, v in version(schema()).items() if k != "subresources"}])
    report = replay(tmp_path, old, crd(schema()), with_bad(), options=("--kube-version", "1.26"))
    reported = one(report)["writes"]["status-update"]
    assert reported["verdict"] == "rejected"
    assert reported["message"] == 'widgets.example.com "a" not found'
    assert "no /status endpoint" in reported["note"]


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
    report = replay(tmp_path, schema({"v": string(**rules)}), schema({"v": string()}), with_bad(spec="B"), code=2)
    verdicts = {name: write["verdict"] for name, write in one(report)["writes"].items()}
    assert set(verdicts.values()) == {"unknown"}, verdicts


def test_a_sound_object_is_not_edited_against_a_rule_above_the_place(tmp_path: Path) -> None:
    """The rule on spec uses ``a``, so the other field is changed."""
    made = schema({"a": string(), "z": string()})
    made["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.a == 'x'"}]
    stored = {**with_bad(spec="B"), "spec": {"a": "x", "z": "x"}}
    write = one(replay(tmp_path, made, made, stored))["writes"]["spec-update"]
    assert (write["verdict"], write["note"]) == ("accepted", "changes spec.z")


def test_a_sound_object_that_allows_no_other_edit_is_written_as_it_is(tmp_path: Path) -> None:
    made = schema({"a": string()})
    made["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.a == 'x'"}]
    del made["properties"]["spec"]["properties"]["note"]
    stored = {**with_bad(spec="B"), "spec": {"a": "x"}}
    write = one(replay(tmp_path, made, made, stored))["writes"]["spec-update"]
    assert (write["verdict"], write["note"]) == ("accepted", "nothing else in spec can be changed: written as it is")


@pytest.mark.parametrize("kube", ["1.29", "1.33"])
def test_a_field_that_is_not_there_yet_is_set(tmp_path: Path, kube: str) -> None:
    """An object that breaks a rule as a whole cannot change in anything, ratcheting or not."""
    old, new = schema({"a": string()}), schema({"a": string()})
    old["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "has(self.a)"}]
    stored = {**with_bad(spec="B"), "spec": {}}
    write = one(replay(tmp_path, old, new, stored, options=("--kube-version", kube)))["writes"]["spec-update"]
    assert (write["verdict"], write["note"]) == ("rejected", "changes spec.note")


# -- the recording's own cluster ---------------------------------------------

"""A changed CRD whose CEL rules are near the cost budget of its server is an info: rule, line, share, bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, commit, crd, diff, git, obj, root, run, string, version, write

from crdcompat.apiserver.crd_validation import cost_budget

_RULE = "self.matches('^a+$')"


def _texts(count: int | None, length: int | None = 500, rules: int = 1) -> Json:
    """A list of texts with rules that cost the more the longer the list and its items can be."""
    bounds = ({} if count is None else {"maxItems": count}), ({} if length is None else {"maxLength": length})
    checks = [{"rule": f"{_RULE} || self == '{number}'"} for number in range(rules - 1)]
    texts = string(**bounds[1], **{"x-kubernetes-validations": [{"rule": _RULE}, *checks]})
    return root(spec=obj(names=array(texts, **bounds[0])))


_BEFORE = root(spec=obj())


def _near(report: Json) -> list[tuple[str, str, str, list[Any], Json]]:
    """Severity, direction, path, the rule and the costs of the findings."""
    return [
        (found["severity"], found["direction"], found["path"], found["added"], found["new"])
        for found in report["findings"]
        if found["rule"] == "cel-cost-near-budget"
    ]


def _said(report: Json) -> str:
    """The end of the message of the only finding."""
    (said,) = [each["message"] for each in report["findings"] if each["rule"] == "cel-cost-near-budget"]
    return str(said).partition("of its server: ")[2]


def _costs(cost: int, total: int) -> Json:
    return {"cost": cost, "total": total, "budget": 10_000_000, "total_budget": 100_000_000}


@pytest.mark.parametrize(("count", "found"), [(39_603, False), (39_604, True), (49_504, True), (49_505, False)])
def test_from_80_percent_of_a_rule_s_budget_until_it_is_refused(tmp_path: Path, count: int, found: bool) -> None:
    """One value costs 202: 8,000,000 and 10,000,000 are the limits."""
    report = diff(*both(tmp_path, _BEFORE, _texts(count)))
    cost = 202 * count
    expected = [("info", "upgrade", "spec.names[*]", [_RULE], _costs(cost, cost))] if found else []
    assert _near(report) == expected
    assert ("crd-refused" in {each["rule"] for each in report["findings"]}) == (cost > 10_000_000)


def test_the_message_has_share_and_bounds_and_the_place_is_the_rule_s(tmp_path: Path) -> None:
    old, new = both(tmp_path, _BEFORE, _texts(45_000))
    report = diff(old, new)
    assert _said(report) == (
        "the most expensive rule needs 91% of the budget of one rule; declare or lower maxItems of spec.names"
        " (now 45000), maxLength of spec.names[*] (now 500)"
    )
    (finding,) = [each for each in report["findings"] if each["rule"] == "cel-cost-near-budget"]
    (place,) = finding["locations"]
    line = (new / "widget.yaml").read_text().splitlines()[place["line"] - 1]
    assert (place["side"], line.strip().removeprefix("- ")) == ("new", f"rule: {_RULE}")
    assert finding["witness"]["object"] is None
    assert run("diff", old, new, "--fail-on", "warning").code == 0


def test_bounds_that_are_not_declared_come_first(tmp_path: Path) -> None:
    """A text without a length is as long as a request: it costs 314,574."""
    schema = _texts(28, None)
    assert _said(diff(*both(tmp_path, _BEFORE, schema))) == (
        "the most expensive rule needs 88% of the budget of one rule; declare or lower maxLength of"
        " spec.names[*] (none yet), maxItems of spec.names (now 28)"
    )


def test_only_bounds_that_the_rule_depends_on(tmp_path: Path) -> None:
    """A list beside the one that the rule reads, and the map around it."""
    inner = obj(used=array(string(maxLength=50), maxItems=50_000), other=array(string(), maxItems=9))
    inner["x-kubernetes-validations"] = [{"rule": "self.used.all(x, x.startsWith('abcd'))"}]
    schema = root(spec={"type": "object", "additionalProperties": inner, "maxProperties": 36})
    assert _said(diff(*both(tmp_path, _BEFORE, schema))) == (
        "the most expensive rule needs 90% of the budget of one rule; declare or lower maxProperties of spec (now 36),"
        " maxItems of spec.*.used (now 50000)"
    )


def test_all_rules_together(tmp_path: Path) -> None:
    """Eleven rules of 7.9 % each: none is near its own budget."""
    report = diff(*both(tmp_path, _BEFORE, _texts(37_000, rules=11)))
    ((_, _, path, _, costs),) = _near(report)
    assert path == "spec.names[*]"
    assert costs["cost"] < 8_000_000 < 80_000_000 < costs["total"] < 100_000_000
    assert _said(report).startswith("all rules together need 8")


def test_once_for_all_versions_and_contexts_with_one_schema(tmp_path: Path) -> None:
    versions = [version(_texts(45_000), name, storage=name == "v1") for name in ("v1", "v2")]
    old = write(tmp_path / "old/w.yaml", crd(_BEFORE)).parent
    new = write(tmp_path / "new/w.yaml", crd(versions=versions)).parent
    assert [path for _, _, path, *_ in _near(diff(old, new))] == ["spec.names[*]"]


def test_variants_with_other_cheap_rules_are_one_finding(tmp_path: Path) -> None:
    """The cost of all rules is that of the variant with the most."""
    cheap = string(maxLength=9, **{"x-kubernetes-validations": [{"rule": "self != 'z'"}]})
    key = "release.openshift.io/feature-set"
    for side, schema in (("old", _BEFORE), ("new", _texts(45_000))):
        more = {"Default": {}, "TechPreviewNoUpgrade": {"status": obj(a=cheap)}}
        for name, parts in more.items():
            made = {**schema, "properties": {**schema["properties"], **parts}}
            write(tmp_path / side / f"{name}.yaml", crd(made, annotations={key: name}))
    report = diff(tmp_path / "old", tmp_path / "new")
    (finding,) = [each for each in report["findings"] if each["rule"] == "cel-cost-near-budget"]
    assert finding["contexts"] == ["Default/default", "TechPreviewNoUpgrade/default"]
    assert finding["new"]["total"] > finding["new"]["cost"] == 45_000 * 202


def test_only_a_crd_that_the_change_touches(tmp_path: Path) -> None:
    schema = _texts(45_000)
    assert _near(diff(*both(tmp_path / "same", schema, schema))) == []
    more = {**schema, "properties": {**schema["properties"], "status": obj(a=string())}}
    assert len(_near(diff(*both(tmp_path / "touched", schema, more)))) == 1
    old, new = both(tmp_path / "added", _BEFORE, _BEFORE)
    write(new / "gadget.yaml", crd(schema, kind="Gadget"))
    assert len(_near(diff(old, new))) == 1


def test_the_estimate_is_that_of_the_server_of_new(tmp_path: Path) -> None:
    """Until 1.28, a member of an enum is as long as a request."""
    kind = string("A", "B", **{"x-kubernetes-validations": [{"rule": _RULE}]})
    old = write(tmp_path / "old/w.yaml", crd(_BEFORE)).parent
    found = []
    for release in ("release-4.15", "release-4.16"):
        new = write(tmp_path / release / "w.yaml", crd(root(spec=obj(kinds=array(kind, maxItems=28))))).parent
        found.append(len(_near(diff(old, new))))
    assert found == [1, 0]


def test_check_has_it_against_the_base_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "main")
    commit(tmp_path, {"w.yaml": crd(_BEFORE)})
    git(tmp_path, "branch", "release-1")
    commit(tmp_path, {"w.yaml": crd(_texts(45_000))})
    ran = run("check", "--base", "HEAD~1", "--target", "release-1", "--format", "json", cwd=tmp_path)
    base, target = ran.report["sections"]
    assert (len(_near(base)), len(_near(target))) == (1, 0)


def test_bounds_are_looked_for_near_a_budget_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    real = cost_budget._cost_at

    def counted(*args: Any) -> int:
        tried.append(args)
        return real(*args)

    monkeypatch.setattr(cost_budget, "_cost_at", counted)
    diff(*both(tmp_path / "far", _BEFORE, _texts(100, rules=5)))
    assert not tried
    diff(*both(tmp_path / "near", _BEFORE, _texts(44_999, rules=1)))  # a CRD that no other test asks about
    assert len(tried) == 2  # maxItems and maxLength

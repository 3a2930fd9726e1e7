"""SARIF against OASIS' schema, and of real releases."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from helpers import run
from report_samples import rendered, sample
from sarif import KEY, sarif_schema


def test_the_schema_can_fail(shared: Path, tmp_path: Path) -> None:
    schema = sarif_schema()
    data = json.loads(rendered(sample(tmp_path), "sarif"))
    assert data["$schema"] == schema["id"]
    data["runs"][0]["results"][0]["level"] = "info"
    assert not jsonschema.Draft4Validator(schema).is_valid(data)


def test_real_releases(openshift_api: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.sarif"
    ran = run(
        "diff", "release-4.13", "release-4.14", "--format", f"sarif={target}", "--format", "json", cwd=openshift_api
    )
    results = json.loads(target.read_text(encoding="utf-8"))["runs"][0]["results"]
    findings, undecided = ran.report["findings"], ran.report["undecided"]
    shown = list({f["id"]: f["rule"] for f in findings if f["id"] == f["group"]}.values())
    assert [result["ruleId"] for result in results] == shown + ["undecided"] * len(undecided)
    assert {f["group"] for f in findings} == {f["id"] for f in findings if f["id"] == f["group"]}
    assert len(shown) < len(findings)
    assert len({result["partialFingerprints"][KEY] for result in results}) == len(results)
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        assert (openshift_api / place["artifactLocation"]["uri"]).suffix == ".yaml"
        assert place["region"]["startLine"] > 1

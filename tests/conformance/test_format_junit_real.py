"""JUnit reports of real releases."""

from __future__ import annotations

from pathlib import Path

from helpers import run
from junitparser import JUnitXml


def test_real_releases(openshift_api: Path, tmp_path: Path) -> None:
    target = tmp_path / "junit.xml"
    options = ("--format", f"junit={target}", "--format", "json")
    report = run("diff", "release-4.13", "release-4.14", *options, cwd=openshift_api).report
    (suite,) = JUnitXml.fromfile(str(target))
    failing = {case.name for case in suite if case.result}
    assert failing == {
        f"diff: {finding['crd']}/{finding['version']}"
        for finding in report["findings"]
        if finding["severity"] == "error"
    }
    crds = report["summary"]["crds"]
    judged = crds["compared"] + len(crds["only_old"]) + len(crds["only_new"])
    assert len({case.name.split("/")[0] for case in suite}) == judged
    assert len({case.name for case in suite}) == len(suite) > 79

"""The four real pairs of openshift/api as a whole: the set of findings, their proofs, their mirror images."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers import CONTEXT, PAIRS, git, run, write

import crdcompat
from crdcompat.compare.registry import all_facets
from crdcompat.compare.schema_walk import TEXT
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.findings.rules import catalogue
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding

GOLDEN = Path(__file__).with_name("golden")
_READER = CrdReader()


@pytest.fixture(scope="module")
def releases(openshift_api: Path) -> Any:
    """A release by its name, read once."""

    @cache
    def release(name: str) -> CrdSet:
        return crdcompat.load(f"release-{name}", repo=str(openshift_api), reader=_READER)

    return release


@pytest.fixture(scope="module")
def reports(releases: Any) -> Any:
    """The report of OLD and NEW over all contexts, made once."""

    @cache
    def report(old: str, new: str) -> DiffReport:
        return crdcompat.diff(releases(old), releases(new))

    return report


# -- the whole set --------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_golden(old: str, new: str, releases: Any) -> None:
    """Every finding of a usual cluster, line by line; CRDCOMPAT_GOLDEN=write writes what is found, for review."""
    report = crdcompat.diff(releases(old), releases(new), contexts=[CONTEXT])
    facts = ((f.direction, f.severity, f.rule, f"{f.crd}/{f.version}", f.path) for f in report.findings)
    lines = sorted("\t".join(each) for each in facts)
    golden = GOLDEN / f"{old}-{new}.tsv"
    if os.environ.get("CRDCOMPAT_GOLDEN") == "write":
        golden.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == golden.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_nothing_is_left_undecided(old: str, new: str, reports: Any) -> None:
    report = reports(old, new)
    assert [(item.path, item.keyword) for item in report.undecided] == []
    assert not report.problems


# -- proofs ---------------------------------------------------------------------------------------


def test_almost_every_finding_without_cel_has_a_witness(reports: Any) -> None:
    """One of some 600 has none: ``ibmcloud`` needs a type that is refused, too."""
    wanted = {"write-rejected", "value-pruned"}
    found: Counter[bool] = Counter()
    without: set[tuple[str, str, str]] = set()
    for old, new in PAIRS:
        for finding in reports(old, new).findings:
            if finding.effect in wanted and not finding.rule.startswith("cel-") and finding.owner != "crd":
                found[finding.witness.object is not None] += 1
                if finding.witness.object is None:
                    without.add((finding.rule, finding.crd, finding.path))
                    assert finding.witness.reason
    assert without == {("property-added", "clustercsidrivers.operator.openshift.io", "spec.driverConfig.ibmcloud")}
    assert found[True] / found.total() >= 0.98


def test_nothing_is_claimed_without_a_witness(reports: Any) -> None:
    for old, new in PAIRS:
        for finding in reports(old, new).findings:
            if finding.owner != "crd" and finding.effect != "none":
                proved = finding.witness.object is not None
                doubts = finding.message.count("object was found") + finding.message.count("update was found")
                assert doubts == (not proved)
                assert proved or finding.severity != "error"


# -- mirrors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_way_back_of_one_is_the_way_forth_of_the_other(old: str, new: str, reports: Any) -> None:
    """diff(A, B, rollback) and diff(B, A, upgrade) are one question; advice on new fields has no other way."""
    there, back = ([*filter(_has_another_way, reports(*sides).findings)] for sides in ((old, new), (new, old)))
    for ours, theirs in (("rollback", "upgrade"), ("upgrade", "rollback")):
        mirrored = sorted(_facts(f, catalogue()[_plain(f.rule)].mirror) for f in there if f.direction == ours)
        assert mirrored == sorted(_facts(f, _plain(f.rule)) for f in back if f.direction == theirs)


def _has_another_way(finding: Finding) -> bool:
    """Not: advice on new fields, and CRDs that a server refuses, whichever release they are of."""
    return finding.effect != "none" and finding.rule not in ("crd-refused", "crd-refused-on-way")


def _plain(rule: str) -> str:
    """A version that is stored at once is added all the same; its removal has no name of its own."""
    return "version-added" if rule == "version-storage-moved" else rule


def _facts(finding: Finding, rule: str) -> tuple[str, ...]:
    values = sorted(json.dumps(value) for value in (*finding.added, *finding.removed))
    proof = "proved" if finding.witness.object is not None else "unproved"
    return (rule, finding.crd, finding.version, finding.path, finding.effect, proof, *values, *finding.contexts)


# -- no change ------------------------------------------------------------------------------------


def test_a_release_against_itself(openshift_api: Path) -> None:
    commit = git(openshift_api, "rev-parse", "origin/release-4.14")
    ran = run("diff", commit, "release-4.14", "--format", "json", "--fail-on", "undecided", cwd=openshift_api)
    assert (ran.code, ran.report["findings"], ran.report["undecided"]) == (0, [], [])


@pytest.mark.parametrize("name", ["4.13", "4.16"])
def test_a_release_rewritten_as_json_and_moved(name: str, releases: Any, tmp_path: Path) -> None:
    """The same schemas with members in another order, in files of another format, at other places."""
    release = releases(name)
    for document in release.documents:
        # Documents that compete for a context have the order of their folders, which is kept.
        at = tmp_path / "moved" / Path(document.file).with_suffix(f".{document.index}.json")
        write(at, _reordered(document.crd.raw))
    moved = crdcompat.load(f"path:{tmp_path}")
    for one, other in ((release, moved), (moved, release)):
        report = crdcompat.diff(one, other)
        assert [(f.rule, f.crd, f.path) for f in report.findings] == []
        assert (report.undecided, report.counts.text_changes) == ((), ())
    assert len(moved.named()) == len(release.named())


def _reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reordered(value[key]) for key in sorted(value, reverse=True)}
    return [_reordered(item) for item in value] if isinstance(value, list) else value


# -- keywords -------------------------------------------------------------------------------------

#: The fields of apiextensions/v1 JSONSchemaProps, by what the API server allows in a structural schema.
_FIELDS = frozenset(
    re.findall(
        r"\S+",
        """
    $schema additionalProperties allOf anyOf default description enum example exclusiveMaximum exclusiveMinimum
    externalDocs format items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum
    multipleOf not nullable oneOf pattern properties required title type
    x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type
    x-kubernetes-map-type x-kubernetes-preserve-unknown-fields x-kubernetes-validations
        """,
    )
)
#: Forbidden in structural schemas: the server refuses a CRD that has one.
_FORBIDDEN = {"$ref", "additionalItems", "definitions", "dependencies", "id", "patternProperties", "uniqueItems"}
#: Walked through: what differs below is compared there.
_WALKED = {"items", "properties", "additionalProperties"}


def test_every_keyword_is_owned() -> None:
    owners: Counter[str] = Counter(keyword for facet in all_facets() for keyword in facet.keywords)
    assert owners.keys() | TEXT | _WALKED == _FIELDS
    assert not owners.keys() & TEXT
    assert not owners.keys() & _FORBIDDEN

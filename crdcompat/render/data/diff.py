"""A diff report as JSON data, and a check report, which consists of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from crdcompat.findings.entries import GroupIds, group_ids, group_key
from crdcompat.models.installers import by_installer
from crdcompat.render.data.parts import acceptance_data, growth_data, head, location, picked, problem, skipped, words
from crdcompat.vocabulary import FindingStatus

if TYPE_CHECKING:
    from crdcompat.models.check import CheckReport
    from crdcompat.models.diff import DiffReport, PromotedGate, UndecidedEntry
    from crdcompat.models.finding import Finding


def diff_data(report: DiffReport) -> dict[str, Any]:
    """A diff report as JSON data."""
    return _compared(report, group_ids(report))


def _compared(report: DiffReport, groups: GroupIds) -> dict[str, Any]:
    counts = report.counts
    return {
        **head(report.command, report.old, report.new),
        "summary": {
            "crds": {
                **picked(counts, "old new compared changed only_old only_new apart"),
                "unmatched": [picked(each, "crd old new") for each in counts.unmatched],
            },
            "findings": {
                **words(report.by_severity()),
                "waived": sum(finding.waiver is not None for finding in report.findings),
                "existing": sum(finding.status == FindingStatus.EXISTING for finding in report.findings),
                "unreleased": sum(finding.status == FindingStatus.UNRELEASED for finding in report.findings),
            },
            **picked(counts, "contexts contexts_only_old contexts_only_new"),
            "text_only_changes": len(counts.text_changes),
            "without_effect": len(report.harmless),
            "unread": counts.unread,
            "superseded": [{"crd": crd, "file": file, "by": by} for crd, file, by in counts.superseded],
            "skipped": [skipped(item) for item in report.skipped],
            "problems": [problem(item) for item in report.problems],
            "remarks": [problem(item) for item in report.remarks],
        },
        "undecided": [_undecided(item) for item in report.undecided],
        "without_effect": [
            picked(item, "crd version contexts path change direction old new reason") for item in report.harmless
        ],
        "unexplained": [picked(item, "object source error") for item in report.unexplained],
        "promoted_gates": [_promoted(item) for item in report.promoted],
        **({"installers": found} if (found := _installers(report)) else {}),
        "findings": [
            {"id": item.id, "group": groups[group_key(item)], **finding_data(item)} for item in report.findings
        ],
    }


def _installers(report: DiffReport) -> list[dict[str, Any]]:
    """The verdicts that depend on who installs the CRDs; null: that installer does not support the direction."""
    return [to_builtins(each) for each in by_installer(report)]


def check_data(report: CheckReport) -> dict[str, Any]:
    """A check as JSON data: one section for the base and each target, each a diff report of its own."""
    groups = group_ids(report)
    return {
        **head("check", report.sections[0].report.old if report.sections else report.head, report.head),
        "rules": list(report.rules),
        "accepted_by_change": [_accepted(item) for item in report.accepted_by_change],
        **picked(report, "notes waivers"),
        "files": [picked(each, "file outcome reason") for each in report.files],
        "summary": {"findings": words(report.by_severity()), "problems": [problem(item) for item in report.problems]},
        "sections": [{"against": section.against, **_compared(section.report, groups)} for section in report.sections],
    }


def _accepted(item: Finding) -> dict[str, Any]:
    waiver = {} if item.waiver is None else acceptance_data(item.waiver)
    return {**picked(item, "id severity rule direction crd version path message"), **waiver}


def _promoted(item: PromotedGate) -> dict[str, Any]:
    return {
        **picked(item, "gate contexts"),
        "exposes": [{"crd": crd, "version": version, "path": path} for crd, version, path in item.exposes],
        "location": None if item.location is None else location(item.location),
    }


def _undecided(item: UndecidedEntry) -> dict[str, Any]:
    return {
        **picked(item, "crd version contexts path keyword old new reason"),
        "locations": [location(place) for place in item.locations],
    }


def finding_data(item: Finding) -> dict[str, Any]:
    """A finding as JSON data."""
    return {
        "id": item.id,
        **picked(item, "rule change direction effect severity because crd kind version contexts path owner"),
        **picked(item, "old new added removed message"),
        "witness": _witness(item),
        **({} if item.writes is None else {"writes": list(item.writes)}),
        "windows": picked(item.windows, "old_crd_new_writer new_crd_old_writer"),
        **({} if item.window is None else {"window": item.window}),
        "status": item.status,
        "introduced_by": picked(item.introduced_by, "commit date subject since") if item.introduced_by else None,
        "places": list(item.places),
        "locations": [location(place) for place in item.locations],
        "evidence": picked(item.evidence, "recorded_objects examples contexts assumed"),
        "waiver": acceptance_data(item.waiver) if item.waiver is not None else None,
        "growth": growth_data(item.growth) if item.growth is not None else None,
        "ended_waiver": item.ended or None,
    }


def _witness(item: Finding) -> dict[str, Any]:
    """The witness; the witness of an update also has what is stored, and the write that replaces it."""
    witness = item.witness
    return {
        **picked(witness, "object errors pruned defaulted reason"),
        **({} if witness.stored is None else {"stored": witness.stored, "operation": witness.operation}),
    }

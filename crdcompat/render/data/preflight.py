"""The report of preflight as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from crdcompat.models.installers import answers_by_installer
from crdcompat.render.data.parts import head
from crdcompat.render.data.simulation import cause_data, loss_data
from crdcompat.render.wording.preflight_steps import command_of

if TYPE_CHECKING:
    from crdcompat.models.preflight import Missing, PreflightReport, Step


def preflight_data(report: PreflightReport) -> dict[str, Any]:
    """The answer, then its reasons, and the steps with their commands."""
    return {
        **head("preflight", report.old, report.new),
        "answer": report.answer,
        "exit_code": int(report.exit_code),
        "cluster": {
            "source": list(report.source),
            "live": report.is_live,
            "platform": report.platform,
            "judge": report.judge,
        },
        "notes": list(report.notes),
        "admission": [to_builtins(item) for item in report.admission],
        "summary": {
            "crds": report.installed,
            "objects": report.objects,
            "rejected": report.rejected,
            "losing": report.losing,
            "kinds": [to_builtins(kind) for kind in report.kinds],
            "problems": [],
        },
        "missing": [_missing(item) for item in report.missing],
        "refused": [to_builtins(item) for item in report.refused],
        "causes": [cause_data(item) for item in report.causes],
        "tolerated": [cause_data(item) for item in report.tolerated],
        "deleted": [to_builtins(item) for item in report.deleted],
        "installers": [
            {"installer": installer, "answer": answer} for installer, answer in answers_by_installer(report)
        ],
        "losses": [loss_data(item) for item in report.losses],
        "writers": [to_builtins(item) for item in report.writers],
        "steps": [_step(report, step) for step in report.steps],
        "unlisted": report.unlisted,
        "windows": [to_builtins(item) for item in report.windows],
    }


def _missing(item: Missing) -> dict[str, Any]:
    rule = item.rule
    return {
        "what": item.what,
        "reason": item.reason,
        "rule": rule and {"apiGroups": [rule.group], "resources": list(rule.resources), "verbs": ["list"]},
        "step": item.step,
    }


def _step(report: PreflightReport, step: Step) -> dict[str, Any]:
    return {
        "step": step.kind,
        "crd": step.crd,
        "namespace": step.namespace,
        "name": step.name,
        "subresource": "status" if step.status else "",
        "patch": step.patch,
        "command": command_of(report, step),
    }

"""The plan of preflight in words: a sentence for each kind of step, and the commands for it."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.models.preflight import FieldWriter, PreflightReport, Step, StepKind
from crdcompat.render.escape import json_text
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.simulation import early_fix
from crdcompat.vocabulary import IN_CLUSTER
from crdcompat.vocabulary.texts import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.simulation import RejectedCause

#: What closes the gaps: a sentence for all gaps that take the same step.
_CLOSING = {
    StepKind.ONE_CLUSTER: "Name the recordings of one cluster (simulate --fleet judges many).",
    StepKind.ALLOW: "Let the user of this command list {names}: bind a ClusterRole with the rules above.",
    StepKind.READ: "Find out why {names} cannot be read (the reason is above).",
    StepKind.RECORD: "Record {names} into the folder {folder}, and name the folder with --objects, too:",
    StepKind.RECORD_ANEW: "Take the recording anew, because of {names}.",
    StepKind.MEND: "Mend or replace what cannot be read: {names} (the reason is above).",
    StepKind.NAME_RELEASE: "Name the release whose CRDs the cluster has, with --from, because of {names}.",
    StepKind.NAME_CONTEXT: "Name the context of the cluster with --context, or leave copies out (exclude): {names}.",
    StepKind.NAME_SERVER: "Name the server after the rollback with --kube-version or --openshift-version: {names}.",
    StepKind.TRY: "Try the rollback of {names} on a test cluster: only its servers can answer.",
}
#: The steps of which a redacted report shows no patch.
_PATCHES = (StepKind.PATCH, StepKind.PATCH_AFTER)
#: The folder in which a printed command puts the recorded lists.
_FOLDER = "recorded-more"


class ShownStep(Struct, frozen=True):
    """One step: a sentence, and the commands for it."""

    sentence: str
    commands: tuple[str, ...] = ()


def shown_steps(report: PreflightReport) -> tuple[ShownStep, ...]:
    """The steps in their order; consecutive steps of one kind are shown as one."""
    found = [
        ShownStep(_sentence(report, kind, (group := list(steps))), tuple(_commands(report, group)))
        for kind, steps in groupby(report.steps, key=lambda step: step.kind)
    ]
    return tuple(found)


def _sentence(report: PreflightReport, kind: StepKind, steps: Sequence[Step]) -> str:
    old = report.old.title
    crds = list(dict.fromkeys(step.crd for step in steps))
    if kind in _CLOSING:
        return _CLOSING[kind].format(names=some(crds), folder=_FOLDER)
    match kind:
        case StepKind.KEEP:
            return "Let helm keep the CRDs that it would delete with their objects:"
        case StepKind.SAVE:
            return f"Keep a copy: the first write after the rollback erases fields that {old} lacks."
        case StepKind.HOLD_BACK:
            return f"{'; '.join(dict.fromkeys(_hold_back(cause) for cause in report.early))}."
        case StepKind.SCALE_DOWN:
            hint = "" if report.operator else " (--operator NAMESPACE/NAME fills in the command)"
            return f"Scale the running operator down: {_rewrites(report.writers)}{hint}."
        case StepKind.PATCH:
            return "Take the rejected values out now: the installed CRD accepts the objects without them:"
        case StepKind.MOVE_STORAGE:
            return f"Store objects in {steps[0].versions[0]} again, which {old} has:"
        case StepKind.REWRITE | StepKind.FORGET_VERSION:
            return storage_sentence(steps[0])
        case StepKind.WIDEN:
            what = _objects(steps) or ", ".join(crds)
            return f"No write repairs {what}: widen the CRD of {old}, or delete and recreate the stored objects."
        case StepKind.PATCH_AFTER:
            return (
                f"No write repairs {_objects(steps)} before a rollback, because only {old} accepts them without the "
                f"rejected values: delete and recreate them, or widen the CRD of {old}. If you roll back nevertheless, "
                "run this at once afterwards:"
            )
        case StepKind.CHECK:
            return _check(report)
        case StepKind.ROLL_BACK:
            return f"Roll back to {old}: CRDs and operator together."
    raise AssertionError(kind)


def _hold_back(cause: RejectedCause) -> str:
    if cause.growth is None:
        return ""
    fix = early_fix(cause.growth)
    return f"{fix[0].upper()}{fix[1:]} ({cause.crd} {cause.path})"


def _objects(steps: Sequence[Step]) -> str:
    """The objects of the steps, with their number; "" for steps about whole CRDs."""
    objects = [f"{step.crd} {step.name}" for step in steps if step.name]
    return f"{plural(len(objects), 'object')} ({some(objects)})" if objects else ""


def _check(report: PreflightReport) -> str:
    """Why to run preflight again, and on what."""
    kinds = {step.kind for step in report.steps}
    changes = not kinds <= {*_CLOSING, StepKind.SAVE, StepKind.CHECK}
    why = ": a running controller may have written new values" if changes else ""
    if report.is_live or not changes:
        return f"Run preflight again{why}."
    return f"Record the cluster again, and run preflight again on the new recording{why}."


def _rewrites(writers: Sequence[FieldWriter]) -> str:
    """A clause on the field managers that may write the values again."""
    names = list(dict.fromkeys(each.manager for each in writers))
    if not names:
        return "it may write the values again; no object names their writer"
    return f"{some(names)} wrote the values, and may write them again"


def _commands(report: PreflightReport, steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if command := command_of(report, step):
            yield command


def command_of(report: PreflightReport, step: Step) -> str:
    """The command for one step; "" if the user decides how to do it, or if names and values are hidden."""
    if step.kind in _PATCHES and step.patch is None:
        return ""  # the values are hidden
    kubectl, crd = _kubectl(report), shlex.quote(step.crd)
    patched = shlex.quote(json_text(step.patch)) if step.patch is not None else ""
    match step.kind:
        case StepKind.RECORD:
            file = shlex.quote(f"{_FOLDER}/{step.crd}.json")
            return f"mkdir -p {_FOLDER} && {kubectl} get --raw {shlex.quote(step.api)} > {file}" if step.api else ""
        case StepKind.READ:
            return f"{kubectl} get --raw {shlex.quote(step.api)}" if step.api else ""
        case StepKind.KEEP:
            return f"{kubectl} annotate crd {crd} helm.sh/resource-policy=keep"
        case StepKind.SAVE:
            return f"{kubectl} get {crd} -A -o json > {shlex.quote(f'{step.crd}.json')}"
        case StepKind.SCALE_DOWN:
            namespace, _, name = (report.operator or "NAMESPACE/NAME").partition("/")
            return f"{kubectl} -n {shlex.quote(namespace)} scale deployment/{shlex.quote(name)} --replicas=0"
        case StepKind.PATCH | StepKind.PATCH_AFTER:
            namespace = f" -n {shlex.quote(step.namespace)}" if step.namespace else ""
            status = " --subresource=status" if step.status else ""
            return f"{kubectl}{namespace} patch {crd} {shlex.quote(step.name)}{status} --type=merge -p {patched}"
        case StepKind.MOVE_STORAGE | StepKind.REWRITE | StepKind.FORGET_VERSION:
            return storage_command(kubectl, step)
        case StepKind.CHECK:
            return _again(report)
    return ""


def storage_sentence(step: Step) -> str:
    """What one of the steps does that move stored objects to another version of their CRD."""
    to, *gone = step.versions
    if step.kind is StepKind.MOVE_STORAGE:
        return f"Store objects in {to}:"
    if step.kind is StepKind.REWRITE:
        return f"Write each object once, so that none is stored in {', '.join(gone)}:"
    return f"Then remove {', '.join(gone)} from the stored versions:"


def storage_command(kubectl: str, step: Step) -> str:
    """The command for one of the steps that move stored objects to another version of their CRD."""
    crd = shlex.quote(step.crd)
    if step.kind is StepKind.REWRITE:
        return f"{kubectl} get {crd} -A -o json | {kubectl} replace -f -"
    form = "--type=json" if step.kind is StepKind.MOVE_STORAGE else "--subresource=status --type=merge"
    return f"{kubectl} patch crd {crd} {form} -p {shlex.quote(json_text(step.patch))}"


def _kubectl(report: PreflightReport) -> str:
    return kubectl_for(report.source if report.is_live else ())


def kubectl_for(source: Sequence[str]) -> str:
    """The command for the live cluster of a ``source``; () for the cluster of the user's current context."""
    context = source[0] if source and source != (IN_CLUSTER,) else ""
    return f"kubectl --context {shlex.quote(context)}" if context else "kubectl"


def _again(report: PreflightReport) -> str:
    """The command that asks the same question, also on what the steps record."""
    more = ("--objects", _FOLDER) if any(step.kind is StepKind.RECORD for step in report.steps) else ()
    return shlex.join(("crdcompat", "preflight", *report.arguments, *more))

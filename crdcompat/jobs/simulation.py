"""simulate: recorded objects of one release meet the CRDs and the server of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import FieldError
from crdcompat.apiserver.refusals import refusal
from crdcompat.apiserver.replay import ACCEPTED, LOSES_DATA, UNKNOWN, Answer, Replay, replay
from crdcompat.apiserver.strategy import TOO_DEEP, Resource
from crdcompat.jobs.api import told_server
from crdcompat.jobs.causes import CauseCounter
from crdcompat.manifests.contexts import DEFAULT
from crdcompat.manifests.crdset import CrdSet
from crdcompat.manifests.objects import Recorded
from crdcompat.manifests.pairing import Chosen, Resolved, resolve_all
from crdcompat.problems import Problem, Skipped, problem_order
from crdcompat.report.model import (
    NotSimulated,
    Release,
    SimulatedObject,
    SimulationReport,
    WriteVerdict,
)
from crdcompat.schema.structural import ABSENT

#: One server of each era (reference section 1.2): what they agree on needs no version.
_ONE_OF_EACH_ERA = (Server(26), Server(29), Server(30), Server(32), Server(36))


def simulate(
    old: CrdSet,
    new: CrdSet,
    objects: Iterable[Recorded | Problem | Skipped],
    *,
    server: Server | None = None,
    upgrade: bool = False,
    context: str | None = None,
    crds: Sequence[str] = (),
) -> SimulationReport:
    """Replay the rollback NEW -> OLD (with ``upgrade`` OLD -> NEW) on every object.

    ``server`` is the one that judges; None: the one that the judging release's name tells; if that tells
    nothing, only what all eras agree on is answered. ``context`` chooses among variants of a CRD.
    """
    reader, writer = (new, old) if upgrade else (old, new)
    run = _Run(reader, writer, server or told_server(reader), context)
    simulated: list[SimulatedObject] = []
    missed: list[NotSimulated] = []
    problems, skipped = list(old.problems) + list(new.problems), list(old.skipped) + list(new.skipped)
    seen: set[tuple[str, ...]] = set()
    for item in objects:
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Skipped):
            skipped.append(item)
        else:
            item = run.completed(item)
            identity = item.identity
            if identity is None or identity not in seen:
                outcome = run.judge(item)
                if isinstance(outcome, NotSimulated):
                    missed.append(outcome)
                elif not crds or outcome.crd in crds:
                    simulated.append(outcome)
            if identity is not None:
                seen.add(identity)
    return SimulationReport(
        old=_release(old, server if not upgrade else None),
        new=_release(new, server if upgrade else None),
        direction="upgrade" if upgrade else "rollback",
        objects=tuple(sorted(simulated, key=lambda item: (item.crd, item.namespace, item.name, item.source))),
        not_simulated=tuple(sorted(missed, key=lambda item: (item.reason, item.object, item.source))),
        skipped=tuple(sorted(set(skipped))),
        problems=tuple(sorted({*problems, *run.problems}, key=problem_order)),
        notes=run.notes,
        causes=run.causes.summary(reader, "new" if upgrade else "old"),
    )


class _Run:
    """The CRDs of both sides by (group, kind), resolved in one context, and their compiled versions."""

    def __init__(self, reader: CrdSet, writer: CrdSet, server: Server | None, context: str | None) -> None:
        self._server = server
        self._reader_name = reader.name
        name, self._readers = resolve_all(reader, writer, context)
        _, self._writers = resolve_all(writer, reader, context)
        told = f"variants of CRDs are those of context {name} (choose another with --context)"
        self.notes = (told,) if name != DEFAULT and context is None else ()
        self._resources: dict[tuple[int, Server], Resource] = {}
        self._refusals: dict[int, str] = {}
        self.causes = CauseCounter()
        self.problems: list[Problem] = []
        self._errors: dict[tuple[Any, ...], dict[str, Any]] = {}

    def _refusal(self, chosen: Chosen, server: Server) -> str:
        """Why no server would serve this version of a CRD; said once as a problem of its file."""
        key = id(chosen.version)
        if key not in self._refusals:
            self._refusals[key] = refusal(chosen.document.crd, chosen.version, server)
            if self._refusals[key]:
                message = f"the API server refuses this CRD: {self._refusals[key]}"
                self.problems.append(Problem(chosen.document.file, None, message))
        return self._refusals[key]

    def completed(self, item: Recorded) -> Recorded:
        """The record with apiVersion and kind where only its path tells them."""
        return item.completed(self._writers, self._readers)

    def judge(self, item: Recorded) -> SimulatedObject | NotSimulated:
        """One recorded object, or why it cannot be simulated."""
        if not isinstance(item.data, dict):
            return NotSimulated("", item.source, "not an object")
        api_version, kind = item.data.get("apiVersion"), item.data.get("kind")
        label = _label(item.data)
        if not isinstance(api_version, str) or not isinstance(kind, str) or not kind:
            if item.hint is not None:
                return NotSimulated(label, item.source, f"its CRD is in neither release (by its path: {item.hint})")
            return NotSimulated(label, item.source, "no apiVersion and kind: what it is cannot be told")
        if item.identity is None:
            return NotSimulated(label, item.source, "no metadata.name: not a stored object")
        group, _, version = api_version.rpartition("/")
        reader, writer = self._readers.get((group, kind)), self._writers.get((group, kind))
        if reader is None and writer is None:
            return NotSimulated(label, item.source, "its CRD is in neither release")
        if reader is None:
            return NotSimulated(label, item.source, f"{self._reader_name} has no CRD for it: its API answers 404 there")
        chosen = reader.versions.get(version)
        if chosen is None:
            reason = f"{self._reader_name} does not know version {version} of {reader.name}"
            return NotSimulated(label, item.source, reason)
        if chosen.version.schema is None:
            return NotSimulated(label, item.source, f"{reader.name} {version} has no schema in {self._reader_name}")
        if _converts(reader):
            reason = f"{reader.name} converts versions by a webhook, which cannot be asked here"
            return NotSimulated(label, item.source, reason)
        before = writer.versions.get(version) if writer is not None else None
        had_status = before.version.has_status if before is not None else chosen.version.has_status
        servers = (self._server,) if self._server is not None else _ONE_OF_EACH_ERA
        refused = self._refusal(chosen, servers[-1])
        if refused:
            return NotSimulated(label, item.source, f"the API server refuses the CRD {reader.name}: {refused}")
        replays = []
        for server in servers:
            key = (id(chosen.version), server)
            if key not in self._resources:
                self._resources[key] = Resource(chosen.document.crd, chosen.version, server)
            try:
                replays.append((server, replay(self._resources[key], item.data, had_status=had_status)))
            except RecursionError:
                return NotSimulated(label, item.source, TOO_DEEP)
        self.causes.add(chosen, replays[-1][1].causes, f"{label} in {item.source}")
        return self._simulated(item, group, kind, version, reader.name, replays)

    def _simulated(
        self, item: Recorded, group: str, kind: str, version: str, crd: str, replays: Sequence[tuple[Server, Replay]]
    ) -> SimulatedObject:
        last = replays[-1][1]
        meta = item.data.get("metadata", {})
        writes = {name: self._agreed([(on, result.writes[name]) for on, result in replays]) for name in last.writes}
        repairs = {result.repair.verdict for _, result in replays}
        fix: dict[str, Any] = {"verdict": last.repair.verdict, "patch": last.repair.patch}
        if len(repairs) > 1:
            fix = {"verdict": UNKNOWN, "patch": {}, "note": _ASK}
        elif last.repair.note:
            fix["note"] = last.repair.note
        return SimulatedObject(
            api_version=f"{group}/{version}",
            kind=kind,
            namespace=meta.get("namespace", "") or "",
            name=meta["name"],
            source=item.source,
            crd=crd,
            version=version,
            writes=writes,
            repair=fix,
            pruned=last.pruned,
            defaulted=last.defaulted,
        )

    def _agreed(self, answers: Sequence[tuple[Server, Answer]]) -> WriteVerdict:
        """What all eras asked agree on; where they differ, that is the answer: unknown, with the option to give."""
        verdicts = {answer.verdict for _, answer in answers}
        if len(verdicts) == 1:
            server, answer = answers[-1]
            return self._verdict(answer, server)
        told = ", ".join(f"{answer.verdict} on {server.kubernetes}" for server, answer in answers)
        return WriteVerdict(UNKNOWN, note=f"{_ASK} ({told})")

    def _verdict(self, answer: Answer, server: Server) -> WriteVerdict:
        return WriteVerdict(
            verdict=answer.verdict,
            errors=tuple(self._error(error, server) for error in answer.errors),
            message=answer.message if answer.verdict not in (ACCEPTED, LOSES_DATA) else "",
            note=answer.note,
        )

    def _error(self, error: FieldError, server: Server) -> dict[str, Any]:
        """The error as data; the same one meets every write of an object and often many objects, and is held once."""
        key = (error.type, error.field, error.detail, repr(error.value), server)
        if key not in self._errors:
            self._errors[key] = error_data(error, server)
        return self._errors[key]


def _converts(resolved: Resolved) -> bool:
    spec = resolved.documents[0].crd.raw.get("spec")
    conversion = spec.get("conversion") if isinstance(spec, dict) else None
    webhook = isinstance(conversion, dict) and conversion.get("strategy") == "Webhook"
    # With a single version nothing is ever converted.
    return webhook and len(resolved.versions) > 1


_ASK = "depends on the Kubernetes version: give --kube-version or --openshift-version"


def error_data(error: FieldError, server: Server) -> dict[str, Any]:
    """A field error for JSON; ``value`` only where the server names one."""
    value = {} if error.value is ABSENT else {"value": error.value}
    return {
        "type": error.type,
        "field": error.field,
        **value,
        "detail": error.detail,
        "text": error.text(server),
    }


def _label(data: dict[str, Any]) -> str:
    meta = data.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    parts = (data.get("kind"), meta.get("namespace"), meta.get("name"))
    return "/".join(part for part in parts if isinstance(part, str) and part)


def _release(crds: CrdSet, server: Server | None) -> Release:
    told = server or told_server(crds)
    return Release(crds.name, crds.commit, told.kubernetes if told else None, crds.notes)

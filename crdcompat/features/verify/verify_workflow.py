"""Sends the witnesses of a report to a server, one after the other, and collects the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from crdcompat.apiserver.server_versions import DEFAULT_SERVER, Server, kubernetes_server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.model import read_crd
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem, SourceError, UsageError
from crdcompat.features.verify.scratch_cluster import Answer, ScratchCluster
from crdcompat.features.verify.trials import Form, NoTrial, Trial, sent, trials
from crdcompat.models.release import Release
from crdcompat.models.verification import Claim, ClaimingReport, Outcome, VerificationReport, VerifiedFinding
from crdcompat.schema.paths import Object, general, pointer_of, value_at
from crdcompat.sources.cluster_client import NoAnswerError, RefusedError
from crdcompat.vocabulary import Effect

# Compares a server's answers with the claim of a finding.


Result = tuple[Outcome, str, tuple[str, ...]]
"""The outcome, its reason, and what the server said."""


def refused_by_writer(answer: Answer) -> Result:
    """The writer's server refused the witness."""
    return Outcome.REFUTED, "the CRD of the release that writes it refuses the object", _words(answer)


def of_another_version(answer: Answer, server: Server) -> Result:
    """What servers of this version are known to do with the object; the report assumes another version."""
    does, other = ("refuses", "accepts") if answer.object is None else ("accepts", "refuses")
    reason = f"{server} {does} the object; the version that the report assumes {other} it"
    return Outcome.NOT_TESTABLE, reason, _words(answer)


def not_installed(answer: Answer, side: str) -> Result:
    """A CRD could not be installed."""
    return Outcome.NOT_TESTABLE, f"the server does not take the CRD of the release that {side} it", _words(answer)


def replaced(claim: Claim, answer: Answer) -> Result:
    """The reader's CRD was put in the place of the writer's; the claim is that the server refuses it."""
    if answer.object is not None:
        return Outcome.REFUTED, "the server takes the CRD in the place of the other", ()
    return Outcome.CONFIRMED, "" if answer.message in claim.errors else _OTHER_WORDS, _words(answer)


def judged(claim: Claim, answer: Answer) -> Result:
    """The object that the writer stores was sent to the reader's CRD."""
    if claim.effect == Effect.WRITE_REJECTED:
        return _rejected(claim, answer)
    if answer.object is None:
        return Outcome.REFUTED, "the CRD of the release that reads it refuses the object", _words(answer)
    if claim.effect == Effect.VALUE_PRUNED:
        return _shown(claim, claim.pruned, [path for path in claim.pruned if _has(answer.object, path)], "is kept")
    missing = [path for path in claim.defaulted if not _has(answer.object, path)]
    return _shown(claim, claim.defaulted, missing, "gets no default")


def _rejected(claim: Claim, answer: Answer) -> Result:
    if answer.object is not None:
        return Outcome.REFUTED, "the CRD of the release that reads it takes the object", ()
    if set(claim.errors) == set(answer.causes):
        return Outcome.CONFIRMED, "", _words(answer)
    places = {error.partition(": ")[0] for error in claim.errors}
    if not places or places & {cause.partition(": ")[0] for cause in answer.causes}:
        return Outcome.CONFIRMED, _OTHER_WORDS, _words(answer)
    return Outcome.REFUTED, f"the object is refused, but not at {', '.join(sorted(places))}", _words(answer)


_OTHER_WORDS = "in other words than the report's"


def _shown(claim: Claim, paths: tuple[str, ...], wrong: list[str], what: str) -> Result:
    """The outcome for pruned or defaulted fields: only those at the finding's place can refute it."""
    here = [path for path in paths if general(path) == claim.path] or [*paths]
    if set(here) <= set(wrong):
        return Outcome.REFUTED, "; ".join(f"{path} {what}" for path in here) or "nothing changes", ()
    return Outcome.CONFIRMED, "; ".join(f"but {path} {what}" for path in wrong), ()


def _words(answer: Answer) -> tuple[str, ...]:
    return answer.causes or (answer.message,)


def _has(obj: Object, field: str) -> bool:
    pointer = pointer_of(obj, field)
    if pointer is None:
        return False
    try:
        value_at(obj, pointer)
    except LookupError:
        return False
    return True


Answered = tuple[Claim, Result]
"""A claim and its outcome."""


def verify(
    claiming: ClaimingReport,
    old: CrdSet,
    new: CrdSet,
    cluster: ScratchCluster,
    each: Callable[[Iterable[Answered]], Iterator[Answered]] = iter,
) -> VerificationReport:
    """The answers of ``cluster`` to all findings of a report; ``old`` and ``new`` are its releases.

    ``each`` passes on the answers, as they come. What was installed is removed at the end, however it comes. Raises
    SourceError if the cluster has one of the CRDs.
    """
    planned = [*trials(claiming.claims, old, new)]
    ready = [trial for trial in planned if isinstance(trial, Trial)]
    results: dict[int, Result] = {
        id(trial.claim): (Outcome.NOT_TESTABLE, trial.reason, ()) for trial in planned if isinstance(trial, NoTrial)
    }
    problems: list[Problem] = []
    version = cluster.version()
    cluster.check_unused({trial.writer.crd["metadata"]["name"] for trial in ready})
    table = _Table(cluster, _other_server(version, (claiming.old, claiming.new)))
    try:
        for claim, result in each(table.results(ready)):
            results[id(claim)] = result
        cluster.clear()
    except (NoAnswerError, RefusedError) as error:
        problems.append(Problem(cluster.context, None, f"the API server stopped answering the trials: {error}"))
        problems += _cleared(cluster)
    except BaseException as error:
        if left := _cleared(cluster):
            raise SourceError("\n".join(["interrupted", *(problem.message for problem in left)])) from error
        raise
    unasked: Result = (Outcome.NOT_TESTABLE, "not asked: the API server no longer did its part", ())
    return VerificationReport(
        file=claiming.file,
        old=claiming.old,
        new=claiming.new,
        context=cluster.context,
        server=version,
        findings=tuple(VerifiedFinding(claim, *results.get(id(claim), unasked)) for claim in claiming.claims),
        problems=tuple(problems),
    )


def _cleared(cluster: ScratchCluster) -> list[Problem]:
    """Remove what is installed after a failure; what cannot be removed is a problem."""
    try:
        cluster.clear()
    except (NoAnswerError, RefusedError) as error:
        delete = f"kubectl --context {cluster.context} delete crd {cluster.installed}"
        return [Problem(cluster.context, None, f"{cluster.installed} could not be removed ({error}): {delete}")]
    return []


def _other_server(version: str, releases: Iterable[Release]) -> Server | None:
    """The server of a version that a cluster reports; None if it is not known, or if it is the server of the report.

    A report that names no server is made for the default one.
    """
    try:
        assumed = {kubernetes_server(each.kubernetes) if each.kubernetes else DEFAULT_SERVER for each in releases}
        server = kubernetes_server(version)
    except UsageError:
        return None
    return None if {server.minor} == {each.minor for each in assumed} else server


class _Table:
    """Installs forms as they are needed, and asks."""

    def __init__(self, cluster: ScratchCluster, server: Server | None) -> None:
        self._cluster = cluster
        self._server = server
        self._lies: tuple[Form, Answer] | None = None

    def results(self, trials: Iterable[Trial]) -> Iterator[Answered]:
        """The outcomes of trials; CRDs are exchanged once for all trials with the same forms. Raises NoAnswerError."""
        for _, same in groupby(trials, key=lambda trial: (trial.writer.key, trial.reader.key)):
            yield from self._of_same_forms([*same])

    def _of_same_forms(self, trials: list[Trial]) -> Iterator[Answered]:
        writer, reader = trials[0].writer, trials[0].reader
        installed = self._put(writer)
        if installed.object is None:
            yield from ((trial.claim, not_installed(installed, "writes")) for trial in trials)
            return
        if trials[0].whole:
            self._lies = None
            answer = self._cluster.replace(reader.crd)
            yield from ((trial.claim, replaced(trial.claim, answer)) for trial in trials)
            return
        written = [(trial, self._written(trial)) for trial in trials]
        installed = self._put(reader)
        for trial, answer in written:
            if answer.object is None:
                foreseen = self._foreseen(
                    trial.writer, trial.written_as, trial.claim, trial.claim.witness or {}, answer
                )
                yield trial.claim, foreseen or refused_by_writer(answer)
            elif installed.object is None:
                yield trial.claim, not_installed(installed, "reads")
            else:
                yield trial.claim, self._read(trial, answer.object)

    def _written(self, trial: Trial) -> Answer:
        """The writer's answer to the witness."""
        crd, version, claim = trial.writer.crd, trial.written_as, trial.claim
        witness = sent(claim.witness or {}, crd, version)
        if claim.stored is None:
            return self._cluster.create(crd, version, witness)
        with self._cluster.holding(crd, version, sent(claim.stored, crd, version)) as held:
            return held if held.object is None else self._cluster.update(crd, version, witness, held.object)

    def _read(self, trial: Trial, written: Object) -> Result:
        """The result of the reader's answer to the object that the writer stores."""
        crd, version, claim = trial.reader.crd, trial.claim.version, trial.claim
        witness = sent(written, crd, version)
        if claim.stored is None:
            answer = self._cluster.create(crd, version, witness)
            foreseen = None
            if (answer.object is None) != (claim.effect == Effect.WRITE_REJECTED):
                foreseen = self._foreseen(trial.reader, version, claim, written, answer)
            return foreseen or judged(claim, answer)
        with self._cluster.holding(crd, version, sent(claim.stored, crd, version)) as held:
            if held.object is not None:
                return judged(claim, self._cluster.update(crd, version, witness, held.object))
        return self._handed_over(trial, witness)

    def _handed_over(self, trial: Trial, witness: Object) -> Result:
        """The result of an update of what the reader does not take as a new object: the writer's CRD stores it."""
        crd, claim = trial.writer.crd, trial.claim
        self._put(trial.writer)
        with self._cluster.holding(crd, trial.written_as, sent(claim.stored or {}, crd, trial.written_as)) as held:
            self._put(trial.reader)
            if held.object is None:
                return refused_by_writer(held)
            return judged(claim, self._cluster.update(trial.reader.crd, claim.version, witness, held.object))

    def _foreseen(self, form: Form, version: str, claim: Claim, obj: Object, answer: Answer) -> Result | None:
        """The result of a create if servers of its version are known to answer it as this one did.

        From 1.36 on, for one, servers check the ranges of numbers.
        """
        if self._server is None or claim.stored is not None:
            return None
        crd = read_crd(form.crd)
        chosen = next(each for each in crd.versions if each.name == version)
        verdict = Resource(crd, chosen, self._server).create(sent(obj, form.crd, version), keep_status=True)
        return of_another_version(answer, self._server) if verdict.accepted is (answer.object is not None) else None

    def _put(self, form: Form) -> Answer:
        """Install a form of a CRD, unless the server has this form already."""
        if self._lies is None or self._lies[0] is not form:
            self._lies = form, self._cluster.install(form.crd)
        return self._lies[1]

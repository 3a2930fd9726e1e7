"""Ask what an API server answers: to the writes on recorded objects, to one write, to a CRD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.api.comparing import configuration, two_sides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.apiserver.admission import Verdict
    from crdcompat.apiserver.server_versions import Server
    from crdcompat.crds.model import Crd
    from crdcompat.crds.reader import CrdSet
    from crdcompat.models.simulation import SimulationReport
    from crdcompat.recordings.recorded_objects import ObjectItem


def simulate(
    old: CrdSet | str,
    new: CrdSet | str,
    objects: Iterable[ObjectItem],
    *,
    repo: str | None = None,
    server: Server | None = None,
    upgrade: bool = False,
    context: str | None = None,
    crds: Sequence[str] = (),
    config: str | None = None,
) -> SimulationReport:
    """Replay the rollback NEW -> OLD (with ``upgrade`` OLD -> NEW) on recorded objects.

    ``objects`` come from ``load_objects``. ``server`` is the API server that judges (None: the one that the name of
    the judging release gives; if it gives none, all server versions must agree). ``context`` chooses among variants of
    a CRD, ``crds`` keeps those of these names. ``config`` is as in ``diff``: it says what is read, and its declarations
    of growth count.

    ``objects`` of the report has the verdict of each write and the repair, ``not_simulated`` what was not judged and
    the reason. For ``old`` and ``new`` as texts it raises what ``load_crds`` raises.

    Example: ``simulate(old, new, load_objects("must-gather")).by_verdict()``.
    """
    from crdcompat.features.simulate import simulate_workflow
    from crdcompat.features.simulate.early import NOTHING_GROWS, growing
    from crdcompat.findings.waiver_file import read_accepted

    found = configuration(config, repo) if config is not None else None
    before, after = two_sides(old, new, repo, config=found)
    growth = NOTHING_GROWS
    if found is not None and not upgrade:
        growth = growing(read_accepted(found.waiver_file).growth, after.name, found)
    return simulate_workflow.simulate(
        before, after, objects, server=server, upgrade=upgrade, context=context, crds=crds, growth=growth
    )


def judge(
    crd: Crd | dict[str, Any],
    operation: str,
    new: dict[str, Any] | list[Any],
    old: dict[str, Any] | None = None,
    *,
    version: str | None = None,
    kubernetes: str = "1.31",
    ratcheting: bool | None = None,
    manager: str | None = None,
    force: bool = False,
    field_validation: str = "Warn",
    dry_run: bool = False,
) -> Verdict:
    """Judge one write as an API server would.

    ``operation`` is one of ``create``, ``validate`` (as create, but status is kept and validated), ``update``,
    ``mergePatch``, ``jsonPatch``, ``apply`` (each also with ``Status`` at its end), ``scale``, ``mergePatchScale``,
    ``jsonPatchScale``, ``getScale``; all but the first two need ``old``, the stored object. In patches ``new`` is the
    patch, in ``scale`` the Scale object. ``version`` defaults to the object's. ``kubernetes`` is ``1.31`` or
    ``openshift-4.18``; ``ratcheting`` sets the feature gate by hand. ``manager`` is the field manager of an apply: what
    ``old`` says that it owned and ``new`` no longer has is removed, and fields of other managers are a conflict unless
    ``force``; by default an apply is by a manager that owns nothing, by force. ``field_validation`` is ``Strict``,
    ``Warn`` or ``Ignore``: what the client wants of unknown fields. ``dry_run``: etcd does not see the write, nor its
    size. Nothing that is passed in is changed.

    Raises UsageError for an operation, version or CRD that does not exist.

    Example: ``judge(crd, "create", {"apiVersion": …, "kind": …, "metadata": …, "spec": …}).accepted``.
    """
    from crdcompat.apiserver.ownership import Applier
    from crdcompat.apiserver.sending import Sending
    from crdcompat.apiserver.server_versions import Server, kubernetes_server
    from crdcompat.errors import UsageError
    from crdcompat.features.judge.write_verdict import judge_write, resource_of, version_of
    from crdcompat.vocabulary.judging import FieldValidation

    named = kubernetes_server(kubernetes)
    server = Server(named.minor, named.openshift, ratcheting)
    applier = None if manager is None else Applier(manager, force)
    like = old if operation == "scale" or "Scale" in operation or isinstance(new, list) else new
    resource = resource_of(crd, version or version_of(like), server)
    if field_validation not in tuple(FieldValidation):
        raise UsageError(f"field_validation {field_validation!r} is not one of {', '.join(FieldValidation)}")
    sending = Sending(FieldValidation(field_validation), dry_run)
    return judge_write(resource, operation, new, old, applier=applier, sending=sending)


def judge_crd(
    crd: Crd | dict[str, Any], installed: Crd | dict[str, Any] | None = None, *, kubernetes: str = "1.31"
) -> Verdict:
    """Would an API server take this CRD?

    ``installed`` is the CRD that ``crd`` replaces, None for a new CRD; some old faults are tolerated in an update.
    ``kubernetes`` is ``1.31`` or ``openshift-4.18``. Nothing that is passed in is changed.

    Example: ``judge_crd(crd, kubernetes="1.29").message``.
    """
    from crdcompat.apiserver.server_versions import kubernetes_server
    from crdcompat.features.judge.write_verdict import judge_crd as judge

    new, old = (each if each is None or isinstance(each, dict) else dict(each.raw) for each in (crd, installed))
    return judge("createCRD" if old is None else "updateCRD", new, old, kubernetes_server(kubernetes))

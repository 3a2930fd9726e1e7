"""The functions behind the commands: load, diff, suggest_patch and judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.strategy import TOO_DEEP, Resource
from crdcompat.apiserver.versions import Server, known_server, kubernetes_server, server_of
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.result import Judged
from crdcompat.crds.model import Crd, CrdVersion, is_crd, read_crd
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.errors import UsageError, problem_order
from crdcompat.features.diff.comparison import Compared, Filters, compare, report_on
from crdcompat.features.diff.refused import find_refused, remarks_on, with_refused
from crdcompat.findings.locations import Places, find_places
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding, Location
from crdcompat.models.report import Release
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, Owner, Side


def _scale(resource: Resource, new: Any, old: Any) -> Verdict:
    spec = new.get("spec")
    return resource.scale(spec.get("replicas") if isinstance(spec, dict) else None, old)


#: The kinds of write that ``judge`` knows. In patches ``new`` is the patch, in ``scale`` the Scale object.
OPERATIONS: dict[str, Callable[[Resource, Any, Any], Verdict]] = {
    "create": lambda resource, new, old: resource.create(new),
    "validate": lambda resource, new, old: resource.create(new, keep_status=True),
    "update": lambda resource, new, old: resource.update(new, old),
    "updateStatus": lambda resource, new, old: resource.update_status(new, old),
    "mergePatch": lambda resource, new, old: resource.merge_patch(new, old),
    "mergePatchStatus": lambda resource, new, old: resource.merge_patch(new, old, status=True),
    "apply": lambda resource, new, old: resource.apply(new, old),
    "applyStatus": lambda resource, new, old: resource.apply(new, old, status=True),
    "scale": _scale,
}


def load(source: str, *, repo: str | None = None, reader: CrdReader | None = None, side: Side = Side.ANY) -> CrdSet:
    """The CRDs of a source: ``git:REF``, ``index:``, ``worktree:``, ``path:P``, or a bare ref or path.

    ``reader`` shares parsed blobs between several loads. Raises SourceError, RefNotFoundError, UsageError.
    """
    from crdcompat.sources import open_source

    return (reader or CrdReader()).read(open_source(source, repo=repo), side)


def diff(
    old: CrdSet,
    new: CrdSet,
    *,
    directions: Sequence[Direction] = tuple(Direction),
    owners: Sequence[Owner] = (),
    crds: Sequence[str] = (),
    paths: Sequence[str] = (),
    contexts: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    touched: frozenset[str] | None = None,
    command: str = "diff",
    locate: bool = True,
    judge_new: bool = True,
    more_places: Callable[[Judged], tuple[Location, ...]] | None = None,
) -> DiffReport:
    """Compare two CRD sets in both directions. An empty filter excludes nothing.

    ``paths``: a CRD is compared if a file of either side lies below one. ``contexts``: names to keep, or
    ``OLD=NEW`` to force a pair. ``touched``: the only CRDs to compare; those that are missing are no error.
    ``judge_new``: whether CRDs of NEW that the API server refuses are findings; without it they are remarks, as those
    of OLD. ``more_places`` gives the locations of a change outside the manifests. Raises UsageError for a filter name
    that matches nothing.
    """
    wanted = Filters(directions, owners, crds, paths, contexts, select, ignore, touched)
    compared = _compare(old, new, wanted)
    of_old, of_new = find_refused(compared, (server_of(old), server_of(new))) if locate else ((), ())
    if judge_new:
        compared = with_refused(compared, of_new, wanted)
    places = find_places(old, new, compared.judged, compared.open) if locate else Places({}, {})
    releases = release(old), release(new)
    report = report_on(compared, releases, wanted, places, command=command, more_places=more_places)
    remarks = {*report.remarks, *remarks_on(old, Side.OLD, of_old)}
    if not judge_new:
        remarks.update(remarks_on(new, Side.NEW, of_new))
    return replace(report, remarks=tuple(sorted(remarks, key=problem_order)))


def suggest_patch(
    old: CrdSet,
    new: CrdSet,
    *,
    crds: Sequence[str] = (),
    paths: Sequence[str] = (),
    contexts: Sequence[str] = (),
    waived: Sequence[Finding] = (),
) -> str:
    """A unified diff of OLD's files with which its schemas accept what NEW stores; "" if nothing can be widened.

    It widens exactly what the rollback findings need, except for ``waived`` ones. crdcompat never applies it.
    """
    from crdcompat.findings.patch import suggest_patch as suggested

    judged = _compare(old, new, Filters((Direction.ROLLBACK,), (), crds, paths, contexts)).judged
    return suggested((left for item in judged if (left := _unwaived(item, waived)) is not None), old)


def _unwaived(item: Judged, waived: Sequence[Finding]) -> Judged | None:
    """A judged change without its waived values; None if all are waived."""
    about = [f for f in waived if (f.change, f.direction, f.crd) == (item.change.kind, item.direction, item.crd)]
    about = [f for f in about if f.version == item.version and item.change.place in (f.path, *f.places)]
    if not about:
        return item
    accepted = {member_key(value) for finding in about for value in finding.added}
    left = tuple(value for value in item.labels or item.change.added if member_key(value) not in accepted)
    return replace(item, labels=left) if left else None


def _compare(old: CrdSet, new: CrdSet, wanted: Filters) -> Compared:
    """Compare two sets. Raises UsageError for a filter name that matches nothing."""
    compared = compare(old, new, (server_of(old), server_of(new)), wanted, ComparisonCache())
    if compared.missing:
        raise UsageError(compared.missing)
    return compared


def judge(
    crd: Crd | dict[str, Any],
    operation: str,
    new: dict[str, Any],
    old: dict[str, Any] | None = None,
    *,
    version: str | None = None,
    kubernetes: str = "1.31",
    ratcheting: bool | None = None,
) -> Verdict:
    """The verdict on one write; ``operation`` is one of ``OPERATIONS``. Arguments are those of ``crdcompat.judge``.

    Raises UsageError for an operation, version or CRD that does not exist.
    """
    server = kubernetes_server(kubernetes)
    server = Server(server.minor, server.openshift, ratcheting)
    resource = resource_of(crd, version or _version_of(new), server)
    return judge_with(resource, operation, new, old)


def judge_with(resource: Resource, operation: str, new: Any, old: Any = None) -> Verdict:
    """``judge`` with a compiled resource. Raises UsageError for an invalid request."""
    if not isinstance(new, dict):
        raise UsageError("the new object is not a JSON object")
    if operation not in OPERATIONS:
        raise UsageError(f"operation {operation!r} is not one of {', '.join(OPERATIONS)}")
    if operation not in ("create", "validate") and not isinstance(old, dict):
        raise UsageError(f"operation {operation} needs the old object")
    try:
        return OPERATIONS[operation](resource, new, old)
    except RecursionError:
        raise UsageError(TOO_DEEP) from None


def resource_of(crd: Crd | dict[str, Any], version: str | None, server: Server) -> Resource:
    """One version of a CRD on a server; by default its storage version. Raises UsageError."""
    if isinstance(crd, dict):
        if not is_crd(crd):
            raise UsageError("not a CustomResourceDefinition of apiextensions.k8s.io/v1 or v1beta1")
        crd = read_crd(crd)
    found: CrdVersion | None = crd.version(version) if version else crd.storage_version
    if found is None:
        names = ", ".join(item.name for item in crd.versions)
        raise UsageError(f"{crd.name} has no version {version or 'marked as storage'}; it has {names}")
    return Resource(crd, found, server)


def release(crds: CrdSet) -> Release:
    """The description of a side for reports."""
    server = known_server(crds)
    return Release(crds.name, crds.commit, server.kubernetes if server else None, crds.notes, crds.label)


def _version_of(obj: Any) -> str | None:
    api_version = obj.get("apiVersion") if isinstance(obj, dict) else None
    return api_version.rpartition("/")[2] if isinstance(api_version, str) else None

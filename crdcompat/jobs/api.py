"""The functions behind the commands: load, diff, judge. Each is one straight line through the rooms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from crdcompat.apiserver.eras import Server, kubernetes_server, server_of_name
from crdcompat.apiserver.strategy import TOO_DEEP, Resource, Verdict
from crdcompat.compare.engine import Comparer
from crdcompat.compare.result import Comparison, Judged, Open
from crdcompat.compare.site import DIRECTIONS, ROLLBACK
from crdcompat.errors import UsageError
from crdcompat.manifests.crd import Crd, CrdVersion, is_crd, read_crd
from crdcompat.manifests.crdset import CrdReader, CrdSet
from crdcompat.manifests.pairing import Facing, Pairing, pair
from crdcompat.policy.findings import Finding, Location, make_findings
from crdcompat.policy.grouping import group_copies
from crdcompat.policy.locations import Places, find_places
from crdcompat.problems import problem_order
from crdcompat.report.model import Counts, DiffReport, Release, UndecidedEntry, sorted_skips
from crdcompat.schema.paths import owner, render
from crdcompat.schema.sample import member_key

#: What is assumed of a release whose name tells no Kubernetes version; only the wording of errors depends on it.
USUAL = Server(31)


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


def load(source: str, *, repo: str | None = None, reader: CrdReader | None = None, side: str = "") -> CrdSet:
    """The CRDs of a source: ``git:REF``, ``index:``, ``worktree:``, ``path:P``, or a bare ref or path.

    ``reader`` shares parsed blobs between several loads. Raises SourceError, RefNotFoundError, UsageError.
    """
    from crdcompat.sources import open_source

    return (reader or CrdReader()).read(open_source(source, repo=repo), side)


def diff(
    old: CrdSet,
    new: CrdSet,
    *,
    directions: Sequence[str] = DIRECTIONS,
    owners: Sequence[str] = (),
    crds: Sequence[str] = (),
    paths: Sequence[str] = (),
    contexts: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    command: str = "diff",
    locate: bool = True,
    more_places: Callable[[Judged], tuple[Location, ...]] | None = None,
) -> DiffReport:
    """Compare two CRD sets in both directions. The filters leave findings out; empty ones let all pass.

    ``paths``: a CRD is compared if a file of either side lies below one. ``contexts``: names to keep, or
    ``OLD=NEW`` to force a pair. ``more_places`` adds to the places of a change those outside the manifests. Raises
    UsageError for a name that occurs nowhere.
    """
    pairing, compared = _compare(old, new, directions, crds, paths, contexts)
    judged = [item for item in compared.judged if not owners or item.change.owner in owners]
    opened = [item for item in compared.open if not owners or owner(item.undecided.path) in owners]
    places = find_places(old, new, judged, opened) if locate else Places({}, {})

    def where(item: Judged) -> tuple[Location, ...]:
        return (*places.of(item), *(more_places(item) if more_places is not None else ()))

    findings = group_copies(make_findings(judged, old.name, new.name, where))
    kept = [f for f in findings if (not select or f.rule in select) and f.rule not in ignore]
    return DiffReport(
        command=command,
        old=release(old),
        new=release(new),
        counts=Counts(
            old=len(old.named()),
            new=len(new.named()),
            compared=len(compared.compared),
            changed=len(compared.changed),
            only_old=pairing.only_old,
            only_new=pairing.only_new,
            contexts=pairing.contexts,
            contexts_only_old=pairing.only_old_contexts,
            contexts_only_new=pairing.only_new_contexts,
            text_changes=tuple(sorted(compared.texts)),
            harmless=compared.harmless,
            superseded=pairing.losers,
            versions=tuple(sorted(compared.versions)),
            unread=new.unread,
        ),
        findings=tuple(kept),
        undecided=tuple(sorted((_undecided(item, places) for item in opened), key=_undecided_order)),
        skipped=sorted_skips(old.skipped, new.skipped),
        problems=tuple(sorted((*old.problems, *new.problems), key=problem_order)),
        remarks=tuple(sorted((*old.remarks, *new.remarks), key=problem_order)),
    )


def suggest_patch(
    old: CrdSet,
    new: CrdSet,
    *,
    crds: Sequence[str] = (),
    paths: Sequence[str] = (),
    contexts: Sequence[str] = (),
    waived: Sequence[Finding] = (),
) -> str:
    """The unified diff over OLD's files after which its schemas accept what NEW stores; "" if there is none.

    It widens exactly what the rollback findings need, what is ``waived`` excepted, and is never applied by this
    program.
    """
    from crdcompat.policy.tolerance import suggest_patch as suggested

    judged = _compare(old, new, (ROLLBACK,), crds, paths, contexts)[1].judged
    return suggested((left for item in judged if (left := _unwaived(item, waived)) is not None), old)


def _unwaived(item: Judged, waived: Sequence[Finding]) -> Judged | None:
    """A judged change without the values that are waived; None where nothing is left of it."""
    about = [f for f in waived if (f.change, f.direction, f.crd) == (item.change.kind, item.direction, item.crd)]
    about = [f for f in about if f.version == item.version and item.change.place in (f.path, *f.places)]
    if not about:
        return item
    accepted = {member_key(value) for finding in about for value in finding.added}
    left = tuple(value for value in item.labels or item.change.added if member_key(value) not in accepted)
    return replace(item, labels=left) if left else None


def _compare(
    old: CrdSet,
    new: CrdSet,
    directions: Sequence[str],
    crds: Sequence[str],
    paths: Sequence[str],
    contexts: Sequence[str],
) -> tuple[Pairing, Comparison]:
    """Pair the sets, keep what is asked for, compare. Raises UsageError for names that occur nowhere."""
    forced = [(a, b) for a, _, b in (name.partition("=") for name in contexts if "=" in name)]
    pairing = pair(old, new, forced, [name for name in contexts if "=" not in name])
    if contexts and not pairing.facings and (old.documents and new.documents):
        raise UsageError(_no_context(contexts, pair(old, new).contexts))
    facings = [facing for facing in pairing.facings if _wanted(facing, crds, paths)]
    if crds and not facings:
        raise UsageError(f"no CRD of both sides is named {', '.join(crds)}")
    return pairing, Comparer(server_of(old), server_of(new)).compare(facings, directions)


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
    """Would an API server accept this one write?

    ``operation`` is one of ``OPERATIONS``: ``create``, ``validate`` (as create, but status is kept and
    validated), ``update``, ``updateStatus``, …; all but the first two need ``old``, the stored object.
    ``version`` defaults to the object's. ``kubernetes`` is ``1.31`` or ``openshift-4.18``; ``ratcheting`` sets
    the feature gate by hand. Raises UsageError for an operation, version or CRD that there is not.
    """
    server = kubernetes_server(kubernetes)
    server = Server(server.minor, server.openshift, ratcheting)
    resource = resource_of(crd, version or _version_of(new), server)
    return judge_with(resource, operation, new, old)


def judge_with(resource: Resource, operation: str, new: Any, old: Any = None) -> Verdict:
    """``judge`` with a resource that is compiled already. Raises UsageError for what is no request."""
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
    """One version of a CRD on a server; without ``version`` the one stored. Raises UsageError."""
    if isinstance(crd, dict):
        if not is_crd(crd):
            raise UsageError("not a CustomResourceDefinition of apiextensions.k8s.io/v1 or v1beta1")
        crd = read_crd(crd)
    found: CrdVersion | None = crd.version(version) if version else crd.storage_version
    if found is None:
        names = ", ".join(item.name for item in crd.versions)
        raise UsageError(f"{crd.name} has no version {version or 'marked as storage'}; it has {names}")
    return Resource(crd, found, server)


def server_of(crds: CrdSet) -> Server:
    """The server that runs beside a release, as told or by its name; the usual one where nothing tells."""
    return told_server(crds) or USUAL


def told_server(crds: CrdSet) -> Server | None:
    """The server that the configuration or the name of a release tells."""
    return kubernetes_server(crds.runs) if crds.runs else server_of_name(crds.name)


def release(crds: CrdSet) -> Release:
    """How the report names a side."""
    told = told_server(crds)
    return Release(crds.name, crds.commit, told.kubernetes if told else None, crds.notes)


def _version_of(obj: Any) -> str | None:
    api_version = obj.get("apiVersion") if isinstance(obj, dict) else None
    return api_version.rpartition("/")[2] if isinstance(api_version, str) else None


def _wanted(facing: Facing, crds: Sequence[str], paths: Sequence[str]) -> bool:
    if crds and facing.old.name not in crds:
        return False
    prefixes = [path.strip("/").removeprefix("./") for path in paths]
    files = [document.file for side in (facing.old, facing.new) for document in side.documents]
    below = (not prefix or file == prefix or file.startswith(f"{prefix}/") for file in files for prefix in prefixes)
    return not paths or any(below)


def _no_context(asked: Sequence[str], known: Sequence[str]) -> str:
    return f"no context {', '.join(asked)} on both sides; there are: {', '.join(known) or 'none'}"


def _undecided(item: Open, places: Places) -> UndecidedEntry:
    undecided = item.undecided
    return UndecidedEntry(
        crd=item.crd,
        version=item.version,
        contexts=item.contexts,
        path=render(undecided.path),
        keyword=undecided.keyword,
        old=undecided.old,
        new=undecided.new,
        reason=undecided.reason,
        locations=places.of_open(item),
    )


def _undecided_order(entry: UndecidedEntry) -> tuple[str, ...]:
    return (entry.crd, entry.version, entry.path, entry.keyword, *entry.contexts)

"""What a recording of an earlier run has whole, so that a run that broke off needs to read the rest only."""

from __future__ import annotations

from collections.abc import Mapping

from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.preflight.asked_cluster import RecordedCluster
from crdcompat.features.preflight.scope import Scope
from crdcompat.program import typed
from crdcompat.recordings.capture import CaptureFacts, unfit
from crdcompat.recordings.objects import Recorded
from crdcompat.schema.paths import Object


def finished(earlier: RecordedCluster, scope: Scope, old: CrdSet | None, *, redact: bool) -> Mapping[str, list[Object]]:
    """The objects of the needed CRDs that the earlier run listed to the end, by CRD.

    A CRD that was changed since then is left out: its objects may have been, too. Raises UsageError if the recording
    was made for another release, or with values that are to be hidden now.
    """
    found: dict[str, list[Object]] = {}
    facts: CaptureFacts | None = None
    kinds = {(each.crd.group, each.crd.kind): name for name, each in scope.news.items()}
    for item in earlier.objects(()):
        if isinstance(item, CaptureFacts):
            facts = item
        elif isinstance(item, Recorded) and isinstance(item.data, dict):
            group = str(item.data.get("apiVersion")).rpartition("/")[0]
            found.setdefault(kinds.get((group, str(item.data.get("kind"))), ""), []).append(item.data)
    where = ", ".join(earlier.source)
    if facts is None:
        raise UsageError(f"--resume: {where} is no recording of {typed()} record, or not whole")
    if bool(facts.facts.digest) != (old is not None) or (old is not None and unfit(facts, old)):
        raise UsageError(f"--resume: {where} was made for {facts.facts.release or 'all releases'}: name the same OLD")
    if redact and not facts.facts.hides:
        raise UsageError(f"--resume: {where} has values that --redact hides: record anew")
    whole = {f"{hint.resource}.{hint.group}" for hint in facts.kinds}
    return {name: found.get(name, []) for name in scope.needed if name in whole and _is_same(earlier, scope, name)}


def _is_same(earlier: RecordedCluster, scope: Scope, name: str) -> bool:
    """Whether a CRD is as it was in the earlier run."""
    revisions = {_revision(each.crd.raw) for each in earlier.installed.named().get(name, ())}
    return revisions == {_revision(scope.news[name].crd.raw)}


def _revision(raw: Mapping[str, object]) -> str:
    metadata = raw.get("metadata")
    return str(metadata.get("resourceVersion")) if isinstance(metadata, dict) else ""

"""record: reads a cluster as preflight does, and writes the CRDs and objects on which preflight's answer depends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.apiserver.server_versions import known_server
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.without_texts import without_texts
from crdcompat.errors import UsageError
from crdcompat.features.preflight.affected_kinds import Scope, scope_of
from crdcompat.features.preflight.asked_cluster import LiveCluster, RecordedCluster
from crdcompat.features.preflight.gaps import Gaps
from crdcompat.features.preflight.plan import Rollback
from crdcompat.features.preflight.running_server import running
from crdcompat.features.preflight.standing import standing_of
from crdcompat.features.record.hide import NameHasher
from crdcompat.features.record.smallest import Smallest
from crdcompat.models.preflight import Missing
from crdcompat.program import typed
from crdcompat.recordings.capture import CaptureFacts, Facts, digest_of, item_of, unfit
from crdcompat.recordings.layouts import Hint
from crdcompat.recordings.recorded_objects import ObjectItem, Recorded
from crdcompat.render.wording.findings import plural
from crdcompat.schema.paths import Object

_APPLIED = "kubectl.kubernetes.io/"
#: The ends of a recording's name: what other commands read. The first one is plain, the second one packed.
RECORDING_NAMES = (".json", ".json.gz")


class RecordOptions(Struct, frozen=True):
    """``context`` selects variants of OLD's CRDs. ``hash_names`` and ``redact`` hide names and values of objects."""

    context: str | None = None
    hash_names: bool = False
    redact: bool = False


class Recording(Struct):
    """The number of written objects, the bytes (before they are packed), and the gaps.

    ``kept`` are the CRDs whose objects an earlier run has recorded.
    """

    objects: int = 0
    kept: tuple[str, ...] = ()
    size: int = 0
    missing: list[Missing] = field(default_factory=list)


def record(
    old: CrdSet | None,
    cluster: LiveCluster,
    options: RecordOptions,
    file: BinaryIO,
    each: Callable[[Iterable[ObjectItem]], Iterable[ObjectItem]] = iter,
    earlier: RecordedCluster | None = None,
) -> Recording:
    """Write a recording of a cluster: the objects that matter for a rollback to OLD; without OLD all objects.

    ``each`` passes objects on unchanged, and can count them. Kinds that ``earlier``, the recording of a run that broke
    off, has whole are not read again.

    Raises UsageError for an unknown context of variants, and for an earlier recording that does not fit.
    """
    target = old if old is not None else cluster.installed
    standing = standing_of(target, cluster.installed, cluster.facts, options.context)
    scope = scope_of(target, cluster.installed, standing, read_all=old is None)
    kept = finished(earlier, scope, old, redact=options.redact) if earlier is not None else {}
    done = Recording(kept=tuple(kept))
    hides = earlier is not None and earlier.hides
    items = _items(old, scope, kept, cluster, options, each, done, hides=hides)
    file.write(b'{"apiVersion":"v1","kind":"List","items":[\n')
    for number, item in enumerate(items):
        file.write(b",\n" * bool(number) + orjson.dumps(item))
    file.write(b"\n]}\n")
    done.size = file.tell()
    return done


def _items(
    old: CrdSet | None,
    scope: Scope,
    kept: Mapping[str, list[Object]],
    cluster: LiveCluster,
    options: RecordOptions,
    each: Callable[[Iterable[ObjectItem]], Iterable[ObjectItem]],
    done: Recording,
    *,
    hides: bool,
) -> Iterator[Object]:
    """The CRDs, then the objects, then the facts with the gaps. Adds the number of objects and the gaps to ``done``.

    Objects that were ``kept`` come before those that are read; ``hides``: some of them have hidden names or values.
    """
    for resolved in scope.news.values():
        yield _crd(resolved.crd.raw)
    runs, unknown = running(cluster)
    judge = known_server(scope.old) or runs
    rollback = Rollback(scope, runs, judge)
    gaps = Gaps()
    smallest = Smallest(rollback, NameHasher() if options.hash_names else None, redact=options.redact)
    withheld = Counter[str]()
    for objects in kept.values():
        done.objects += len(objects)
        yield from objects
    rest = replace(scope, needed={name: count for name, count in scope.needed.items() if name not in kept})
    for item in each(cluster.objects(rest.needed)) if rest.needed else ():
        if isinstance(item, Recorded):
            is_hidden = options.hash_names or options.redact
            made = smallest.of(item) if old is not None or is_hidden else smallest.whole(item)
            if made is None:
                withheld[rollback.crd_of(item.data)] += 1
            else:
                done.objects += 1
                yield made
        else:
            gaps.add_unread(item)
    done.missing += [*scope.missing, *unknown, *gaps.missing(), *cluster.missing(rest, ())]
    done.missing += [
        Missing(crd, f"{plural(count, 'object')} cannot be recorded with names or values hidden")
        for crd, count in withheld.items()
    ]
    unread = {item.what for item in done.missing}
    yield item_of(
        Facts(
            server=cluster.server_version,
            kinds=tuple(_hint(scope, name) for name in scope.needed if name not in unread),
            release=old.name if old is not None else "",
            digest=digest_of(old) if old is not None else "",
            missing=tuple((item.what, item.reason) for item in done.missing),
            hides=smallest.hides or hides,
        )
    )


def _hint(scope: Scope, name: str) -> Hint:
    crd = scope.news[name].crd
    return Hint(crd.group, crd.plural)


def _crd(raw: Any) -> Object:
    """A CRD without descriptions and without most of its metadata and status: these parts change no verdict."""
    meta, status = raw["metadata"], raw.get("status") or {}
    kept = {key: meta[key] for key in ("name", "annotations", "resourceVersion") if key in meta}
    annotations = {key: value for key, value in (kept.get("annotations") or {}).items() if not key.startswith(_APPLIED)}
    return {
        "apiVersion": raw["apiVersion"],
        "kind": raw["kind"],
        "metadata": {**kept, "annotations": annotations},
        "spec": without_texts(raw["spec"]),
        "status": {"storedVersions": status.get("storedVersions") or []},
    }


# What a recording of an earlier run has whole, so that a run that broke off needs to read the rest only.


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

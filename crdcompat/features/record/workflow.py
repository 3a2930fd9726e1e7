"""record: reads a cluster as preflight does, and writes the CRDs and objects on which preflight's answer depends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.apiserver.versions import known_server
from crdcompat.crds.copies import without_texts
from crdcompat.crds.reader import CrdSet
from crdcompat.features.preflight.asked_cluster import LiveCluster, RecordedCluster
from crdcompat.features.preflight.gaps import Gaps
from crdcompat.features.preflight.rollback import Rollback
from crdcompat.features.preflight.running_server import running
from crdcompat.features.preflight.scope import Scope, scope_of
from crdcompat.features.preflight.standing import standing_of
from crdcompat.features.record.hide import NameHasher
from crdcompat.features.record.resume import finished
from crdcompat.features.record.smallest import Smallest
from crdcompat.models.preflight import Missing
from crdcompat.recordings.capture import Facts, digest_of, item_of
from crdcompat.recordings.layouts import Hint
from crdcompat.recordings.objects import ObjectItem, Recorded
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

"""What two CRDs say outside their schemas: versions, scope, names, subresources, conversion (rows 58 and 74 to 86).

Most of these effects follow from the CRD alone: no object shows them. What a server would refuse is asked of the
room that knows its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.refusals import update_refusal
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.objects import Object
from crdcompat.compare.scale import rejected_by_scale
from crdcompat.manifests.crd import Crd
from crdcompat.manifests.pairing import Chosen, Resolved
from crdcompat.records import dataclass
from crdcompat.schema.paths import Pointer
from crdcompat.vocabulary import Effect

#: The kinds of change that this module yields; each has a rule.
KINDS = (
    "version.added", "version.removed", "version.storage-moved", "version.served-changed", "version.deprecated",
    "scope.changed", "names.kind-changed", "names.changed", "subresource.status-added", "subresource.status-removed",
    "subresource.scale-added", "subresource.scale-removed", "subresource.scale-changed", "selectable-fields.changed",
    "conversion.changed", "preserve-unknown-fields.changed",
)  # fmt: skip

_TEXT_NAMES = frozenset({"categories", "shortNames"})
_TEXT_KEYS = ("additionalPrinterColumns", "deprecationWarning")
_VERSION_KEYS = frozenset({"name", "schema", "served", "storage", "deprecated", "subresources", "selectableFields"})
_SPEC_KEYS = frozenset(
    {"group", "versions", "names", "version", "validation", "additionalPrinterColumns", "subresources", "scope",
     "conversion", "preserveUnknownFields", "selectableFields"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CrdEffect:
    """What a change does in one direction: the effect, the server's sentence, and an object where one is needed."""

    effect: Effect = Effect.NONE
    sentence: str = ""
    object: Object | None = None


_NOTHING, _FAILED, _LOST = CrdEffect(), CrdEffect(Effect.REQUEST_FAILED), CrdEffect(Effect.VALUE_PRUNED)


@dataclass(frozen=True, slots=True)
class CrdChange:
    """A change of the CRD (``version`` "") or of one version, with its effect each way."""

    version: str
    change: Change
    rollback: CrdEffect = _NOTHING
    upgrade: CrdEffect = _NOTHING


@dataclass(frozen=True, slots=True)
class CrdDiff:
    """Changes, undecided differences by version name ("" for the CRD itself), and text-only ones."""

    changes: tuple[CrdChange, ...]
    undecided: tuple[tuple[str, Undecided], ...]
    texts: tuple[str, ...]


def diff_crds(old: Resolved, new: Resolved, old_server: Server, new_server: Server) -> CrdDiff:
    """Compare what two resolved CRDs say outside their schemas."""
    a, b = old.documents[0].crd, new.documents[0].crd
    refused = _Refusals(old, new, old_server, new_server)
    changes = [*_spec(a, b, refused), *_versions(old, new, refused, (old_server, new_server))]
    texts = [f"names: {key}" for key in _TEXT_NAMES if _names(a).get(key) != _names(b).get(key)]
    undecided = [
        ("", item) for side, resolved in (("OLD", old), ("NEW", new)) for item in _disagreements(resolved, side)
    ]
    for keyword in sorted((_spec_of(a).keys() | _spec_of(b).keys()) - _SPEC_KEYS):
        before, after = _spec_of(a).get(keyword), _spec_of(b).get(keyword)
        if before != after:
            undecided.append(("", Undecided((), keyword, before, after, _UNKNOWN, ("spec",), ("spec",))))
    for name in sorted(old.versions.keys() & new.versions.keys()):
        left, right = old.versions[name].version, new.versions[name].version
        texts += [f"{name}: {key}" for key in _TEXT_KEYS if left.raw.get(key) != right.raw.get(key)]
        undecided += [(name, item) for item in _version_rest(old.versions[name], new.versions[name])]
    return CrdDiff(tuple(changes), tuple(undecided), tuple(texts))


_UNKNOWN = "not a field that this version knows"


class _Refusals:
    """Whether the CRD of one side can replace the other's, in the server's words."""

    def __init__(self, old: Resolved, new: Resolved, old_server: Server, new_server: Server) -> None:
        a, b = _whole(old), _whole(new)
        self.rollback = update_refusal(b, a, _stored(b), old_server)
        self.upgrade = update_refusal(a, b, _stored(a), new_server)

    def about(self, words: str) -> tuple[CrdEffect, CrdEffect]:
        """The effects both ways if the refusals name ``words`` (a field path)."""
        rollback, upgrade = (
            CrdEffect(Effect.CRD_REJECTED, text) if words in text else _NOTHING
            for text in (self.rollback, self.upgrade)
        )
        return rollback, upgrade


def _whole(resolved: Resolved) -> Crd:
    """The CRD with all versions of its context, whichever documents give them."""
    first = resolved.documents[0].crd
    versions = tuple(chosen.version for chosen in resolved.versions.values())
    return Crd(first.name, first.group, first.kind, first.plural, first.scope, first.annotations, versions, first.raw)


def _stored(crd: Crd) -> list[str]:
    """What ``status.storedVersions`` holds where only this CRD was ever installed."""
    return [version.name for version in crd.versions if version.storage]


def _spec(a: Crd, b: Crd, refused: _Refusals) -> Iterator[CrdChange]:
    at: Pointer = ("spec",)
    if a.scope != b.scope:
        rollback, upgrade = refused.about("spec.scope")
        yield CrdChange(
            "", _change("scope.changed", a.scope, b.scope, (*at, "scope"), (*at, "scope")), rollback, upgrade
        )
    if a.kind != b.kind:
        rollback, upgrade = refused.about("spec.names.kind")
        yield CrdChange("", _change("names.kind-changed", a.kind, b.kind, (*at, "names", "kind")), rollback, upgrade)
    for key in ("listKind", "singular"):
        if _names(a).get(key) != _names(b).get(key) and a.kind == b.kind:
            yield CrdChange("", _change("names.changed", _names(a).get(key), _names(b).get(key), (*at, "names", key)))
    if a.prunes != b.prunes:
        change = _change("preserve-unknown-fields.changed", not a.prunes, not b.prunes, at)
        kept = refused.about("spec.preserveUnknownFields")
        yield CrdChange("", change, *((kept[0], _LOST) if b.prunes else (_LOST, kept[1])))
    before, after = _conversion(a), _conversion(b)
    if before != after:
        change = _change("conversion.changed", before, after, (*at, "conversion"))
        several = len(a.versions) > 1 or len(b.versions) > 1
        yield CrdChange(
            "",
            change,
            _LOST if several and after == "Webhook" else _NOTHING,
            _LOST if several and before == "Webhook" else _NOTHING,
        )


def _versions(old: Resolved, new: Resolved, refused: _Refusals, servers: tuple[Server, Server]) -> Iterator[CrdChange]:
    for name in sorted(old.versions.keys() | new.versions.keys()):
        left, right = old.versions.get(name), new.versions.get(name)
        if left is None or right is None:
            yield _one_sided(name, left, right, refused)
            continue
        a, b = left.version, right.version
        at = (a.pointer, b.pointer)
        if a.served != b.served:
            change = _change("version.served-changed", a.served, b.served, (*at[0], "served"), (*at[1], "served"))
            yield CrdChange(name, change, _FAILED if b.served else _NOTHING, _FAILED if a.served else _NOTHING)
        if not a.storage and b.storage:
            change = _change("version.storage-moved", _storage(old), name, (*at[0], "storage"), (*at[1], "storage"))
            yield CrdChange(name, change)
        if bool(a.raw.get("deprecated")) != bool(b.raw.get("deprecated")):
            yield CrdChange(name, _change("version.deprecated", a.raw.get("deprecated"), b.raw.get("deprecated"), *at))
        if a.has_status != b.has_status:
            change = _change(
                f"subresource.status-{'added' if b.has_status else 'removed'}", a.has_status, b.has_status, *at
            )
            # Where /status exists, status in writes of the main resource is dropped without a word.
            yield CrdChange(name, change, *((_FAILED, _LOST) if b.has_status else (_LOST, _FAILED)))
        if a.scale != b.scale:
            yield _scale(name, old, new, servers)
        before, after = a.raw.get("selectableFields"), b.raw.get("selectableFields")
        if before != after:
            change = _change("selectable-fields.changed", before, after, *at)
            more, fewer = _gains(before, after), _gains(after, before)
            yield CrdChange(name, change, _FAILED if more else _NOTHING, _FAILED if fewer else _NOTHING)


def _scale(name: str, old: Resolved, new: Resolved, servers: tuple[Server, Server]) -> CrdChange:
    """Without /scale its callers get 404; with it, every write must hold what it can count."""
    sides = (old.versions[name], new.versions[name])
    a, b = (Resource(side.document.crd, side.version, on) for side, on in zip(sides, servers, strict=True))
    before, after = (dict(side.version.scale) if side.version.scale is not None else None for side in (a, b))
    kind = "added" if before is None else "removed" if after is None else "changed"
    change = _change(f"subresource.scale-{kind}", before, after, a.version.pointer, b.version.pointer)

    def effect(writer: Resource, reader: Resource) -> CrdEffect:
        if reader.version.scale is None:
            return _FAILED
        found = rejected_by_scale(writer, reader)
        return _NOTHING if found is None else CrdEffect(Effect.WRITE_REJECTED, found[1], found[0])

    return CrdChange(name, change, effect(b, a), effect(a, b))


def _one_sided(name: str, left: Chosen | None, right: Chosen | None, refused: _Refusals) -> CrdChange:
    rollback, upgrade = refused.about(f'"{name}"')
    if right is not None and right.version.storage:
        # Objects are stored under it from now on: what comes after depends on OLD knowing it at all.
        change = _change("version.storage-moved", None, name, ("spec", "versions"), (*right.version.pointer, "storage"))
        return CrdChange(name, change, rollback if rollback != _NOTHING else _FAILED)
    if right is not None:
        change = _change("version.added", None, name, ("spec", "versions"), right.version.pointer)
        reached = _FAILED if right.version.served else _NOTHING
        return CrdChange(name, change, rollback if rollback != _NOTHING else reached)
    assert left is not None
    change = _change("version.removed", name, None, left.version.pointer, ("spec", "versions"))
    reached = _FAILED if left.version.served else _NOTHING
    return CrdChange(name, change, upgrade=upgrade if upgrade != _NOTHING else reached)


def _version_rest(left: Chosen, right: Chosen) -> Iterator[Undecided]:
    a, b = left.version, right.version
    if a.schema is None and b.schema is None:
        yield Undecided((), "schema", None, None, "neither side has a schema", a.pointer, b.pointer)
    elif a.schema is None or b.schema is None:
        before, after = ("schema" if side.schema is not None else None for side in (a, b))
        yield Undecided((), "schema", before, after, "only one side has a schema", a.pointer, b.pointer)
    for keyword in sorted((a.raw.keys() | b.raw.keys()) - _VERSION_KEYS - set(_TEXT_KEYS)):
        if a.raw.get(keyword) != b.raw.get(keyword):
            yield Undecided((), keyword, a.raw.get(keyword), b.raw.get(keyword), _UNKNOWN, a.pointer, b.pointer)


def _disagreements(resolved: Resolved, side: str) -> Iterator[Undecided]:
    """Several documents give one CRD: where they differ on the CRD itself, nobody knows which a cluster gets."""
    first, *others = resolved.documents
    for other in others:
        a, b = first.crd, other.crd
        facts = (("scope", a.scope, b.scope), ("conversion", _conversion(a), _conversion(b)), ("kind", a.kind, b.kind),
                 ("preserveUnknownFields", not a.prunes, not b.prunes))  # fmt: skip
        for keyword, here, there in facts:
            if here != there:
                reason = f"{first.file} and {other.file} of {side} disagree on it"
                yield Undecided((), keyword, here, there, reason, ("spec",), ("spec",))


def _spec_of(crd: Crd) -> dict[str, Any]:
    spec = crd.raw.get("spec")
    return spec if isinstance(spec, dict) else {}


def _names(crd: Crd) -> dict[str, Any]:
    """The names as the server completes them."""
    given = dict(_spec_of(crd).get("names") or {})
    given.setdefault("listKind", f"{crd.kind}List")
    given.setdefault("singular", crd.kind.lower())
    return given


def _conversion(crd: Crd) -> str:
    conversion = _spec_of(crd).get("conversion")
    strategy = conversion.get("strategy") if isinstance(conversion, dict) else None
    return strategy if isinstance(strategy, str) else "None"


def _storage(resolved: Resolved) -> str | None:
    return next((name for name, chosen in resolved.versions.items() if chosen.version.storage), None)


def _gains(before: Any, after: Any) -> bool:
    known = before if isinstance(before, list) else []
    return any(item not in known for item in (after if isinstance(after, list) else []))


def _change(kind: str, old: Any, new: Any, old_at: Pointer, new_at: Pointer | None = None) -> Change:
    return Change(kind, (), old, new, old_at=old_at, new_at=old_at if new_at is None else new_at, of_crd=True)

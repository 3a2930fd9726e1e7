"""Differences of two CRDs outside their schemas. This version names them; none is passed over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crdcompat.compare.changes import Undecided
from crdcompat.manifests.crd import Crd
from crdcompat.manifests.pairing import Resolved

#: What only people and printers look at: counted like descriptions.
_TEXT = frozenset({"additionalPrinterColumns", "deprecationWarning"})
_TEXT_NAMES = frozenset({"categories", "shortNames"})
_VERSION_KEYS = frozenset({"name", "schema"})
_SPEC_KEYS = frozenset({"versions", "names", "version", "validation", "additionalPrinterColumns", "subresources"})
_REASON = "no rule of this version judges CRD-level changes"


@dataclass(frozen=True, slots=True)
class CrdDiff:
    """Undecided differences by version name ("" for the CRD itself), and the count of text-only ones."""

    undecided: tuple[tuple[str, Undecided], ...]
    text_only: int


def diff_crds(old: Resolved, new: Resolved) -> CrdDiff:
    """Compare what two resolved CRDs say outside their schemas."""
    found: list[tuple[str, Undecided]] = []
    texts = 0
    a, b = old.documents[0].crd, new.documents[0].crd
    for keyword, before, after in _facts(a, b):
        found.append(("", _undecided(keyword, before, after, ("spec",), ("spec",))))
    names_a, names_b = _names(a), _names(b)
    for keyword in sorted(names_a.keys() | names_b.keys()):
        if names_a.get(keyword) != names_b.get(keyword):
            if keyword in _TEXT_NAMES:
                texts += 1
            else:
                at = ("spec", "names")
                found.append(("", _undecided(f"names.{keyword}", names_a.get(keyword), names_b.get(keyword), at, at)))
    for side, resolved in (("OLD", old), ("NEW", new)):
        found += [("", item) for item in _disagreements(resolved, side)]
    for name in sorted(old.versions.keys() | new.versions.keys()):
        if name not in old.versions or name not in new.versions:
            here = name in old.versions
            found.append(
                (
                    name,
                    _undecided("versions", name if here else None, None if here else name, ("spec",), ("spec",)),
                )
            )
            continue
        left, right = old.versions[name].version, new.versions[name].version
        for keyword in sorted((left.raw.keys() | right.raw.keys()) - _VERSION_KEYS):
            if left.raw.get(keyword) != right.raw.get(keyword):
                if keyword in _TEXT:
                    texts += 1
                else:
                    before, after = left.raw.get(keyword), right.raw.get(keyword)
                    found.append((name, _undecided(keyword, before, after, left.pointer, right.pointer)))
        if left.schema is None and right.schema is None:
            item = Undecided((), "schema", None, None, "neither side has a schema", left.pointer, right.pointer)
            found.append((name, item))
        elif left.schema is None or right.schema is None:
            before, after = ("schema" if side.schema is not None else None for side in (left, right))
            found.append((name, _undecided("schema", before, after, left.pointer, right.pointer)))
    return CrdDiff(tuple(found), texts)


def _facts(a: Crd, b: Crd) -> Iterator[tuple[str, Any, Any]]:
    left, right = a.raw.get("spec"), b.raw.get("spec")
    if isinstance(left, dict) and isinstance(right, dict):
        for keyword in sorted((left.keys() | right.keys()) - _SPEC_KEYS):
            before, after = left.get(keyword), right.get(keyword)
            if _meaning(keyword, before) != _meaning(keyword, after):
                yield keyword, before, after
    if a.raw.get("apiVersion") != b.raw.get("apiVersion") and a.prunes != b.prunes:
        yield "preserveUnknownFields", not a.prunes, not b.prunes


def _meaning(keyword: str, value: Any) -> Any:
    """What an absent field means to the server."""
    if value is None and keyword == "preserveUnknownFields":
        return False
    if value is None and keyword == "conversion":
        return {"strategy": "None"}
    return value


def _names(crd: Crd) -> dict[str, Any]:
    """The names as the server completes them."""
    spec = crd.raw.get("spec")
    given = dict(spec["names"]) if isinstance(spec, dict) else {}
    given.setdefault("listKind", f"{crd.kind}List")
    given.setdefault("singular", crd.kind.lower())
    return given


def _disagreements(resolved: Resolved, side: str) -> Iterator[Undecided]:
    """Several documents give one CRD: where they differ on the CRD itself, nobody knows which a cluster gets."""
    first, *others = resolved.documents
    for other in others:
        for keyword, here, there in _facts(first.crd, other.crd):
            reason = f"{first.file} and {other.file} of {side} disagree on it"
            yield Undecided((), keyword, here, there, reason, ("spec",), ("spec",))


def _undecided(keyword: str, old: Any, new: Any, old_at: tuple[Any, ...], new_at: tuple[Any, ...]) -> Undecided:
    return Undecided((), keyword, old, new, _REASON, old_at, new_at)

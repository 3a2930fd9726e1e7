"""What decides on writes beside the schemas, and is not judged here: admission policies, webhooks, requirements.

Only the server can run a webhook, and a policy may read parameters and other objects. So a report names those whose
rules match the kinds that it judged. Selectors, conditions and versions are not read: they may leave out some objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import orjson

from crdcompat.crds.resolving import Resolved
from crdcompat.models.preflight import Admitters
from crdcompat.program import typed
from crdcompat.sources.cluster_admission import REQUIREMENTS, AdmissionLists
from crdcompat.vocabulary.texts import some
from crdcompat.yaml.documents import Document, read_documents

_WRITES = ("*", "CREATE", "UPDATE")


def not_judged(lists: AdmissionLists, crds: Mapping[str, Resolved], judged: Collection[str]) -> Iterator[Admitters]:
    """The policies, webhook configurations and requirements on ``judged`` CRDs, and the lists that were refused."""
    found: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for plural, data in lists.items:
        obj = orjson.loads(data)
        concerned = _stated(obj) if plural == REQUIREMENTS else _matched(obj, crds, judged)
        kinds = tuple(crds[crd].crd.kind for crd in judged if crd in concerned)
        if kinds:
            found.setdefault(kinds, []).append((plural, str(_object(obj.get("metadata")).get("name", ""))))
    for kinds, matching in found.items():
        policies = tuple(name for plural, name in matching if plural.endswith("policies"))
        webhooks = tuple(name for plural, name in matching if plural.endswith("configurations"))
        yield Admitters(kinds, policies, webhooks, tuple(name for plural, name in matching if plural == REQUIREMENTS))
    for why, plurals in _by_reason(lists.refused):
        yield Admitters(lists=tuple(plurals), reason=why)


def note_of(found: Admitters) -> str:
    """The note of a report on such policies and webhooks."""
    if found.lists:
        lists = some(found.lists)
        return f"not judged, and not known: {lists} on the judged kinds, if any (cannot be listed: {found.reason})"
    counted = (
        *_counted(len(found.policies), "policy", "policies"),
        *_counted(len(found.webhooks), "webhook configuration", "webhook configurations"),
        *_counted(len(found.requirements), "CompatibilityRequirement", "CompatibilityRequirements"),
    )
    names = some([*found.policies, *found.webhooks, *found.requirements])
    gate = f"; {typed()} diff REQUIREMENT NEW says what it refuses" if found.requirements else ""
    return f"not judged: {' and '.join(counted)} on {some(found.kinds)} ({names}){gate}"


def _stated(requirement: dict[str, Any]) -> set[str]:
    """The name of the CRD that a CompatibilityRequirement states; none if its text cannot be read."""
    value: Any = requirement
    for step in ("spec", "compatibilitySchema", "customResourceDefinition"):
        value = _object(value).get(step)
    data = str(_object(value).get("data", "")).encode("utf-8", "surrogatepass")
    stated = (_object(item.data) for item in read_documents(data, "") if isinstance(item, Document))
    return {str(_object(each.get("metadata")).get("name", "")) for each in stated}


def _matched(obj: dict[str, Any], crds: Mapping[str, Resolved], judged: Collection[str]) -> set[str]:
    """The CRDs that a policy's or a webhook's rules match. What has another shape than a server's has no rules."""
    parts = _objects(obj.get("webhooks")) or [_object(_object(obj.get("spec")).get("matchConstraints"))]
    rules = [rule for part in parts for key in ("rules", "resourceRules") for rule in _objects(part.get(key))]
    return {crd for crd in judged if any(_matches(rule, crds[crd]) for rule in rules)}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _matches(rule: Mapping[str, Any], resolved: Resolved) -> bool:
    """Whether a rule is about writes of objects of a CRD, or of their status."""
    crd = resolved.crd
    resources = {name.partition("/")[0] for name in _texts(rule, "resources")}
    return not (
        resources.isdisjoint(("*", crd.plural))
        or _texts(rule, "apiGroups").isdisjoint(("*", crd.group))
        or _texts(rule, "operations").isdisjoint(_WRITES)
    )


def _texts(rule: Mapping[str, Any], key: str) -> set[str]:
    value = rule.get(key)
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _counted(count: int, one: str, more: str) -> Iterator[str]:
    if count:
        yield f"{count} {one if count == 1 else more}"


def _by_reason(refused: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    reasons: dict[str, list[str]] = {}
    for plural, why in refused:
        reasons.setdefault(why, []).append(plural)
    yield from reasons.items()

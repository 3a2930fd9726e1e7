"""Faults that the server tolerates in an update of a CRD, because the installed CRD already has them.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go (ValidateCustomResourceDefinitionUpdate
and the functions that it calls).
"""

from __future__ import annotations

from crdcompat.apiserver.crd_validation import lists
from crdcompat.apiserver.crd_validation.conversion_rules import ca_bundle_error
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema, anywhere
from crdcompat.apiserver.crd_validation.defaults import has_unpruned_defaults
from crdcompat.apiserver.crd_validation.definition import Definition
from crdcompat.apiserver.crd_validation.endpoints import MAX_SELECTABLE
from crdcompat.apiserver.crd_validation.openapi import TYPES
from crdcompat.apiserver.crd_validation.structural_rules import conversion_error, structural_faults
from crdcompat.apiserver.crd_validation.tolerated import Tolerated


def tolerated_in_update(new: Definition, current: Definition) -> Tolerated:
    """What the server tolerates in an update of ``current`` to ``new``."""
    server, schemas = new.server, current.schemas()
    reviews = current.conversion.get("conversionReviewVersions") or ()
    bundle = current.conversion.get("webhookClientConfig", {}).get("caBundle")
    rules = [rule for schema in schemas for rule in _all_rules(schema)]
    structural = [not conversion_error(schema) and not any(structural_faults(schema, (), server)) for schema in schemas]
    return Tolerated(
        review_versions=bool(reviews) and not {"v1", "v1beta1"} & set(reviews),
        names=not current.established,
        no_schema=any(current.schema_of(version) is None for version in current.versions),
        property_types=any(
            anywhere(schema, lambda each: each.get("type", "string") not in TYPES) for schema in schemas
        ),
        unstructural=not all(structural),
        unpruned_defaults=any(map(has_unpruned_defaults, schemas)) and all(structural),
        sets=any(anywhere(schema, lambda each: bool(lists.non_atomic_set(each))) for schema in schemas),
        list_items=any(anywhere(schema, lambda each: any(lists.key_faults(each))) for schema in schemas),
        ca_bundle=not current.established or bool(bundle and ca_bundle_error(bundle)),
        rules=frozenset(rule.get("rule", "") for rule in rules),
        messages=frozenset(rule["messageExpression"] for rule in rules if "messageExpression" in rule)
        if server.does("stored_messages")
        else frozenset(rule.get("rule", "") for rule in rules if "messageExpression" in rule),
        unchanged=_unchanged(new, current) if server.does("suppresses_rule_cost") else frozenset(),
        many_selectable=_many_selectable(new, current) if server.does("many_selectable_kept") else frozenset(),
    )


def _all_rules(schema: Schema) -> list[Schema]:
    found: list[Schema] = []

    def collect(each: Schema) -> bool:
        found.extend(each.get("x-kubernetes-validations", ()))
        return False

    anywhere(schema, collect)
    return found


def _unchanged(new: Definition, current: Definition) -> frozenset[str]:
    """The versions whose schemas are the installed ones."""
    old = {version.name: current.schema_of(version) for version in current.versions}
    names = (version.name for version in new.versions if version.name in old)
    return frozenset(name for name in names if _schema_named(new, name) == old[name])


def _schema_named(form: Definition, name: str) -> Schema | None:
    return next(form.schema_of(version) for version in form.versions if version.name == name)


def _many_selectable(new: Definition, current: Definition) -> frozenset[str]:
    """The versions ("" for the CRD itself) that keep more selectable fields than are allowed now."""
    found = set()
    if len(current.selectable) > MAX_SELECTABLE and new.selectable == current.selectable:
        found.add("")
    old = {version.name: version.selectable for version in current.versions}
    for version in new.versions:
        if len(old.get(version.name, ())) > MAX_SELECTABLE and version.selectable == old[version.name]:
            found.add(version.name)
    return frozenset(found)

"""Parts of a CRD as the server shows them where they are a bad value: Go structs, or JSON since 1.34.

Addresses of pointers differ from answer to answer; ``0x…`` is in their place. A whole schema is shown as ``{…}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crdcompat.apiserver.crd_validation.definition import VersionForm
from crdcompat.apiserver.crd_validation.keywords import RULE_FIELDS
from crdcompat.apiserver.gotext import GoValue, compact_json, quote
from crdcompat.apiserver.versions import Server

_PACKAGE = "apiextensions."
#: Field of a rule -> the Go type of its pointer, "" for text.
_RULE_POINTERS = {"reason": "FieldValueErrorReason", "optionalOldSelf": "bool"}
_SELECTABLE_SINCE = 30


def strings(values: Sequence[str]) -> GoValue:
    """A list of texts; one without members is nil."""
    if not values:
        return GoValue("[]string(nil)", "null")
    return GoValue(f"[]string{{{', '.join(map(quote, values))}}}", compact_json(list(values)))


def rule(raw: Mapping[str, Any], server: Server) -> GoValue:
    """A CEL rule with all fields that the server knows."""
    go, written = [], []
    for member, since in RULE_FIELDS.items():
        if server.minor < since:
            continue
        name, value = member[0].upper() + member[1:], raw.get(member)
        kind = _RULE_POINTERS.get(member)
        if kind is None:
            go.append(f"{name}:{quote(value or '')}")
            written.append(f'"{name}":{compact_json(value or "")}')
        else:
            full = kind if kind == "bool" else f"{_PACKAGE}{kind}"
            go.append(f"{name}:(*{full})({'nil' if value is None else '0x…'})")
            written.append(f'"{name}":{compact_json(value)}')
    return GoValue(f"{_PACKAGE}ValidationRule{{{', '.join(go)}}}", f"{{{','.join(written)}}}")


def schema() -> GoValue:
    return GoValue(f"{_PACKAGE}JSONSchemaProps{{…}}", "{…}")


def versions(found: Sequence[VersionForm], server: Server) -> GoValue:
    """The list of versions."""
    kind = f"[]{_PACKAGE}CustomResourceDefinitionVersion"
    if not found:
        return GoValue(f"{kind}(nil)", "null")
    shown = [version(each, server) for each in found]
    return GoValue(f"{kind}{{{', '.join(each.go for each in shown)}}}", f"[{','.join(each.json for each in shown)}]")


def version(found: VersionForm, server: Server) -> GoValue:
    """One version: pointers of parts that moved to the spec are nil."""
    flags = {
        "Served": found.served,
        "Storage": found.storage,
        "Deprecated": found.deprecated,
    }
    pointers = {
        "DeprecationWarning": ("string", found.deprecation_warning),
        "Schema": (f"{_PACKAGE}CustomResourceValidation", found.schema),
        "Subresources": (f"{_PACKAGE}CustomResourceSubresources", found.subresources),
    }
    lists = {"AdditionalPrinterColumns": ("CustomResourceColumnDefinition", found.columns)}
    if server.minor >= _SELECTABLE_SINCE:
        lists["SelectableFields"] = ("SelectableField", found.selectable)
    go = [f"Name:{quote(found.name)}", *(f"{name}:{compact_json(value)}" for name, value in flags.items())]
    written = [f'"Name":{compact_json(found.name)}', *(f'"{name}":{compact_json(flags[name])}' for name in flags)]
    for name, (kind, value) in pointers.items():
        go.append(f"{name}:(*{kind})({'nil' if value is None else '0x…'})")
        written.append(f'"{name}":{"null" if value is None else "{…}"}')
    for name, (kind, members) in lists.items():
        go.append(f"{name}:[]{_PACKAGE}{kind}{'{…}' if members else '(nil)'}")
        written.append(f'"{name}":{"[…]" if members else "null"}')
    return GoValue(f"{_PACKAGE}CustomResourceDefinitionVersion{{{', '.join(go)}}}", f"{{{','.join(written)}}}")

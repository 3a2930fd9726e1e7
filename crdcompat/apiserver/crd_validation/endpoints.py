"""Subresources, printer columns and selectable fields of a CRD, and the paths in them.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go; pkg/apiserver/schema/cel/validation.go
(ValidFieldPath).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault
from crdcompat.apiserver.field_errors import DUPLICATE, INVALID, REQUIRED, TOO_MANY, FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer

_COLUMN_TYPES = "boolean,date,integer,number,string"
_COLUMN_FORMATS = "byte,date,date-time,double,float,int32,int64,password"
MAX_SELECTABLE = 8
_TOKEN = re.compile(r"'(?:[^'\\]|\\.|\\)*?(?<!\\)'|[.\[\]]|[^.\[\]']+|'.*", re.DOTALL)


def subresource_faults(subresources: Mapping[str, Any], at: Pointer, server: Server) -> Iterator[FieldError]:
    scale = subresources.get("scale")
    if not isinstance(scale, dict):
        return
    for member, roots in (("specReplicasPath", (".spec.",)), ("statusReplicasPath", (".status.",))):
        text, here = scale.get(member) or "", (*at, "scale", member)
        if not text:
            yield fault(REQUIRED, here, "", "", server)
        else:
            yield from _path_below(text, here, roots, server)
    if text := scale.get("labelSelectorPath"):
        yield from _path_below(text, (*at, "scale", "labelSelectorPath"), (".spec.", ".status."), server)


def _path_below(text: str, at: Pointer, roots: tuple[str, ...], server: Server) -> Iterator[FieldError]:
    if not text.startswith("."):
        yield fault(INVALID, at, text, "must be a simple json path starting with .", server)
    elif not text.startswith(roots):
        under = "either .spec or .status" if len(roots) > 1 else roots[0].rstrip(".")
        yield fault(INVALID, at, text, f"should be a json path under {under}", server)


def column_faults(columns: tuple[Mapping[str, Any], ...], at: Pointer, server: Server) -> Iterator[FieldError]:
    for index, column in enumerate(columns):
        here = (*at, index)
        kind, form, path = (column.get(member) or "" for member in ("type", "format", "jsonPath"))
        if not column.get("name"):
            yield fault(REQUIRED, (*here, "name"), "", "", server)
        if kind not in _COLUMN_TYPES.split(","):
            yield fault(INVALID if kind else REQUIRED, (*here, "type"), kind, f"must be one of {_COLUMN_TYPES}", server)
        if form and form not in _COLUMN_FORMATS.split(","):
            yield fault(INVALID, (*here, "format"), form, f"must be one of {_COLUMN_FORMATS}", server)
        if not path:
            yield fault(REQUIRED, (*here, "JSONPath"), "", "", server)
        elif not path.startswith("."):
            yield fault(INVALID, (*here, "JSONPath"), path, "must be a simple json path starting with .", server)


def selectable_faults(
    fields: tuple[Mapping[str, Any], ...], schema: Schema | None, at: Pointer, server: Server, *, many: bool
) -> Iterator[FieldError]:
    """``many``: more fields than the limit are tolerated."""
    if schema is None:
        for_all = len(at) == 2
        where = "validations.schema is included" if for_all else "`version.schema.openAPIV3Schema` is not included"
        yield fault(INVALID, at, "", f"may only be set when {where}", server)
        return
    seen = set()
    for index, member in enumerate(fields):
        text, here = member.get("jsonPath") or "", (*at, index, "jsonPath")
        if not text:
            yield fault(REQUIRED, here, "", "", server)
            continue
        steps, found = field_path(text, schema, arrays=False)
        if isinstance(found, str):
            yield fault(INVALID, here, text, f"is an invalid path: {found}", server)
            continue
        if steps[0] == "metadata":
            yield fault(INVALID, here, text, "must not point to fields in metadata", server)
        if found.get("type") not in ("string", "boolean", "integer"):
            detail = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            yield fault(INVALID, here, text, detail, server)
        if steps in seen:
            yield fault(DUPLICATE, here, text, "", server)
        seen.add(steps)
    if len(seen) > MAX_SELECTABLE and not many:
        yield fault(TOO_MANY, at, len(seen), f"must have at most {MAX_SELECTABLE} items", server)


def field_path(text: str, schema: Schema, *, arrays: bool = True) -> tuple[tuple[str, ...], Schema | str]:
    """The steps of a path such as ``.spec.a['b']`` and the schema it leads to, or the reason why it is none."""
    tokens = iter(_TOKEN.findall(text))
    steps: list[str] = []
    for token in tokens:
        if token not in ("[", "."):
            return (), f"expected [ or . but got: {token}"
        if token == "[" and not arrays:
            return (), "array notation is not allowed"
        name = next(tokens, None)
        if name is None:
            return (), "unexpected end of JSON path"
        if token == "[":
            if len(name) < 2 or not (name.startswith("'") and name.endswith("'")):
                return (), f"expected single quoted string but got {name}"
            name = re.sub(r"\\(.)", r"\1", name[1:-1])
        properties, additional = schema.get("properties"), schema.get("additionalProperties")
        below = properties.get(name) if properties else additional
        if not isinstance(below, dict):
            return (), "does not refer to a valid field"
        schema = below
        steps.append(name)
        if token == "[" and (closing := next(tokens, None)) != "]":
            return (), "unexpected end of JSON path" if closing is None else f"expected ] but got {closing}"
    return tuple(steps), schema

"""The format library: named formats, and validate(), which returns the faults as an optional list.

Source: k8s.io/apiserver/pkg/cel/library/format.go; apimachinery validation; kube-openapi strfmt.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel import gourl
from crdcompat.apiserver.cel.library import Function, content, opaque
from crdcompat.apiserver.cel.strfmt import is_base64, is_date, is_datetime
from crdcompat.apiserver.metadata.object_names import LABEL, QUALIFIED_NAME, SUBDOMAIN
from crdcompat.apiserver.server_versions import SINCE

if TYPE_CHECKING:
    from collections.abc import Callable

_SINCE = 31
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}", re.ASCII)

#: The formats that are a pattern and a greatest number of bytes. The patterns match ASCII alone.
LANGUAGES = {
    "dns1123Label": (LABEL, 63),
    "dns1123Subdomain": (SUBDOMAIN, 253),
    "dns1035Label": (_LABEL_1035, 63),
    "labelValue": (f"({QUALIFIED_NAME})?", 63),
}

_EDGES = "must start and end with an alphanumeric character"
_LABEL_TEXT = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_EDGES} "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_EDGES} (e.g. 'example.com', regex used for validation is '{SUBDOMAIN}')"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character "
    f"(e.g. 'my-name',  or 'abc-123', regex used for validation is '{_LABEL_1035}')"
)
_NAME_TEXT = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_EDGES} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{QUALIFIED_NAME}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_EDGES} (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '({QUALIFIED_NAME})?')"
)
_TWO_SLASHES_TEXT = (
    f"a qualified name {_NAME_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def _too_long(text: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} characters"] if len(text.encode("utf-8", "replace")) > limit else []


def _shape(name: str, fault: str) -> Callable[[str], list[str]]:
    pattern, limit = LANGUAGES[name]
    compiled = re.compile(pattern)
    return lambda text: _too_long(text, limit) + ([] if compiled.fullmatch(text) else [fault])


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The check of a prefix. A trailing dash is valid, because the generated name continues after it."""
    return lambda text: check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


_label_shape = _shape("dns1123Label", _LABEL_TEXT)
_is_subdomain = re.compile(SUBDOMAIN).fullmatch


def _label(text: str) -> list[str]:
    """The faults of a label. The server names the dots of a text that is a subdomain (asked on 1.33 and 1.36)."""
    dotted = bool(_is_subdomain(text))
    return ["must not contain dots" if dotted and fault == _LABEL_TEXT else fault for fault in _label_shape(text)]


_subdomain = _shape("dns1123Subdomain", _SUBDOMAIN_TEXT)
_label_1035 = _shape("dns1035Label", _LABEL_1035_TEXT)
_label_value = _shape("labelValue", _VALUE_TEXT)


def _qualified_name(text: str) -> list[str]:
    parts = text.split("/")
    faults = []
    if len(parts) > 2:
        return [_TWO_SLASHES_TEXT]
    if len(parts) == 2:
        if not parts[0]:
            faults.append("prefix part must be non-empty")
        else:
            faults += [f"prefix part {fault}" for fault in _subdomain(parts[0])]
    name = parts[-1]
    if not name:
        faults.append("name part must be non-empty")
    faults += [f"name part {fault}" for fault in _too_long(name, 63)]
    if not re.fullmatch(QUALIFIED_NAME, name):
        faults.append(f"name part {_NAME_TEXT}")
    return faults


def _uri(text: str, *, strict: bool = True) -> list[str]:
    try:
        gourl.parse_request_uri(text, strict=strict)
    except gourl.URLError as error:
        return [str(error)]
    return []


def _when(accepts: Callable[[str], object], fault: str) -> Callable[[str], list[str]]:
    return lambda text: [] if accepts(text) else [fault]


FORMATS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _qualified_name,
    "dns1123LabelPrefix": _prefix(_label),
    "dns1123SubdomainPrefix": _prefix(_subdomain),
    "dns1035LabelPrefix": _prefix(_label_1035),
    "labelValue": _label_value,
    "uri": _uri,
    "uuid": _when(_UUID.fullmatch, "does not match the UUID format"),
    "byte": _when(is_base64, "invalid base64"),
    "date": _when(is_date, "invalid date"),
    "datetime": _when(is_datetime, "invalid datetime"),
}


def _validate(value: Any, text: str, *, strict: bool = True) -> list[list[str]]:
    name = content(value, "format")
    faults = _uri(text, strict=strict) if name == "uri" else FORMATS[name](text)
    return [faults] if faults else []


def _constant(name: str) -> Function:
    return Function(f"format.{name}", (), "map", lambda: opaque("format", name), member=False, since=_SINCE)


FUNCTIONS = (
    *map(_constant, FORMATS),
    Function(
        "format.named",
        ("string",),
        "list",
        lambda name: [opaque("format", name)] if name in FORMATS else [],
        member=False,
        since=_SINCE,
    ),
    Function(
        "validate",
        ("map", "string"),
        "list",
        _validate,
        since=_SINCE,
        changed=SINCE["strict_url_colons"],
        older=partial(_validate, strict=False),
    ),
)

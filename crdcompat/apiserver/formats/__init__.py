"""The ``format`` keyword: the formats that a server enforces, and the check of each.

Source: k8s.io/kube-openapi/pkg/validation/strfmt and the API extensions server's list of formats
(docs/semantics.md#formats). The checks reproduce Go's quirks, and run in linear time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from crdcompat.apiserver.formats import codes, mail, network, times
from crdcompat.schema.re2 import go_text

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from crdcompat.apiserver.server_versions import Server

_FIRST_IN_1_35 = frozenset({"k8sshortname", "k8slongname"})
_NUMERIC = {"integer": frozenset({"int32", "int64"}), "number": frozenset({"float", "double"})}

#: String formats by normalized name (without dashes: ``date-time`` is ``datetime``).
CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": codes.is_bson_object_id,
    "byte": codes.is_byte,
    "cidr": network.is_cidr,
    "creditcard": codes.is_credit_card,
    "date": times.is_date,
    "datetime": times.is_date_time,
    "duration": times.is_duration,
    "email": mail.is_email,
    "hexcolor": codes.is_hex_color,
    "hostname": network.is_hostname,
    "ipv4": network.is_ipv4,
    "ipv6": network.is_ipv6,
    "isbn": lambda text: codes.is_isbn10(text) or codes.is_isbn13(text),
    "isbn10": codes.is_isbn10,
    "isbn13": codes.is_isbn13,
    "k8slongname": codes.is_long_name,
    "k8sshortname": codes.is_short_name,
    "mac": network.is_mac,
    "password": lambda text: True,
    "rgbcolor": codes.is_rgb_color,
    "ssn": codes.is_ssn,
    "uri": partial(network.is_uri, strict=False),
    "uuid": codes.is_uuid,
    "uuid3": codes.is_uuid3,
    "uuid4": codes.is_uuid4,
    "uuid5": codes.is_uuid5,
}


#: The format ``uri`` on servers that take one colon only in the host of a web address.
_STRICT_URI = "uri (strict)"
_CHECKS_BY_NAME: dict[str, Callable[[str], bool]] = {**CHECKS, _STRICT_URI: partial(network.is_uri, strict=True)}


def supported(format: str, type: str, server: Server) -> bool:  # noqa: A002 - the keywords
    """Whether the server enforces this format on this type. It silently ignores other formats.

    ``type`` is ``""`` if the schema has no type or several (int-or-string); string formats apply then.
    """
    if type in ("", "string"):
        return _is_known(_normalized(format), server)
    return format in _NUMERIC.get(type, ()) and server.does("integer_range")


def behaviours_of(format: str, type: str) -> tuple[str, ...]:  # noqa: A002 - the keywords
    """The behaviours of servers (``versions.SINCE``) that decide what this format of a text means."""
    name = _normalized(format) if type in ("", "string") else ""
    if name in _FIRST_IN_1_35:
        return ("k8s_name_formats",)
    return ("strict_url_colons",) if name == "uri" else ()


def is_unrecognized(format: str, type: str, server: Server) -> bool:  # noqa: A002 - the keywords
    """Whether the server warns of a CRD with this format of this type: since 1.34 of strings, then of all types.

    ``type`` is "" where the schema has none; it then counts as a string.
    """
    if type in ("", "string"):
        name = _normalized(format)
        known = name in CHECKS and (name not in _FIRST_IN_1_35 or server.does("k8s_formats_known"))
        return not known and server.does("format_warnings" if type else "format_warnings_of_all_types")
    return format not in _NUMERIC.get(type, ()) and server.does("format_warnings_of_all_types")


def known_matches(format: str, server: Server) -> Container[str]:  # noqa: A002
    """The cached strings that ``matches`` found to have the (string) format; a live view."""
    return _cache.setdefault(_check_name(format, server), set())


def matches(format: str, text: str, server: Server) -> bool:  # noqa: A002
    """Whether the text has the (string) format. Every text has a format that the server does not know."""
    name = _check_name(format, server)
    cached = _cache.setdefault(name, set())
    if text in cached:
        return True
    check = _CHECKS_BY_NAME.get(name)
    if name in _FIRST_IN_1_35 and not _is_known(name, server):
        return True
    found = check is None or check(go_text(text))
    if found and len(text) <= _MAX_CACHED_LENGTH:
        if len(cached) >= _MAX_CACHED:
            cached.clear()
        cached.add(text)
    return found


#: Name of a check -> texts that pass it. Texts recur: conditions share timestamps, and so do the writes of one object.
_cache: dict[str, set[str]] = {}
_MAX_CACHED_LENGTH, _MAX_CACHED = 64, 4096


def _is_known(name: str, server: Server) -> bool:
    return name in CHECKS and (name not in _FIRST_IN_1_35 or server.does("k8s_name_formats"))


def _check_name(format: str, server: Server) -> str:  # noqa: A002
    name = _normalized(format)
    return _STRICT_URI if name == "uri" and server.does("strict_url_colons") else name


def _normalized(name: str) -> str:
    return name.replace("-", "")

"""The ``format`` keyword: which formats a server enforces, and what text each of them accepts.

Source: k8s.io/kube-openapi/pkg/validation/strfmt and the API extensions server's list of formats
(reference section 3.6). Acceptance is Go's, quirks included; every check takes linear time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.apiserver.formats import codes, mail, network, times
from crdcompat.schema.re2 import go_text

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from crdcompat.apiserver.versions import Server

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
    "uri": network.is_uri,
    "uuid": codes.is_uuid,
    "uuid3": codes.is_uuid3,
    "uuid4": codes.is_uuid4,
    "uuid5": codes.is_uuid5,
}


def supported(format: str, type: str, server: Server) -> bool:  # noqa: A002 - the keywords
    """Whether the server enforces this format on this type; any other is silently dropped from the schema.

    ``type`` is ``""`` where the schema names none or several (int-or-string): string formats count there.
    """
    if type in ("", "string"):
        name = _normalized(format)
        return name in CHECKS and (name not in _FIRST_IN_1_35 or server.does("k8s_name_formats"))
    return format in _NUMERIC.get(type, ()) and server.does("integer_range")


def passing(format: str) -> Container[str]:  # noqa: A002
    """Texts that have the (string) format, as far as `matches` has met them."""
    return _met.setdefault(format, set())


def matches(format: str, text: str) -> bool:  # noqa: A002
    """Whether the text has the (string) format. A format without a check demands nothing."""
    met = _met.setdefault(format, set())
    if text in met:
        return True
    check = CHECKS.get(_normalized(format))
    found = check is None or check(go_text(text))
    if found and len(text) <= _LONGEST_REMEMBERED:
        if len(met) >= _MOST_REMEMBERED:
            met.clear()
        met.add(text)
    return found


#: The same times stand in many conditions, and in every write of one object: texts that have a format, by its name.
_met: dict[str, set[str]] = {}
_LONGEST_REMEMBERED, _MOST_REMEMBERED = 64, 4096


def _normalized(name: str) -> str:
    return name.replace("-", "")

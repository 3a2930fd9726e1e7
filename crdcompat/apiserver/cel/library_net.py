"""The libraries IP and CIDR. Source: k8s.io/apiserver/pkg/cel/library ip.go, cidr.go; Go's net/netip."""

from __future__ import annotations

import ipaddress
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver import gotext
from crdcompat.apiserver.cel import gonetip
from crdcompat.apiserver.cel.library import EvaluationError, Function, content, opaque

if TYPE_CHECKING:
    from collections.abc import Callable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_SINCE = 30
_NO_CIDR = "network address parse error during conversion from string: "
_BITS = re.compile(r"0|[1-9][0-9]{0,2}")


def _netip(text: str) -> Address:
    """netip.ParseAddr: rejects leading zeros in IPv4 octets, accepts a zone. Raises AddressError."""
    gonetip.check(text)
    try:
        return ipaddress.ip_address(text)
    except ValueError:  # zones are freer in Go
        return ipaddress.ip_address(text.partition("%")[0] + "%zone")


def parse_ip(text: str) -> Address:
    quoted = gotext.quote(text)
    try:
        address = _netip(text)
    except gonetip.AddressError as error:
        raise EvaluationError(f"IP Address {quoted} parse error during conversion from string: {error}") from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise EvaluationError(f"IP address {quoted} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise EvaluationError(f"IPv4-mapped IPv6 address {quoted} is not allowed")
    return address


def parse_cidr(text: str) -> tuple[Address, int]:
    quoted = gotext.quote(text)
    failed = f"{_NO_CIDR}netip.ParsePrefix({quoted}): "
    host, slash, bits = text.rpartition("/")
    if not slash:
        raise EvaluationError(failed + "no '/'")
    try:
        address = _netip(host)
    except gonetip.AddressError as error:
        raise EvaluationError(f"{failed}{error}") from None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise EvaluationError(failed + "IPv6 zones cannot be present in a prefix")
    if not _BITS.fullmatch(bits):
        raise EvaluationError(failed + f"bad bits after slash: {gotext.quote(bits)}")
    if int(bits) > address.max_prefixlen:
        raise EvaluationError(failed + "prefix length out of range")
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted} is not allowed")
    return address, int(bits)


def _accepts(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return accepts


def _text(address: Address) -> str:
    """netip.Addr.String: Python's form is the same, except for IPv4-mapped addresses, which are rejected earlier."""
    return str(address)


def _ip(value: Any) -> Address:
    return ipaddress.ip_address(content(value, "ip"))


def _cidr(value: Any) -> tuple[Address, int]:
    return parse_cidr(content(value, "cidr"))


def _to_cidr(address: Address, bits: int) -> dict[str, str]:
    return opaque("cidr", f"{_text(address)}/{bits}")


def _cidr_of(text: str) -> dict[str, str]:
    try:
        return _to_cidr(*parse_cidr(text))
    except EvaluationError as error:
        raise EvaluationError(f"{_NO_CIDR}{error}") from None


def _masked(address: Address, bits: int) -> Address:
    return ipaddress.ip_network((address, bits), strict=False).network_address


def _to_masked(value: Any) -> dict[str, str]:
    address, bits = _cidr(value)
    return _to_cidr(_masked(address, bits), bits)


def _contains_ip(value: Any, other: Any) -> bool:
    address, bits = _cidr(value)
    inner = parse_ip(other) if isinstance(other, str) else _ip(other)
    return inner.version == address.version and _masked(inner, bits) == _masked(address, bits)


def _contains_cidr(value: Any, other: Any, *, masks: bool = True) -> bool:
    address, bits = _cidr(value)
    inner, inner_bits = parse_cidr(other) if isinstance(other, str) else _cidr(other)
    if inner.version != address.version or bits > inner_bits:
        return False
    return _masked(address, bits) == (_masked(inner, bits) if masks else inner)


#: Before, the inner prefix had to begin at the address of the outer one (kubernetes/kubernetes#130450).
_MASKS_SINCE = 33
_contains_start = partial(_contains_cidr, masks=False)


def _is_link_local_multicast(address: Address) -> bool:
    packed = address.packed
    return packed[:3] == b"\xe0\x00\x00" if address.version == 4 else packed[0] == 0xFF and packed[1] & 0x0F == 2


def _is_link_local_unicast(address: Address) -> bool:
    packed = address.packed
    return packed[:2] == b"\xa9\xfe" if address.version == 4 else packed[0] == 0xFE and packed[1] & 0xC0 == 0x80


def _is_global_unicast(address: Address) -> bool:
    if address.version == 4 and address.packed in (b"\x00" * 4, b"\xff" * 4):
        return False
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or _is_link_local_unicast(address)
    )


def _string(value: Any) -> str:
    """string(x) of an opaque value. The CEL library implements string() of other values."""
    kind = "ip" if "\x01ip" in value else "cidr"
    return content(value, kind)


def _of_ip(name: str, get: Callable[[Address], Any], returns: str = "bool") -> Function:
    return Function(name, ("map",), returns, lambda value: get(_ip(value)), since=_SINCE)


FUNCTIONS = (
    Function("isIP", ("string",), "bool", _accepts(parse_ip), member=False, since=_SINCE),
    Function("ip", ("string",), "map", lambda text: opaque("ip", _text(parse_ip(text))), member=False, since=_SINCE),
    Function("ip", ("map",), "map", lambda value: opaque("ip", _text(_cidr(value)[0])), since=_SINCE),
    Function("ip.isCanonical", ("string",), "bool", lambda t: _text(parse_ip(t)) == t, member=False, since=_SINCE),
    _of_ip("family", lambda address: address.version, "int"),
    _of_ip("isUnspecified", lambda address: address.is_unspecified),
    _of_ip("isLoopback", lambda address: address.is_loopback),
    _of_ip("isLinkLocalMulticast", _is_link_local_multicast),
    _of_ip("isLinkLocalUnicast", _is_link_local_unicast),
    _of_ip("isGlobalUnicast", _is_global_unicast),
    Function("isCIDR", ("string",), "bool", _accepts(parse_cidr), member=False, since=_SINCE),
    Function("cidr", ("string",), "map", _cidr_of, member=False, since=_SINCE),
    Function("containsIP", ("map", "string"), "bool", _contains_ip, since=_SINCE),
    Function("containsIP", ("map", "map"), "bool", _contains_ip, since=_SINCE),
    *(
        Function("containsCIDR", ("map", kind), "bool", _contains_cidr, True, _SINCE, _MASKS_SINCE, _contains_start)
        for kind in ("string", "map")
    ),
    Function("prefixLength", ("map",), "int", lambda value: _cidr(value)[1], since=_SINCE),
    Function("masked", ("map",), "map", _to_masked, since=_SINCE),
    Function("k8sString", ("map",), "string", _string, member=False, since=_SINCE),
    *(
        Function("k8sString", (kind,), "string", body, member=False, since=_SINCE)
        for kind, body in (
            ("string", str),
            ("int", str),
            ("bool", lambda value: "true" if value else "false"),
            ("double", gotext.number),
        )
    ),
)

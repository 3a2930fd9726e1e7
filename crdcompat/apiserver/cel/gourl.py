"""The parts of Go's net/url that the CEL functions of Kubernetes use: ParseRequestURI, Parse, EscapedPath, Query."""

from __future__ import annotations

import string

from msgspec import Struct

from crdcompat.apiserver import gotext
from crdcompat.apiserver.ascii_sets import ALNUM, HEX
from crdcompat.apiserver.cel import gonetip

_UNRESERVED = ALNUM | frozenset("-_.~")
_PATH = _UNRESERVED | frozenset("$&+,/:;=@")
_ENCODED_PATH = _PATH | frozenset("!'()*[]%")
_HOST = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")
_NO_LITERAL = "invalid IP-literal"
_USER = _UNRESERVED | frozenset("!$&'()*+,;=:%@")


class URLError(Exception):
    """Go refuses the text; the message is Go's."""


class URL(Struct):
    scheme: str = ""
    host: str = ""
    path: str = ""
    raw_path: str = ""
    query: str = ""

    @property
    def hostname(self) -> str:
        return self._split()[0]

    @property
    def port(self) -> str:
        return self._split()[1]

    def _split(self) -> tuple[str, str]:
        host, port = self.host, ""
        colon = host.rfind(":")
        if colon >= 0 and _is_port(host[colon:]):
            host, port = host[:colon], host[colon + 1 :]
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        return host, port

    @property
    def escaped_path(self) -> str:
        if self.raw_path and all(char in _ENCODED_PATH for char in self.raw_path):
            return self.raw_path
        return "*" if self.path == "*" else _escape(self.path)

    def values(self) -> dict[str, list[str]]:
        """``URL.Query()``: omits pairs that do not parse."""
        found: dict[str, list[str]] = {}
        for pair in self.query.split("&"):
            if not pair or ";" in pair:
                continue
            key, _, value = pair.partition("=")
            try:
                key, value = _unescape(key.replace("+", " ")), _unescape(value.replace("+", " "))
            except URLError:
                continue
            found.setdefault(key, []).append(value)
        return found


def parse_request_uri(text: str, *, strict: bool = False) -> URL:
    """``strict``: as since Go 1.26, where http and https take only one colon in a host without brackets."""
    try:
        return _parse(text, via_request=True, strict=strict)
    except URLError as error:
        raise URLError(f"parse {gotext.quote(text)}: {error}") from None


def parse(text: str, *, strict: bool = False) -> URL:
    return _parse(text.partition("#")[0], via_request=False, strict=strict)


def _parse(text: str, *, via_request: bool, strict: bool) -> URL:
    if any(char < " " or char == "\x7f" for char in text):
        raise URLError("net/url: invalid control character in URL")
    if not text and via_request:
        raise URLError("empty url")
    if text == "*":
        return URL(path="*")
    scheme, rest = _scheme(text)
    if rest.endswith("?") and rest.count("?") == 1:
        rest, query = rest[:-1], ""
    else:
        rest, _, query = rest.partition("?")
    url = URL(scheme=scheme.lower(), query=query)
    if not rest.startswith("/"):
        if scheme:
            return url  # opaque
        if via_request:
            raise URLError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise URLError("first path segment in URL cannot contain colon")
    if (scheme or (not via_request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
        url.host = _authority(authority, strict=strict and url.scheme in ("http", "https"))
    url.path = _unescape(rest)
    url.raw_path = "" if rest == _escape(url.path) else rest
    return url


def _scheme(text: str) -> tuple[str, str]:
    for at, char in enumerate(text):
        if char.isascii() and char.isalpha():
            continue
        if char.isascii() and (char.isdigit() or char in "+-."):
            if at == 0:
                return "", text
        elif char == ":":
            if at == 0:
                raise URLError("missing protocol scheme")
            return text[:at], text[at + 1 :]
        else:
            return "", text
    return "", text


def _authority(authority: str, *, strict: bool) -> str:
    user, at, host = authority.rpartition("@")
    host = _host(host, strict=strict)
    if at:
        if any(char not in _USER for char in user):
            raise URLError("net/url: invalid userinfo")
        _unescape(user)
    return host


def _host(host: str, *, strict: bool) -> str:
    if host.startswith("["):
        return _bracketed(host)
    if "[" in host:
        raise URLError(_NO_LITERAL)
    colon = host.find(":") if strict else host.rfind(":")
    if colon >= 0:
        _check_port(host[colon:])
    return _unescape(host, host=True)


def _bracketed(host: str) -> str:
    """A host that begins with a bracket: an IPv6 address. Go checks the address since the fix of CVE-2025-47912."""
    address, bracket, port = host[1:].rpartition("]")
    if not bracket:
        raise URLError("missing ']' in host")
    _check_port(port)
    address, mark, zone = address.partition("%25")
    plain = _unescape(address, host=True) + _unescape(mark + zone, zone=True)
    try:
        gonetip.check(plain)
    except gonetip.AddressError as error:
        raise URLError(f"invalid host: {error}") from None
    if ":" not in plain:
        raise URLError(_NO_LITERAL)
    return f"[{plain}]{port}"


def _check_port(text: str) -> None:
    if not _is_port(text):
        raise URLError(f'invalid port "{text}" after host')


def _is_port(text: str) -> bool:
    return not text or (text[0] == ":" and all(char in string.digits for char in text[1:]))


def _unescape(text: str, *, host: bool = False, zone: bool = False) -> str:
    """The text with its escapes replaced.

    A ``host`` may escape only bytes beyond ASCII, a ``zone`` only spaces and what hosts contain.
    """
    if "%" not in text:
        if host and (bad := next((c for c in text if c.isascii() and c not in _HOST), "")):
            raise URLError(f'invalid character "{bad}" in host name')
        return text
    raw = bytearray()
    at = 0
    while at < len(text):
        char = text[at]
        if char == "%":
            digits = text[at + 1 : at + 3]
            if len(digits) != 2 or not set(digits) <= HEX:
                raise URLError(f'invalid URL escape "{text[at : at + 3]}"')
            code = int(digits, 16)
            is_forbidden = (host and code < 0x80) or (zone and chr(code) not in _HOST | {" "})
            if is_forbidden and digits != "25":
                raise URLError(f'invalid URL escape "%{digits}"')
            raw.append(code)
            at += 3
            continue
        if (host or zone) and char.isascii() and char not in _HOST:
            raise URLError(f'invalid character "{char}" in host name')
        raw += char.encode("utf-8", "replace")
        at += 1
    return raw.decode("utf-8", "replace")


def _escape(path: str) -> str:
    return "".join(
        char if char in _PATH else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace")) for char in path
    )

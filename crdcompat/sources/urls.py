"""URLs as names of sources, without the credentials in them."""

from __future__ import annotations

import re

from crdcompat.sources.naming import display_path

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_URL_IN_TEXT = re.compile(_URL.pattern + r"[^\s'\"<>]+")
_HIDDEN = "***"
_MIN_SECRET = 4  # characters; shorter values of a query occur in ordinary words


def is_remote(text: str) -> bool:
    """Whether a source is a URL."""
    return _URL.match(text) is not None


def scheme_of(url: str) -> str:
    """The scheme of a URL in lower case."""
    return url.partition("://")[0].lower()


def is_http(url: str) -> bool:
    """Whether the URL has the scheme http or https."""
    return scheme_of(url) in ("http", "https")


def public_name(text: str) -> str:
    """The name of a source for messages: ``***`` replaces user, password and query of a URL."""
    scheme, mark, rest = text.partition("://")
    return f"{scheme}{mark}{_public(rest)}" if mark and _URL.search(text) else text


def file_name(path: str) -> str:
    """The last part of a path or a URL, without the query."""
    address = public_name(path).partition("?")[0] if is_remote(path) else path
    return display_path(address.rstrip("/").rpartition("/")[2])


def without_secrets(message: str, url: str) -> str:
    """A library's message without the secrets of the URL, in one line."""
    from urllib.parse import parse_qsl, unquote

    rest = url.partition("://")[2]
    query = rest.partition("?")[2]
    secrets = {*rest.rpartition("@")[0].split(":", 1), query, *(value for _, value in parse_qsl(query))}
    for secret in sorted(secrets, key=len, reverse=True):
        for spelled in (secret, unquote(secret)):
            if len(spelled) >= _MIN_SECRET:
                message = message.replace(spelled, _HIDDEN)
    return " ".join(_URL_IN_TEXT.sub(lambda found: public_name(found[0]), message).split())


def _public(rest: str) -> str:
    """The rest of a URL after ``scheme://``, without user, password, query and a fragment with a value.

    Users write passwords with an unquoted slash or question mark, which no valid URL has. So all text up to the last
    ``@`` is hidden if the text before the slash looks like ``user:password``.
    """
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host = authority.rpartition("@")[2]
    unquoted = "@" not in authority and re.search(r":(?!\d*$)", authority) is not None and "@" in rest
    hides_user = "@" in authority or unquoted
    after = rest.rpartition("@")[2] if unquoted else host + rest[len(authority) :]
    address, question, query = after.partition("?")
    address, hash_mark, fragment = address.partition("#")
    if question:
        fragment = query.partition("#")[2]
        hash_mark = "#" if fragment else ""
    if "=" in fragment:
        fragment = _HIDDEN
    shown = f"{address}{f'?{_HIDDEN}' if question else ''}{hash_mark}{fragment}"
    return f"{_HIDDEN}@{shown}" if hides_user else shown

"""Redirects of http servers: to another host without credentials, never from https to http.

aiohttp follows the redirects of one server by itself. It also looks up the credentials of a redirect's host in
``~/.netrc``, so another host is asked by a session of its own, which knows none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from crdcompat.errors import SourceError
from crdcompat.sources.urls import public_name

if TYPE_CHECKING:
    from aiohttp import ClientSession, TraceConfig, TraceRequestRedirectParams

MAX_HOSTS = 5
"""Other hosts that a file may be redirected to, one after the other."""


class OtherHost(Exception):  # noqa: N818 - no error: the address to ask
    """A redirect to another origin; ``url`` is its address, without user and password."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


@cache
def watched() -> TraceConfig:
    """The settings of a session that raises `OtherHost`, and SourceError for a redirect from https to http."""
    from aiohttp import TraceConfig

    found = TraceConfig()
    found.on_request_redirect.append(_on_redirect)
    return found


def without_credentials(url: str) -> dict[str, Any]:
    """The settings of a session for another host: proxies as the environment has them, nothing of ``~/.netrc``."""
    parts = urlsplit(url)
    proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    return {"trust_env": False, "proxy": proxy}


def is_other_host(one: str, other: str) -> bool:
    """Whether two URLs name different hosts or ports; http and https of one host are the same."""
    usual = {"http": 80, "https": 443}
    here, there = ((each.hostname, each.port or usual.get(each.scheme)) for each in map(urlsplit, (one, other)))
    return here != there and not (here[0] == there[0] and {here[1], there[1]} == {80, 443})


async def _on_redirect(_: ClientSession, __: object, params: TraceRequestRedirectParams) -> None:
    from yarl import URL

    named = params.response.headers.get("Location") or params.response.headers.get("URI")
    if not named:
        return
    try:
        target = params.url.join(URL(named))
        is_same = target.origin() == params.url.origin()
    except ValueError:
        return  # aiohttp reports it
    if is_same:
        return
    params.response.close()
    if params.url.scheme == "https" and target.scheme != "https":
        raise SourceError(
            f"{public_name(str(params.url))}: the server sends the reader from https to "
            f"{public_name(str(target.with_user(None)))}, which nothing protects: not followed"
        )
    if target.scheme not in ("http", "https"):
        raise SourceError(
            f"{public_name(str(params.url))}: the server sends the reader to {target.scheme}: not followed"
        )
    raise OtherHost(str(target.with_user(None)))

"""The library URL: url, isURL and the parts of a URL. Source: k8s.io/apiserver/pkg/cel/library/urls.go."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel import gourl
from crdcompat.apiserver.cel.library import EvaluationError, Function, content, opaque
from crdcompat.apiserver.server_versions import SINCE

if TYPE_CHECKING:
    from collections.abc import Callable


def to_url(text: str, *, strict: bool = True) -> dict[str, str]:
    try:
        gourl.parse_request_uri(text, strict=strict)
        gourl.parse(text, strict=strict)
    except gourl.URLError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None
    return opaque("url", text)


def is_url(text: str, *, strict: bool = True) -> bool:
    try:
        gourl.parse_request_uri(text, strict=strict)
    except gourl.URLError:
        return False
    return True


def _of_text(name: str, returns: str, body: Callable[..., Any]) -> Function:
    older = partial(body, strict=False)
    return Function(name, ("string",), returns, body, member=False, changed=SINCE["strict_url_colons"], older=older)


def _part(get: Callable[[gourl.URL], Any]) -> Callable[[Any], Any]:
    return lambda value: get(gourl.parse(content(value, "url")))


FUNCTIONS = (
    _of_text("url", "map", to_url),
    _of_text("isURL", "bool", is_url),
    Function("getScheme", ("map",), "string", _part(lambda url: url.scheme)),
    Function("getHost", ("map",), "string", _part(lambda url: url.host)),
    Function("getHostname", ("map",), "string", _part(lambda url: url.hostname)),
    Function("getPort", ("map",), "string", _part(lambda url: url.port)),
    Function("getEscapedPath", ("map",), "string", _part(lambda url: url.escaped_path)),
    Function("getQuery", ("map",), "map", _part(lambda url: url.values())),
)

"""The library URL: url, isURL and the parts of a URL. Source: k8s.io/apiserver/pkg/cel/library/urls.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel import gourl
from crdcompat.apiserver.cel.library import EvaluationError, Function, content, opaque

if TYPE_CHECKING:
    from collections.abc import Callable


def to_url(text: str) -> dict[str, str]:
    try:
        gourl.parse_request_uri(text)
        gourl.parse(text)
    except gourl.URLError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None
    return opaque("url", text)


def is_url(text: str) -> bool:
    try:
        gourl.parse_request_uri(text)
    except gourl.URLError:
        return False
    return True


def _part(get: Callable[[gourl.URL], Any]) -> Callable[[Any], Any]:
    return lambda value: get(gourl.parse(content(value, "url")))


FUNCTIONS = (
    Function("url", ("string",), "map", to_url, member=False),
    Function("isURL", ("string",), "bool", is_url, member=False),
    Function("getScheme", ("map",), "string", _part(lambda url: url.scheme)),
    Function("getHost", ("map",), "string", _part(lambda url: url.host)),
    Function("getHostname", ("map",), "string", _part(lambda url: url.hostname)),
    Function("getPort", ("map",), "string", _part(lambda url: url.port)),
    Function("getEscapedPath", ("map",), "string", _part(lambda url: url.escaped_path)),
    Function("getQuery", ("map",), "map", _part(lambda url: url.values())),
)

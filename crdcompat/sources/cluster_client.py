"""The official Kubernetes client, reduced to what is asked of clusters: a page of a list, or one other request.

The client is an optional dependency, imported only for ``cluster:`` sources and ``verify``. Sources ask for pages only.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

import orjson
from msgspec import Struct

from crdcompat.errors import SourceError, UsageError
from crdcompat.sources.cluster_pages import Page
from crdcompat.sources.retrying import BUSY, PASSING, Patience, Waiting
from crdcompat.sources.tls import tls_context
from crdcompat.vocabulary import IN_CLUSTER

PAGE = 500
"""Objects in one page."""

MAX_PAGE_BYTES = 512 << 20
#: How often a request is sent again to which no answer came in time: each time it is waited for as long.
_MAX_SILENT = 2
UNVERIFIED = (
    "by the kubeconfig the connection is not verified (insecure-skip-tls-verify): another server may have answered"
)

_WHY = {
    401: "the credentials are missing or expired: log in again",
    403: "these credentials may not list it",
    BUSY: "the server has too many requests: try again later",
}

_T = TypeVar("_T")

#: The media type of answers that have the metadata of the objects alone, if the server knows it.
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class Resource(Struct, frozen=True):
    """The objects of a kind at one version."""

    group: str
    version: str
    plural: str

    @property
    def path(self) -> str:
        """The start of the paths of its objects: ``GROUP/PLURAL``."""
        return f"{self.group}/{self.plural}"

    @property
    def crd(self) -> str:
        """The name of its CRD."""
        return f"{self.plural}.{self.group}"


class Timeouts(Struct, frozen=True):
    """Limits in seconds: for a connection, and for the next bytes of an answer."""

    connect: float = 10
    read: float = 30


class RefusedError(Exception):
    """The server answered with an error; ``status`` is the HTTP status code, ``body`` the whole answer."""

    def __init__(self, status: int, message: str, body: bytes = b"") -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class NoAnswerError(Exception):
    """A request got no answer: no connection, an invalid certificate, a timeout, or a truncated answer."""


class Client:
    """A client for the cluster of a kubeconfig context; "" is the current one, ``in-cluster`` that of this pod.

    ``kubeconfig`` is the file for a server on the loopback, by default it is the user's. ``is_unverified``: the
    kubeconfig switches off the check of the server's certificate. Raises UsageError if the client is not installed or
    there is no such context, SourceError if the kubeconfig cannot be used.
    """

    def __init__(
        self, name: str, context: str, kubeconfig: str | None = None, timeouts: Timeouts | None = None
    ) -> None:
        self._name = name
        limits = timeouts or Timeouts()
        self._timeouts = (limits.connect, limits.read)
        try:
            self._kubernetes = importlib.import_module("kubernetes.client")
            config = importlib.import_module("kubernetes.config")
            self._urllib3 = importlib.import_module("urllib3")
        except ImportError:
            raise UsageError(
                f"{name}: clusters are read with the official Kubernetes client, which is not installed: "
                "pip install 'crdcompat[cluster]'"
            ) from None
        file = kubeconfig or os.environ.get("KUBECONFIG") or None
        self._configuration = self._kubernetes.Configuration()
        if kubeconfig:
            self._configuration.proxy = None
        self._configuration.retries = self._urllib3.Retry(0, respect_retry_after_header=False)
        try:
            if context == IN_CLUSTER:
                self.context = context
                config.load_incluster_config(client_configuration=self._configuration)
            else:
                self._load(config, name, context, file)
        except (config.ConfigException, OSError, ValueError, TypeError, KeyError) as error:
            what = "this is no pod of a cluster" if context == IN_CLUSTER else "the kubeconfig cannot be used"
            raise SourceError(f"{name}: {what}: {error}") from None
        self.is_unverified = not self._configuration.verify_ssl
        if self.is_unverified:  # the caller warns once; the library would for each request
            self._urllib3.disable_warnings(self._urllib3.exceptions.InsecureRequestWarning)
        self._api: Any = None
        self._patience = Patience()
        self._has_answered = False

    def _load(self, config: Any, name: str, context: str, file: str | None) -> None:
        """Load a context of the kubeconfig. Raises UsageError if there is no such context."""
        contexts, current = config.list_kube_config_contexts(config_file=file)
        names = [str(one["name"]) for one in contexts]
        self.context = context or str(current["name"])
        if self.context not in names:
            raise UsageError(f"{name}: no context {self.context} in the kubeconfig{_near(self.context, names)}")
        config.load_kube_config(
            config_file=file,
            context=self.context,
            client_configuration=self._configuration,
            persist_config=False,  # nothing is written, not even a renewed token
        )

    @property
    def server(self) -> str:
        """The address of the server."""
        return str(self._configuration.host)

    def session(self) -> Any:
        """A context manager that closes the client's connections at its end."""
        self._api = self._kubernetes.ApiClient(self._configuration)
        if self.server.startswith("https:"):
            has_authorities = not self._configuration.ssl_ca_cert  # the client loads those that the kubeconfig names
            checks = tls_context(is_verified=not self.is_unverified, has_authorities=has_authorities)
            self._api.rest_client.pool_manager.connection_pool_kw["ssl_context"] = checks
        return self._api

    def page(self, kind: Resource, token: str, accept: str = "") -> Page:
        """GET one page of a list; ``accept`` is as in ``ask``. Raises RefusedError, NoAnswerError."""
        more = {"_continue": token} if token else {}
        return self._page(kind, accept=accept, limit=PAGE, **more)

    def _page(self, kind: Resource, **more: Any) -> Page:
        try:
            return Page(self._body("list_cluster", kind, **more))
        except ValueError as error:
            raise NoAnswerError(str(error)) from None

    def count(self, kind: Resource) -> int | None:
        """The number of objects of a kind, by a list of one; None if the server does not say it. Raises as ``page``."""
        return self._page(kind, accept=METADATA, limit=1).total

    def ask(self, what: str, kind: Resource, *about: Any, accept: str = "", **more: Any) -> dict[str, Any]:
        """One request by a method of the client's CustomObjectsApi: ``what`` is the beginning of its name.

        ``about`` are the method's further arguments in their order (a name, a body), ``accept`` is another media type
        of the answer. Returns the answer, {} if it has no body. Raises RefusedError, NoAnswerError.
        """
        return _decoded(self._body(what, kind, *about, accept=accept, **more))

    def _body(self, what: str, kind: Resource, *about: Any, accept: str = "", **more: Any) -> bytes:
        """The text of the answer to ``ask``."""
        objects = self._kubernetes.CustomObjectsApi(self._api)
        space = about[:1] if "namespaced" in what else ()
        rest = about[len(space) :]
        if accept:
            self._api.set_default_header("Accept", accept)

        def answer() -> bytes:
            answered = getattr(objects, f"{what}_custom_object")(
                kind.group,
                kind.version,
                *space,
                kind.plural,
                *rest,
                _preload_content=False,
                _request_timeout=self._timeouts,
                **more,
            )
            try:
                return bytes(answered.read(MAX_PAGE_BYTES + 1))
            finally:
                answered.release_conn()

        try:
            data = self._answered(answer, repeats=what.startswith(("list", "get")))
        finally:
            if accept:
                del self._api.default_headers["Accept"]
        if len(data) > MAX_PAGE_BYTES:
            raise NoAnswerError(f"a page of more than {MAX_PAGE_BYTES} bytes")
        return data

    def server_version(self) -> str:
        """The version of the server: ``v1.31.4``. Raises RefusedError, NoAnswerError."""
        versions = self._kubernetes.VersionApi(self._api)

        def answer() -> bytes:
            """The client's own model of the answer refuses one without a build date, as proxies send it."""
            return bytes(versions.get_code(_preload_content=False, _request_timeout=self._timeouts).data)

        found = _decoded(self._answered(answer, repeats=True)).get("gitVersion")
        if not isinstance(found, str):
            raise NoAnswerError("an answer without gitVersion")
        return found

    def _answered(self, call: Callable[[], _T], *, repeats: bool) -> _T:
        """The result of a request. A request that failed for a passing reason is sent again (see `retrying`).

        ``repeats``: the request changes nothing. Others are sent again only if the server refused to begin them (429).
        Before the first answer of a server, a broken connection is more often a wrong address: it is tried once more.
        """
        waiting, broke_off, silent = Waiting(self._patience), False, 0
        while True:
            try:
                result = call()
                self._has_answered = True
                return result
            except self._kubernetes.ApiException as error:
                if not error.status:
                    raise NoAnswerError(_first_line(error.reason)) from None
                self._has_answered = True
                is_passing = error.status in PASSING if repeats else error.status == BUSY
                if not is_passing or not waiting.again(self._seconds_to_wait(error.headers), status=error.status):
                    raise RefusedError(error.status, _reason(error), _bytes(error.body)) from None
            except self._urllib3.exceptions.HTTPError as error:
                reason = getattr(error, "reason", None) or error
                silent += isinstance(reason, self._urllib3.exceptions.ReadTimeoutError)
                may_repeat = repeats and (self._has_answered or not broke_off) and self._is_broken(reason)
                may_repeat = may_repeat and silent <= _MAX_SILENT
                if not may_repeat or not waiting.again():
                    raise NoAnswerError(_first_line(reason)) from None
                broke_off = True

    def _is_broken(self, reason: object) -> bool:
        """Whether a connection broke off, or, if the server has answered before, is refused or silent: it restarts."""
        faults = self._urllib3.exceptions
        return isinstance(reason, faults.ProtocolError) or (
            self._has_answered and isinstance(reason, (faults.NewConnectionError, faults.ReadTimeoutError))
        )

    def _seconds_to_wait(self, headers: Any) -> float | None:
        """The time in Retry-After, which has seconds or a date; None without that header."""
        try:
            return float(self._urllib3.Retry().parse_retry_after(headers["Retry-After"]))
        except (KeyError, TypeError, self._urllib3.exceptions.InvalidHeader):
            return None


def _bytes(body: object) -> bytes:
    return body if isinstance(body, bytes) else str(body or "").encode()


def _reason(error: Any) -> str:
    """The reason of a refusal: the message of the server's Status, else the first line of the body."""
    message: object
    try:
        message = orjson.loads(error.body)["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = error.body or error.reason or ""
    why = _WHY.get(error.status)
    return f"{error.status} {_first_line(message)}{f' ({why})' if why else ''}"


def _decoded(data: bytes) -> dict[str, Any]:
    """The JSON object of an answer. Raises NoAnswerError."""
    try:
        answer = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise NoAnswerError(f"an answer that is not JSON: {error}") from None
    if not isinstance(answer, dict):
        raise NoAnswerError("an answer that is no object")
    return answer


def _first_line(message: object) -> str:
    text = message.decode("utf-8", "backslashreplace") if isinstance(message, bytes) else str(message)
    return text.strip().partition("\n")[0][:300]


def _near(wanted: str, names: list[str]) -> str:
    near = get_close_matches(wanted, names[:1000], n=3, cutoff=0.5) or names[:5]
    return f": there is {', '.join(near)}" if near else ": it has none"

"""Conversion between the versions of a CRD: strategy, webhook, ConversionReview versions.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go; apiserver, pkg/util/webhook.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.cel.gourl import URLError, parse
from crdcompat.apiserver.crd_validation import shown
from crdcompat.apiserver.crd_validation.definition import Definition, fault
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.metadata import dns1035_label_errors
from crdcompat.apiserver.metadata.object_names import subdomain_errors
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.wording import supported_values
from crdcompat.schema.paths import Pointer

_AT: Pointer = ("spec", "conversion")
_CLIENT: Pointer = (*_AT, "webhookClientConfig")
_REVIEWS: Pointer = (*_AT, "conversionReviewVersions")
_FORM = "; desired format: https://host[/path]"


def conversion_faults(form: Definition, tolerated: Tolerated) -> Iterator[FieldError]:
    server = form.server
    strategy, client = form.conversion.get("strategy"), form.conversion.get("webhookClientConfig")
    reviews = form.conversion.get("conversionReviewVersions") or []
    if strategy != "None" and form.preserve_unknown_fields:
        detail = "must be None if spec.preserveUnknownFields is true"
        yield fault(INVALID, (*_AT, "strategy"), strategy, detail, server)
    if not strategy:
        yield fault(REQUIRED, (*_AT, "strategy"), "", "", server)
    elif strategy not in ("None", "Webhook"):
        detail = supported_values(("None", "Webhook"))
        yield fault(NOT_SUPPORTED, (*_AT, "strategy"), strategy, detail, server)
    if strategy != "Webhook":
        for at, value in ((_CLIENT, client), (_REVIEWS, reviews)):
            if value or (at == _CLIENT and value is not None):
                yield fault(FORBIDDEN, at, "", "should not be set when strategy is not set to Webhook", server)
        return
    if client is None:
        yield fault(REQUIRED, _CLIENT, "", "required when strategy is set to Webhook", server)
    else:
        yield from _client_faults(client, tolerated, server)
    yield from _review_faults(reviews, tolerated, server)


def _client_faults(client: Mapping[str, Any], tolerated: Tolerated, server: Server) -> Iterator[FieldError]:
    url, service, bundle = client.get("url"), client.get("service"), client.get("caBundle")
    if (url is None) == (service is None):
        yield fault(REQUIRED, _CLIENT, "", "exactly one of url or service is required", server)
    elif url is not None:
        yield from _url_faults(url, server)
    elif service is not None:
        yield from _service_faults(service, server)
    if bundle and not tolerated.ca_bundle and server.does("checks_ca_bundle") and (said := ca_bundle_error(bundle)):
        yield fault(INVALID, (*_CLIENT, "caBundle"), bundle, said, server)


def ca_bundle_error(bundle: str) -> str:
    """The reason why a bundle in base64 has no certificate; "" if it has one."""
    try:
        text = base64.b64decode(bundle, validate=True)
    except (binascii.Error, ValueError):
        text = b""
    if b"-----BEGIN CERTIFICATE-----" in text:
        return ""
    return "unable to load root certificates: unable to parse bytes as PEM block"


def _url_faults(text: str, server: Server) -> Iterator[FieldError]:
    at: Pointer = (*_CLIENT, "url")
    try:
        url = parse(text, strict=server.does("strict_url_colons"))
    except URLError as error:
        yield fault(REQUIRED, at, "", f"url must be a valid URL: {error}{_FORM}", server)
        return
    if url.scheme != "https":
        yield fault(INVALID, at, url.scheme, f"'https' is the only allowed URL scheme{_FORM}", server)
    if not url.host:
        yield fault(INVALID, at, url.host, f"host must be specified{_FORM}", server)
    before, _, fragment = text.partition("#")
    authority = before.partition("//")[2].partition("?")[0].partition("/")[0]
    parts = {
        "user information is": authority.rpartition("@")[0],
        "fragments are": fragment,
        "query parameters are": url.query,
    }
    for what, value in parts.items():
        if value:
            yield fault(INVALID, at, value, f"{what} not permitted in the URL", server)


def _service_faults(service: Mapping[str, Any], server: Server) -> Iterator[FieldError]:
    at: Pointer = (*_CLIENT, "service")
    # The server passes the two names in the wrong order, so that each is reported as the other.
    for member, reported in (("namespace", "name"), ("name", "namespace")):
        if not service.get(member):
            detail = "" if server.does("plain_service_texts") else f"service {reported} is required"
            yield fault(REQUIRED, (*at, reported), "", detail, server)
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        yield fault(INVALID, (*at, "port"), port, "port is not valid: must be between 1 and 65535, inclusive", server)
    path = service.get("path")
    if not path or path == "/":
        return
    at = (*at, "path")
    if path == "//":
        yield fault(INVALID, at, path, "segment[0] may not be empty", server)
        return
    if not path.startswith("/"):
        yield fault(INVALID, at, path, "must start with a '/'", server)
    for index, step in enumerate(path[1:].removesuffix("/").split("/")):
        if not step:
            yield fault(INVALID, at, path, f"segment[{index}] may not be empty", server)
        else:
            for said in subdomain_errors(step, server):
                yield fault(INVALID, at, path, f"segment[{index}]: {said}", server)


def _review_faults(reviews: list[str], tolerated: Tolerated, server: Server) -> Iterator[FieldError]:
    if not reviews:
        yield fault(REQUIRED, _REVIEWS, "", "", server)
        return
    for index, name in enumerate(reviews):
        if name in reviews[:index]:
            yield fault(INVALID, (*_REVIEWS, index), name, "duplicate version", server)
            continue
        for said in dns1035_label_errors(name):
            yield fault(INVALID, (*_REVIEWS, index), name, said, server)
    if not tolerated.review_versions and not {"v1", "v1beta1"} & set(reviews):
        yield fault(INVALID, _REVIEWS, shown.strings(reviews), "must include at least one of v1, v1beta1", server)

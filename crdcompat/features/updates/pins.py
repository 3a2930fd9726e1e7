"""The versions of others that a repository names: charts, manifests in git, files behind URLs, Go modules.

Renovate and Dependabot change these lines. Every value is the text of a stranger: `unsafe` says what may not be used.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import parse_qs

from msgspec import Struct


class Kind(StrEnum):
    """The kind of a pin: where the version is, and how to get it."""

    HELM = "helm"
    """A chart of a repository: ``helm pull NAME --repo PLACE --version VERSION``."""
    OCI = "oci"
    """A chart or manifests in a registry: ``PLACE:VERSION``."""
    GIT = "git"
    """A folder of a git repository: NAME at VERSION of PLACE."""
    GO = "go"
    """A Go module: ``NAME@VERSION``."""
    URL = "url"
    """A file: VERSION is its whole URL."""


class Pin(Struct, frozen=True):
    """A version that a file names, of ``name`` at ``place``; ``at`` says where, so that both commits have it.

    ``source``: a HelmRepository (namespace, name) has the place; another file describes it.
    """

    kind: Kind
    place: str
    name: str
    version: str
    at: tuple[str, ...]
    source: tuple[str, str] | None = None


#: No user, no password, no query: a job would hand them on. No ``..``, and nothing that a shell reads.
_PLACE = re.compile(
    r"(?:https?|oci)://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:/[A-Za-z0-9_~%+-][A-Za-z0-9._~%+-]*)*/?"
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(?:/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")
_EXACT = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.+-]+)?")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*(?:[./][A-Za-z0-9_+-]+)*")
_FILE = re.compile(_PLACE.pattern.replace("oci", "https"))
_MAX = 300
#: A part of a URL that differs between releases of one file.
_RELEASE = re.compile(r"v?\d+(?:\.\d+)+(?:[-+][A-Za-z0-9.+-]+)?")
_REMOTE = re.compile(r"(?:git::)?(?:https://)?(?P<host>[A-Za-z0-9.-]+\.[A-Za-z]+)/(?P<path>[^?]+)\?(?P<query>.+)")
_REQUIRED = re.compile(
    rb"^[ \t]*(?:require[ \t]+)?([^\s()/.]+\.[^\s()]+)[ \t]+(v\d\S*)[ \t]*(?://[^\n]*)?\r?$", re.MULTILINE
)
_REPLACED = re.compile(
    rb"^[ \t]*(?:replace[ \t]+)?(\S+)(?:[ \t]+v\S+)?[ \t]*=>[ \t]*(\S+)(?:[ \t]+(v\d\S*))?", re.MULTILINE
)


def unsafe(pin: Pin) -> str:
    """Why a pin is not handed on; "" if it may be."""
    version = {Kind.HELM: _EXACT, Kind.OCI: _REF, Kind.GIT: _REF, Kind.GO: _EXACT, Kind.URL: _FILE}[pin.kind]
    if pin.kind in (Kind.HELM, Kind.OCI, Kind.GIT) and not _fits(_PLACE, pin.place):
        return "only http, https and oci addresses without user, password and query are listed"
    if pin.name and not _fits(_NAME, pin.name):
        return "the name has characters that names do not have"
    if not _fits(version, pin.version):
        return "the version is a range, or has characters that versions do not have"
    return ""


def _fits(pattern: re.Pattern[str], text: str) -> bool:
    return len(text) <= _MAX and pattern.fullmatch(text) is not None


def remote_pin(text: str) -> Pin | None:
    """The pin of a resource of a kustomization; None for a file of the repository, or what names no version."""
    if (found := _REMOTE.fullmatch(text)) is not None:
        asked = parse_qs(found["query"])
        ref = (asked.get("ref") or asked.get("version") or [""])[0]
        before, double, below = found["path"].partition("//")
        parts = before.removesuffix(".git").split("/")
        owned, folder = parts[:2], [*parts[2:], *filter(None, [below])]
        if double:
            owned, folder = parts, [below]
        place = f"https://{found['host']}/{'/'.join(owned)}"
        name = "/".join(folder).strip("/")
        return Pin(Kind.GIT, place, name, ref, ("resource", place, name)) if ref else None
    if text.startswith(("https://", "http://")):
        masked = "/".join("*" if _RELEASE.fullmatch(part) else part for part in text.split("/"))
        return Pin(Kind.URL, "", "", text, ("resource", masked)) if masked != text else None
    return None


def go_pins(data: bytes) -> list[Pin]:
    """The pins of a ``go.mod``; a module that a folder replaces has none."""
    named = {module: (module, version) for module, version in _texts(_REQUIRED, data)}
    named |= {module: (other, version) for module, other, version in _texts(_REPLACED, data) if module in named}
    return [Pin(Kind.GO, "", name, version, ("module", at)) for at, (name, version) in named.items() if version]


def _texts(pattern: re.Pattern[bytes], data: bytes) -> list[tuple[str, ...]]:
    return [tuple(part.decode("utf-8", "replace") for part in found) for found in pattern.findall(data)]

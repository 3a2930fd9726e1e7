"""Rules for names: DNS labels and subdomains, label keys and values, path segments; with the server's messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.apiserver.server_versions import Server

LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
#: A simpler pattern that each subdomain fits, for questions about languages.
NEARLY_SUBDOMAIN = "[a-z0-9]([-.a-z0-9]*[a-z0-9])?"
QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_RE = re.compile(LABEL)
_KEY_RE = re.compile("[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VALID_KEY = re.compile(rf"(?:{SUBDOMAIN}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?")
SUBDOMAIN_LIMIT = 253

#: The minors that changed the messages of these rules.
_RFC_1123_TEXT = 20  # before: "a DNS-1123 subdomain must consist of"
_LABELS_COUNT_BYTES = 34  # before: characters
_LABEL_KEY_TEXT = 35  # "a valid label key", before: "a qualified name"


def label_key_errors(text: str, server: Server) -> list[str]:
    """The errors of a label key: an optional DNS prefix and a slash, then a name."""
    if len(text) <= SUBDOMAIN_LIMIT and _VALID_KEY.fullmatch(text):
        return []
    must = (
        "must consist of alphanumeric characters, '-', '_' or '.', "
        "and must start and end with an alphanumeric character"
    )
    must = _regex_text(must, QUALIFIED_NAME, "MyName", "my.name", "123-abc")
    *prefixes, name = text.split("/")
    texts: list[str] = []
    if len(prefixes) > 1:
        what = "a valid label key" if server.minor >= _LABEL_KEY_TEXT else "a qualified name"
        return [f"{what} {must} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if prefixes == [""]:
        texts.append("prefix part must be non-empty")
    elif prefixes:
        texts += [f"prefix part {problem}" for problem in subdomain_errors(prefixes[0], server, _unit(server))]
    if not name:
        texts.append("name part must be non-empty")
    elif utf8_size(name) > 63:
        texts.append(f"name part {_too_long(63, server)}")
    if not _KEY_RE.fullmatch(name):
        texts.append(f"name part {must}")
    return texts


def label_value_errors(value: str, server: Server) -> list[str]:
    """The errors of a label value, which may be empty."""
    texts: list[str] = []
    if utf8_size(value) > 63:
        texts.append(_too_long(63, server))
    if value and not _KEY_RE.fullmatch(value):
        must = (
            "a valid label must be an empty string or consist of alphanumeric characters, "
            "'-', '_' or '.', and must start and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, f"({QUALIFIED_NAME})?", "MyValue", "my_value", "12345"))
    return texts


def subdomain_errors(text: str, server: Server, unit: str = "characters") -> list[str]:
    texts = [] if utf8_size(text) <= SUBDOMAIN_LIMIT else [f"must be no more than {SUBDOMAIN_LIMIT} {unit}"]
    if not all(_LABEL_RE.fullmatch(part) for part in text.split(".")):
        kind = "a lowercase RFC 1123 subdomain" if server.minor >= _RFC_1123_TEXT else "a DNS-1123 subdomain"
        must = (
            f"{kind} must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, SUBDOMAIN, "example.com"))
    return texts


def dns_label_errors(text: str, server: Server) -> list[str]:
    texts = [] if utf8_size(text) <= 63 else ["must be no more than 63 characters"]
    if not _LABEL_RE.fullmatch(text):
        kind = "a lowercase RFC 1123 label" if server.minor >= _RFC_1123_TEXT else "a DNS-1123 label"
        must = (
            f"{kind} must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, LABEL, "my-name", "123-abc"))
    return texts


def dns1035_label_errors(text: str) -> list[str]:
    """The errors of a DNS-1035 label (a kind in lower case)."""
    texts = [] if utf8_size(text) <= 63 else ["must be no more than 63 characters"]
    if not _LABEL_RE.fullmatch(text) or text[0] in "0123456789":
        must = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
            "start with an alphabetic character, and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123"))
    return texts


def path_segment_errors(text: str) -> list[str]:
    return [f"may not contain '{char}'" for char in "/%" if char in text]


def without_trailing_dash(prefix: str) -> str:
    """A prefix of a name with a last dash replaced, because the generated name continues after it."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix[-1] == "-" and prefix[-2] < "\x80" else prefix


def _too_long(limit: int, server: Server) -> str:
    return f"must be no more than {limit} {_unit(server)}"


def _unit(server: Server) -> str:
    return "bytes" if server.minor >= _LABELS_COUNT_BYTES else "characters"


def _regex_text(must: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{must} (e.g. {shown}regex used for validation is '{pattern}')"


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))

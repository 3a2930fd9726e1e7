"""Spellings of one small CRD in YAML and JSON: the ways in which a file can hide its words from a search."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

_FIELDS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
}
_BREAKS = ("\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\n\n")
_TAGS = (
    "!!binary", "!!b%69nary", "!!%62inary", "!<tag:yaml.org,2002:binary>", "!<tag:yaml.org,2002:b%69nary>",
    "!y!binary", "!binary", "!x!ary", "!!str", "!", "!local", "!<!binary>", "!!BINARY",
)  # fmt: skip
_DIRECTIVES = (
    "", "", "%YAML 1.1\n", "%TAG !y! tag:yaml.org,2002:\n", "%TAG ! tag:yaml.org,2002:\n",
    "%TAG !! tag:yaml.org,2002:\n", "%TAG !x! tag:yaml.org,2002:bin\n", "%TAG !! !\n",
)  # fmt: skip


def _double(text: str, rng: random.Random) -> str:
    """The text in double quotes, some characters escaped, some lines broken."""
    rate, out = rng.choice((0.0, 0.1, 0.5, 1.0)), []
    for character in text:
        if rng.random() < 0.08:
            out.append("\\" + rng.choice(_BREAKS) + " " * rng.randrange(3) + rng.choice(("", "", "\t")))
        if rng.random() < rate:
            code = ord(character)
            out.append(rng.choice((f"\\x{code:02x}", f"\\x{code:02X}", f"\\u{code:04x}", f"\\U{code:08X}")))
        else:
            out.append(character)
    return f'"{"".join(out)}"'


def _tagged(text: str, rng: random.Random) -> str:
    coded = base64.b64encode(text.encode()).decode()
    if rng.random() < 0.2:
        coded = f'"{coded[:5]} {coded[5:]}"'
    return f"{rng.choice(_TAGS)} {rng.choice((coded, coded, text))}"


_STYLES: tuple[Callable[[str, random.Random], str], ...] = (
    lambda text, _: text,
    lambda text, _: f"'{text}'",
    _double,
    _double,
    _tagged,
    lambda text, rng: f"{rng.choice(('>-', '|-', '>2-', '|'))}\n    {text}",
    lambda text, _: f"&a {text}",
    lambda text, rng: f"!!str {_double(text, rng)}",
    lambda text, _: f"\n    {text}",
    lambda text, _: f"# here\n    {text}",
)


def _value(text: str, rng: random.Random) -> str:
    return _double(text, rng) if rng.random() < 0.4 else rng.choice(_STYLES)(text, rng)


def _key(text: str, rng: random.Random) -> str:
    style = rng.random()
    if style < 0.6:
        return f"{text}:"
    if style < 0.8:
        return f"{_double(text, rng)}:"
    if style < 0.9:
        return f"{_tagged(text, rng)}:"
    return f"? {_double(text, rng)}\n:"


def _yaml(rng: random.Random) -> str:
    fields = [f"{_key(name, rng)} {_value(value, rng)}\n" for name, value in _FIELDS.items()]
    if rng.random() < 0.15:
        fields = [f"x: &k {_FIELDS['kind']}\n", fields[0], f"{_key('kind', rng)} *k\n"]
    if rng.random() < 0.1:
        fields = [f"x: &m {{kind: {_double(_FIELDS['kind'], rng)}}}\n", fields[0], "<<: *m\n"]
    rng.shuffle(fields) if "*" not in "".join(fields) else None
    plural = f"{_key('plural', rng)} {_value('widgets', rng)}\n".replace("\n", "\n    ").rstrip(" ")
    names = f"spec:\n  group: example.com\n  names:\n    kind: Widget\n    {plural}"
    return "".join(fields) + names + "  versions: []\n"


def _flow(rng: random.Random) -> str:
    fields = [f"{_double(name, rng)}: {rng.choice((_double, _tagged))(value, rng)}" for name, value in _FIELDS.items()]
    return f"{{{', '.join(fields)}, spec: {{}}}}\n"


def _json(rng: random.Random) -> str:
    def spelled(text: str) -> str:
        return '"' + "".join(f"\\u{ord(c):04x}" if rng.random() < 0.3 else c for c in text) + '"'

    fields = [f"{spelled(name)}: {spelled(value)}" for name, value in _FIELDS.items()]
    spec = json.dumps({"x": rng.choice(("a", "{{b}}", "\\"))})
    return f'{{{", ".join(fields)}, "spec": {spec}}}'


def _listed(text: str) -> str:
    indented = "".join(f"  {line}\n" for line in text.split("\n"))
    return f"apiVersion: v1\nkind: List\nitems:\n-\n{indented}"


def spelling(rng: random.Random) -> bytes:
    """A file in which Kubernetes may read a CRD; not all are valid YAML."""
    text = rng.choice((_yaml, _yaml, _yaml, _flow, _json))(rng)
    if rng.random() < 0.1:
        text = _listed(text)
    directive = rng.choice(_DIRECTIVES)
    if directive:
        text = f"{directive}---\n{text}"
    if rng.random() < 0.1:
        text = text.replace("\n", rng.choice(("\r\n", "\r")))
    coding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32"))
    data = text.encode(coding)
    data = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(coding, b"") + data
    before = rng.choice(("", "", "", "a: 1\n---\n", "---\n", "# first\n", '{"a": 1}\n', "\ufeff", "a: 1\n...\n---\n"))
    return before.encode() + data + (b"\n" if rng.random() < 0.8 else b"")

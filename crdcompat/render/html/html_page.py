"""One self-contained HTML file: template, style and script, with a policy that allows no others.

Text of manifests, files and refs cannot become markup: it is escaped, hidden characters are shown, its length bounded.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from crdcompat.render.escape import escape_text
from crdcompat.version import __version__
from crdcompat.yaml.dump import to_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.models.finding import Excerpt

_PARTS_AT_A_TIME = 50
_TEMPLATES = Path(__file__).parent / "templates"
#: The page loads and sends nothing, and turns no text into markup; only this style and script run.
_POLICY = (
    "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def page_parts(template: str, **values: Any) -> Iterator[str]:
    """The parts of a template as a page, one by one; every value passes ``inert``.

    A long list in ``values`` may be an iterable that makes its items.
    """
    style, script = (Markup((_TEMPLATES / name).read_text("utf-8")) for name in ("page.css", "page.js"))
    policy = Markup(_POLICY.format(style=_digest(style), script=_digest(script)))
    stream = _environment().get_template(template).stream(
        style=style, script=script, policy=policy, version=__version__, **values
    )  # fmt: skip
    stream.enable_buffering(_PARTS_AT_A_TIME)
    part = "\n"
    for part in stream:
        yield part
    if not part.endswith("\n"):
        yield "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=inert,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        lines=lines_block,
        yaml=yaml_block,
        excerpt=excerpt_block,
        prose=prose,
        data=as_data,
        words=words,
        kind=kind,
        arrow=arrow,
        code=code,
    )
    return environment


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


_MAX_INLINE, _MAX_BLOCK, _MAX_LINES = 4_000, 20_000, 400_000
_UNSAFE_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
#: The sign before the number of a line that differs from the other side.
_SIGNS = {"old": "−", "new": "+"}


def inert(value: Any) -> Any:
    """A value that a template prints: text escaped and cut, own markup unchanged."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return escape_text(_cut(value, _MAX_INLINE))


#: Terms of the report as words of a page.
_WORDS = {
    "loses-data": "loses data",
    "not-needed": "not needed",
    "main": "a write to the object",
    "status-write": "a write to /status",
}


def kind(block: Any) -> str:
    """The kind of a block."""
    return type(block).__name__


def arrow(text: str) -> str:
    """The text, or our own markup, with ``→`` for ``->``."""
    if isinstance(text, Markup):
        return Markup(str(text).replace(" -&gt; ", " → "))
    return text.replace(" -> ", " → ")


def words(term: str) -> str:
    """A term of the report as words of a page."""
    return _WORDS.get(term, term)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"


def as_data(value: Any) -> Markup:
    """JSON for a script element, in ASCII: nothing in it ends the element or starts a comment."""
    return Markup(ascii_json(value).translate(_UNSAFE_IN_SCRIPT))


def ascii_json(value: Any) -> str:
    """A value in one line of ASCII."""
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")


def block(text: str, most: int = _MAX_BLOCK) -> Markup:
    """Lines of text for a ``pre``."""
    return Markup("\n".join(_text(escape_text(line)) for line in _cut(text, most).rstrip("\n").split("\n")))


def lines_block(lines: Iterable[str]) -> Markup:
    """Many short lines for a ``pre``."""
    return block("\n".join(escape_text(line) for line in lines), _MAX_LINES)


def yaml_block(value: Any) -> Markup:
    """A JSON value as YAML for a ``pre``; a cut value ends with the number of characters left out."""
    return block(to_yaml(value))


def excerpt_block(excerpt: Excerpt) -> Markup:
    """Numbered lines for a ``pre``, without the indentation they share; a sign as well as an element marks some."""
    runs = (("".join(lines), names) for names, lines in _runs(excerpt))
    return Markup("".join(f'<mark class="{names}">{text}</mark>' if names else text for text, names in runs))


def _runs(excerpt: Excerpt) -> Iterator[tuple[str, list[str]]]:
    """Numbered lines, those marked alike together, with the classes of their element."""
    digits = len(str(excerpt.first + len(excerpt.lines)))
    indent = min((len(line) - len(line.lstrip(" ")) for line in excerpt.lines if line.strip()), default=0)
    numbered = enumerate(excerpt.lines, excerpt.first)
    for names, run in groupby(numbered, lambda each: _names(excerpt, each[0])):
        sign = _SIGNS[excerpt.side] if "changed" in names else " "
        here = "›" if "place" in names else " "
        yield (
            names,
            [
                f"<span>{here}{sign} {number:>{digits}}  {_text(escape_text(line[indent:]))}\n</span>"
                for number, line in run
            ],
        )


def _names(excerpt: Excerpt, number: int) -> str:
    marks = {"changed": number in excerpt.changed, "place": number == excerpt.line}
    return " ".join(name for name, applies in marks.items() if applies)


def _text(text: str) -> str:
    """Escape text between tags. Quotes stay: they are frequent, and need no escape there."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def prose(text: str) -> Markup:
    """Paragraphs and lists of our own rules; ``code`` between backticks."""
    return Markup("").join(_paragraph(part) for part in re.split(r"\n\s*\n", text.strip()))


def _paragraph(text: str) -> Markup:
    if not text.lstrip().startswith("- "):
        return Markup("<p>{}</p>").format(_spans(text))
    items = re.split(r"(?:^|\n)- ", text)[1:]
    return Markup("<ul>{}</ul>").format(Markup("").join(Markup("<li>{}</li>").format(_spans(item)) for item in items))


def code(text: str) -> Markup:
    """A line of text with its names between backticks as ``code``."""
    parts = re.split(r"`([^`]+)`", inert(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part for index, part in enumerate(parts)
    )


def _spans(text: str) -> Markup:
    parts = " ".join(text.split()).split("`")
    shown = (Markup("<code>{}</code>").format(part) if index % 2 else escape(part) for index, part in enumerate(parts))
    return Markup("").join(shown)

"""One self-contained file: the template filled in, with its style and script, and a policy that allows no other."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from crdcompat.report.html import text
from crdcompat.version import __version__

_TEMPLATES = Path(__file__).parent / "templates"
#: Nothing is loaded, sent, framed or made a page from text; only this very style and script count.
_POLICY = (
    "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def page(template: str, **values: Any) -> str:
    """The template as a page. Every value it prints is made inert first."""
    style, script = (Markup((_TEMPLATES / name).read_text("utf-8")) for name in ("page.css", "page.js"))
    policy = Markup(_POLICY.format(style=_digest(style), script=_digest(script)))
    shown = _environment().get_template(template).render(
        style=style, script=script, policy=policy, version=__version__, **values
    )  # fmt: skip
    return shown if shown.endswith("\n") else f"{shown}\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=text.inert,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        block=text.block,
        lines=text.lines_block,
        yaml=text.yaml_block,
        json=text.json_text,
        excerpt=text.excerpt_block,
        prose=text.prose,
        data=text.as_data,
    )
    return environment


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()

"""The names of properties as CEL identifiers, and back.

Source: k8s.io/apiserver/pkg/cel/escaping.go; docs/semantics.md#types-in-rules.
"""

from __future__ import annotations

import re
from functools import lru_cache

_IDENTIFIER = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")
_SYMBOLS = re.compile(r"__|\.|-|/")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED = re.compile("__(?:underscores|dot|dash|slash)__")
_SYMBOL_OF = {escaped: symbol for symbol, escaped in _ESCAPES.items()}
_RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)


@lru_cache(maxsize=4096)
def escape(name: str) -> str | None:
    """The CEL identifier of a property name; None if there is none, so that rules cannot read the property."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _IDENTIFIER.fullmatch(name):
        return None
    return _SYMBOLS.sub(lambda symbol: _ESCAPES[symbol.group()], name)


def is_reserved(name: str) -> bool:
    """Whether the name of a property is a reserved word, which rules may read without an escape, too, since 1.32."""
    return name in _RESERVED


def canonical(identifier: str) -> str:
    """The escaped identifier of a property."""
    return f"__{identifier}__" if is_reserved(identifier) else identifier


@lru_cache(maxsize=4096)
def unescape(identifier: str) -> str:
    """The property name of a CEL identifier. An identifier that ``escape`` never makes names itself."""
    if identifier.startswith("__") and (reserved := identifier[2:-2]) in _RESERVED and identifier.endswith("__"):
        return reserved
    name = _ESCAPED.sub(lambda found: _SYMBOL_OF[found.group()], identifier)
    return name if escape(name) == identifier else identifier

"""The parser of the CEL library: the text of a rule in, its syntax tree out.

Only this module imports the library, when the first rule is parsed.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from crdcompat.cel import syntax

#: cel-go's limit on a rule's length, in code points.
MAX_RULE_LENGTH = 100_000
_MAX_PARSED = 8192

#: The library's extensions with macros and operators, as the newest servers have them.
_EXTENSIONS = """\
extensions:
 - name: optional
   version: 2
 - name: two-var-comprehensions
 - name: lists
"""


class RefusedError(Exception):
    """The CEL library does not compile the rule."""


@cache
def library() -> Any:
    """The CEL library; its import costs time."""
    from cel_expr_python import cel

    return cel


def parse(rule: str) -> syntax.Parsed:
    """The tree of the text of a rule, parsed once per process. Raises RefusedError, RecursionError."""
    found = _parsed(rule)
    if isinstance(found, str):
        raise RefusedError(found)
    return found


@lru_cache(maxsize=_MAX_PARSED)
def _parsed(rule: str) -> syntax.Parsed | str:
    """The tree, or why there is none."""
    try:
        return syntax.read(compiled(_macros(), rule, disable_check=True).serialize())
    except RefusedError as error:
        return str(error)


@cache
def _macros() -> Any:
    cel = library()
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(_EXTENSIONS), variables={}, functions=[])


def compiled(environment: Any, rule: str, *, disable_check: bool = False) -> Any:
    """The expression of a rule in an environment of the library. Raises RefusedError."""
    if len(rule) > MAX_RULE_LENGTH:
        raise RefusedError(f"the rule is longer than {MAX_RULE_LENGTH} characters")
    try:
        return environment.compile(rule, disable_check=disable_check)
    except (UnicodeEncodeError, TypeError):
        raise RefusedError("the rule is not valid UTF-8") from None
    except RuntimeError as error:
        raise RefusedError(_plain(str(error))) from None


def _plain(text: str) -> str:
    return re.sub(r"\s*\[[A-Z_]+\]$", "", re.sub(r"^[A-Z_]+: ", "", text))

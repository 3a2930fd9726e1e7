"""Hides values of recorded and judged objects, so that a report can be published.

Members of an enum stay: the schema, which is public, lists them. So do true, false and null. Everything else may be
confidential, and so is all below a field that is named like a secret. Paths, names of objects and values of schemas
(defaults, example objects) stay as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crdcompat.apiserver.keywords import Keyword
from crdcompat.schema.listed_values import member_key, member_keys
from crdcompat.schema.paths import Pointer, node_at, schema_path_of
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.apiserver.admission import Verdict
    from crdcompat.apiserver.field_errors import FieldError

#: Names of fields whose values are secrets, also if they are members of an enum.
_SECRET = re.compile(
    "passw|secret|token|credential|bearer|auth[-_]?key|api[-_]?key|access[-_]?key|private[-_]?key|signing[-_]?key"
    "|encryption[-_]?key|kubeconfig",
    re.IGNORECASE,
)
#: Keywords whose errors show a type, a count, a name, or a value of the CRD.
_WITHOUT_VALUES = frozenset({
    Keyword.TYPE, Keyword.MIN_ITEMS, Keyword.MAX_ITEMS, Keyword.MIN_PROPERTIES, Keyword.MAX_PROPERTIES,
    Keyword.ADDITIONAL_PROPERTIES, Keyword.REQUIRED, Keyword.DEFAULT, Keyword.TYPE_META, Keyword.CRD,
    Keyword.NOT_CHECKED,
})  # fmt: skip


def redacted_error(error: FieldError, *roots: Node) -> FieldError:
    """The error without the value of the object, in the server's sentence; unchanged if nothing is to be hidden.

    ``roots`` are the schemas whose enums are public; the first is the one that judges.
    """
    if error.keyword in _WITHOUT_VALUES or (not error.fixed_detail and is_public(error.value, error.pointer, *roots)):
        return error
    detail = error.fixed_detail
    if detail and not _is_of_the_schema(error, roots[0]):
        detail = HIDDEN
    value = error.value
    if value is not ABSENT and not is_public(value, error.pointer, *roots):
        value = HIDDEN
    return (
        error
        if (value, detail) == (error.value, error.fixed_detail)
        else error._replace(value=value, fixed_detail=detail)
    )


def redacted_verdict(verdict: Verdict, root: Node) -> Verdict:
    """The answer to one write without values of the object."""
    return replace(
        verdict,
        errors=tuple(redacted_error(error, root) for error in verdict.errors),
        object=redacted_object(verdict.object, root) if verdict.object is not None else None,
        failure=verdict.redacted_failure or verdict.failure,
    )


def redacted_value(value: Any, pointer: Pointer, *roots: Node) -> Any:
    """A value at ``pointer`` with its members in place; each scalar that is not public is replaced."""
    if isinstance(value, dict):
        return {name: redacted_value(member, (*pointer, name), *roots) for name, member in value.items()}
    if isinstance(value, list):
        return [redacted_value(item, (*pointer, index), *roots) for index, item in enumerate(value)]
    return value if is_public(value, pointer, *roots) else HIDDEN


def redacted_object(obj: dict[str, Any], *roots: Node) -> dict[str, Any]:
    """An object with its apiVersion, kind, name and namespace as they are."""
    shown = redacted_value(obj, (), *roots)
    meta = obj.get("metadata")
    if isinstance(meta, dict):
        shown["metadata"].update({key: meta[key] for key in ("name", "namespace") if key in meta})
    return {**shown, **{key: obj[key] for key in ("apiVersion", "kind") if key in obj}}


def is_public(value: Any, pointer: Pointer, *roots: Node) -> bool:
    """Whether a value at this place of an object may be published."""
    is_secret = any(isinstance(step, str) and names_secret(step) for step in pointer)
    return is_public_at(value, _nodes(pointer, roots), is_secret=is_secret)


def is_public_at(value: Any, nodes: Iterable[Node], *, is_secret: bool) -> bool:
    """Whether a value whose schemas are ``nodes`` may be published; ``is_secret``: the name of a field says so."""
    if value is ABSENT or value is None:
        return True
    if is_secret or isinstance(value, (dict, list)):
        return False
    if isinstance(value, bool):
        return True
    key = member_key(value)
    return any(key in member_keys(node) for node in nodes)


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether a field of this name holds a secret, or where one is."""
    return _SECRET.search(name) is not None


def _nodes(pointer: Pointer, roots: tuple[Node, ...]) -> Iterator[Node]:
    """The schemas of a place."""
    for root in roots:
        node = node_at(root, schema_path_of(root, pointer))
        if node is not None:
            yield node


def _is_of_the_schema(error: FieldError, root: Node) -> bool:
    """Whether the detail is the message of a rule: other details, and messageExpressions, can quote the object."""
    if error.keyword is not Keyword.RULE or error.rule is None or error.fixed_detail is None:
        return False
    node = node_at(root, schema_path_of(root, error.pointer[: error.base]))
    rule = node.rules[error.rule] if node is not None and error.rule < len(node.rules) else None
    return rule is not None and str(rule.get("message")).strip() == error.fixed_detail.strip()

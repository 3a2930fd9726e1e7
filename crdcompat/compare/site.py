"""The values that facets work with: a site in both schemas, trials, and the reader's verdict on a trial."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import JUNCTORS, Keyword
from crdcompat.apiserver.metadata.object_names import NEARLY_SUBDOMAIN, SUBDOMAIN_LIMIT
from crdcompat.apiserver.scale import MAX_REPLICAS, REPLICAS_PATHS
from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.sample import number
from crdcompat.compare.changes import Change, Undecided
from crdcompat.schema.paths import Pointer, SchemaPath, node_at, render, value_at
from crdcompat.schema.structural import ABSENT, Node

#: Keywords whose errors do not concern one value of their own.
_INDIRECT = JUNCTORS | {Keyword.RANGE, Keyword.NOT_CHECKED}


class Site(Struct, frozen=True):
    """Two nodes at one path of the data, each with its pointer inside its schema document.

    ``in_junctor`` is set inside branches of anyOf, oneOf and allOf, which restrict the same data together with
    the other branches.
    """

    old: Node
    new: Node
    path: SchemaPath
    old_at: Pointer
    new_at: Pointer
    in_junctor: bool = False

    @property
    def reshaped(self) -> bool:
        """Whether the type changed. Members of values of different types are not compared. A resource is an object."""
        return bool(self.path) and self.old.types != self.new.types

    @property
    def lists_count(self) -> bool:
        """Whether rules that only list values count as enums. Not if nullable, because servers skip rules for null."""
        return not (self.old.nullable or self.new.nullable)

    def change(
        self, kind: str, old: Any, new: Any, *keywords: str, added: tuple[Any, ...] = (), removed: tuple[Any, ...] = ()
    ) -> Change:
        """A change of this node's ``keywords``, each side pointing at the first of them that it has."""
        old_at, new_at = self._places(keywords)
        return Change(kind, self.path, old, new, added, removed, old_at, new_at)

    def undecided(self, keyword: str, reason: str) -> Undecided:
        """A difference in ``keyword`` that cannot be decided, and why."""
        old, new = (_short(side.raw.get(keyword)) for side in (self.old, self.new))
        return Undecided(self.path, keyword, old, new, reason, *self._places((keyword,)))

    def _places(self, keywords: tuple[str, ...]) -> tuple[Pointer, Pointer]:
        return self._at(self.old, self.old_at, keywords), self._at(self.new, self.new_at, keywords)

    @staticmethod
    def _at(node: Node, at: Pointer, keywords: tuple[str, ...]) -> Pointer:
        return next(((*at, keyword) for keyword in keywords if keyword in node.raw), at)


def _short(value: Any) -> Any:
    """A value for the report: a schema is reduced to its type, because a whole subtree does not help the reader."""
    if isinstance(value, dict) and ("properties" in value or "items" in value or "additionalProperties" in value):
        return {key: value[key] for key in ("type",) if key in value}
    return value


def summary(node: Node) -> dict[str, Any]:
    """The keywords that a report shows for a property: type, enum and similar, not the whole subtree."""
    kept = (
        "type",
        "format",
        "enum",
        "default",
        "nullable",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    )
    return {keyword: node.raw[keyword] for keyword in kept if keyword in node.raw}


_NAME = ("metadata", "name")
_OF_NAMES = {"pattern": f"^{NEARLY_SUBDOMAIN}$", "maxLength": SUBDOMAIN_LIMIT}


def _counts_replicas(resource: Resource, path: SchemaPath) -> bool:
    """Whether the scale subresource has a path for its replicas."""
    scale = resource.version.scale
    return scale is not None and f".{render(path)}" in [scale.get(name) for name in REPLICAS_PATHS]


def _as_replicas(node: Node) -> Node:
    """The node with the limits of replicas."""
    raw = dict(node.raw)
    if number(raw.get("minimum"), -1) < 0:
        raw |= {"minimum": 0, "exclusiveMinimum": False}
    if number(raw.get("maximum"), math.inf) > MAX_REPLICAS:
        raw |= {"maximum": MAX_REPLICAS, "exclusiveMaximum": False}
    return Node(raw)


class WriterReader(Struct, frozen=True):
    """The pair for one direction: ``reader`` reads objects that are valid under ``writer``."""

    writer: Resource
    reader: Resource

    def nodes(self, path: SchemaPath) -> tuple[Node | None, Node | None]:
        """The writer's and the reader's node at ``path``; None where a schema does not describe its values.

        The writer's node of the object's name has the limits of all names (docs/semantics.md#metadata), that of
        replicas the limits of the scale subresource (docs/semantics.md#scale).
        """
        writer, reader = node_at(self.writer.node, path), node_at(self.reader.node, path)
        if path == _NAME and writer is not None:
            writer = Node({**writer.raw, "allOf": [*(branch.raw for branch in writer.all_of), _OF_NAMES]})
        elif writer is not None and writer.type == "integer" and _counts_replicas(self.writer, path):
            writer = _as_replicas(writer)
        return writer, reader

    def question(self, *about: Any) -> bytes:
        """What an answer about these servers and ``about`` depends on, as the input of a kept answer."""
        return repr((self.writer.identity, self.reader.identity, about)).encode()


class Trial(Struct, frozen=True):
    """A candidate value that, at ``path`` of a valid object, may show the effect; ABSENT: the field is left out.

    ``label`` is the value that the report names for it, ABSENT if none (null is a value). The effect is expected at
    ``at``, by default the change's own path. ``stored``: the value that an update replaces, ABSENT if the trial is no
    update. ``adds``: the effect concerns the first value at the path, so a stored object may lack it.
    """

    value: Any
    path: SchemaPath
    label: Any = ABSENT
    at: SchemaPath | None = None
    stored: Any = ABSENT
    adds: bool = False


class Trials(Struct, frozen=True):
    """The candidate values of a proof; ``complete`` if no other value could show the effect.

    ``why``: the reason why there is no candidate, if it is more than that none could be made.
    """

    values: tuple[Trial, ...]
    complete: bool = False
    why: str = ""


class ReaderVerdict(Struct, frozen=True):
    """The reader's verdict on an example object at one ``pointer``; ``field`` is the pointer as text.

    ``change`` is the change that the object is to prove.
    """

    verdict: Verdict
    pointer: Pointer
    field: str
    change: Change

    def rejects_below(self) -> bool:
        """Whether there is an error at the pointer or below it, or a junctor at the pointer fails."""
        place, depth = self.pointer, len(self.pointer)
        # All errors are below the root, so for the root only errors at the root itself count.
        return self.breaks(*JUNCTORS) or any(
            error.pointer[:depth] == place if depth else not error.pointer for error in self._placed()
        )

    def breaks(self, *keywords: Keyword) -> bool:
        """Whether one of these keywords fails at the pointer."""
        return any(error.pointer == self.pointer and error.keyword in keywords for error in self.verdict.errors)

    def breaks_below(self, *keywords: Keyword) -> bool:
        """Whether one of these keywords fails at the pointer or below it."""
        place, depth = self.pointer, len(self.pointer)
        return any(error.pointer[:depth] == place and error.keyword in keywords for error in self.verdict.errors)

    def breaks_a_rule(self, texts: Collection[str]) -> bool:
        """Whether one of these CEL rules of the value at the pointer fails. A fieldPath moves its error to a member."""
        rules = (error for error in self.verdict.errors if error.keyword is Keyword.RULE and error.demand in texts)
        return any(error.pointer[: error.base] == self.pointer for error in rules)

    def _placed(self) -> Iterator[FieldError]:
        """The errors of single values: not those of junctors and ranges, which accompany them."""
        return (error for error in self.verdict.errors if error.keyword not in _INDIRECT)

    def prunes(self) -> bool:
        """Whether the field, or something below it, is pruned as unknown."""
        if not self.pointer:
            return bool(self.verdict.pruned)
        below = (f"{self.field}.", f"{self.field}[")
        return any(path == self.field or path.startswith(below) for path in self.verdict.pruned)

    def loses(self) -> bool:
        """Whether the stored object lacks the field (an unknown field, or a dropped null)."""
        if self.verdict.object is None:
            return False
        try:
            value_at(self.verdict.object, self.pointer)
        except LookupError:
            return True
        return False

    def defaults(self) -> bool:
        return self.field in self.verdict.defaulted

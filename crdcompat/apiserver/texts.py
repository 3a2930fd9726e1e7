"""Lengths and patterns of texts (reference section 3.3)."""

from __future__ import annotations

from dataclasses import field

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import INVALID, TOO_LONG, FieldError, Unknown
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.wording import schema_field
from crdcompat.records import dataclass
from crdcompat.schema.paths import Trail, pointer_at
from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern
from crdcompat.schema.structural import Node

#: So long, in characters, is a text that is worth remembering, and so many of them: reasons and the like recur.
_LONGEST_REMEMBERED, _MOST_REMEMBERED = 64, 256


@dataclass(frozen=True, slots=True)
class Texts:
    """The text keywords of one node; ``unknown`` says why its pattern cannot be told.

    ``passed`` are texts that were checked and found right.
    """

    server: Server
    min_length: int | None
    max_length: int | None
    pattern: Pattern | None
    unknown: str
    passed: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, node: Node, server: Server) -> Texts | None:
        """What a node demands of texts, None where it demands nothing."""
        source = node.raw.get("pattern")
        compiled = compile_pattern(source) if isinstance(source, str) and source else None
        unknown = f"pattern {source}: {compiled}" if isinstance(compiled, PatternError) else ""
        pattern = None if isinstance(compiled, PatternError) else compiled
        found = cls(server, node.count("minLength"), node.count("maxLength"), pattern, unknown)
        demanding = (found.min_length, found.max_length, pattern) != (None,) * 3 or unknown
        return found if demanding else None

    def check(self, value: str, path: Trail, out: list[FieldError], unknown: list[Unknown]) -> None:
        """Only the first failing of maxLength, minLength and pattern is reported. Lengths count code points."""
        length = len(value)
        if self.max_length is not None and length > self.max_length:
            kind = TOO_LONG if self.server.does("typed_errors") else INVALID
            out.append(FieldError(kind, pointer_at(path), Keyword.MAX_LENGTH, value, self.server, self.max_length))
        elif self.min_length is not None and length < self.min_length:
            out.append(FieldError(INVALID, pointer_at(path), Keyword.MIN_LENGTH, value, self.server, self.min_length))
        elif self.pattern is not None and not self.pattern.search(value):
            source = self.pattern.source
            out.append(FieldError(INVALID, pointer_at(path), Keyword.PATTERN, value, self.server, source))
        elif self.unknown:
            unknown.append(Unknown(schema_field(pointer_at(path), self.server), "pattern", self.unknown))
        elif length <= _LONGEST_REMEMBERED and len(self.passed) < _MOST_REMEMBERED:
            self.passed.add(value)

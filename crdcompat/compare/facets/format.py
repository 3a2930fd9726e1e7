"""Formats that a server checks (docs/semantics.md#formats); servers ignore other formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from crdcompat.apiserver.formats import matches, supported
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.languages import language
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import values
from crdcompat.candidates.strings import POOL
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, breaks
from crdcompat.compare.limit_facets import BOUNDS, Range, changes_range, range_of
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.compare.union import either
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"format"})
_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {"format.changed": Effects(rollback=_REJECTED, upgrade=_REJECTED)}

_BEYOND: dict[str, tuple[Any, ...]] = {"number": (1e39, -1e39), "integer": (2**31, -(2**31) - 1, 2**53)}
#: Format -> the numbers that have it.
_RANGES = {"int32": Range(-(2**31), 2**31 - 1), "float": Range(-3.4e38, 3.4e38)}
#: Strings whose format depends on the server.
_DISPUTED = ("http://fd00::1",)
#: A duration whose number has more than 64 bits, which patterns of durations allow.
_LONG = (f"{10**19}h",)
#: Formats with the range that their type has anyway.
_WHOLE_RANGE = frozenset({"int64", "double"})
_MAX_TRIALS = 6
#: Keywords of an int-or-string that can be any.
_EITHER = [{"type": "integer"}, {"type": "string"}]
_OF_INT_OR_STRING = frozenset({"x-kubernetes-int-or-string", "anyOf", "nullable", "default", "description", "title"})
#: Format -> a pattern whose strings all have it. Durations have 64 bits of nanoseconds, which is 292 years.
_SURE = {"duration": "^([0-9]{1,5}(ns|us|ms|s|m|h)){1,20}$"}
#: Format -> a pattern of all strings that have it, and of more. What else another pattern allows lacks the format.
_BYTE = "0*[0-9]{1,3}"
_IPV4, _IPV6 = rf"{_BYTE}(\.{_BYTE}){{3}}", "[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"
_AT_MOST = {"ipv4": f"^{_IPV4}$", "ipv6": f"^{_IPV6}$", "cidr": f"^({_IPV4}|{_IPV6})/{_BYTE}$"}


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old, site.new
    if old.format.replace("-", "") == new.format.replace("-", "") or changes_range(old, new):
        return
    if old.types and new.types and set(old.types).isdisjoint(new.types):
        return  # no value is of both types: the change of the type says all
    if _is_widened(old, new) or _is_widened(new, old):
        return  # the change of the type says that one side takes less
    yield site.change("format.changed", old.format or None, new.format or None, "format")


def _is_widened(narrow: Node, wide: Node) -> bool:
    """Whether integers became any int-or-string: an int32 an ``intstr.IntOrString``, which holds no larger numbers."""
    is_any = wide.int_or_string and wide.raw.keys() <= _OF_INT_OR_STRING
    return narrow.type == "integer" and is_any and wide.raw.get("anyOf", _EITHER) == _EITHER


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values of the writer's format that violate the reader's; none if the reader's server does not check it."""
    from crdcompat.schema.regex import Language, only_in

    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    if not supported(reader.format, reader.type, pair.reader.server) or reader.format in _WHOLE_RANGE:
        return Trials((), complete=True)
    if reader.type in _BEYOND:
        numbers = [value for value in writer.enum if isinstance(value, (int, float))] or _BEYOND[reader.type]
        fits = _RANGES[reader.format].contains(range_of(writer, BOUNDS))
        return Trials(tuple(Trial(each, change.path) for each in numbers), complete=fits or bool(writer.enum))
    if reader.format in _SURE and only_in(language(writer), Language.from_pattern(_SURE[reader.format])) == (None, ""):
        return Trials((), complete=True)  # a pattern took the place of the format
    writes, reads = NodeJudge(writer, pair.writer.server), _accepts(reader, pair.reader.server)
    at_most = _AT_MOST.get(reader.format)
    beyond = None if at_most is None else only_in(language(writer), Language.from_pattern(at_most))[0]
    candidates = (
        text for text in (*filter(None, [beyond]), *_texts(writer)) if not reads(text) and writes.accepts(text)
    )
    return Trials(tuple(Trial(text, change.path) for text in islice(candidates, _MAX_TRIALS)))


def _accepts(node: Node, server: Server) -> Callable[[str], bool]:
    """Whether a string has the format of a node, if the server enforces that."""
    enforced = supported(node.format, node.type, server)
    return lambda text: not enforced or matches(node.format, text, server)


def _texts(writer: Node) -> Iterator[str]:
    yield from (value for value in values(writer) if isinstance(value, str))
    yield from POOL
    yield from (*_DISPUTED, *_LONG)


FACET = Facet(
    KEYWORDS, EFFECTS, changes, trials, breaks(Keyword.FORMAT, Keyword.TYPE, Keyword.RANGE), widen=either(KEYWORDS)
)

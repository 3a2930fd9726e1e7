"""Reduce recorded YAML to the types and identities of its objects, if no release has a CRD for any of them.

Two thirds of a must-gather are built-in kinds: ReplicaSets, Services, ImageStreams. A replay only counts them. Cutting
a text by lines needs a tenth of the time of parsing it.

The cut relies on the block style of `oc` and `kubectl`: a body is indented below its key. `read_block` parses the rest.
It refuses lines that could have another meaning: quoted keys, flow style, anchors, keys in the first column twice. Such
a document is parsed as a whole. A fault in a body that was cut goes unnoticed; no result depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import product

from crdcompat.recordings.telling_kinds import ALWAYS_READ


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.MULTILINE)


def _bodies(column: int, kept: str) -> str:
    """A pattern for the keys of one column except for the ``kept`` ones, with all lines below them."""
    indent = " " * column
    return rf"^{indent}(?!(?:{kept}):)[A-Za-z]\w*+:.*+\n(?>(?:(?:{indent}[ -].*+)?\n)*)"


_TYPE, _IDENTITY = "apiVersion|kind|metadata|items", "name|namespace|uid"
#: The lines with the type of the document, and with the types of the items of a List; values on one line only. Python
#: finds lines behind their line breaks, with one before the text, six times as quickly as starts of lines.
_OWN_TYPE = _compiled(r"\n(apiVersion|kind):(.*)$(?!\n )")
_ITEM_TYPE = _compiled(r"\n(?:- |  )(apiVersion|kind):(.*)$(?!\n   )")
_PLAIN = _compiled(r" ([A-Za-z][\w./-]*)")
#: A line of a List in the first column that is no item and no key of a List: below it may be an object of its own.
_OTHER = _compiled(rf"\n(?!(?:{_TYPE}):|-)[^\s#]")
#: The cut parts of an object and of the items of a List, and the uid that each object must still have.
_OF_OBJECT = _compiled(_bodies(0, _TYPE) + "|" + _bodies(2, _IDENTITY))
_UID = _compiled(r"\nmetadata:\n(?:  .*\n)*?  uid: \w+(?:-\w+){4}$(?!\n   )")
_OF_ITEMS = _compiled(_bodies(2, _TYPE) + "|" + _bodies(4, _IDENTITY))
_UID_OF_ITEM = _compiled(r"\n(?:- |  )metadata:\n(?:    .*\n)*?    uid: \w+(?:-\w+){4}$(?!\n     )")


def reducer(kinds: Iterable[tuple[str, str]]) -> Callable[[bytes], bytes | None]:
    """A function that reduces the text of a document to types and identities, or returns None: parse the whole text.

    ``kinds`` are the (group, kind) of the releases. A document that may contain an object of these kinds is parsed as
    a whole. So is an object without a uid, because its content identifies it.
    """
    known = ALWAYS_READ.union(kinds)
    return lambda text: _reduced(text, known)


def _reduced(text: bytes, known: Collection[tuple[str, str]]) -> bytes | None:
    lines = b"\n" + text
    own = _types(_OWN_TYPE, lines)
    if own is None or any(len(own[key]) != 1 for key in own):
        return None
    kind = own["kind"][0]
    if not kind.endswith("List"):
        return None if _overlaps(own, known) else _cut(text, _OF_OBJECT, _UID, 1)
    items, count = _types(_ITEM_TYPE, lines), text.count(b"\n- ") if b"\nitems:\n- " in text else 0
    if items is None or not count or _OTHER.search(lines) or any(each.endswith("List") for each in items["kind"]):
        return None
    # A FooList of the API server has no types at its items. Otherwise each item must have both apiVersion and kind.
    typed = {len(found) for found in items.values()}
    if typed != {count} and (typed != {0} or kind == "List"):
        return None
    types = {**items, "apiVersion": [*items["apiVersion"], *own["apiVersion"]]}
    types["kind"] = [*items["kind"], kind.removesuffix("List")]
    return None if _overlaps(types, known) else _cut(text, _OF_ITEMS, _UID_OF_ITEM, count)


def _types(pattern: re.Pattern[bytes], lines: bytes) -> dict[str, list[str]] | None:
    """The values of apiVersion and of kind on the lines that match; None if one is not plain text."""
    found: dict[str, list[str]] = {"apiVersion": [], "kind": []}
    for key, value in pattern.findall(lines):
        plain = _PLAIN.fullmatch(value)
        if plain is None:
            return None
        found[key.decode()].append(plain[1].decode())
    return found


def _overlaps(types: dict[str, list[str]], known: Collection[tuple[str, str]]) -> bool:
    """Whether one of the groups with one of the kinds is known."""
    groups = {api_version.rpartition("/")[0] for api_version in types["apiVersion"]}
    return any(each in known for each in product(groups, set(types["kind"])))


def _cut(text: bytes, bodies: re.Pattern[bytes], uid: re.Pattern[bytes], objects: int) -> bytes | None:
    left = bodies.sub(b"", text)
    return left if len(uid.findall(b"\n" + left)) == objects else None

"""Two readers of YAML: the fast one of plain block style, and libyaml, which decides what is right."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from typing import Any

import yaml
from msgspec import Struct

from crdcompat.yaml.block import read_block
from crdcompat.yaml.loader import GoLoader

#: Pieces of text that change the meaning of YAML where they are put.
_PIECES = [
    *(b" ", b"  ", b"\n", b"\n\n", b"   \n", b"- ", b"-", b"- - ", b":", b": ", b"#", b" #", b"'", b'"', b"''", b"\\"),
    *(b"# c\n", b"    # c\n", b"|2-\n", b"|1+", b"|3"),
    *(b"|", b"|-", b"|+", b"|2", b">", b"{}", b"[]", b"[", b"{", b",", b"&a", b"*a", b"!t", b"? ", b"?", b"<<", b"="),
    *(b"---\n", b"...\n", b"%", b"@", b"`", b"\t", b"\r", b"\0", b"\x7f", b"\xc3\xa9", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(b"a", b"~", b"1", b"010", b"0x1f", b"0o7", b"1e3", b".5", b".inf", b".nan", b"1_000", b"12:30", b"y", b"null"),
    *(b"true", b"-1", b"99999999999999999999", b"9223372036854775808", b"\\n", b"\\x41", b"\\ ", b"\\\n", b"\\\n\n"),
    *(b"a: b\n", b"  a: b\n", b"- a\n", b"  - a\n", b"\xef\xbb\xbf"),
]  # fmt: skip


class Parse(Struct, frozen=True):
    """A document: its first line from 1, the ``repr`` of its data (1 is not True), and the marks of its values."""

    line: int
    data: str
    marks: array[int]


def by_block(text: bytes) -> Parse | None:
    """The document in plain block style; None if it is in another."""
    found = read_block(text)
    return None if found is None else Parse(found.line, repr(found.data), found.marks)


def by_libyaml(text: bytes) -> Parse | None:
    """The only document of the text; None if it has none, several, errors, or remarks."""
    loader = GoLoader(text)
    try:
        loader.start_document()
        if not loader.check_node():
            return None
        node: Any = loader.get_node()
        data = loader.construct_document(node)
        if loader.check_node() or loader.remarks or loader.has_uint64 or loader.positions is None:
            return None
    except yaml.YAMLError:
        return None
    finally:
        loader.dispose()
    return Parse(node.start_mark.line + 1, repr(data), loader._marks)


def mutated(text: bytes, rng: random.Random) -> bytes:
    """The text after one to three small changes: of pieces, of indents, of whole lines."""
    if rng.random() < 0.5:
        lines = text.split(b"\n")
        text = b"\n".join([*lines[: rng.randrange(len(lines))], b""])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = _changed(text, rng)
    return text


def _changed(text: bytes, rng: random.Random) -> bytes:
    at, kind = rng.randrange(len(text) + 1), rng.random()
    if kind < 0.6:
        return text[:at] + rng.choice(_PIECES) + text[at:]
    if kind < 0.7:
        return text[:at] + text[at + rng.randrange(1, 4) :]
    if kind < 0.8:
        return text[:at] + b"\n" + b" " * rng.randrange(6) + text[at:]
    lines = text.split(b"\n")
    _change_line(lines, rng.randrange(len(lines)), rng)
    return b"\n".join(lines)


def _change_line(lines: list[bytes], at: int, rng: random.Random) -> None:
    kind, columns = rng.randrange(4), rng.randrange(1, 4)
    if kind == 0:
        lines[at] = b" " * columns + lines[at]
    elif kind == 1:
        lines[at] = lines[at][columns:]
    elif kind == 2:
        lines.insert(rng.randrange(len(lines)), lines[at])
    else:
        del lines[at]


def differing(texts: Sequence[bytes], rng: random.Random, cases: int) -> tuple[list[bytes], int]:
    """The mutations that both readers read and read differently, or only the fast one reads; how many it read."""
    wrong, read = [], 0
    for _ in range(cases):
        text = mutated(rng.choice(texts), rng)
        if (found := by_block(text)) is not None:
            read += 1
            if found != by_libyaml(text):
                wrong.append(text)
    return wrong, read

"""Spellings of YAML and JSON by which a word is not found in the bytes of a file that Kubernetes reads with that word.

Kubernetes' YAML reader builds a word from parts in four ways only: escapes and broken lines in double quotes, base64
behind the tag ``!!binary``, and UTF-16. The first two are undone here, so that a search for words is a proof. Files
with the other two have to be parsed. A string can hold a manifest of its own (a ConfigMap): escapes of escapes count.
"""

from __future__ import annotations

import re

from crdcompat.sources.encoding import WIDE_MARKS, legible

#: The hexadecimal digits of a printable ASCII character, behind ``\\x``, ``\\u00`` or ``\\U000000``. The patterns begin
#: with one backslash, and more of them follow: Python looks for that ten times as quickly as for one or more.
PRINTABLE_ESCAPE = r"\\\\*(?:x|u00|U000000)((?!7[fF])[2-7][0-9a-fA-F])"
_ESCAPE = re.compile(PRINTABLE_ESCAPE.encode())
#: A broken line in double quotes. YAML breaks lines at CR, NEL, LS and PS, too; Kubernetes takes CRLF for LF before.
#: Behind several backslashes, in a string that holds another one, the break itself can be an escape.
_BREAK = rb"\r+\n?|\n|\xc2\x85|\xe2\x80[\xa8\xa9]"
_WRITTEN = rb"[nrNLP]|(?:x|u00|U000000)(?:0[aAdD]|85)|(?:u|U0000)202[89]"
_BROKEN = re.compile(rb"\\\\*(?:%b)[ \t]*+|\\\\\\*(?:%b)[ \t]*+" % (_BREAK, _WRITTEN))
#: Each spelling of the tag ``!!binary`` begins with one of these: the tag of a prefix, the whole tag, a prefix of one's
#: own; and UTF-16 begins with its byte order mark, also in the second document of a file.
BINARY_TAGS = ("!!bi", "!!b%", "!!%", "!<", "%TAG")
_UNDECIPHERED = re.compile(b"|".join(map(re.escape, (*map(str.encode, BINARY_TAGS), *WIDE_MARKS))))
#: Escapes of escapes, deeper than any file of people has them.
_ROUNDS = 4


def deciphered(data: bytes) -> bytes | None:
    """The bytes with escaped characters and broken lines undone; None if only a parser can tell the words.

    A word of a value that Kubernetes reads in the file is in these bytes. The bytes are no YAML.
    """
    text = legible(data)
    for _ in range(_ROUNDS):
        if b"\\" not in text:
            break
        plain = _BROKEN.sub(b"", _ESCAPE.sub(_character, text))
        if plain == text:
            break
        text = plain
    else:
        return None
    return None if _UNDECIPHERED.search(text) else text


def _character(escape: re.Match[bytes]) -> bytes:
    return bytes.fromhex(escape[1].decode())

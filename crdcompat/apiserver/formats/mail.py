"""E-mail addresses as Go's ``net/mail.ParseAddress`` parses them: RFC 5322 with Go's deviations."""

from __future__ import annotations

from crdcompat.apiserver.ascii_sets import BASE64, HEX
from crdcompat.apiserver.formats.network import is_ip

_SPECIALS = frozenset('()<>[]:;@\\,"')
_DOMAIN_LITERAL_STOPS = frozenset("[]\\")
_KNOWN_CHARSETS = ("utf-8", "iso-8859-1", "us-ascii")


class _Malformed(Exception):  # noqa: N818 - control flow inside this module
    """The text is not an address."""


def is_email(text: str) -> bool:
    """One address: ``a@b``, ``Name <a@b>``, ``a@b (Name)``, or a group of one."""
    reader = _Reader(text)
    try:
        count = reader.address(group_allowed=True)
        reader.skip_comments()
    except _Malformed:
        return False
    return count == 1 and reader.at_end


class _Reader:
    """A recursive-descent parser. Methods advance over their part of the text, or raise _Malformed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._text)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, char: str) -> bool:
        if self._peek() != char:
            return False
        self._at += 1
        return True

    def _skip_space(self) -> None:
        while not self.at_end and self._text[self._at] in " \t":
            self._at += 1

    def address(self, *, group_allowed: bool) -> int:
        """Read one address or a group; return the number of addresses."""
        self._skip_space()
        start = self._at
        try:
            self._addr_spec()
        except _Malformed:
            self._at = start
        else:
            self._skip_space()
            if self._take("("):
                _check_words(self._comment())
            return 1
        if self._peek() != "<":
            self._phrase()
        self._skip_space()
        if group_allowed and self._take(":"):
            return self._group()
        if not self._take("<"):
            raise _Malformed
        self._addr_spec()
        if not self._take(">"):
            raise _Malformed
        return 1

    def _group(self) -> int:
        count = 0
        self._skip_space()
        while not self._take(";"):
            if count and not self._take(","):
                raise _Malformed
            self._skip_space()
            count += self.address(group_allowed=False)
            self.skip_comments()
        self.skip_comments()
        return count

    def _addr_spec(self) -> None:
        self._skip_space()
        if self._peek() == '"':
            if not self._quoted_string():
                raise _Malformed
        else:
            self._atom(strict_dots=True)
        if not self._take("@"):
            raise _Malformed
        self._skip_space()
        if self._take("["):
            self._domain_literal()
        else:
            self._atom(strict_dots=True)

    def _domain_literal(self) -> None:
        start = self._at
        while (
            not self.at_end and _is_visible(self._text[self._at]) and self._text[self._at] not in _DOMAIN_LITERAL_STOPS
        ):
            self._at += 1
        literal = self._text[start : self._at]
        if not self._take("]") or not is_ip(literal):
            raise _Malformed

    def _phrase(self) -> None:
        """Read words. An error in the first raises; an error in a later one ends the phrase, and the caller fails."""
        words = 0
        while True:
            if words:
                self.skip_comments()
            self._skip_space()
            if self.at_end:
                return
            try:
                if self._peek() == '"':
                    self._quoted_string()
                else:
                    _check_words(self._atom(strict_dots=False))
            except _Malformed:
                if not words:
                    raise
                return
            words += 1

    def _quoted_string(self) -> bool:
        """Read a quoted string; return whether it is not empty."""
        at, escaped = self._at + 1, False
        while at < len(self._text):
            char = self._text[at]
            if char == '"' and not escaped:
                anything = at > self._at + 1
                self._at = at + 1
                return anything
            if not _is_visible(char) and char not in " \t":
                raise _Malformed
            escaped = char == "\\" and not escaped
            at += 1
        raise _Malformed

    def _atom(self, *, strict_dots: bool) -> str:
        start = self._at
        while not self.at_end and _is_visible(self._text[self._at]) and self._text[self._at] not in _SPECIALS:
            self._at += 1
        atom = self._text[start : self._at]
        if not atom or (strict_dots and (atom[0] == "." or atom[-1] == "." or ".." in atom)):
            raise _Malformed
        return atom

    def skip_comments(self) -> None:
        self._skip_space()
        while self._take("("):
            self._comment()
            self._skip_space()

    def _comment(self) -> str:
        """Read a comment after its opening bracket; return its text. Comments nest."""
        depth, kept = 1, []
        while depth and not self.at_end:
            char = self._text[self._at]
            if char == "\\" and self._at + 1 < len(self._text):
                self._at += 1
                char = self._text[self._at]
            elif char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
            if depth:
                kept.append(char)
            self._at += 1
        if depth:
            raise _Malformed
        return "".join(kept)


def _is_visible(char: str) -> bool:
    return "!" <= char <= "~" or char >= "\x80"


def _check_words(text: str) -> None:
    """Raise _Malformed for a well-formed RFC 2047 encoded word in a charset that Go does not support."""
    for word in text.replace("\t", " ").split(" "):
        if len(word) < 8 or not word.startswith("=?") or not word.endswith("?=") or word.count("?") != 4:
            continue
        charset, encoding, content = word[2:-2].split("?")
        if charset and charset.lower() not in _KNOWN_CHARSETS and _is_decodable(encoding, content):
            raise _Malformed


def _is_decodable(encoding: str, content: str) -> bool:
    if encoding in ("b", "B"):
        content = content.replace("\r", "").replace("\n", "")
        body = content.removesuffix("=").removesuffix("=")
        return len(content) % 4 == 0 and body.strip(BASE64) == ""
    if encoding not in ("q", "Q") or any(not (" " <= char <= "~" or char in "\n\r\t") for char in content):
        return False
    return all(len(part) >= 2 and HEX.issuperset(part[:2]) for part in content.split("=")[1:])

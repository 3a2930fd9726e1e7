"""Sets of ASCII characters for formats and names."""

from __future__ import annotations

import string

DIGITS = frozenset(string.digits)
HEX = frozenset(string.hexdigits)
ALNUM = frozenset(string.ascii_letters + string.digits)
BASE64 = string.ascii_letters + string.digits + "+/"

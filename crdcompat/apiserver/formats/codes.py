"""Formats with a fixed shape: identifiers, numbers with check digits, colours, base64, Kubernetes names."""

from __future__ import annotations

import re
import string

from crdcompat.apiserver.ascii_sets import BASE64, HEX

#: Patterns that few CRDs ask for: `re` compiles one when it is first used, and keeps it.
_CREDIT_CARD = (
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)
_SSN = r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"
_RGB = r"rgb\({0},{0},{0}\)".replace("{0}", r"[\t\n\f\r ]*(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*")
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_ISBN_FILLERS = str.maketrans("", "", "\t\n\f\r -")


def _uuid(version: str, variant: str) -> str:
    any_ = "[0-9a-fA-F]"
    return f"{any_}{{8}}-?{any_}{{4}}-?{version}{any_}{{3}}-?{variant}{any_}{{3}}-?{any_}{{12}}"


_UUID = _uuid("[0-9a-fA-F]", "[0-9a-fA-F]")
_UUID3 = _uuid("3", "[0-9a-fA-F]")
_UUID4 = _uuid("4", "[89abAB]")
_UUID5 = _uuid("5", "[89abAB]")


def is_uuid(text: str) -> bool:
    return re.fullmatch(_UUID, text) is not None


def is_uuid3(text: str) -> bool:
    return re.fullmatch(_UUID3, text) is not None


def is_uuid4(text: str) -> bool:
    return re.fullmatch(_UUID4, text) is not None


def is_uuid5(text: str) -> bool:
    return re.fullmatch(_UUID5, text) is not None


def is_bson_object_id(text: str) -> bool:
    """Twelve bytes as hexadecimal digits."""
    return len(text) == 24 and HEX.issuperset(text)


def is_byte(text: str) -> bool:
    """Base64 of the standard alphabet with padding, and not empty."""
    body = text.removesuffix("=").removesuffix("=")
    return text != "" and len(text) % 4 == 0 and body.strip(BASE64) == ""


def is_isbn10(text: str) -> bool:
    digits = text.translate(_ISBN_FILLERS)
    if len(digits) != 10 or not _digits(digits[:9]) or not (_digits(digits[9]) or digits[9] == "X"):
        return False
    last = 10 if digits[9] == "X" else int(digits[9])
    return (sum(place * int(digit) for place, digit in enumerate(digits[:9], 1)) + 10 * last) % 11 == 0


def is_isbn13(text: str) -> bool:
    digits = text.translate(_ISBN_FILLERS)
    if len(digits) != 13 or not _digits(digits):
        return False
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0


def is_credit_card(text: str) -> bool:
    """A card number of a known issuer with a valid check digit. Other characters than digits are ignored."""
    digits = "".join(char for char in text if char in string.digits)
    if re.fullmatch(_CREDIT_CARD, digits) is None:
        return False
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 if n > 9 else n for n in doubled)) % 10 == 0


def is_ssn(text: str) -> bool:
    return re.fullmatch(_SSN, text) is not None


def is_hex_color(text: str) -> bool:
    digits = text.removeprefix("#")
    return len(digits) in (3, 6) and HEX.issuperset(digits)


def is_rgb_color(text: str) -> bool:
    return re.fullmatch(_RGB, text) is not None


def is_short_name(text: str) -> bool:
    """An RFC 1123 label in lower case."""
    return len(text) <= 63 and _NAME.fullmatch(text) is not None


def is_long_name(text: str) -> bool:
    """Labels joined by dots, without a limit on the length of a label."""
    return len(text) <= 253 and all(_NAME.fullmatch(part) is not None for part in text.split("."))


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()

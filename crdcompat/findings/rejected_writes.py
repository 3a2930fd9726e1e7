"""Words for the writes that a server rejects and spares: of an object that breaks its schema, some still pass."""

from __future__ import annotations

from collections.abc import Collection
from string import ascii_uppercase

from crdcompat.compare.result import Judged
from crdcompat.vocabulary.writes import OF_THE_REST, Spared, WriteKind

#: The writes that change a part of the object, whatever in it.
_OF_PARTS = {"spec": WriteKind.SPEC_UPDATE, "status": WriteKind.STATUS_UPDATE}
#: An abbreviation of two letters, and the first one of the next word.
_SHORT = 3
#: First letters of kinds that take "an", and those that do in an abbreviation: an HTTPRoute.
_VOWELS, _SPELLED = ("A", "E", "I", "O", "Up", "Un"), frozenset("FHLMNRSX")


def writes_of(kind: str, rejected: Collection[WriteKind] | None, *, is_every: bool) -> str:
    """The writes that a server rejects, in a sentence that goes on with what the object holds.

    ``rejected`` are the kinds of write that fail, None if unknown; ``is_every``: none of these is spared.
    """
    a_kind = with_article(kind)
    if is_every and (rejected is None or not OF_THE_REST.isdisjoint(rejected)):
        return f"every write of {a_kind}"
    part = _part_of(rejected or ()) if is_every else ""
    return f"every update of the {part} of {a_kind}" if part else f"writes of {a_kind}"


def _part_of(rejected: Collection[WriteKind]) -> str:
    """The part of an object that no update can change, where updates of the other parts pass; "" if there is none."""
    if not OF_THE_REST.isdisjoint(rejected):
        return ""
    return " or ".join(part for part, kind in _OF_PARTS.items() if kind in rejected)


def with_article(kind: str) -> str:
    """``an Ingress``. An abbreviation with a vowel in its second place is spoken as a word: a ROSAMachinePool."""
    capitals = len(kind) - len(kind.lstrip(ascii_uppercase))
    is_word = kind[1:2] in "AEIOU" and capitals > _SHORT
    is_spelled = kind[:2].isupper() and kind[:1] in _SPELLED and not is_word
    has_vowel = kind.startswith(_VOWELS) and not kind.startswith("Uni")
    return f"{'an' if has_vowel or is_spelled else 'a'} {kind}"


def spared_now(item: Judged, *, is_all: bool) -> str:
    """What a message adds on the updates that the server accepts; ``is_all``: it speaks of all writes."""
    if item.spared is None:
        return ""
    # The value that lacks a field is the object around it.
    is_lacking = item.spared is Spared.VALUE and item.change.kind.startswith("required.")
    changed, stored = ("object around it", "object") if is_lacking else (item.spared.value, item.spared.value)
    only = f" if they change the {changed}" if is_all else ""
    return f"{only}; updates that leave a stored {stored} alone pass"


def spared_later(item: Judged, *, is_all: bool) -> str:
    """The end of a message if no server is known: on which minors updates fail that leave a part as it is."""
    if not item.spared_since:
        return ""
    minor, part = item.spared_since, _part_of(item.writes or ()) or "value"
    if is_all:
        return f"; Kubernetes 1.{minor - 1} and older reject all of them, later ones those that change the {part}"
    return f"; Kubernetes 1.{minor} and later let updates pass that leave the {part} as it is"

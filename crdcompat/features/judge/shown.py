"""The verdict on one write as text: the answer with the server, then the errors and the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from crdcompat.apiserver.admission import Verdict
from crdcompat.features.judge.stored import Changes
from crdcompat.render.escape import Style
from crdcompat.render.text.page import verdict_first
from crdcompat.render.wording.findings import plural

#: Characters of the longest answer that is shown whole.
_MAX_ANSWER = 200
#: Errors and changed fields that the text lists.
_MAX_ERRORS, _MAX_CHANGES = 20, 50
_STATUS_DROPPED = "note: a create drops the status, so it was not judged (--op validate judges it)"


class Shown(Struct, frozen=True):
    """The parts of the text besides the verdict.

    ``server`` is the judging server, ``write`` the judged write (``create of Widget "a"``). ``besides`` are the other
    differences between the sent object and the stored one. ``drops_status``: the status was sent and not judged.
    """

    server: str
    write: str
    besides: Changes = Changes()
    drops_status: bool = False


def verdict_text(verdict: Verdict, shown: Shown, style: Style) -> Iterator[str]:
    """The verdict, then the details; if these fill a screen, the verdict is repeated at the end."""
    yield from verdict_first([_head(verdict, shown, style)], [*_body(verdict, shown, style)], style)


def _head(verdict: Verdict, shown: Shown, style: Style) -> str:
    if verdict.accepted:
        word, colour, why = "ACCEPTED", "good", ""
    elif verdict.accepted is None:
        word, colour, why = "UNKNOWN", "warning", f": {plural(len(verdict.unknown), 'constraint')} not judged"
    else:
        word, colour, why = "REJECTED", "error", f": {plural(len(verdict.errors), 'error')}" if verdict.errors else ""
    rest = style.wrap(f"{word} by {shown.server}{why}", first="").removeprefix(word)
    return f"{style.paint(word, colour)}{rest}"


def _body(verdict: Verdict, shown: Shown, style: Style) -> Iterator[str]:
    yield style.fill(shown.write)
    yield from _answer(verdict, style)
    for item in verdict.unknown:
        yield style.fill(f"{item.field}: {item.what}: {item.reason}", indent="    ", first="  not judged: ")
    for warning in verdict.warnings:
        yield style.fill(warning, indent="    ", first="  warning: ")
    if verdict.pruned:
        yield _named("unknown fields, pruned", verdict.pruned, style)
    if verdict.defaulted:
        yield _named("set by default", verdict.defaulted, style)
    if shown.besides.texts:
        yield _named("changed besides", shown.besides.texts, style, "at least " if shown.besides.cut else "")
    if shown.drops_status:
        yield style.fill(_STATUS_DROPPED, indent="    ", first="  ")


def _answer(verdict: Verdict, style: Style) -> Iterator[str]:
    """The server's message. A long message is shown as its errors, a line or two each."""
    message = verdict.message
    if not message:
        return
    if style.verbosity > 0 or len(message) <= _MAX_ANSWER or not verdict.errors:
        yield style.wrap(message, indent="    ", first="  API server: ")
        return
    yield "  API server:"
    for error in verdict.errors[:_MAX_ERRORS]:
        yield style.clip(error.text(), indent="      ", first="    ")
    if len(verdict.errors) > _MAX_ERRORS:
        yield f"  and {plural(len(verdict.errors) - _MAX_ERRORS, 'more error')} (-v shows the whole answer)"


def _named(what: str, names: Sequence[str], style: Style, least: str = "") -> str:
    rest = len(names) - _MAX_CHANGES
    more = f" and {least}{rest:,} more" if rest > 0 else ""
    return style.wrap(f"{what}: {', '.join(names[:_MAX_CHANGES])}{more}", indent="    ", first="  ")

"""What a check accepts: the waivers and declarations of growth, and which of them the change itself adds.

Those of the change count, since a person reviews them with it; reports show them first. With ``trust: base`` they
count once they are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from crdcompat.config.configuration import Config
from crdcompat.errors import ConfigError, SourceError
from crdcompat.features.check.base import Change, base_commit
from crdcompat.features.check.kept_growth import may_declare
from crdcompat.sources.commit_files import blobs_at, read_blob
from crdcompat.sources.plain_file import path_in, read_plain
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository
from crdcompat.vocabulary.texts import cut

if TYPE_CHECKING:
    from crdcompat.findings.growth import Declaration
    from crdcompat.findings.source_waivers import Ignore
    from crdcompat.findings.waiver_file import Accepted
    from crdcompat.findings.waivers import Waiver

_Entry: TypeAlias = "Waiver | Declaration | Ignore"
#: Keys of an entry that say where it stands, not what it accepts.
_PLACE = ("line", "file", "of_change")
_MAX_SHOWN = 3
_MAX_REASON = 500
_NEEDLESS = " that none of its findings needs"


def accepted_for(change: Change, config: Config, repo: str | None) -> tuple[Accepted, tuple[str, ...]]:
    """The waivers and declarations that count for a change, with its own ones marked, and notes for people.

    Raises ConfigError, SourceError.
    """
    texts = _texts(change, config, repo)
    marked = _marked(texts)
    if config.trusts_change:
        return marked, ()
    base = _parsed(texts.file, texts.base, mends=True)
    entries: tuple[Waiver | Declaration, ...] = (*marked.waivers, *marked.growth)
    added = [each for each in entries if each.of_change]
    return base, tuple(map(counts_later, added))


def counts_later(entry: _Entry) -> str:
    """The note on an entry of a change that may not accept its own findings."""
    return f"{entry.place}: {entry.label}: counts once it is merged (`trust: base` in the configuration)"


def lines_on(change: Change, config: Config, repo: str | None, *, is_judged: bool) -> Iterator[str]:
    """Lines on the declarations of growth that a change takes back, and on what it adds if nothing ``is_judged``.

    Each change is held against declarations: without one, what it promised is no error any more. Raises ConfigError,
    SourceError.
    """
    texts = _texts(change, config, repo)
    if texts.head == texts.base:
        return
    if not is_judged:
        yield from ahead(_marked(texts), frozenset())
    if texts.base is not None and may_declare(texts.base):
        kept = set(map(_content, _parsed(texts.file, texts.head).growth))
        lost = [each for each in _parsed(texts.file, texts.base, mends=True).growth if _content(each) not in kept]
        yield from _listed("takes back", "a declaration of growth", "declarations of growth", "", lost)


def counting_text(change: Change, config: Config, repo: str | None) -> bytes | None:
    """The waiver file whose declarations each change is held against. Raises ConfigError, SourceError."""
    if config.trusts_change:
        return read_plain(config.waiver_file, config.folder)
    return _texts(change, config, repo).base


def ahead(accepted: Accepted, used: Container[int]) -> Iterator[str]:
    """Lines on the entries that a change adds and that concern none of its findings: they would hide later ones.

    ``used`` are those that concern findings, and those that have ended, by ``id()``.
    """
    waivers = [each for each in accepted.waivers if each.of_change and id(each) not in used]
    yield from _listed("adds", "a waiver", "waivers", _NEEDLESS, waivers)
    growth = [each for each in accepted.growth if each.of_change and id(each) not in used]
    yield from _listed("adds", "a declaration of growth", "declarations of growth", _NEEDLESS, growth)


def expired_lines(ended: Iterable[Waiver | Ignore]) -> Iterator[str]:
    """A line on each waiver that a change adds and that has ``ended``: it accepts nothing."""
    for each in ended:
        which = f" that has expired (until {each.until})"
        yield from _listed("adds", "a waiver", "waivers", which, [each], attrgetter("place"))


def markers_ahead(added: Iterable[Ignore], used: Container[str]) -> Iterator[str]:
    """Lines on the markers in the Go source that a change adds and that concern none of its findings.

    ``used`` are the places of the markers that concern findings, and of those that have ended.
    """
    needless = [each for each in added if each.place not in used and not each.fault]
    yield from _listed("adds", "a waiver", "waivers", _NEEDLESS, needless, attrgetter("place"))


def _line(entry: _Entry) -> str:
    return f"line {entry.line}"


def _listed(
    verb: str, one: str, many: str, which: str, entries: Sequence[_Entry], where: Callable[[_Entry], str] = _line
) -> Iterator[str]:
    if entries:
        shown = "; ".join(f"{where(each)}: {each.label}: {_why(each)}" for each in entries[:_MAX_SHOWN])
        what = one if len(entries) == 1 else f"{len(entries)} {many}"
        rest = len(entries) - _MAX_SHOWN
        yield f"this change {verb} {what}{which}: {shown}{f'; and {rest} more' if rest > 0 else ''}"


def _why(entry: _Entry) -> str:
    return cut(f"{entry.reason}{f' ({entry.owner})' if entry.owner else ''}", _MAX_REASON)


class _Texts(Struct, frozen=True):
    """The waiver ``file`` at the head and at the base of a change; None where there is none."""

    file: Path
    head: bytes | None
    base: bytes | None


def _texts(change: Change, config: Config, repo: str | None) -> _Texts:
    """Read both sides.

    The head's file is the one in the working tree, where CI may add entries, unless another commit is checked out.
    """
    repository, file = Repository(repo), config.waiver_file
    path = path_in(file, repository)
    is_here = path is None or not change.head or change.new == "git:HEAD" or _is_checked_out(repository, change.head)
    now = read_plain(file, file.parent) if is_here or path is None else _at(repository, change.head, path)
    base = base_commit(change, repository)
    if path is None or not base:
        return _Texts(file, now, None)
    try:
        return _Texts(file, now, _at(repository, base, path))
    except ConfigError:  # no regular file at the base: the change can mend that
        return _Texts(file, now, None)


def _marked(texts: _Texts) -> Accepted:
    """The entries of the head; those that the base does not have are marked."""
    from crdcompat.findings.waiver_file import Accepted

    head = _parsed(texts.file, texts.head)
    if texts.head == texts.base:
        return head
    base = _parsed(texts.file, texts.base, mends=True)
    before: tuple[Waiver | Declaration, ...] = (*base.waivers, *base.growth)
    known = set(map(_content, before))
    return Accepted(
        tuple(replace(each, of_change=_content(each) not in known) for each in head.waivers),
        tuple(replace(each, of_change=_content(each) not in known) for each in head.growth),
    )


def _parsed(file: Path, text: bytes | None, *, mends: bool = False) -> Accepted:
    """The entries of a file; no entries if the file is broken and the change ``mends`` it. Raises ConfigError."""
    from crdcompat.findings.waiver_file import Accepted, parse_accepted

    try:
        return Accepted() if text is None else parse_accepted(file, text)
    except ConfigError:
        if not mends:
            raise
        return Accepted()


def _at(repository: Repository, commit: str, path: str) -> bytes | None:
    found = blobs_at(repository, commit, [path])
    return read_blob(repository, found[path]) if found else None


def _is_checked_out(repository: Repository, commit: str) -> bool:
    try:
        return resolve(repository, "HEAD").commit == commit
    except SourceError:
        return False


def _content(entry: Waiver | Declaration) -> str:
    """What an entry accepts, and why: a value that is equal for equal entries."""
    return repr([type(entry).__name__, *((key, value) for key, value in asdict(entry).items() if key not in _PLACE)])

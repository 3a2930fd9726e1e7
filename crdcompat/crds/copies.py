"""Copies of one CRD that differ, and that no annotation distinguishes (config/crd, bundle/, charts/).

The copies in one top folder are compared with those of the other side in the same folder. Copies in a folder that only
one side has are compared with what is left over on the other side, as after a move, or with the content that all copies
of the other side have. Where several counterparts are possible, none is chosen: the copies are unmatched. Copies that
differ inside one folder are matched in the same way by its subfolders, and then by the names of their files. A folder
of one name, anywhere in the paths, tells what is left over apart.

Files that both sides have decide (``match_copies``): a further copy that one side alone has may be a stale bundle, a
copy for a test or an older form, and is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from msgspec import Struct

from crdcompat.crds.model import Crd, CrdDocument

_Documents = tuple[CrdDocument, ...]
_Pair = tuple[_Documents, _Documents]
#: What a CRD says outside of its versions: kind, scope, conversion, and whether it prunes.
_Facts = tuple[str, str, str, bool]


class Unmatched(Struct, frozen=True, eq=False):
    """Copies of a CRD with several possible counterparts: those of OLD and of NEW that may belong together."""

    name: str
    old: _Documents
    new: _Documents


class Matched(Struct, frozen=True, eq=False):
    """The copies of a CRD that belong together, those with several counterparts, and those that are not compared.

    Each of the last names the CRD, its file, and a file that both sides have.
    """

    pairs: list[_Pair]
    unmatched: list[Unmatched]
    alone: list[tuple[str, str, str]]


def match_copies(old: _Documents, new: _Documents, files: Collection[str] = ()) -> Matched:
    """The copies of one CRD in a context that belong together, and the rest.

    ``files`` are those that both sides have in any context: they do not come or go, even if they leave the context.
    """
    kept = {document.file for document in old} & {document.file for document in new}
    alone = [] if not kept else [*_alone(old, new, kept, files), *_alone(new, old, kept, files)]
    left = {id(document) for document in alone}
    olds, news = (tuple(each for each in side if id(each) not in left) for side in (old, new))
    return Matched(*_match(olds, news, 0), [(each.crd.name, each.file, min(kept)) for each in alone])


def _alone(side: _Documents, other: _Documents, kept: set[str], files: Collection[str]) -> Iterator[CrdDocument]:
    """The copies of a side that the other side does not have, neither at their path nor moved.

    ``kept`` are the files of both sides. What comes and goes in a folder that keeps several copies (an archive of old
    releases) has not moved. A copy that shares no version with a kept file is the only source of its versions: it
    counts.
    """
    folders = Counter(_folder(file) for file in kept)
    archives = {folder for folder, count in folders.items() if count > 1}
    known = {version.name for each in side if each.file in kept for version in each.crd.versions}
    may_move = any(each.file not in kept and _folder(each.file) not in archives for each in other)
    for each in side:
        stays = each.file in kept or each.file in files
        has_moved = may_move and _folder(each.file) not in archives
        if not stays and not has_moved and not known.isdisjoint(it.name for it in each.crd.versions):
            yield each


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _match(old: _Documents, new: _Documents, level: int) -> tuple[list[_Pair], list[Unmatched]]:
    """The copies of one CRD that belong together, and the rest.

    ``level`` is the part of the paths that matches them, from 0 for top folders.
    """
    matched, unmatched = _matched(old, new, level)
    pairs: list[_Pair] = []
    for of_old, of_new in matched:
        if level < _last_level((*of_old, *of_new)) and (_differ(of_old) or _differ(of_new)):
            inside, rest = _match(of_old, of_new, level + 1)
            pairs += inside
            unmatched += rest
        else:
            pairs.append((of_old, of_new))
    return pairs, unmatched


def _matched(old: _Documents, new: _Documents, level: int) -> tuple[list[_Pair], list[Unmatched]]:
    """The copies that belong together by one part of their paths, and the rest."""
    olds, news = _by_part(old, level), _by_part(new, level)
    common = sorted(olds.keys() & news.keys())
    pairs = [(olds[folder], news[folder]) for folder in common]
    left = _by_content(olds[folder] for folder in sorted(olds.keys() - news.keys()))
    right = _by_content(news[folder] for folder in sorted(news.keys() - olds.keys()))
    pairs += [(left.pop(content), right.pop(content)) for content in sorted(left.keys() & right.keys())]
    if len(left) == len(right) == 1:
        pairs.append((left.popitem()[1], right.popitem()[1]))
    copied_old = {content_of(olds[folder]): news[folder] for folder in common}
    copied_new = {content_of(news[folder]): olds[folder] for folder in common}
    others = {} if common and _are_names((*old, *new), level) else _by_content(news.values())
    theirs = _by_content(olds.values())
    pairs += list(_with_counterparts(left, copied_old, others))
    pairs += [(a, b) for b, a in _with_counterparts(right, copied_new, theirs)]
    for side, other, contents in ((left, right, theirs), (right, left, others)):
        if not other and len(contents) == 1:
            side.clear()  # its one content is the counterpart of all copies
    named = _by_own_folders(_all(left.values()), _all(right.values()))
    placed = {id(each) for both in named for documents in both for each in documents}
    rest = [tuple(each for each in _all(side.values()) if id(each) not in placed) for side in (left, right)]
    if not any(rest):
        return [*pairs, *named], []
    return [*pairs, *named], [Unmatched(old[0].crd.name, rest[0] or old, rest[1] or new)]


def _by_own_folders(old: _Documents, new: _Documents) -> list[_Pair]:
    """The copies that are left over on both sides and have folders of one name, which no other copy has.

    Flavours move so: from ``crds/enterprise`` to ``imports/crds/enterprise/v1``.
    """
    olds, news = _with_own_folders(old), _with_own_folders(new)
    near = [(a, b) for a, names in olds for b, theirs in news if names & theirs]
    times = Counter(id(side) for both in near for side in both)
    return [both for both in near if all(times[id(side)] == 1 for side in both)]


def _with_own_folders(documents: _Documents) -> list[tuple[_Documents, set[str]]]:
    """The copies by content, each with the names of folders that no other copy is in."""
    groups = list(_by_content((each,) for each in documents).values())
    names = [{name for each in group for name in each.file.split("/")[:-1]} for group in groups]
    times = Counter(chain.from_iterable(names))
    return [
        (group, {name for name in folders if times[name] == 1}) for group, folders in zip(groups, names, strict=True)
    ]


def _with_counterparts(
    rest: dict[bytes, _Documents], copied: Mapping[bytes, _Documents], others: Mapping[bytes, _Documents]
) -> Iterator[_Pair]:
    """The copies of one side that are left over and have a counterpart, with it; this function takes them out.

    A copy of another folder has the counterpart of that folder (``copied``). ``others`` are all copies of the other
    side: if they agree, their content is the counterpart of every copy.
    """
    only = next((each for each in others.values() if len(others) == 1 and not _differ(each)), None)
    for content in list(rest):
        if counterpart := copied.get(content) or others.get(content) or only:
            yield rest.pop(content), counterpart


def _by_part(documents: _Documents, level: int) -> dict[str, _Documents]:
    """The documents by one part of their paths; a document behind its last part is alone."""
    found: dict[str, list[CrdDocument]] = {}
    for document in documents:
        parts = _parts(document)
        part = parts[level] if level < len(parts) else f"{document.file}#{id(document)}"
        found.setdefault(part, []).append(document)
    return {part: tuple(inside) for part, inside in found.items()}


def _parts(document: CrdDocument) -> list[str]:
    """The folders of a document, an empty part, and the name of its file."""
    *folders, name = document.file.split("/")
    return [*folders, "", name]


def _are_names(documents: _Documents, level: int) -> bool:
    """Whether the parts of a level are the names of files, all of one folder."""
    return all(level == len(_parts(document)) - 1 for document in documents)


def _last_level(documents: _Documents) -> int:
    """The level at which each document is alone."""
    return max(len(_parts(document)) for document in documents)


def _differ(documents: _Documents) -> bool:
    """Whether two documents differ in a version that both define, or in the names of the other versions."""
    first: dict[str, tuple[bytes, set[str]]] = {}
    for document in documents:
        names = {version.name for version in document.crd.versions}
        for version in document.crd.versions:
            found = version.content, names
            if first.setdefault(version.name, found) != found:
                return True
    return False


def by_facts(old: _Documents, new: _Documents) -> list[_Pair]:
    """Copies that differ outside of their versions, in the same ways on both sides: those of equal facts are a pair.

    So a base without the conversion that kustomize adds is not compared with the result. Else all are one pair.
    """
    versions = {tuple(version.name for version in document.crd.versions) for document in (*old, *new)}
    sides: list[dict[_Facts, list[CrdDocument]]] = [{}, {}]
    for side, documents in zip(sides, (old, new), strict=True):
        for document in documents:
            side.setdefault(_facts(document.crd), []).append(document)
    if len(versions) > 1 or sides[0].keys() != sides[1].keys():
        return [(old, new)]
    return [(tuple(documents), tuple(sides[1][fact])) for fact, documents in sides[0].items()]


def _facts(crd: Crd) -> _Facts:
    return crd.kind, crd.scope, crd.conversion_strategy, crd.prunes


def _by_content(folders: Iterable[_Documents]) -> dict[bytes, _Documents]:
    """The documents of folders by content; folders with the same content together."""
    found: dict[bytes, _Documents] = {}
    for documents in folders:
        content = content_of(documents)
        found[content] = (*found.get(content, ()), *documents)
    return found


def _all(groups: Iterable[_Documents]) -> _Documents:
    return tuple(chain.from_iterable(groups))


def content_of(documents: _Documents) -> bytes:
    """The versions of the CRDs in a folder without texts: copies often lack descriptions, or the conversion."""
    versions = {each.content for document in documents for each in document.crd.versions}
    return b"\n".join(sorted(versions))

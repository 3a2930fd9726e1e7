"""Reads the waiver file, and adds entries to it: waivers, and declarations of two-step growth."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.atomic_write import write_file
from crdcompat.errors import ConfigError
from crdcompat.findings.growth import Declaration
from crdcompat.findings.rules import rule_names
from crdcompat.findings.waivers import Waiver, asks_for, brief, release_numbers
from crdcompat.models.finding import Acceptance
from crdcompat.program import typed
from crdcompat.schema.listed_values import member_key
from crdcompat.sources.plain_file import read_plain
from crdcompat.vocabulary import Direction, Severity
from crdcompat.yaml.validated import check_schema, read_mapping

_HEAD = "# Findings of crdcompat that are accepted, each with its reason. crdcompat waive adds to it.\n"


class Accepted(Struct, frozen=True):
    """The content of a waiver file: waivers, and declarations of two-step growth."""

    waivers: tuple[Waiver, ...] = ()
    growth: tuple[Declaration, ...] = ()


def read_accepted(path: Path) -> Accepted:
    """The content of the file; empty if the file does not exist. Raises ConfigError."""
    text = read_plain(path, path.parent)
    return Accepted() if text is None else parse_accepted(path, text)


def parse_accepted(path: Path, text: bytes) -> Accepted:
    """The content of a waiver file with these bytes. Raises ConfigError."""
    data = read_mapping(path, text)
    check_schema(path, data, text, waivers_schema())
    waivers, growth = ([*_with_lines(data, text, key)] for key in ("waivers", "growth"))
    for entry, line in waivers:
        _check(entry, f"{path}:{line}")
    _check_growth(growth, path)
    return Accepted(
        tuple(_waiver(entry, line, str(path)) for entry, line in waivers),
        tuple(
            Declaration(**{**entry, "values": tuple(entry["values"]), "file": _short(path), "line": line})
            for entry, line in growth
        ),
    )


def _short(path: Path) -> str:
    """The path as sentences name it: from the current folder, if the file is below it."""
    whole, here = path.resolve(), Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else path)


def _waiver(entry: dict[str, Any], line: int, file: str) -> Waiver:
    words: dict[str, Any] = {"direction": Direction(entry["direction"])}
    if "severity" in entry:
        words["severity"] = Severity(entry["severity"])
    if "values" in entry:
        words["values"] = tuple(entry["values"])
    return Waiver(**{**entry, **words, "file": file, "line": line})


def _check(entry: dict[str, Any], where: str) -> None:
    """Checks beyond the JSON Schema: the rule and the day exist, and the accepted values are named."""
    rule = entry["rule"]
    _check_reason(entry, where)
    if rule not in rule_names():
        raise ConfigError(f"{where}: there is no rule {rule!r} ({typed()} rules lists them)")
    _last_day(entry.get("until", ""), f"{where}: until")
    missing = [key for key in asks_for(rule) if key not in entry or (key, entry[key]) == ("values", [])]
    if missing == ["values"]:
        raise ConfigError(f"{where}: values: name those that are accepted; a waiver covers no later ones")
    if missing:
        raise ConfigError(
            f"{where}: {' and '.join(missing)}: say what the keyword was and became, as the report has it "
            f"({typed()} waive writes it); a waiver covers no later change"
        )


def _check_growth(entries: Iterable[tuple[dict[str, Any], int]], path: Path) -> None:
    """Checks beyond the JSON Schema: the order of the releases, and each value declared once."""
    known: dict[tuple[Any, ...], int] = {}
    for entry, line in entries:
        _check_reason(entry, f"{path}:{line}")
        first, later = entry["accepted_from"], entry["written_from"]
        if (release_numbers(later) or ()) <= (release_numbers(first) or ()):
            raise ConfigError(
                f"{path}:{line}: written_from: {later} is not after {first}: name a release after accepted_from"
            )
        for value in entry["values"]:
            key = (entry["crd"], entry["path"], member_key(value))
            if key in known:
                raise ConfigError(f"{path}:{line}: values: {value!r} is declared at line {known[key]}: declare it once")
            known[key] = line


def _check_reason(entry: dict[str, Any], where: str) -> None:
    """Raises ConfigError for a reason that nobody can see: spaces and marks without a letter or a number."""
    if not is_reason(entry["reason"]):
        raise ConfigError(f"{where}: reason: {entry['reason']!r} is not a reason in words")


def _last_day(until: str, where: str) -> None:
    """Raises ConfigError if the end is a day that does not exist."""
    if not is_day(until):
        raise ConfigError(f"{where}: there is no day {until}")


def is_reason(text: str) -> bool:
    """Whether a text has a letter or a number."""
    return any(map(str.isalnum, text))


def is_day(until: str) -> bool:
    """Whether the end of a waiver, if it is a day, exists."""
    try:
        return until.count("-") != 2 or bool(date.fromisoformat(until))
    except ValueError:
        return False


def end_pattern() -> str:
    """The pattern of an end: a day or a release."""
    return str(waivers_schema()["properties"]["waivers"]["items"]["properties"]["until"]["pattern"])


@cache
def waivers_schema() -> dict[str, Any]:
    """The JSON Schema of the waiver file."""
    loaded: dict[str, Any] = orjson.loads((Path(__file__).parent / "waivers.schema.json").read_bytes())
    return loaded


def _with_lines(data: dict[str, Any], text: bytes, key: str) -> Iterator[tuple[dict[str, Any], int]]:
    """The entries below a key, each with its line."""
    from crdcompat.yaml.locate import locate

    listed = data.get(key, ())
    wanted = [(0, (key, index)) for index in range(len(listed))]
    places = locate(text, wanted)
    return ((entry, places[at][0] if at in places else 1) for entry, at in zip(listed, wanted, strict=True))


def entries_for(finding: dict[str, Any], accepted: Acceptance) -> Iterator[dict[str, Any]]:
    """The waivers of a finding (as in the JSON report): one for each of its places."""
    for path in (finding["path"], *finding["places"]):
        yield _entry({**finding, "path": path}, accepted)


def _entry(finding: dict[str, Any], accepted: Acceptance) -> dict[str, Any]:
    made: dict[str, Any] = {key: str(finding[key]) for key in ("crd", "version", "path", "rule", "direction")}
    for key in asks_for(finding["rule"]):
        made[key] = list(finding["added"] or finding["removed"]) if key == "values" else brief(finding[key])
    made["severity"] = str(finding["severity"])
    made["reason"] = accepted.reason
    extra = {"owner": accepted.owner, "until": accepted.until, "baseline": accepted.baseline}
    return {**made, **{key: value for key, value in extra.items() if value}}


def growth_for(finding: dict[str, Any], first: str, later: str, accepted: Acceptance) -> Iterator[dict[str, Any]]:
    """The declarations of two-step growth for a finding (as in the JSON report): one for each of its places.

    Release ``first`` accepts the added values, ``later`` writes them.
    """
    releases = {"accepted_from": first, "written_from": later}
    owner = {"owner": accepted.owner} if accepted.owner else {}
    for path in (finding["path"], *finding["places"]):
        place = {"crd": str(finding["crd"]), "path": str(path), "values": list(finding["added"])}
        yield {**place, **releases, "reason": accepted.reason, **owner}


def add_waivers(path: Path, entries: Iterable[dict[str, Any]]) -> int:
    """Append waivers to the file, and create it if necessary. Returns the number of new entries.

    The existing bytes do not change. Raises ConfigError if the file cannot be read or written; the file is unchanged
    then.
    """
    made = list(entries)
    for each in made:
        check_schema(path, {"waivers": [each]}, None, waivers_schema())
        _check(each, str(path))
    return _add(path, "waivers", made, _same)


def add_growth(path: Path, entries: Iterable[dict[str, Any]]) -> int:
    """Append declarations of two-step growth to the file, as ``add_waivers`` does; values declared already are not."""
    declared = read_accepted(path).growth
    made = []
    for each in entries:
        known = [it for it in declared if (it.crd, it.path) == (each["crd"], each["path"])]
        left = [value for value in each["values"] if not any(it.names(value) for it in known)]
        made += [{**each, "values": left}] if left else []
    check_schema(path, {"growth": made}, None, waivers_schema())
    return _add(path, "growth", made, operator.eq)


_Entry = dict[str, Any]


def _add(path: Path, key: str, made: Sequence[_Entry], same: Callable[[_Entry, _Entry], bool]) -> int:
    """Append those entries to the list at ``key`` that are not the ``same`` as another one there. Returns how many."""
    read_accepted(path)  # raises for a file with errors
    data = read_plain(path, path.parent)
    known = read_mapping(path, data or b"").get(key, [])
    fresh: list[_Entry] = []
    for each in made:
        if not any(same(each, old) for old in (*known, *fresh)):
            fresh.append(each)
    if not fresh:
        return 0
    written = with_more(path, data, key, fresh)
    _check_growth(_with_lines(read_mapping(path, written), written, "growth"), path)
    try:
        write_file(path, written)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return len(fresh)


def with_more(path: Path, data: bytes | None, key: str, entries: Sequence[_Entry]) -> bytes:
    """The bytes of a waiver file (None: there is none yet) with entries appended to the list at ``key``.

    Raises ConfigError for a form to which nothing can be added.
    """
    from crdcompat.findings.waiver_text import with_entries
    from crdcompat.yaml.streams import Fault

    before = read_mapping(path, data or b"")
    try:
        written = with_entries(data or _HEAD.encode(), key, entries)
    except (Fault, ValueError) as error:
        raise ConfigError(f"{path}: cannot be added to ({error}): leave one document in it, in UTF-8") from None
    if read_mapping(path, written) != {**before, key: [*before.get(key, []), *entries]}:
        raise ConfigError(f"{path}: nothing can be added to this form: write the {key} as a plain list")
    return written


def _same(made: dict[str, Any], old: dict[str, Any]) -> bool:
    keys = ("crd", "version", "path", "rule", "direction", "old", "new")
    covered = set(map(repr, made.get("values", ()))) <= set(map(repr, old.get("values", ())))
    same = all(made.get(key) == old.get(key) for key in keys)
    same = same and old.get("severity", made["severity"]) == made["severity"]
    return covered and same and made.get("until", "") == old.get("until", "")

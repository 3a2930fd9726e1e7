"""Reads the waiver file, and adds entries to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from crdcompat.atomic_write import write_file
from crdcompat.errors import ConfigError
from crdcompat.findings.rules import rule_names
from crdcompat.findings.waivers import Waiver, asks_for, brief
from crdcompat.models.finding import Acceptance
from crdcompat.vocabulary import Direction, Severity
from crdcompat.yaml.validated import check_schema, read_mapping

_HEAD = "# Findings of crdcompat that are accepted, each with its reason. crdcompat waive adds to it.\n"


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a file; none if the file does not exist. Raises ConfigError."""
    if not path.exists():
        return ()
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    data = read_mapping(path, text)
    check_schema(path, data, text, waivers_schema())
    entries = data.get("waivers", ())
    found = []
    for entry, line in zip(entries, _lines(text, len(entries)), strict=True):
        _check(entry, f"{path}:{line}")
        values = tuple(entry["values"]) if "values" in entry else None
        words: dict[str, Any] = {"direction": Direction(entry["direction"])}
        if "severity" in entry:
            words["severity"] = Severity(entry["severity"])
        found.append(Waiver(**{**entry, **words, "values": values, "line": line}))
    return tuple(found)


def _check(entry: dict[str, Any], where: str) -> None:
    """Checks beyond the JSON Schema: the rule and the day exist, and the accepted values are named."""
    rule = entry["rule"]
    if rule not in rule_names():
        raise ConfigError(f"{where}: there is no rule {rule!r} (crdcompat rules lists them)")
    _last_day(entry.get("until", ""), f"{where}: until")
    missing = [key for key in asks_for(rule) if key not in entry or (key, entry[key]) == ("values", [])]
    if missing == ["values"]:
        raise ConfigError(f"{where}: values: name those that are accepted; a waiver covers no later ones")
    if missing:
        raise ConfigError(
            f"{where}: {' and '.join(missing)}: say what the keyword was and became, as the report has it "
            "(crdcompat waive writes it); a waiver covers no later change"
        )


def _last_day(until: str, where: str) -> None:
    """Raises ConfigError if the end is a day that does not exist."""
    if until.count("-") == 2:
        try:
            date.fromisoformat(until)
        except ValueError:
            raise ConfigError(f"{where}: there is no day {until}") from None


@cache
def waivers_schema() -> dict[str, Any]:
    """The JSON Schema of the waiver file."""
    loaded: dict[str, Any] = orjson.loads((Path(__file__).parent / "waivers.schema.json").read_bytes())
    return loaded


def _lines(text: bytes, count: int) -> list[int]:
    from crdcompat.yaml.locate import locate

    wanted = [(0, ("waivers", index)) for index in range(count)]
    places = locate(text, wanted)
    return [places[item][0] if item in places else 1 for item in wanted]


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


def add_waivers(path: Path, entries: Iterable[dict[str, Any]]) -> int:
    """Append waivers to the file, and create it if necessary. Returns the number of new entries.

    The existing bytes do not change. Raises ConfigError if the file cannot be read or written; the file is unchanged
    then.
    """
    from crdcompat.findings.waiver_text import with_entries
    from crdcompat.yaml.streams import Fault

    read_waivers(path)  # raises for a file with errors
    made = list(entries)
    for each in made:
        check_schema(path, {"waivers": [each]}, None, waivers_schema())
        _check(each, str(path))
    data = path.read_bytes() if path.is_file() else b""
    known = read_mapping(path, data).get("waivers", [])
    fresh: list[dict[str, Any]] = []
    for each in made:
        if not any(_same(each, old) for old in (*known, *fresh)):
            fresh.append(each)
    if not fresh:
        return 0
    try:
        written = with_entries(data or _HEAD.encode(), fresh)
    except (Fault, ValueError) as error:
        raise ConfigError(f"{path}: cannot be added to ({error}): leave one document in it, in UTF-8") from None
    if read_mapping(path, written).get("waivers") != [*known, *fresh]:
        raise ConfigError(f"{path}: nothing can be added to this form: write the waivers as a plain list")
    try:
        write_file(path, written)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return len(fresh)


def _same(made: dict[str, Any], old: dict[str, Any]) -> bool:
    keys = ("crd", "version", "path", "rule", "direction", "old", "new")
    covered = set(map(repr, made.get("values", ()))) <= set(map(repr, old.get("values", ())))
    same = all(made.get(key) == old.get(key) for key in keys)
    same = same and old.get("severity", made["severity"]) == made["severity"]
    return covered and same and made.get("until", "") == old.get("until", "")

"""Writing waivers: into the file there is, its comments and order kept."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.policy.config import ConfigError, check_schema
from crdcompat.policy.waivers import last_day, read_waivers, waivers_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_HEAD = "# Findings of crdcompat that are accepted, each with its reason. crdcompat waive adds to it.\n"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Why findings are accepted, by whom, until when; ``baseline``: with everything that stood at the time."""

    reason: str
    owner: str = ""
    until: str = ""
    baseline: bool = False


def entries_for(finding: dict[str, Any], accepted: Acceptance) -> Iterator[dict[str, Any]]:
    """The waivers of a finding (as in the JSON report): one for each place that it stands for."""
    for path in (finding["path"], *finding["places"]):
        yield _entry({**finding, "path": path}, accepted)


def _entry(finding: dict[str, Any], accepted: Acceptance) -> dict[str, Any]:
    values = finding["added"] or finding["removed"]
    made = {key: finding[key] for key in ("crd", "version", "path", "rule", "direction")}
    if values and finding["rule"].startswith("enum-"):
        made["values"] = list(values)
    made["reason"] = accepted.reason
    extra = {"owner": accepted.owner, "until": accepted.until, "baseline": accepted.baseline}
    return {**made, **{key: value for key, value in extra.items() if value}}


def add_waivers(path: Path, entries: Iterable[dict[str, Any]]) -> int:
    """Write waivers at the end of the file, made if there is none; how many were not there already.

    Raises ConfigError where the file cannot be read or written, and leaves it as it is.
    """
    from ruamel.yaml import YAML

    read_waivers(path)  # a file with errors is not written to
    made = list(entries)
    for each in made:
        check_schema(path, {"waivers": [each]}, None, waivers_schema())
        last_day(each.get("until", ""), f"{path}: until")
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    data = yaml.load(text)
    head = _HEAD if not text else text if data is None else ""  # comments alone are no data: they stay above
    data = {} if data is None else data
    known = list(data.get("waivers") or ())
    fresh: list[dict[str, Any]] = []
    for each in made:
        if not any(_same(each, old) for old in (*known, *fresh)):
            fresh.append(each)
    if not fresh:
        return 0
    written = [_quoted(each) for each in fresh]
    if data.get("waivers"):
        data["waivers"].extend(written)
    else:
        data["waivers"] = written
    out = io.StringIO()
    yaml.dump(data, out)
    try:
        path.write_text(head + out.getvalue(), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return len(fresh)


def _quoted(entry: dict[str, Any]) -> dict[str, Any]:
    """Values that are texts in quotes: `on` and `1.5` are none without them, to the YAML that Kubernetes reads."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if "values" not in entry:
        return entry
    return {**entry, "values": [DoubleQuotedScalarString(v) if isinstance(v, str) else v for v in entry["values"]]}


def _same(made: dict[str, Any], old: dict[str, Any]) -> bool:
    keys = ("crd", "version", "path", "rule", "direction")
    covered = set(map(repr, made.get("values", ()))) <= set(map(repr, old.get("values", ())))
    return covered and made.get("until", "") == old.get("until", "") and all(made[key] == old.get(key) for key in keys)

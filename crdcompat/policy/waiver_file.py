"""Writing waivers: into the file there is, its comments and order kept."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.policy.config import ConfigError
from crdcompat.policy.waivers import read_waivers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_HEAD = "# Findings of crdcompat that are accepted, each with its reason. crdcompat waive adds to it.\n"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Why findings are accepted, by whom, until when; ``baseline``: with everything that stood at the time."""

    reason: str
    owner: str = ""
    until: str = ""
    baseline: bool = False


def entry(finding: dict[str, Any], accepted: Acceptance) -> dict[str, Any]:
    """The waiver of a finding (as in the JSON report), without what is empty."""
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
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    data = yaml.load(text) or {}
    known = list(data.get("waivers") or ())
    fresh = [made for made in entries if not any(_same(made, old) for old in known)]
    if not fresh:
        return 0
    if data.get("waivers"):
        data["waivers"].extend(fresh)
    else:
        data["waivers"] = fresh
    out = io.StringIO()
    yaml.dump(data, out)
    try:
        path.write_text(out.getvalue() if text else _HEAD + out.getvalue(), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return len(fresh)


def _same(made: dict[str, Any], old: dict[str, Any]) -> bool:
    keys = ("crd", "version", "path", "rule", "direction")
    covered = set(map(repr, made.get("values", ()))) <= set(map(repr, old.get("values", ())))
    return covered and all(made[key] == old.get(key) for key in keys)

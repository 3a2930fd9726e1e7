"""The workflow of ``waive`` and ``baseline``: find findings in a report or a check, and add them to the waiver file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.config.configuration import Config
from crdcompat.config.configuration_file import find_config
from crdcompat.errors import UsageError
from crdcompat.models.check import CheckReport
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Acceptance
from crdcompat.render.data.diff import check_data, diff_data
from crdcompat.vocabulary import Severity

_Finding = dict[str, Any]


class Source(Struct, frozen=True, kw_only=True):
    """Where the findings come from: a JSON report (a file) or a report, else a check with this ``base``.

    ``config`` is the configuration file that a person named; it says which waiver file is written.
    """

    report: DiffReport | CheckReport | str | None = None
    base: str | None = None
    config: str | None = None
    repo: str | None = None


class Written(Struct, frozen=True):
    """What was added to the waiver file ``path``: the number of new entries, and the releases of declarations."""

    path: Path
    count: int
    accepted_from: str = ""
    written_from: str = ""


class _Judged(Struct, frozen=True):
    """A report as JSON data, and the configuration that names the waiver file."""

    data: dict[str, Any]
    config: Config

    def findings(self) -> list[_Finding]:
        """All findings without a waiver, including those that existed before the change."""
        parts = self.data.get("sections", [self.data])
        return [finding for part in parts for finding in part["findings"] if finding["waiver"] is None]

    @property
    def release(self) -> str:
        """The newer release of the report: of a check, the release of the change's branch."""
        bases = [part["old"]["name"] for part in self.data.get("sections", ()) if part["against"] == "base"]
        return str(bases[0] if bases else self.data["new"]["name"])

    def chosen(self, reasons: Mapping[str, str], owner: str, until: str = "") -> list[tuple[_Finding, Acceptance]]:
        """The findings whose ids begin so, each with its reason. Raises UsageError for none or several of a beginning.

        The same finding may occur against several releases, each with another old value.
        """
        found = self.findings()
        chosen = {_only(name, found): reason for name, reason in reasons.items()}
        return [(each, Acceptance(chosen[each["id"]], owner, until)) for each in found if each["id"] in chosen]


def waive(source: Source, reasons: Mapping[str, str], owner: str = "", until: str = "") -> Written:
    """Accept findings: ``reasons`` has the reason of each id, or of the beginning of an id.

    Raises UsageError for an id that no finding has or several have, ConfigError for the waiver file, and what a check
    raises.
    """
    judged = _judge(source)
    _refuse_over(until, judged)
    return _write(judged.chosen(reasons, owner, until), judged.config)


def baseline(source: Source, reason: str, owner: str = "", until: str = "") -> Written:
    """Accept all errors and warnings there are. Raises as ``waive``."""
    judged = _judge(source)
    _refuse_over(until, judged)
    accepted = Acceptance(reason, owner, until, baseline=True)
    return _write([(each, accepted) for each in judged.findings() if each["severity"] != Severity.INFO], judged.config)


def declare(
    source: Source, reasons: Mapping[str, str], owner: str, accepted_from: str = "", written_from: str = ""
) -> Written:
    """Declare two-step growth of the values that findings added. Raises as ``waive``, and UsageError for others.

    ``accepted_from`` is the first release that accepts them ("": that of the report), ``written_from`` the first that
    writes them ("": the next one).
    """
    from crdcompat.findings.growth import can_grow, following
    from crdcompat.findings.waiver_file import add_growth, growth_for
    from crdcompat.vocabulary.installers import judged_as

    judged = _judge(source)
    chosen = judged.chosen(reasons, owner)
    first = accepted_from or _release(judged)
    for finding, _ in chosen:
        meets = judged_as(finding["direction"], finding.get("window"))
        if not can_grow(finding["rule"], meets, finding["added"], finding["new"]):
            raise UsageError(f"{_line(finding)}: --growth takes a rollback finding about added values")
    later = written_from or following(first)
    path = judged.config.waiver_file
    made = [entry for finding, why in chosen for entry in growth_for(finding, first, later, why)]
    return Written(path, add_growth(path, made), first, later)


def _refuse_over(until: str, judged: _Judged) -> None:
    """Raises UsageError for an end that has come: the waiver would never count."""
    from crdcompat.findings.waivers import has_ended

    try:
        is_over = has_ended(until, date.today(), judged.release)
    except ValueError:
        return  # what writes the waiver file says that there is no such day
    if is_over:
        raise UsageError(f"--until {until} is over, so that the waiver would never count: name a later end")


def _write(findings: Iterable[tuple[_Finding, Acceptance]], config: Config) -> Written:
    from crdcompat.findings.waiver_file import add_waivers, entries_for

    made = [entry for finding, accepted in findings for entry in entries_for(finding, accepted)]
    return Written(config.waiver_file, add_waivers(config.waiver_file, made))


def _judge(source: Source) -> _Judged:
    if source.report is None:
        return _of_check(source)
    config = find_config(source.config, Path(source.repo) if source.repo else None)
    match source.report:
        case DiffReport():
            return _Judged(diff_data(source.report), config)
        case CheckReport():
            return _Judged(check_data(source.report), config)
        case file:
            return _Judged(_read(file), config)


def _of_check(source: Source) -> _Judged:
    """Findings that existed before the change are accepted as well; the quick answer of a check does not list them."""
    from crdcompat.features.check.check_options import CheckOptions
    from crdcompat.features.check.check_workflow import run_check
    from crdcompat.features.check.rules_of_the_base import find_rules

    options = CheckOptions(base=source.base, repo=source.repo, all_targets=True)
    rules = find_rules(source.config, options)
    return _Judged(check_data(run_check(rules.config, replace(options, change=rules.change))), rules.config)


def _read(file: str) -> dict[str, Any]:
    from crdcompat.features.verify.report_file import check_report

    try:
        text = Path(file).read_bytes()
        data = orjson.loads(text)
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{file}: not a JSON report: {error}") from None
    if not isinstance(data, dict) or not ("sections" in data or "findings" in data):
        raise UsageError(f"{file}: not a report of diff or check")
    check_report(data, file, text)
    return data


def _only(name: str, found: Iterable[_Finding]) -> str:
    """The id that begins with ``name``. Raises UsageError for none or several."""
    known = {finding["id"]: finding for finding in found}
    keys = [str(key) for key in known if name and key.startswith(name)]
    if len(keys) != 1:
        listed = "".join(f"\n  {_line(known[key])}" for key in keys or known)
        listed = listed or " none (an id of diff is in its JSON report: --report FILE)"
        raise UsageError(f"{'several findings begin with' if keys else 'no finding'} {name}; there are{listed}")
    return keys[0]


def _line(finding: _Finding) -> str:
    """``ID  severity[rule] CRD/version path (direction)``."""
    where = f"{finding['crd']}/{finding['version']} {finding['path']}".rstrip()
    return f"{finding['id']}  {finding['severity']}[{finding['rule']}] {where} ({finding['direction']})"


def _release(judged: _Judged) -> str:
    """The newer release of a report: of a check, the release of the change's branch. Raises UsageError if unknown."""
    from crdcompat.config.releases import accepting_release

    name = judged.release
    found = accepting_release(name, judged.config)
    if found is None:
        raise UsageError(
            f"--accepted-from: name the release that accepts the values first; {name} has no version, and a "
            "declaration counts on a branch that has one (release-1.2), or whose OpenShift release the configuration "
            "has in releases"
        )
    return found

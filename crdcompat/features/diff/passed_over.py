"""Where a CRD that is gone may be: in a folder whose files are passed over, such as ``vendor/``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from crdcompat.crds.reader import CrdSet
from crdcompat.models.finding import Finding
from crdcompat.prefilter.candidates import excluded


def with_passed_over(findings: Iterable[Finding], old: CrdSet, new: CrdSet) -> Iterator[Finding]:
    """The findings; the message on a CRD that NEW lacks names files of NEW with its file's name that are passed over.

    Files that OLD passes over as well are not where the CRD went.
    """
    before = {item.file for item in old.skipped}
    after: dict[str, list[tuple[str, str]]] = {}
    for item in new.skipped:
        if item.file not in before and excluded(item.file):
            after.setdefault(_name(item.file), []).append((item.file, item.reason))
    for finding in findings:
        names = {_name(location.file) for location in finding.locations} if finding.change == "crd.removed" else ()
        there = sorted(each for name in names for each in after.get(name, ()))
        if there:
            file, why = there[0]
            said = f"{file} has the name of its file and is passed over: {why}"
            finding = replace(finding, message=f"{finding.message} ({said})")
        yield finding


def _name(file: str) -> str:
    return file.rpartition("/")[2]

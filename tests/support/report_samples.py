"""Reports of every kind for the tests of the formats: made from small CRDs, and hostile text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers import Json, crd, obj, root, string, write
from msgspec.structs import replace

import crdcompat
from crdcompat.errors import Problem
from crdcompat.features.simulate.simulate_workflow import simulate
from crdcompat.models.check import CheckReport, Section
from crdcompat.models.diff import DiffReport, Unexplained
from crdcompat.models.finding import Acceptance, Finding
from crdcompat.models.release import Release
from crdcompat.models.report import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.recordings.recorded_objects import read_objects
from crdcompat.render.escape import Style
from crdcompat.render.formats import get_format
from crdcompat.sources import open_objects
from crdcompat.vocabulary import Against

HOSTILE = (
    "<script>alert(1)</script>",
    "</code></details><img src=x>",
    "::error file=x::y",
    "]]>",
    "\x1b[2J\x1b[31mgone",
    "a\u202eb\u2066c",
    "line\n\n# heading\r::error::x",
    "```\n~~~",
    "a|b",
    "@user",
    "#1",
    "[x](https://evil.example)",
    "https://evil.example",
    "\ufffe\uffff\x00",
    "{0} {{x}}",
    "%0A%25",
    "&lt;b&gt;",
)

#: One error, one warning, one info, all on rollback.
OLD = root(spec=obj(a=string("A")), status=obj(p=string("A")))
NEW = root(spec=obj(a=string("A", "B"), n=string()), status=obj(p=string("A", "B")))


def rendered(report: Report, name: str, *, existing: bool = False) -> str:
    """The report in a format, ending with one newline, the same twice."""
    text = get_format(name).render(report, Style(existing=existing))
    assert text == get_format(name).render(report, Style(existing=existing))
    assert text.endswith("\n")
    return text


def compared(top: Path, old: Json | Sequence[Json], new: Json | Sequence[Json], *, file: str = "w.json") -> DiffReport:
    """A diff of two schemas, or of lists of CRDs, called ``r1`` and ``r2``."""
    for side, data in (("r1", old), ("r2", new)):
        documents = [crd(data)] if isinstance(data, dict) else data
        write(top / side / file, "\n".join(json.dumps(document) for document in documents))
    sides = [crdcompat.load(f"path:{top / side}") for side in ("r1", "r2")]
    return named(crdcompat.diff(*sides))


def named(report: DiffReport, old: str = "r1", new: str = "r2") -> DiffReport:
    """The report with short names of the releases, in its messages, too."""
    before, after = report.old.name, report.new.name
    findings = [replace(f, message=f.message.replace(before, old).replace(after, new)) for f in report.findings]
    return replace(report, old=Release(old, None, None), new=Release(new, None, None), findings=tuple(findings))


def sample(top: Path) -> DiffReport:
    """The error, the warning and the info."""
    return compared(top, OLD, NEW)


def empty_check() -> CheckReport:
    """A check that had nothing to do."""
    return CheckReport(Release("HEAD", None, None), (), ("no CRD was touched",))


def with_findings(report: DiffReport, **changes: dict[str, Any]) -> DiffReport:
    """The report with facts of its findings changed, by severity."""
    return replace(report, findings=tuple(replace(f, **changes.get(f.severity, {})) for f in report.findings))


def check(top: Path) -> CheckReport:
    """The sample against the base, and against two targets: in r0 the warning is waived and the error was there."""
    base = sample(top)
    waived = with_findings(base, error={"status": "existing"}, warning={"waiver": Acceptance("nobody sets it")})
    first, second = named(waived, "r0"), named(base, "r9")
    sections = (Section(Against.BASE, base), Section(Against.TARGET, first), Section(Against.TARGET, second))
    return CheckReport(base.new, sections, ("the base is r1",), ("waiver w1 has expired",))


def unreadable(report: DiffReport) -> DiffReport:
    """The report after a file of the newer side could not be read."""
    return replace(report, problems=(Problem("bad.yaml", 7, "not YAML", "new"),))


def hostile(top: Path, text: str) -> DiffReport:
    """A report whose every part from a manifest, a file name or a ref holds ``text``."""
    old = root(**{text: string("A")}, status=obj(p=string("A")))
    new = root(**{text: string("A", text, description=text)}, status=obj(p=string("A", text), **{text: string()}))
    name = text.replace("/", "").replace("\x00", "")
    report = compared(top, old, new, file=f"{name}.json")
    found = [*report.findings, *(_everywhere(finding, text) for finding in report.findings[:1])]
    release = Release(text, None, None, (text,))
    return replace(
        report,
        findings=tuple(found),
        old=release,
        new=release,
        problems=(Problem(text, 1, text, "new"), Problem(text, None, text, "old")),
        remarks=(Problem(text, 1, text),),
        unexplained=(Unexplained(text, text, text),),
    )


def _everywhere(finding: Finding, text: str) -> Finding:
    return replace(finding, id="0" * 12, crd=text, version=text, path=text, message=text, contexts=(text,))


def hostile_check(top: Path, text: str) -> CheckReport:
    """The hostile report in every section, waived and as it is."""
    report = hostile(top, text)
    waived = replace(report, findings=tuple(replace(f, waiver=Acceptance(text)) for f in report.findings))
    return CheckReport(report.new, (Section(Against.BASE, report), Section(Against.TARGET, waived)), (text,), (text,))


def replayed(top: Path, *items: Json, value: str = "B") -> SimulationReport:
    """The rollback of the sample replayed on a Widget whose ``status.p`` is B, or on ``items``."""
    for side, schema in (("r1", OLD), ("r2", root(spec=obj(), status=obj(p=string("A", value))))):
        write(top / side / "w.json", json.dumps(crd(schema)))
    held = items or (widget("one", value),)
    file = write(top / "objects.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": list(held)}))
    sides = [crdcompat.load(f"path:{top / side}") for side in ("r1", "r2")]
    report = simulate(*sides, read_objects(open_objects(str(file))))
    return replace(report, old=Release("r1", None, None), new=Release("r2", None, None), notes=())


def widget(name: str, value: str = "A") -> Json:
    """A Widget whose ``status.p`` is ``value``."""
    head = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": "n"}}
    return {**head, "spec": {}, "status": {"p": value}}


LIMIT = 60_000

"""One verdict for one change: check, diff, matrix and simulate agree, on real merges and on random schemas.

Some merges are compared in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) compares all, and more random schemas.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from changes import repository
from helpers import Json, commit, crd, git, root, run, spawn
from msgspec.structs import replace
from random_crds import another_schema, random_schema

import crdcompat
import crdcompat.config.applied
import crdcompat.features.check.set_reader
import crdcompat.features.matrix.matrix_workflow
from crdcompat.config.configuration import Config
from crdcompat.crds.context import is_terminal
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.features.diff.diff_workflow import load
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.models.diff import DiffReport, judged
from crdcompat.models.outcome import worst_of
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.vocabulary import Direction, Severity

_FUZZ = int(os.environ.get("CRDCOMPAT_FUZZ", "0"))
#: Every how many merges one is compared, and one has objects judged; and the number of random pairs.
_STEP, _JUDGED, _RANDOM = (1, 1, 400) if _FUZZ else (19, 11, 12)
_BUNDLES = {
    "incidents": "openshift-api-master-2023-2024.bundle",
    "pr-replay": "openshift-api-master-2025.bundle",
}


@pytest.fixture(scope="module")
def shared_reader() -> Iterator[CrdReader]:
    """Neighbouring commits have mostly the same files: all comparisons of the module parse each once."""
    reader = crdcompat.config.applied.reader_for(Config())
    rooms = (crdcompat.config.applied, crdcompat.features.check.set_reader, crdcompat.features.matrix.matrix_workflow)
    with pytest.MonkeyPatch.context() as patch:
        for room in rooms:
            patch.setattr(room, "reader_for", lambda config, also=(): reader)
        yield reader


@pytest.fixture(scope="module", params=_BUNDLES)
def history(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of a real history, with the judged merges beside it."""
    folder = shared / "data" / request.param
    if not folder.is_dir():
        pytest.skip(f"no ../shared/data/{request.param}")
    made = tmp_path_factory.mktemp(request.param)
    command = ["git", "clone", "--quiet", "--bare", str(folder / _BUNDLES[request.param]), str(made / "api.git")]
    subprocess.run(command, check=True)
    (made / "merges.json").write_bytes((folder / "judged.json").read_bytes())
    return made


def _merges(history: Path, step: int) -> list[tuple[str, str]]:
    """Every so many merges: the commit before each, and its own."""
    heads = [each["commit"] for each in json.loads((history / "merges.json").read_bytes())["merges"]][::step]
    return [(git(history / "api.git", "rev-parse", f"{head}^1"), head) for head in heads]


def _told(start: Any, repo: Path, base: str, head: str) -> dict[str, tuple[str, int]]:
    """The verdict and the exit code of each command."""
    asked = {
        "check": ("check", "--base", base, "--head", head, "--target", base),
        "diff": ("diff", base, head),
        "matrix": ("matrix", base, head),
    }
    ran = {name: start(*words, "--format", "json", cwd=repo) for name, words in asked.items()}
    return {name: (json.loads(each.out)["verdict"], int(each.code)) for name, each in ran.items()}


def _differing(told: dict[str, tuple[str, int]]) -> bool:
    return len(set(told.values())) > 1


@pytest.mark.usefixtures("shared_reader")
def test_real_merges_have_one_verdict(history: Path) -> None:
    """``check`` with the base as target, ``diff``, and the cells of ``matrix``; so do their exit codes."""
    merges = _merges(history, _STEP)
    told = {head: _told(run, history / "api.git", base, head) for base, head in merges}
    assert {head: each for head, each in told.items() if _differing(each)} == {}
    assert len({verdict for each in told.values() for verdict, _ in each.values()}) > 1


def test_the_installed_command_says_the_same(history: Path) -> None:
    for base, head in _merges(history, 80):
        told = _told(spawn, history / "api.git", base, head)
        assert told == _told(run, history / "api.git", base, head)
        assert not _differing(told)


#: Where the CRD is, and what is beside it: a CRD that is replaced, and one that Helm leaves alone.
_HOMES: tuple[tuple[str, dict[str, str]], ...] = (
    ("w.yaml", {}),
    ("chart/crds/w.yaml", {"chart/Chart.yaml": "name: a\nversion: 1.0.0\n"}),
)


@pytest.mark.parametrize("home", _HOMES, ids=lambda home: home[0])
@pytest.mark.parametrize("seed", range(_RANDOM))
def test_random_schemas_have_one_verdict(tmp_path: Path, seed: int, home: tuple[str, dict[str, str]]) -> None:
    r = random.Random(seed)
    old = {"type": "object", "properties": {name: random_schema(r, 2) for name in ("spec", "status")}}
    new = {
        "type": "object",
        "properties": {name: another_schema(r, old["properties"][name]) for name in old["properties"]},
    }
    repo = repository(tmp_path)
    base, head = (
        commit(repo, {home[0]: _widget(schema), "README": name, **home[1]}) for name, schema in (("a", old), ("b", new))
    )
    told = _told(run, repo, base, head)
    told = {name: (verdict, code) for name, (verdict, code) in told.items() if old != new or name != "check"}
    assert not _differing(told), told


def _widget(schema: Json) -> Json:
    return crd(root(**schema["properties"]))


#: What says which copies ship, and the folders with copies.
_EVIDENCE = {
    "config/crd/kustomization.yaml": "resources: [w.yaml]\n",
    "op/Chart.yaml": "name: op\n",
    "bundle.Dockerfile": "FROM scratch\nCOPY bundle/manifests /manifests/\n",
    "Makefile": "\tcontroller-gen crd output:crd:dir=made paths=./...\n",
    "made/more.yaml": json.dumps(crd(root(), kind="Gizmo")),
}
_GADGET = json.dumps(crd(root(), kind="Gadget"))
_FOLDERS = ("config/crd", "op/crds", "op/templates", "bundle/manifests", "made", "other", "design", "releases/1.2.3")


@pytest.mark.parametrize("seed", range(_RANDOM))
def test_random_copies_have_one_verdict(tmp_path: Path, seed: int) -> None:
    """Copies of a CRD, of which the change touches some: the same ones decide for each command."""
    r = random.Random(seed)
    said = {path: text for path, text in _EVIDENCE.items() if r.random() < 0.4}
    listed = "config/crd/kustomization.yaml" in said  # what it lists is there, before and after
    folders = {*r.sample(_FOLDERS, r.randrange(2, 5)), *(_FOLDERS[:1] if listed else ())}
    copies = {f"{folder}/w.yaml": _letters(r) for folder in sorted(folders)}
    changed = {path: _letters(r) for path in copies if r.random() < 0.5}
    if r.random() < 0.3:
        changed[f"{r.choice(_FOLDERS)}/w.yaml"] = _letters(r)
    gone = {path for path in copies if path not in changed and r.random() < 0.15} - {f"{_FOLDERS[0]}/w.yaml"}
    repo = repository(tmp_path)
    base = commit(repo, {**said, **copies, "crds/g.yaml": _GADGET, "README": "a"})
    for path in gone:
        git(repo, "rm", "-q", path)
    told = _told(run, repo, base, commit(repo, {**changed, "README": "b"}))
    assert not _differing(told), (told, said, copies, changed, gone)


def _letters(r: random.Random) -> Json:
    return crd(
        root(
            status={"type": "object", "properties": {"p": {"type": "string", "enum": [*"ABC"[: r.choice((1, 2, 3))]]}}}
        )
    )


# -- simulate, where objects meet it ---------------------------------------------

#: Servers that validate every update as a whole, and servers that tolerate stored values in spec, and in status.
_SERVERS = ("1.27", "1.30", "openshift-4.18") if _FUZZ else ("openshift-4.18",)


@pytest.mark.parametrize("server", _SERVERS)
def test_objects_that_meet_a_change_have_its_verdict(history: Path, shared_reader: CrdReader, server: str) -> None:
    """``diff`` with a witness as recorded object, and ``simulate`` on it, for each context with a witness."""
    met: Counter[Severity | None] = Counter()
    differing = []
    for base, head in _merges(history, _JUDGED):
        sides = [load(f"git:{ref}", repo=str(history / "api.git"), reader=shared_reader) for ref in (base, head)]
        old, new = (replace(each, runs=server) for each in sides)
        for about, by_diff, by_simulate in _met(old, new):
            met[by_diff] += 1
            if by_diff is not by_simulate:
                differing.append((head, *about, by_diff, by_simulate))
    assert differing == []
    assert sum(met.values()) > 1


def _met(old: CrdSet, new: CrdSet) -> Iterator[tuple[tuple[str, ...], Severity | None, Severity | None]]:
    """Each witness of a rollback: what it is about, the worst that ``diff`` says of it, and that of ``simulate``."""
    report = crdcompat.diff(old, new, directions=(Direction.ROLLBACK,), locate=False)
    found = sorted({name for each in report.findings if each.witness.object for name in each.contexts}, reverse=True)
    for context in {is_terminal(name): name for name in found}.values():
        alone = crdcompat.diff(old, new, directions=(Direction.ROLLBACK,), contexts=[context], locate=False)
        for each in alone.findings:
            made = each.witness.object
            if made is not None and each.witness.stored is None:
                about = (context, each.rule, each.crd, each.path)
                yield (about, *_of_both(old, new, alone, context, Recorded(made, "a witness"), each.crd))


def _of_both(
    old: CrdSet, new: CrdSet, report: DiffReport, context: str, item: Recorded, crd_name: str
) -> tuple[Severity | None, Severity | None]:
    """What ``diff --objects`` says about an object, and what follows from ``simulate`` (docs/judging.md).

    ``diff`` also asks whether an object can be created anew, and ends clusters that cannot be rolled back one lower.
    """
    told = with_evidence(report, old, new, [[item]])
    meeting = [each for each in told.findings if each.evidence.recorded_objects]
    replayed = crdcompat.simulate(old, new, [item], context=context, crds=[crd_name])
    assert not replayed.missed
    (answer,) = replayed.objects
    follows = Severity.WARNING if answer.only_create_is_rejected else replayed.judgement.worst
    if follows is not None and is_terminal(context):
        follows = follows.lowered
    if answer.only_create_is_rejected:
        before = {each.id: each.severity for each in report.findings}
        follows = worst_of([follows, *(before[each.id] for each in meeting)])
    by_diff = judged(replace(told, findings=tuple(meeting))).worst
    return _above_info(by_diff), _above_info(follows)


def _above_info(severity: Severity | None) -> Severity | None:
    return None if severity is Severity.INFO else severity

"""One verdict for one change: check, diff, matrix and simulate agree, on real merges and on random schemas.

Some merges are compared in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) compares all, and more random schemas.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from changes import repository
from helpers import Json, commit, crd, git, root, run, spawn
from msgspec.structs import replace
from random_crds import another_schema, random_schema

import crdcompat
import crdcompat.config.applied
import crdcompat.features.check.reading
import crdcompat.features.matrix.workflow
from crdcompat.apiserver.versions import DEFAULT_SERVER
from crdcompat.config.configuration import Config
from crdcompat.crds.context import Context
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.features.diff.workflow import load
from crdcompat.findings.evidence import with_evidence
from crdcompat.models.outcome import judged
from crdcompat.models.simulation import SimulatedObject
from crdcompat.recordings.objects import Recorded
from crdcompat.vocabulary import Direction, Severity
from crdcompat.vocabulary.writes import WriteKind, WriteResult

_FUZZ = int(os.environ.get("CRDCOMPAT_FUZZ", "0"))
#: Every how many merges one is compared, and the number of random pairs.
_STEP, _RANDOM = (1, 400) if _FUZZ else (7, 25)
_BUNDLES = {
    "incidents": "openshift-api-master-2023-2024.bundle",
    "pr-replay": "openshift-api-master-2025.bundle",
}


@pytest.fixture(scope="module")
def shared_reader() -> Iterator[CrdReader]:
    """Neighbouring commits have mostly the same files: all comparisons of the module parse each once."""
    reader = crdcompat.config.applied.reader_for(Config())
    rooms = (crdcompat.config.applied, crdcompat.features.check.reading, crdcompat.features.matrix.workflow)
    with pytest.MonkeyPatch.context() as patch:
        for room in rooms:
            patch.setattr(room, "reader_for", lambda config: reader)
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
    for base, head in _merges(history, 40):
        told = _told(spawn, history / "api.git", base, head)
        assert told == _told(run, history / "api.git", base, head)
        assert not _differing(told)


@pytest.mark.parametrize("seed", range(_RANDOM))
def test_random_schemas_have_one_verdict(tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    old = {"type": "object", "properties": {name: random_schema(r, 2) for name in ("spec", "status")}}
    new = {
        "type": "object",
        "properties": {name: another_schema(r, old["properties"][name]) for name in old["properties"]},
    }
    repo = repository(tmp_path)
    base, head = (
        commit(repo, {"w.yaml": _widget(schema), "README": name}) for name, schema in (("a", old), ("b", new))
    )
    told = _told(run, repo, base, head)
    told = {name: (verdict, code) for name, (verdict, code) in told.items() if old != new or name != "check"}
    assert not _differing(told), told


def _widget(schema: Json) -> Json:
    return crd(root(**schema["properties"]))


# -- simulate, where objects meet the change ---------------------------------------------


def test_objects_that_meet_a_change_have_its_verdict(history: Path, shared_reader: CrdReader) -> None:
    """``diff`` with a witness as recorded object, and ``simulate`` on it, for each context that can roll back."""
    met: Counter[Severity | None] = Counter()
    differing = []
    for base, head in _merges(history, _STEP):
        old, new = (load(f"git:{ref}", repo=str(history / "api.git"), reader=shared_reader) for ref in (base, head))
        for context in _contexts(old, new):
            for about, by_diff, by_simulate in _met(old, new, context):
                met[by_diff] += 1
                if by_diff not in by_simulate:
                    differing.append((head, context, about, by_diff, by_simulate))
    assert differing == []
    assert sum(met.values()) > 1


def _contexts(old: CrdSet, new: CrdSet) -> list[str]:
    """The contexts with a witness of a rollback; feature sets that can never roll back have other severities."""
    report = crdcompat.diff(old, new, directions=(Direction.ROLLBACK,), locate=False)
    found = {name for each in report.findings if each.witness.object for name in each.contexts}
    return sorted(name for name in found if "NoUpgrade" not in name)


def _met(
    old: CrdSet, new: CrdSet, context: str
) -> Iterator[tuple[tuple[str, ...], Severity | None, set[Severity | None]]]:
    """Each witness of a rollback: its finding, the worst that ``diff`` says of it, and what ``simulate`` may say.

    Of an object in a version that OLD lacks, ``diff`` says nothing: OLD's controllers ask for another one. Of a CRD in
    several copies, ``simulate`` takes the worst answer, and ``diff`` those of equal folders.
    """
    report = crdcompat.diff(old, new, directions=(Direction.ROLLBACK,), contexts=[context], locate=False)
    copied = {name for side in (old, new) for name, found in side.named().items() if _in_copies(found, context)}
    known = {(item.crd.name, version.name) for item in old.documents for version in item.crd.versions}
    for each in report.findings:
        made = each.witness.object
        if made is None or each.witness.stored is not None or each.crd in copied:
            continue
        if (each.crd, made["apiVersion"].rpartition("/")[2]) not in known:
            continue
        item = Recorded(made, "a witness")
        told = with_evidence(report, old, new, [[item]])
        meeting = replace(told, findings=tuple(found for found in told.findings if found.evidence.recorded_objects))
        worst = judged(meeting).worst
        replayed = crdcompat.simulate(old, new, [item], server=DEFAULT_SERVER, context=context, crds=[each.crd])
        assert not replayed.missed
        (answer,) = replayed.objects
        yield (each.rule, each.crd, each.path), None if worst is Severity.INFO else worst, _may_be(answer)


def _in_copies(documents: Sequence[CrdDocument], context: str) -> bool:
    """Whether the documents of a CRD differ in the context of a feature set and a profile."""
    at = Context(*context.split("/")) if "/" in context else Context()
    return len({str(item.crd.raw["spec"]) for item in documents if item.is_in(at)}) > 1


def _may_be(item: SimulatedObject) -> set[Severity | None]:
    """The severities that agree with the answers of the server to the writes of an object; info counts as nothing.

    If only writes that change the value itself are rejected, ratcheting may make it a warning; evidence makes it an
    error also if only a new object is rejected, which blocks nothing in a replay.
    """
    rejected = {
        kind for kind, write in item.writes.items() if write.verdict is WriteResult.REJECTED and not write.already
    }
    if rejected - {WriteKind.STATUS_UPDATE_TOUCHING, WriteKind.CREATE}:
        return {Severity.ERROR}
    if rejected:
        return {Severity.ERROR, Severity.WARNING}
    return {Severity.WARNING} if item.worst is WriteResult.LOSES_DATA else {None}

"""Recall and false claims on real CRDs: one small step of one keyword, or two at once.

The oracle is the program's model of a server, which knows nothing of findings: random objects of one side meet the
schema of the other. Each loss and each refusal must have a finding at its place, and the witness of each finding must
show what the finding claims. The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for
more of them.
"""

from __future__ import annotations

import copy
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, at, crd_set, git, places, shows, without_texts
from mutation import Step, mutated, nodes
from recall import is_below, untold
from sampling import Sampler

import crdcompat
from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.crd_validation.refusal import refusals
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.crds.model import read_crd
from crdcompat.models.diff import DiffReport
from crdcompat.schema.equality import canonical
from crdcompat.schema.paths import render

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "200"))
_SHARE = 100  # cases of one test
_MOST_NODES = 1500
_OBJECTS = 12


@pytest.fixture(scope="module")
def real(openshift_api: Path, projects: Path) -> list[Json]:
    """Real CRDs, each with its stored version alone."""
    tags = sorted(set(git(projects, "tag").split()), key=lambda tag: tag.partition("/"))
    newest = {tag.partition("/")[0]: tag for tag in tags}
    sets = [crdcompat.load("release-4.16", repo=str(openshift_api))]
    sets += [crdcompat.load(f"git:{tag}", repo=str(projects)) for tag in newest.values()]
    found: dict[bytes, Json] = {}
    for each in sets:
        for document in each.documents:
            made = _alone(document.crd.raw)
            if made is not None:
                found.setdefault(canonical(made), made)
    return [found[key] for key in sorted(found)]


def _alone(definition: Any) -> Json | None:
    """The CRD with its stored version alone, without texts; None where it is of no use here."""
    entry = next((version for version in definition["spec"]["versions"] if version.get("storage")), None)
    schema = without_texts((entry or {}).get("schema", {}).get("openAPIV3Schema"))
    if entry is None or not schema or not 20 < sum(1 for _ in nodes(schema)) < _MOST_NODES:
        return None
    made = {**definition, "metadata": {"name": definition["metadata"]["name"]}}
    made["spec"] = {key: value for key, value in definition["spec"].items() if key != "conversion"}
    return _with_schema(made, entry, schema)


def _with_schema(definition: Json, entry: Json, schema: Json) -> Json:
    version = {**entry, "served": True, "schema": {"openAPIV3Schema": schema}}
    return {**definition, "spec": {**definition["spec"], "versions": [version]}}


class Case:
    """A real CRD, the same with one or two small steps, and what a comparison finds."""

    def __init__(self, definition: Json, seed: int) -> None:
        rng = random.Random(seed)
        (entry,) = definition["spec"]["versions"]
        schema, self.steps = entry["schema"]["openAPIV3Schema"], list[Step]()
        self.base = schema
        for _ in range(rng.choice((1, 1, 2))):
            drawn = mutated(schema, rng, self.steps[0].path if self.steps else None)
            if drawn is not None:
                schema = drawn[0]
                self.steps.append(drawn[1])
        self.rng = rng
        sides = [definition, _with_schema(definition, entry, schema)]
        turned = rng.random() < 0.5
        self.old, self.new = sides[::-1] if turned else sides
        self.wider = {None if step.wider is None else step.wider != turned for step in self.steps}

    @property
    def is_of_use(self) -> bool:
        """Whether there is a step, and the servers take both CRDs."""
        sides = [read_crd(copy.deepcopy(side)) for side in (self.old, self.new)]
        return bool(self.steps) and not any(refusals(side, DEFAULT_SERVER) for side in sides)

    def wrong(self, seen: Counter[str]) -> list[Any]:
        """What is missed, and what is invented."""
        old, new = crd_set("old", self.old), crd_set("new", self.new)
        report = crdcompat.diff(old, new, locate=False)
        objects = [made for turned in (False, True) for step in self.steps for made in self._objects(step, turned)]
        return [*untold(report, old, new, objects, seen), *self._invented(report, seen)]

    def _objects(self, step: Step, turned: bool) -> list[Json]:
        sides = (self.new, self.old) if turned else (self.old, self.new)
        schemas = [side["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for side in sides]
        names, version = sides[0]["spec"], sides[0]["spec"]["versions"][0]["name"]
        sampler = Sampler(*schemas, f"{names['group']}/{version}", names["names"]["kind"], self.rng)
        found = list(sampler.objects(step.path, _OBJECTS))
        for index, each in enumerate(found):
            each["metadata"]["name"] = f"a{index}{'n' if turned else 'o'}{len(step.path)}{step.keyword.lower()}"
        return found

    def _invented(self, report: DiffReport, seen: Counter[str]) -> list[Any]:
        wrong: list[Any] = []
        for finding in report.findings:
            if finding.rule == "cel-cost-near-budget":
                continue  # it is about all rules of the CRD
            claim = {"rule": finding.rule, "effect": finding.effect, "path": finding.path}
            label = (str(finding.direction), finding.rule, finding.path)
            if not any(
                _related(path, render(step.path)) for step in self.steps for path in (finding.path, *finding.places)
            ):
                wrong.append((*label, "elsewhere"))
            one_way = self.wider == {finding.direction == "upgrade"}
            # Kubernetes 1.36 refuses all numbers where a limit is beyond the type: a higher limit can take fewer.
            one_way = one_way and finding.rule != "number-range-changed"
            if finding.effect == "write-rejected" and one_way:
                wrong.append((*label, "in the direction in which all is valid", finding.witness.object))
            seen["findings"] += 1
            if finding.witness.object is None:
                seen["without a witness"] += 1
                if finding.severity == "error":
                    wrong.append((*label, "an error without a witness"))
                continue
            writer, reader = (self.new, self.old) if finding.direction == "rollback" else (self.old, self.new)
            stored = finding.witness.stored  # only for an update
            operation = str(finding.witness.operation) if stored is not None else "validate"
            server = "1.36" if "on Kubernetes 1.36" in finding.message else "1.31"
            written = crdcompat.judge(writer, operation, finding.witness.object, stored, kubernetes=server)
            if written.accepted is not True:
                wrong.append((*label, "the writer refuses the witness", written.message))
                continue
            answer = crdcompat.judge(reader, operation, written.object or {}, stored, kubernetes=server)
            held = written.object or {}
            if not (
                _lost(finding.path, held, answer) if finding.effect == "value-pruned" else shows(claim, answer, held)
            ):
                wrong.append((*label, "the witness does not show it", answer.message, finding.witness.object))
        return wrong


def _lost(path: str, written: Json, answer: Verdict) -> bool:
    """Whether something at a path, or below it, is not read as it was written."""
    read = answer.object or {}
    there = {place: at(read, place) for place in places(read, path)}
    return answer.accepted is not False and any(
        place not in there or there[place] != at(written, place) for place in places(written, path)
    )


def _related(path: str, other: str) -> bool:
    """Whether one place is the other, above it or below it."""
    return is_below(path, other) or is_below(other, path)


@pytest.mark.parametrize("first", range(0, CASES, _SHARE))
def test_small_steps_of_real_crds(real: list[Json], first: int) -> None:
    seen: Counter[str] = Counter()
    wrong = []
    for seed in range(first, first + _SHARE):
        case = Case(random.Random(seed).choice(real), seed)
        if case.is_of_use:
            seen["cases"] += 1
            wrong += [(seed, case.steps, each) for each in case.wrong(seen)]
    assert not wrong
    assert seen["cases"] > _SHARE * 0.5
    assert seen["met"] > _SHARE * 0.2

"""A facet is one file: its module is found by name from a rule, and a new one needs no edit anywhere else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers import both, obj, root

import crdcompat
from crdcompat.compare import crd_facets, facets
from crdcompat.compare.registry import all_crd_facets, all_facets, declared_by, module_of, waived_by
from crdcompat.findings.rules import Rule, catalogue

_PACKAGES = {facets.__name__: all_facets, crd_facets.__name__: all_crd_facets}
_KINDS = [kind for every in _PACKAGES.values() for facet in every() for kind in facet.effects]


@pytest.mark.parametrize("rule", catalogue().values(), ids=catalogue())
def test_a_rule_leads_to_the_module_of_its_change(rule: Rule) -> None:
    """The longest module name that the id begins with, dashes for underscores, in one package or the other."""
    folders = [Path(package.__path__[0]) for package in (facets, crd_facets)]
    modules = [file for folder in folders for file in folder.glob("*.py") if file.stem != "__init__"]
    names = [file for file in modules if f"{rule.id}-".startswith(f"{file.stem.replace('_', '-')}-")]
    (found,) = (file for file in names if len(file.stem) == max(len(name.stem) for name in names))
    assert module_of(rule.id) == module_of(rule.change) == f"crdcompat.compare.{found.parent.name}.{found.stem}"
    assert rule.change in declared_by(rule.id).effects


def test_a_module_answers_for_its_own_kinds_alone() -> None:
    assert len(_KINDS) == len(set(_KINDS))
    for package, every in _PACKAGES.items():
        modules = [module_of(next(iter(facet.effects))) for facet in every()]
        assert len(modules) == len(set(modules))
        assert {module.rpartition(".")[0] for module in modules} == {package}
        for module, facet in zip(modules, every(), strict=True):
            assert {module_of(kind) for kind in facet.effects} == {module}
            assert facet.waived_by.keys() <= facet.effects.keys()


def test_a_rule_that_no_module_answers_for() -> None:
    for rule in ("enumerated-added", "nothing", ""):
        with pytest.raises(LookupError):
            module_of(rule)


def test_what_a_waiver_names() -> None:
    asked = {by: sorted(rule for rule in catalogue() if waived_by(rule) == by) for by in ("values", "place")}
    assert asked == {
        "values": ["enum-value-added", "enum-value-removed"],
        "place": ["free-field-declared", "free-field-undeclared", "property-added", "property-removed"],
    }


_FACET = """
from crdcompat.compare.facet import Effects, Facet, WaivedBy, Widening
from crdcompat.compare.site import Trials
from crdcompat.schema.paths import schema_pointer
from crdcompat.vocabulary import Effect

EFFECTS = {"rank.raised": Effects(rollback=(Effect.WRITE_REJECTED,))}


def changes(site):
    old, new = (side.raw.get("x-rank", 0) for side in (site.old, site.new))
    if new > old:
        yield site.change("rank.raised", old, new, "x-rank")


def widen(change, values, old, new):
    yield Widening(schema_pointer(change.path), "x-rank", change.new)


FACET = Facet(
    frozenset({"x-rank"}),
    EFFECTS,
    changes,
    lambda change, direction, pair: Trials(()),
    lambda effect, seen: False,
    waived_by={"rank.raised": WaivedBy.PLACE},
    widen=widen,
)
"""
_RULE = {
    "id": "rank-raised",
    "change": "rank.raised",
    "title": "Rank raised",
    "summary": "NEW ranks a field higher.",
    "message": dict.fromkeys(("rollback", "upgrade"), "{path} is of rank {after}"),
    "why": "Why.",
    "fix": "Fix.",
    "mirror_reason": "None.",
}


def test_a_new_facet_is_one_file(tmp_path: Path) -> None:
    """A copy of the program with one more module and its rule: found, waived and tolerated as the module says."""
    home = Path(crdcompat.__file__).parent
    shutil.copytree(home, tmp_path / "crdcompat", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(home.parent / "rules", tmp_path / "rules")
    work = tmp_path / "work"
    ranked = {"type": "string", "x-rank": 1}
    both(work, root(spec=obj(v=ranked)), root(spec=obj(v={**ranked, "x-rank": 2})))

    def diff(*more: str) -> str:
        command = [sys.executable, "-m", "crdcompat", "diff", "path:old", "path:new", *more]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        ran = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert ran.stderr == ""
        return ran.stdout

    before = json.loads(diff("--format", "json"))
    assert [entry["keyword"] for entry in before["undecided"]] == ["x-rank"]
    (tmp_path / "crdcompat/compare/facets/rank.py").write_text(_FACET)
    (tmp_path / "rules/rank-raised.yaml").write_text(yaml.safe_dump(_RULE))
    after = json.loads(diff("--format", "json"))
    (finding,) = after["findings"]
    assert after["undecided"] == []
    shown = {key: finding[key] for key in ("rule", "change", "direction", "effect", "path", "old", "new", "message")}
    assert shown == {
        "rule": "rank-raised",
        "change": "rank.raised",
        "direction": "rollback",
        "effect": "write-rejected",
        "path": "spec.v",
        "old": 1,
        "new": 2,
        "message": "spec.v is of rank 2; no example object was found",
    }
    patch = diff("--suggest-patch").splitlines()
    assert [line.strip("+- ") for line in patch if "x-rank" in line and line[0] in "+-"] == ["x-rank: 1", "x-rank: 2"]
    waiver = {key: finding[key] for key in ("crd", "version", "path", "rule", "direction")} | {"reason": "known"}
    (work / ".crdcompat-waivers.yaml").write_text(yaml.safe_dump({"waivers": [waiver]}))
    (waived,) = json.loads(diff("--format", "json"))["findings"]
    assert waived["waiver"]["reason"] == "known"

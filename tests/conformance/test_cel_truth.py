"""The rules of real CRDs against recorded answers of real API servers (skipped without ../shared)."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from crdcompat.apiserver.cel import RuleEvaluator, rule_walk
from crdcompat.apiserver.correlation import Pair
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.structural import ABSENT, Node

if TYPE_CHECKING:
    from pathlib import Path

    from crdcompat.apiserver.cel.rule_programs import Rule

decode_module = pytest.importorskip("crdcompat.apiserver.decode")

RELEASES = {"4.12": 25, "4.13": 26, "4.14": 27, "4.15": 28, "4.16": 29}
SKIPPED = "some validation rules were not checked"
Schemas = Callable[[str, str, str], tuple[Node, bool]]


class _Loader(yaml.CSafeLoader):
    """Timestamps stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        key: [entry for entry in entries if entry[0] != "tag:yaml.org,2002:timestamp"]
        for key, entries in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


def _load(text: str) -> Any:
    return yaml.load(text, _Loader)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    with gzip.open(path) as lines:
        yield from map(json.loads, lines)


def _decoded(value: Any, schema: Node) -> Any:
    return decode_module.decode(value, schema).object


def _git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def crd(openshift_api: Path) -> Callable[[str, str], Any]:
    @cache
    def read(release: str, path: str) -> Any:
        return _load(_git(openshift_api, "show", f"origin/release-{release}:{path}"))

    return read


@pytest.fixture(scope="module")
def schema_of(crd: Callable[[str, str], Any]) -> Schemas:
    @cache
    def read(release: str, path: str, version: str) -> tuple[Node, bool]:
        found = next(entry for entry in crd(release, path)["spec"]["versions"] if entry["name"] == version)
        return Node(found["schema"]["openAPIV3Schema"]), "status" in found.get("subresources", {})

    return read


def _rules(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield from schema.get("x-kubernetes-validations", [])
        for part in schema.values():
            yield from _rules(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _rules(part)


def _details(schema: Node) -> set[str]:
    return {rule.get("message", "").strip() or f"failed rule: {rule['rule'].strip()}" for rule in _rules(schema.raw)}


def _of_cel(errors: list[dict[str, Any]], details: set[str]) -> list[dict[str, Any]]:
    return [error for error in errors if error["detail"] in details or "evaluating rule" in error["detail"]]


def _written(line: dict[str, Any], schema: Node, status_subresource: bool) -> tuple[Any, Any]:
    """The object that is validated, and the stored one."""
    new = _decoded(line["new"], schema)
    old = _decoded(line["old"], schema) if line["old"] else None
    if line["op"] == "create" and status_subresource:
        new.pop("status", None)
    elif line["op"] == "updateStatus" or (line["op"] == "update" and status_subresource):
        kept, from_other = (old, new) if line["op"] == "updateStatus" else (new, old)
        new = {name: value for name, value in kept.items() if name != "status"}
        new |= {"status": from_other["status"]} if "status" in from_other else {}
    return new, old


def test_verdicts(shared: Path, schema_of: Schemas) -> None:
    seen: Counter[str] = Counter()
    for line in _lines(shared / "data/conformance/verdicts.ndjson.gz"):
        schema, status_subresource = schema_of(line["release"], line["crd_file"], line["version"])
        minor = int(line["kube"].removeprefix("1."))
        evaluator = RuleEvaluator(schema, Server(minor))
        if not evaluator.has_rules or any(SKIPPED in error["detail"] for error in line["errors"]):
            continue
        new, old = _written(line, schema, status_subresource)
        update = line["op"].startswith("update")
        ratchet = update and line["ratcheting"] and not (line["op"] == "updateStatus" and minor == 31)
        found = evaluator.evaluate(new, Pair(new, old, schema) if update else None, ratchet=ratchet)
        expected = {
            (
                e["type"],
                e["field"],
                e["detail"],
                json.dumps(None if e.get("badValue") == {} else e.get("badValue")),
            )
            for e in _of_cel(line["errors"], _details(schema))
        }
        got = {(e.type, e.field, e.detail, json.dumps(None if e.value is ABSENT else e.value)) for e in found.errors}
        assert (line["id"], got, found.unknown) == (line["id"], expected, ())
        seen["rejected" if expected else "passed"] += 1
    assert seen["rejected"] > 100
    assert seen["passed"] > 600


def test_pairs(shared: Path, schema_of: Schemas) -> None:
    seen: Counter[bool] = Counter()
    for line in _lines(shared / "data/conformance/pairs.ndjson.gz"):
        side = "old" if line["direction"] == "rollback" else "new"
        schema, _ = schema_of(line[f"{side}_release"], line[f"{side}_crd_file"], line["version"])
        evaluator = RuleEvaluator(schema, Server(int(line["kube"].removeprefix("1."))))
        if not evaluator.has_rules or any(SKIPPED in error["detail"] for error in line["errors"]):
            continue
        found = evaluator.evaluate(_decoded(line["object"], schema), None, ratchet=False)
        expected = {(error["field"], error["detail"]) for error in _of_cel(line["errors"], _details(schema))}
        assert (line["id"], {(e.field, e.detail) for e in found.errors}) == (line["id"], expected)
        assert not found.unknown
        seen[bool(expected)] += 1
    assert seen[True] > 30
    assert seen[False] > 300


_SERVERS = {
    "1.26": Server(26, (4, 13)),
    "1.29": Server(29, (4, 16)),
    "1.30": Server(30, (4, 17)),
    "1.31": Server(31),
    "1.31-openshift-4.18": Server(31, (4, 18)),
    "1.33": Server(33, (4, 20)),
}


def _merged(base: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(base) if isinstance(base, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result


def test_rollbacks(shared: Path) -> None:
    seen: Counter[int] = Counter()
    truth = shared / "data/rollback-truth"
    for line in _lines(truth / "records.ndjson.gz"):
        path = line["path"].partition("?")[0]
        body = line.get("request_body")
        body = json.loads(body) if isinstance(body, str) else body
        if "cel" not in line["case"] or line["method"] not in ("PUT", "PATCH") or not isinstance(body, dict):
            continue
        if path.endswith("/scale"):
            continue
        server = _SERVERS[line["kubernetes"]]
        raw = json.loads((truth / line["old_crd"]).read_text())
        schema = Node(raw["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        old = _decoded(line["object"], schema)
        status = path.endswith("/status")
        request = {"op": "updateStatus" if status else "update", "old": line["object"]}
        request["new"] = body if line["method"] == "PUT" else _merged(old, body)
        new, old = _written(request, schema, True)
        ratchet = server.does("ratchet_status" if status else "ratchet_main")
        found = RuleEvaluator(schema, server).evaluate(new, Pair(new, old, schema), ratchet=ratchet)
        assert not found.unknown
        assert all(error.text() in line["message"] for error in found.errors)
        assert bool(found.errors) == (line["http_status"] == 422)
        if line["http_status"] == 200:
            warned = [json.loads(text.split(" - ", 1)[1]) for text in line["warnings"]]
            assert sorted(found.warnings) == sorted(warned)
        seen[line["http_status"]] += 1
    assert seen[422] > 200
    assert seen[200] > 150


_ISIP = {"rule": "isIP(self)", "message": "must be an IP"}
_OPTIONAL = {
    "rule": "oldSelf.hasValue() ? self == oldSelf.value() : true",
    "message": "immutable",
    "optionalOldSelf": True,
}
_FORMAT = {"rule": "!format.dns1123Label().validate(self).hasValue()", "message": "dns"}
_EXPRESSION = {
    "rule": "self.size() < 5",
    "messageExpression": '"too long: " + self',
    "reason": "FieldValueForbidden",
}
_STORIES: dict[str, tuple[dict[str, Any], str]] = {
    "server-rollback/cel-isip": (_ISIP, "x"),
    "server-rollback/cel-optoldself": (_OPTIONAL, "x"),
    "server-rollback/cel-format": (_FORMAT, "Not_a_label"),
    "server-rollback/cel-msgexpr": (_EXPRESSION, "!!bad-value!!"),
}


def test_server_rollbacks_word_for_word(shared: Path) -> None:
    """Rules stored under 1.33 that an older server meets."""
    seen = 0
    for line in _lines(shared / "data/rollback-truth/sequences.ndjson.gz"):
        story = line["sequence"]
        message = line.get("message") or ""
        if story not in _STORIES or line["http_status"] != 422 or "customresourcedefinition" in message.lower():
            continue
        rule, value = _STORIES[story]
        server = _SERVERS[line["kubernetes"]]
        spec = {"type": "object", "properties": {"s": {"type": "string", "x-kubernetes-validations": [rule]}}}
        schema = Node({"type": "object", "properties": {"spec": spec}})
        new, old = {"spec": {"s": value}}, {"spec": {"s": "was"}}
        found = RuleEvaluator(schema, server).evaluate(new, Pair(new, old, schema), ratchet=False)
        assert [error.text() for error in found.errors] == [message.partition(" is invalid: ")[2]]
        seen += 1
    assert seen >= 15


def _compiled(step: rule_walk.Step | None) -> Iterator[Rule]:
    if step is None:
        return
    if step.rules is not None:
        yield from step.rules.compiled()
    for below in (*step.all_of, *step.properties.values(), step.additional, step.items):
        yield from _compiled(below)


@pytest.mark.parametrize("release", RELEASES)
def test_every_rule_of_openshift_compiles(openshift_api: Path, crd: Callable[[str, str], Any], release: str) -> None:
    listing = _git(
        openshift_api, "grep", "-l", "x-kubernetes-validations:", f"origin/release-{release}", "--", "*.yaml"
    )
    count = 0
    for name in listing.split():
        try:
            document = crd(release, name.partition(":")[2])
        except yaml.YAMLError:
            continue
        if document.get("kind") != "CustomResourceDefinition":
            continue
        for version in document.get("spec", {}).get("versions", []):
            raw = version.get("schema", {}).get("openAPIV3Schema", {})
            rules = list(_compiled(rule_walk.steps(Node(raw), Server(RELEASES[release], (4, int(release[2:]))))))
            assert len(rules) == len(list(_rules(raw)))
            assert [rule.text for rule in rules if rule.refused or rule.compile_error] == []
            count += len(rules)
    assert count > 5


def _cases(suite: Any) -> Iterator[tuple[Any, Any, str]]:
    for case in suite.get("tests", {}).get("onCreate") or []:
        if not case.get("initialCRDPatches"):
            yield _load(case["initial"]), None, case.get("expectedError") or ""
    for case in suite.get("tests", {}).get("onUpdate") or []:
        if not case.get("initialCRDPatches"):
            expected = (case.get("expectedError") or "") + (case.get("expectedStatusError") or "")
            yield _load(case["updated"]), _load(case["initial"]), expected


@pytest.mark.parametrize("release", ["4.13", "4.14", "4.15"])
def test_suites_of_openshift(
    openshift_api: Path, crd: Callable[[str, str], Any], schema_of: Schemas, release: str
) -> None:
    """openshift/api's own cases: a message of a rule is expected, or nothing is."""
    server = Server(RELEASES[release], (4, int(release[2:])))
    paths = _git(openshift_api, "ls-tree", "-r", "--name-only", f"origin/release-{release}").split()
    seen: Counter[bool] = Counter()
    for path in paths:
        if not path.endswith(".testsuite.yaml"):
            continue
        try:
            suite = crd(release, path)
        except yaml.YAMLError:  # one file uses an anchor twice
            continue
        manifest = f"{path.rpartition('/')[0]}/{suite['crd']}"
        for new, old, expected in _cases(suite):
            schema, status = schema_of(release, manifest, new["apiVersion"].rpartition("/")[2])
            op = "update" if old is not None else "create"
            if op == "create":
                new, old = _written({"op": op, "new": new, "old": None}, schema, status)
            else:
                new, old = _decoded(new, schema), _decoded(old, schema)
            pair = Pair(new, old, schema) if old is not None else None
            found = RuleEvaluator(schema, server).evaluate(new, pair, ratchet=False)
            assert not found.unknown
            shown = " ".join(error.text() for error in found.errors)
            wanted = [detail for detail in _details(schema) if detail in expected]
            if wanted:
                assert any(detail in shown for detail in wanted), (path, expected, shown)
            elif not expected:
                assert shown == "", path
            seen[bool(wanted)] += 1
    assert seen[True] > 10
    assert seen[False] > 50

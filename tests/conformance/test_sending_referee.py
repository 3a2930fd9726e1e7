"""What clients add to a write: options, spellings, patches, /scale, sizes, other kinds, other versions.

``golden/sending.ndjson`` has the answers of real servers, and ``judge --requests`` is held against them without any.
With servers, the answers are asked again. Run as a program, it records those of the servers that are built.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parent)]

import pytest
import referee
import referee_build
from differences import Bench
from helpers import Json, crd, root, spawn
from referee import Answer, Referee, collection

_GOLDEN = Path(__file__).parent / "golden" / "sending.ndjson"
_GROUP = "example.com"
_TEXT: Json = {"type": "string"}
_SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
_SPEC: Json = {
    "type": "object",
    "properties": {
        "a": _TEXT,
        "replicas": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"n": _TEXT}}},
    },
}
_STATUS: Json = {"type": "object", "properties": {"replicas": {"type": "integer"}}}


def _definition() -> Json:
    """v1 is stored; v2 sets a default that v1 does not have."""
    made = crd(root(spec=_SPEC, status=_STATUS))
    (first,) = made["spec"]["versions"]
    first["subresources"] = {"status": {}, "scale": _SCALE}
    defaulted = {**_SPEC, "properties": {**_SPEC["properties"], "later": {"type": "string", "default": "d"}}}
    second = {**first, "name": "v2", "storage": False, "schema": {"openAPIV3Schema": root(spec=defaulted)}}
    second["subresources"] = {}
    made["spec"]["versions"].append(second)
    return made


class Case(NamedTuple):
    """One request: its operation, its body as text, its options; ``held`` names the stored object."""

    op: str
    body: str
    validation: str = ""
    dry_run: bool = True
    held: str = "x"
    version: str = "v1"

    @property
    def label(self) -> str:
        shown = self.body if len(self.body) < 400 else f"{len(self.body)} bytes"
        return " ".join(filter(None, (self.op, self.validation, self.version, self.held, shown, "dry" * self.dry_run)))


_V1, _V2 = f'"{_GROUP}/v1"', f'"{_GROUP}/v2"'


def _body(name: str = "x", *, kind: str = '"Widget"', version: str = _V1, more: str = "", spec: str = "") -> str:
    return f'{{"apiVersion":{version},"kind":{kind},"metadata":{{"name":"{name}"{more}}},"spec":{{{spec}}}}}'


def _cases() -> list[Case]:
    unknown, twice = '"z":1,"list":[{"n":"1","q":2},{"q":3}]', '"a":"1","a":"2"'
    made = []
    for validation in ("", "Strict", "Warn", "Ignore"):
        for spec in (unknown, twice, f"{twice},{unknown}", '"a":"3"'):
            rv = ',"resourceVersion":"RV"'
            made += [
                Case("create", _body("new", spec=spec), validation),
                Case("update", _body(more=rv, spec=spec), validation),
                Case("mergePatch", f'{{"spec":{{{spec}}}}}', validation),
            ]
            if spec != unknown + twice:
                made.append(Case("apply", _body(spec=spec), validation) if "z" not in spec else made[-1])
        made += [
            Case("jsonPatch", f'[{{"op":"replace","path":"/spec","value":{{{unknown}}}}}]', validation),
            Case("scale", _scale('"replicas":3,"z":1'), validation),
        ]
    twice_everywhere = _body("new", spec='"a":"1"')[:-1] + ',"spec":{"list":[{"n":"1","n":"2"}]},"zz":1}'
    made.append(Case("create", twice_everywhere.replace('"kind"', '"kind":"Widget","kind"'), "Strict"))
    made.append(Case("create", _body("new", spec='"a":1,"z":1'), "Strict"))
    kinds = ('"Gadget"', '"Nope"', '"widget"', '""', "7", "null")
    versions = (f'"{_GROUP}/v9"', '"other.org/v1"', '"v1"', '""', '"a/b/c"', "null")
    for names in (*({"kind": each} for each in kinds), *({"version": each} for each in versions)):
        made.append(Case("create", _body("new", **names)))
        made.append(Case("update", _body(more=',"resourceVersion":"RV"', **names)))
        if "7" not in names.values():
            member = {"kind": "kind", "version": "apiVersion"}[next(iter(names))]
            made.append(Case("mergePatch", f'{{"{member}":{next(iter(names.values()))}}}'))
        if "7" not in names.values():
            made.append(Case("apply", _body(**names)))
    made += [
        Case("mergePatch", body)
        for body in ('{"metadata":{"name":"y"}}', '{"metadata":{"namespace":"y"}}', "{}", '{"spec":null}')
    ]
    made += [Case("jsonPatch", json.dumps(patch)) for patch in _PATCHES]
    made += [Case("jsonPatchStatus", json.dumps([{"op": "add", "path": "/status", "value": {"replicas": "x"}}]))]
    for held in ("x", "r"):
        made.append(Case("getScale", "", held=held))
        made += [Case("scale", _scale(spec, held), held=held) for spec in _REPLICAS]
        made += [
            Case("mergePatchScale", f'{{"spec":{{{spec}}}}}', held=held) for spec in (*_REPLICAS, '"replicas":null')
        ]
        patch = [{"op": "replace", "path": "/spec/replicas", "value": 4}]
        made.append(Case("jsonPatchScale", json.dumps(patch), held=held))
    made.append(Case("scale", _scale('"replicas":3', "y")))
    made.append(Case("scale", _body(spec='"replicas":3')))
    for size in (1_000, 1_571_000, 1_573_000, 1_600_000, 2_500_000, 3_145_000, 3_145_728, 3_200_000):
        for dry_run in (False, True):
            made.append(Case("create", _body("new", spec=f'"a":"{"x" * size}"'), dry_run=dry_run))
    for op, spec in (("mergePatch", '"a":"5"'), ("apply", '"a":"5"')):
        whole = _body(version=_V2, spec=spec)
        made.append(Case(op, whole, version="v2"))
    made.append(Case("update", _body(version=_V2, more=',"resourceVersion":"RV"', spec='"a":"5"'), version="v2"))
    made.append(Case("apply", _body(version=_V2, spec='"zz":"5"'), version="v2"))
    return list({case.label: case for case in made}.values())


def _scale(spec: str, name: str = "x") -> str:
    return f'{{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{{"name":"{name}"}},"spec":{{{spec}}}}}'


_REPLICAS = ('"replicas":3', '"replicas":-3', '"replicas":"3"', '"replicas":3.5', '"replicas":3000000000', "")
_PATCHES: tuple[Any, ...] = (
    [{"op": "add", "path": "/spec/a", "value": "9"}],
    [{"op": "remove", "path": "/spec/nope"}],
    [{"op": "replace", "path": "/spec/nope", "value": 1}],
    [{"op": "test", "path": "/spec/a", "value": "nope"}],
    [{"op": "test", "path": "/spec/a", "value": "1"}],
    [{"op": "test", "path": "/spec/nope", "value": None}],
    [{"op": "add", "path": "/spec/q/w", "value": 1}],
    [{"op": "foo", "path": "/spec/a"}],
    {"op": "add"},
    [{"op": "add", "path": "spec/a", "value": 1}],
    [{"op": "move", "from": "/spec/a", "path": "/spec/list"}],
    [{"op": "move", "from": "/spec/list/0", "path": "/spec/list/1"}],
    [{"op": "copy", "from": "/spec/a", "path": "/status"}],
    [{"op": "copy", "from": "/spec/list/0", "path": "/spec/list/-"}],
    [{"op": "add", "path": "/spec/list/5", "value": {}}],
    [{"op": "add", "path": "/spec/list/0", "value": {"n": "1", "u": 1}}],
    [{"op": "add", "path": "/spec/list/-1", "value": {"n": "z"}}],
    [{"op": "remove", "path": "/spec/list/-1"}],
    [{"op": "replace", "path": "/spec/list/1/n", "value": 1}],
    [{"op": "replace", "path": "/spec/a", "value": 1}],
    [{"op": "replace", "path": "", "value": {}}],
    [{"op": "remove", "path": "/spec"}],
    [{"op": "add", "path": "/spec/a"}],
    [{"op": "add", "value": 1}],
    [{"op": "replace", "path": "/kind", "value": "Foo"}],
    [{"op": "replace", "path": "/metadata/name", "value": "y"}],
    [{"op": "add", "path": "/metadata/labels", "value": {"a~b/c": "1"}}],
    [{"op": "add", "path": "/metadata/labels", "value": {"a": 1}}],
    [],
)
_METHODS = {
    "create": ("POST", "", "application/json"),
    "update": ("PUT", "", "application/json"),
    "mergePatch": ("PATCH", "", "application/merge-patch+json"),
    "jsonPatch": ("PATCH", "", "application/json-patch+json"),
    "jsonPatchStatus": ("PATCH", "/status", "application/json-patch+json"),
    "apply": ("PATCH", "", "application/apply-patch+yaml"),
    "getScale": ("GET", "/scale", "application/json"),
    "scale": ("PUT", "/scale", "application/json"),
    "mergePatchScale": ("PATCH", "/scale", "application/merge-patch+json"),
    "jsonPatchScale": ("PATCH", "/scale", "application/json-patch+json"),
}


def _held(server: Referee, definition: Json) -> dict[str, Json]:
    """The stored objects, by name."""
    assert server.install(definition).accepted
    spec = {"a": "1", "list": [{"n": "1"}, {"n": "2"}]}
    for name, more in (("x", {}), ("r", {"replicas": 1})):
        obj = {"apiVersion": f"{_GROUP}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {**spec, **more}}
        assert server.write("create", definition, obj).accepted
    found = {}
    for name in ("x", "r"):
        meta = server.ask("GET", f"{collection(definition, 'v1')}/{name}", {}).body
        found[name] = meta
    return found


def _ask(server: Referee, definition: Json, held: dict[str, Json], case: Case) -> Answer:
    method, endpoint, kind = _METHODS[case.op]
    at = collection(definition, case.version) + ("" if method == "POST" else f"/{case.held}{endpoint}")
    options = {"fieldValidation": case.validation, "dryRun": "All" * case.dry_run, "fieldManager": "m"}
    query = "&".join(f"{key}={value}" for key, value in options.items() if value) + "&force=true" * (case.op == "apply")
    answer = server.send(method, f"{at}?{query}", _sent(case, held).encode(), kind)
    server.discard(definition, "new")
    return answer


_TYPED = "failed to create typed"


def _sent(case: Case, held: dict[str, Json]) -> str:
    return case.body.replace("RV", held[case.held]["metadata"]["resourceVersion"])


def _record(server: Referee) -> Json:
    definition = _definition()
    held = _held(server, definition)
    answers = {}
    for case in _cases():
        answer = _ask(server, definition, held, case)
        body = _content(answer.body) if answer.accepted and case.op != "getScale" and len(case.body) < 9_000 else None
        answers[case.label] = {
            "code": answer.code if not answer.accepted else 200,
            "message": _bare(answer.message),
            "object": body,
            "warnings": sorted(answer.warnings) if answer.accepted else [],
        }
    return {"held": held, "answers": answers}


def _content(obj: Json) -> Json:
    return {key: value for key, value in obj.items() if key != "metadata"}


def _bare(message: str) -> str:
    """A message without what the server makes up: times in the object that a patch makes, lines of its source."""
    message = re.sub(
        r'(patch: Invalid value: )".*?": (?=strict|Object|json|unexpected)', r"\1…: ", message, flags=re.DOTALL
    )
    message = re.sub(r"is missing in '\{.*?\}'(?= \(|$)", "is missing in …", message)
    return re.sub(r"scheme\.go:\d+", "scheme.go", re.sub(r"larger than max \(\d+", "larger than max (N", message))


def _judged(minor: str, recorded: Json, folder: Path) -> dict[str, Json]:
    """The answers of ``judge --requests``."""
    (folder / "crd.json").write_text(json.dumps(_definition()))
    lines = []
    for case in _cases():
        options = {"fieldValidation": case.validation} if case.validation else {"fieldValidation": "Warn"}
        more = {"dryRun": case.dry_run, "kube": minor, "crd": "crd.json", "op": case.op, "version": case.version}
        if case.op == "apply":
            more |= {"manager": "m", "force": True}
        if case.op != "create":
            more["old"] = recorded["held"][case.held]
        head = json.dumps({"namespace": "default", **options, **more})[:-1]
        lines.append(f'{head}, "new": {_sent(case, recorded["held"]) or "{}"}}}')
    ran = spawn("judge", "--requests", "-", cwd=folder, stdin="\n".join(lines).encode())
    found = [json.loads(line) for line in ran.out.split("\n") if line]
    return {case.label: answer for case, answer in zip(_cases(), found, strict=True)}


def _differing(recorded: Json, judged: dict[str, Json]) -> list[str]:
    wrong = []
    for label, theirs in recorded["answers"].items():
        ours = judged[label]
        if ours["accepted"] is None:
            wrong.append(f"{label}: unknown: {ours['unknown']}")
            continue
        mine = {
            "code": ours["code"],
            "message": _bare(ours["aggregate"]),
            "object": _content(ours["result"]) if ours["result"] and theirs["object"] is not None else None,
            "warnings": sorted(ours["warnings"]) if ours["accepted"] else [],
        }
        if theirs["message"].startswith(_TYPED):  # names some of the fields, in a random order
            mine["message"] = theirs["message"] = mine["message"].partition(": ")[0]
        wrong += [f"{label}: {key}: {mine[key]!r} != {theirs[key]!r}" for key in mine if mine[key] != theirs[key]]
    return wrong


def _read() -> dict[str, Json]:
    """Minor -> the stored objects, and the answers by label."""
    found: dict[str, Json] = {}
    for line in _GOLDEN.read_text(encoding="utf-8").splitlines() if _GOLDEN.is_file() else ():
        minor, label, said = json.loads(line)
        found.setdefault(minor, {"answers": {}})
        if label:
            found[minor]["answers"][label] = said
        else:
            found[minor]["held"] = said
    return found


_RECORDED = _read()


@pytest.mark.parametrize("minor", sorted(_RECORDED))
def test_answers_of_real_servers(minor: str, tmp_path: Path) -> None:
    wrong = _differing(_RECORDED[minor], _judged(minor, _RECORDED[minor], tmp_path))
    assert _RECORDED[minor]["answers"].keys() == {case.label for case in _cases()}
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", ["/version", "/version/"])
def test_the_server_names_its_minor(bench: Bench, path: str) -> None:
    answer = bench.server.send("GET", path, b"", "application/json")
    assert f"{answer.body['gitVersion']}.".startswith(f"v{bench.minor}.")


def test_the_servers_still_answer_so(bench: Bench, tmp_path: Path) -> None:
    found = _record(bench.server)
    wrong = _differing(found, _judged(bench.minor, found, tmp_path))
    assert not wrong, "\n".join(wrong)
    if bench.minor in _RECORDED:
        recorded = _RECORDED[bench.minor]["answers"]
        kept = {label for label, answer in recorded.items() if not answer["message"].startswith(_TYPED)}
        assert {each: found["answers"][each] for each in kept} == {each: recorded[each] for each in kept}


if __name__ == "__main__":
    for each, binary in referee_build.built(referee_build.cache_home()).items():
        with referee.running(binary) as running:
            _RECORDED[each] = _record(running)
    written = [
        json.dumps([each, label, said], ensure_ascii=False)
        for each, found in sorted(_RECORDED.items())
        for label, said in [("", found["held"]), *found["answers"].items()]
    ]
    _GOLDEN.write_text("\n".join(written) + "\n", encoding="utf-8")

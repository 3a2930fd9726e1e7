"""Hostile input: whatever a CRD, an object or a recording holds, the program answers or says what is wrong.

No exception but ``CrdcompatError`` may leave it, and no case may take long. The cases are the same in every
run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for more of them.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string, version
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from offline import PROJECT, SHARED
from operations import operations

import crdcompat
from crdcompat.apiserver.crd_validation.refusal import refusal, update_refusal
from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.crds.model import NotACrdError, read_crd
from crdcompat.errors import CrdcompatError
from crdcompat.features.judge.write_verdict import OPERATIONS, resource_of
from crdcompat.features.simulate.simulate_workflow import simulate
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.models.diff import DiffReport
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.replay.replayed_writes import replay
from crdcompat.sources import open_objects
from crdcompat.yaml.aliases import MAX_DEPTH

#: All cases of a run together; each test takes its share.
CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "200"))
#: Every how many kinds of nonsense one is tried in a place; another one in the next place.
_EVERY = 1 if "CRDCOMPAT_FUZZ" in os.environ else 8
#: Calls that one case may make.
_MOST_CALLS = 5_000_000
#: Bytes of addresses that the cases may add to those of the process.
_MOST_MEMORY = 4 << 30


def _share(part: float) -> Callable[[Any], Any]:
    return settings(
        max_examples=max(1, round(CASES * part)),
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module", autouse=True)
def _bounded_memory() -> Iterator[None]:
    """A case that asks for gigabytes fails; it does not take the machine with it."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.MonkeyPatch.context():
        # A process that has run other tests may have threads and libraries of gigabytes of addresses.
        limit = _address_space() + _MOST_MEMORY
        if hard == resource.RLIM_INFINITY or hard > limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        yield
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """The bytes of addresses that this process has; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


@contextmanager
def _sound() -> Iterator[None]:
    """Nothing but the program's own errors, and no more than bounded work."""
    with operations() as done:
        try:
            yield
        except CrdcompatError as error:
            assert str(error)
    assert done.calls < _MOST_CALLS


# -- what is thrown at it ------------------------------------------------------------------------------------

KEYWORDS = (
    "type", "format", "nullable", "enum", "required", "properties", "items", "additionalProperties", "anyOf", "oneOf",
    "allOf", "not", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "default", "uniqueItems", "description",
    "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
)  # fmt: skip

_SCALARS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**63, 10**30, 10**400, 1e308, -1e308, 5e-324, -0.0, 0.5,
    3.0, "", "a", "\x00", "\x1b[31m", "\ud800", "\U0001f600", "string", "integer", "number", "boolean", "object",
    "array", "map", "set", "atomic", "granular", "date-time", "ipv4", "int32", "byte", "duration",
    "(", "[", "(?<x>a)", "a{1001}", r"\pN", "^(a+)+$", r"\C", "(?i)[^\u0130]",
)  # fmt: skip

_RULES: tuple[Any, ...] = (
    [{}],
    [None],
    [5],
    [{"rule": 5}],
    [{"rule": ""}],
    [{"rule": "self"}],
    [{"rule": "self.a.b > 1"}],
    [{"rule": "self == oldSelf", "message": 5, "messageExpression": 5, "reason": 5, "fieldPath": 5}],
    [{"rule": "false", "messageExpression": "self", "fieldPath": ".a", "reason": "x", "optionalOldSelf": 5}],
    [{"rule": "self.all(a, self.all(b, self.all(c, a == b || b == c)))"}],
    [{"rule": "oldSelf.hasValue()", "optionalOldSelf": True}],
    [{"rule": "("}],
    {"rule": "true"},
)
_SHAPES: tuple[Any, ...] = (
    [], {}, [None], [1], ["a"], [{}], [[]], {"a": None}, {"a": 1}, {"type": "string"}, {"type": 5}, [{"type": []}],
    [{"properties": []}], {"a": {"type": "string", "default": 1}}, *_RULES,
)  # fmt: skip
GARBAGE = (*_SCALARS, *_SHAPES)

_GARBAGE = st.one_of(
    st.sampled_from(GARBAGE),
    st.sampled_from(GARBAGE),
    st.recursive(
        st.sampled_from(_SCALARS),
        lambda below: st.one_of(
            st.lists(below, max_size=3), st.dictionaries(st.sampled_from((*KEYWORDS, "a", "")), below, max_size=3)
        ),
        max_leaves=5,
    ),
).map(copy.deepcopy)

_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=6),
        st.sampled_from(_SCALARS),
    ),
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(st.text(max_size=4), below, max_size=4)),
    max_leaves=12,
)
_SERVERS = st.one_of(
    st.integers(21, 36).map(lambda minor: f"1.{minor}"),
    st.integers(8, 23).map(lambda minor: f"openshift-4.{minor}"),
)


@st.composite
def _schemas(draw: st.DrawFn, depth: int = 3) -> Json:
    """A structural schema, more or less."""
    kinds = ("string", "integer", "number", "boolean", "object", "array", "either", "free")
    kind = draw(st.sampled_from(kinds if depth else kinds[:4]))
    schema: Json = {"type": kind}
    if kind == "either":
        schema = {"x-kubernetes-int-or-string": True}
    elif kind == "free":
        schema = {"x-kubernetes-preserve-unknown-fields": True}
    elif kind == "array":
        schema["items"] = draw(_schemas(depth - 1))
        schema["x-kubernetes-list-type"] = draw(st.sampled_from(["atomic", "set", "map"]))
        if schema["x-kubernetes-list-type"] == "map":
            schema["x-kubernetes-list-map-keys"] = ["a"]
    elif kind == "object" and draw(st.booleans()):
        schema["additionalProperties"] = draw(_schemas(depth - 1))
    elif kind == "object":
        schema["properties"] = draw(st.dictionaries(st.sampled_from("abcd"), _schemas(depth - 1), max_size=3))
    more = st.fixed_dictionaries(
        {},
        optional={
            "nullable": st.booleans(),
            "enum": st.lists(st.sampled_from(_SCALARS[:20]), min_size=1, max_size=2),
            "default": st.sampled_from(_SCALARS[:20]),
            "minimum": st.integers(-2, 2),
            "maxLength": st.integers(0, 3),
            "minItems": st.integers(0, 3),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(0, 2),
            "pattern": st.sampled_from(["^a", "b$", "^(a|b)*$", "["]),
            "format": st.sampled_from(["date-time", "ipv4", "uuid", "byte", "email"]),
            "required": st.just(["a"]),
            "x-kubernetes-embedded-resource": st.booleans(),
            "x-kubernetes-validations": st.sampled_from(_RULES),
            "anyOf": st.just([{"minLength": 2}, {"required": ["a"]}, {"enum": [1, "a"]}]),
        },
    )
    for key, value in draw(more).items():
        if draw(st.integers(0, 3)) == 0:
            schema[key] = copy.deepcopy(value)
    return schema


_SCALES = (None, {}, {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.a"}, {"specReplicasPath": 5})


@st.composite
def _crds(draw: st.DrawFn, real: Sequence[Json]) -> Json:
    """A real CRD or one of a random schema, some of its values replaced."""
    if real and draw(st.booleans()):
        made = copy.deepcopy(real[draw(st.integers(0, len(real) - 1))])
    else:
        scale = draw(st.sampled_from(_SCALES))
        subresources = {"status": {}, **({"scale": dict(scale)} if scale is not None else {})}
        made = crd(versions=[version(root(spec=draw(_schemas()), status=draw(_schemas())), subresources=subresources)])
    return _mutated(draw, made, draw(st.integers(0, 3)))


def _mutated(draw: st.DrawFn, data: Any, times: int) -> Any:
    for _ in range(times):
        places = list(_places(data))
        if not places:
            return data
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        what = draw(st.integers(0, 3))
        if what == 0:
            del holder[key]
        elif what == 1 and isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYWORDS))] = draw(_GARBAGE)
        else:
            holder[key] = draw(_GARBAGE)
    return data


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    stack = [data]
    while stack:
        held = stack.pop()
        steps = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        for key, value in list(steps):
            yield held, key
            stack.append(value)


_METADATA: tuple[Any, ...] = (
    {"name": "a", "namespace": "default"},
    {"name": "a"},
    {"name": "a", "finalizers": ["example.com/x"], "labels": {"a": "b"}, "uid": "1", "resourceVersion": "1"},
    {},
    [],
    5,
    None,
    {"name": 5},
    {"name": "a", "labels": []},
    {"name": "a", "annotations": {"a": 1}},
    {"name": "a", "ownerReferences": [{}]},
    {"name": "a", "ownerReferences": [None]},
    {"name": "a", "managedFields": [{"a": 1}]},
    {"name": "a", "creationTimestamp": "x", "deletionTimestamp": "0001-01-01T00:00:00Z"},
    {"name": "a", "finalizers": [1], "generation": 2**70},
    {"name": "\ud800", "labels": {"\ud800": "\ud800"}, "generation": 1e308},
)


@st.composite
def _objects(draw: st.DrawFn, definition: Any) -> Json:
    """An object that mostly fits a CRD, or anything at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.dictionaries(st.sampled_from(("spec", "status", "metadata", "kind", "")), _JSON, max_size=4))
    made: Json = {}
    try:
        spec = definition["spec"]
        entry = spec["versions"][0]
        made = _value(draw, entry["schema"]["openAPIV3Schema"], 6)
        made = made if isinstance(made, dict) else {}
        made |= {"apiVersion": f"{spec['group']}/{entry['name']}", "kind": spec["names"]["kind"]}
    except (LookupError, TypeError):
        made |= {"apiVersion": "example.com/v1", "kind": "Widget", "spec": draw(_JSON)}
    made["metadata"] = copy.deepcopy(_METADATA[0] if draw(st.booleans()) else draw(st.sampled_from(_METADATA)))
    return _mutated(draw, made, draw(st.sampled_from((0, 0, 0, 1, 2))))


def _value(draw: st.DrawFn, schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or not depth or draw(st.integers(0, 12)) == 0:
        return draw(_GARBAGE)
    members = schema.get("enum")
    if isinstance(members, list) and members and draw(st.integers(0, 2)):
        return copy.deepcopy(draw(st.sampled_from(members)))
    match schema.get("type"):
        case "object":
            fields = schema.get("properties")
            fields = fields if isinstance(fields, dict) else {}
            chosen = [name for name in list(fields)[:12] if draw(st.booleans())]
            made = {name: _value(draw, fields[name], depth - 1) for name in chosen}
            if isinstance(schema.get("additionalProperties"), dict):
                made["key"] = _value(draw, schema["additionalProperties"], depth - 1)
            return made
        case "array":
            return [_value(draw, schema.get("items"), depth - 1) for _ in range(draw(st.integers(0, 3)))]
        case "integer" | "number":
            return draw(st.sampled_from((0, 1, -5, 2**31, 3.0, 1.5)))
        case "boolean":
            return draw(st.booleans())
        case "string":
            return draw(st.sampled_from(("", "a", "b", "abc", "10.0.0.1", "2020-01-01T00:00:00Z")))
    return draw(_GARBAGE)


class RealCrds(tuple[Json, ...]):
    """CRDs that a failing case does not print."""

    def __repr__(self) -> str:
        return f"<{len(self)} CRDs>"


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> RealCrds:
    """CRDs of openshift/api where there are any, else those of the demo."""
    if SHARED.is_dir():
        found = crdcompat.load("origin/release-4.16", repo=str(request.getfixturevalue("openshift_api")))
    else:
        found = crdcompat.load(f"path:{PROJECT / 'fixtures'}")
    documents = [dict(document.crd.raw) for document in found.documents]
    return RealCrds(document for document in documents if len(json.dumps(document)) < 40_000)


# -- single writes -------------------------------------------------------------------------------------------


@_share(0.45)
@given(data=st.data())
def test_writes(real: RealCrds, data: st.DataObject) -> None:
    definition = data.draw(_crds(real), label="crd")
    operation = data.draw(st.sampled_from(sorted(OPERATIONS)), label="operation")
    old = data.draw(_objects(definition), label="old")
    if data.draw(st.booleans()):
        new = _mutated(data.draw, copy.deepcopy(old), 1)
    else:
        new = data.draw(_objects(definition), label="new")
    kubernetes = data.draw(_SERVERS, label="server")
    with _sound():
        verdict = crdcompat.judge(definition, operation, new, old, kubernetes=kubernetes)
        assert verdict.accepted in (True, False, None)
        assert (verdict.accepted is True) == (verdict.object is not None)
        assert bool(verdict.message) == (verdict.accepted is False)


_HOLDERS: tuple[Json, ...] = (
    string(),
    {"type": "number"},
    {**array(obj(a=string())), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
    obj(a=string()),
    {"x-kubernetes-preserve-unknown-fields": True},
)
_SPECS: tuple[Any, ...] = (None, "a", 1.5, [{"a": "x"}, {"a": "x"}], {"a": "x"})
_ONE_OF_EACH: tuple[Any, ...] = (
    None, True, -1, 2**31, 10**400, 0.5, "", "a", "(", [], {}, [None], [1], [{}], {"a": 1}, {"type": 5}, *_RULES[:4],
)  # fmt: skip


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keywords_of_wrong_types(keyword: str) -> None:
    """Each keyword with each kind of nonsense, in a schema and in branches of it, and all kinds of values below it."""
    failed: dict[str, Any] = {}
    for first, holder in enumerate(_HOLDERS, KEYWORDS.index(keyword)):
        for garbage in _ONE_OF_EACH[first % _EVERY :: _EVERY]:
            extra = {keyword: garbage}
            _judge_all(crd(root(spec={**holder, **extra})), "1.26", failed)
            if not isinstance(garbage, dict | list):
                _judge_all(crd(root(spec={**holder, "anyOf": [extra], "not": extra})), "1.36", failed)
    assert not failed, f"{len(failed)} kinds: {failed}"


def _judge_all(definition: Json, kubernetes: str, failed: dict[str, Any]) -> None:
    """Judge objects under one CRD; what escapes goes to ``failed``, by its place."""
    resource = resource_of(definition, "v1", kubernetes_server(kubernetes))
    base = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    writes: list[Callable[[], Any]] = [lambda: refusal(resource.crd, resource.server)]
    for spec in _SPECS:
        new = {**base, "spec": spec}
        writes.append(partial(resource.create, new))
        writes.append(partial(resource.apply, {"spec": spec}, new))
    writes.append(partial(replay, resource, {**base, "spec": 5}, had_status=True))
    for write in writes:
        try:
            with _sound():
                write()
        except Exception as error:
            failed.setdefault(_place(error), (definition["spec"]["versions"][0]["schema"], str(write), repr(error)))


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    where = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "crdcompat" in Path(code.co_filename).parts:
            where = f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {where}"


_CRD_PLACES: tuple[tuple[str | int, ...], ...] = (
    ("metadata",),
    ("metadata", "name"),
    ("metadata", "annotations"),
    ("spec",),
    ("spec", "group"),
    ("spec", "scope"),
    ("spec", "names"),
    ("spec", "names", "kind"),
    ("spec", "names", "plural"),
    ("spec", "versions"),
    ("spec", "versions", 0),
    ("spec", "versions", 0, "name"),
    ("spec", "versions", 0, "schema"),
    ("spec", "versions", 0, "schema", "openAPIV3Schema"),
    ("spec", "versions", 0, "subresources"),
    ("spec", "versions", 0, "subresources", "scale"),
    ("spec", "versions", 0, "subresources", "scale", "specReplicasPath"),
    ("spec", "versions", 0, "storage"),
    ("spec", "versions", 0, "served"),
    ("spec", "conversion"),
    ("spec", "preserveUnknownFields"),
)


@pytest.mark.parametrize("place", _CRD_PLACES, ids=lambda place: ".".join(map(str, place)))
def test_crds_of_wrong_shapes(place: tuple[str | int, ...], tmp_path: Path) -> None:
    """Each part of a CRD with each kind of nonsense: judged, refused, read from a file and compared with itself."""
    failed: dict[str, Any] = {}
    base = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    kinds = (*GARBAGE, {"a": 5}, {"release.openshift.io/feature-set": 5})
    for garbage in kinds[_CRD_PLACES.index(place) % _EVERY :: _EVERY]:
        definition = crd(root(spec=obj(replicas={"type": "integer"})))
        definition["spec"]["versions"][0]["subresources"]["scale"] = {"specReplicasPath": ".spec.replicas"}
        holder: Any = definition
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = garbage
        try:
            with _sound():
                crdcompat.judge(definition, "create", base)
            with _sound():
                crdcompat.judge(definition, "scale", {"spec": {"replicas": 1}}, base, version="v1")
            with _sound():
                _compare(tmp_path, definition, crd(root(spec=obj())), [base])
        except Exception as error:
            failed.setdefault(_place(error), (garbage, repr(error)))
    assert not failed, f"{len(failed)} kinds: {failed}"


@pytest.mark.parametrize("levels", [20, MAX_DEPTH - 10])
def test_deep_objects_and_schemas(levels: int) -> None:
    """As deep as a file may be."""
    deep: Any = "end"
    schema: Json = string()
    for level in range(levels):
        deep, schema = ({"a": deep}, obj(a=schema)) if level % 2 else ([deep], array(schema))
    for node in (schema, {"x-kubernetes-preserve-unknown-fields": True}):
        for spec in (deep, {"a": [5]}):
            new = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
            with _sound():
                verdict = crdcompat.judge(crd(root(spec=node)), "update", {**new, "spec": spec}, {**new, "spec": deep})
                assert verdict.accepted in (True, False)


# -- CRDs against each other, and objects against them --------------------------------------------------------


def _compare(at: Path, old: Json, new: Json, objects: Sequence[Any]) -> DiffReport:
    sides = []
    for name, definition in (("old", old), ("new", new)):
        folder = at / name
        folder.mkdir(exist_ok=True)
        (folder / "crd.json").write_text(json.dumps(definition))
        sides.append(crdcompat.load(f"path:{folder}"))
    report = crdcompat.diff(*sides)
    recorded = [Recorded(item, f"objects.json[{index}]") for index, item in enumerate(objects)]
    simulate(*sides, recorded)
    simulate(*sides, recorded, upgrade=True)
    return with_evidence(report, *sides, [recorded])


@_share(0.2)
@given(data=st.data())
def test_comparing(real: RealCrds, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    old = data.draw(_crds(real), label="old")
    new = _mutated(data.draw, copy.deepcopy(old), data.draw(st.integers(1, 3)))
    objects = [data.draw(_objects(new), label="object") for _ in range(2)]
    folder = tmp_path_factory.getbasetemp() / "compared"
    folder.mkdir(exist_ok=True)
    with _sound():
        _compare(folder, old, new, objects)


@_share(0.15)
@given(data=st.data())
def test_refusing(real: RealCrds, data: st.DataObject) -> None:
    definition = data.draw(_crds(real), label="crd")
    other = _mutated(data.draw, copy.deepcopy(definition), 1)
    server = kubernetes_server(data.draw(_SERVERS, label="server"))
    with _sound():
        try:
            found, target = read_crd(definition), read_crd(other)
        except NotACrdError as error:
            assert str(error)
            return
        assert isinstance(refusal(found, server), str)
        assert isinstance(update_refusal(found, target, ["v1", "v2"], server), str)


# -- bytes -----------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    (
        b"apiVersion: ", b"kind: ", b"metadata:\n", b"  name: a\n", b"spec:\n", b"items:\n", b"- ", b"---\n", b"...\n",
        b"{", b"}", b"[", b"]", b'"', b"'", b": ", b",", b"\n", b"  ", b"\t", b"&a ", b"*a ", b"<<: *a\n", b"!!binary ",
        b"!!python/object:os.system ", b"%YAML 1.1\n", b"? ", b"| \n", b"> \n", b"#", b"\xff\xfe", b"\x00",
        b"\xef\xbb\xbf", b"0o17", b"1e400", b".nan", b"-.inf", b"12345678901234567890", b"2020-01-01", b"~", b"yes",
        b"CustomResourceDefinition", b"apiextensions.k8s.io/v1", b"List", b"\x1f\x8b\x08", b"\\ud800",
    )
)  # fmt: skip
_BYTES = st.one_of(
    st.binary(max_size=200),
    st.lists(_PIECES, max_size=25).map(b"".join),
    st.lists(st.one_of(_PIECES, st.binary(max_size=4)), max_size=25).map(b"".join),
)
_SUFFIXES = st.sampled_from((".yaml", ".json", ".ndjson", "", ".tar.gz", ".tar", ".gz", ".tgz"))


def _reached(base: bytes) -> st.SearchStrategy[bytes]:
    """A good file with a piece of it overwritten."""

    def spoiled(at: int, length: int, piece: bytes) -> bytes:
        return base[:at] + piece + base[at + length :]

    return st.builds(spoiled, st.integers(0, len(base)), st.integers(0, 20), st.one_of(_PIECES, st.binary(max_size=8)))


_GOOD = json.dumps(crd(root(spec=obj(a=string("x", "y")))), indent=1).encode()
_RECORDED = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "List",
        "items": [{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"a": "x"}}],
    },
    indent=1,
).encode()


@_share(0.1)
@given(text=st.one_of(_BYTES, _reached(_RECORDED)), suffix=_SUFFIXES)
def test_bytes_as_recordings(tmp_path_factory: pytest.TempPathFactory, text: bytes, suffix: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"recording{suffix}"
    path.write_bytes(text)
    crds = _one_crd(tmp_path_factory)
    for source in (str(path), f"recording:{path}"):
        with _sound():
            report = simulate(crds, crds, read_objects(open_objects(source)))
            assert report.direction == "rollback"


@_share(0.1)
@given(text=st.one_of(_BYTES, _reached(_GOOD)), suffix=_SUFFIXES)
def test_bytes_as_crds(tmp_path_factory: pytest.TempPathFactory, text: bytes, suffix: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"crds{suffix}"
    path.write_bytes(text)
    for source in (f"path:{path}", f"recording:{path}"):
        with _sound():
            found = crdcompat.load(source)
            crdcompat.diff(found, _one_crd(tmp_path_factory))


def _one_crd(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.getbasetemp() / "widget.json"
    if not path.exists():
        path.write_bytes(_GOOD)
    return crdcompat.load(f"path:{path}")

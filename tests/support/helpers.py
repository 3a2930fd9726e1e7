"""Shared by the main suite: the command line in this process, small CRDs, and independent judges."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import re2
import yaml
from json_schemas import Schema

from crdcompat import __main__, judge
from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.keywords import Keyword
from crdcompat.crds.manifest_positions import ManifestPositions
from crdcompat.crds.model import CrdDocument, read_crd
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.rules import Example
from crdcompat.models.finding import Finding
from crdcompat.render.data.schema import schema_of_reports
from crdcompat.sources.tree import Tree

Json = dict[str, Any]

CONTEXT = "Default/self-managed-high-availability"
LOCAL = ("apiVersion", "kind", "metadata")


# -- the command line ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """How one run of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> Json:
        """Standard output as a JSON report, validated with the schema that the program ships."""
        return checked(json.loads(self.out))


class _Input(io.TextIOWrapper):
    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")


def run(*args: str | Path, cwd: Path | None = None, stdin: bytes = b"") -> Run:
    """Run ``crdcompat ARGS`` through its own entry point, in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["crdcompat", *map(str, args)], _Input(stdin)
    code: Any = None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(cwd or Path.cwd()):
            __main__.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv, sys.stdin = before
    for stream in (out, err):
        stream.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    assert isinstance(code, int | None), code
    return never_a_silent_pass(args, Run(code or 0, *texts))


def spawn(*args: str | Path, cwd: Path | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Run:
    """Run ``crdcompat ARGS`` as a process of its own, as a user does."""
    command = [str(Path(sys.executable).with_name("crdcompat")), *map(str, args)]
    done = subprocess.run(command, cwd=cwd, input=stdin, env=env, capture_output=True, check=False)
    return never_a_silent_pass(args, Run(done.returncode, done.stdout.decode(), done.stderr.decode()))


#: The commands whose reports have a verdict.
_JUDGING = ("diff", "check", "matrix", "simulate", "preflight", "versions")
_UNKNOWN = re.compile(r"\bUNKNOWN\b")


def never_a_silent_pass(args: Sequence[str | Path], ran: Run) -> Run:
    """The run. Raises AssertionError if its exit code does not follow from its verdict.

    0 beside the word UNKNOWN is an error unless an option allows that, and standard error names the option.
    """
    command = str(args[0]) if args else ""
    if command not in _JUDGING or ran.code not in (0, 1, 2) or "--help" in args:
        return ran
    allowed = "the verdict is UNKNOWN, allowed by --" in ran.err
    if ran.code == 0 and not ran.out.startswith("{"):  # in JSON the word may be a value of an enum
        assert allowed or not _UNKNOWN.search(ran.out), f"exit 0 beside UNKNOWN: {ran.out[-2000:]}"
    with contextlib.suppress(json.JSONDecodeError):
        report = json.loads(ran.out)
        if isinstance(report, dict) and "verdict" in report:
            assert (ran.code == 0 and report["verdict"] == "unknown") <= allowed, report["summary"]
            assert allowed == ("allowed_by" in report)
            codes = {"unknown": (2,), "blocked": (1, 2), "at risk": (0, 1), "clean": (0, 1)}
            eased = allowed or any(str(each).startswith("--fail-on") for each in args)
            assert eased or ran.code in codes[report["verdict"]], (ran.code, report["verdict"])
    return ran


def diff(old: str | Path, new: str | Path, *args: str | Path, cwd: Path | None = None) -> Json:
    """The JSON report of ``crdcompat diff``; the exit code must be 0 or 1, or 2 for undecided differences."""
    ran = run("diff", old, new, *args, "--format", "json", cwd=cwd)
    assert ran.code in (0, 1) or (ran.code == 2 and ran.report["undecided"]), ran.err or ran.out
    return ran.report


@cache
def _reports() -> Schema:
    schema = schema_of_reports()
    defs = schema["$defs"]
    del defs["finding"]["allOf"]
    defs["finding"]["properties"] |= defs["cellFinding"]["properties"]
    defs["finding"]["required"] += defs["cellFinding"]["required"]
    for name in ("finding", "cellFinding", "harmless", "promotedGate", "simulated", "undecided"):
        # A user's schema may be older than a report. That of the project has every field.
        defs[name]["additionalProperties"] = False
    return Schema(schema)


def checked(report: Json) -> Json:
    """The report; raises AssertionError if it does not match the schema."""
    assert _reports().faults(report)[:1] == []
    return report


# -- small CRDs ---------------------------------------------


def obj(**properties: Any) -> Json:
    """A schema of type object."""
    return {"type": "object", "properties": properties}


def string(*enum: str, **more: Any) -> Json:
    """A string schema, with an enum if members are given."""
    return {"type": "string", **({"enum": list(enum)} if enum else {}), **more}


def array(items: Json, **more: Any) -> Json:
    """A list schema."""
    return {"type": "array", "items": items, **more}


def version(schema: Json | None, name: str = "v1", **more: Any) -> Json:
    """One entry of spec.versions, with the status subresource."""
    body = {} if schema is None else {"schema": {"openAPIV3Schema": schema}}
    return {"name": name, "served": True, "storage": True, **body, "subresources": {"status": {}}, **more}


def crd(
    schema: Json | None = None,
    *,
    kind: str = "Widget",
    group: str = "example.com",
    versions: Sequence[Json] = (),
    annotations: Mapping[str, str] | None = None,
    scope: str = "Namespaced",
) -> Json:
    """A CRD of one version v1, or of the versions given."""
    plural = f"{kind.lower()}s"
    metadata: Json = {"name": f"{plural}.{group}"}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "scope": scope,
            "versions": list(versions) or [version(schema)],
        },
    }


def root(**parts: Json) -> Json:
    """A root schema with what every CRD has besides spec and status."""
    return obj(apiVersion=string(), kind=string(), metadata={"type": "object"}, **parts)


_LOCAL_SCHEMAS = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
_NOTHING_GIVEN = obj(spec=obj(size={"type": "integer"}))


def example_crd(example: Example, side: str) -> Json:
    """A plain Widget CRD with the example's schema, and its ``old_crd`` or ``new_crd`` laid over ``spec``."""
    schema: Json = getattr(example, side) or _NOTHING_GIVEN
    made = crd({**schema, "properties": {**_LOCAL_SCHEMAS, **schema.get("properties", {})}})
    given: Json = copy.deepcopy(getattr(example, f"{side}_crd") or {})
    (standard,) = made["spec"]["versions"]
    given["versions"] = [_laid_over(copy.deepcopy(standard), entry) for entry in given.get("versions", [{}])]
    made["spec"] = _laid_over(made["spec"], given)
    made["metadata"]["name"] = f"{made['spec']['names']['plural']}.{made['spec']['group']}"
    return made


def _laid_over(base: Json, part: Json) -> Json:
    """``part`` laid over ``base``: null removes a key, a list replaces a list."""
    made = {**base}
    for key, value in part.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict) and isinstance(made.get(key), dict):
            made[key] = _laid_over(made[key], value)
        else:
            made[key] = value
    return made


class _Dumper(yaml.CSafeDumper):
    """Quotes ``n`` and ``y``: booleans to Go's YAML 1.1 reader, strings to PyYAML."""


_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:[nNyY])$"), list("nNyY"))


def write(path: Path, *documents: Any) -> Path:
    """Write documents to a file, JSON or YAML by its name; text and bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if len(documents) == 1 and isinstance(documents[0], bytes):
        path.write_bytes(documents[0])
    elif len(documents) == 1 and isinstance(documents[0], str):
        path.write_text(documents[0], encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text("\n".join(json.dumps(document) for document in documents), encoding="utf-8")
    else:
        path.write_text(yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def both(tmp_path: Path, old: Json, new: Json) -> tuple[Path, Path]:
    """Two folders with one CRD each, made from two CRDs or two root schemas."""
    for name, data in (("old", old), ("new", new)):
        write(tmp_path / name / "widget.yaml", data if data.get("kind") == "CustomResourceDefinition" else crd(data))
    return tmp_path / "old", tmp_path / "new"


def unpack(archive: tarfile.TarFile, into: Path) -> None:
    """Unpack a trusted archive; early releases of Python 3.11 have no filters."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(into, filter="data")
    else:
        archive.extractall(into)


def git(at: Path, *args: str) -> str:
    """Run git; its output without the last newline."""
    return subprocess.run(["git", "-C", str(at), *args], check=True, capture_output=True, text=True).stdout.strip()


def commit(repo: Path, files: Mapping[str, Any], message: str = "change") -> str:
    """Write files (documents or text, None removes) and commit all of it."""
    for name, data in files.items():
        if data is None:
            (repo / name).unlink()
        else:
            write(repo / name, data)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", message)
    return git(repo, "rev-parse", "HEAD")


def crd_set(name: str, definition: Json) -> CrdSet:
    """A set of one CRD that is in no file."""

    def read(_: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        return iter(())

    document = CrdDocument(read_crd(definition), "", 0)
    return CrdSet(name, None, (), (document,), (), (), (), read, ManifestPositions(read))


# -- findings ---------------------------------------------


def brief(finding: Json) -> tuple[str, ...]:
    """A finding in short: direction, severity, rule, CRD, path."""
    return tuple(finding[key] for key in ("direction", "severity", "rule", "crd", "path"))


def only(report: Json, **wanted: Any) -> Json:
    """The one finding of a report with these facts."""
    found = select(report, **wanted)
    assert len(found) == 1, [brief(finding) for finding in report["findings"]]
    return found[0]


def select(report: Json, **wanted: Any) -> list[Json]:
    """The findings of a report with these facts; ``context`` is one that the finding lists."""
    context = wanted.pop("context", None)
    return [
        finding
        for finding in report["findings"]
        if all(finding[key] == value for key, value in wanted.items())
        and (context is None or context in finding["contexts"])
    ]


# -- the witness, judged anew ---------------------------------------------

_INDEX = re2.compile(r"\[\d+\]")


def general(field: str) -> str:
    """``spec.l[3]`` -> ``spec.l[*]``."""
    return str(_INDEX.sub("[*]", field))


def places(value: Any, path: str) -> Iterator[tuple[str | int, ...]]:
    """All concrete places in a value that a report's path names."""
    steps = path.replace("[*]", "\x00[*]").replace(".*", "\x00*").replace(".", "\x00").split("\x00") if path else []

    def go(here: Any, rest: Sequence[str], at: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
        if not rest:
            yield at
        elif rest[0] == "[*]" and isinstance(here, list):
            for index, item in enumerate(here):
                yield from go(item, rest[1:], (*at, index))
        elif rest[0] == "*" and isinstance(here, dict):
            for key, member in here.items():
                yield from go(member, rest[1:], (*at, key))
        elif isinstance(here, dict) and rest[0] in here:
            yield from go(here[rest[0]], rest[1:], (*at, rest[0]))

    yield from go(value, [step for step in steps if step], ())


def field_name(place: Sequence[str | int]) -> str:
    """A place as schema errors write it."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def at(value: Any, place: Sequence[str | int]) -> Any:
    """The value at a place."""
    for step in place:
        value = value[step]
    return value


#: What the sentences of a rule's own errors have in common; rules without an entry may show any error at their place.
_SENTENCES = {
    "enum-": r"Unsupported value: |should match|\(anyOf\)|\(oneOf\)",
    "pattern-": "should match '",
    "length-": "chars long|Too long: ",
    "bounds-": "should be (greater|less) than ",
    "multiple-of-": "should be a multiple of |must be positive",
    "item-count-": "should have at (least|most) .* items|Too many: ",
    "property-count-": "should have at (least|most) .* properties|Too many: ",
    "required-": "Required value$",
    "list-type-": "Duplicate value: |must be an object for an array",
    "list-keys-": "Duplicate value: ",
    "format-": "must be of type |Checked value",
    "junctor-": r"\((anyOf|oneOf|allOf|not)\)",
    "nullable-": "Required value|must be of type ",
}


def shows(finding: Json, verdict: Any, witness: Json) -> bool:
    """Whether a verdict of the reader shows what the finding claims: by its sentences alone, as a user would look."""
    fields = {field_name(place) for place in places(witness, finding["path"])}
    if finding["effect"] == "write-rejected" and finding["rule"] in ("property-added", "property-removed"):
        # Changed, and rejected for another reason.
        return verdict.accepted is False and bool({*fields, finding["path"]} & {*verdict.pruned, *verdict.defaulted})
    if finding["effect"] == "write-rejected":
        # A missing field has no place in the witness, so its error is searched below what lacks it.
        if finding["rule"].startswith("required-"):
            above, _, name = finding["path"].rpartition(".")
            fields = {field_name((*place, name)) for place in places(witness, above)}
        fields = fields or {finding["path"].replace("[*]", "[0]")}
        wanted = next((text for start, text in _SENTENCES.items() if finding["rule"].startswith(start)), "")
        return any(
            (re.search(wanted, error.text()) or _lists(finding, error)) and _stands_at(error, fields)
            for error in verdict.errors
        )
    if verdict.accepted is False:
        return False
    if finding["effect"] == "value-pruned":
        return bool(fields & set(verdict.pruned))
    added = {field_name(place) for place in places(verdict.object or {}, finding["path"])} or {finding["path"]}
    return finding["effect"] == "value-defaulted" and bool(added & set(verdict.defaulted))


def _lists(finding: Json, error: Any) -> bool:
    """Whether an error may be that of a rule that lists values as an enum does: its sentence is the author's."""
    return bool(finding["rule"].startswith("enum-") and error.keyword is Keyword.RULE)


def _stands_at(error: Any, fields: set[str]) -> bool:
    if error.field == "<nil>":
        quoted = error.detail.partition('"')[2].partition('"')[0]
        return not error.detail.startswith('"') or quoted in fields
    place = re.sub(r"\[(\D[^]]*)\]", r".\1", error.field)  # a key of a map, as rules spell it
    return any(place == field or place.startswith((f"{field}.", f"{field}[")) for field in fields)


def prove(finding: Json, old: Json, new: Json, *, old_kube: str = "1.31", new_kube: str = "1.31") -> None:
    """Assert that the writer accepts a finding's witness, the reader shows its effect, and it is minimal.

    If the witness is an update, the writer accepts what is stored.
    It is minimal if nothing can be left out without losing the effect or adding an error.
    """
    witness = finding["witness"]["object"]
    assert witness is not None, f"{brief(finding)}: {finding['witness']['reason']}"
    operation, stored = finding["witness"].get("operation", "validate"), finding["witness"].get("stored")
    sides = ((old, old_kube), (new, new_kube))
    (reader, reader_kube), (writer, writer_kube) = sides if finding["direction"] == "rollback" else sides[::-1]
    name = finding["version"]

    def accepted(candidate: Json) -> Verdict:
        return judge(writer, operation, candidate, stored, version=name, kubernetes=writer_kube)

    def read(candidate: Json) -> Verdict:
        return judge(reader, operation, candidate, stored, version=name, kubernetes=reader_kube)

    if stored is not None:
        held = judge(writer, "validate", stored, version=name, kubernetes=writer_kube)
        assert held.accepted is True, (brief(finding), held.message)

    first = accepted(witness)
    assert first.accepted is True, (brief(finding), first.message)
    answer = read(first.object or {})
    assert shows(finding, answer, first.object or {}), (brief(finding), answer.message, witness)
    if finding["effect"] == "write-rejected":
        assert answer.accepted is False
    kept, known = next(places(first.object or {}, finding["path"]), ()), {(e.type, e.field) for e in answer.errors}
    for smaller in without_one(witness, kept):
        left = accepted(smaller)
        again = read(left.object or {})
        worse = {(error.type, error.field) for error in again.errors} - known
        assert not (left.accepted and shows(finding, again, left.object or {})) or worse, (
            f"{brief(finding)}: {smaller} does as well as {witness}"
        )


def without_one(value: Json, kept: tuple[str | int, ...]) -> Iterator[Json]:
    """The object without one member or item, except the members of every object and those above ``kept``."""
    for place in _members({key: member for key, member in value.items() if key not in LOCAL}, ()):
        if place == kept[: len(place)]:
            continue
        copied = copy.deepcopy(value)
        holder = at(copied, place[:-1])
        del holder[place[-1]]
        yield copied


def _members(value: Any, here: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    pairs: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for step, member in pairs:
        yield (*here, step)
        yield from _members(member, (*here, step))


# -- a second judge: plain JSON Schema ---------------------------------------------


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not re2.search(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


_PLAIN = jsonschema.validators.extend(jsonschema.Draft4Validator, {"pattern": _pattern})


def plain_errors(schema: Json, instance: Json) -> list[tuple[str, str]]:
    """(keyword, field) of errors of plain JSON Schema, which knows no CEL rules, pruning or defaults."""
    body = {key: member for key, member in instance.items() if key not in LOCAL[:2]}
    found: list[tuple[str, str]] = []

    def add(error: jsonschema.ValidationError) -> None:
        field = field_name(list(error.absolute_path))
        found.append((error.validator, field))
        for inner in error.context or ():
            add(inner)

    for error in _PLAIN(_as_json_schema(schema)).iter_errors(body):
        add(error)
    return found


def _as_json_schema(node: Any) -> Any:
    if isinstance(node, list):
        return [_as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {
        key: {name: _as_json_schema(sub) for name, sub in value.items()}
        if key == "properties"
        else value
        if key in ("enum", "default", "required")
        else _as_json_schema(value)
        for key, value in node.items()
        if not key.startswith("x-kubernetes-") and key not in ("nullable", "format", "default", "description")
    }
    if node.get("x-kubernetes-int-or-string"):
        plain.pop("type", None)
        plain["anyOf"] = [{"type": "integer"}, {"type": "string"}, *plain.get("anyOf", [])]
    elif node.get("nullable") and isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
    return plain


def schema_of(definition: Json, name: str) -> Json:
    """The schema of one version of a CRD (v1 form)."""
    return next(v for v in definition["spec"]["versions"] if v["name"] == name)["schema"]["openAPIV3Schema"]


# -- openshift/api ---------------------------------------------

RELEASES = ("4.12", "4.13", "4.14", "4.15", "4.16")
PAIRS = tuple(pairwise(RELEASES))
_KUBE = {release: f"openshift-{release}" for release in RELEASES}


def kube(release: str) -> str:
    """The server of an OpenShift release, for ``judge``."""
    return _KUBE[release]


class _Loader(yaml.CSafeLoader):
    """Timestamps stay text, as Kubernetes has them."""


_Loader.yaml_implicit_resolvers = {
    key: [entry for entry in entries if entry[0] != "tag:yaml.org,2002:timestamp"]
    for key, entries in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def load_yaml(data: str | bytes) -> Any:
    """One YAML document, read by plain PyYAML, independent of the program."""
    return yaml.load(data, _Loader)


def manifest(clone: Path, release: str, path: str) -> Json:
    """A CRD of openshift/api at a release branch."""
    return _manifest(str(clone), release, path)


@cache
def _manifest(clone: str, release: str, path: str) -> Json:
    found: Json = load_yaml(git(Path(clone), "show", f"origin/release-{release}:{path}"))
    return found


def located(finding: Json, side: str, *, containing: str = "") -> str:
    """The first file of a side that a finding names."""
    return next(
        place["file"] for place in finding["locations"] if place["side"] == side and containing in place["file"]
    )


def check(at: Path, *args: str, code: int) -> Json:
    ran = run("check", *args, "--format", "json", cwd=at)
    assert ran.code == code, ran.err or ran.out[:2000]
    return ran.report


def recorded_count(finding: Finding) -> int:
    return finding.evidence.recorded_objects


def remarks(report: Json) -> list[tuple[str, int, str, str]]:
    found = report["summary"]["remarks"]
    return [(each["file"], each["line"], each["side"], each["message"]) for each in found]


#: The kinds of write in the order of the report.
WRITES = (
    "status-update",
    "status-update-touching",
    "spec-update",
    "metadata-update",
    "finalizer-removal",
    "apply",
    "create",
)
REJECTED = ("status-update", "status-update-touching", "spec-update", "metadata-update", "finalizer-removal")


def simulate(*args: str | Path, code: int | None = None, cwd: Path | None = None, stdin: bytes = b"") -> Json:
    ran = run("simulate", *args, "--format", "json", cwd=cwd, stdin=stdin)
    assert ran.code in ((code,) if code is not None else (0, 1)), ran.err or ran.out
    return ran.report


def verdicts(item: Json) -> dict[str, str]:
    return {name: write["verdict"] for name, write in item["writes"].items()}


ERAS = ("1.26", "1.29", "1.30", "1.33")


def widget(body: Json, name: str = "a", **meta: Any) -> Json:
    metadata = {"name": name, "namespace": "default", **meta}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **body}


def contents(tree: Tree) -> dict[str, str]:
    return {entry.path: data.decode() for entry, data in tree.read(tree.entries())}


def apply_patch(patch: str, at: Path) -> None:
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=at, check=True, capture_output=True)


def without_texts(schema: Any) -> Any:
    """The schema without descriptions, which no judgement depends on; fields may be called ``description``."""
    if isinstance(schema, list):
        return [without_texts(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_texts(value)
        for key, value in schema.items()
        if not (key == "description" and isinstance(value, str))
    }

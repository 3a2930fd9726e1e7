"""What else than a manifest makes CRDs: other objects, texts, charts, kustomizations, folders that are listed."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from changes import repository, widget
from checked import NEW, OLD, checked, errors, files
from helpers import Json, commit, run

_GROWN = ("rollback", "enum-value-added", "status.p")


def _in_template(crd: Json) -> Json:
    return {"apiVersion": "template.openshift.io/v1", "kind": "Template", "objects": [crd]}


def _in_set(crd: Json) -> Json:
    kind = {"apiVersion": "hive.openshift.io/v1", "kind": "SelectorSyncSet", "metadata": {"name": "a"}}
    return {**kind, "spec": {"resources": [crd]}}


def _in_work(crd: Json) -> Json:
    kind = {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork"}
    return {**kind, "spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "List", "items": [crd]}]}}}


def _in_list(crd: Json) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "a/v1", "kind": "FooList", "items": [crd]}]}


def _in_map(crd: Json) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {"w.yaml": f"# a\n{yaml.safe_dump(crd)}"}}


def _in_map_as_json(crd: Json) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {"w": json.dumps(crd).replace("Custom", "C\\u0075stom")}}


def _in_binary(crd: Json) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "binaryData": {"w": _coded(crd)}}


def _in_bundle(crd: Json) -> Json:
    held = {"type": "olm.bundle.object", "value": {"data": _coded(crd)}}
    return {"schema": "olm.bundle", "name": "w.v1", "package": "w", "properties": [held]}


def _in_secret(crd: Json) -> Json:
    kind = {"apiVersion": "v1", "kind": "Secret", "type": "addons.cluster.x-k8s.io/resource-set"}
    return {**kind, "data": {"w": _coded(crd)}}


def _in_map_in_template(crd: Json) -> Json:
    return _in_template(_in_map(_in_map(crd)))


def _coded(crd: Json) -> str:
    return base64.b64encode(json.dumps(crd).encode()).decode()


_HOLDERS = (
    _in_template, _in_set, _in_work, _in_list, _in_map, _in_map_as_json, _in_binary, _in_bundle, _in_secret,
    _in_map_in_template,
)  # fmt: skip


@pytest.mark.parametrize("holder", _HOLDERS)
@pytest.mark.parametrize("name", ["held.yaml", "held.json"])
def test_a_crd_in_another_object(tmp_path: Path, holder: Any, name: str) -> None:
    texts = [json.dumps(holder(crd)) if name == "held.json" else yaml.safe_dump(holder(crd)) for crd in (OLD, NEW)]
    code, report = checked(tmp_path, {name: texts[0]}, {name: texts[1]})
    assert (code, errors(report), files(report)) == (1, {_GROWN}, {name: "judged"})


def test_no_patch_for_a_crd_in_a_text(tmp_path: Path) -> None:
    for side, crd in (("old", OLD), ("new", NEW)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "m.yaml").write_text(yaml.safe_dump(_in_map(crd)))
    ran = run("diff", f"path:{tmp_path / 'old'}", f"path:{tmp_path / 'new'}", "--suggest-patch")
    assert (ran.code, "# m.yaml holds the CRD in a text or a List: widen it by hand" in ran.out) == (1, True)


def test_copies_that_no_cluster_gets(tmp_path: Path) -> None:
    """What kubectl applied last stands in the metadata; a text about CRDs is no manifest."""
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(NEW)}
    about = "Install the kind: CustomResourceDefinition first.\nThen the rest.\n"
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": applied}, "data": {"a": about}}
    code, report = checked(tmp_path, {"w.yaml": OLD, "m.yaml": "a: 1\n"}, {"w.yaml": OLD, "m.yaml": held})
    assert (code, report["sections"], files(report)) == (0, [], {"m.yaml": "no-crd"})


def _packed(crd: Json, place: str = "crds/w.yaml") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path, text in (("w/Chart.yaml", "name: w\nversion: 1.0.0\n"), (f"w/{place}", json.dumps(crd))):
            member = tarfile.TarInfo(path)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(made.getvalue())


def test_a_packed_chart(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    packed = repo / "chart/charts/w-1.0.0.tgz"
    packed.parent.mkdir(parents=True)
    for crd in (OLD, NEW):
        packed.write_bytes(_packed(crd))
        commit(repo, {"chart/Chart.yaml": "name: a\nversion: 1.0.0\n", "README": f"{len(packed.read_bytes())}"})
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    grown = {("upgrade", *_GROWN[1:])}  # in crds/, which helm does not replace
    assert (ran.code, errors(ran.report), files(ran.report)) == (1, grown, {"chart/charts/w-1.0.0.tgz": "judged"})
    packed.write_bytes(_packed(NEW, "templates/_w.tpl"))
    commit(repo, {"README": "a named template"})
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    assert (ran.code, files(ran.report)) == (2, {"chart/charts/w-1.0.0.tgz": "not-judged"})
    packed.write_bytes(b"\x1f\x8bno archive")
    commit(repo, {"README": "damaged"})
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    assert (ran.code, files(ran.report)) == (2, {"chart/charts/w-1.0.0.tgz": "not-judged"})


@pytest.mark.parametrize("name", ["w.tpl", "w.tmpl", "w.txt", "w.yaml.in", "w.crd"])
def test_a_text_of_another_name(tmp_path: Path, name: str) -> None:
    code, report = checked(tmp_path, {name: yaml.safe_dump(OLD)}, {name: yaml.safe_dump(NEW)})
    assert (code, errors(report), files(report)) == (1, {_GROWN}, {name: "judged"})


def test_a_template_of_another_name_is_not_judged(tmp_path: Path) -> None:
    text = f'{{{{- define "w" -}}}}\n{yaml.safe_dump(NEW)}{{{{- end }}}}\n'
    code, report = checked(tmp_path, {"w.yaml": OLD, "w.tpl": text}, {"w.yaml": OLD, "w.tpl": f"{text}\n"})
    assert (code, files(report)) == (2, {"w.tpl": "not-judged"})


@pytest.mark.parametrize("name", ["notes.txt", "README.md", "w.go", "a.tpl"])
def test_texts_without_a_crd_are_quiet(tmp_path: Path, name: str) -> None:
    code, report = checked(tmp_path, {name: "a CustomResourceDefinition\n"}, {name: "two CustomResourceDefinitions\n"})
    assert (code, report["sections"], report["files"]) == (0, [], [])


# -- kustomizations ---------------------------------------------------------------------------


def _lists(*names: str, **more: Any) -> Json:
    return {"resources": list(names), **more}


@pytest.mark.parametrize("folder", ["vendor/a", "testdata", "tests/e2e"])
def test_a_folder_that_a_kustomization_lists(tmp_path: Path, folder: str) -> None:
    path = f"{folder}/w.yaml"
    listing = {"config/kustomization.yaml": _lists(f"../{path}")}
    code, report = checked(tmp_path, {path: OLD, **listing}, {path: NEW, **listing})
    assert (code, errors(report), files(report)) == (1, {_GROWN}, {path: "judged"})


def test_a_folder_that_a_kustomization_lists_as_a_folder(tmp_path: Path) -> None:
    listing = {"kustomization.yaml": _lists("vendor/a"), "vendor/a/kustomization.yaml": _lists("w")}
    code, report = checked(
        tmp_path, {"vendor/a/w": json.dumps(OLD), **listing}, {"vendor/a/w": json.dumps(NEW), **listing}
    )
    assert (code, errors(report)) == (1, {_GROWN})


def test_a_folder_that_the_configuration_lists(tmp_path: Path) -> None:
    config = {".crdcompat.yaml": json.dumps({"include": ["vendor/a/*", "crds/*"]})}
    code, report = checked(tmp_path, {"vendor/a/w.yaml": OLD, **config}, {"vendor/a/w.yaml": NEW, **config})
    assert (code, errors(report)) == (1, {_GROWN})


def test_a_folder_that_nothing_lists_is_named(tmp_path: Path) -> None:
    code, report = checked(tmp_path, {"w.yaml": OLD, "vendor/w.yaml": OLD}, {"w.yaml": OLD, "vendor/w.yaml": NEW})
    assert (code, report["files"]) == (0, [{"file": "vendor/w.yaml", "outcome": "not-judged", "reason": "vendored"}])


def _patch(**target: str) -> list[Json]:
    return [{"target": target, "path": "p.yaml"}]


def _replacement(field: str) -> list[Json]:
    source = {"kind": "ConfigMap", "name": "c", "fieldPath": "data.p"}
    return [{"source": source, "targets": [{"select": {"kind": "CustomResourceDefinition"}, "fieldPaths": [field]}]}]


_CRD_TARGET = {"target": {"kind": "CustomResourceDefinition"}, "path": "p.yaml"}
_OPERATIONS = [{"op": "remove", "path": "/spec/versions/0/schema"}]
_CRD_HEAD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: "
_INJECTED = _CRD_HEAD + "{name: widgets.example.com, annotations: {cert-manager.io/inject-ca-from: a/b}}\n"
_DEPLOYED = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: a}\n"


def _merged(patch: str, **more: Any) -> tuple[Any, Any]:
    return _lists("w.yaml"), _lists("w.yaml", patches=[{"patch": patch, **more}])


_KUSTOMIZATIONS: dict[str, tuple[Any, Any]] = {
    "labels and a field": _merged(_INJECTED + "spec: {scope: Cluster}\n"),
    "a deleted CRD": _merged(_INJECTED + "$patch: delete\n"),
    "deleted labels and more": _merged(_CRD_HEAD + "{name: widgets.example.com, $patch: replace}\n"),
    "an annotation that decides": _merged(
        _INJECTED.replace("cert-manager.io/inject-ca-from", "gateway.networking.k8s.io/channel")
    ),
    "another name": _merged(_INJECTED, target={"kind": "CustomResourceDefinition"}, options={"allowNameChange": True}),
    "fields of what a target selects": _merged(
        _DEPLOYED + "spec: {scope: Cluster}\n", target={"kind": "CustomResourceDefinition"}
    ),
    "labels and an operation": _merged(_INJECTED + "---\n" + json.dumps(_OPERATIONS)),
    "a second document": _merged(_DEPLOYED + "---\n" + _INJECTED + "spec: {scope: Cluster}\n"),
    "a CRD that is not listed any more": (_lists("w.yaml"), _lists()),
    "another copy": (_lists("w.yaml"), _lists("next.yaml")),
    "a patch of CRDs": (_lists("w.yaml"), _lists("w.yaml", patches=[_CRD_TARGET])),
    "a patch without a target": (_lists("w.yaml"), _lists("w.yaml", patches=["p.yaml"])),
    "a remote resource": (_lists("https://a.example.com/a?ref=v1"), _lists("https://a.example.com/a?ref=v2")),
    "a chart with CRDs": (_lists(), _lists(helmCharts=[{"name": "a", "includeCRDs": True}])),
    "a patch by a pattern": (_lists("w.yaml"), _lists("w.yaml", patches=_patch(kind="Custom.*"))),
    "a patch by alternatives": (_lists("w.yaml"), _lists("w.yaml", patches=_patch(kind="A|CustomResourceDefinition"))),
    "a patch by a name": (_lists("w.yaml"), _lists("w.yaml", patches=_patch(name="widgets.example.com"))),
    "a replacement": (_lists("w.yaml"), _lists("w.yaml", replacements=_replacement("spec.versions.0.name"))),
    "a remote resource without a scheme": (_lists("git.example.com/a//b"), _lists("git.example.com/a//c")),
    "a base that is not listed any more": (_lists("base"), _lists()),
    "another base": (_lists("base"), _lists("w.yaml")),
    "a component with a patch": (_lists("w.yaml"), _lists("w.yaml", components=["component"])),
}
_QUIET: dict[str, tuple[Any, Any]] = {
    "an annotation": _merged(_INJECTED),
    "an annotation for a target": _merged(_INJECTED, target={"kind": "CustomResourceDefinition"}),
    "an annotation and no status": _merged(_INJECTED + "status: null\n"),
    "a Deployment beside labels": _merged(_INJECTED + "---\n" + _DEPLOYED + "spec: {replicas: 2}\n"),
    "a file of labels": (_lists("w.yaml"), _lists("w.yaml", patchesStrategicMerge=["labels.yaml"])),
    "images": (_lists("w.yaml"), _lists("w.yaml", images=[{"name": "a", "newTag": "2"}])),
    "another resource": (_lists("w.yaml", "d.yaml"), _lists("w.yaml")),
    "a CRD that is listed": (_lists(), _lists("w.yaml")),
    "a patch of a Deployment": (_lists(), _lists(patches=[{"target": {"kind": "Deployment"}, "path": "p.yaml"}])),
    "a patch by a name of one word": (_lists("w.yaml"), _lists("w.yaml", patches=_patch(name="manager"))),
    "a patch of another group": (_lists("w.yaml"), _lists("w.yaml", patches=_patch(group="apps"))),
    "a replacement in metadata": (
        _lists("w.yaml"), _lists("w.yaml", replacements=_replacement(".metadata.annotations.a")),
    ),
    "a patch of a Deployment by its kind": (
        _lists("w.yaml"), _lists("w.yaml", patches=[{"patch": "kind: Deployment\nargs: CustomResourceDefinition\n"}]),
    ),
    "a patch of CRDs that stays": (
        _lists("w.yaml", patches=[_CRD_TARGET]), _lists("w.yaml", patches=[_CRD_TARGET], namePrefix="a-"),
    ),
}  # fmt: skip
_BESIDE = {
    "w.yaml": OLD, "next.yaml": widget("A"), "p.yaml": _OPERATIONS, "d.yaml": "kind: Deployment\n",
    "labels.yaml": _INJECTED,
    "base/kustomization.yaml": _lists("b.yaml"), "base/b.yaml": OLD,
    "component/kustomization.yaml": {"kind": "Component", "patches": _patch(kind="CustomResourceDefinition")},
}  # fmt: skip


@pytest.mark.parametrize("case", _KUSTOMIZATIONS)
def test_what_only_kustomize_can_tell(tmp_path: Path, case: str) -> None:
    before, after = ({"kustomization.yaml": each, **_BESIDE} for each in _KUSTOMIZATIONS[case])
    code, report = checked(tmp_path, before, after)
    assert (code, report["verdict"], "not-judged" in files(report).values()) == (2, "unknown", True)


@pytest.mark.parametrize("case", _QUIET)
def test_kustomizations_that_change_no_crd(tmp_path: Path, case: str) -> None:
    before, after = ({"kustomization.yaml": each, **_BESIDE} for each in _QUIET[case])
    code, report = checked(tmp_path, before, after)
    assert (code, report["verdict"], set(files(report).values()) <= {"no-crd"}) == (0, "clean", True)


@pytest.mark.parametrize(
    ("folder", "named", "expected"),
    [
        ("config/samples", "widget.yaml", (0, "clean")),
        ("config/samples", "https://example.com/widget.yaml", (2, "unknown")),
        ("config/crd", "made/widget.yaml", (2, "unknown")),
        ("hack/install", "made/widget.yaml", (2, "unknown")),
    ],
    ids=["a sample", "a remote one", "what a build may write", "the same among scripts"],
)
def test_a_manifest_that_is_not_in_the_tree(tmp_path: Path, folder: str, named: str, expected: tuple[int, str]) -> None:
    """humio-operator: kubebuilder lists a sample of each kind, which has another name."""
    both = {"w.yaml": OLD, f"{folder}/kustomization.yaml": _lists()}
    code, report = checked(tmp_path, both, {**both, f"{folder}/kustomization.yaml": _lists(named)})
    assert (code, report["verdict"]) == expected


_OF_PATCH: dict[str, tuple[Json, Json]] = {
    "a patch": ({"patches": [_CRD_TARGET]}, {"p.yaml": _OPERATIONS}),
    "a patch without a name of a manifest": (
        {"patches": [{**_CRD_TARGET, "path": "p.md"}]}, {"p.md": json.dumps(_OPERATIONS)},
    ),
    "replacements": ({"replacements": [{"path": "p.yaml"}]}, {"p.yaml": _replacement("spec.versions.0.name")}),
    "the source of a replacement": (
        {"replacements": _replacement("spec.versions.0.name"), "resources": ["w.yaml", "p.yaml"]},
        {"p.yaml": {"kind": "ConfigMap", "data": {"p": "a"}}},
    ),
    "values": ({"helmCharts": [{"name": "a", "includeCRDs": True, "valuesFile": "p.yaml"}]}, {"p.yaml": {"a": 1}}),
}  # fmt: skip


@pytest.mark.parametrize("case", _OF_PATCH)
def test_the_file_of_a_patch(tmp_path: Path, case: str) -> None:
    content, after = _OF_PATCH[case]
    listing = {"w.yaml": OLD, "kustomization.yaml": _lists("w.yaml") | content}
    code, report = checked(tmp_path, {**dict.fromkeys(after, "[]"), **listing}, {**after, **listing})
    assert (code, report["verdict"]) == (2, "unknown")
    (tmp_path / "a").mkdir()
    alone = {**listing, "kustomization.yaml": _lists("w.yaml")}
    assert checked(tmp_path / "a", {**dict.fromkeys(after, "[]"), **alone}, {**after, **alone})[0] == 0


@pytest.mark.parametrize("name", ["w.md", "w.go", "Widgets", ".w", "w.conf"])
def test_a_kustomization_lists_a_file_of_any_name(tmp_path: Path, name: str) -> None:
    listing = {"kustomization.yaml": _lists(name)}
    code, report = checked(tmp_path, {name: json.dumps(OLD), **listing}, {name: json.dumps(NEW), **listing})
    assert (code, errors(report), files(report)) == (1, {_GROWN}, {name: "judged"})


def test_a_patch_beside_a_crd_that_is_judged(tmp_path: Path) -> None:
    """A harmless change of one CRD does not hide what is not judged."""
    wider = {**OLD, "metadata": {**OLD["metadata"], "labels": {"a": "b"}}}
    listing = {"kustomization.yaml": _lists("w.yaml", patches=[_CRD_TARGET])}
    code, report = checked(
        tmp_path, {"w.yaml": OLD, "p.yaml": [], **listing}, {"w.yaml": wider, "p.yaml": _OPERATIONS, **listing}
    )
    assert (code, files(report)["w.yaml"], report["verdict"]) == (2, "judged", "unknown")


# -- charts -----------------------------------------------------------------------------------

_CHART = "name: a\nversion: 1.0.0\n"
_TEMPLATE = "{{- if .Values.crds.install }}\n" + yaml.safe_dump(OLD) + "{{- end }}\n"
_VALUES = "crds:\n  install: true\nimage:\n  tag: '1'\n"
_HELPER = '{{- define "a.on" -}}{{ .Values.crds.install }}{{- end }}\n{{- define "a.name" -}}a{{- end }}\n'
_USING = _TEMPLATE.replace(".Values.crds.install", 'include "a.on" .')
_DEPENDENCY = "dependencies:\n- name: b\n  version: {}\n  repository: https://b.example.com\n"


_INNER = "dependencies:\n- name: b\n  version: 1\n"
_ON = f"{_INNER}  condition: b.enabled\n"
_READING = '{{ .Files.Get "files/one.yaml" }}\n'
_IN_CHART = {"inner": "name: b\nversion: 1\n", "held": json.dumps(OLD)}


def _chart(**more: str) -> Json:
    named = {
        "chart": "Chart.yaml", "values": "values.yaml", "crd": "templates/w.yaml", "helper": "templates/_h.tpl",
        "production": "values-production.yaml", "ignored": ".helmignore", "inner": "charts/b/Chart.yaml",
        "held": "charts/b/crds/w.yaml", "one": "files/one.yaml", "two": "files/two.yaml",
        "notes": "templates/NOTES.txt",
    }  # fmt: skip
    made = {"chart": _CHART, "values": _VALUES, "crd": _TEMPLATE, **more}
    return {f"charts/a/{named[key]}": text for key, text in made.items()}


_DEPLOYMENT = "kind: {{ .Values.kind }}\nmetadata: {name: a}\n"
_CHARTS: dict[str, tuple[Json, Json]] = {
    "a condition": (_chart(), _chart(crd=_TEMPLATE.replace("crds.install", "never"))),
    "a new condition": (_chart(crd=yaml.safe_dump(OLD)), _chart()),
    "a value": (_chart(), _chart(values=_VALUES.replace("true", "false"))),
    "a value of a named template": (
        _chart(crd=_USING, helper=_HELPER),
        _chart(crd=_USING, helper=_HELPER, values=_VALUES.replace("true", "false")),
    ),
    "a named template": (
        _chart(crd=_USING, helper=_HELPER),
        _chart(crd=_USING, helper=_HELPER.replace("{{ .Values.crds.install }}", "")),
    ),
    "a value in a variable": (
        _chart(crd=_TEMPLATE.replace("if .Values", "$v := .Values }}\n{{- if $v")),
        _chart(crd=_TEMPLATE.replace("if .Values", "$v := .Values }}\n{{- if $v"), values="crds: {install: false}\n"),
    ),
    "values of an environment": (
        _chart(production="crds: {install: true}\n"), _chart(production="crds: {install: false}\n"),
    ),
    "what is ignored": (_chart(ignored=""), _chart(ignored="w.yaml\n")),
    "the type of the chart": (_chart(), _chart(chart=f"{_CHART}type: library\n")),
    "a condition of a chart": (_chart(chart=_CHART + _INNER, **_IN_CHART), _chart(chart=_CHART + _ON, **_IN_CHART)),
    "the value of a condition": (
        _chart(chart=_CHART + _ON, **_IN_CHART), _chart(chart=_CHART + _ON, values="b: {enabled: no}\n", **_IN_CHART),
    ),
    "a file that a template reads": (
        _chart(crd=_READING, one=json.dumps(OLD), two=json.dumps(NEW)),
        _chart(crd=_READING.replace("one", "two"), one=json.dumps(OLD), two=json.dumps(NEW)),
    ),
    "a dependency": (_chart(chart=_CHART + _DEPENDENCY.format(1)), _chart(chart=_CHART + _DEPENDENCY.format(2))),
}  # fmt: skip
_QUIET_CHARTS: dict[str, tuple[Json, Json]] = {
    "notes": (
        _chart(notes="a: b\n"), _chart(notes="Install it first: a\nkind: CustomResourceDefinition\n"),
    ),
    "a value that no CRD uses": (_chart(), _chart(values=_VALUES.replace("'1'", "'2'"))),
    "the version": (_chart(), _chart(chart=_CHART.replace("1.0.0", "1.0.1"))),
    "a value of a chart without CRDs": (
        _chart(crd=_DEPLOYMENT), _chart(crd=_DEPLOYMENT, values=_VALUES.replace("true", "false")),
    ),
    "a template without CRDs": (
        _chart(crd=_DEPLOYMENT), _chart(crd=f"{{{{- if .Values.a }}}}\n{_DEPLOYMENT}{{{{ end }}}}"),
    ),
    "a named template that no CRD uses": (
        _chart(crd=_USING, helper=_HELPER), _chart(crd=_USING, helper=_HELPER.replace("}}a{{", "}}b{{")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _CHARTS)
def test_what_only_helm_can_tell(tmp_path: Path, case: str) -> None:
    code, report = checked(tmp_path, *_CHARTS[case])
    assert (code, report["verdict"], "not-judged" in files(report).values()) == (2, "unknown", True)


@pytest.mark.parametrize("case", _QUIET_CHARTS)
def test_charts_that_change_no_crd(tmp_path: Path, case: str) -> None:
    code, report = checked(tmp_path, *_QUIET_CHARTS[case])
    assert (code, report["verdict"], set(files(report).values()) <= {"no-crd"}) == (0, "clean", True)


@pytest.mark.parametrize("name", ["templates/w.md", "templates/W", "files/w.md"])
def test_a_chart_reads_a_file_of_any_name(tmp_path: Path, name: str) -> None:
    chart = {"a/Chart.yaml": _CHART, "a/templates/w.yaml": '{{ .Files.Get "files/w.md" }}\n'}
    before, after = ({f"a/{name}": yaml.safe_dump(crd), **chart} for crd in (OLD, NEW))
    code, report = checked(tmp_path, before, after)
    assert (code, errors(report), files(report)) == (1, {_GROWN}, {f"a/{name}": "judged"})


def test_the_files_in_text(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": OLD, "a.yaml": "a: 1\n"})
    commit(repo, {"w.yaml": NEW, "a.yaml": "a: 2\n", "vendor/w.yaml": NEW})
    shown = run("check", "--base", "HEAD~1", "--head", "HEAD", "-v", cwd=repo).out.splitlines()[:3]
    assert shown == ["a.yaml: without a CRD", "vendor/w.yaml: not judged (vendored)", "w.yaml: judged"]
    assert "a.yaml" not in run("check", "--base", "HEAD~1", "--head", "HEAD", cwd=repo).out


_FRAGMENT = f"{_CRD_HEAD}{{name: widgets.example.com}}\nspec: {{scope: Cluster}}\n"


def _patched_by(**patches: Any) -> dict[str, Any]:
    return {"w.yaml": OLD, "kustomization.yaml": _lists("w.yaml", **patches)}


_MOVED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a patch": (
        {**_patched_by(patches=[{"path": "p.yaml"}]), "p.yaml": _FRAGMENT},
        {**_patched_by(patches=[{"path": "patches/q.yaml"}]), "patches/q.yaml": _FRAGMENT},
    ),
    "operations": (
        {**_patched_by(patches=[_CRD_TARGET]), "p.yaml": _OPERATIONS},
        {**_patched_by(patches=[{**_CRD_TARGET, "path": "q.yaml"}]), "q.yaml": _OPERATIONS},
    ),
    "a patch of a list": (
        {**_patched_by(patchesStrategicMerge=["p.yaml"]), "p.yaml": _FRAGMENT},
        {**_patched_by(patchesStrategicMerge=["a/p.yaml"]), "a/p.yaml": _FRAGMENT},
    ),
    "all files": (
        {f"config/{path}": each for path, each in _patched_by(patches=[_CRD_TARGET]).items()}
        | {"config/p.yaml": _FRAGMENT},
        {f"deploy/{path}": each for path, each in _patched_by(patches=[_CRD_TARGET]).items()}
        | {"deploy/p.yaml": _FRAGMENT},
    ),
}


@pytest.mark.parametrize("case", _MOVED)
def test_a_patch_that_moves_is_the_same(tmp_path: Path, case: str) -> None:
    before, after = _MOVED[case]
    code, report = checked(tmp_path, before, after)
    assert (code, report["verdict"]) == (0, "clean")


@pytest.mark.parametrize("case", _MOVED)
def test_a_patch_that_moves_and_changes_is_not_seen(tmp_path: Path, case: str) -> None:
    before, after = _MOVED[case]
    changed = {path: each for path, each in after.items() if path.endswith(("p.yaml", "q.yaml"))}
    changed = {
        path: str(each).replace("Cluster", "Namespaced").replace("remove", "test") for path, each in changed.items()
    }
    assert checked(tmp_path, before, {**after, **changed})[0] == 2


@pytest.mark.parametrize("after", [{"patches/p.yaml": _FRAGMENT}, {"p.yaml": _FRAGMENT, "q.yaml": _FRAGMENT}, {}])
def test_a_patch_that_moves_away_from_what_lists_it_is_not(tmp_path: Path, after: dict[str, Any]) -> None:
    listing = _patched_by(patches=[{"path": "p.yaml"}])
    assert checked(tmp_path, {**listing, "p.yaml": _FRAGMENT}, {**listing, **after})[0] == 2


def test_a_patch_that_applies_twice_is_another(tmp_path: Path) -> None:
    once, twice = ([{**_CRD_TARGET, "path": path} for path in paths] for paths in (["p.yaml"], ["p.yaml", "q.yaml"]))
    files = {"p.yaml": _OPERATIONS, "q.yaml": _OPERATIONS}
    assert checked(tmp_path, {**_patched_by(patches=once), **files}, {**_patched_by(patches=twice), **files})[0] == 2


def _in_go(text: str) -> str:
    return f'package resources\n\n// All of them.\nvar CRDs = map[string]string{{\n\t"w": `{text}`,\n}}\n'


_IN_GO = tuple(_in_go(yaml.safe_dump(crd)) for crd in (OLD, NEW))


@pytest.mark.parametrize(
    ("path", "sides", "others"),
    [
        ("pkg/crds.go", _IN_GO, {}),
        ("pkg/crds.go", _IN_GO, {"e2e/w.yaml": OLD}),
        ("pkg/crds.go", _IN_GO, {"w.yaml": {**OLD, "metadata": {"name": "others.example.com"}}}),
        ("pkg/crds.go", ("package resources\n", _IN_GO[1]), {}),
        ("pkg/crds.go", (_IN_GO[0], _in_go("kind: CustomResourceDefinition\na: [")), {}),
    ],
    ids=["no manifest", "a manifest for tests", "a manifest of another CRD", "a new CRD", "not legible"],
)
def test_crds_in_strings_of_go_are_not_judged(tmp_path: Path, path: str, sides: tuple[str, str], others: Json) -> None:
    """The importer of KubeVirt keeps its CRDs in crds_generated.go alone."""
    code, report = checked(tmp_path, *({**others, path: text} for text in sides))
    assert (code, report["verdict"], files(report)) == (2, "unknown", {path: "not-judged"})


@pytest.mark.parametrize(
    ("path", "sides", "others"),
    [
        ("pkg/crds.go", _IN_GO, {"w.yaml": OLD}),
        ("pkg/crds.go", (_IN_GO[0], _IN_GO[0].replace("All", "Some")), {}),
        ("pkg/crds_test.go", _IN_GO, {}),
        ("test/crds.go", _IN_GO, {}),
        ("pkg/crds.go", tuple(f"package a\n\nvar a = b.CustomResourceDefinition{{X: {each}}}\n" for each in "12"), {}),
    ],
    ids=["a manifest has it", "another comment", "a test", "in a folder of tests", "a value"],
)
def test_other_go_files_are_no_reason_for_doubt(
    tmp_path: Path, path: str, sides: tuple[str, str], others: Json
) -> None:
    code, report = checked(tmp_path, *({**others, path: text} for text in sides))
    assert (code, files(report)) == (0, {})

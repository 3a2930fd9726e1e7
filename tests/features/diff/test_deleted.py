"""CRDs in the templates of a Helm chart that the other release has not there: Helm deletes them with all objects."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
import yaml
from helpers import Json, commit, crd, diff, git, obj, root, run, string, write

_SPEC = root(spec=obj(a=string()))
KEEP = 'annotations:\n    "helm.sh/resource-policy": keep\n'
Files = dict[str, str | Json]


def template(kind: str, metadata: str = "", name: str = "") -> str:
    """A template of a CRD with more metadata."""
    made = crd(_SPEC, kind=kind)
    lines = "".join(f"  {line}\n" for line in metadata.splitlines())
    head = f"apiVersion: {made['apiVersion']}\nkind: {made['kind']}\nmetadata:\n"
    return f"{head}{lines}  name: {name or made['metadata']['name']}\n{yaml.safe_dump({'spec': made['spec']})}"


def chart(folder: str = "chart/", /, **templates: str) -> Files:
    """The files of a chart with templates of Widgets, and of more CRDs by the names of their files."""
    made = {"widget": template("Widget"), **templates}
    files: Files = {f"{folder}Chart.yaml": "name: a\nversion: 1.0.0\n"}
    return files | {f"{folder}templates/{name}.yaml": text for name, text in made.items()}


def found(tmp_path: Path, old: Files, new: Files, *args: str) -> set[tuple[str, str, str, str]]:
    for side, files in (("old", old), ("new", new)):
        for name, data in files.items():
            write(tmp_path / side / name, data)
    report = diff(tmp_path / "old", tmp_path / "new", *args)
    return {(each["direction"], each["severity"], each["rule"], each["kind"]) for each in report["findings"]}


DELETED = ("rollback", "error", "crd-deleted", "Gadget")
WHERE = "in the templates of a Helm chart, without helm.sh/resource-policy: keep"
ADDED = ("rollback", "info", "crd-added", "Gadget")


@pytest.mark.parametrize(
    ("metadata", "finding"),
    [
        ("", DELETED),
        ("annotations:\n  a: b", DELETED),
        ('labels: {{- include "a.labels" . | nindent 4 }}', DELETED),
        ('labels:\n    {{- include "a.labels" . | nindent 4 }}\n  a: b', DELETED),
        ("labels:\n  a: {{ .Values.a }}", DELETED),
        ("{{- if .Values.a }}\nannotations:\n  a: b\n{{- end }}", DELETED),
        (KEEP, ADDED),
        ("annotations:\n  helm.sh/resource-policy: keep", ADDED),
        ("annotations:\n  {{- if .Values.keep }}\n  helm.sh/resource-policy: keep\n  {{- end }}", ADDED),
        ('annotations:\n  "helm.sh/resource-policy": {{ .Values.a | default "keep" }}', ADDED),
        ('annotations:\n  "helm.sh/resource-policy": {{ .Values.policy }}', (*DELETED[:1], "warning", *DELETED[2:])),
        ('annotations:\n  {{- include "a" . | nindent 4 }}', (*DELETED[:1], "warning", *DELETED[2:])),
        ('{{- include "a.metadata" . | nindent 2 }}', (*DELETED[:1], "warning", *DELETED[2:])),
    ],
)
def test_the_annotation_decides(tmp_path: Path, metadata: str, finding: tuple[str, ...]) -> None:
    assert found(tmp_path, chart(), chart(gadget=template("Gadget", metadata))) == {finding}


_MAYBE = (*DELETED[:1], "warning", *DELETED[2:])


@pytest.mark.parametrize("controls", [("", ""), ("{{- if .Values.crds }}\n", "{{- end }}\n")], ids=["plain", "if"])
@pytest.mark.parametrize(
    ("metadata", "finding"),
    [
        ("{name: gadgets.example.com}", DELETED),
        ("{name: gadgets.example.com, annotations: {helm.sh/resource-policy: keep}}", ADDED),
        ('{"name": "gadgets.example.com", "annotations": {"helm.sh/resource-policy": "keep"}}', ADDED),
        ('{\n  name: gadgets.example.com,\n  annotations: {\n    "helm.sh/resource-policy": keep } }', ADDED),
        ('{name: gadgets.example.com, labels: {a: "{{ .Release.Name }}"}}', DELETED),
        ('{name: gadgets.example.com, annotations: {a: "{{ .Values.a }}"}}', _MAYBE),
        ('{name: gadgets.example.com, annotations: {helm.sh/resource-policy: "{{ .Values.a }}", b: keep}}', _MAYBE),
    ],
)
def test_metadata_in_flow_style(
    tmp_path: Path, metadata: str, finding: tuple[str, ...], controls: tuple[str, str]
) -> None:
    made = template("Gadget").partition("metadata:\n")
    rest = made[2].partition("\n")[2]
    text = f"{controls[0]}{made[0]}metadata: {metadata}\n{rest}{controls[1]}"
    assert found(tmp_path, chart(), chart(gadget=text)) == {finding}


@pytest.mark.parametrize(
    ("metadata", "finding"), [("", DELETED), (KEEP, ADDED), ('{{- include "a" . | nindent 2 }}', _MAYBE)]
)
def test_a_packed_chart(tmp_path: Path, metadata: str, finding: tuple[str, ...]) -> None:
    for side, files in (("old", chart("b/")), ("new", chart("b/", gadget=template("Gadget", metadata)))):
        top = write(tmp_path / side / "Chart.yaml", "name: a\nversion: 1.0.0\n").parent
        (top / "charts").mkdir()
        with tarfile.open(top / "charts/b-1.tgz", "w:gz") as archive:
            for name, data in files.items():
                archive.add(write(tmp_path / "packed" / side / name, data), name)
    assert found(tmp_path, {}, {}) == {finding}


def test_of_several_crds_in_a_file_each_has_its_annotations(tmp_path: Path) -> None:
    both = f"{template('Gadget')}---\n{template('Gizmo', KEEP)}"
    assert found(tmp_path, chart(), chart(more=both)) == {DELETED, ("rollback", "info", "crd-added", "Gizmo")}


@pytest.mark.parametrize("illegible", ["old", "new"])
def test_a_template_that_cannot_be_read_may_still_have_the_crd(tmp_path: Path, illegible: str) -> None:
    """Consul: a chart kept its CRDs, in templates with conditions that were illegible."""
    loop = "{{- range .Values.all }}\n" + template("Gadget") + "{{- end }}\n"
    for side in ("old", "new"):
        for name, data in chart(gadget=loop if side == illegible else template("Gadget")).items():
            write(tmp_path / side / name, data)
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert (ran.code, ran.report["findings"]) == (2, [])


def test_the_message(tmp_path: Path) -> None:
    found(tmp_path, chart(), chart(gadget=template("Gadget")))
    ran = run("diff", "path:old", "path:new", cwd=tmp_path)
    lines = ran.out.splitlines()
    assert ran.code == 1
    assert lines[lines.index("error[crd-deleted] gadgets.example.com") :][:6] == [
        "error[crd-deleted] gadgets.example.com",
        "  --> chart/templates/gadget.yaml:4:3",
        "       4 + name: gadgets.example.com",
        f"  path:new has Gadget (gadgets.example.com) {WHERE}, and",
        "  path:old does not have it there: helm rollback deletes the CRD with all its objects.",
        "",
    ]
    assert "    helm rollback to path:old deletes the CRD with all its objects" in lines


# -- crds/ is no template -------------------------------------------------------------------------------


def _with_crds(folder: str) -> Files:
    return {**chart(), f"chart/{folder}/gadget.yaml": template("Gadget")}


def test_a_crd_that_moves_between_crds_and_templates(tmp_path: Path) -> None:
    assert found(tmp_path, _with_crds("crds"), _with_crds("templates")) == {DELETED}
    other = tmp_path / "other"
    assert found(other, _with_crds("templates"), _with_crds("crds")) == {("upgrade", "error", "crd-deleted", "Gadget")}


def test_a_crd_that_moves_and_that_only_helm_can_tell(tmp_path: Path) -> None:
    old = chart(gadget=template("Gadget", '{{- include "a" . }}'))
    assert found(tmp_path, old, _with_crds("crds")) == {("upgrade", "warning", "crd-deleted", "Gadget")}


def test_a_crd_in_crds_is_never_deleted(tmp_path: Path) -> None:
    """It is not even created (test_staying)."""
    assert found(tmp_path, chart(), _with_crds("crds")) == {("upgrade", "error", "crd-added", "Gadget")}


def test_a_crd_that_leaves_the_chart(tmp_path: Path) -> None:
    """What only helm can tell lowers nothing."""
    old = chart(gadget=template("Gadget"), gizmo=template("Gizmo", '{{- include "a" . }}'))
    assert found(tmp_path, old, chart()) == {
        ("upgrade", "error", "crd-deleted", "Gadget"),
        ("upgrade", "error", "crd-removed", "Gizmo"),
    }


def test_a_crd_inside_of_another_object(tmp_path: Path) -> None:
    """Helm manages the ConfigMap; what becomes of the CRD in it is not Helm's doing."""
    held: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "crds"},
        "data": {"gadget.yaml": template("Gadget")},
    }
    assert found(tmp_path, chart(), {**chart(), "chart/templates/crds.yaml": held}) == {ADDED}


# -- who installs ---------------------------------------------------------------------------------------


def test_without_a_chart_in_both_releases_helm_rolls_nothing_back(tmp_path: Path) -> None:
    new = chart(gadget=template("Gadget"))
    assert found(tmp_path, {"config/crd/widget.yaml": template("Widget")}, new) == {ADDED}


def test_templates_of_something_else(tmp_path: Path) -> None:
    old: Files = {"config/templates/widget.yaml": template("Widget")}
    assert found(tmp_path, old, {**old, "config/templates/gadget.yaml": template("Gadget")}) == {ADDED}


@pytest.mark.parametrize(("value", "severity"), [(False, "warning"), (True, "error"), (None, "error")])
def test_a_chart_in_a_chart_that_is_off(tmp_path: Path, value: bool | None, severity: str) -> None:
    """MetalLB's chart had one of FRR-K8s, for those who set frrk8s.enabled: most clusters have none of its CRDs."""
    inner = chart("chart/charts/b/", gadget=template("Gadget"), widget="")
    named: Files = {
        "chart/Chart.yaml": {"name": "a", "version": "1.0.0", "dependencies": [{"name": "b", "condition": "b.on"}]},
        "chart/values.yaml": {"b": {} if value is None else {"on": value}},
    }
    assert found(tmp_path, chart() | named, chart() | inner | named) == {(*DELETED[:1], severity, *DELETED[2:])}
    (one,) = diff(tmp_path / "old", tmp_path / "new")["findings"]
    assert one["message"].endswith("with all its objects (only where b.on turns its chart on)") == (value is False)


def test_a_chart_in_a_chart(tmp_path: Path) -> None:
    inner = "chart/charts/b/"
    new = {**chart(), f"{inner}Chart.yaml": "name: b\nversion: 1.0.0\n", f"{inner}templates/g.yaml": template("Gadget")}
    assert found(tmp_path, chart(), new) == {DELETED}


@pytest.mark.parametrize("name", ["cvo", "olm-v0", "olm-v1", "apply"])
def test_another_installer_deletes_nothing(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, chart(), chart(gadget=template("Gadget")), "--installer", name) == {ADDED}


def test_a_named_installer_needs_no_chart(tmp_path: Path) -> None:
    old, new = ({"w.yaml": template("Widget")}, {"w.yaml": template("Widget"), "g.yaml": template("Gadget")})
    assert found(tmp_path, old, new) == {ADDED}
    assert found(tmp_path, old, new, "--installer", "helm-templates") == {DELETED}


def test_an_unknown_installer(tmp_path: Path) -> None:
    ran = run("diff", "a", "b", "--installer", "helm", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "'helm' is not one of 'cvo', 'olm-v0', 'olm-v1', 'helm-templates', 'helm-crds', 'apply'" in ran.err


def test_the_configuration_names_the_installer(tmp_path: Path) -> None:
    write(tmp_path / ".crdcompat.yaml", {"installer": "apply"})
    found(tmp_path, chart(), chart(gadget=template("Gadget")))
    rules = [
        each["rule"]
        for each in run("diff", "path:old", "path:new", "--format", "json", cwd=tmp_path).report["findings"]
    ]
    assert rules == ["crd-added"]
    args = ("diff", "path:old", "path:new", "--installer", "helm-templates", "--format", "json")
    assert [each["rule"] for each in run(*args, cwd=tmp_path).report["findings"]] == ["crd-deleted"]


def test_filters(tmp_path: Path) -> None:
    new = chart(gadget=template("Gadget"))
    assert found(tmp_path, chart(), new, "--owner", "status") == set()
    assert found(tmp_path, chart(), new, "--direction", "upgrade") == set()
    assert found(tmp_path, chart(), new, "--crd", "widgets.example.com") == set()
    assert found(tmp_path, chart(), new, "--ignore", "crd-deleted") == set()


# -- the other commands ---------------------------------------------------------------------------------


def test_check_and_matrix(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, chart())
    git(tmp_path, "tag", "v1.0.0")
    commit(tmp_path, chart(gadget=template("Gadget")))
    git(tmp_path, "tag", "v1.1.0")
    checked = run("check", "--base", "v1.0.0", "--head", "v1.1.0", "--format", "json", cwd=tmp_path)
    rules = {each["rule"] for section in checked.report["sections"] for each in section["findings"]}
    assert (checked.code, rules) == (1, {"crd-deleted"})
    assert run("check", "--base", "v1.0.0", "--head", "v1.1.0", "--installer", "apply", cwd=tmp_path).code == 0
    shown = run("matrix", "v1.0.0", "v1.1.0", "--format", "json", cwd=tmp_path)
    assert (shown.code, {each["verdict"] for each in shown.report["cells"]}) == (1, {"blocked", "clean"})
    assert run("matrix", "v1.0.0", "v1.1.0", "--installer", "apply", cwd=tmp_path).code == 0

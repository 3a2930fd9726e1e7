"""Helm templates: conditions around a CRD are taken as true, text that a template inserts is not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from helpers import crd, diff, obj, remarks, root, run, string, write

_REMARK = "a template: its conditions are taken as true"


def _text(*values: str) -> str:
    return yaml.safe_dump(crd(root(status=obj(phase=string(*values)))), sort_keys=False)


def _sides(tmp_path: Path, before: str, after: str = "{{ end -}}") -> tuple[Path, Path]:
    for side, values in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "templates" / "w.yaml", f"{before}\n{_text(*values)}{after}\n")
    return tmp_path / "old", tmp_path / "new"


@pytest.mark.parametrize(
    "before",
    [
        "{{- if .Values.crds.install }}",
        '  {{ if and .Values.a (eq .Values.b "c") -}}  ',
        "{{/* about\n  it */}}\n{{- if .Values.crds }}",
        "{{- if and\n    .Values.a\n    (or\n      .Values.b\n      (not .Values.c)\n    )\n-}}",
    ],
)
def test_a_crd_in_a_condition_is_compared(tmp_path: Path, before: str) -> None:
    old, new = _sides(tmp_path, before)
    report = diff(old, new)
    (finding,) = report["findings"]
    assert finding["rule"] == "enum-value-added"
    line = next(
        at for at, text in enumerate((new / "templates/w.yaml").read_text().splitlines(), 1) if text.endswith("- B")
    )
    places = {place["side"]: place["line"] for place in finding["locations"]}
    assert places["new"] == line
    assert [(side, message) for _, _, side, message in remarks(report)] == [("new", _REMARK), ("old", _REMARK)]
    assert report["summary"]["skipped"] == report["summary"]["problems"] == []
    assert run("diff", old, new).out.count(_REMARK) == 1


_OLDER = """apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  version: v1
"""


def _branches(first: str, second: str) -> str:
    return f"{{{{- if .Values.a }}}}\n{first}{{{{- else if .Values.b }}}}\n{second}{{{{- end }}}}\n"


@pytest.mark.parametrize(
    ("old", "new", "added", "code"),
    [
        (_branches(_OLDER, _text("A")), _branches(_OLDER, _text("A", "B")), [["B"]], 1),
        (_branches(_text("A"), _text("C")), _branches(_text("A", "B"), _text("C")), [["B"]], 1),
        (_branches(_text("A"), _text("C")), _branches(_text("A"), _text("C", "D")), [["D"]], 1),
        (_branches(_text("A"), _text("C")), _branches(_text("A", "B"), _text("C", "D")), [], 2),
    ],
    ids=["v1beta1 for old servers", "the first", "the second", "both, and which belong together is not said"],
)
def test_branches_of_whole_crds_are_compared(
    tmp_path: Path, old: str, new: str, added: list[list[str]], code: int
) -> None:
    """multicloud-operators-subscription: v1beta1 for servers before 1.16, and v1."""
    for side, text in (("old", old), ("new", new)):
        write(tmp_path / side / "templates" / "w.yaml", text)
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert ([each["added"] for each in ran.report["findings"]], ran.code) == (added, code)
    assert ran.report["summary"]["problems"] == []


def test_metadata_on_a_condition_in_its_line_is_read(tmp_path: Path) -> None:
    for side, values in (("old", "A"), ("new", "AB")):
        text = _text(*values).replace(
            "metadata:\n",
            'metadata:\n  annotations:\n    a: b\n    {{ if .Values.a }}"helm.sh/resource-policy": keep{{ end }}\n',
            1,
        )
        write(tmp_path / side / "templates" / "w.yaml", text)
        write(tmp_path / side / "templates" / "g.yaml", crd(root(), kind="Gadget"))
        write(tmp_path / side / "Chart.yaml", "name: a\nversion: 1.0.0\n")
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert ([each["rule"] for each in ran.report["findings"]], ran.code) == (["enum-value-added"], 1)
    (tmp_path / "new/templates/w.yaml").unlink()
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [each["rule"] for each in report["findings"]] == ["crd-removed"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{{- if .Values.a }}", ""),
        ("{{- if .Values.a }}", "{{- else }}\nkind: Other\n{{- end }}"),
        ("{{- range .Values.all }}", "{{- end }}"),
        ("{{- if .Values.a }}\nmore:\n{{- toYaml .Values.more }}", "{{- end }}"),
        ("{{- if .Values.a }}\nvalue: {{ .Values.b }}", "{{- end }}"),
    ],
    ids=["no end", "another branch", "a loop", "inserted lines", "an inserted value"],
)
def test_text_that_a_template_chooses_is_a_problem(tmp_path: Path, before: str, after: str) -> None:
    ran = run("diff", *_sides(tmp_path, before, after), "--format", "json")
    assert (ran.report["findings"], ran.code) == ([], 2)
    assert {problem["message"].rpartition("(")[2] for problem in ran.report["summary"]["problems"]} == {
        "a template with a CRD: render it, for a chart with --helm, and compare the result, or exclude the file)"
    }


def test_the_head_of_templates_is_a_fragment(tmp_path: Path) -> None:
    """cert-manager: a build puts a head, which opens a condition, before each schema, and a foot behind it."""
    old, new = _sides(tmp_path, "{{- if .Values.crds }}")
    kind = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition"
    labels = '  labels:\n    {{- include "labels" . | nindent 4 }}'
    text = f"{{{{- if EXPRESSION }}}}\n{kind}\nmetadata:\n  name: NAME\n{labels}\n"
    (new / "head.yaml").write_text(text)
    report = diff(old, new)
    assert [finding["rule"] for finding in report["findings"]] == ["enum-value-added"]
    assert report["summary"]["skipped"] == [{"file": "head.yaml", "reason": "template that is not YAML", "side": "new"}]
    (new / "head.yaml").write_text(text + '{{ include "schema" . }}\n')
    assert run("diff", old, new).code == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('apiGroups: ["apiextensions.k8s.io"]\nresources: ["customresourcedefinitions"]', "no CRD"),
        ("apiGroups:\n- apiextensions.k8s.io\nresources:\n- customresourcedefinitions/status", "no CRD"),
        ("apiVersion: apiextensions.k8s.io/v1\nkind: {{ .Values.kind }}", "template that is not YAML"),
        ("apiVersion: apiextensions.k8s.io{{ .Values.v1 }}\nkind: {{ .Values.kind }}", "template that is not YAML"),
        ("group: apiextensions.k8s.io\nschema: {openAPIV3Schema: {}}", "template that is not YAML"),
    ],
)
def test_a_template_of_a_role_is_no_template_of_a_crd(tmp_path: Path, text: str, reason: str) -> None:
    """Volcano: the roles of most operators name the API group of CRDs, in templates that only helm can read."""
    old, new = _sides(tmp_path, "{{- if .Values.crds }}")
    (new / "role.yaml").write_text(f"kind: A\n{{{{- include `a` . }}}}\n{text}\n")
    skipped = diff(old, new)["summary"]["skipped"]
    assert skipped == [{"file": "role.yaml", "reason": reason, "side": "new"}]


_REFERENCE = """\
- apiVersion: apiextensions.k8s.io/v1
  jsonPointers:
  - /status/conditions
  kind: CustomResourceDefinition
  name: widgets.example.com
"""
_OBJECT = "- apiVersion: apiextensions.k8s.io/v1\n  kind: CustomResourceDefinition\n  metadata: {name: a}\n"


@pytest.mark.parametrize(("more", "code"), [("", 0), (_REFERENCE, 0), (_OBJECT, 2), (_REFERENCE + _OBJECT, 2)])
def test_a_template_that_names_a_crd_has_none(tmp_path: Path, more: str, code: int) -> None:
    """Harvester's Bundle of Fleet lists fields of CRDs whose differences do not count."""
    old, new = _sides(tmp_path, "{{- if .Values.crds }}")
    template = f"patches:\n{_REFERENCE}{more}{{{{- if .Vip }}}}\nvip: {{{{ .Vip }}}}\n{{{{ end }}\n"
    for side in (old, new):
        (side / "templates/w.yaml").write_text(_text("A"))
        (side / "bundle.yaml").write_text(template)
    assert run("diff", old, new).code == code


_LABELS = """\
  labels:
    app: {{ .Values.app | default "it's" }}
    {{- include "labels" . | nindent 4 }}
    {{- with .Values.labels }}{{ toYaml . | trim | nindent 4 }}{{- end }}
  annotations: {{- include "annotations" . | nindent 4 }}
    {{- with .Values.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    a: b
"""
_WEBHOOK = """\
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service:
          name: {{ .Values.name }}-webhook
          namespace: {{ .Release.Namespace }}
"""


def test_inserted_labels_do_not_hide_a_crd(tmp_path: Path) -> None:
    for side, values in (("old", "A"), ("new", "AB")):
        text = _text(*values).replace("metadata:\n", f"metadata:\n{_LABELS}", 1)
        text = text.replace("spec:\n", f"spec:\n{_WEBHOOK}", 1)
        write(tmp_path / side / "w.yaml", text)
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [finding["rule"] for finding in report["findings"]] == ["enum-value-added"]
    sentence = f"{_REMARK}, and the lines that it inserts are not read"
    assert [(line, message) for _, line, _, message in remarks(report)] == [(6, sentence)] * 2


@pytest.mark.parametrize(
    ("action", "is_read"), [("{{- toYaml . | nindent 4 }}", True), ('{{ include "spec" . }}', False)]
)
def test_an_action_without_an_indent_ends_no_metadata(tmp_path: Path, action: str, *, is_read: bool) -> None:
    """The charts of Logging Operator insert annotations so; what gets no indent may be no part of the metadata."""
    inserted = f"  annotations:\n    a: b\n{{{{- with .Values.annotations }}}}\n{action}\n{{{{- end }}}}\n"
    for side, values in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", _text(*values).replace("metadata:\n", f"metadata:\n{inserted}", 1))
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    rules = [finding["rule"] for finding in ran.report["findings"]]
    assert (rules, ran.code) == ((["enum-value-added"], 1) if is_read else ([], 2))


def test_a_condition_that_is_a_document_of_its_own_is_no_problem(tmp_path: Path) -> None:
    """Charts of many CRDs begin with the condition, and a line of dashes follows."""
    report = diff(*_sides(tmp_path, "{{- if .Values.crds.enabled }}\n---", "---\n{{- end }}"))
    assert [finding["rule"] for finding in report["findings"]] == ["enum-value-added"]
    assert report["summary"]["problems"] == []


def test_values_that_a_template_replaces_are_not_refused(tmp_path: Path) -> None:
    """Charts keep CRDs that are YAML before the template engine has read them; the server never sees these labels."""
    for side, values in (("old", "A"), ("new", "AB")):
        document = crd(root(status=obj(phase=string(*values))))
        document["metadata"]["labels"] = {"app": "{{ .Release.Name }}"}
        document["metadata"]["annotations"] = {"Not A Name": "x"} if side == "new" else {}
        write(tmp_path / side / "w.yaml", yaml.safe_dump(document))
    report = diff(tmp_path / "old", tmp_path / "new")
    (refused,) = (finding for finding in report["findings"] if finding["rule"] == "crd-refused")
    assert [error.partition(":")[0] for error in refused["witness"]["errors"]] == ["metadata.annotations"]


def test_names_that_a_script_fills_in_are_not_refused(tmp_path: Path) -> None:
    """clickhouse-operator: one text for two CRDs, from which envsubst makes both."""
    document = crd(root(status=obj(phase=string("A"))))
    document["metadata"] = {"name": "${PLURAL}.example.com", "labels": {"version": "${VERSION}"}}
    document["spec"]["names"] = {"kind": "${KIND}", "plural": "${PLURAL}"}
    for side, others in (("old", []), ("new", [document])):
        manifests = [crd(root(status=obj(phase=string("A")))), *others]
        write(tmp_path / side / "w.yaml", yaml.safe_dump_all(manifests))
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [(each["rule"], each["severity"]) for each in report["findings"]] == [("crd-added", "info")]


def test_a_patch_leaves_templates_to_people(tmp_path: Path) -> None:
    ran = run("diff", *_sides(tmp_path, "{{- if .Values.a }}"), "--suggest-patch")
    assert (ran.out, ran.code) == ("# templates/w.yaml is a template: widen it by hand\n", 1)


@pytest.mark.parametrize(
    ("other", "skipped", "problems"),
    [
        ("kind: Deployment\nspec:\n  image: {{ image }}", [], []),
        ("kind: {{ kind }}\napiVersion: apiextensions.k8s.io/v1", ["template that is not YAML"], []),
        ("kind: CustomResourceDefinition\nmetadata: {{ metadata }}", [], ["a map or list cannot be a key"]),
        (
            "kind: Deployment\nspec: [",
            [],
            ["not valid YAML: while parsing a flow node, did not find expected node content"],
        ),
    ],
    ids=["another kind", "perhaps a CRD", "a CRD", "no template"],
)
def test_other_kinds_beside_a_crd_may_be_templates(
    tmp_path: Path, other: str, skipped: list[str], problems: list[str]
) -> None:
    """clickhouse-operator: one file for Ansible has the CRDs as they are, and a Deployment with values to fill in."""
    service = "kind: Service\nmetadata:\n  namespace: {{ namespace }}\n"
    for side, values in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "all.yaml", f"{_text(*values)}---\n{service}---\n{other}\n")
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json").report
    assert [finding["rule"] for finding in report["findings"]] == ["enum-value-added"]
    assert {item["reason"] for item in report["summary"]["skipped"]} == set(skipped)
    assert {item["message"] for item in report["summary"]["problems"]} == set(problems)

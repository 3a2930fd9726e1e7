"""Helm templates of CRDs: which of them can be read as plain manifests.

Many charts wrap a whole CRD in ``{{- if .Values.crds.install }}`` and ``{{- end }}``. Without these lines it is the
manifest that a release with the condition has; where whole documents follow ``{{- else }}``, there are several. Schemas
do not depend on ``metadata`` and ``conversion``: there, inserted lines are left out, and inserted values stay as they
are. Other lines that insert text or choose between texts cannot be left out.
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import TYPE_CHECKING, Any

from crdcompat.errors import Problem
from crdcompat.prefilter.candidates import has_crd_line, template_names_crds
from crdcompat.yaml.streams import Fault, yaml_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The reason to skip a file with CRDs that only a template engine can read.
TEMPLATE = "template that is not YAML"
_CONDITIONS = "a template: its conditions are taken as true"
_INSERTED = "a template: its conditions are taken as true, and the lines that it inserts are not read"
_CRD_TEMPLATE = "a template with a CRD: render it, for a chart with --helm, and compare the result, or exclude the file"
#: Whole lines with a condition, which may take several, its end or a comment, and nothing else.
_CONTROL = re.compile(
    rb"^[ \t]*\{\{-?\s*(?:(?P<if>(?:if|with)\b[^{}]*?)|(?P<end>end)|/\*[^{}]*?\*/)\s*-?\}\}[ \t]*(?=\r?$)",
    re.MULTILINE,
)
#: Another branch of a condition that begins with a document: a cluster gets the documents of one branch.
_BRANCH = re.compile(rb"^[ \t]*\{\{-?\s*else\b[^{}\n]*\}\}[ \t]*(?=\r?\n(?:---|apiVersion:))", re.MULTILINE)
#: The lines of a manifest's ``metadata`` and ``conversion``; a line of them that inserts lines, perhaps on a condition
#: that ends there, or one with a value (not the name of the CRD). An action of ``metadata`` needs no indent if it gives
#: one to what it inserts.
_BESIDE_SCHEMAS = re.compile(
    rb"^(?:metadata|(?P<deep>[ ]+)conversion):[ \t]*\r?\n"
    rb"(?:(?(deep)(?P=deep))[ \t].*\n|[ \t]*\r?\n|(?(deep)(?!)|\{\{[^{}\n]*\bnindent [1-9].*\n))*",
    re.MULTILINE,
)
_INSERTING = re.compile(
    rb"(?:^[ \t]*|(?<=:)[ \t]+(?=[^\n]*indent\b))"
    rb"(?:\{\{-?[ \t]*(?:include|template|toYaml|\.)[^{}\n]*\}\}"
    rb"|\{\{-?[ \t]*(?:if|with)\b[^{}\n]*\}\}(?:[ \t]*\{\{[^{}\n]*\}\})+)[ \t]*(?=\r?$)",
    re.MULTILINE,
)
#: A line with a condition around its text.
_CONDITIONAL = re.compile(
    rb"^([ \t]*)\{\{-?[ \t]*(?:if|with)\b[^{}\n]*\}\}"
    rb"([^{}\n]*[^{}\s][^{}\n]*)\{\{-?[ \t]*end[ \t]*-?\}\}[ \t]*(?=\r?$)",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    rb"^([ ]*)- apiVersion: apiextensions\.k8s\.io/v1\r?\n(?:\1  [^\n]*\n)*?"
    rb"\1  kind: CustomResourceDefinition\r?\n\1  name:[^\n]*$",
    re.MULTILINE,
)
#: An action of Helm; a variable of envsubst, of a Template of OpenShift, or of Flux.
_REPLACED = re.compile(r"\{\{|\$\{\w+\}")
_VALUE = re.compile(rb"^(?![ ]{1,4}name:)([ \t]+[^\s:#][^\n:]*:[ \t]+)([^\s\"'][^\n]*?)([ \t]*)(?=\r?$)", re.MULTILINE)


def without_references(data: bytes) -> bytes:
    """The template without list items that name a CRD: a reference has ``name`` beside its kind, a CRD has metadata."""
    return _REFERENCE.sub(b"", data)


def without_conditions(data: bytes) -> bytes:
    """The template with blank lines for conditions, comments and inserted lines; other lines keep their numbers.

    Unchanged if a condition has no end, or an end no condition.
    """
    controls = [found.lastgroup for found in _CONTROL.finditer(data)]
    return without_controls(data) if controls.count("if") == controls.count("end") else data


def without_controls(data: bytes) -> bytes:
    """``without_conditions``, also for a piece of a template: the end of a condition may be in another piece."""
    plain = _CONTROL.sub(lambda found: b"\n" * found[0].count(b"\n"), _BRANCH.sub(b"---", data))
    return _BESIDE_SCHEMAS.sub(lambda found: _without_inserts(found[0]), plain)


def beside_schemas_removed(data: bytes) -> bytes:
    """The template without ``metadata`` and ``conversion``."""
    return _BESIDE_SCHEMAS.sub(b"", data)


def _without_inserts(data: bytes) -> bytes:
    """Lines beside schemas without what they insert, with the text that they have on a condition."""
    return _VALUE.sub(_quoted, _INSERTING.sub(b"", _CONDITIONAL.sub(rb"\1\2", data)))


def _quoted(found: re.Match[bytes]) -> bytes:
    """A line whose value is an action, with the value as a string."""
    key, value, end = found.groups()
    return found[0] if b"{{" not in value else key + b"'" + value.replace(b"'", b"''") + b"'" + end


def conditions_remark(file: str, data: bytes) -> Problem:
    """The remark on a template that was read as a manifest, at its first condition or its first inserted line."""
    condition, inserted = _CONTROL.search(data), _INSERTING.search(data)
    first = min((found.start() for found in (condition, inserted) if found), default=0)
    return Problem(file, 1 + data.count(b"\n", 0, first), _INSERTED if inserted else _CONDITIONS)


def is_conditional(remark: Problem) -> bool:
    """Whether a remark is that of ``conditions_remark``."""
    return remark.message in (_CONDITIONS, _INSERTED)


def is_templated(value: Any) -> bool:
    """Whether a value is, or holds, text that a template engine replaces."""
    if isinstance(value, dict | list):
        return any(map(is_templated, (*value, *value.values()) if isinstance(value, dict) else value))
    return isinstance(value, str) and _REPLACED.search(value) is not None


def without_other_kinds(text: bytes, problems: Sequence[Problem]) -> tuple[list[Problem], bool]:
    """The problems of documents that may be CRDs; and whether another document, a template, names CRDs all the same."""
    try:
        pieces = yaml_pieces(text)
    except Fault:
        return list(problems), False
    starts = [line for line, _ in pieces]
    left, names_crds = [], False
    for problem in problems:
        piece = pieces[bisect(starts, problem.line) - 1][1] if problem.line is not None else b""
        if b"{{" not in piece or has_crd_line(piece):
            left.append(problem)
        else:
            names_crds = names_crds or template_names_crds(piece)
    return left, names_crds


def of_template(problem: Problem) -> Problem:
    """The problem of a template with a legible CRD, with what to do."""
    return Problem(problem.file, problem.line, f"{problem.message} ({_CRD_TEMPLATE})", problem.side)

"""Helm templates of CRDs: which of them can be read as plain manifests.

Many charts wrap a whole CRD in ``{{- if .Values.crds.install }}`` and ``{{- end }}``. Without these lines it is the
manifest that a release with the condition has. Lines that insert text or choose between texts cannot be left out.
"""

from __future__ import annotations

import re

from crdcompat.errors import Problem

#: The reason to skip a file with CRDs that only a template engine can read.
TEMPLATE = "template that is not YAML"
_CONDITIONS = "a template: its conditions are taken as true"
_CRD_TEMPLATE = "a template with a CRD: render it and compare the result, or exclude the file"
#: A line with a condition, its end or a comment, and nothing else.
_CONTROL = re.compile(
    rb"^[ \t]*\{\{-?[ \t]*(?:(?P<if>if\b[^{}\n]*?)|(?P<end>end)|/\*[^{}]*?\*/)[ \t]*-?\}\}[ \t]*(?=\r?$)", re.MULTILINE
)


def without_conditions(data: bytes) -> bytes:
    """The template with blank lines for its conditions and comments, so that all other lines keep their numbers.

    Unchanged if a condition has no end, or an end no condition.
    """
    controls = [found.lastgroup for found in _CONTROL.finditer(data)]
    if controls.count("if") != controls.count("end"):
        return data
    return _CONTROL.sub(lambda found: b"\n" * found[0].count(b"\n"), data)


def conditions_remark(file: str, data: bytes) -> Problem:
    """The remark on a template that was read as a manifest, at its first condition."""
    found = _CONTROL.search(data)
    return Problem(file, 1 + data.count(b"\n", 0, found.start()) if found else None, _CONDITIONS)


def of_template(problem: Problem) -> Problem:
    """The problem of a template with a legible CRD, with what to do."""
    return Problem(problem.file, problem.line, f"{problem.message} ({_CRD_TEMPLATE})", problem.side)

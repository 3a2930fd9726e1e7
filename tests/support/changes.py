"""Repositories with a change, for tests of ``check``, ``waive`` and ``baseline``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers import Json, crd, git, obj, root, run, string

BASE = ("--base", "origin/release-4.13")


def repository(tmp_path: Path) -> Path:
    """An empty repository."""
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "config", "user.email", "a@example.com")
    git(repo, "config", "user.name", "A")
    return repo


def widget(*phases: str) -> Json:
    """A CRD whose status.p is one of these."""
    return crd(root(spec=obj(a=string()), status=obj(p=string(*phases))))


def of_sets(default: str, preview: str) -> Json:
    """File -> widget CRD, one per feature set, with the phases of each."""
    key = "release.openshift.io/feature-set"
    return {
        f"{name}.yaml": crd(root(status=obj(p=string(*phases))), annotations={key: name})
        for name, phases in (("Default", default), ("TechPreviewNoUpgrade", preview))
    }


def check(at: Path, *args: str, code: int) -> Json:
    """The JSON report of a check that ends with this code."""
    ran = run("check", *args, "--format", "json", cwd=at)
    assert ran.code == code, ran.err or ran.out[:2000]
    return ran.report


def left(repo: Path) -> set[str]:
    """The rules of errors and warnings that count against the branch ``old``."""
    found = run("check", "--base", "old", "--format", "json", cwd=repo).report["sections"][0]["findings"]
    return {f["rule"] for f in found if f["severity"] != "info" and f["waiver"] is None}


def write_waivers(repo: Path, *entries: Json) -> None:
    """Write the waiver file."""
    (repo / ".crdcompat-waivers.yaml").write_text(json.dumps({"waivers": entries}))


def brief(section: Json, *, status: str = "new") -> list[tuple[Any, ...]]:
    """The findings of a section in short, as in ``FOUND``."""
    return [
        (f["direction"], f["rule"], f["path"], f["severity"], *(place["line"] for place in f["locations"]))
        for f in section["findings"]
        if f["status"] == status
    ]


def growth(*values: str, **more: Any) -> Json:
    """A declaration that 4.16 accepts values of status.p of ``widget``, and 4.17 writes them."""
    return {
        "crd": "widgets.example.com", "path": "status.p", "values": list(values), "accepted_from": "release-4.16",
        "written_from": "release-4.17", "reason": "nothing writes it in 4.16", **more,
    }  # fmt: skip


def declare(repo: Path, *entries: Json, waivers: Sequence[Json] = ()) -> None:
    """Write the waiver file with declarations of growth, one a line from line 2 on."""
    lines = ["growth:" if entries else "growth: []", *(f"  - {json.dumps(entry)}" for entry in entries)]
    lines += [f"waivers: {json.dumps(list(waivers))}", ""]
    (repo / ".crdcompat-waivers.yaml").write_text("\n".join(lines))

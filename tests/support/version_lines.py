"""CRDs by the flags of their versions, and the reports of ``versions`` on them."""

from __future__ import annotations

from pathlib import Path

from helpers import Json, crd, root, run, version


def widget(flags: dict[str, str], kind: str = "Widget") -> Json:
    """A CRD with these versions, by name with their flags: ``s`` served, ``d`` deprecated, ``+`` stored."""
    listed = [
        version(
            root(), name, served="s" in given, storage="+" in given, **({"deprecated": True} if "d" in given else {})
        )
        for name, given in flags.items()
    ]
    return crd(kind=kind, versions=listed)


def jumps(report: Json) -> set[tuple[str, str, str]]:
    return {(each["from"], each["to"], each["verdict"]) for each in report["jumps"]}


def ask(repo: Path, *args: str | Path, code: int) -> Json:
    ran = run("versions", *args, "--format", "json", cwd=repo)
    assert ran.code == code, ran.out + ran.err
    return ran.report

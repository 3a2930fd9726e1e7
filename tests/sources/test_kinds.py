"""Every kind of source that a file or folder can be: works, damaged, hostile, empty, and of another kind."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import Run, run
from offline import PROJECT
from packed_sources import (
    CHART_LAYER,
    NEW,
    OLD,
    bundle,
    catalog,
    chart,
    docker,
    folder,
    layout,
    tar,
    widgets,
    zipped,
    zstd,
)

from crdcompat.config.channels import in_range
from crdcompat.sources import unpack
from crdcompat.sources.catalog import read_package
from crdcompat.sources.kinds import Kind

Make = Callable[[Path, bytes], str]


def _file(name: str, pack: Callable[[bytes], bytes], part: str = "", prefix: str = "") -> Make:
    def make(top: Path, crd: bytes) -> str:
        top.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(pack(crd))
        return f"{prefix}{top / name}{part}"

    return make


def _folder(files: Callable[[bytes], dict[str, bytes]], below: str = "", prefix: str = "") -> Make:
    return lambda top, crd: f"{prefix}{folder(top, files(crd)) / below}"


def _layers(crd: bytes) -> tuple[bytes, bytes]:
    """A layer with another CRD, and one that hides it and adds this one."""
    return tar({"manifests/old.yaml": widgets("Lost"), "etc/x.yaml": b""}), tar(
        {"manifests/.wh.old.yaml": b"", "manifests/w.yaml": crd}
    )


def _packed_chart(crd: bytes) -> bytes:
    return tar(chart(crd), "w:gz")


def _nested_chart(crd: bytes, depth: int) -> bytes:
    """A packed chart in this many others."""
    if not depth:
        return _packed_chart(crd)
    return tar({"w/Chart.yaml": b"name: w\n", "w/charts/w.tgz": _nested_chart(crd, depth - 1)}, "w:gz")


#: Nine levels of lists, each with the one before nine times: 43 million members if they were counted out.
_ALIASES = b"a0: &a0 [x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (level, level, b",".join([b"*a%d" % (level - 1)] * 9)) for level in range(1, 9)
)


def _kustomization(crd: bytes) -> dict[str, bytes]:
    return {
        ".git/HEAD": b"",
        "base/kustomization.yaml": b"resources: [w.yaml]\n",
        "base/w.yaml": crd,
        "base/not-named.yaml": widgets("Not", "Named"),
        "prod/kustomization.yaml": b"resources: [../base]\npatches:\n- {target: {kind: Deployment}, path: d.yaml}\n",
    }


#: The kinds, each with what makes a source of it from a CRD.
KINDS: dict[str, Make] = {
    "tar": _file("a.tar", lambda crd: tar({"crds/w.yaml": crd})),
    "tar.gz": _file("a.tar.gz", lambda crd: tar({"crds/w.yaml": crd}, "w:gz")),
    "tar.zst": _file("a.tar.zst", lambda crd: zstd(tar({"crds/w.yaml": crd}))),
    "zip": _file("a.zip", lambda crd: zipped({"crds/w.yaml": crd}), prefix="archive:"),
    "chart": _folder(chart, "widgets"),
    "chart.tgz": _file("widgets-1.tgz", lambda crd: tar(chart(crd), "w:gz")),
    "helm:chart": _folder(chart, "widgets", "helm:"),
    "helm:chart.zip": _file("widgets.zip", lambda crd: zipped(chart(crd)), prefix="helm:"),
    "subchart": _file(
        "all.tgz",
        lambda crd: tar(
            {"all/Chart.yaml": b"name: all\nversion: 1.0.0\n", "all/charts/widgets-1.tgz": tar(chart(crd), "w:gz")},
            "w:gz",
        ),
    ),
    "kustomize": _folder(_kustomization, "prod", "kustomize:"),
    "bundle": _folder(bundle),
    "bundle.tgz": _file("b.tgz", lambda crd: tar(bundle(crd), "w:gz"), prefix="bundle:"),
    "catalog": _file("catalog.json", lambda crd: catalog({"0.9.0": OLD, "1.0.0": crd}), "#widgets@1.0.0"),
    "oci": _folder(lambda crd: layout(*_layers(crd))),
    "oci.tar": _file("image.tar", lambda crd: tar(layout(*_layers(crd)))),
    "oci platforms": _file(
        "image.tar", lambda crd: tar(layout(*_layers(crd), platforms=["linux/arm64", "linux/amd64"])), prefix="oci:"
    ),
    "oci chart": _folder(lambda crd: layout(_packed_chart(crd), chart=CHART_LAYER)),
    "oci.tar chart": _file("chart.tar", lambda crd: tar(layout(_packed_chart(crd), chart="application/tar+gzip"))),
    "docker": _file("image.tar.gz", lambda crd: tar(docker(*_layers(crd)), "w:gz")),
}


def _diff(old: str, new: str, *options: str) -> Run:
    return run("diff", old, new, "--format", "json", *options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_of_each_kind_is_compared(tmp_path: Path, kind: str) -> None:
    found = _diff(KINDS[kind](tmp_path / "old", OLD), KINDS[kind](tmp_path / "new", NEW))
    assert found.code == 1, found.err
    assert [(each["rule"], each["added"]) for each in found.report["findings"]] == [("enum-value-added", ["Failed"])]
    assert found.report["summary"]["problems"] == []


def test_sources_of_different_kinds_are_compared(tmp_path: Path) -> None:
    names = [make(tmp_path / str(index), OLD) for index, make in enumerate(KINDS.values())]
    for name in names[1:]:
        found = _diff(names[0], name)
        assert (found.code, found.report["findings"], found.report["undecided"]) == (0, [], []), (name, found.err)


#: What is broken, and a part of what is said of it.
BROKEN: dict[str, tuple[Make, str]] = {
    "cut tar": (_file("a.tar", lambda crd: tar({"w.yaml": crd})[:700]), "cut short"),
    "cut zstd": (_file("a.tar.zst", lambda crd: zstd(tar({"w.yaml": crd}))[:-20]), "cut short"),
    "cut zip": (_file("a.zip", lambda crd: zipped({"w.yaml": crd})[:-30]), "cut short"),
    "flipped zip": (_file("a.zip", lambda crd: _with_other_sum(zipped({"w.yaml": crd}))), "damaged"),
    "empty archive": (_file("a.zip", lambda _: b"", prefix="archive:"), "no archive: .tar, .tar.gz"),
    "empty zip": (_file("a.zip", lambda _: zipped({})), "nothing to compare"),
    "text as archive": (_file("a.txt", lambda _: b"hello", prefix="archive:"), "no archive: .tar, .tar.gz"),
    "gzip as zip": (_file("a.zip", lambda _: b"hello"), "no zip archive"),
    "no chart": (
        _folder(bundle, prefix="helm:"),
        "no Helm chart: the folder of a Helm chart, or its .tgz, is expected",
    ),
    "two charts": (
        _folder(
            lambda crd: {f"{top}/{name}": data for top in "ab" for name, data in chart(crd).items()}, prefix="helm:"
        ),
        "2 Helm charts (a/widgets, b/widgets): name one of them",
    ),
    "damaged chart": (_folder(lambda _: {"Chart.yaml": b"name: [a"}), "Chart.yaml cannot be read"),
    "cut chart": (_file("w.tgz", lambda crd: tar(chart(crd), "w:gz")[:80], prefix="helm:"), "no Helm chart (cut short"),
    "template": (
        _folder(
            lambda crd: {**chart(b""), "widgets/templates/w.yaml": crd.replace(b"Pending", b"{{ .Values.x }}, {{ y")},
            "widgets",
        ),
        "a template with a CRD",
    ),
    "helper": (
        _folder(lambda crd: {**chart(crd), "widgets/templates/_crd.tpl": b"{{ define }}\n" + crd}, "widgets"),
        "a named template with a CRD, which only helm renders: give --helm",
    ),
    "no kustomization": (_folder(chart, prefix="kustomize:"), "no kustomization: a folder with kustomization.yaml"),
    "kustomize patches a CRD": (
        _folder(
            lambda crd: {
                **_kustomization(crd),
                "prod/kustomization.yaml": b"resources: [../base]\npatches: [{path: p.yaml}]\n",
            },
            "prod",
            "kustomize:",
        ),
        "patches: only kustomize applies it: give --kustomize",
    ),
    "kustomize leads out": (
        _folder(
            lambda _: {".git/HEAD": b"", "kustomization.yaml": b"resources: [../../../../etc/passwd]\n"},
            prefix="kustomize:",
        ),
        ", not read: only kustomize applies it: give --kustomize",
    ),
    "kustomize of a URL": (
        _folder(lambda _: {"kustomization.yaml": b"resources: [https://127.0.0.1/x]\n"}, prefix="kustomize:"),
        "https://127.0.0.1/x: a resource elsewhere, not read",
    ),
    "no bundle": (_folder(chart, prefix="bundle:"), "no OLM bundle: the folder of an OLM bundle is expected"),
    "empty bundle": (
        _folder(lambda crd: {"metadata/annotations.yaml": bundle(crd)["metadata/annotations.yaml"]}),
        "the folder manifests/ of the bundle has no manifests",
    ),
    "no catalog": (_file("c.yaml", lambda crd: crd, "#widgets@1.0.0"), "no catalog: a file-based catalog is expected"),
    "no package": (_file("c.json", lambda crd: catalog({"1.0.0": crd}), "#gadgets@1.0.0"), "there are widgets"),
    "no version": (_file("c.json", lambda crd: catalog({"1.0.0": crd}), "#widgets@2.0.0"), "there are 1.0.0"),
    "catalog alone": (_file("c.json", lambda crd: catalog({"1.0.0": crd})), "name a package, as"),
    "damaged catalog": (
        _file("c.json", lambda crd: catalog({"1.0.0": crd})[:-9], "#widgets@1.0.0"),
        "cannot be read as a catalog",
    ),
    "catalog without base64": (
        _file("c.json", lambda crd: catalog({"1.0.0": crd}).replace(b'"data": "', b'"data": "!'), "#widgets@1.0.0"),
        "its data is no base64",
    ),
    "catalog without CRDs": (
        _file(
            "c.json",
            lambda crd: catalog({"1.0.0": crd}).replace(b"olm.bundle.object", b"olm.csv.metadata"),
            "#widgets@1.0.0",
        ),
        "the catalog holds no CRDs of it: copy its image (quay.example/widgets:1.0.0)",
    ),
    "no image": (
        _folder(bundle, prefix="oci:"),
        "no image: an index.json (OCI) or manifest.json (docker save) is expected",
    ),
    "layer missing": (
        _folder(
            lambda crd: {
                path: data for path, data in layout(tar({"manifests/w.yaml": crd})).items() if data[:1] != b"m"
            }
        ),
        "damaged, or not copied as a whole",
    ),
    "layer changed": (
        _folder(
            lambda crd: {
                path: data.replace(b"Ready", b"Readx") for path, data in layout(tar({"manifests/w.yaml": crd})).items()
            }
        ),
        "its content does not match its digest",
    ),
    "chart missing": (
        _folder(lambda crd: layout(_packed_chart(crd), chart="application/octet-stream")),
        "has 0 layers: a chart has 1",
    ),
    "chart not copied": (
        _folder(
            lambda crd: {
                path: data
                for path, data in layout(_packed_chart(crd), chart=CHART_LAYER).items()
                if data[:2] != b"\x1f\x8b"
            }
        ),
        "damaged, or not copied as a whole",
    ),
    "chart changed": (
        _folder(
            lambda crd: {
                path: data[:-1] + b"x" if data[:2] == b"\x1f\x8b" else data
                for path, data in layout(_packed_chart(crd), chart=CHART_LAYER).items()
            }
        ),
        "its content does not match its digest",
    ),
    "no chart in the artifact": (
        _folder(lambda crd: layout(tar({"w.yaml": crd}, "w:gz"), chart=CHART_LAYER)),
        "with Chart.yaml at its top",
    ),
    "text in the artifact": (_folder(lambda _: layout(b"hello", chart=CHART_LAYER)), "no Helm chart (cut short"),
    "layer cut": (
        _file("i.tar", lambda crd: tar(docker(tar({"manifests/w.yaml": crd})[:600]))),
        "cut short",
    ),
    "image without manifests": (
        _file("i.tar", lambda crd: tar(docker(tar({"opt/crds/w.yaml": crd})))),
        "no manifests in /manifests or /release-manifests; there is YAML in /opt/crds",
    ),
    "manifests are a link": (
        _file("i.tar", lambda _: tar(docker(tar({}, links={"manifests": "/etc"})))),
        "symbolic link to /etc: not followed",
    ),
    "digest leads out": (
        _folder(
            lambda _: {"oci-layout": b"{}", "index.json": b'{"manifests": [{"digest": "sha256:../../etc/passwd"}]}'}
        ),
        "a digest that is not sha256",
    ),
    "layer leads out": (
        _file("i.tar", lambda crd: tar({"manifest.json": b'[{"Layers": ["../x"]}]', "x": crd}), prefix="oci:"),
        "has no list of layers",
    ),
    "member leads out": (_file("a.zip", lambda crd: zipped({"../w.yaml": crd})), "leads out of the archive: not read"),
    "zip link": (_file("a.zip", lambda _: _zip_link()), "symbolic link to /etc/passwd: not followed"),
    "zip encrypted": (_file("a.zip", lambda crd: _flagged(zipped({"w.yaml": crd}))), "encrypted file: not read"),
}


_ANNOTATIONS = "metadata/annotations.yaml"
BROKEN |= {
    "empty chart": (_folder(lambda _: {"Chart.yaml": b"name: w\n"}), "no CRD in"),
    "charts in charts": (_file("w.tgz", lambda crd: _nested_chart(crd, 5)), "charts/w.tgz (old): a chart in 3 others"),
    "chart link": (
        _file("w.tgz", lambda _: tar({"w/Chart.yaml": b"name: w\n"}, "w:gz", links={"w/crds/w.yaml": "/etc/passwd"})),
        "symbolic link to /etc/passwd: not followed",
    ),
    "damaged kustomization": (
        _folder(lambda _: {"kustomization.yaml": b"resources: [a"}, prefix="kustomize:"),
        "kustomization.yaml (old): cannot be read",
    ),
    "empty kustomization": (
        _folder(lambda _: {"kustomization.yaml": b""}, prefix="kustomize:"),
        "no kustomization: a mapping with resources is expected",
    ),
    "kustomizations in a circle": (
        _folder(
            lambda _: {"kustomization.yaml": b"resources: [a]\n", "a/kustomization.yaml": b"resources: [..]\n"},
            prefix="kustomize:",
        ),
        "no CRD in",
    ),
    "damaged bundle": (
        _folder(lambda crd: {**bundle(crd), "manifests/w.yaml": crd[:200] + b"\n  - {"}),
        "manifests/w.yaml:7 (old): not valid YAML",
    ),
    "bundle leads out": (
        _folder(
            lambda crd: {**bundle(crd), _ANNOTATIONS: bundle(crd)[_ANNOTATIONS].replace(b"manifests/\n", b"../../\n")}
        ),
        "the folder ../../ of the bundle has no manifests",
    ),
    "empty catalog": (_file("c.yaml", lambda _: b"", "#widgets@1.0.0"), "no catalog: a file-based catalog is expected"),
    "catalog of aliases": (
        _file("c.yaml", lambda _: b"schema: olm.package\nname: widgets\n" + _ALIASES, "#widgets@1.0.0"),
        "the package widgets has no bundles: a file-based catalog is expected",
    ),
    "empty index": (
        _folder(lambda _: {"oci-layout": b"{}", "index.json": b'{"manifests": []}'}),
        "no image in its index",
    ),
    "empty image file": (_file("i.tar", lambda _: b"", prefix="oci:"), "an OCI layout (folder or .tar) or"),
}

#: Each kind, and which of `KINDS` work and which of `BROKEN` are damaged, hostile and empty.
TABLE: dict[str, tuple[list[str], list[str], list[str], list[str]]] = {
    "archive": (
        ["tar", "tar.gz", "tar.zst", "zip"],
        ["cut tar", "cut zstd", "cut zip", "flipped zip"],
        ["member leads out", "zip link", "zip encrypted"],
        ["empty archive", "empty zip"],
    ),
    "helm": (
        ["chart", "chart.tgz", "helm:chart", "helm:chart.zip", "subchart"],
        ["damaged chart", "cut chart"],
        ["charts in charts", "chart link"],
        ["empty chart"],
    ),
    "kustomize": (
        ["kustomize"],
        ["damaged kustomization"],
        ["kustomize leads out", "kustomize of a URL", "kustomizations in a circle"],
        ["empty kustomization"],
    ),
    "bundle": (["bundle", "bundle.tgz"], ["damaged bundle"], ["bundle leads out"], ["empty bundle"]),
    "catalog": (
        ["catalog"],
        ["damaged catalog", "catalog without base64"],
        ["catalog of aliases"],
        ["empty catalog", "catalog without CRDs"],
    ),
    "oci": (
        ["oci", "oci.tar", "oci platforms", "oci chart", "oci.tar chart", "docker"],
        ["layer missing", "layer changed", "layer cut", "chart missing", "chart not copied", "chart changed"],
        ["manifests are a link", "digest leads out", "layer leads out"],
        ["empty index", "empty image file", "image without manifests"],
    ),
}


def test_each_kind_has_a_test_of_each_state() -> None:
    others = {"", "git", "index", "worktree", "empty", "path", "recording", "cluster"}  # tested in modules of their own
    assert {*TABLE, *others} == set(Kind)
    assert all(all(states) for states in TABLE.values())
    assert sorted(name for works, *_ in TABLE.values() for name in works) == sorted(KINDS)
    assert {name for _, *broken in TABLE.values() for names in broken for name in names} <= set(BROKEN)


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_named(tmp_path: Path, what: str) -> None:
    make, words = BROKEN[what]
    found = run("diff", make(tmp_path, NEW), "empty:")
    assert found.code == 2, found.out
    assert words in " ".join((found.err + found.out).split())


@pytest.mark.parametrize("pack", [lambda data: zipped({"a.yaml": data}), lambda data: zstd(tar({"a.yaml": data}))])
def test_bombs_end_at_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(unpack, "MAX_TOTAL_BYTES", 1 << 20)
    found = run("diff", _file("a.bin", lambda _: pack(bytes(1 << 21)))(tmp_path, b""), "empty:")
    assert (found.code, "unpacks to more than 1048576 bytes" in found.err + found.out) == (2, True)


@pytest.mark.parametrize("kind", ["zip", "tar.zst", "chart.tgz"])
def test_standard_input_may_be_an_archive(tmp_path: Path, kind: str) -> None:
    path = Path(KINDS[kind](tmp_path / "new", NEW).removeprefix("archive:"))
    found = run("diff", KINDS["tar"](tmp_path / "old", OLD), "-", "--format", "json", stdin=path.read_bytes())
    assert [each["added"] for each in found.report["findings"]] == [["Failed"]]


def test_programs_run_only_if_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = folder(tmp_path / "bin", {})
    for name in ("helm", "kustomize"):
        (programs / name).write_text(f"#!/bin/sh\nprintf '%s ' \"$@\" >>{programs}/ran\ncat {tmp_path}/rendered\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    (tmp_path / "rendered").write_bytes(b"---\n# Source: widgets/crds/w.yaml\n" + NEW)
    (tmp_path / "values.yaml").touch()
    old = KINDS["chart"](tmp_path / "old", OLD)
    for kind, *options in (("chart", "--helm-values", f"{tmp_path}/values.yaml"), ("kustomize", "--kustomize")):
        made = KINDS[kind](tmp_path / kind.partition(":")[0], OLD)
        assert _diff(old, made).report["findings"] == []
        assert not (programs / "ran").exists()
        found = _diff(f"path:{old}", made, *options)
        assert [each["added"] for each in found.report["findings"]] == [["Failed"]], found.err
        (programs / "ran").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _diff(old, old, "--helm")
    assert (found.code, "helm is not on the PATH: install it" in found.err) == (2, True)


@pytest.fixture
def helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program ``helm`` that keeps its arguments in the file ``asked`` and the chart in ``chart``, and may refuse."""
    programs = folder(tmp_path / "bin", {})
    script = f"""#!/bin/sh
printf '%s ' "$@" >{programs}/asked
[ -f "$3" ] && cp "$3" {programs}/chart
[ -f {programs}/refuse ] && {{ cat {programs}/refuse >&2; exit 1; }}
cat {programs}/rendered
"""
    (programs / "helm").write_text(script)
    (programs / "helm").chmod(0o755)
    (programs / "rendered").write_bytes(b"---\n# Source: widgets/crds/w.yaml\n" + NEW)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.chdir(tmp_path)
    return programs


@pytest.mark.parametrize(
    ("configured", "command", "version"),
    [
        ("", "diff", None),
        ('releases: {new/widgets: "1.29"}', "diff", "1.29"),
        ("releases: {new/widgets: openshift-4.14}", "diff", "1.27"),
        ('kubernetes: {min: "1.26", max: "1.30"}', "diff", "1.26"),
        ('kubernetes: {min: "1.26", max: "1.30", targets: {old/a.tar: ["1.28", "1.29"]}}', "diff", "1.28"),
        ('releases: {old/a.tar: "1.29"}', "diff", "1.29"),
        ("", "simulate", "1.28"),
        ('releases: {new/widgets: "1.29"}', "simulate", "1.29"),
    ],
)
def test_helm_renders_for_the_server_of_the_release(
    helm: Path, configured: str, command: str, version: str | None
) -> None:
    Path(".crdcompat.yaml").write_text(configured)
    KINDS["chart"](Path("new"), OLD)
    old = KINDS["tar"](Path("old"), OLD)
    more = ("--objects", "empty:", "--kube-version", "1.28") if command == "simulate" else ()
    found = run(command, old, "new/widgets", "--helm", *more, "--config", ".crdcompat.yaml", "--format", "json")
    asked = (helm / "asked").read_text().split()
    assert asked[asked.index("--include-crds") + 1 :] == (["--kube-version", version] if version else [])
    server = f"Kubernetes {version}" if version else "helm's own version of Kubernetes"
    assert f"new/widgets: rendered by helm template for {server}" in found.report["new"]["notes"]


@pytest.mark.parametrize("asks", [True, False])
def test_a_chart_that_asks_for_the_server_is_named(helm: Path, asks: bool) -> None:
    """It is rendered for one server, and others may get other CRDs."""
    KINDS["chart"](Path("new"), OLD)
    if asks:
        Path("new/widgets/templates").mkdir(exist_ok=True)
        Path("new/widgets/templates/a.yaml").write_text("{{- if .Capabilities.KubeVersion.Minor }}{{ end }}")
    found = run("diff", KINDS["tar"](Path("old"), OLD), "new/widgets", "--helm", "--format", "json")
    said = [note for note in found.report["new"]["notes"] if ".Capabilities" in note]
    assert bool(said) == asks
    assert helm


_WRONG = "Kubernetes 1.29 is what the configuration or --kube-version names; correct it in the configuration, as "


@pytest.mark.parametrize(
    ("configured", "words"),
    [
        ("", "that is helm's own version; name the server of this release in the configuration, as "),
        ('releases: {w: "1.29"}', _WRONG),
    ],
)
def test_a_chart_that_is_not_for_the_server(helm: Path, configured: str, words: str) -> None:
    Path(".crdcompat.yaml").write_text(configured)
    folder(Path("w"), {"Chart.yaml": chart(OLD)["widgets/Chart.yaml"]})
    said = "Error: chart requires kubeVersion: <1.26 which is incompatible with Kubernetes v1.33.0"
    (helm / "refuse").write_text(f"{said}\n\nUse --debug flag\n")
    found = run("diff", "empty:", "w", "--helm", "--config", ".crdcompat.yaml")
    assert (found.code, found.err) == (2, f'crdcompat: w: helm failed: {said}: {words}releases: {{"w": "1.31"}}\n')


@pytest.mark.parametrize("kind", ["oci chart", "oci.tar chart"])
def test_helm_renders_a_chart_of_a_layout(helm: Path, kind: str) -> None:
    found = _diff(KINDS["tar"](Path("old"), OLD), KINDS[kind](Path("new"), OLD), "--helm")
    assert [each["added"] for each in found.report["findings"]] == [["Failed"]], found.err
    assert gzip.decompress((helm / "chart").read_bytes()) == gzip.decompress(_packed_chart(OLD))
    assert not Path((helm / "asked").read_text().split()[2]).exists()


def test_image_path_and_platform(tmp_path: Path) -> None:
    image = tar(layout(tar({"opt/crds/w.yaml": NEW}), platforms=["linux/arm64", "linux/amd64"]))
    name = _file("i.tar", lambda _: image)(tmp_path, b"")
    found = _diff(KINDS["tar"](tmp_path / "old", OLD), f"{name}#linux/arm64", "--image-path", "/opt/crds/")
    assert [each["added"] for each in found.report["findings"]] == [["Failed"]]
    assert "image linux/arm64 of 2" in str(found.report["new"])
    found = _diff(f"{name}#windows/amd64", name)
    assert "no image windows/amd64: there are linux/amd64, linux/arm64" in found.err


def test_an_opaque_folder_hides_what_is_below(tmp_path: Path) -> None:
    layers = (
        tar({"manifests/a/lost.yaml": widgets("Lost")}),
        tar({"manifests/.wh..wh..opq": b"", "manifests/w.yaml": NEW}),
    )
    found = _diff(KINDS["tar"](tmp_path / "old", OLD), _file("i.tar", lambda _: tar(docker(*layers)))(tmp_path, b""))
    assert [each["added"] for each in found.report["findings"]] == [["Failed"]]


def _zip_link() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo("w.yaml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return packed.getvalue()


def _with_other_sum(data: bytes) -> bytes:
    """A zip whose list has another checksum for its member."""
    at = data.index(b"PK\x01\x02") + 16
    return data[:at] + bytes(4) + data[at + 4 :]


def _flagged(data: bytes) -> bytes:
    """A zip whose list says that its member is encrypted."""
    at = data.index(b"PK\x01\x02") + 8
    return data[:at] + b"\x01\x00" + data[at + 2 :]


def test_the_matrix_of_a_channel_shows_the_ways_back(tmp_path: Path) -> None:
    releases = {"1.0.0": OLD, "1.1.0": NEW, "1.2.0": NEW, "1.10.0": widgets("Pending", "Ready", "Failed", "Lost")}
    edges = {
        "1.1.0": {"replaces": "widgets.v1.0.0"},
        "1.2.0": {"replaces": "widgets.v1.1.0", "skips": ["widgets.v1.0.0"]},
        "1.10.0": {"replaces": "widgets.v1.2.0", "skipRange": ">=1.1.0 <1.10.0"},
    }
    (tmp_path / "catalog.json").write_bytes(catalog(releases, edges))
    found = run("matrix", "catalog.json#widgets", "--format", "json", cwd=tmp_path)
    assert found.code == 1, found.err
    assert [each["name"] for each in found.report["releases"]] == [f"catalog.json#widgets@{each}" for each in releases]
    label = "widgets, channel stable: OLM upgrades"
    assert found.report["notes"] == [
        f"{label} 1.0.0 to 1.1.0 (replaces): the way back is blocked",
        f"{label} 1.0.0 to 1.2.0 (skips): the way back is blocked",
        f"{label} 1.1.0 to 1.2.0 (replaces): the way back is clean",
        f"{label} 1.1.0 to 1.10.0 (skipRange): the way back is blocked",
        f"{label} 1.2.0 to 1.10.0 (replaces): the way back is blocked",
    ]
    offered = {
        (each["from"].partition("@")[2], each["to"].partition("@")[2]): each["upgrade"]
        for each in found.report["cells"]
        if "upgrade" in each
    }
    upgrades = {
        ("1.0.0", "1.1.0"): "replaces",
        ("1.0.0", "1.2.0"): "skips",
        ("1.1.0", "1.2.0"): "replaces",
        ("1.1.0", "1.10.0"): "skipRange",
        ("1.2.0", "1.10.0"): "replaces",
    }
    assert offered == upgrades | {(newer, older): why for (older, newer), why in upgrades.items()}
    found = run("matrix", "catalog.json#widgets/beta", cwd=tmp_path)
    assert (found.code, "widgets has no channel 'beta' with entries: there are stable" in found.err) == (2, True)


@pytest.mark.parametrize(
    ("version", "text", "expected"),
    [
        ("1.1.0", ">=1.0.0 <1.2.0", True),
        ("1.2.0", ">=1.0.0 <1.2.0", False),
        ("1.2.0-rc.1", "<1.2.0", True),
        ("1.3.1", "<1.0.0 || 1.3.1", True),
        ("1.3.1", ">1.0.0 !=1.3.1", False),
        ("1.0.0", "", False),
    ],
)
def test_a_range_of_versions(version: str, text: str, expected: bool) -> None:
    assert in_range(version, text) is expected


_FIXTURES = PROJECT / "fixtures/sources"
_GENERATOR = "spec.selector.generatorRef.kind"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("chart-0.18.0", "chart-0.19.0", ("enum-value-added", "warning", "spec.kind", ["SSHKey"])),
        ("bundle-0.18.0", "bundle-0.19.0", ("enum-value-added", "warning", _GENERATOR, ["SSHKey"])),
        (
            "catalog.yaml#crossplane@1.16.0",
            "catalog.yaml#crossplane@1.17.0",
            ("version-storage-moved", "error", "", []),
        ),
    ],
)
def test_published_facts_are_found_in_each_form(old: str, new: str, expected: tuple[str, str, str, list[str]]) -> None:
    found = run("diff", old, new, "--direction", "rollback", "--format", "json", cwd=_FIXTURES)
    assert found.report["summary"]["problems"] == []
    shown = [(each["rule"], each["severity"], each["path"], each["added"]) for each in found.report["findings"]]
    assert shown == [expected]


def test_a_channel_with_the_name_of_its_package_does_not_hide_the_default_channel() -> None:
    channel = {"schema": "olm.channel", "package": "widgets", "name": "widgets", "entries": []}
    data = json.dumps(channel).encode() + b"\n" + catalog({"1.0.0": NEW})
    package = read_package("c.json", {"c.json": data}, "widgets")
    assert package.default_channel == "stable"

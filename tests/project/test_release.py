"""What ``make dist`` builds: the same bytes twice, each file usable; and the notes that the workflow takes.

The build needs what ``make dist`` installs (the extra ``release``): without it, the tests of its files are skipped.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml
from offline import PROJECT, SHARED, need_wheelhouse

ADDRESS = "https://example.com/releases"
_NEEDED = ("pex", "hatchling", "cyclonedx_py")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files by the end of their names, after a second build gave the same."""
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        pytest.skip(f"{', '.join(missing)} not installed: `make dist` installs them")
    need_wheelhouse()
    top = tmp_path_factory.mktemp("dist")
    wheels = Path(sys.prefix) / "wheelhouse"
    for name in ("first", "second"):
        command = [sys.executable, PROJECT / "release/build.py", wheels, "--address", ADDRESS, "--output", top / name]
        subprocess.run(command, check=True, capture_output=True, cwd=top)
    first, second = ({path.name: path.read_bytes() for path in (top / name).iterdir()} for name in ("first", "second"))
    assert first == second
    found = {path.name.rpartition(".")[2]: path for path in (top / "first").iterdir() if path.name[:8] == "crdcompa"}
    return found | {path.name.partition("-")[0]: path for path in (top / "first").iterdir()}


def test_each_file_has_its_sum(dist: dict[str, Path]) -> None:
    lines = (line.split() for line in dist["SHA256SUMS"].read_text().splitlines())
    files = dist["SHA256SUMS"].parent.iterdir()
    wanted = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.name != "SHA256SUMS"}
    assert {name: digest for digest, name in lines} == wanted


def test_the_single_file_is_a_plugin_of_kubectl(dist: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(dist["kubectl"]) as archive:
        archive.extractall(tmp_path, filter="data")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["LICENSE", "kubectl-crdcompat"]
    assert (tmp_path / "kubectl-crdcompat").read_bytes() == dist["pex"].read_bytes()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, "PEX_ROOT": str(tmp_path / "pex"), "HOME": str(tmp_path)}

    def run(*arguments: str) -> str:
        command = [sys.executable, tmp_path / "kubectl-crdcompat", *arguments]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return ran.stdout + ran.stderr

    assert "error[enum-value-added]" in run("demo")
    assert "Usage: kubectl crdcompat diff" in run("diff", "--help")
    assert run("--version").split()[1] in dist["whl"].name


def test_krew_finds_the_archive(dist: dict[str, Path]) -> None:
    manifest = yaml.safe_load(dist["yaml"].read_text(encoding="utf-8"))
    (platform,) = manifest["spec"]["platforms"]
    assert platform["uri"] == f"{ADDRESS}/{dist['kubectl'].name}"
    assert platform["sha256"] == hashlib.sha256(dist["kubectl"].read_bytes()).hexdigest()
    with tarfile.open(dist["kubectl"]) as archive:
        assert platform["bin"] in archive.getnames()


def test_the_plugin_for_helm_has_the_version(dist: dict[str, Path]) -> None:
    with tarfile.open(dist["helm"]) as archive:
        texts = {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]
    own = {path.name: path.read_bytes() for path in (PROJECT / "contrib/helm").iterdir()}
    assert texts.keys() == own.keys()
    version = yaml.safe_load(texts["plugin.yaml"])["version"]
    assert version.replace("-dev.", ".dev") in dist["whl"].name
    assert texts["upgrade-check.sh"] == own["upgrade-check.sh"]


def test_the_bill_names_each_dependency(dist: dict[str, Path]) -> None:
    bill = json.loads(dist["json"].read_text(encoding="utf-8"))
    named = {each["name"].lower().replace("_", "-") for each in bill["components"]}
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = {each.partition(">")[0].lower() for each in project["dependencies"]}
    assert direct | {"crdcompat", "kubernetes"} <= named
    assert "pytest" not in named
    assert str(SHARED.parent) not in dist["json"].read_text(encoding="utf-8")


_CHANGELOG = "# Changelog\n\n## 1.2.3\n\n### Added\n\n- New.\n\n## 1.2.2\n\n- Old.\n"


@pytest.mark.parametrize(("tag", "code"), [("v1.2.3", 0), ("v1.2.2", 1)])
def test_the_notes_are_the_top_section(tag: str, code: int, tmp_path: Path) -> None:
    workflow = yaml.safe_load((PROJECT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # "on", as YAML 1.1 reads it
    *_, notes, build, publish = workflow["jobs"]["release"]["steps"]
    (tmp_path / "CHANGELOG.md").write_text(_CHANGELOG, encoding="utf-8")
    environment = {**os.environ, "GITHUB_REF_NAME": tag}
    ran = subprocess.run(["bash", "-ec", notes["run"]], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert ran.returncode == code
    assert (tmp_path / "notes.md").read_text(encoding="utf-8").strip() == "### Added\n\n- New."
    assert build["run"].startswith("make dist IMAGE=1 ADDRESS=")
    assert "--notes-file notes.md dist/*" in publish["run"]
    assert shutil.which("make") is None or "release/build.py" in _dry_run()


def _dry_run() -> str:
    """What ``make dist`` would run."""
    command = ["make", "-n", "dist", f"ADDRESS={ADDRESS}"]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout


def test_an_image_written_at_another_time_is_the_same_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "release"))
    image = importlib.import_module("image")
    made = []
    for name, names in (("first", ("index.json", "blobs/a")), ("second", ("blobs/a", "index.json"))):
        file = tmp_path / f"{name}.tar"
        with tarfile.open(file, "w") as archive:
            for at, each in enumerate(names):
                entry = tarfile.TarInfo(each)
                entry.size, entry.mtime = 3, len(made) * 1000 + at
                archive.addfile(entry, io.BytesIO(b"abc"))
        image.set_times(file, 1790000000)
        made.append(file.read_bytes())
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "first.tar") as archive:
        assert {member.name: archive.extractfile(member).read() for member in archive} == {  # type: ignore[union-attr]
            "blobs/a": b"abc",
            "index.json": b"abc",
        }

"""Real releases under real API servers: openshift/api 4.12 to 4.16, and 19 releases of six other projects.

Either side of a pair runs beside the server of its release, or beside the nearest minor that is built; the end of the
run says which. Every witness is written and read, every changed CRD is put back below the witnesses, every CRD is
installed.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from differences import in_group, installation, listed, new_group, unexplained
from helpers import RELEASES, Json
from msgspec.structs import replace
from referees import ASKED, Pool, nearest, pool, why_none
from witnesses import Claim, Desk, Side, claims_of, rollbacks

import crdcompat
from crdcompat.apiserver.server_versions import server_of
from crdcompat.crds.reader import CrdReader, CrdSet

pytestmark = pytest.mark.skipif(not ASKED, reason=why_none())

_OPENSHIFT = "openshift-api"
_PROJECTS = "data/projects/projects.bundle"
#: The releases of each project, oldest first.
_RELEASES = {
    _OPENSHIFT: tuple(f"release-{name}" for name in RELEASES),
    "cluster-api": ("v1.11.0", "v1.12.0", "v1.13.0"),
    "crossplane": ("v1.16.0", "v1.17.0", "v1.20.0", "v2.0.0"),
    "external-secrets": ("v0.18.0", "v0.19.0"),
    "gateway-api": ("v1.3.0", "v1.4.0"),
    "http-add-on": ("v0.7.0", "v0.8.0", "v0.11.0", "v0.12.0"),
    "istio": ("1.22.0", "1.23.0", "1.24.0", "1.25.0"),
}
_ALL = [(project, release) for project, releases in _RELEASES.items() for release in releases]
_PAIRS = [(project, *pair) for project, releases in _RELEASES.items() for pair in pairwise(releases)]

_Load = Callable[[str, str], CrdSet]


@pytest.fixture
def servers() -> Iterator[Pool]:
    """New servers for each test: with every CRD that it holds, a server takes longer to serve the next."""
    with pool() as found:
        yield found


@pytest.fixture(scope="module")
def load(shared: Path, openshift_api: Path, tmp_path_factory: pytest.TempPathFactory) -> _Load:
    """A release of a project, read once, with the minor that is asked in its place."""
    bundle = shared / _PROJECTS
    if not bundle.is_file():
        pytest.skip(f"no ../shared/{_PROJECTS}")
    clone = tmp_path_factory.mktemp("projects") / "projects.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(bundle), str(clone)], check=True)
    reader = CrdReader()

    @cache
    def found(project: str, release: str) -> CrdSet:
        if project == _OPENSHIFT:
            crds = crdcompat.load(release, repo=str(openshift_api), reader=reader)
        else:
            crds = crdcompat.load(f"{project}/{release}", repo=str(clone), reader=reader)
        return replace(crds, runs=nearest(server_of(crds).kubernetes))

    return found


def test_every_release_of_the_data_is_asked(load: _Load, shared: Path) -> None:
    """A release that is added to the data has to be added here."""
    tags = subprocess.run(
        ["git", "ls-remote", "--tags", str(shared / _PROJECTS)], check=True, capture_output=True, text=True
    ).stdout
    there = {tuple(line.partition("refs/tags/")[2].split("/")) for line in tags.splitlines()}
    assert there == {each for each in _ALL if each[0] != _OPENSHIFT}


def _judges(crds: CrdSet) -> str:
    """The release, and the Kubernetes minor that is asked for it."""
    meant = server_of(replace(crds, runs="")).kubernetes
    asked = crds.runs if crds.runs == meant else f"{crds.runs}, the nearest to {meant} that is built"
    return f"{crds.name} (Kubernetes {asked})"


def _sides(servers: Pool, load: _Load, project: str, old: str, new: str) -> Iterator[tuple[Claim, Side, Side]]:
    """(claim, writer, reader) of each finding of a pair."""
    before, after = load(project, old), load(project, new)
    for claim, writer, reader in claims_of(before, after):
        wrote, read = (after, before) if claim.direction == "rollback" else (before, after)
        yield (
            claim,
            Side(writer, servers.server(wrote.runs), wrote.runs),
            Side(reader, servers.server(read.runs), read.runs),
        )


def _of_one_variant(claims: Iterable[tuple[Claim, Side, Side]]) -> Iterator[tuple[Claim, Side, Side]]:
    """The claims about one pair of variants of each CRD and direction: swaps take the servers long."""
    chosen: dict[tuple[str, str], tuple[int, int]] = {}
    for claim, writer, reader in claims:
        variants = id(writer.crd), id(reader.crd)
        if chosen.setdefault((reader.crd["metadata"]["name"], claim.direction), variants) == variants:
            yield claim, writer, reader


@pytest.mark.parametrize(("project", "old", "new"), _PAIRS)
def test_every_witness(
    project: str, old: str, new: str, servers: Pool, load: _Load, record_property: Callable[[str, object], None]
) -> None:
    """The writer's server takes it, the reader's does what the finding says, in the words that the finding gives."""
    wrong, asked, desk = [], 0, Desk()
    for claim, writer, reader in _sides(servers, load, project, old, new):
        if claim.witness.object is None or not claim.version:
            continue
        asked += 1
        if lines := unexplained(reader.minor, desk.refuted(claim, writer, reader)):
            about = reader.crd["metadata"]["name"], claim.version, claim.direction, claim.path
            wrong.append((*about, json.dumps(claim.witness.object), lines))
    record_property("referee", f"{asked} witnesses of {_judges(load(project, old))} and {_judges(load(project, new))}")
    assert asked
    assert not wrong, listed(wrong, asked)


@pytest.mark.parametrize(("project", "old", "new"), _PAIRS)
def test_every_changed_crd_is_put_back(project: str, old: str, new: str, servers: Pool, load: _Load) -> None:
    """On the reader's server the CRD is swapped, and each kind of write of the witnesses stored below it is judged."""
    wrong, asked = [], 0
    for reader, claim, operation, lines in rollbacks(_of_one_variant(_sides(servers, load, project, old, new))):
        asked += 1
        if lines := unexplained(reader.minor, lines):
            about = claim and (claim.version, claim.direction, claim.path, json.dumps(claim.witness.object))
            wrong.append((reader.crd["metadata"]["name"], operation, *(about or ()), lines))
    assert asked
    assert not wrong, listed(wrong, asked)


@pytest.mark.parametrize(("project", "release"), _ALL)
def test_every_crd_is_installed(project: str, release: str, servers: Pool, load: _Load) -> None:
    """The release's server takes each CRD, or refuses it in the program's words."""
    crds = load(project, release)
    raws: dict[int, Any] = {id(document.crd.versions): document.crd.raw for document in crds.documents}
    wrong = []
    for raw in raws.values():
        crd: Json = in_group(raw, new_group())
        answer = servers.server(crds.runs).create_crd(crd)
        if lines := unexplained(crds.runs, installation(crd, answer, crds.runs)):
            wrong.append((crd["metadata"]["name"], lines))
    assert raws
    assert not wrong, listed(wrong, len(raws))

"""YAML of all real releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from crdcompat.errors import Problem
from crdcompat.sources import open_source
from crdcompat.yaml.documents import read_documents
from crdcompat.yaml.loader import AnchorLoader, GoLoader

if TYPE_CHECKING:
    from pathlib import Path


def test_both_composers_read_alike(openshift_api: Path) -> None:
    tree = open_source("release-4.16", repo=str(openshift_api))
    entries = [entry for entry in tree.entries() if entry.path.endswith(".crd.yaml")][:40]
    assert len(entries) == 40
    for _, data in tree.read(entries):
        assert yaml.load(data, GoLoader) == yaml.load(data, AnchorLoader)


UNLOADABLE = ("/field-overlay/expected-01-first.yaml", "/field-overlay/expected-02-first.yaml")


def test_all_releases_parse(openshift_api: Path) -> None:
    seen: set[str | None] = set()
    for release in ("4.12", "4.13", "4.14", "4.15", "4.16"):
        tree = open_source(f"release-{release}", repo=str(openshift_api))
        wanted = [one for one in tree.entries() if one.path.endswith((".yaml", ".yml")) and one.oid not in seen]
        seen.update(entry.oid for entry in wanted)
        for entry, data in tree.read(wanted):
            found = list(read_documents(data, entry.path))
            assert found or not data.strip()
            broken = [one for one in found if isinstance(one, Problem)]
            assert (len(broken) == 1) == entry.path.endswith(UNLOADABLE)
    assert len(seen) > 500


def test_real_crds_read_as_by_pyyaml(openshift_api: Path) -> None:
    tree = open_source("release-4.16", repo=str(openshift_api))
    crds = [entry for entry in tree.entries() if entry.path.endswith(".crd.yaml")]
    assert len(crds) > 100
    for _, data in tree.read(crds):
        assert yaml.load(data, GoLoader) == yaml.load(data, yaml.CSafeLoader)
